"""What the documentation tells people to type: its commands and its blocks of code, and how they are made small.

A page is read from top to bottom. Fenced blocks say in their info string what they are; commands stand in bare blocks
too, and in backticks within a sentence. `shrunk` and `shrunk_code` make them small enough for a test.
"""

import re
import shlex
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import typer

from kibitz.app import cli

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

SHELL = ("", "sh", "bash", "shell", "console")  # info strings of blocks of commands
DATA = ("text", "json")  # of blocks that nobody types
PROGRAMS = ("kibitz", "make", "pip", "python", "tensorboard", "cd")
OF_VENV = ".venv/bin/"  # how pages that begin with a checkout name them
INLINE = re.compile(r"([A-Z_]+=\S+ )*(kibitz |make |pip install |python -m (kibitz|benchmarks|pytest)|python \w+/)")


class Block(NamedTuple):
    """A fenced block, or a command in backticks (`inline`)."""

    line: int
    language: str
    title: str  # the file that the block is saved as: ```python my_player.py, or title="my_player.py"
    text: str
    inline: bool = False


def blocks(page: Path) -> list[Block]:
    """All fenced blocks and all commands in backticks of a page, from top to bottom."""
    found: list[Block] = []
    fence, info, start, lines = "", "", 0, []
    for number, line in enumerate(page.read_text().splitlines(), 1):
        mark = re.match(r"\s*(```+)(.*)$", line)
        if fence and mark and mark[1] == fence and not mark[2]:
            language, _, rest = info.strip().partition(" ")
            title = re.search(r"[\w-]+\.\w+", rest)
            text = textwrap.dedent("\n".join(lines) + "\n")
            found.append(Block(start, language, title[0] if title else "", text))
            fence = ""
        elif fence:
            lines.append(line)
        elif mark:
            fence, info, start, lines = mark[1], mark[2], number, []
        else:
            found += [
                Block(number, "sh", "", code, inline=True)
                for code in re.findall(r"(?<!`)`([^`]+)`(?!`)", line)
                if INLINE.match(code)
            ]
    assert not fence, f"{page.name}:{start}: the block isn't closed"
    return found


class Command(NamedTuple):
    text: str
    output: str  # what the page shows below it


def commands(block: Block) -> Iterator[Command]:
    """The commands of a block. Where some begin with `$`, the other lines are output. Loops of the shell are unrolled.

    Raises:
        ValueError: A line begins with no known program.
    """
    text = re.sub(rf"\\\n\s*|^{re.escape(OF_VENV)}", "", block.text, flags=re.MULTILINE)
    if re.match(r"\$ ", text):
        for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            yield Command(command, output)
        return
    text = re.sub(r"^for (\w+) in (.*?); do\n(.*?)^done\n", _unrolled, text, flags=re.MULTILINE | re.DOTALL)
    for line in text.splitlines():
        if words := shlex.split(line, comments=True):
            program = next(word for word in words if not re.match(r"[A-Z_]+=", word))
            if program not in PROGRAMS:
                raise ValueError(f"{program!r} is no program of {', '.join(PROGRAMS)}: mark a block of text as ```text")
            yield Command(line.strip(), "")


def _unrolled(loop: re.Match[str]) -> str:
    return "".join(re.sub(rf"\${loop[1]}\b", value, loop[3]) for value in loop[2].split())


# ---------------------------------------------------------------- the command line


def resolve(words: list[str]) -> tuple[Any, list[str]]:
    """The (sub)command that the first words name, and the words after them.

    Raises:
        LookupError: There is no such command.
    """
    command, rest = typer.main.get_command(cli.build(words[0] if words else "")), list(words)
    while hasattr(command, "get_command") and rest and not rest[0].startswith("-"):
        inner = command.get_command(command.context_class(command), rest[0])
        if inner is None:
            raise LookupError(f"no command {rest[0]!r}")
        command = inner
        del rest[0]
    return command, rest


def is_name(words: list[str]) -> bool:
    """Whether the words only name a command that needs arguments, as in "`kibitz match` resumes"."""
    command, rest = resolve(words)
    needs = hasattr(command, "get_command") or any(each.required for each in command.params)
    return not rest and (needs or words == ["solve"])  # of which a game or --resume is needed


# ---------------------------------------------------------------- small

