"""Every command and every block of code of README.md and docs/ is run, page by page, at a small scale (documented.py)."""

import contextlib
import doctest
import importlib.util
import io
import json
import os
import re
import runpy
import shlex
import shutil
import sys
import time
import tomllib
from pathlib import Path

import pytest
import typer

from kibitz import games, players
from kibitz.app import cli
from kibitz.core.names import only_named

from .games.test_doppelkopf_notation import PEOPLE
from .games.test_pokerstars import SHOWDOWN
from .documented import (
    DATA,
    PAGES,
    ROOT,
    SHELL,
    blocks,
    commands,
    is_name,
    resolve,
    shrunk,
    shrunk_code,
    small_budgets,
    stand_in,
)

# Commands that are parsed, with all their names resolved, but not run: how they begin, and why.
ONLY_PARSED = {
    "serve": "it serves until it is stopped (tests/app/web)",
    "dealer": "it waits for two programs (tests/app/commands/test_acpc.py)",
    "acpc": "it needs a dealer (tests/app/commands/test_acpc.py)",
    "bench": "it measures each row for seconds",
    "compile": "it compiles kernels for minutes (tests/app/commands)",
    "--install-completion": "it changes the shell's configuration (tests/app/test_completion.py)",
}
# Words that stand for something else. The first pattern that fits a command is used.
PLACEHOLDERS = (
    (r"path/to/(?=\w+\.py)", ""),
    (r"explain RUN\b", "explain runs/tic_tac_toe-tspg-001"),
    (r"--resume RUN\b", "--resume runs/kuhn-exit-oos-001"),
    (r"study doppelkopf (.*)--net RUN\b", r"study doppelkopf \1--net runs/study-doppelkopf/thesis-256-1"),
    (r"study doko (.*)--net RUN --others RUN2", r"study doko \1--net runs/exit --others runs/cards"),
    (r"convert FROM TO\b", "convert runs/holdem-match-001 games.jsonl"),
    (r"review FILE\b", "review games.jsonl"),
    (r"train file\.py:Class GAME\b", "train reinforce.py:Reinforce kuhn"),
    (r"bench NAME\.\.\.", "bench cfr+"),
    (r"FILE\.efg\b", "kuhn.efg"),
    (r'"MOVES"', '""'),
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
    r"runs/(doppelkopf-exit-cards-\d+|exit3?)": "train exit-cards doppelkopf:thesis --start runs/cards",
    r"runs/exit-whole2?": "train exit-cards doppelkopf --start runs/cards-whole",
    r"runs/study-doppelkopf(?:-paper)?/(thesis|thesis-\d+)-1": "train next-card doppelkopf:thesis --preset {1} "
    "--data runs/uct-games",
    r"runs/study-tspg-paper/(\w+)-kibitz-faithful-parent-\d": "train tspg {1} --preset kibitz",
    r"runs/thesis/\w+": "train deep-cfr holdem:thesis --preset thesis",
    r"runs/hulh": "train deep-cfr holdem --preset kibitz",
    r"runs/goofspiel-exit-oos-\d+": "train exit-oos goofspiel:6",
    r"runs/(\w+)-(exit-oos|exit-ismcts|deep-cfr|tspg)-\d+": "train {2} {1}",
    r"runs/(\w+)-(cfr\+?)-\d+": "solve {1} --with {2}",
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
    "games.lines": ["convert runs/uct-games games.lines --to thesis"],
    "bad.lines": ["convert runs/uct-games bad.lines --to thesis", lambda: with_a_card_too_many("bad.lines")],
    "bad.txt": [lambda: PEOPLE.replace("3 ♣10, 4", "3 ♠9, 4")],
    "HH20090502.txt": [lambda: SHOWDOWN],
    "kuhn.efg": ["export kuhn kuhn.efg"],
    "my_player.py": [lambda: titled("my_player.py")],
    "reinforce.py": [lambda: titled("reinforce.py")],
    "my_game.py": [
        lambda: (
            (ROOT / "examples" / "von_neumann_poker.py").read_text().replace("class VonNeumannPoker", "class MyGame")
        )
    ],
}


def with_a_card_too_many(file):
    lines = Path(file).read_text().splitlines(keepends=True)
    return "".join([lines[0], re.sub(r"(?=\d)", "a", lines[1], count=1)])


def titled(name):
    """The block of code that a page saves under this name."""
    [found] = [block for page in PAGES for block in blocks(page) if block.title == name]
    return found.text


