"""Self-play of expert iteration: a search plays whole games with the network as its playout policy, or with a second
network that values leaves.

The samples of a decision are the encoded view of the seat to move, the policy that the search advises, and the legal
actions.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...games import CHANCE, OVER, Game, chance_outcomes, load, positions, view_of
from ...nets.mlp import Layers, compiled
from ...search.advice import Advice
from ...search.batched_oos import IN_FLIGHT, Batch, BatchedOos, new_batch
from ...search.search import Search
from .config import ExItConfig, ExItOosConfig
from .critic import compiled_critic

Rows = dict[str, np.ndarray]


class Networks(NamedTuple):
    """The layers of a policy network and of a value network."""

    policy: Layers
    value: Layers


Shared = Layers | Networks


class Episode:
    """One game of self-play, its search, and its samples so far."""

    def __init__(self, game: Game, search: Search, config: ExItConfig, number: int) -> None:
        self.game, self.search, self.config = game, search, config
        stream = number // getattr(config, "shared_seed", 1)
        self.generator = np.random.default_rng([config.seed, 2, stream])
        search.begin(int(self.generator.integers(2**63)))
        self.state = positions(game)[0]
        self.rows: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        self.to_decision()

    @property
    def over(self) -> bool:
        return self.game.turn(self.state) == OVER

    @property
    def turn(self) -> int:
        return int(self.game.turn(self.state))

    def to_decision(self) -> None:
        while self.turn == CHANCE:
            outcomes, probs = zip(*chance_outcomes(self.game, self.state), strict=True)
            self.game.play(self.state, int(self.generator.choice(outcomes, p=probs)))

    def view(self) -> Any:
        return view_of(self.game, self.state, self.turn)

    def follow(self, advice: Advice) -> None:
        """Keep the advice as a sample, and draw a move from it, with probability `exploration` uniformly."""
        facts = self.game.facts
        encoding = np.zeros(facts.encoding, np.float32)
        self.game.observe(self.state, self.turn, encoding)
        policy, legal = np.zeros(facts.num_actions, np.float32), np.zeros(facts.num_actions, bool)
        advised = self.config.to_learn(advice)
        policy[advice.actions], legal[advice.actions] = advised, True
        self.rows.append((encoding, policy, legal))
        uniform = self.config.exploration / len(advice.actions)
        probs = uniform + (1 - self.config.exploration) * advised
        self.game.play(self.state, int(self.generator.choice(advice.actions, p=probs / probs.sum())))
        self.to_decision()

    def samples(self) -> Rows:
        encodings, policies, legal = (np.array(part) for part in zip(*self.rows, strict=True))
        return {"encodings": encodings, "policies": policies, "legal": legal}


def self_play(config: ExItConfig) -> Callable[[tuple[int, ...], Any], list[tuple[int, Rows]]]:
    """Return the function of a worker: numbers of games, and a network -> the samples of these games."""
    game = load(config.game)
    if config.in_batches(game):
        assert isinstance(config, ExItOosConfig)
        return _in_batches(game, config)
    searches: list[tuple[Shared, Any]] = []  # the last search, with its network

    def play(numbers: tuple[int, ...], layers: Shared) -> list[tuple[int, Rows]]:
        if not searches or searches[0][0] is not layers:
            if isinstance(layers, Networks):
                assert isinstance(config, ExItOosConfig)
                search: Any = config.new_search(game, compiled(layers.policy), compiled_critic(game, layers.value))
            else:
                search = config.new_search(game, compiled(layers))
            if searches:
                search.table = searches[0][1].table  # reuses the memory; it is cleared when a game begins
            searches[:] = [(layers, search)]
        return [(number, _play_alone(Episode(game, searches[0][1], config, number))) for number in numbers]

    return play


def _play_alone(episode: Episode) -> Rows:
    while not episode.over:
        episode.follow(episode.search.advise(episode.view(), episode.turn, episode.config.simulations))
    return episode.samples()


def _in_batches(game: Game, config: ExItOosConfig) -> Callable[[tuple[int, ...], Layers], list[tuple[int, Rows]]]:
    from ...nets.torch_mlp import batch_evaluator, pick_device

    searches: list[BatchedOos] = []
    networks: list[tuple[Layers, Any, Any]] = []  # the last network, its evaluator, and compiled where it is the prior

    def play(numbers: tuple[int, ...], layers: Layers) -> list[tuple[int, Rows]]:
        if not networks or networks[0][0] is not layers:
            evaluate = batch_evaluator(layers, pick_device(config.device, large=True))
            networks[:] = [(layers, evaluate, compiled(layers) if config.prior_weight else None)]
        _, evaluate, prior = networks[0]
        while len(searches) < len(numbers):
            searches.append(BatchedOos(game, policy=prior, **config.search_settings()))
        if prior is not None:
            for search in searches:
                search.policy = prior
        episodes = [Episode(game, searches[i], config, number) for i, number in enumerate(numbers)]
        batch = new_batch(game, len(numbers) * IN_FLIGHT)
        side_by_side(episodes, batch, evaluate, config.simulations)
        return [(number, episode.samples()) for number, episode in zip(numbers, episodes, strict=True)]

    return play


def side_by_side(
    episodes: list[Episode], batch: Batch, evaluate: Callable[[np.ndarray], np.ndarray], simulations: int
) -> None:
    """Play games at the same time: each round evaluates the waiting simulations of all searches in one batch."""
    for episode in episodes:
        if not episode.over:
            episode.search.search(episode.view(), episode.turn, simulations)  # type: ignore[attr-defined]
    while True:
        waiting = 0
        for episode in episodes:
            waiting += _until_waiting(episode, batch, waiting, simulations)
        if not waiting:
            return
        batch.logits[:waiting] = evaluate(batch.encodings[:waiting])


def _until_waiting(episode: Episode, batch: Batch, first: int, simulations: int) -> int:
    """Search, move and search again until simulations wait for the network; return their number."""
    search: Any = episode.search
    while not episode.over:
        if waiting := search.advance(batch, first):
            return waiting
        episode.follow(search.advice(episode.view(), simulations, 0.0))
        if not episode.over:
            search.search(episode.view(), episode.turn, simulations)
    return 0
