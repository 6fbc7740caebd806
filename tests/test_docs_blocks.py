"""Every command and every block of code of README.md and docs/ is run, page by page, at a small scale.

Pages are found by themselves. `documented.py` reads them and makes commands and code small; what they refer to and
don't make (a run folder, a file) is made here. A page with a command, an option or a name that doesn't exist fails, and
so does a block that doesn't say what it is.
"""

import contextlib
import doctest
import importlib.util
import io
import json
import re
import runpy
import shlex
import shutil
import sys
import tomllib
from pathlib import Path

import pytest

from kibitz import games
from kibitz.app import cli
from kibitz.core.trust import only_named
from kibitz.play import players, policy_values
from kibitz.play.players import precompile

from .documented import (
    DATA,
    PAGES,
    ROOT,
    SHELL,
    SMALL_DECK,
    blocks,
    commands,
    is_name,
    resolve,
    shrunk,
    shrunk_code,
    small_budgets,
    stand_in,
)
from .games.test_doppelkopf_notation import PEOPLE
from .games.test_pokerstars import SHOWDOWN

# Commands that are parsed, with all their names resolved, but not run, and why.
ONLY_PARSED = {
    "serve": "it serves until it is stopped (tests/app/web)",
    "poker dealer": "it waits for two programs (tests/app/commands/test_acpc.py)",
    "poker client": "it needs a dealer (tests/app/commands/test_acpc.py)",
    "engine": "it answers another program (tests/app/commands/test_engine.py)",
    "bench": "it measures each row for seconds",
    "compile": "it compiles kernels for minutes (tests/search/test_precompile.py)",
    "cache": "with --clear, it deletes the kernels that other tests have compiled (tests/app/test_cli.py)",
    "--install-completion": "it changes the shell's configuration (tests/app/test_completion.py)",
}
# Parts of studies that are run, once. Others are made, with all their options, but not run: tests/studies runs them.
STUDIES_RUN = [["exit-oos", "figure-1"], ["tspg", "table-1"], ["deep-cfr", "leduc"]]
# Words that stand for something else. The first pattern that fits a command is used.
PLACEHOLDERS = (
    (r"path/to/(?=\w+\.py)", ""),
    (r"\"engine:[^\"]+\"|\bengine:[\w./,=-]+", "random"),  # a program that may not be there
    (r"explain RUN\b", "explain runs/tic_tac_toe-tspg-001"),
    (r"solve --resume RUN\b", "solve --resume runs/holdem-pcs-001"),
    (r"--resume RUN\b", "--resume runs/kuhn-exit-oos-001"),
    (r"study doppelkopf (.*)--net RUN\b", r"study doppelkopf \1--net runs/study-doppelkopf/thesis-256-1"),
    (r"study doko (.*)--net RUN --others RUN2", r"study doko \1--net runs/exit --others runs/cards"),
    (r"convert FROM TO\b", "convert runs/holdem-match-001 games.jsonl"),
    (r"review FILE\b", "review games.jsonl"),
    (r"train file\.py:Class GAME\b", "train reinforce.py:Reinforce kuhn"),
    (r"MyGame:size=5", "MyGame:cards=5"),
    (r"--in experiments/may", "--in runs"),
    (r"bench NAME\.\.\.", "bench cfr+"),
    (r"FILE\.efg\b", "kuhn.efg"),
    (r'"MOVES"', f'"♥10 ♣Q ♠Q ♥Q ♦Q ♣J ♠J ♥J ♦J ♦A ♦10 ♦K{36 * " ?"}"'),
    (r"\b(PLAYER|OPPONENT)\b", "random"),
    (r"\bGAME\b", "kuhn"),
    (r"--games N\b", "--games 4"),
    (r" \.\.\. ", " "),
)
# Run folders that pages refer to, and the commands that make them where the page itself hasn't.
RUNS = {
    r"runs/doppelkopf-(match|session)-\d+": "{1} doppelkopf random random random random",
    r"runs/doppelkopf-record-\d+|runs/uct-games": "record doppelkopf:thesis --players random",
    r"runs/rules-games": "record doppelkopf --players random",
    r"runs/(doppelkopf-)?cards(-\d+)?": "train cards doppelkopf:thesis --data runs/uct-games",
    r"runs/cards-whole": "train cards doppelkopf --data runs/rules-games",
    r"runs/(doppelkopf-exit-rollouts-\d+|exit3?)": "train exit-rollouts doppelkopf:thesis --start runs/cards",
    r"runs/exit-whole2?": "train exit-rollouts doppelkopf --start runs/cards-whole",
    r"runs/study-doppelkopf(?:-paper)?/(thesis|thesis-\d+)-1": "train next-card doppelkopf:thesis --preset {1} "
    "--data runs/uct-games",
    r"runs/study-tspg-(?:half|paper)/(\w+)-best-faithful-mixed-\d": "train tspg {1} --preset best",
    r"runs/thesis/\w+": "train deep-cfr holdem:thesis --preset thesis",
    r"runs/hulh(?:-balanced|-plain)?": "train deep-cfr holdem --preset best",
    r"runs/goofspiel-exit-oos-\d+": "train exit-oos goofspiel:6",
    r"runs/(\w+)-(exit-oos|exit-ismcts|deep-cfr|mmd|tspg)-\d+": "train {2} {1}",
    r"runs/(\w+)-(cfr\+?)-\d+": "solve {1} --with {2}",
    r"runs/buckets": "poker abstract holdem",
    r"runs/(?:blueprint|cfr-br|flop|holdem-pcs-\d+)": "solve holdem --with pcs --abstraction runs/buckets",
    r"runs/kuhn-match-\d+": "match kuhn random oos:10",
    r"runs/(\w+)-(match|tournament)-\d+": "{2} {1} random random",
    r"runs/[abc]": "train exit-oos kuhn",
}
# Files that pages refer to: commands that write them, or what is in them.
FILES = {
    "games.jsonl": [
        "match kuhn random oos:10 --out runs/of-kuhn",
        lambda: Path("runs/of-kuhn/games.jsonl").read_text(),
    ],
    "match.acpc": ["convert runs/holdem-match-001 match.acpc"],
    "hands.acpc": ["convert runs/holdem-match-001 hands.acpc"],
    "games.lines": ["convert runs/uct-games games.lines --to thesis:position=dealer"],
    "bad.lines": ["convert runs/uct-games bad.lines --to thesis", lambda: with_a_card_too_many("bad.lines")],
    "bad.txt": [lambda: PEOPLE.replace("3 ♣10, 4", "3 ♠9, 4")],
    "HH20090502.txt": [lambda: SHOWDOWN],
    "kuhn.efg": ["export kuhn kuhn.efg"],
    "my_player.py": [lambda: ANY_PLAYER],
    "reinforce.py": [lambda: titled("reinforce.py")],
    "my_game.py": [
        lambda: (
            (ROOT / "examples" / "von_neumann_poker.py").read_text().replace("class VonNeumannPoker", "class MyGame")
        )
    ],
}