STUDIED = []  # commands that needn't be repeated: whatever their scale on the page, they are the same here


class Folder:
    """Runs commands and code in a folder of its own, in this process."""

    def __init__(self, path, monkeypatch, capsys, made=None):
        self.path, self.monkeypatch, self.capsys, self.made = path, monkeypatch, capsys, made or self
        self.scope = {"__name__": "__main__"}
        self.slow = []
        self.making = set()
        for name in ("docs", "examples"):
            if not (path / name).exists():
                (path / name).symlink_to(ROOT / name)

    def kibitz(self, words):
        """Run a command that exists already, made small; its exit code and all output."""
        with self.monkeypatch.context() as patch:
            patch.chdir(self.path)
            self.provide(stand_in(words))
            check_as_written(words)
            words = shrunk(words)
            if words[0] == "study":
                if words in STUDIED:
                    return 0, ""
                STUDIED.append(words)
            patch.setattr(sys, "argv", ["kibitz", *words])
            patch.setattr(sys, "stdin", io.StringIO(""))
            began = time.process_time()
            with pytest.raises(SystemExit) as ended:
                cli.main()
            self.slow.append((time.process_time() - began, shlex.join(words)))
        captured = self.capsys.readouterr()
        return ended.value.code, captured.out + captured.err

    def provide(self, words):
        """Make what a command refers to and isn't there: run folders, files."""
        for before, word in zip(["", *words], words, strict=False):
            if before == "--out":
                continue
            for path in re.findall(r"\bruns/[\w+-]+(?:/[\w+-]+)*", word):
                rule = next((rule for rule in RUNS if re.fullmatch(rule, path)), None)
                if rule and not (self.path / path).exists():
                    command = RUNS[rule].format(path, *(re.fullmatch(rule, path).groups()))
                    self.fetch(path, [f"{command} --out {path}"])
            for name in FILES:
                if re.search(rf"(^|[ =:]){re.escape(name)}\b", word) and not (self.path / name).exists():
                    self.fetch(name, FILES[name])

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
                code, output = self.made.kibitz(shlex.split(step))
                assert code == 0, f"kibitz {step}: {output}"
        self.made.making.remove(source)
        if source != target:
            target.parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if source.is_dir() else shutil.copy)(source, target)

    def python(self, block, where):
        """Run a block of code: all blocks of a page share their names; one with a title is saved and run as a script."""
        with self.monkeypatch.context() as patch:
            patch.chdir(self.path)
            patch.syspath_prepend(self.path)
            self.provide(re.findall(r'"([^"]+)"', block.text))
            began = time.process_time()
            if block.title:
                (self.path / block.title).write_text(block.text)
                patch.delitem(sys.modules, Path(block.title).stem, raising=False)
                runpy.run_path(block.title, run_name="__main__")
            elif block.language == "pycon":
                session = doctest.DocTestParser().get_doctest(block.text, self.scope, where, None, 0)
                session.globs = self.scope
                assert doctest.DocTestRunner().run(session, clear_globs=False).failed == 0, where
            else:
                exec(compile(shrunk_code(block.text), where, "exec"), self.scope)
            self.slow.append((time.process_time() - began, where))
        self.capsys.readouterr()


def check_as_written(words):
    """Check that the options of a command are right as they stand on the page, where the small ones replace them."""
    command, rest = resolve(words)
    with only_named(*words), contextlib.suppress(typer.Exit):
        context = command.make_context("kibitz", list(rest))
        context.close()
        values = context.params
    if words[0] == "train" and "--resume" not in words and rest != ["--help"]:
        from kibitz.learn.learner import learner_class
        from kibitz.learn.trainer import configured

        hints = learner_class(words[1]).Config.__dataclass_fields__
        given = {key: value for key, value in values.items() if key in hints and value is not None}
        given |= {key: value for key, value in (("device", "cpu"), ("validation", 0.3)) if key in hints}
        with only_named(*words):
            configured(words[1], values["game_name"], values.get("preset"), given)
    elif words[0] == "study" and rest != ["--help"]:
        from kibitz.studies.study import STUDIES

        STUDIES[words[1]](**{key: value for key, value in values.items() if key not in ("trust", "json_file")})


