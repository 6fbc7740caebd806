"""OpenSpiel's games as games of Kibitz: `openspiel:NAME(parameters)`.

A small game is tabulated once (`tree.Tree`), and runs at full speed. Another one stays in OpenSpiel: a position is the
list of actions so far, its rules ask OpenSpiel's state after these, and kernels run as plain Python, a hundred times as
slowly.
"""

import collections
import functools
import hashlib
import multiprocessing
import os
import random
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ...core.names import BadInput, TooLarge, choose
from ...jit import below, record, uniform
from ..game import DEFAULTS
from ..protocol import CHANCE, OVER, SCRATCH, Facts
from ..tree import Tree, estimated_leaves, nodes_of, tree

PREFIX = "openspiel:"
TABULATED = 20_000  # nodes of a game that is tabulated
MAX_HISTORY = 20_000  # actions of a game
CACHED = 5_000  # states that are kept
MAX_RESAMPLED = 500  # positions that OpenSpiel samples until one is legal
MAX_TRIES = 10_000  # states visited while one is sought that fits what a seat knows
MAX_LISTED = 20_000  # states visited while all are listed that fit


def module() -> Any:
    """OpenSpiel's Python module.

    Raises:
        BadInput: It isn't installed.
    """
    try:
        import pyspiel
    except ImportError:
        raise BadInput("OpenSpiel is not installed: pip install 'kibitz[openspiel]'") from None
    return pyspiel


@contextmanager
def quiet() -> Iterator[None]:
    """Drop what OpenSpiel's C++ writes to the standard error stream beside the exception that it raises."""
    sys.stderr.flush()
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def load(text: str) -> "Tree | OpenSpielGame":
    """The game that OpenSpiel knows by this name; parameters in parentheses, `leduc_poker(players=3)`.

    Raises:
        BadInput: OpenSpiel isn't installed, refuses the name, or has a kind of game that Kibitz has not.
    """
    made = _loaded(text.strip())
    if isinstance(made, OpenSpielGame):
        made.say_slow()
    return made


@functools.lru_cache(maxsize=16)
def _loaded(text: str) -> "Tree | OpenSpielGame":
    game: Any = OpenSpielGame(load_spiel(text), text)
    if estimated_leaves(game) > TABULATED:
        return game
    try:
        return tree(nodes_of(game, TABULATED), game.source, game.name, text)
    except TooLarge:
        return game


def load_spiel(text: str) -> Any:
    """OpenSpiel's own object of a game. One with simultaneous moves is made turn-based, with hidden moves."""
    spiel = module()
    choose("game of OpenSpiel", text.partition("(")[0], spiel.registered_names())
    try:
        with quiet():
            game = spiel.load_game(text)
            kind = game.get_type()
            if kind.dynamics == spiel.GameType.Dynamics.SIMULTANEOUS:
                game = spiel.convert_to_turn_based(game)
                kind = game.get_type()
    except (RuntimeError, ValueError, TypeError) as error:
        raise BadInput(f"OpenSpiel refuses {text!r}: {' '.join(str(error).split())[:200]}") from None
    if kind.dynamics != spiel.GameType.Dynamics.SEQUENTIAL:
        raise BadInput(f"openspiel:{text} is a mean-field game, which Kibitz doesn't play")
    if kind.chance_mode == spiel.GameType.ChanceMode.SAMPLED_STOCHASTIC:
        raise BadInput(f"openspiel:{text} draws its chance outcomes itself, and Kibitz needs their probabilities")
    return game


