"""The game protocol: a NamedTuple whose fields are the parameters of a game and whose methods are its rules.

A position is one NumPy record. Rules run as plain Python and compiled inside every kernel. `docs/write-a-game.md` shows
a whole game.
"""

import dataclasses
import difflib
import inspect
import re
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from ..core.names import FORMER, BadInput, NoMove
from ..core.registry import Registry
from ..core.user_files import is_shipped
from ..jit import below, copy_record, hash_record, helper, rules, uniform, xor_mix
from . import svg
from .display import show_board
from .protocol import (
    CHANCE,
    ENDLESS,
    HOOKS,
    IST,
    OVER,
    PST,
    SCRATCH,
    Facts,
    Game,
    NeverEnds,
    chance_outcomes,
    legal_actions,
    of_a_game,
    positions,
    view_of,
)
from .state import State

__all__ = [
    "CHANCE",
    "GAMES",
    "IST",
    "OVER",
    "PST",
    "SCRATCH",
    "Facts",
    "Game",
    "chance_outcomes",
    "game",
    "legal_actions",
    "positions",
    "view_of",
]

GAMES = Registry("game", "kibitz.games")  # name -> class

RULES = {
    "start": "self, state",
    "turn": "self, state",
    "actions": "self, state, out",
    "chance_probs": "self, state, actions, n, out",
    "sample_action": "self, state, rng",
    "play": "self, state, action",
    "random_playout": "self, state, rng",
    "heuristic": "self, state, rng",
    "is_announcement": "self, state",
    "payoff": "self, state, seat",
    "reward": "self, state, seat",
    "infoset": "self, state, seat",
    "observe": "self, state, seat, out",
    "look": "self, state, seat, out",
    "prepare": "self, view, seat, notes",
    "determinize": "self, view, seat, notes, rng, out",
    "target": "self, state, view, seat, mode, actions, n, keep",
    "private_state": "self, state, seat",
    "public_state": "self, state",
    "payoff_class": "self, state",
    "from_to": "self, state, action",
    "pieces": "self, state, seat, word",
}
NEEDED = ("start", "turn", "actions", "play", "payoff")
ON_BOARDS = ("from_to", "pieces")  # needed by a game with a `board`, for pictures and patterns of pieces
HIDDEN = ("look", "determinize", "infoset")  # a game with hidden information needs all three
SPLIT = ("private_state", "public_state")  # a game with a public tree needs both

FACTS = [field.name for field in dataclasses.fields(Facts) if field.name != "hidden"]

C = TypeVar("C", bound=type)