ANY_PLAYER = """
from kibitz.games import legal_actions

class MyPlayer:
    def move(self, view):
        return legal_actions(self.game, view)[0]
"""


def with_a_card_too_many(file):
    lines = Path(file).read_text().splitlines(keepends=True)
    return "".join([lines[0], re.sub(r"(?=\d)", "a", lines[1], count=1)])


def titled(name):
    """The block of code that a page saves under this name."""
    [found] = [block for page in PAGES for block in blocks(page) if block.title == name]
    return found.text


# ---------------------------------------------------------------- checked as they stand on the page


def check_as_written(words):
    """Check the options of a command as they are on the page, where the small ones would hide a mistake."""
    command, rest = resolve(words)
    if rest == words:  # options of kibitz itself, which act as soon as they are parsed
        assert {*words} <= {option for each in command.params for option in each.opts} | {"--help"}, words
    lists = {option for each in command.params if each.is_eager for option in each.opts}  # they act and exit
    if rest == words or {*rest} & (lists | {"--help"}):
        return
    with only_named(*words), command.make_context("kibitz", list(rest)) as context:
        given = {key: list(each) if isinstance(each, tuple) else each for key, each in context.params.items()}
        check_names(words[0], given)
        if words[0] == "train" and "game_name" in given:
            check_training(words[1], given)
        elif words[0] == "study":
            from kibitz.reproduce.study import STUDIES

            options = {key: value for key, value in given.items() if key not in ("trust", "json_file")}
            if "also" in options:  # Typer makes paths of the list when it calls the command
                options["also"] = [Path(each) for each in options["also"]]
            STUDIES[words[1]](**options)
        elif words[0] == "bench":
            import benchmarks

            benchmarks.select(given["rows"] or [])