class OpenSpielGame:
    """A game of OpenSpiel, in plain Python."""

    in_python = True  # kernels run as plain Python

    def __init__(self, game: Any, text: str) -> None:
        spiel = module()
        kind = game.get_type()
        self.game, self.source = game, PREFIX + text
        self.name = re.sub(r"[^\w.-]+", "_", text).strip("_")
        self.perfect = kind.information == spiel.GameType.Information.PERFECT_INFORMATION
        self.recalls = kind.provides_information_state_string
        if not self.perfect and not self.recalls and not kind.provides_observation_string:
            raise BadInput(f"{self.source} tells no seat what it knows: it has no strings of information states")
        length = game.max_history_length()
        if length > MAX_HISTORY:
            raise BadInput(f"{self.source} is too long for Kibitz: up to {length:,} actions, at most {MAX_HISTORY:,}")
        largest = max(game.num_distinct_actions(), game.max_chance_outcomes())
        small = np.min_scalar_type(largest)
        self.state = record(("length", "i4"), ("moves", small.str, (length,)))
        low, high = float(game.min_utility()), float(game.max_utility())
        if kind.provides_information_state_tensor:
            self.tensor, encoding = "information_state_tensor", game.information_state_tensor_size()
        elif kind.provides_observation_tensor:
            self.tensor, encoding = "observation_tensor", game.observation_tensor_size()
        else:
            self.tensor, encoding = "", 0
        self.facts = Facts(
            seats=game.num_players(),
            num_actions=game.num_distinct_actions(),
            max_chance_outcomes=game.max_chance_outcomes(),
            max_game_length=length,
            payoffs=(low, high),
            rewards=(low, high if high > low else low + 1.0),
            zero_sum=kind.utility == spiel.GameType.Utility.ZERO_SUM,
            encoding=encoding,
            notes=1,
            hidden=not self.perfect,
            targets=(),
            milli_unit="",
        )
        self.states: collections.OrderedDict[bytes, Any] = collections.OrderedDict()
        self.listed: Any = None  # the last seat, history, and what `_fitting` gave
        self.resamples: bool | None = None  # whether OpenSpiel's game samples worlds itself, once that is known

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OpenSpielGame) and self.source == other.source

    def __hash__(self) -> int:
        return hash(self.source)

    @functools.cached_property
    def _slow(self) -> None:
        if multiprocessing.parent_process() is None:
            print(f"{self.source} runs in plain Python through OpenSpiel: slowly", file=sys.stderr)

    def say_slow(self) -> None:
        """Say once that the game is slow."""
        self._slow  # noqa: B018

    # ------------------------------------------------------------ states

    def at(self, state: Any) -> Any:
        """OpenSpiel's state of a position. It is shared: don't change it."""
        moves = state["moves"][: int(state["length"])]
        key = moves.tobytes()
        found = self.states.get(key)
        if found is None:
            found = self.game.new_initial_state()
            for move in moves.tolist():
                found.apply_action(move)
            self._keep(key, found)
        return found

    def _keep(self, key: bytes, state: Any) -> None:
        self.states[key] = state
        if len(self.states) > CACHED:
            self.states.popitem(last=False)

    def write(self, spiel_state: Any, out: Any) -> None:
        """Write a state of OpenSpiel into a record."""
        history = spiel_state.history()
        out["length"] = len(history)
        out["moves"][: len(history)] = history
        out["moves"][len(history) :] = 0
        self._keep(out["moves"][: len(history)].tobytes(), spiel_state)

    # ------------------------------------------------------------ rules

    def start(self, state: Any) -> None:
        state["length"] = 0
        state["moves"] = 0

    def turn(self, state: Any) -> int:
        player = self.at(state).current_player()
        return int(player) if player >= 0 else CHANCE if self.at(state).is_chance_node() else OVER

    def actions(self, state: Any, out: Any) -> int:
        legal = self.at(state).legal_actions()
        if len(legal) > min(len(out), SCRATCH):
            raise BadInput(f"{self.source} has {len(legal):,} legal actions here, and Kibitz has room for {len(out):,}")
        out[: len(legal)] = legal
        return len(legal)

    def chance_probs(self, state: Any, actions: Any, n: int, out: Any) -> None:
        probs = dict(self.at(state).chance_outcomes())
        out[:n] = [probs[int(action)] for action in actions[:n]]

    def sample_action(self, state: Any, rng: Any) -> int:
        return self._sample(self.at(state), rng)

    @staticmethod
    def _sample(spiel_state: Any, rng: Any) -> int:
        if not spiel_state.is_chance_node():
            legal = spiel_state.legal_actions()
            return int(legal[int(below(rng, len(legal)))])
        left = uniform(rng)
        outcomes = spiel_state.chance_outcomes()
        for action, probability in outcomes:
            left -= probability
            if left < 0:
                return int(action)
        return int(outcomes[-1][0])

    def play(self, state: Any, action: int) -> None:
        after = self.at(state).child(int(action))
        length = int(state["length"])
        if length == self.facts.max_game_length:
            raise BadInput(f"{self.source} is longer than it says")
        state["moves"][length] = action
        state["length"] = length + 1
        self._keep(state["moves"][: length + 1].tobytes(), after)

    def random_playout(self, state: Any, rng: Any) -> None:
        played = self.at(state).clone()
        while not played.is_terminal():
            played.apply_action(self._sample(played, rng))
        self.write(played, state)

    def payoff(self, state: Any, seat: int) -> float:
        return float(self.at(state).player_return(seat))

    def infoset(self, state: Any, seat: int) -> Any:
        if self.perfect:
            known = state["moves"][: int(state["length"])].tobytes()
        else:
            known = self.knows(self.at(state), seat).encode()
        digest = hashlib.blake2b(bytes([seat]) + known, digest_size=8).digest()
        return np.uint64(int.from_bytes(digest, "little") | 1)  # never 0

    def knows(self, spiel_state: Any, seat: int) -> str:
        """All that a seat knows, as OpenSpiel writes it."""
        return str(spiel_state.information_state_string(seat) if self.recalls else spiel_state.observation_string(seat))

    def observe(self, state: Any, seat: int, out: Any) -> None:
        if self.tensor:
            out[:] = getattr(self.at(state), self.tensor)(seat)

    def look(self, state: Any, seat: int, out: Any) -> None:
        """A view is one world that fits all that the seat knows, always the same one."""
        spiel_state = self.at(state)
        if self.perfect or spiel_state.is_terminal():
            self.write(spiel_state, out)
        else:
            draw = random.Random(self.knows(spiel_state, seat)).random
            found = self._resampled(spiel_state, seat, draw)
            self.write(self._some_history(spiel_state, seat, draw) if found is None else found, out)

    def determinize(self, view: Any, seat: int, notes: Any, rng: Any, out: Any) -> bool:
        spiel_state = self.at(view)
        if self.perfect or spiel_state.is_terminal():
            self.write(spiel_state, out)
            return True
        found = self._resampled(spiel_state, seat, lambda: uniform(rng))
        if found is None:
            states, reach = self._fitting(spiel_state, seat)
            found = states[int(np.searchsorted(reach, uniform(rng) * reach[-1], side="right"))]
        self.write(found, out)
        return True

    def _resampled(self, spiel_state: Any, seat: int, draw: Callable[[], float]) -> Any:
        """A state that the seat can't tell from this one, by OpenSpiel; None where the game can't do that."""
        if self.resamples is None:
            self.resamples = self._can_resample(spiel_state, seat)
        if self.resamples and spiel_state.current_player() == seat:
            known = self.knows(spiel_state, seat)
            for _ in range(MAX_RESAMPLED):  # in Hearts a third of the worlds are impossible: somebody revoked
                found = self._replayed(spiel_state.resample_from_infostate(seat, draw).history())
                if found is not None and self.knows(found, seat) == known:
                    return found
        return None

    def _replayed(self, history: list[int]) -> Any:
        """The state after these actions; None where one of them is illegal."""
        state = self.game.new_initial_state()
        for action in history:
            if state.is_terminal() or action not in state.legal_actions():
                return None
            state.apply_action(action)
        return state

    @staticmethod
    def _can_resample(spiel_state: Any, seat: int) -> bool | None:
        if spiel_state.current_player() != seat:
            return None  # not known yet
        try:
            with quiet():
                spiel_state.resample_from_infostate(seat, random.Random(1).random)
        except RuntimeError:
            return False
        return True

    def _fitting(self, spiel_state: Any, seat: int) -> tuple[list[Any], np.ndarray]:
        """All states of which the seat has seen the same, action by action, and the running sum of their weights.

        A weight is the product of chance's probabilities: hidden choices that fit are equally likely.

        Raises:
            BadInput: There are too many.
        """
        key = seat, tuple(spiel_state.history())
        if not self.listed or self.listed[0] != key:
            level, listed = [(self.game.new_initial_state(), 1.0)], 0
            for each, known, over in self._seen(spiel_state, seat):
                after = []
                for state, weight in level:
                    for action, probability in self._choices(state, seat, each):
                        child = state.child(action)
                        if child.is_terminal() == over and self.knows(child, seat) == known:
                            after.append((child, weight * probability))
                    listed += 1
                    if listed > MAX_LISTED:
                        raise BadInput(
                            f"{self.source}: no position that seat {seat + 1} may be in can be drawn fairly here: "
                            f"OpenSpiel samples none, and there are more than {MAX_LISTED:,} to choose from"
                        )
                level = after
            weights = np.cumsum([weight for _, weight in level])
            self.listed = key, [state for state, _ in level], weights
        return self.listed[1], self.listed[2]

    def _seen(self, spiel_state: Any, seat: int) -> list[tuple[int, str, bool]]:
        """Each action on the way to a state, what the seat knows after it, and whether the game is over then."""
        found, state = [], self.game.new_initial_state()
        for each in spiel_state.full_history():
            state.apply_action(each.action)
            found.append((each.action, self.knows(state, seat), state.is_terminal()))
        return found

    @staticmethod
    def _choices(spiel_state: Any, seat: int, played: int) -> list[tuple[int, float]]:
        """Actions that may have been played where the seat saw the same, with chance's probability or 1."""
        if spiel_state.is_chance_node():
            return list(spiel_state.chance_outcomes())
        own = spiel_state.current_player() == seat
        return [(action, 1.0) for action in spiel_state.legal_actions() if action == played or not own]

    def _some_history(self, spiel_state: Any, seat: int, draw: Callable[[], float]) -> Any:
        """A state that the seat can't tell from this one, by a random depth-first search."""
        seen = self._seen(spiel_state, seat)
        stack = [(0, self.game.new_initial_state())]
        for _ in range(MAX_TRIES):
            depth, state = stack.pop()
            if depth == len(seen):
                return state
            played, known, over = seen[depth]
            after = [(draw(), action) for action, _ in self._choices(state, seat, played)]
            for _, action in sorted(after):
                child = state.child(action)
                if child.is_terminal() == over and self.knows(child, seat) == known:
                    stack.append((depth + 1, child))
        raise BadInput(f"{self.source}: no position was found that fits the view of seat {seat + 1}")

    # ------------------------------------------------------------ for people

    def show(self, state: Any, seat: int) -> str:
        spiel_state = self.at(state)
        if seat < 0 or self.perfect:
            return str(spiel_state)
        observed = self.game.get_type().provides_observation_string
        return str(spiel_state.observation_string(seat) if observed else spiel_state.information_state_string(seat))

    def action_to_string(self, state: Any, action: int) -> str:
        spiel_state = self.at(state)
        word = str(spiel_state.action_to_string(spiel_state.current_player(), int(action)))
        return "_".join(word.replace(",", " ").split())

    def _asdict(self) -> dict[str, Any]:
        return {}


for _default in DEFAULTS:
    if _default.__name__ not in vars(OpenSpielGame):
        setattr(OpenSpielGame, _default.__name__, _default)
