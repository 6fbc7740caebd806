"""Kibitz's games as games of OpenSpiel: one adapter for all, since all share one protocol.

Imports `pyspiel`, so it is imported only where OpenSpiel is used.
"""

import ctypes
import functools
from typing import Any

import numpy as np
import pyspiel

from ..core import names
from ..games import GAMES, Game, full_name
from ..games import load as load_kibitz
from ..games.openspiel import PREFIX as NATIVE
from ..games.openspiel import OpenSpielGame, load_spiel
from ..games.protocol import OVER, chance_outcomes, legal_actions, positions, view_of
from ..games.tree import Tree, actions_to

PREFIX = "kibitz_"
MAX_PLAYERS = 64
MAX_KEPT = 400_000  # positions of a game


def game_type(game: Game, parameters: dict[str, Any]) -> Any:
    """What OpenSpiel wants to know about a game: the same for all parameters, whose defaults these are."""
    facts, kinds = game.facts, pyspiel.GameType
    has_chance, has_encoding = facts.max_chance_outcomes > 0, facts.encoding > 0
    return kinds(
        short_name=PREFIX + game.name,
        long_name=f"Kibitz: {(type(game).__doc__ or game.name).splitlines()[0]}",
        dynamics=kinds.Dynamics.SEQUENTIAL,
        chance_mode=kinds.ChanceMode.EXPLICIT_STOCHASTIC if has_chance else kinds.ChanceMode.DETERMINISTIC,
        information=kinds.Information.IMPERFECT_INFORMATION if facts.hidden else kinds.Information.PERFECT_INFORMATION,
        utility=kinds.Utility.ZERO_SUM if facts.zero_sum else kinds.Utility.GENERAL_SUM,
        reward_model=kinds.RewardModel.TERMINAL,
        max_num_players=MAX_PLAYERS,
        min_num_players=1,
        provides_information_state_string=True,
        provides_information_state_tensor=has_encoding,
        provides_observation_string=True,
        provides_observation_tensor=has_encoding,
        provides_factored_observation_string=False,
        parameter_specification=parameters,
    )


class SpielGame(pyspiel.Game):  # type: ignore[misc]
    """A game of Kibitz (`.kibitz`) as one of OpenSpiel."""

    def __init__(self, game: Game, kind: Any = None, parameters: dict[str, Any] | None = None) -> None:
        facts = game.facts
        low, high = facts.payoffs
        info = pyspiel.GameInfo(
            num_distinct_actions=facts.num_actions,
            max_chance_outcomes=facts.max_chance_outcomes,
            num_players=facts.seats,
            min_utility=low,
            max_utility=high,
            utility_sum=0.0 if facts.zero_sum else None,
            max_game_length=facts.max_game_length,  # with chance turns: an upper bound
        )
        super().__init__(kind or game_type(game, {}), info, parameters or {})
        self.kibitz = game
        self.opening = Position(game, positions(game)[0], {})

    def new_initial_state(self) -> "SpielState":
        return SpielState(self)

    def max_chance_nodes_in_history(self) -> int:
        return self.kibitz.facts.max_game_length if self.kibitz.facts.max_chance_outcomes else 0

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> "Observer":
        if params:
            raise ValueError(f"observers of Kibitz's games take no parameters, not {params}")
        return Observer(self.kibitz, iig_obs_type is not None and iig_obs_type.perfect_recall)


class Position:
    """A position, never changed, with what OpenSpiel asks for most often. Its clones share it.

    OpenSpiel's algorithms visit the same positions again and again: those after each action are kept in `known`, which
    all positions of a game share.
    """

    def __init__(self, game: Game, record: Any, known: dict[tuple[bytes, int], "Position"]) -> None:
        self.game, self.record, self.known = game, record, known
        self.turn = int(game.turn(record))

    def __deepcopy__(self, memo: Any) -> "Position":
        return self

    @functools.cached_property
    def key(self) -> bytes:
        return bytes(self.record.tobytes())

    @functools.cached_property
    def legal(self) -> list[int]:
        return sorted(legal_actions(self.game, self.record))

    @functools.cached_property
    def infosets(self) -> list[str]:
        return [information_state(self.game, self.record, seat) for seat in range(self.game.facts.seats)]

    @functools.cached_property
    def payoffs(self) -> list[float]:
        seats, over = range(self.game.facts.seats), self.turn == OVER
        return [float(self.game.payoff(self.record, seat)) if over else 0.0 for seat in seats]

    def after(self, action: int) -> "Position":
        found = self.known.get((self.key, action))
        if found is None:
            record = self.record.copy()
            self.game.play(record, action)
            if len(self.known) == MAX_KEPT:
                self.known.clear()
            found = self.known[self.key, action] = Position(self.game, record, self.known)
        return found