def check_names(command, given):
    """Check the names of games and players among the arguments; those of runs are checked where they are used."""
    game = games.load(given["game_name"]) if given.get("game_name") else None
    for name in [*(given.get("game_files") or []), *(given.get("game_names") or [])]:
        games.load(name)
    named = [given.get(key) for key in ("player", "against", "kibitzer", "assumed")] + list(given.get("players") or [])
    for name in named:
        if name and "runs/" not in name and name != "any":
            players.make_for(name, game) if game and command != "exploit" else players.make(name)


def check_training(learner, given):
    from kibitz.train.learner import learner_class
    from kibitz.train.trainer import configured

    known = learner_class(learner).Config.__dataclass_fields__
    small = {"device": "cpu", "inference_device": "cpu", "validation": 0.3}  # there may be no GPU; there are few games
    values = {key: small.get(key, given[key]) for key in known if key in given and (given[key] is not None)}
    if "data" in values and "validation" in known:
        values["validation"] = small["validation"]
    game = SMALL_DECK if "from_" in values else given["game_name"]  # that the strategy of a page is made for here
    configured(learner, game, given.get("preset"), values)


def check_other_program(words):
    """Check that there is what a command of another program names."""
    program, *rest = words
    if program == "make":
        targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
        assert {*rest} <= {*targets}, words
    elif program == "pip":
        extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
        for word in rest[1:]:
            found = re.fullmatch(r"(?:kibitz|\.)(?:\[([\w,]+)\])?", word)
            assert found, f"{word} is not kibitz"
            assert {*(found[1] or "").split(",")} <= {*extras, ""}, word
    elif program == "python":
        assert importlib.util.find_spec(rest[1]) if rest[0] == "-m" else (ROOT / rest[0]).is_file(), words
        assert all((ROOT / word).exists() for word in rest if word.startswith("tests/")), words
    else:
        assert importlib.util.find_spec(program), words


# ---------------------------------------------------------------- run


