"""Random games by compiled rules. What is wrong at a turn is said by plain Python, called for that position."""

import numpy as np

from ...jit import kernel
from ..protocol import CHANCE, OVER, SCRATCH, Game, positions
from .faults import fault
from .turns import NEAR, UNWRITTEN, Position, actions_of, check_chance, check_end, sampled, too_long, turn_of
from .views import Seen, check_infoset, packed

LONGEST = 20_000  # turns of a game that is walked to its end
MEMORY = 1 << 26  # bytes for the positions of a game


@kernel
def _walk(game, seats, num_actions, outcomes, near, unwritten, states, turns, played, legal, probs, rng):
    """Play at random from the first state until the game is over; the number of turns, and whether all is right."""
    for i in range(len(states)):
        turn = game.turn(states[i])
        turns[i] = turn
        if turn == OVER:
            return i, True
        if turn != CHANCE and not 0 <= turn < seats:
            return i, False
        legal[:] = unwritten
        n = game.actions(states[i], legal)
        if not 1 <= n <= len(legal) or legal[0] < 0:
            return i, False
        for j in range(1, n):
            if legal[j] <= legal[j - 1]:
                return i, False
        if turn == CHANCE:
            game.chance_probs(states[i], legal, n, probs)
            total = 0.0
            for j in range(n):
                if not probs[j] > 0:
                    return i, False
                total += probs[j]
            if n > outcomes or not abs(total - 1) <= near:
                return i, False
        elif legal[n - 1] >= num_actions:
            return i, False
        action = game.sample_action(states[i], rng)
        j = 0
        while j < n and legal[j] != action:
            j += 1
        if j == n:
            return i, False
        played[i] = action
        if i + 1 < len(states):
            states[i + 1] = states[i]
            game.play(states[i + 1], action)
    return len(states), True


@kernel
def _know(game, states, turns, views, keys):
    """Write what the seat to move knows: its view, and the key of its infoset."""
    for i in range(len(states)):
        if turns[i] >= 0:
            game.look(states[i], turns[i], views[i])
            keys[i] = game.infoset(states[i], turns[i])


class Walker:
    """Plays random games, one at a time, in the same arrays."""

    def __init__(self, game: Game) -> None:
        most = min(game.facts.max_game_length, LONGEST, MEMORY // game.state.itemsize) + 1
        self.game, self.states = game, np.zeros(most, game.state)
        self.turns, self.played = np.zeros(most, np.int64), np.zeros(most, np.int64)
        self.legal, self.probs = np.zeros(SCRATCH, np.int64), np.zeros(SCRATCH)

    def game_of(self, rng: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The positions of one game and whose turn it was there; the next game overwrites them.

        Raises:
            BadInput: Something is wrong at a turn, at the end, or the game is too long.
        """
        game, facts = self.game, self.game.facts
        self.states[:1] = positions(game)
        sizes = facts.seats, facts.num_actions, facts.max_chance_outcomes, NEAR, UNWRITTEN
        n, right = _walk(game, *sizes, self.states, self.turns, self.played, self.legal, self.probs, rng)
        if not right:
            self._say_what(self.states[n], rng)
        if n > facts.max_game_length:
            raise too_long(game)
        end = min(n + 1, len(self.states))
        if n < end:
            check_end(game, self.states[n])
        return self.states[:end], self.turns[:end]

    def position(self, i: int) -> Position:
        """A position of the last game."""
        state, turn = self.states[i].copy(), turn_of(self.game, self.states[i])
        return Position(state, turn, actions_of(self.game, state, turn) if turn != OVER else [], int(self.played[i]))

    def _say_what(self, state: np.ndarray, rng: np.ndarray) -> None:
        turn = turn_of(self.game, state)
        actions = actions_of(self.game, state, turn)
        if turn == CHANCE:
            check_chance(self.game, state, actions)
        for _ in range(1000):
            sampled(self.game, state, turn, actions, rng)
        raise fault(
            self.game, "actions", "compiled rules give something else than plain Python: see the pitfalls in "
            "docs/write-a-game.md"
        )  # fmt: skip


def check_knowledge(game: Game, states: np.ndarray, turns: np.ndarray, seen: Seen, rng: np.ndarray) -> None:
    """One key is one view of the seat to move: as `check_infoset`, by compiled rules."""
    views, keys = np.zeros(len(states), game.state), np.zeros(len(states), np.uint64)
    _know(game, states, turns, views, keys)
    packs = packed(views)
    for i in np.flatnonzero(turns >= 0):
        seat, key, pack = int(turns[i]), int(keys[i]), packs[i].tobytes()
        view = seat, pack
        right = seen.seats.setdefault(key, seat) == seat
        if not (right and seen.views.setdefault(key, view) == view and seen.keys.setdefault(view, key) == key):
            check_infoset(game, Position(states[i], seat, [], -1), rng, seen)
