"""Games that are played side by side: kernels bring each to its next decision, and play what was decided.

Every game has a random stream of its own, so that it doesn't matter which games are played beside it.
"""

import numpy as np

from ...core.names import BadInput
from ...games import CHANCE, OVER, Game, positions
from ...games.protocol import NoSeat, TooLong, TooManyActions
from ...jit import helper, kernel, mix, uniform
from ..packing import to_bits

# Places in `reach_probs`: the probability of chance since the last decision; that of playing to here; from the third
# place on that of coming here if a seat wants to, by seat.
CHANCE_SINCE, SAMPLED = 0, 1


class NotBits(BadInput):
    """An encoding has other numbers than 0 and 1."""

    def __init__(self, message: str = "an encoding with other numbers than 0 and 1 can't be packed") -> None:
        super().__init__(message)


class SideBySide:
    """Games that are played side by side, again and again: `begin`, then `advance` and `act` until all are over.

    The first `count` rows are the decisions of the games that aren't over.
    """

    def __init__(self, game: Game, games: int, all_views: bool, traced: bool = False, packed: bool = False) -> None:
        """
        Args:
            game: The game.
            games: Their number.
            all_views: Whether the views of all seats are encoded, or the mover's alone.
            traced: Whether histories, infosets and probabilities of chance are kept.
            packed: Whether encodings and legal actions are written as bits, to `bits` alone; refuses other numbers.
        """
        facts = game.facts
        self.game, self.views, self.traced = game, facts.seats if all_views else 1, traced
        self.opening, self.states = positions(game, games), np.zeros(games, game.state)
        self.count = self.rounds = 0
        self.live = np.zeros(games, np.int32)  # by row: the game
        self.turns = np.zeros(games, np.int8)  # by row: the mover
        self.inputs = self.views * facts.encoding
        size = self.inputs + facts.num_actions if packed else 0
        self.ones = np.zeros((games, size), np.uint8)  # by row: encodings, then legal actions
        self.bits = np.packbits(self.ones, axis=1)  # by row
        self.encodings = np.zeros((1 if packed else games, self.inputs), np.float32)  # by row, but if packed
        self.legal = np.zeros((len(self.encodings), facts.num_actions), bool)  # by row, but if packed
        self.chosen = np.zeros(games, np.int64)  # by row: the action that was played
        self.infosets = np.zeros(games, np.uint64)  # by row
        self.payoffs = np.zeros((games, facts.seats))
        self.histories = np.zeros(games, np.uint64)  # by game, as `reach_probs`
        self.reach_probs = np.ones((games, 2 + facts.seats))  # see CHANCE_SINCE
        self.scratch = np.zeros(max(facts.num_actions, facts.max_chance_outcomes), np.int64)
        self.probs = np.zeros(len(self.scratch))

    def begin(self) -> None:
        """Start all games from the beginning."""
        self.states[:] = self.opening
        self.live[:] = np.arange(len(self.live))
        self.histories[:], self.reach_probs[:] = 0, 1
        self.count, self.rounds = len(self.live), 0

    def advance(self, streams: np.ndarray) -> int:
        """Play chance up to the next decision of each game; return how many games aren't over."""
        self.count = advance(
            self.game, self.states, streams, self.live, self.count, self.views, self.inputs, self.turns, self.encodings,
            self.legal, self.ones, self.payoffs, self.scratch, self.traced, self.probs, self.histories, self.infosets,
            self.reach_probs,
        )  # fmt: skip
        self.bits[: self.count] = np.packbits(self.ones[: self.count], axis=1)
        if self.count and self.rounds == self.game.facts.max_game_length:
            raise TooLong
        self.rounds += 1
        return self.count

    def act(self, streams: np.ndarray, log_probs: np.ndarray, explore: float = 0.0) -> None:
        """Play an action per row, drawn by [rows, actions] f4, with probability `explore` uniformly."""
        act(
            self.game, self.states, streams, self.live, self.count, log_probs, self.scratch, self.chosen, explore,
            self.turns, self.histories, self.reach_probs,
        )  # fmt: skip


@kernel
def advance(
    game, states, streams, live, count, views, inputs, turns, encodings, legal, ones, payoffs, actions, traced,
    probs, histories, infosets, reach_probs,
):  # fmt: skip
    """Play chance in each live game up to its next decision, which is encoded; return how many games are still live."""
    left, width, seats, packed = 0, inputs // views, payoffs.shape[1], ones.shape[1] > 0
    for k in range(count):
        i = live[k]
        state, rng = states[i], streams[i]
        turn = game.turn(state)
        while turn == CHANCE:
            outcome = game.sample_action(state, rng)
            if traced:
                n = game.actions(state, actions)
                game.chance_probs(state, actions, n, probs)
                for j in range(n):
                    if actions[j] == outcome:
                        reach_probs[i] *= probs[j]
                histories[i] = mix(histories[i], outcome)
            game.play(state, outcome)
            turn = game.turn(state)
        if turn == OVER:
            for seat in range(seats):
                payoffs[i, seat] = game.payoff(state, seat)
            continue
        if turn >= seats:
            raise NoSeat
        row = 0 if packed else left
        for view in range(views):
            game.observe(state, (turn + view) % seats, encodings[row, view * width : (view + 1) * width])
        for action in range(legal.shape[1]):
            legal[row, action] = False
        for j in range(game.actions(state, actions)):
            if actions[j] >= legal.shape[1]:
                raise TooManyActions
            legal[row, actions[j]] = True
        if packed:
            if not to_bits(encodings[row].view(np.uint32), ones[left]):
                raise NotBits
            for action in range(legal.shape[1]):
                ones[left, inputs + action] = legal[row, action]
        if traced:
            infosets[left] = mix(game.infoset(state, turn), turn)
        live[left] = i
        turns[left] = turn
        left += 1
    return left


@kernel
def act(game, states, streams, live, count, log_probs, actions, chosen, explore, turns, histories, reach_probs):
    """Draw an action of each live game by the policy, or sometimes uniformly, and play it."""
    for k in range(count):
        i = live[k]
        n = game.actions(states[i], actions)
        action = actions[draw_by_log(log_probs[k], actions, n, explore, streams[i])]
        chosen[k] = action
        prob = np.exp(np.float64(log_probs[k, action]))
        reach_probs[i, CHANCE_SINCE] = 1
        reach_probs[i, SAMPLED] *= (1 - explore) * prob + explore / n
        for seat in range(reach_probs.shape[1] - 2):
            if seat != turns[k]:
                reach_probs[i, 2 + seat] *= prob
        histories[i] = mix(histories[i], action)
        game.play(states[i], action)


@helper
def draw_by_log(log_probs, actions, n, explore, rng):
    left = uniform(rng)
    for j in range(n - 1):
        left -= (1 - explore) * np.exp(np.float64(log_probs[actions[j]])) + explore / n
        if left < 0:
            return j
    return n - 1