class Folder:
    """Runs commands and code in a folder of its own, in this process."""

    studied = []  # parts of studies that have been run, on any page

    def __init__(self, path, monkeypatch, capsys, made=None):
        self.path, self.monkeypatch, self.capsys, self.made = path, monkeypatch, capsys, made or self
        self.scope = {"__name__": "__main__"}
        self.making, self.fetched = set(), set()
        for name in ("docs", "examples"):
            if not (path / name).exists():
                (path / name).symlink_to(ROOT / name)

    def run(self, words):
        """Run a command of kibitz, made small; its exit code and output."""
        with self.monkeypatch.context() as patch:
            patch.chdir(self.path)
            self.provide(stand_in(words))
            check_as_written(words)
            words = shrunk(words)
            if "--help" not in words and {words[0], " ".join(words[:2])} & ONLY_PARSED.keys():
                return 0, ""
            if "--help" not in words and words[0] == "study":
                if words[1:3] not in STUDIES_RUN or words[1:3] in self.studied:
                    return 0, ""
                self.studied.append(words[1:3])
            patch.setattr(sys, "argv", ["kibitz", *words])
            patch.setattr(sys, "stdin", io.StringIO(""))  # kibitz play ends at its first question
            with pytest.raises(SystemExit) as ended:
                cli.main()
        captured = self.capsys.readouterr()
        return ended.value.code, captured.out + captured.err

    def provide(self, words):
        """Make what a command refers to and isn't there: run folders, files."""
        for before, word in zip(["", *words], words, strict=False):
            if before == "--out":
                if word in self.fetched:  # for an earlier command: this one makes its own
                    self.fetched.remove(word)
                    shutil.rmtree(self.path / word)
                continue
            paths = re.findall(r"\bruns/[\w+-]+(?:/[\w+-]+)*", word)
            for path in ["runs/kuhn-match-001"] if word == "runs" else paths:
                for rule, command in RUNS.items():
                    if (found := re.fullmatch(rule, path)) and not (self.path / path).exists():
                        self.fetch(path, [f"{command.format(path, *found.groups())} --out {path}"])
                        break
            for name, steps in FILES.items():
                if re.search(rf"(^|[ =:]){re.escape(name)}\b", word) and not (self.path / name).exists():
                    self.fetch(name, steps)

    def fetch(self, name, steps):
        """Copy a file or a folder from where it is made once for all pages."""
        target, source = self.path / name, self.made.path / name
        if source in self.made.making:  # by this very command
            return
        self.made.making.add(source)
        for step in steps if not source.exists() else ():
            if callable(step):
                with contextlib.chdir(self.made.path):
                    source.write_text(step())
            else:
                code, output = self.made.run(shlex.split(step))
                assert code == 0, f"kibitz {step}: {output}"
        self.made.making.remove(source)
        if source != target:
            self.fetched.add(name)
            target.parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if source.is_dir() else shutil.copy)(source, target)

    def command(self, command, inline):
        """Run a command of a page, or check it if it is one of another program. In a sentence it may be a mere name."""
        text = command.text.partition(" | ")[0]
        for pattern, replacement in PLACEHOLDERS:
            text = re.sub(pattern, replacement, text)
        words = shlex.split(text, comments=True)
        while "=" in words[0]:  # NUMBA_DISABLE_JIT=1
            del words[0]
        if words[:3] == ["python", "-m", "kibitz"]:
            words[:3] = ["kibitz"]
        if words[0] != "kibitz":
            check_other_program(words)
            return
        with contextlib.chdir(self.path):
            self.provide(stand_in(words[1:]))
            if inline and is_name(words[1:]):
                return
        code, output = self.run(words[1:])
        refused = command.output.startswith("kibitz: ")
        assert code == (2 if refused else 0), output
        if output and command.output:
            check_output(command.output, output, refused)

    def python(self, block, where):
        """Run code: all blocks of a page share their names, and one with a title is saved and run as a script."""
        example = ROOT / "examples" / (block.title or "none")
        with self.monkeypatch.context() as patch:
            patch.chdir(self.path)
            patch.syspath_prepend(self.path)
            self.provide(re.findall(r'"([^"]+)"', block.text))
            if example.is_file():  # a part of that file, methods without their indentation
                part, whole = (re.sub(r"\s*\n\s*", "\n", text).strip() for text in (block.text, example.read_text()))
                assert f"\n{part}\n" in f"\n{whole}\n", f"not in {example}"
            elif block.title:
                Path(block.title).write_text(block.text)
                # for the whole page: another page may have left a module of that name
                self.monkeypatch.delitem(sys.modules, Path(block.title).stem, raising=False)
                runpy.run_path(block.title, run_name="__main__")
            elif block.language == "pycon":
                session = doctest.DocTestParser().get_doctest(block.text, self.scope, where, None, 0)
                session.globs = self.scope
                assert doctest.DocTestRunner().run(session, clear_globs=False).failed == 0, self.capsys.readouterr().out
            else:
                exec(compile(shrunk_code(block.text), where, "exec"), self.scope)
        self.capsys.readouterr()


def check_output(shown, output, refused):
    """Compare the output of a small run with that on the page: an error but for numbers and cards, else its words."""
    if refused:
        shown, output = (re.sub(r"\d+|[♣♠♥♦]\w+", "#", each).split() for each in (shown, output))
        assert output == shown
    else:
        shown, output = ({*re.findall(r"[A-Za-z]{3,}", each)} for each in (shown, output))
        assert len(shown - output) <= len(shown) / 5, f"not in the output: {shown - output}"


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    return tmp_path_factory.mktemp("made")


