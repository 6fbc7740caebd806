"""Expert iteration on Doppelkopf: looking ahead by networks is the expert, the networks are the apprentice.

Here is what a worker does: whole games, in which every card is chosen by looking ahead on deals that the network takes
to be likely. Of each card it keeps the network's own odds moved towards what turned out better, p·exp(value / t), so
that what was tried on few deals isn't believed all at once. `expert_iteration` makes a loop of it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from ..games import Game, legal_actions, load, positions, view_of
from ..games.doppelkopf.cards import KINDS
from ..games.doppelkopf.table import CARDS
from ..games.protocol import CHANCE, OVER
from ..jit import generators
from ..search.asides import Asides
from ..search.lookahead import LookAhead
from .card_network import CardNetwork, Whereabouts, card_policy
from .doppelkopf_games import NOTHING

Games = dict[str, np.ndarray]


@dataclass(frozen=True)
class CardIteration:
    """Every number of the method; `kibitz train exit-cards --help` is made of this."""

    game: Annotated[str, "the game, with its parameters"]
    start: Annotated[str, "a run of cards whose networks it begins with"] = ""
    iterations: Annotated[int, "rounds of playing and learning", range(1, 10**6)] = 20
    games: Annotated[int, "games of self-play an iteration", range(1, 10**6)] = 1000
    simulations: Annotated[int, "guesses a card", range(1, 10**6)] = 64
    plies: Annotated[int, "cards that are played on each guess, then it is judged", range(49)] = 4
    temperature: Annotated[float, "points that a card must be better by to be e times as likely"] = 0.25
    explore: Annotated[float, "share of cards that are drawn by these odds; else the best is played"] = 0.3
    steps: Annotated[int, "gradient steps an iteration", range(1, 10**6)] = 100
    batch: Annotated[int, "games a step", range(1, 10**6)] = 256
    positions: Annotated[int, "of each game, a step", range(1, 49)] = 8
    rate: Annotated[float, "learning rate of Adam"] = 0.0003
    capacity: Annotated[int, "games that are learned from: the last so many", range(1, 10**8)] = 20_000
    device: Annotated[str, "where torch computes", ("auto", "cpu", "cuda")] = "auto"
    keep_every: Annotated[int, "iterations between networks that are kept", range(1, 10**7)] = 5
    seed: Annotated[int, "the same seed gives the same run", range(2**63)] = 1


def self_play(config: CardIteration) -> Callable[[tuple[int, ...], CardNetwork], list[tuple[int, Games]]]:
    """What a worker needs: the function from numbers of games and networks to the games, with the advice in them."""
    game = load(config.game)
    experts: list[tuple[CardNetwork, Expert]] = []  # the last one, with its networks

    def play(numbers: tuple[int, ...], network: CardNetwork) -> list[tuple[int, Games]]:
        if not experts or experts[0][0] is not network:
            experts[:] = [(network, Expert(game, config, network))]
        return [(number, experts[0][1].play(number)) for number in numbers]

    return play


class Expert:
    def __init__(self, game: Game, config: CardIteration, network: CardNetwork) -> None:
        self.game, self.config = game, config
        policy, guesser = card_policy(network), Whereabouts(network)
        self.search = LookAhead(game, policy, 0, config.plies, asides=Asides(game), guesser=guesser)

    def play(self, number: int) -> Games:
        """A game from its deal: all actions [1, longest], and advice on each card [1, 48, KINDS]."""
        game, generator = self.game, np.random.default_rng([self.config.seed, 2, number])
        self.search.begin(int(generator.integers(2**63)))
        luck = generators(int(generator.integers(2**63)), 1)[0]
        actions = np.full((1, game.facts.longest), NOTHING, np.uint8)
        advice = np.zeros((1, 48, KINDS), np.float16)
        state, done = positions(game)[0], 0
        while (turn := game.turn(state)) != OVER:
            if turn == CHANCE:
                action = game.pick(state, luck)
            else:
                action = self.choose(state, turn, advice[0], generator)
            actions[0, done] = action
            done += 1
            game.play(state, action)
        return {"actions": actions, "advice": advice}

    def choose(self, state: Any, turn: int, advice: np.ndarray, generator: np.random.Generator) -> int:
        view = view_of(self.game, state, turn)
        legal = np.array(legal_actions(self.game, view))
        if len(legal) == 1:
            return int(legal[0])
        found = self.search.advise(view, turn, self.config.simulations)
        if state.phase != CARDS:
            return int(found.best)
        odds = found.prior * np.exp((found.value - found.value.max()) / self.config.temperature)
        odds /= odds.sum()
        advice[int(state.count), legal] = odds
        if generator.random() < self.config.explore:
            return int(generator.choice(legal, p=odds))
        return int(found.best)
