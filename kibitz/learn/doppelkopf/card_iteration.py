"""Expert iteration on Doppelkopf: looking ahead by networks is the expert, the networks are the apprentice.

Here is what a worker does: whole games, played by the network, and of every card that could have been played instead
what it would have been worth. The expert may look at the deal itself: what can't be known evens out over many games,
as the network that learns from it sees no more than its seat. That is so because the network isn't to do what was best
on the deal, but to raise the mean of what it does (the objective of `tspg`).

All four seats learn, or one against three others whose networks stay as they are: who has records of the players that
it will meet learns what is best against these.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from ...games import load, positions
from ...games.doppelkopf.cards import KINDS
from ...games.doppelkopf.state import CARDS
from ...games.game import CHANCE, OVER
from ...jit import generators, kernel
from ...search.policies import choose
from ..model_files import network_file
from .card_network import CardNetwork, CardPolicy, PerSeatPolicy, card_policy, read_network
from .recorded_games import NOTHING

Games = dict[str, np.ndarray]
ALL = -1  # seats learn


@dataclass(frozen=True)
class CardIteration:
    """Every number of the method; `kibitz train exit-cards --help` is made of this."""

    game: Annotated[str, "the game, with its parameters"]
    start: Annotated[str, "a run of cards whose networks it begins with"] = ""
    others: Annotated[str, "networks of three seats that don't learn, a run or file; none: all learn"] = ""
    iterations: Annotated[int, "rounds of playing and learning", range(1, 10**6)] = 100
    games: Annotated[int, "games of self-play an iteration", range(1, 10**7)] = 500
    plies: Annotated[int, "cards played behind each that could be, then it is judged; 48: to the end", range(49)] = 48
    steps: Annotated[int, "gradient steps an iteration", range(1, 10**6)] = 25
    batch_size: Annotated[int, "games a step", range(1, 10**6)] = 256
    positions: Annotated[int, "of each game, a step", range(1, 49)] = 8
    learning_rate: Annotated[float, "learning rate of Adam at first; it falls to a tenth"] = 0.001
    entropy: Annotated[float, "points that a nat of doubt is worth, so that a policy stays open"] = 0.01
    capacity: Annotated[int, "games that are learned from: the last so many", range(1, 10**8)] = 5000
    device: Annotated[str, "where torch computes", ("auto", "cpu", "cuda")] = "auto"
    evaluate_every: Annotated[int, "iterations between matches against what is usual; 0: never", range(10**7)] = 5
    judged: Annotated[int, "deals of these, each from four seats", range(1, 10**6)] = 2000
    keep_every: Annotated[int, "iterations between networks that are kept", range(1, 10**7)] = 10
    seed: Annotated[int, "the same seed gives the same run", range(2**63)] = 1


def self_play(config: CardIteration) -> Callable[[tuple[int, ...], CardNetwork], list[tuple[int, Games]]]:
    """What a worker needs: the function from numbers of games and networks to the games, and what cards were worth."""
    game = load(config.game)
    others = card_policy(read_network(network_file(config.others))[0]) if config.others else None
    learner = np.zeros(1, np.int64)  # the seat that learns
    policies: list[tuple[CardNetwork, CardPolicy | PerSeatPolicy]] = []  # the last one, with its networks

    def play(numbers: tuple[int, ...], network: CardNetwork) -> list[tuple[int, Games]]:
        if not policies or policies[0][0] is not network:
            own = card_policy(network)
            policies[:] = [(network, own if others is None else PerSeatPolicy(own, others, learner))]
        count = len(numbers)
        actions = np.full((count, game.facts.max_game_length), NOTHING, np.uint8)
        worth = np.full((count, 48, KINDS), np.nan, np.float32)
        rngs = np.concatenate([generators(config.seed * 2**32 + number, 1) for number in numbers])
        wide = max(game.facts.num_actions, game.facts.max_chance_outcomes)
        room = np.zeros((2, wide), np.int64), np.zeros(wide), np.zeros(4)
        learners = np.array([ALL if others is None else number % 4 for number in numbers])
        play_games(
            game, policies[0][1], config.plies, positions(game, 2), *room, rngs, learners, learner, actions, worth
        )
        return [
            (number, {"actions": actions[i : i + 1], "worth": worth[i : i + 1].astype(np.float16)})
            for i, number in enumerate(numbers)
        ]

    return play


@kernel
def play_games(game, policy, plies, states, room, probs, rewards, rngs, learners, learner, actions, worth):
    """Whole games by a policy; worth[i, card, kind]: rewards of who has the turn, by all kinds that could be played."""
    legal, later = room[0], room[1]
    for i in range(len(actions)):
        rng, state, done = rngs[i], states[0], 0
        learner[0] = learners[i]
        game.start(state)
        turn = game.turn(state)
        while turn != OVER:
            if turn == CHANCE:
                action = game.sample_action(state, rng)
            elif state.phase != CARDS:
                action = game.heuristic(state, rng)
            else:
                n = game.actions(state, legal)
                action = legal[0]
                if n > 1:
                    for k in range(n if learners[i] == ALL or learners[i] == turn else 0):
                        states[1] = state
                        worth[i, state.count, legal[k]] = value_after(
                            game, states[1], legal[k], turn, policy, plies, later, probs, rewards, rng
                        )
                    policy.weigh(game, state, legal, n, probs)
                    action = legal[choose(probs, n, rng)]
            actions[i, done] = action
            done += 1
            game.play(state, action)
            turn = game.turn(state)


@kernel
def value_after(game, state, action, seat, policy, plies, legal, probs, rewards, rng):
    """What an action is worth to a seat when all play on by a policy for some plies."""
    game.play(state, action)
    for _ in range(plies):
        if game.turn(state) == OVER:
            break
        game.play(state, policy.step(game, state, legal, probs, rng))
    if game.turn(state) == OVER:
        return game.reward(state, seat)
    policy.evaluate(game, state, 0, legal, probs, rng, rewards)
    return rewards[seat]
