"""Thousands of games side by side in compiled rules, NumPy in and out, for learners of your own.

A game that is over gives its payoffs and is reset in the same step. Chance plays inside. Each game has a random
stream of its own, so it is the same game whatever the number of games and threads.
"""

import itertools
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from ...core.names import BadInput, at_least
from ...core.trust import only_named
from ...games import Game, load, positions
from ...games.protocol import CHANCE, OVER, SCRATCH, NoSeat, TooLong, TooManyActions
from ...jit import below, generators, helper, kernel
from .observations import numbers, observation_size

MAX_GAMES = 10**7
MAX_THREADS = 512
ONLY_CHANCE = 1000  # games in a row in which no seat moves, after which a game is given up
NO_DECISIONS = "no seat has moved in 1,000 games in a row: such a game can't be played"


class Step(NamedTuple):
    """All games at the next decision of each. Arrays are new at each step and yours to keep."""

    observations: np.ndarray  # [games, numbers] f4: what the seat to move sees
    action_masks: np.ndarray  # [games, num_actions] bool: its legal actions
    seats: np.ndarray  # [games] i1: the seat to move
    rewards: np.ndarray  # [games, seats] f4: the payoffs where a game has ended, else 0
    dones: np.ndarray  # [games] bool: whether a game has ended; the rest is of the next one already


