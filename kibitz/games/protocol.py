"""What a game is: a NamedTuple whose fields are its parameters and whose methods are its rules.

The position is one NumPy record. Rules run as plain Python and compiled inside every
kernel. `docs/write-your-own-game.md` shows a whole game.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np

from ..jit import below, copy_record, hash_record, mix, rules, uniform
from ..names import BadInput

CHANCE = -1
OVER = -2

PST = 0  # aim at the public part of a view
IST = 1  # aim at all that the seat has seen

SCRATCH = 1024  # no game has more actions or outcomes at a turn

RULES = {
    "start": "self, state",
    "turn": "self, state",
    "actions": "self, state, out",
    "odds": "self, state, actions, n, out",
    "pick": "self, state, rng",
    "play": "self, state, action",
    "finish": "self, state, rng",
    "usual": "self, state, rng",
    "aside": "self, state",
    "payoff": "self, state, seat",
    "reward": "self, state, seat",
    "infoset": "self, state, seat",
    "observe": "self, state, seat, out",
    "look": "self, state, seat, out",
    "prepare": "self, view, seat, notes",
    "guess": "self, view, seat, notes, rng, out",
    "aim": "self, state, view, seat, mode, actions, n, keep",
    "ends": "self, state, action",
    "stones": "self, state, seat, word",
}
NEEDED = ("start", "turn", "actions", "play", "payoff")
ON_BOARDS = ("ends", "stones")  # of a game that has a `board`, for patterns of pieces
HIDDEN = ("look", "guess", "infoset")  # all three or none: a game hides something, or it doesn't


@dataclass(frozen=True)
class Facts:
    """What others need to know of a game before they play it."""

    seats: int
    most_actions: int  # at a seat's turn; actions are numbered from 0 to below this
    most_outcomes: int  # at a chance turn; 0 where there is none
    longest: int  # turns in the longest game, chance included
    payoffs: tuple[float, float]  # lowest and highest of a seat
    rewards: tuple[float, float]  # of what a search backs up: its scale, with two seats its bounds too
    zero_sum: bool
    encoding: int  # numbers that `observe` writes; 0 where it isn't written
    notes: int  # numbers that `prepare` writes
    hidden: bool  # whether a view differs from the position
    targets: tuple[str, ...]  # what `aim` can aim at: "pst", "ist"
    mills: str  # what players call a thousandth of a payoff, such as "mbb/g"; where they don't, nothing


class Game(Protocol):
    """For type checkers: the decorated class. The rules themselves are called by kernels."""

    name: str
    state: np.dtype
    facts: Facts

    def start(self, state: Any) -> None: ...
    def turn(self, state: Any) -> int: ...
    def actions(self, state: Any, out: Any) -> int: ...
    def odds(self, state: Any, actions: Any, n: int, out: Any) -> None: ...
    def pick(self, state: Any, rng: Any) -> int: ...
    def play(self, state: Any, action: int) -> None: ...
    def finish(self, state: Any, rng: Any) -> None: ...
    def usual(self, state: Any, rng: Any) -> int: ...
    def aside(self, state: Any) -> bool: ...
    def payoff(self, state: Any, seat: int) -> float: ...
    def reward(self, state: Any, seat: int) -> float: ...
    def infoset(self, state: Any, seat: int) -> Any: ...
    def observe(self, state: Any, seat: int, out: Any) -> None: ...
    def look(self, state: Any, seat: int, out: Any) -> None: ...
    def prepare(self, view: Any, seat: int, notes: Any) -> None: ...
    def guess(self, view: Any, seat: int, notes: Any, rng: Any, out: Any) -> bool: ...
    def aim(self, state: Any, view: Any, seat: int, mode: int, actions: Any, n: int, keep: Any) -> int: ...
    def ends(self, state: Any, action: int) -> tuple[int, int]: ...
    def stones(self, state: Any, seat: int, word: int) -> Any: ...
    def quiet(self) -> "Game": ...
    def show(self, state: Any, seat: int) -> str: ...
    def spell(self, state: Any, action: int) -> str: ...
    def read(self, state: Any, text: str) -> int: ...
    def _asdict(self) -> dict[str, Any]: ...


C = TypeVar("C", bound=type)


def game(
    name: str,
    *,
    state: np.dtype,
    most_actions: Any,
    longest: Any,
    payoffs: Any,
    rewards: Any = None,
    seats: Any = 2,
    most_outcomes: Any = 0,
    zero_sum: Any = True,
    encoding: Any = 0,
    notes: Any = 1,
    targets: tuple[str, ...] = (),
    mills: str = "",
    check: Callable[[Any], str | None] = lambda game: None,
) -> Callable[[C], C]:
    """Class decorator that makes a NamedTuple a game. A fact is a value, or a function of the game.

    `check` says what is wrong with a combination of parameters that are each in range.
    """

    def decorate(cls: C) -> C:
        missing = [rule for rule in NEEDED if rule not in vars(cls)]
        written = [rule for rule in HIDDEN if rule in vars(cls)]
        if missing:
            raise TypeError(f"{cls.__name__} lacks the rules {', '.join(missing)}")
        if "look" in written and len(written) < len(HIDDEN):
            raise TypeError(f"{cls.__name__} hides something, so it needs all of {', '.join(HIDDEN)}")
        if "board" in vars(cls) and not all(rule in vars(cls) for rule in ON_BOARDS):
            raise TypeError(f"{cls.__name__} has a board, so it needs {', '.join(ON_BOARDS)}")
        for default in DEFAULTS:
            if default.__name__ not in vars(cls):
                setattr(cls, default.__name__, default)
        rules(RULES)(cls)

        @functools.cache
        def facts(self: Any) -> Facts:
            def of(fact: Any) -> Any:
                return fact(self) if callable(fact) else fact

            wrong = check(self)
            if wrong:
                raise BadInput(f"{name}: {wrong}")
            found = Facts(
                seats=of(seats),
                most_actions=of(most_actions),
                most_outcomes=of(most_outcomes),
                longest=of(longest),
                payoffs=of(payoffs),
                rewards=of(payoffs if rewards is None else rewards),
                zero_sum=of(zero_sum),
                encoding=of(encoding),
                notes=of(notes),
                hidden="look" in written,
                targets=targets,
                mills=mills,
            )
            if max(found.most_actions, found.most_outcomes) > SCRATCH:
                raise BadInput(f"{name}: more than {SCRATCH} actions at a turn")
            return found

        for key, value in (("name", name), ("state", state), ("facts", property(facts))):
            setattr(cls, key, value)
        return cls

    return decorate


# ---------------------------------------------------------------- defaults of rules


def odds(self, state, actions, n, out):
    for i in range(n):
        out[i] = 1.0 / n


def pick(self, state, rng):
    """Slow, as it allocates: a game that is played a million times a second writes its own."""
    actions = np.empty(SCRATCH, np.int64)
    n = self.actions(state, actions)
    if self.turn(state) >= 0:
        return actions[below(rng, n)]
    chances = np.empty(SCRATCH)
    self.odds(state, actions, n, chances)
    left = uniform(rng)
    for i in range(n - 1):
        left -= chances[i]
        if left < 0:
            return actions[i]
    return actions[n - 1]


def finish(self, state, rng):
    """Play on at random until the game is over. Where that can be known without each move (Hex), write your own."""
    while self.turn(state) != OVER:
        self.play(state, self.pick(state, rng))


def usual(self, state, rng):
    """What a sensible beginner would do, who knows only what the seat to move does. Where nobody has said: anything."""
    return self.pick(state, rng)


def aside(self, state):
    """Whether this turn is for something beside the play itself, such as announcing a win."""
    return False


def reward(self, state, seat):
    return self.payoff(state, seat)


def infoset(self, state, seat):
    return mix(hash_record(state), seat)


def observe(self, state, seat, out):
    out[:] = 0


def look(self, state, seat, out):
    copy_record(out, state)


def prepare(self, view, seat, notes):
    pass


def guess(self, view, seat, notes, rng, out):
    copy_record(out, view)
    return True


def aim(self, state, view, seat, mode, actions, n, keep):
    for i in range(n):
        keep[i] = True
    return n


def ends(self, state, action):
    """The cells from which and to which an action moves; -1: none, of a stone that is placed, of a pass."""
    return -1, -1


def stones(self, state, seat, word):
    """The pieces of a seat as bits: bit b of word w is place 64 * w + b."""
    return np.uint64(0)


# ---------------------------------------------------------------- defaults for people


def quiet(self):
    """The game in which nothing is said aside: its positions are the same, and so are its scores."""
    return self


def places(self):
    """The bit of `stones` for each cell of the board."""
    return list(range(len(self.board().places)))


def regions(self, seat):
    """Sets of cells by name that matter to a seat, such as its goal."""
    return {}


def show(self, state, seat):
    return "\n".join(f"{field}: {np.asarray(state[field]).tolist()}" for field in state.dtype.names)


def spell(self, state, action):
    return str(action)


def read(self, state, text):
    """The action that is spelled so here, or BadInput with what could have been said."""
    legal = legal_actions(self, state)
    words = {self.spell(state, action).lower(): action for action in legal}
    if text.strip().lower() not in words:
        raise BadInput(f"{text.strip()!r} is no move here: {', '.join(self.spell(state, action) for action in legal)}")
    return words[text.strip().lower()]


DEFAULTS = (
    odds, pick, finish, usual, aside, reward, infoset, observe, look, prepare, guess, aim, ends, stones, quiet, places,
    regions, show, spell, read,
)  # fmt: skip


# ---------------------------------------------------------------- positions, in plain Python


def positions(game: Game, count: int = 1) -> np.ndarray:
    """`count` records of the opening position."""
    states = np.zeros(count, game.state)
    for state in states:
        game.start(state)
    return states


def view_of(game: Game, state: Any, seat: int) -> Any:
    """All that a seat gets to see of a position, as a record of its own."""
    view = np.zeros(1, game.state)[0]
    game.look(state, seat, view)
    return view


def legal_actions(game: Game, state: Any) -> list[int]:
    out = np.empty(SCRATCH, np.int64)
    return out[: game.actions(state, out)].tolist()


def chance_odds(game: Game, state: Any) -> list[tuple[int, float]]:
    actions, out = np.empty(SCRATCH, np.int64), np.empty(SCRATCH)
    n = game.actions(state, actions)
    game.odds(state, actions, n, out)
    return list(zip(actions[:n].tolist(), out[:n].tolist(), strict=True))
