"""The type of a game, for type checkers and for plain Python: facts, rules, positions, views and legal actions."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np

from ..core.names import FactTooSmall

CHANCE = -1  # `turn` where chance is to move
OVER = -2  # `turn` where the game is over

PST = 0  # `target` the public part of a view
IST = 1  # `target` everything that the seat has seen

SCRATCH = 1024  # maximum number of actions or outcomes at a turn

ENDLESS = 10_000_000  # turns after which a playout is given up


# What kernels raise where a game breaks what its facts say, instead of writing outside an array or running for ever.


class NeverEnds(FactTooSmall):
    fact, why = "max_game_length", "a random game was not over after 10,000,000 turns"


class TooLong(FactTooSmall):
    fact, why = "max_game_length", "a game took more turns than that"


class TooManyActions(FactTooSmall):
    fact, why = "num_actions", "an action of a higher number was legal"


class NoSeat(FactTooSmall):
    fact, why = "seats", "turn returned a seat of a higher number"


REMEMBERED = 64  # games of which a process keeps what was computed

F = TypeVar("F", bound=Callable[..., Any])


def of_a_game(function: F) -> F:
    """Decorator of a function of a game, and maybe of options: it is computed once, for each of the last games.

    Games are tuples, and those of two kinds may be equal: the type counts, too.
    """
    return functools.lru_cache(REMEMBERED, typed=True)(function)  # type: ignore[return-value]


@dataclass(frozen=True)
class Facts:
    """Constants of a game with its parameters: sizes, bounds and what it supports."""

    seats: int  # number of seats
    num_actions: int  # actions of a seat are numbered from 0 to num_actions - 1
    max_chance_outcomes: int  # 0 for a game without chance
    max_game_length: int  # turns of the longest game, chance turns included
    payoffs: tuple[float, float]  # lowest and highest payoff of a seat
    rewards: tuple[float, float]  # the same of `reward`: the scale of a search; with two seats also its bounds
    zero_sum: bool  # whether payoffs always sum to zero
    encoding: int  # numbers that `observe` writes; 0 if the game has no encoding
    notes: int  # numbers that `prepare` writes
    hidden: bool  # whether the game has hidden information
    targets: tuple[str, ...]  # modes of `target`: "pst", "ist"
    milli_unit: str  # unit of a thousandth of a payoff, such as "mbb/g"; empty if there is no such unit


class Game(Protocol):
    """The type of a decorated class, for type checkers. `docs/write-a-game.md` describes each rule."""

    name: str
    state: np.dtype
    facts: Facts

    def start(self, state: Any) -> None: ...
    def turn(self, state: Any) -> int: ...
    def actions(self, state: Any, out: Any) -> int: ...
    def chance_probs(self, state: Any, actions: Any, n: int, out: Any) -> None: ...
    def sample_action(self, state: Any, rng: Any) -> int: ...
    def play(self, state: Any, action: int) -> None: ...
    def random_playout(self, state: Any, rng: Any) -> None: ...
    def heuristic(self, state: Any, rng: Any) -> int: ...
    def is_announcement(self, state: Any) -> bool: ...
    def payoff(self, state: Any, seat: int) -> float: ...
    def reward(self, state: Any, seat: int) -> float: ...
    def infoset(self, state: Any, seat: int) -> Any: ...
    def observe(self, state: Any, seat: int, out: Any) -> None: ...
    def look(self, state: Any, seat: int, out: Any) -> None: ...
    def prepare(self, view: Any, seat: int, notes: Any) -> None: ...
    def determinize(self, view: Any, seat: int, notes: Any, rng: Any, out: Any) -> bool: ...
    def target(self, state: Any, view: Any, seat: int, mode: int, actions: Any, n: int, keep: Any) -> int: ...
    def private_state(self, state: Any, seat: int) -> int: ...
    def public_state(self, state: Any) -> Any: ...
    def payoff_class(self, state: Any) -> int: ...
    def from_to(self, state: Any, action: int) -> tuple[int, int]: ...
    def pieces(self, state: Any, seat: int, word: int) -> Any: ...
    def without_announcements(self) -> "Game": ...
    def show(self, state: Any, seat: int) -> str: ...
    def action_to_string(self, state: Any, action: int) -> str: ...
    def parse_action(self, state: Any, text: str) -> int: ...
    def picture(self, state: Any, seat: int) -> str: ...
    def initial(self, seed: int | None = None) -> Any: ...
    def _asdict(self) -> dict[str, Any]: ...


# What a game may offer beside its rules: hooks that other rooms ask for, `None` or absent where there is nothing.
HOOKS = {
    "display": "class of `games.display.Display`: how people read and enter moves",
    "opponent": "name of the default player",
    "file": "where the game was read from",
    "deep_cfr": "what Deep CFR may know of the game (`train.deep_cfr.traits`)",
    "training": "learner -> full name of a game -> values of the learner's preset for it",
    "how_to_solve": "what to do where the game tree is too large, for the message",
    "review_marks": "mark of a review -> the cost, in payoffs, from which it is given",
    "beliefs": "(view, seat, assumed, own) -> what the seat may believe, with `basis`, `text(language)` and `as_json`",
    "weighted_worlds": "(view, seat, player) -> worlds that fit a view, and their probabilities",
    "insight": "(view, seat, player, assumed, uniform, asked) -> what lies behind advice, `shown` and `plot`; or None",
    "best_response": "(player, processes, report) -> `Exploitability` of a player with `action_probs`",
    "rising_bids": "() -> number of bids, of which seats make a higher one in turn, or call the last by their last "
    "action; a public state has a bit for each bid that was made",
    "session": "(games) -> who sits where and which rules are next in a series of games (see `app.web.session`)",
}


# ---------------------------------------------------------------- positions, in plain Python


def positions(game: Game, count: int = 1) -> np.ndarray:
    """`count` records of the opening position."""
    states = np.zeros(count, game.state)
    for state in states:
        game.start(state)
    return states


def view_of(game: Game, state: Any, seat: int) -> Any:
    """The view of a seat: a copy of the position in which everything hidden from the seat is masked."""
    view = np.zeros(1, game.state)[0]
    game.look(state, seat, view)
    return view


def legal_actions(game: Game, state: Any) -> list[int]:
    """The legal actions, or at a chance turn the possible outcomes."""
    out = np.empty(SCRATCH, np.int64)
    return out[: game.actions(state, out)].tolist()


def chance_outcomes(game: Game, state: Any) -> list[tuple[int, float]]:
    """The possible outcomes of a chance turn with their probabilities."""
    actions, out = np.empty(SCRATCH, np.int64), np.empty(SCRATCH)
    n = game.actions(state, actions)
    game.chance_probs(state, actions, n, out)
    return list(zip(actions[:n].tolist(), out[:n].tolist(), strict=True))