@pytest.fixture
def folder(tmp_path, made, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(precompile, "PLAIN", True)  # no other process that compiles
    monkeypatch.setattr(policy_values, "PLAYOUTS", 10)
    usual = players.default_player
    monkeypatch.setattr(players, "default_player", lambda game: small_budgets(usual(game)))
    shrink_studies(monkeypatch)
    return Folder(tmp_path, monkeypatch, capsys, Folder(made, monkeypatch, capsys))


def shrink_studies(monkeypatch):
    """Give all scales of all studies the size of a test."""
    from kibitz.doppelkopf import ablation as doppelkopf_ablation
    from kibitz.doppelkopf import thesis as doppelkopf_thesis
    from kibitz.poker import deep_cfr_study as deep_cfr
    from kibitz.reproduce import exit_oos, tspg

    for module, *sizes in (
        (deep_cfr, 2, 1, 2, 4, 2, 4),
        (doppelkopf_ablation, 1),
        (doppelkopf_thesis, 0.1, 2, 1, 5),
        (exit_oos, 0.002, 0.003, 4, 0.002, (10, 20), 4),
        (tspg, 0.01, 0.01, 1, 2, 10),
    ):
        for name in module.SCALES:
            monkeypatch.setitem(module.SCALES, name, module.Scale(*sizes, "for tests"))


def run_page(page, folder):
    for block in blocks(page):
        where = f"{page.name}:{block.line}"
        try:
            run_block(block, where, folder)
        except (Exception, SystemExit) as error:
            error.add_note(f"{where}: {block.text.strip()}")
            raise


def run_block(block, where, folder):
    if block.language in ("python", "pycon"):
        folder.python(block, where)
    elif block.language == "json":
        json.loads(block.text)
    elif block.language in SHELL:
        for command in commands(block):
            folder.command(command, block.inline)
    else:
        assert block.language in DATA, f"{block.language!r} is no language that is tested here"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_all_that_a_page_shows_runs(page, folder):
    run_page(page, folder)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("`kibitz mach`", "No such command 'mach'|no command 'mach'"),
        ("```\nkibitz solve kuhn --iteration 3\n```", "No such option"),
        ("```\nkibitz solve kuhn --iterations many\n```", "not a valid int"),
        ("```\nkibitz match khun random random\n```", "no game is called 'khun'"),
        ("```\nkibitz match kuhn radom random\n```", "no player is called 'radom'"),
        ("```\nkibitz solve kuhn --with crf\n```", "no solver is called 'crf'"),
        ("```\nkibitz train exit-oos kuhn --preset huge\n```", "no preset"),
        ("```\nkibitz train exit-os kuhn\n```", "no learner is called 'exit-os'"),
        ("`kibitz study tspg table-9`", "no part of tspg is called 'table-9'"),
        ("`kibitz study tspg table-1 --scale tiny`", "no scale is called 'tiny'"),
        ("`kibitz study tspg figure-2 --game go`", "no game is called 'go'"),
        ("`kibitz bench chess`", "no benchmark is called 'chess'"),
        ("`kibitz serve --prot 80`", "No such option"),
        ("`kibitz --verbose`", "--verbose"),
        ('```\nkibitz advise kuhn "? A"\n```', "'A'"),
        ("```console\n$ kibitz games khun\nkibitz: no game\n```", "khun"),
        ("```console\n$ kibitz solve kuhn\nThe value of this game is said here in many other words\n```", "other"),
        ("`make tset`", "tset"),
        ("`pip install 'kibitz[wep]'`", "wep"),
        ("`python -m benchmarks.frist_use`", "frist_use"),
        ("```\nA tree of files\n```", "mark a block of text as ```text"),
        ("```yaml\na: 1\n```", "'yaml' is no language"),
        ("```json\n{'a': 1}\n```", "property name"),
        ("```python\nkibitz\n```", "'kibitz' is not defined"),
        ("```pycon\n>>> 1 + 1\n3\n```", "Expected"),
        ("```\nkibitz games", "isn't closed"),
    ],
)
def test_a_mistake_on_a_page_fails(text, why, folder):
    page = folder.path / "page.md"
    page.write_text(f"# A page\n\n{text}\n")
    with pytest.raises((Exception, SystemExit), match=why):
        run_page(page, folder)