def game(
    name: str,
    *,
    state: np.dtype,
    num_actions: Any = None,
    max_game_length: Any = None,
    payoffs: Any = None,
    rewards: Any = None,
    seats: Any = 2,
    max_chance_outcomes: Any = 0,
    zero_sum: Any = True,
    encoding: Any = 0,
    notes: Any = 1,
    targets: tuple[str, ...] = (),
    milli_unit: str = "",
    check: Callable[[Any], str | None] = lambda game: None,
    hidden: Callable[[Any], bool] | None = None,
    formerly: dict[str, str] | None = None,
    listed: bool = True,
    **unknown: Any,
) -> Callable[[C], C]:
    """Class decorator that makes a NamedTuple a game. A fact is a value, or a function of the game.

    The game is registered under its name, unless it isn't `listed`; only another shipped game takes the name of a
    shipped game. `check` returns what is wrong with a combination of parameters that are each in range. A game with the
    rule `look` has hidden information, or only where `hidden` says so. `formerly` has parameters' present names by
    their former ones.
    """
    for fact in unknown | ({} if hidden is None or callable(hidden) else {"hidden": hidden}):
        raise TypeError(f"no fact of a game is called {fact}{_near(fact, FACTS)}")
    if not isinstance(state, np.dtype) or not state.names:
        raise TypeError(f"the game {name}: state should be record((name, type), ...), not {state!r}")
    needed = {"num_actions": num_actions, "max_game_length": max_game_length, "payoffs": payoffs}
    for fact, value in needed.items():
        if value is None:
            raise TypeError(f"the game {name} lacks the fact {fact}")

    def decorate(cls: C) -> C:
        if not hasattr(cls, "_fields"):
            raise TypeError(f"{cls.__name__} should be a NamedTuple: class {cls.__name__}(NamedTuple)")
        for rule, value in vars(cls).items():
            if inspect.isfunction(value) and rule not in KNOWN and (near := _near(rule, KNOWN)):
                raise TypeError(f"{cls.__name__}: no rule is called {rule}{near}")
        missing = [rule for rule in NEEDED if rule not in vars(cls)]
        written = [rule for rule in HIDDEN if rule in vars(cls)]
        if missing:
            raise TypeError(f"{cls.__name__} lacks the rules {', '.join(missing)}")
        if "look" in written and len(written) < len(HIDDEN):
            raise TypeError(f"{cls.__name__} hides something, so it needs all of {', '.join(HIDDEN)}")
        if 0 < sum(rule in vars(cls) for rule in SPLIT) < len(SPLIT):
            raise TypeError(f"{cls.__name__} declares a public tree, so it needs both of {', '.join(SPLIT)}")
        if "board" in vars(cls) and not all(rule in vars(cls) for rule in ON_BOARDS):
            raise TypeError(f"{cls.__name__} has a board, so it needs {', '.join(ON_BOARDS)}")
        for default in DEFAULTS:
            if default.__name__ not in vars(cls):
                setattr(cls, default.__name__, default)
        rules(RULES)(cls)
        if not is_shipped(cls):
            cls.checked_actions = _checked(cls.actions)  # type: ignore[attr-defined]

        @of_a_game
        def facts(self: Any) -> Facts:
            def of(fact: Any) -> Any:
                return fact(self) if callable(fact) else fact

            wrong = check(self)
            if wrong:
                raise BadInput(f"{name}: {wrong}")
            found = Facts(
                seats=of(seats),
                num_actions=of(num_actions),
                max_chance_outcomes=of(max_chance_outcomes),
                max_game_length=of(max_game_length),
                payoffs=of(payoffs),
                rewards=of(payoffs if rewards is None else rewards),
                zero_sum=of(zero_sum),
                encoding=of(encoding),
                notes=of(notes),
                hidden=hidden(self) if hidden else "look" in written,
                targets=targets,
                milli_unit=milli_unit,
            )
            if max(found.num_actions, found.max_chance_outcomes) > SCRATCH:
                raise BadInput(f"{name}: more than {SCRATCH} actions at a turn")
            return found

        for key, value in (("name", name), ("state", state), ("facts", property(facts))):
            setattr(cls, key, value)
        if formerly:
            FORMER[f"parameter of {name}"] = formerly
        if listed and (is_shipped(cls) or name not in GAMES or not is_shipped(GAMES[name])):
            GAMES(name)(cls)
        return cls

    return decorate


def is_split(game: Game) -> bool:
    """Whether a game declares a public tree: it writes the rules `private_state` and `public_state`."""
    return getattr(type(game), "private_state", private_state) is not private_state


def _near(name: str, known: Any) -> str:
    near = difflib.get_close_matches(name, known, 1, 0.8)
    return f": did you mean {near[0]}?" if near else ""


def _checked(actions: Any) -> Any:
    """The rule `actions` for kernels, which rely on the number that it returns."""
    written = helper(actions)

    def checked(self, state, out):
        n = written(self, state, out)
        if n < 1 or n > len(out):
            raise BadInput("actions returned no number of actions that it can have written: see kibitz check")
        return n

    return checked


# ---------------------------------------------------------------- defaults of rules


def chance_probs(self, state, actions, n, out):
    for i in range(n):
        out[i] = 1.0 / n


def sample_action(self, state, rng):
    """Draw a chance outcome by its probability, or a move uniformly. Slow, as it allocates."""
    actions = np.empty(SCRATCH, np.int64)
    n = self.actions(state, actions)
    if self.turn(state) >= 0:
        return actions[below(rng, n)]
    probs = np.empty(SCRATCH)
    self.chance_probs(state, actions, n, probs)
    left = uniform(rng)
    for i in range(n - 1):
        left -= probs[i]
        if left < 0:
            return actions[i]
    return actions[n - 1]