class VectorEnv:
    """Games side by side. `reset()`, then `step(actions)` again and again."""

    def __init__(self, game: Game, games: int, seed: int, threads: int) -> None:
        at_least("games", games, 1, MAX_GAMES)
        at_least("seed", seed, 0)
        at_least("threads", threads, 1, MAX_THREADS)
        self.game, self.games = game, games
        self.num_actions, self.num_seats = game.facts.num_actions, game.facts.seats
        self.observation_size = observation_size(game)
        self.states = np.zeros(games, game.state)  # full positions: what is hidden from seats, too
        self._opening = positions(game)
        self._turns = np.zeros(games, np.int64)  # played in each game so far
        # Per thread: its games, a view and a list of actions to write to.
        bounds = np.linspace(0, games, min(threads, games) + 1).astype(int).tolist()
        self._parts = [
            (slice(start, end), np.zeros(1, game.state), np.zeros(SCRATCH, np.int64))
            for start, end in itertools.pairwise(bounds)
        ]
        self._pool = ThreadPoolExecutor(len(self._parts)) if len(self._parts) > 1 else None
        self._begin(seed)

    def _begin(self, seed: int) -> None:
        self._chance, self._choice = (generators(number, self.games) for number in seeds(seed))
        self._masks: np.ndarray | None = None

    def reset(self, seed: int | None = None) -> Step:
        """Reset all games.

        Args:
            seed: The same seed gives the same games; by default the random streams go on.

        Returns:
            The first decision of each game; nothing has ended.
        """
        if seed is not None:
            at_least("seed", seed, 0)
            self._begin(seed)
        self.states[:] = self._opening[0]
        self._turns[:] = 0
        return self._advance(np.full(self.games, NO_ACTION))

    def step(self, actions: np.ndarray) -> Step:
        """Play one action in each game; games that are over are reset.

        Args:
            actions: [games] whole numbers, each legal for the seat to move.

        Raises:
            BadInput: An action is illegal; no game has moved.
        """
        if self._masks is None:
            raise BadInput("call reset() before step(actions)")
        chosen = np.asarray(actions)
        if chosen.shape != (self.games,) or chosen.dtype.kind not in "iu":
            raise BadInput(
                f"actions should be {self.games} whole numbers, not {chosen.dtype} of the shape {chosen.shape}"
            )
        chosen = chosen.astype(np.int64)
        if (wrong := first_illegal(self._masks, chosen)) < self.games:
            known = ", ".join(map(str, np.flatnonzero(self._masks[wrong])))
            raise BadInput(f"action {chosen[wrong]} is illegal in game {wrong}: legal are {known}")
        return self._advance(chosen)

    def sample(self) -> np.ndarray:
        """A uniformly random legal action for each game, [games] i8, from random streams that chance doesn't use."""
        if self._masks is None:
            raise BadInput("call reset() before sample()")
        masks, actions = self._masks, np.empty(self.games, np.int64)
        self._each(lambda part, view, legal: sample(masks[part], self._choice[part], actions[part]))
        return actions

    def _advance(self, actions: np.ndarray) -> Step:
        hidden, encoded = self.game.facts.hidden, bool(self.game.facts.encoding)
        found = Step(
            np.empty((self.games, self.observation_size if encoded else 0), np.float32),
            np.empty((self.games, self.num_actions), np.bool_),
            np.empty(self.games, np.int8),
            np.empty((self.games, self.num_seats), np.float32),
            np.empty(self.games, np.bool_),
        )
        views = np.zeros(0 if encoded else self.games, self.game.state)

        def advance_part(part: slice, view: np.ndarray, legal: np.ndarray) -> None:
            advance(
                self.game, self._opening, self.states[part], self._turns[part], self._chance[part], actions[part],
                Step(*(array[part] for array in found)), views[part], hidden, self.game.facts.max_game_length, view,
                legal,
            )  # fmt: skip

        self._each(advance_part)
        self._masks = found.action_masks.copy()  # the caller may change what is returned
        return found if encoded else found._replace(observations=numbers(views))

    def _each(self, work: Any) -> None:
        """Do the work for the games of each thread."""
        if self._pool is None:
            work(*self._parts[0])
        else:
            list(self._pool.map(lambda part: work(*part), self._parts))

    def close(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown()

    def __repr__(self) -> str:
        return f"<{self.games:,} games of {self.game.name} side by side>"


def make(game: Game | str, games: int = 1024, seed: int = 1, threads: int = 1, trust: bool = False) -> VectorEnv:
    """Make an environment of many games side by side.

    Args:
        game: A game or its name.
        games: Number of games.
        seed: The same seed gives the same games.
        threads: Threads that share the games; the games don't depend on it.
        trust: Whether code in `.py` files may run that a file names.

    Returns:
        The environment: `reset()`, `step(actions)` and `sample()`.

    Example:
        >>> import kibitz
        >>> env = kibitz.vector.make("kuhn", 1000, seed=1)
        >>> now = env.reset()
        >>> now.observations.shape, now.action_masks.shape, now.seats.max()
        ((1000, 9), (1000, 2), np.int8(0))
        >>> now = env.step(env.sample())
    """
    with only_named(game, trust=trust):
        return VectorEnv(load(game), games, seed, threads)


def seeds(seed: int) -> tuple[int, int]:
    """Seeds of the streams of chance and of `sample`."""
    chance, choice = np.random.SeedSequence(seed).generate_state(2, np.uint64)
    return int(chance), int(choice)


# ---------------------------------------------------------------- kernels

NO_ACTION = -1


@helper
def deal(game, state, played, limit, rng):
    """Let chance play until a seat has the turn or the game is over; the number of turns played."""
    while game.turn(state) == CHANCE:
        if played >= limit:
            raise TooLong
        game.play(state, game.sample_action(state, rng))
        played += 1
    return played


@kernel
def advance(game, opening, states, turns, chance, actions, out, views, hidden, limit, view, legal):
    """Play an action in each game (NO_ACTION: none), then chance; reset the game where it is over.

    Observations are written to `out`, or where the game has no encoding the views to `views`.
    """
    for i in range(len(states)):
        state = states[i]
        out.dones[i] = False
        for seat in range(out.rewards.shape[1]):
            out.rewards[i, seat] = 0.0
        if actions[i] != NO_ACTION:
            if turns[i] >= limit:
                raise TooLong
            game.play(state, actions[i])
            turns[i] += 1
        turns[i] = deal(game, state, turns[i], limit, chance[i])
        turn = game.turn(state)
        ended = 0
        while turn == OVER:
            if ended == ONLY_CHANCE:
                raise BadInput(NO_DECISIONS)
            ended += 1
            out.dones[i] = True
            for seat in range(out.rewards.shape[1]):
                out.rewards[i, seat] += game.payoff(state, seat)
            states[i] = opening[0]
            turns[i] = deal(game, state, 0, limit, chance[i])
            turn = game.turn(state)
        if turn >= out.rewards.shape[1]:
            raise NoSeat
        out.seats[i] = turn
        n = game.actions(state, legal)
        for action in range(out.action_masks.shape[1]):
            out.action_masks[i, action] = False
        for k in range(n):
            if legal[k] >= out.action_masks.shape[1]:
                raise TooManyActions
            out.action_masks[i, legal[k]] = True
        if len(views):
            game.look(state, turn, views[i])
        elif hidden:
            game.look(state, turn, view[0])
            game.observe(view[0], turn, out.observations[i])
        else:
            game.observe(state, turn, out.observations[i])


@kernel
def first_illegal(masks, actions):
    """The first game whose action isn't in its mask; the number of games if there is none."""
    for i in range(len(actions)):
        if actions[i] < 0 or actions[i] >= masks.shape[1] or not masks[i, actions[i]]:
            return i
    return len(actions)


@kernel
def sample(masks, rngs, actions):
    """Draw one of the actions of each mask."""
    for i in range(len(actions)):
        n = 0
        for action in range(masks.shape[1]):
            n += masks[i, action]
        left = below(rngs[i], n)
        for action in range(masks.shape[1]):
            if masks[i, action]:
                if left == 0:
                    actions[i] = action
                    break
                left -= 1