# Options of commands: a command that has one gets it, given or not.
SMALL = {
    "--games": 12, "--deals": 1, "--sessions": 2, "--seeds": 1, "--iterations": 2, "--simulations": 10, "--steps": 2,
    "--hidden": 8, "--nodes": 8, "--traversals": 10, "--in-flight": 10, "--strategy-steps": 2, "--batch-size": 8,
    "--strategy-batch-size": 8, "--positions": 4, "--validation": 0.3, "--keep-every": 1, "--evaluation-deals": 1,
    "--min-steps": 1, "--repetitions": 1, "--scale": "quick", "--device": "cpu", "--processes": 1, "--buckets": 4,
    "--value-games": 4, "--inference-device": "cpu",
}  # fmt: skip
OF_COMMAND = {
    "critical": {"--plies": "2-5"},
    "record": {"--games": 60},  # learners keep a few of the games for validation
    "train": {"--samples": 64, "--evaluation-samples": 16, "--evaluation-games": 2}
    | {"--parts": 2, "--rounds": 60, "--channels": 4, "--blocks": 1},
}
INSTEAD_OF = {"--deals": "--games"}  # an option that is added only where it is given, instead of another
METHODS = {  # of `kibitz exploit`, for which an option is
    "--iterations": ("rl",), "--simulations": ("ismcts",), "--games": ("lbr", "rl", "ismcts"),
    "--seeds": ("exact", "rl", "ismcts"),
}  # fmt: skip
DROPPED = {"--cluster"}  # with its value: Ray starts processes of its own
UNCOMPILED = "fanorona|gomoku|knightthrough|othello|teeko|yavalath"
STAND_INS = (
    (rf"\b(breakthrough|connect_four|hex|{UNCOMPILED})\b(:[\w=]+(,\w+=\w+)*)?", "tic_tac_toe"),
    (r"\bgoofspiel:13\b", "goofspiel:6"),
    (r"\bholdem:flop\b(,ranks=\d+)?", "holdem:flop,ranks=3,suits=3"),
)
TWO_DICE = ((r"\bliars_dice:(dice=)?2\b(?!,)", "liars_dice"), (r"\bmodels/liars_dice-2\b", "models/liars_dice-1"))

# A player that searches at every infoset, and the strategy that is saved: in games of few infosets.
SEARCHED = re.compile(r"^exploit .*( ismcts:\d+|-searched\b)")
FEW_INFOSETS = ((r"^liars_dice:1$", "liars_dice:faces=2"), (r"^goofspiel:6$", "goofspiel:4"))

# Commands about card abstractions, which take minutes with all cards.
BLUEPRINT = re.compile(
    r"^poker abstract|--with (pcs|cfr-br)|runs/(buckets|blueprint|cfr-br|distilled|flop|holdem-pcs-\d+)\b"
)
SMALL_DECK = "holdem:flop,ranks=4,suits=2"

# Budgets in names of players, in commands and in Python.
BUDGETS = (
    (r"\b(oos|ismcts|uct|puct|single-uct|FlatMonteCarlo):\d[\d_]*", r"\1:10"),
    (r"\balphabeta:\d+", "alphabeta:1"),
    (r"\b(ensemble-uct|uct-lstm):\d+x\d+", r"\1:2x4"),
    (r"\bseconds=[\d.]+", "seconds=0.01"),
    (r"\biteration=\d+", "iteration=1"),
)
LARGE = r"\b(?:games|iterations|simulations|steps)=(\d[\d_]{2,})\b|range\((\d{3,})\)"  # in Python
FEW = 4


def small_budgets(text: str) -> str:
    for pattern, replacement in BUDGETS:
        text = re.sub(pattern, replacement, text)
    return text


