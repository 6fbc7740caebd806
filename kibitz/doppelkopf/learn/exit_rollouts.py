"""Expert iteration on Doppelkopf: rollouts by the card networks are the expert, the networks the apprentice.

Workers play whole games by the policy network and estimate, for every legal card, the reward of playing it. The expert
rolls out on the true deal. Hidden information averages out over many games, as the network that learns from these
values sees no more than its seat: it does not learn the best card of each deal, but to maximize the mean of what it
gets (the objective of `tspg`).

All four seats learn, or one against three others whose networks are fixed, for a best response to players of whom
there are records.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from ...core.names import LEARNING_RATE, PATH, BadInput, Interval
from ...core.tensor_files import Format, like
from ...games import Game, full_name, load, positions
from ...games.game import CHANCE, OVER
from ...jit import generators, kernel
from ...nets.model_files import network_file
from ...search.policies import choose
from ...train.duplicate_deals import evaluate_policy
from ...train.expert_iteration import ExpertIteration
from ...train.learner import Metrics, Samples, learner
from ...train.replay import ReplayBuffer
from ..rules.cards import KINDS
from ..rules.state import CARDS
from .card_data import sample_rows
from .card_network import CardNetwork, PerSeatPolicy, card_policy, check_rules, read_card_network, save_card_network
from .recorded_games import NOTHING

FORMAT = Format("kibitz card apprentice 1", "checkpoint", about={"generator": dict, "rounds": int})
ALL = -1  # all seats learn
EVALUATION_SEED = 10**6  # the same deals for all networks
LAST_RATE = 0.1  # of the learning rate: low, as values of cards are mostly noise
DEAL_ROWS = 16  # one row in this many has the loss of deals: beliefs are good from the start


@dataclass(frozen=True)
class ExitRolloutsConfig:
    game: Annotated[str, "the game, with its parameters"]
    start: Annotated[str, "run of the learner cards whose networks it starts from", PATH] = ""
    others: Annotated[str, "fixed networks of three seats, a run or file; none: all four seats learn", PATH] = ""
    iterations: Annotated[int, "number of iterations of self-play and learning", range(1, 10**6)] = 100
    games: Annotated[int, "games of self-play per iteration", range(1, 10**7)] = 500
    plies: Annotated[int, "cards per rollout before the value network evaluates; 48: to the end", range(49)] = 48
    steps: Annotated[int, "gradient steps per iteration", range(1, 10**6)] = 25
    batch_size: Annotated[int, "games per minibatch", range(1, 10**6)] = 256
    positions: Annotated[int, "positions per game in a minibatch", range(1, 49)] = 8
    learning_rate: Annotated[float, "initial learning rate of Adam; it decays linearly to a tenth", LEARNING_RATE] = (
        0.001
    )
    entropy: Annotated[float, "entropy bonus, in points per nat", Interval(0, 100)] = 0.01
    capacity: Annotated[int, "games in the replay buffer: the latest", range(1, 10**8)] = 5000
    device: Annotated[str, "device of torch", ("auto", "cpu", "cuda")] = "auto"
    evaluate_every: Annotated[int, "iterations between evaluation matches; 0: never", range(10**7)] = 5
    evaluation_deals: Annotated[int, "deals per evaluation match, each from four seats", range(1, 10**6)] = 2000
    keep_every: Annotated[int, "iterations between networks that are kept", range(1, 10**7)] = 10
    seed: Annotated[int, "random seed; the same seed gives the same run", range(2**63)] = 1


# ---------------------------------------------------------------- self-play


def self_play(config: ExitRolloutsConfig) -> Callable[[tuple[int, ...], CardNetwork], list[tuple[int, Samples]]]:
    """The function of a worker: numbers of games and networks -> the games and their action values."""
    game = load(config.game)
    others = card_policy(read_card_network(network_file(config.others))[0]) if config.others else None
    own_seat = np.zeros(1, np.int64)  # that learns
    policies: list[tuple[CardNetwork, Any]] = []  # the last one, with its networks

    def play(numbers: tuple[int, ...], network: CardNetwork) -> list[tuple[int, Samples]]:
        if not policies or policies[0][0] is not network:
            own = card_policy(network)
            policies[:] = [(network, own if others is None else PerSeatPolicy(own, others, own_seat))]
        count = len(numbers)
        actions = np.full((count, game.facts.max_game_length), NOTHING, np.uint8)
        values = np.full((count, 48, KINDS), np.nan, np.float32)
        rngs = np.concatenate([generators(config.seed * 2**32 + number, 1) for number in numbers])
        wide = max(game.facts.num_actions, game.facts.max_chance_outcomes)
        room = np.zeros((2, wide), np.int64), np.zeros(wide), np.zeros(4)
        learners = np.array([ALL if others is None else number % 4 for number in numbers])
        play_games(
            game, policies[0][1], config.plies, positions(game, 2), *room, rngs, learners, own_seat, actions, values
        )
        # Rounded to half precision, half of the memory: by at most 2^-11 of a value, which is a single noisy rollout.
        return [
            (number, {"actions": actions[i : i + 1], "action_values": values[i : i + 1].astype(np.float16)})
            for i, number in enumerate(numbers)
        ]

    return play


@kernel
def play_games(game, policy, plies, states, room, probs, rewards, rngs, learners, learner, actions, values):
    """Play whole games by a policy; values[i, card, kind]: the mover's reward by every kind that it could play."""
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
                        values[i, state.count, legal[k]] = value_after(
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
    """Reward of a seat after an action and a rollout of some plies by a policy."""
    game.play(state, action)
    for _ in range(plies):
        if game.turn(state) == OVER:
            break
        game.play(state, policy.step(game, state, legal, probs, rng))
    if game.turn(state) == OVER:
        return game.reward(state, seat)
    policy.evaluate(game, state, 0, legal, probs, rng, rewards)
    return rewards[seat]


# ---------------------------------------------------------------- learner


@learner("exit-rollouts", formerly="exit-cards")
class ExitRollouts(ExpertIteration):
    Config = ExitRolloutsConfig
    about = "Expert iteration on Doppelkopf: the card networks learn from rollouts of their own policy."
    examples = ("doppelkopf:thesis --start runs/doppelkopf-cards-001",)
    presets = {"best": "as for the package's models", "small": "a minute, as a test"}
    worker = staticmethod(self_play)
    player = "doko"
    headline = ("loss", "points")

    @staticmethod
    def preset(game: Any, name: str) -> dict[str, Any]:
        small = {"iterations": 2, "games": 100, "steps": 10, "batch_size": 16, "keep_every": 1}
        return small if name == "small" else {}

    @staticmethod
    def refuse(config: ExitRolloutsConfig, game: Game) -> None:
        check_rules(game)
        if not config.start:
            raise BadInput("--start is missing: a run of kibitz train cards, from whose networks it starts")
        start_network(config)
        if config.others:
            check_rules(game, read_card_network(network_file(config.others))[1])

    def __init__(self, config: ExitRolloutsConfig, game: Game) -> None:
        import torch

        from ...nets.torch_mlp import pick_device
        from .card_training import CardModule

        super().__init__(config, game)
        self.device = torch.device(pick_device(config.device, large=True))
        self.generator = np.random.default_rng([config.seed, 1])
        self.module = CardModule(start_network(config)).to(self.device)
        self.optimizer = torch.optim.Adam(self.module.parameters(), lr=config.learning_rate, fused=True)
        empty = {
            "actions": np.zeros((0, game.facts.max_game_length), np.uint8),
            "action_values": np.zeros((0, 48, KINDS), np.float16),
        }
        self.replay = ReplayBuffer(config.capacity, empty, "latest")
        self.updates = 0

    @property
    def tasks(self) -> int:
        return min(self.config.games, 8 * self.processes)

    def shared(self) -> CardNetwork:
        return self.module.network()

    def update(self, samples: Samples) -> Metrics:
        import torch

        from ...nets.devices import one_thread
        from .card_training import gradient_step

        config = self.config
        self.replay.add(samples, self.generator)
        for group in self.optimizer.param_groups:
            group["lr"] = config.learning_rate * (1 - (1 - LAST_RATE) * self.updates / config.iterations)
        self.updates += 1
        total = torch.zeros((), dtype=torch.float64, device=self.device)
        for _ in range(config.steps):
            batch = self.replay.take(self.generator.integers(0, len(self.replay), config.batch_size))
            actions, each = batch["actions"], np.repeat(np.arange(config.batch_size), config.positions)
            lengths = (actions != NOTHING).sum(axis=1)
            rows = sample_rows(self.game, actions, lengths, config.positions, self.generator)
            values = batch["action_values"][each, rows.plies].astype(np.float32)
            with one_thread():
                losses = self.module.losses(self.game, rows, values, config.entropy, DEAL_ROWS)
            total += gradient_step(self.optimizer, losses)
        return {"loss": float(total) / config.steps, "rows": len(self.replay)}

    def evaluate(self) -> Metrics:
        """Points per game against three heuristic players, or against the fixed networks of the others."""
        config = self.config
        if not config.evaluate_every:
            return {}
        others = card_policy(read_card_network(network_file(config.others))[0]) if config.others else None
        points = evaluate_policy(
            self.game, card_policy(self.shared()), config.evaluation_deals, EVALUATION_SEED, others
        )
        return {"points": points.mean, "points_error": points.error}

    def save(self, folder: Path) -> None:
        from ...nets.torch_state import save_state

        about = {"generator": self.generator.bit_generator.state, "rounds": self.updates}
        save_state(folder / "apprentice.safetensors", FORMAT, self.module, self.optimizer, self.replay.all(), **about)

    def restore(self, folder: Path) -> None:
        from ...nets.torch_state import restore_state

        path = folder / "apprentice.safetensors"
        played = {key: like(array, None, finite=key == "actions") for key, array in self.replay.arrays.items()}
        extra, about = restore_state(path, FORMAT, self.module, self.optimizer, played)
        arrays = {key: tensor.numpy() for key, tensor in extra.items()}
        self.replay.refill(arrays, len(arrays["actions"]))
        if len(arrays["actions"]) != len(arrays["action_values"]):
            raise ValueError("its actions and values are of different games")
        self.generator.bit_generator.state = about["generator"]
        self.updates = about["rounds"]

    def export(self, path: Path, made: str) -> None:
        save_card_network(path, full_name(self.game), self.shared(), made)


def start_network(config: ExitRolloutsConfig) -> CardNetwork:
    """The networks that a run starts from, which must be of the same game."""
    network, about = read_card_network(network_file(config.start))
    name = full_name(load(config.game))
    if about.game != name:
        raise BadInput(f"start={config.start} is for {about.game}, not {name}")
    return network
