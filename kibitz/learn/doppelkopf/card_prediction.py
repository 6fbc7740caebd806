"""The next card, as networks of cards foretell it: what is played on deals as likely as they take them to be.

For a card of another seat, deals are drawn by where `view` takes the cards to lie; in each of them `quick` says what
its owner plays, who sees that hand. One's own card needs no deals.
"""

import numpy as np

from ...games import Game
from ...games.doppelkopf.cards import KINDS
from ...games.doppelkopf.deals import WEIGHTED, count_weighted, draw_weighted
from ...games.game import SCRATCH, positions
from ...jit import copy_record, generators, kernel
from ..mlp import compiled, logits
from .card_network import WHERE, CardNetwork, weights_of
from .card_rows import all_views

DEALS = 256  # a card


def next_card_probs(
    game: Game, network: CardNetwork, actions: np.ndarray, lengths: np.ndarray, seed: int
) -> np.ndarray:
    """Of whole games: [games, 4 seats, 48 cards, KINDS] f8, what each seat thinks of each card before it is played."""
    seen, views = all_views(game, actions, lengths)
    where = logits(network.view, seen.reshape(-1, seen.shape[-1]))[:, WHERE]
    probs = np.zeros((len(where), KINDS))
    _foretell(
        game, views.reshape(-1), weights_of(where), compiled(network.quick), DEALS, positions(game),
        np.zeros(WEIGHTED + 4), np.zeros(SCRATCH, np.int64), np.zeros(SCRATCH), generators(seed, 1)[0], probs,
    )  # fmt: skip
    return probs.reshape(*views.shape, KINDS)


@kernel
def _foretell(game, views, weights, policy, deals, states, notes, actions, shares, rng, probs):
    """Rows go by game, seat and card."""
    world = states[0]
    for i in range(len(views)):
        view, seat = views[i], i // 48 & 3
        hidden = seat != game.turn(view)
        if hidden:
            count_weighted(game, view, seat, weights[i], notes)
        tries = deals if hidden else 1
        for _ in range(tries):
            copy_record(world, view)
            if hidden:
                draw_weighted(game, view, seat, weights[i], notes, rng, world.hands)
            n = game.actions(world, actions)
            policy.weigh(game, world, actions, n, shares)
            for j in range(n):
                probs[i, actions[j]] += shares[j] / tries
