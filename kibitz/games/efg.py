"""Gambit's extensive-form files (.efg): write any small game as one, and read one as a game (`efg:path/to/file.efg`).

The format is described at https://gambitproject.readthedocs.io (formats). Payoffs are decimals, probabilities
fractions that sum to exactly 1, so that what was written is read back without a difference.
"""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import NoReturn

from ..core.files import write_atomically
from ..core.names import BadInput, TooLarge, absolute, as_path
from ..core.progress import SILENT, Reporter
from .protocol import CHANCE, OVER, Game
from .tree import MAX_DEPTH, MAX_NODES, Node, Tree, nodes_of, tree

MAX_BYTES = 100_000_000
MAX_PLAYERS = 64


# ---------------------------------------------------------------- writing


def write(game: Game, path: str | Path, max_nodes: int = MAX_NODES, report: Reporter = SILENT) -> int:
    """Write a game as a file of Gambit.

    Returns:
        The number of nodes.

    Raises:
        BadInput: The game is too large, or the file can't be written.
    """
    from . import full_name

    try:
        nodes = nodes_of(game, max_nodes, report)
    except TooLarge:
        raise TooLarge(f"{full_name(game)} is too large for an .efg file: more than {max_nodes:,} nodes") from None
    title, players = full_name(game), [f"seat {seat + 1}" for seat in range(game.facts.seats)]
    if isinstance(game, Tree):
        title, players = game.title, game.players or players
    write_atomically(as_path(path), to_text(nodes, title, players).encode())
    return len(nodes)


def to_text(nodes: Sequence[Node], title: str, players: Sequence[str]) -> str:
    """The text of a file."""
    lines = [f"EFG 2 R {_quoted(title)} {{ {' '.join(map(_quoted, players))} }}", '""', ""]
    outcomes: dict[tuple[float, ...], int] = {}
    chance = 0
    for node in nodes:
        names = map(_quoted, node.names)
        if node.turn == OVER:
            payoffs = tuple(node.payoffs)
            number = outcomes.setdefault(payoffs, len(outcomes) + 1)
            lines.append(f't "" {number} "" {{ {", ".join(map(_decimal, payoffs))} }}')
        elif node.turn == CHANCE:
            chance += 1
            pairs = " ".join(f"{name} {p}" for name, p in zip(names, fractions(node.probs), strict=True))
            lines.append(f'c "" {chance} "" {{ {pairs} }} 0')
        else:
            label = _quoted(node.label)
            lines.append(f'p "" {node.turn + 1} {node.infoset + 1} {label} {{ {" ".join(names)} }} 0')
    return "\n".join(lines) + "\n"


def fractions(probs: Sequence[float]) -> list[Fraction]:
    """Fractions that sum to exactly 1 and are these probabilities as floating-point numbers."""
    short = [Fraction(p).limit_denominator(10**6) for p in probs]
    if sum(short) == 1 and all(float(one) == p for one, p in zip(short, probs, strict=True)):
        return short
    exact = [Fraction(p) for p in probs]
    return [each / sum(exact) for each in exact]


def _decimal(value: float) -> str:
    return str(int(value)) if value.is_integer() else format(Decimal(repr(value)), "f")


def _quoted(text: str) -> str:
    return '"' + " ".join(text.split()).replace("\\", "/").replace('"', "'") + '"'


# ---------------------------------------------------------------- reading

TOKEN = re.compile(r'\s*(?:("(?:[^"\\]|\\.)*")|([{}])|([^\s{}",]+)|(,)|(\S))', re.DOTALL)


def load(text: str) -> Tree:
    """The game in a file.

    Raises:
        BadInput: It can't be read, is too large, or is damaged; the message names the line.
    """
    if not text:
        raise BadInput("efg: names no file: a game of Gambit is named efg:path/to/file.efg")
    path = as_path(text)
    try:
        if path.stat().st_size > MAX_BYTES:
            raise BadInput(f"{path} is larger than {MAX_BYTES:,} bytes")
        content = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise BadInput(f"{path} is no .efg file: it isn't text") from None
    except OSError as error:
        raise BadInput(f"{path} can't be read: {error.strerror or error}") from None
    title, players, nodes = Parser(content, str(path)).game()
    return tree(nodes, absolute(f"efg:{text}"), re.sub(r"[^\w.-]+", "_", path.stem) or "efg", title, players)


