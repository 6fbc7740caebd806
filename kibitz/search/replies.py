"""Last good replies in the playouts of a tree search: LGR-1 (Drake 2009) and LGRF-1 (Baier and Drake 2010).

A table has, for each seat and each move of the other, the reply with which the seat last won a simulation. A playout
plays it where it is legal, and asks the playout policy elsewhere. With forgetting, replies of the seat that lost are
taken out of the table. Simulations teach all their moves, those in the tree too; a draw, or a playout that is cut
short, teaches nothing.

A `RecordingSelection` writes down the moves in the tree, so that the search itself needn't know of replies.
"""

from typing import Any, NamedTuple

import numpy as np

from ..core.names import BadInput
from ..games import Game, full_name
from ..games.protocol import OVER, TooLong
from ..jit import helper
from .legality import legality_of
from .policies import policy
from .selection import selection

UNANSWERED = -1  # no good reply is known


class Line(NamedTuple):
    """The moves of the present simulation from the root of the tree."""

    moves: np.ndarray  # [max_game_length] i4
    movers: np.ndarray  # [max_game_length] i1
    length: np.ndarray  # [1] i8


@selection
class RecordingSelection(NamedTuple):
    """Another selection, which also writes down the moves that it selects."""

    selected: Any
    line: Line

    def select(self, tree, node, rng):
        child = self.selected.select(tree, node, rng)
        if node == 0:
            self.line.length[0] = 0
        record_move(self.line, tree.mover[node], tree.action[child])
        return child

    def spread(self, visits):
        return self.selected.spread(visits)


@policy
class LastGoodReplies(NamedTuple):
    """Another policy, which playouts follow where no good reply is known or the known one isn't legal."""

    otherwise: Any
    legality: Any
    reply: np.ndarray  # [2, num_actions] i4: by the seat that replies and the other's move; or UNANSWERED
    line: Line
    forget: bool

    def weigh(self, game, state, actions, n, probs):
        self.otherwise.weigh(game, state, actions, n, probs)

    def evaluate(self, game, state, plies, actions, probs, rng, rewards):
        line, turn = self.line, game.turn(state)
        while turn != OVER and plies > 0:
            action = np.int64(UNANSWERED)
            last = line.length[0] - 1
            if last >= 0 and line.movers[last] != turn:
                action = np.int64(self.reply[turn, line.moves[last]])
            if action == UNANSWERED or not self.legality.is_legal(game, state, action, actions):
                action = np.int64(self.otherwise.step(game, state, actions, probs, rng))
            record_move(line, turn, action)
            game.play(state, action)
            turn = game.turn(state)
            plies -= 1
        if turn == OVER:
            for seat in range(2):
                rewards[seat] = game.reward(state, seat)
            if rewards[0] != rewards[1]:
                learn_replies(self.reply, line, int(rewards[1] > rewards[0]), self.forget)
        line.length[0] = 0
        return turn == OVER


@helper
def record_move(line, mover, action):
    length = line.length[0]
    if length == len(line.moves):
        raise TooLong
    line.moves[length] = action
    line.movers[length] = mover
    line.length[0] = length + 1


@helper
def learn_replies(reply, line, winner, forget):
    """Store the winner's replies, and forget those of the loser that are in the table."""
    for i in range(1, line.length[0]):
        mover = line.movers[i]
        if mover == line.movers[i - 1]:  # a seat that moves twice doesn't reply to itself
            continue
        if mover == winner:
            reply[mover, line.moves[i - 1]] = line.moves[i]
        elif forget and reply[mover, line.moves[i - 1]] == line.moves[i]:
            reply[mover, line.moves[i - 1]] = UNANSWERED


def with_replies(game: Game, select: Any, policy: Any, forget: bool) -> tuple[RecordingSelection, LastGoodReplies]:
    """A selection and a policy with an empty table of replies.

    Raises:
        BadInput: The game isn't one of two seats on a board, without chance: there, actions are moves of pieces.
    """
    facts = game.facts
    if facts.seats != 2 or not facts.zero_sum or facts.max_chance_outcomes or not hasattr(game, "board"):
        raise BadInput(f"{full_name(game)} has no last good replies: replies is for two seats on a board, no chance")
    most = facts.max_game_length
    line = Line(np.zeros(most, np.int32), np.zeros(most, np.int8), np.zeros(1, np.int64))
    reply = np.full((2, facts.num_actions), UNANSWERED, np.int32)
    return RecordingSelection(select, line), LastGoodReplies(policy, legality_of(game), reply, line, forget)