def random_playout(self, state, rng):
    """Play uniformly random actions until the game is over. Some games (Hex) can sample the end without each move."""
    for _ in range(ENDLESS):
        if self.turn(state) == OVER:
            return
        self.play(state, self.sample_action(state, rng))
    raise NeverEnds


def heuristic(self, state, rng):
    """The action of a simple rule-based player that knows only its own view; by default a random one."""
    return self.sample_action(state, rng)


def is_announcement(self, state):
    """Whether the turn is an announcement, such as Re, rather than a move."""
    return False


def reward(self, state, seat):
    return self.payoff(state, seat)


def infoset(self, state, seat):
    return xor_mix(hash_record(state), seat)


def observe(self, state, seat, out):
    out[:] = 0


def look(self, state, seat, out):
    copy_record(out, state)


def prepare(self, view, seat, notes):
    pass


def determinize(self, view, seat, notes, rng, out):
    copy_record(out, view)
    return True


def target(self, state, view, seat, mode, actions, n, keep):
    for i in range(n):
        keep[i] = True
    return n


def private_state(self, state, seat):
    """The number, from 0, of what chance gave a seat at the beginning, where everything else is public."""
    return 0


def public_state(self, state):
    """A key of all that is public: two public histories have different keys."""
    return np.uint64(0)


def payoff_class(self, state):
    """The number of a class of ended games with the same payoffs and public chance; -1: each has its own."""
    return -1


def from_to(self, state, action):
    """The cells from and to which an action moves; -1: none (a piece that is placed, a pass)."""
    return -1, -1


def pieces(self, state, seat, word):
    """The pieces of a seat as bits: bit b of word w is place 64 * w + b (see `places`)."""
    return np.uint64(0)


# ---------------------------------------------------------------- defaults for people


def without_announcements(self):
    """The game without announcements, with the same records and payoffs."""
    return self


def places(self):
    """The place of each cell of the board among the bits of `pieces`."""
    return list(range(len(self.board().places)))


def regions(self, seat):
    """Named sets of cells that matter to a seat, such as its goal."""
    return {}


def show(self, state, seat):
    """The position as text: the board, else the fields of the record."""
    if hasattr(self, "board"):
        return show_board(self, state, seat)
    return "\n".join(f"{field}: {np.asarray(state[field]).tolist()}" for field in state.dtype.names)


def action_to_string(self, state, action):
    return str(action)


def parse_action(self, state, text):
    """The legal action with this string, in any case, also without what stands between cells (`a2a3` for `a2-a3`).

    Raises:
        NoMove: There is none; the message has the strings of all legal actions.
    """
    names = {self.action_to_string(state, action): action for action in legal_actions(self, state)}
    wanted = text.strip().lower()
    for spelled in (str.lower, _cells_together):
        found = {action for name, action in names.items() if spelled(name) == spelled(wanted)}
        if len(found) == 1:
            return found.pop()
    raise NoMove(f"{text.strip()!r} is no move here: {', '.join(names)}")


def _cells_together(name):
    """`a2-a3` and `a2xa3` as `a2a3`."""
    return re.sub(r"(?<=\d)[-x](?=[a-z]\d)", "", name.lower())


def picture(self, state, seat):
    """The position for a notebook: one element of HTML or SVG; `seat` -1 is a spectator, who sees everything.

    By default the board, else the text of `show`.
    """
    return svg.board_svg(self, state) if hasattr(self, "board") else svg.text_html(self.show(state, seat))


def initial(self: Any, seed: int | None = None) -> State:
    """The opening position as a `State`, which offers legal actions, moves, views and pictures.

    Chance turns are left to the caller: play an outcome, or call `State.deal`.
    """
    return State(self, seed=seed)


DEFAULTS = (
    chance_probs, sample_action, random_playout, heuristic, is_announcement, reward, infoset, observe, look, prepare,
    determinize, target, private_state, public_state, payoff_class, from_to, pieces, without_announcements, places,
    regions, show, action_to_string, parse_action, picture, initial,
)  # fmt: skip
KNOWN = {*RULES, *(default.__name__ for default in DEFAULTS), "board", "likelihood", *HOOKS}  # methods of a game
