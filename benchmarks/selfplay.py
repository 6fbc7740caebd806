"""Self-play of AlphaZero: network evaluations per second, against the forward pass alone on batches of that size,
and simulations per second against those of OpenSpiel's MCTS with the same network."""

from functools import cache, partial

import numpy as np

from kibitz.games import load
from kibitz.nets.boards.geometry import geometry_of
from kibitz.nets.boards.processor_network import evaluator
from kibitz.train.alphazero.config import AlphaZeroConfig
from kibitz.train.alphazero.self_play import SelfPlay, exchanges_for, play_round

from .measuring import Row, Work
from .pcs import has_gpu

# Game, device, games at the same time in one process, channels, blocks.
CASES = [("connect_four", "cpu", 32, 32, 4), ("breakthrough", "cpu", 32, 32, 4)]
if has_gpu():
    CASES += [("connect_four", "cuda", 1024, 64, 6), ("breakthrough", "cuda", 1024, 64, 6)]  # two batches of 512
PEER_SIMULATIONS = 64  # of one search
WARM_UP = 200  # rounds after which games are at different moves


@cache
def playing(name: str, device: str, games: int, channels: int, blocks: int):
    """Games in the middle, and an untrained network."""
    from kibitz.nets.boards.torch_network import BoardNetwork

    game = load(name)
    config = AlphaZeroConfig(
        name, games=games, parts=1, simulations=64, fast_simulations=16, channels=channels, blocks=blocks, device=device
    )
    network = BoardNetwork(geometry_of(game), config.shape, np.random.default_rng(1), "cpu")
    evaluate = evaluator(geometry_of(game), config.shape, network.folded(), device)
    play = SelfPlay(game, config, range(games))
    return play, evaluate, exchanges_for(play, evaluate)


def _self_play(*case) -> Work:
    play, _, exchanges = playing(*case)

    def work(rounds: int) -> None:
        for _ in range(rounds):
            play_round(play, exchanges)
        play.finished.clear()

    work(WARM_UP)
    return work


def _forward(*case) -> Work:
    _, _, exchanges = playing(*case)

    def work(rounds: int) -> None:
        for _ in range(rounds):
            for _, exchange in exchanges:
                exchange.ask()
                exchange.wait()

    return work


def _peer_search(*case) -> Work:
    """Simulations of OpenSpiel's MCTS by PUCT with the same network: one position at a time, answers are kept.

    Its AlphaZero evaluates in this way; its own network is another one, in JAX.
    """
    import pyspiel
    from open_spiel.python.algorithms import mcts
    from open_spiel.python.utils import lru_cache

    play, evaluate, _ = playing(*case)
    width, game = play.game.facts.encoding, pyspiel.load_game(case[0])

    class NetworkEvaluator(mcts.Evaluator):
        def __init__(self) -> None:
            self.known = lru_cache.LRUCache(2**16)

        def answer(self, state):
            # Other planes than ours: the answers mean nothing, their duration is the same.
            planes, legal = np.asarray(state.observation_tensor(), np.float32), np.asarray(state.legal_actions_mask())
            return self.known.make(planes.tobytes() + legal.tobytes(), lambda: self.infer(planes, legal))

        def infer(self, planes, legal):
            logits, values = evaluate(np.resize(planes, (1, width)))
            weights = np.exp(logits[0] - logits[0].max()) * legal
            return values[0], weights / weights.sum()

        def evaluate(self, state):
            value = self.answer(state)[0]
            return np.array([value, -value])

        def prior(self, state):
            policy = self.answer(state)[1]
            return [(action, policy[action]) for action in state.legal_actions()]

    def work(count: int) -> None:
        for _ in range(count):
            bot = mcts.MCTSBot(
                game, 1.5, PEER_SIMULATIONS, NetworkEvaluator(), child_selection_fn=mcts.SearchNode.puct_value
            )
            bot.mcts_search(game.new_initial_state())

    return work


def _our_search(*case) -> Work:
    """The same number of simulations as one search of the peer, by self-play."""
    play_rounds, games = _self_play(*case), case[2]
    return lambda count: play_rounds(-(-count * PEER_SIMULATIONS // games))


ROWS = [
    Row(
        f"selfplay-{case[0]}-{case[1]}", "evaluations/s", 0.5, partial(_self_play, *case), partial(_forward, *case),
        case[2],
    )
    for case in CASES
]  # fmt: skip
ROWS.append(
    Row(
        "selfplay-openspiel-connect_four", "simulations/s", 2.0, partial(_our_search, *CASES[0]),
        partial(_peer_search, *CASES[0]), PEER_SIMULATIONS, peer_package="pyspiel",
    )
)  # fmt: skip
