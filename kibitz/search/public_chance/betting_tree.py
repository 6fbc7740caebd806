"""The betting tree of a poker game: all sequences of bets, without cards.

The tree is found by playing the game's own rules with two fixed deals, in which the two seats' cards are exchanged:
where both end with the same payoff somebody has folded, else it is a showdown.
"""

from typing import Any, NamedTuple

import numpy as np

from ...games import CHANCE, OVER, legal_actions, positions
from .cards import Cards

FOLD, SHOWDOWN = -1, -2  # values of `BettingTree.seat` at ends


class BettingTree(NamedTuple):
    """Nodes in preorder: a node's subtree follows it. Where a street ends, its child is the next one's first."""

    seat: np.ndarray  # [nodes] i8: the seat to move, FOLD or SHOWDOWN
    street: np.ndarray  # [nodes] i8
    choices: np.ndarray  # [nodes] i8: number of actions; 0 at an end
    actions: np.ndarray  # [nodes, most] i8: the actions by their numbers in the game
    child: np.ndarray  # [nodes, most] i4
    payoff: np.ndarray  # [nodes] f4: FOLD: of seat 0; SHOWDOWN: what the winner wins
    line: np.ndarray  # [nodes] u8: the bets so far, as in the record of a position
    depth: np.ndarray  # [nodes] i8: number of moves so far

    @property
    def most(self) -> int:
        """The largest number of actions."""
        return self.child.shape[1]


def betting_tree(game: Any, cards: Cards) -> BettingTree:
    """Build the betting tree of a poker game by playing through its rules."""
    most = game.facts.num_actions
    rows: list[dict[str, Any]] = []
    deals = cards.two_deals()

    def visit(states: list[Any], depth: int) -> int:
        here = len(rows)
        row: dict[str, Any] = {"actions": [0] * most, "child": [0] * most, "choices": 0, "payoff": 0.0}
        rows.append(row)
        while game.turn(states[0]) == CHANCE:
            for state, deal in zip(states, deals, strict=True):
                game.play(state, deal[int(state.dealt)])
        row["street"] = cards.street_of(int(states[0].dealt))
        row["line"], row["depth"] = int(states[0].line), depth
        turn = game.turn(states[0])
        if turn == OVER:
            one, other = (float(game.payoff(state, 0)) for state in states)
            row["seat"], row["payoff"] = (FOLD, one) if one == other else (SHOWDOWN, abs(one))
            return here
        row["seat"] = turn
        legal = legal_actions(game, states[0])
        row["choices"] = len(legal)
        for place, action in enumerate(legal):
            after = [state.copy() for state in states]
            for state in after:
                game.play(state, int(action))
            row["actions"][place] = int(action)
            row["child"][place] = visit(after, depth + 1)
        return here

    visit([positions(game)[0] for _ in deals], 0)
    kinds = {"line": np.uint64, "payoff": np.float32, "child": np.int32}
    return BettingTree(**{key: np.array([row[key] for row in rows], kinds.get(key, np.int8)) for key in FIELDS})


FIELDS = BettingTree._fields