class SpielState(pyspiel.State):  # type: ignore[misc]
    """A position of a Kibitz game as a state of OpenSpiel."""

    def __init__(self, game: SpielGame, position: Position | None = None) -> None:
        super().__init__(game)
        self.position = position or game.opening

    @property
    def record(self) -> Any:
        """The position as Kibitz's rules and players know it; not to be changed."""
        return self.position.record

    def current_player(self) -> int:
        turn = self.position.turn
        return pyspiel.PlayerId.TERMINAL if turn == OVER else turn if turn >= 0 else pyspiel.PlayerId.CHANCE

    def _legal_actions(self, player: int) -> list[int]:
        return self.position.legal

    def chance_outcomes(self) -> list[tuple[int, float]]:
        return chance_outcomes(self.position.game, self.record)

    def _apply_action(self, action: int) -> None:
        self.position = self.position.after(action)

    def _action_to_string(self, player: int, action: int) -> str:
        return self.position.game.action_to_string(self.record, action)

    def is_terminal(self) -> bool:
        return self.position.turn == OVER

    def returns(self) -> list[float]:
        return self.position.payoffs

    def __str__(self) -> str:
        return self.position.game.show(self.record, -1)


class Observer:
    """What one player knows: Kibitz's encoding as a tensor, its infoset or its view as a string."""

    def __init__(self, game: Game, perfect_recall: bool) -> None:
        self.game, self.perfect_recall = game, perfect_recall
        self.tensor = np.zeros(game.facts.encoding, np.float32)
        self.dict = {"observation": self.tensor}

    def set_from(self, state: SpielState, player: int) -> None:
        self.game.observe(view_of(self.game, state.record, player), player, self.tensor)

    def string_from(self, state: SpielState, player: int) -> str:
        if self.perfect_recall:
            return state.position.infosets[player]
        return self.game.show(view_of(self.game, state.record, player), player)


def information_state(game: Game, record: Any, seat: int) -> str:
    """OpenSpiel's information-state string: the key of Kibitz's infoset, with which strategies are stored."""
    return f"{int(game.infoset(record, seat)):016x}"


# ---------------------------------------------------------------- registering


def register(*games: Game | str) -> list[str]:
    """Register games with OpenSpiel, so that `pyspiel.load_game("kibitz_leduc(ranks=4)")` makes them.

    Args:
        games: Games or their names, such as `"path/to/my_game.py:MyGame"`; by default all that Kibitz knows.

    Returns:
        The names that OpenSpiel knows them by: `kibitz_` and the name of the game.
    """
    found = []
    for each in games or GAMES:
        game = load_kibitz(each)
        _register(type(game), game)
        found.append(PREFIX + game.name)
    return found


_registered: dict[str, Any] = {}  # name -> the class and the defaults of what was registered last under it


def _register(cls: Any, game: Game) -> None:
    name, defaults = PREFIX + game.name, {} if hasattr(game, "source") else dict(game._asdict())
    kind = game_type(game, defaults)
    known = name in _registered
    _registered[name] = cls, defaults, kind, game
    if not known:
        maker = functools.partial(_make, name)
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(maker))  # OpenSpiel drops it after the interpreter has ended
        pyspiel.register_game(kind, maker)


def _make(name: str, parameters: dict[str, Any] | None = None) -> SpielGame:
    cls, defaults, kind, game = _registered[name]
    given = dict(parameters or {})
    if given:
        game = cls(**names.check(game.name, cls, defaults | given))
    return SpielGame(game, kind, given)


def spiel_game(game: Game | str) -> Any:
    """OpenSpiel's object of a Kibitz game with its parameters; of `openspiel:NAME` OpenSpiel's own game."""
    loaded = load_kibitz(game)
    return load_spiel(full_name(loaded).removeprefix(NATIVE)) if _is_native(loaded) else SpielGame(loaded)


def kibitz_game(game: Any) -> Game:
    """The Kibitz game of a game of OpenSpiel, of either origin."""
    return game.kibitz if isinstance(game, SpielGame) else load_kibitz(f"{NATIVE}{game}")


def _is_native(game: Game) -> bool:
    return full_name(game).startswith(NATIVE)


# ---------------------------------------------------------------- positions


def state_of(spiel: Any, game: Game, record: Any) -> Any:
    """OpenSpiel's state of a position of Kibitz."""
    if isinstance(game, OpenSpielGame):
        return game.at(record).clone()
    if isinstance(game, Tree) and _is_native(game):
        state = spiel.new_initial_state()
        for action in actions_to(game, int(record.node)):
            state.apply_action(action)
        return state
    return SpielState(spiel, Position(game, record.copy(), spiel.opening.known))


def record_of(game: Game, state: Any) -> Any:
    """The position of a state of OpenSpiel."""
    if isinstance(state, SpielState):
        return state.record
    record = positions(game)[0]
    for action in state.history():
        game.play(record, action)
    return record