class Parser:
    """Reads the text of a file, token by token."""

    def __init__(self, text: str, name: str) -> None:
        self.text, self.name = text, name
        self.tokens = self._tokens()
        self.place = 0  # of the present token in the text
        self.token = ""
        self.advance()

    def _tokens(self) -> Iterator[tuple[int, str]]:
        place = 0
        while match := TOKEN.match(self.text, place):
            if match[5]:
                self.fail(f"{match[5]!r} is not expected", match.start(5))
            if not match[4]:  # commas between payoffs mean nothing
                yield match.start(match.lastindex or 0), match[0].strip()
            place = match.end()
        yield len(self.text), ""

    def fail(self, what: str, place: int | None = None) -> NoReturn:
        line = self.text.count("\n", 0, self.place if place is None else place) + 1
        raise BadInput(f"{self.name}:{line}: {what}")

    def advance(self) -> str:
        token = self.token
        if self.place < len(self.text) or not self.place:
            self.place, self.token = next(self.tokens)
        return token

    def need(self, wanted: str) -> None:
        if self.token != wanted:
            self.fail(f"{wanted!r} is expected, not {self._shown()}")
        self.advance()

    def _shown(self) -> str:
        return repr(self.token[:40]) if self.token else "the end of the file"

    def string(self, what: str) -> str:
        if not self.token.startswith('"'):
            self.fail(f"{what} in quotes is expected, not {self._shown()}")
        return re.sub(r"\\(.)", r"\1", self.advance()[1:-1])

    def integer(self, what: str, low: int, high: int = 10**9) -> int:
        if not re.fullmatch(r"-?\d{1,10}", self.token) or not low <= int(self.token) <= high:
            self.fail(f"{what} should be a whole number from {low} to {high}, not {self._shown()}")
        return int(self.advance())

    def number(self, what: str) -> Fraction:
        if not re.fullmatch(r"[+-]?(\d{1,400}(\.\d{0,400})?|\.\d{1,400})(e[+-]?\d{1,3}|/\d{1,400})?", self.token, re.I):
            self.fail(f"{what} should be a number, not {self._shown()}")
        top, _, bottom = self.token.partition("/")
        if bottom and int(bottom) == 0:
            self.fail(f"{what} {self.token} is divided by zero")
        value = Fraction(top) / int(bottom or 1)
        if abs(value) > 10**300:
            self.fail(f"{what} {self._shown()} is too large")
        self.advance()
        return value

    def game(self) -> tuple[str, list[str], list[Node]]:
        """The title, the names of the players and the nodes."""
        if (self.token, self.text[:3]) != ("EFG", "EFG"):
            self.fail("no .efg file: it should begin with EFG 2 R")
        self.advance()
        self.need("2")
        if self.token not in ("R", "D"):
            self.fail(f"R or D is expected, not {self._shown()}")
        self.advance()
        title = self.string("the title")
        self.need("{")
        players = []
        while self.token != "}":
            players.append(self.string("the name of a player"))
        if not 1 <= len(players) <= MAX_PLAYERS:
            self.fail(f"1 to {MAX_PLAYERS} players are expected, not {len(players)}")
        self.advance()
        if self.token.startswith('"'):
            self.advance()  # a comment
        return title, players, self._nodes(len(players))

    def _nodes(self, seats: int) -> list[Node]:
        nodes: list[Node] = []
        self.outcomes: dict[int, list[Fraction]] = {}
        self.infosets: dict[tuple[int, int], Node] = {}  # (seat or CHANCE, number in the file) -> its first node
        self.numbers = [0] * seats
        left = [1]  # children still to come, level by level
        sums = [[Fraction(0)] * seats]  # payoffs on the way, which a node before the end may have too
        while left:
            if not self.token:
                self.fail("the file ends within the tree")
            if len(nodes) == MAX_NODES:
                self.fail(f"the tree has more than {MAX_NODES:,} nodes")
            if len(left) > MAX_DEPTH:
                self.fail(f"the tree is deeper than {MAX_DEPTH:,} moves")
            node = self._node(seats)
            outcome = self._outcome(seats)
            total = [a + b for a, b in zip(sums[-1], outcome, strict=True)] if outcome else sums[-1]
            left[-1] -= 1
            if node.turn == OVER:
                node.payoffs = [float(each) for each in total]
            else:
                left.append(len(node.actions))
                sums.append(total)
            nodes.append(node)
            while left and left[-1] == 0:
                left.pop()
                sums.pop()
        if self.token:
            self.fail(f"{self._shown()} comes after the tree")
        return nodes

    def _node(self, seats: int) -> Node:
        kinds = {"c": CHANCE, "p": 0, "t": OVER}
        if self.token not in kinds:
            self.fail(f"a node should begin with c, p or t, not {self._shown()}")
        turn = kinds[self.advance()]
        self.string("the name of the node")
        if turn == OVER:
            return Node(OVER)
        if turn == 0:
            turn = self.integer("the player", 1, seats) - 1
        place, number = self.place, self.integer("the number of the infoset", 0)
        label = self.string("the name of the infoset") if self.token.startswith('"') else ""
        first = self.infosets.get((turn, number))
        names, probs = self._actions(turn) if self.token == "{" else ([], [])
        if first is None:
            if not names:
                self.fail(f"infoset {number} has no actions", place)
            first = Node(turn, 0, label, list(range(len(names))), names, probs)
            if turn >= 0:
                first.infoset = self.numbers[turn]
                self.numbers[turn] += 1
            self.infosets[turn, number] = first
        elif names and (names, probs) != (first.names, first.probs):
            self.fail(f"infoset {number} has other actions here than before", place)
        return Node(turn, first.infoset, first.label, first.actions, first.names, first.probs)

    def _actions(self, turn: int) -> tuple[list[str], list[float]]:
        self.need("{")
        names: list[str] = []
        probs: list[Fraction] = []
        while self.token != "}":
            names.append(self.string("an action"))
            if turn == CHANCE:
                probs.append(self.number("a probability"))
        if probs and (any(p < 0 for p in probs) or abs(float(sum(probs)) - 1) > 1e-6):
            self.fail(f"the probabilities of chance sum to {float(sum(probs)):g}, not 1")
        self.advance()
        return names, [float(p) for p in probs]

    def _outcome(self, seats: int) -> list[Fraction] | None:
        place, number = self.place, self.integer("the number of the outcome", 0)
        if self.token.startswith('"'):
            self.advance()
        if self.token == "{":
            self.advance()
            payoffs = []
            while self.token != "}":
                payoffs.append(self.number("a payoff"))
            if len(payoffs) != seats:
                self.fail(f"{seats} payoffs are expected, not {len(payoffs)}")
            self.advance()
            if self.outcomes.setdefault(number, payoffs) != payoffs:
                self.fail(f"outcome {number} has other payoffs here than before", place)
        if number and number not in self.outcomes:
            self.fail(f"outcome {number} has no payoffs", place)
        return self.outcomes.get(number) if number else None