def stand_in(words: list[str]) -> list[str]:
    """A command with smaller games, where it names no model and no moves: others compile for long.

    With moves, the position is real and only the search is another one, if no test compiles it for that game.
    """
    for pattern, smaller in TWO_DICE:
        words = [re.sub(pattern, smaller, word) for word in words]
    if SEARCHED.search(" ".join(words)):
        for pattern, smaller in FEW_INFOSETS:
            words = [re.sub(pattern, smaller, word) for word in words]
    if words[:2] == ["exploit", "holdem"] and "net:models/holdem" in words and "--flops" in words:
        return ["exploit", "holdem", "net:models/holdem", "--with", "lbr"]  # a flop has 14 billion decisions
    if words[:3] == ["exploit", "holdem:flop", "net:models/holdem-flop"]:
        return [*words[:3], "--with", "lbr"]
    if BLUEPRINT.search(" ".join(words)):
        if words[0] == "advise" or words[:2] == [
            "poker",
            "ranges",
        ]:  # with cards that the small deck hasn't, or beside the network
            return [re.sub(r"(strategy|resolve):runs/[\w,=-]+", "style:tight-passive", word) for word in words]
        words = [re.sub(r"^holdem(:flop(,ranks=\d+(,suits=\d+)?)?)?$", SMALL_DECK, word) for word in words]
        if "--boards" in words and words[words.index("--boards") + 1].isdecimal():  # for a GPU
            del words[words.index("--boards") : words.index("--boards") + 2]
        return words
    if words[0] == "advise":
        return [*words, "--with", "random"] if re.match(UNCOMPILED, " ".join(words[1:])) else words
    if words[0] == "games" or any("models/" in word for word in words):
        return words
    found = words
    for pattern, smaller in STAND_INS:
        found = [re.sub(pattern, smaller, word) for word in found]
    for at in [at for at, word in enumerate(found) if word == "--game" and "tic_tac_toe" in found[:at]][::-1]:
        del found[at : at + 2]
    return ["" if before == "--moves" else word for before, word in zip(["", *found], found, strict=False)]


def shrunk(words: list[str]) -> list[str]:
    """A command with small budgets, few games, short training."""
    words = stand_in(words)
    command, rest = resolve(words)
    if rest == words or "--help" in rest:  # options of kibitz itself, or help
        return words
    names = words[: len(words) - len(rest)]
    known = {option for each in command.params for option in each.opts}
    given = {word.partition("=")[0] for word in rest}
    small = {option: str(value) for option, value in (SMALL | OF_COMMAND.get(names[0], {})).items() if option in known}
    if names == ["solve"] and not {"pcs", "cfr-br"} & set(rest) and "--device" not in given:  # also of a resumed run
        del small["--device"]
    if names == ["solve"] and "--buckets" not in given:  # with it, a card abstraction first
        del small["--buckets"]
    if names == ["exploit"] and "--device" not in given:  # with it, flop by flop
        del small["--device"]
    if names == ["exploit"]:
        method = rest[rest.index("--with") + 1] if "--with" in rest else "exact"
        small = {option: value for option, value in small.items() if method in METHODS.get(option, (method,))}
        if given & {"--device", "--flops"} or re.match(r"runs/\S+-exploit$", rest[-1]):  # flop by flop, or only shown
            small = {option: value for option, value in small.items() if option not in ("--seeds", "--processes")}
    if names[0] == "train" and "--processes" not in given:  # not every learner has worker processes
        small.pop("--processes", None)
    if names == ["train", "mmd"] and ("--start" in given or "doppelkopf" in rest):  # no smaller than its start
        del small["--hidden"]
    if names == ["critical"] and "connect_four" in rest:  # with a model; few plies before the end a solver is quick
        small["--plies"] = "22-25"
    if "--sessions" not in given:  # one, whose sheet is shown
        small.pop("--sessions", None)
    for option, other in INSTEAD_OF.items():
        small.pop(other if option in given else option, None)
    if "--resume" in given and small.pop("--iterations") and "--iterations" in given:
        small["--iterations"] = str(SMALL["--iterations"] + 1)  # a total, of which some are done
    kept = [
        small_budgets(word)
        for before, word in zip(["", *rest], rest, strict=False)
        if not {before, word.partition("=")[0]} & (small.keys() | DROPPED)
    ]
    return [*names, *kept, *(part for option in small.items() for part in option)]


def shrunk_code(text: str) -> str:
    """A block of code with few games and iterations, a number of games being the same wherever it occurs."""
    for numbers in re.findall(LARGE, text):
        text = re.sub(rf"\b{''.join(numbers)}\b", str(FEW), text)
    text = re.sub(r'preset="\w+"(?=\))', r"\g<0>, iterations=2, simulations=10, steps=2", text)
    return small_budgets(text)