def check_parsed(words):
    """Check the names in a command that isn't run."""
    command, rest = resolve(words)
    if rest == words:  # an option of kibitz itself, which acts when it is parsed
        assert {*words} <= {option for each in command.params for option in each.opts}, words
        return
    with only_named(*words):
        values = command.make_context("kibitz", list(rest)).params
        for name in [values.get("game_name"), *(values.get("game_files") or []), *(values.get("game_names") or [])]:
            if name:
                games.load(name)
        for name in [values.get("player"), *(values.get("players") or [])]:
            if name:
                players.make(name)
        if words[0] == "bench":
            import benchmarks

            benchmarks.select(values["rows"] or [])


def check_other_program(words):
    """Check a command of another program: whether there is what it names."""
    program, *rest = words
    if program == "make":
        assert all(re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE) for target in rest), words
    elif program == "pip":
        extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
        assert rest[0] == "install"
        for word in rest[1:]:
            found = re.fullmatch(r"kibitz(?:\[([\w,]+)\])?", word)
            assert found, f"pip installs kibitz, not {word}"
            assert set((found[1] or "").split(",")) <= {*extras, ""}, word
    elif program == "python":
        module = rest[1] if rest[0] == "-m" else ""
        assert importlib.util.find_spec(module) if module else (ROOT / rest[0]).exists(), words
        assert all((ROOT / word).exists() for word in rest if word.startswith("tests/")), words
    else:
        assert importlib.util.find_spec(program), words


@pytest.fixture(scope="session")
def made_path(tmp_path_factory):
    return tmp_path_factory.mktemp("made")


@pytest.fixture
def folder(tmp_path, made_path, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    usual = players.default_player
    monkeypatch.setattr(players, "default_player", lambda game: small_budgets(usual(game)))
    tiny_studies(monkeypatch)
    return Folder(tmp_path, monkeypatch, capsys, Folder(made_path, monkeypatch, capsys))


def tiny_studies(monkeypatch):
    """Even less than quick, in all studies: nothing is learned, but all files are written."""
    from kibitz.studies import deep_cfr, doppelkopf_ablation, doppelkopf_thesis, exit_oos, tspg

    for module, *sizes in (
        (deep_cfr, 2, 1, 2, 4, 2, 4),
        (doppelkopf_ablation, 1),
        (doppelkopf_thesis, 0.1, 2, 1, 5),
        (exit_oos, 0.002, 0.003, 4, 0.002, (10, 20), 4),
        (tspg, 0.01, 0.01, 1, 2, 10),
    ):
        for name in module.SCALES:
            monkeypatch.setitem(module.SCALES, name, module.Scale(*sizes, "for tests"))


def run_command(folder, command, where, inline):
    text = command.text.partition(" | ")[0]
    for pattern, replacement in PLACEHOLDERS:
        text = re.sub(pattern, replacement, text)
    words = shlex.split(text, comments=True)
    while re.match(r"[A-Z_]+=", words[0]):
        del words[0]
    if words[:3] == ["python", "-m", "kibitz"]:
        words = ["kibitz", *words[3:]]
    if words[0] != "kibitz":
        check_other_program(words)
        return
    with contextlib.chdir(folder.path):
        folder.provide(words)
        named = inline and is_name(words[1:])
    if not named:
        if words[1] in ONLY_PARSED and "--help" not in words:
            with contextlib.chdir(folder.path):
                check_parsed(words[1:])
        else:
            code, output = folder.kibitz(words[1:])
            expected = 2 if command.output.startswith("kibitz: ") else 0
            assert code == expected, f"{where}: {command.text}\n{output}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_all_that_a_page_shows_runs(page, folder):
    wrong = []
    for block in blocks(page):
        where = f"{page.name}:{block.line}"
        try:
            if block.language in ("python", "pycon"):
                folder.python(block, where)
            elif block.language == "json":
                json.loads(block.text)
            elif block.language in SHELL:
                for command in commands(block):
                    run_command(folder, command, where, block.inline)
            else:
                assert block.language in DATA, f"{where}: {block.language!r} is no language that is tested here"
        except BaseException as error:
            import traceback

            wrong.append(
                f"{where}: {type(error).__name__}: {str(error)[:600]} {traceback.format_exc()[-300:] if not isinstance(error, AssertionError) else ''}"
            )
    with open("/tmp/blocks_slow.txt", "a") as f:
        for s, w in sorted(folder.slow + folder.made.slow, reverse=True)[:12]:
            print(f"{s:6.2f} {page.name} {w[:200]}", file=f)
    assert not wrong, "\n\n".join(wrong)
