"""Many games at once between two networks: positions move on together, and each network answers for all in one batch.

As in a match, every deal is played from both seats with the same luck. Who has several networks to draw from (SD-CFR)
draws one for a block of deals.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..games import Game, full_name, positions
from ..games.protocol import CHANCE, OVER
from ..jit import kernel
from ..names import BadInput
from ..players import make_for
from .statistics import Estimate, interval

BLOCK = 512  # deals that are played together


def duel(
    game: Game,
    one: str,
    two: str,
    deals: int,
    seed: int = 1,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Estimate:
    """What player `one` wins of `two` a game, over so many deals from both seats, with its 95% interval."""
    found = []
    for first in range(0, deals, BLOCK):
        found.append(play_block(game, one, two, min(BLOCK, deals - first), [seed, first]))
        progress(min(first + BLOCK, deals), deals)
    pairs = np.concatenate(found)
    return interval(pairs.sum(axis=1), np.full(len(pairs), 2.0), seed)


def play_block(game: Game, one: str, two: str, deals: int, seed: list[int]) -> np.ndarray:
    """[deals, 2]: what `one` gets from seat 1, and from seat 2."""
    generator = np.random.default_rng([*seed, 1])
    asks = [[_asker(game, name, seat, generator) for seat in range(2)] for name in (one, two)]
    luck = np.random.SeedSequence(seed).generate_state(2 * deals, np.uint64).reshape(deals, 2)
    states, streams = positions(game, 2 * deals), np.concatenate([luck, luck])  # `one` has seat 0, then seat 1
    turns = np.zeros(2 * deals, np.int64)
    seat_of_one = np.repeat([0, 1], deals)
    while True:
        _settle(game, states, streams, turns)
        if (turns == OVER).all():
            break
        for player in range(2):
            for seat in range(2):
                mine = np.flatnonzero((turns == seat) & ((seat_of_one == seat) == (player == 0)))
                if len(mine):
                    views = np.zeros(len(mine), game.state)
                    _look(game, states, mine, seat, views)
                    odds = asks[player][seat](views).cumsum(axis=1)
                    drawn = generator.random(len(mine)) * odds[:, -1]
                    _play(game, states, mine, (odds <= drawn[:, None]).sum(axis=1))
    paid = np.zeros(2 * deals)
    _pay(game, states, seat_of_one, paid)
    return paid.reshape(2, deals).T


def _asker(game: Game, name: str, seat: int, generator: np.random.Generator) -> Any:
    player: Any = make_for(name, game)
    if not hasattr(player, "policies"):
        raise BadInput(f"{name} doesn't answer for many positions at once, as a network does: try kibitz match")
    if game.facts.seats != 2:
        raise BadInput(f"a duel is for two seats, {full_name(game)} has {game.facts.seats}")
    player.begin(game, seat, int(generator.integers(2**63)))
    return player.policies


@kernel
def _settle(game, states, streams, turns):
    """From chance to the next decision, or the end."""
    for i in range(len(states)):
        turn = game.turn(states[i])
        while turn == CHANCE:
            game.play(states[i], game.pick(states[i], streams[i]))
            turn = game.turn(states[i])
        turns[i] = turn


@kernel
def _look(game, states, which, seat, views):
    for i in range(len(which)):
        game.look(states[which[i]], seat, views[i])


@kernel
def _play(game, states, which, actions):
    for i in range(len(which)):
        game.play(states[which[i]], actions[i])


@kernel
def _pay(game, states, seats, out):
    for i in range(len(states)):
        out[i] = game.payoff(states[i], seats[i])
