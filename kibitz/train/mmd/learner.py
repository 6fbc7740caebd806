"""Magnetic mirror descent as a learner: self-play of the present policy, and some epochs of gradient steps on it.

Everything random follows from the seed and the iteration: a checkpoint holds networks and optimizer, nothing else.
A run may start from a trained policy (`start`). The value network is untrained then, so it learns alone at first; and
the magnet, an earlier policy, keeps what is known from being unlearned.
"""

import copy
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...core.progress import Reporter
from ...core.tensor_files import Format
from ...games import Game
from ...nets.mlp import Layers, compiled, save_layers
from ...solve.best_response import evaluate_policy
from ...solve.sequence_form import SequenceForm, measurable_form
from .. import duplicate_deals
from ..learner import Learner, Metrics, Samples, learner
from . import config as settings
from .advantages import advantages
from .config import MmdConfig
from .side_by_side import NotBits

if TYPE_CHECKING:
    import torch

    from .self_play import Batch, Part
    from .start import Start

FORMAT = Format("kibitz mmd 1", "checkpoint")
MAX_LEAVES = 2_000_000  # of a game whose NashConv is computed
PART = 2048  # games that share batches: parts are played in threads
WIDE = 512  # inputs per decision from which parts have fewer games, as many numbers as with so many inputs
SLICE = 2048  # games of a thread beside a GPU, or more: with fewer, Python's part of its work is too large
EVALUATION_SEED = 10**6  # the same deals for all networks
INIT, PLAY, SHUFFLE = 1, 2, 3  # second number of a seed: what it is for


class PolicyRows(NamedTuple):
    """Decisions that the policy learns from; see `loss.policy_terms`."""

    encodings: Any  # [rows, ...] tensors
    before: Any
    legal: Any
    actions: Any
    gains: Any
    expected: Any
    trust: Any


class ValueRows(NamedTuple):
    """Actions that the value network learns from."""

    encodings: Any
    actions: Any
    targets: Any


@learner("mmd")
class Mmd(Learner):
    Config = MmdConfig
    about = (
        "Magnetic mirror descent: self-play policy gradient (PPO) with entropy and a KL to the last policy. "
        "The last network is the result; there is no search and no average strategy."
    )
    examples = ("leduc --preset small", "liars_dice:2 --preset best --device cuda")
    presets = settings.PRESETS
    preset = staticmethod(settings.preset)
    refuse = staticmethod(settings.refuse)
    headline = ("nash_conv", "points", "entropy")

    def __init__(self, config: MmdConfig, game: Game) -> None:
        import torch

        from ...nets.torch_mlp import pick_device
        from .networks import new_network

        super().__init__(config, game)
        facts, generator = game.facts, np.random.default_rng([config.seed, INIT])
        self.device = torch.device(pick_device(config.device, large=config.games >= PART))
        made = [
            new_network(config.network, inputs, config.hidden_sizes, outputs, generator).to(self.device)
            for inputs, outputs in ((facts.encoding, facts.num_actions), (config.inputs(game), facts.num_actions))
        ]
        self.policy, self.value = made
        self.start: Start | None = None
        if config.start:
            from ...nets.torch_mlp import as_module
            from .start import grown, read_start

            self.start = read_start(config.start, game)
            layers = grown(self.start.layers, config.hidden_sizes, facts.num_actions, generator)
            self.policy = as_module(layers).to(self.device)
        self.networks = torch.nn.ModuleDict({"policy": self.policy, "value": self.value})
        self.parameters = list(self.networks.parameters())
        self.optimizer = torch.optim.Adam(self.parameters, lr=config.learning_rate, eps=1e-5, fused=True)
        self.average: torch.optim.swa_utils.AveragedModel | None = None
        if config.averaging:
            mean = torch.optim.swa_utils.get_ema_multi_avg_fn(config.averaging)
            self.average = self.networks["average"] = torch.optim.swa_utils.AveragedModel(
                self.policy, multi_avg_fn=mean
            )
        if config.magnet:
            self.networks["magnet"] = copy.deepcopy(self.policy).requires_grad_(False)
        self.parts: list[Part] = []
        self.on_gpu = self.device.type == "cuda"
        self.packed = self.on_gpu  # whether encodings are sent as bits, until one has other numbers than 0 and 1
        self.scale = 1 / max(map(abs, facts.rewards))  # of payoffs
        self.form: SequenceForm | None = None
        self.measured = True  # until the game turns out to be too large

    # ------------------------------------------------------------ self-play

    def play(self, iteration: int) -> "Batch":
        """Play the games of an iteration."""
        self.parts = self.parts or self.new_parts()
        try:
            return self.play_parts(iteration)
        except NotBits:
            self.packed, self.parts = False, []
        return self.play(iteration)

    def play_parts(self, iteration: int) -> "Batch":
        import torch

        from .loss import log_policy
        from .self_play import joined

        config, width, size = self.config, self.game.facts.encoding, len(self.parts[0])
        known = self.start.known if self.start is not None and iteration <= config.warmup else None
        seeds = np.random.SeedSequence([config.seed, PLAY, iteration]).generate_state(2 * config.games, np.uint64)
        streams = seeds.reshape(config.games, 2)

        def evaluate(encodings: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
            with torch.no_grad():
                return log_policy(self.policy(encodings[:, :width]), legal)

        def play_part(number: int) -> "Batch":
            return self.parts[number].play(streams[number * size : (number + 1) * size], evaluate, known)

        if len(self.parts) == 1:
            return play_part(0)
        with ThreadPoolExecutor(len(self.parts) if self.on_gpu else self.processes) as threads:
            return joined(list(threads.map(play_part, range(len(self.parts)))))

    def new_parts(self) -> list["Part"]:
        """The games of an iteration: in parts for a core each, or in two parts that take turns on a GPU."""
        from .self_play import Part

        config, slices = self.config, 1
        if self.on_gpu:
            size = config.games if config.games < 2 * SLICE else -(-config.games // 2)
            slices = max(1, min(self.processes, size // SLICE))
        else:
            size = max(1, PART * WIDE // max(WIDE, config.inputs(self.game)))
        more = config.critic == "all", self.device, config.estimate == "tree", config.explore, self.packed, slices
        counts = [min(size, config.games - first) for first in range(0, config.games, size)]
        return [Part(self.game, count, *more) for count in counts]

    # ------------------------------------------------------------ learning

    def learn(self, iteration: int, samples: Samples | None, report: Reporter) -> Metrics:
        from ...nets.devices import one_thread

        config = self.config
        all_games = config.iterations * config.games
        report.progress((iteration - 1) * config.games, all_games, "self-play")
        began = time.perf_counter()
        with one_thread():
            batch = self.play(iteration)
            rows = len(batch.games)
            speed = rows / max(time.perf_counter() - began, 1e-9)
            report.progress((iteration - 1) * config.games, all_games, f"self-play {speed:,.0f} decisions/s")
            found = self.update(iteration, batch)
        report.progress(iteration * config.games, all_games)
        return {"decisions": rows} | found

    def update(self, iteration: int, batch: "Batch") -> Metrics:
        """Learn from the decisions of an iteration."""
        import torch

        from ...nets.torch_mlp import minimize
        from .loss import divergence, imitation_terms, log_policy, policy_terms

        config, width = self.config, self.game.facts.encoding
        done = (iteration - 1) / config.iterations
        rate = config.learning_rate * (1 - done * (1 - config.final_learning_rate))
        entropy, kl = config.entropy * config.final_entropy**done, config.kl / config.final_entropy ** (done / 2)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        warming, magnet = iteration <= config.warmup, self.magnet(iteration)
        if warming:
            entropy, kl = 0.0, 1.0
        with torch.no_grad():
            policy, value = self.from_tree(batch) if config.estimate == "tree" else self.from_rows(batch)
        generator = np.random.default_rng([config.seed, SHUFFLE, iteration])
        totals = torch.zeros(4, device=self.device)
        minibatches = min(config.minibatches, len(policy.actions), len(value.actions))
        for _ in range(config.epochs):
            for some, others in self.minibatches(policy, value, minibatches, generator):
                said = log_policy(self.policy(some.encodings[:, :width]), some.legal)
                if warming:
                    terms = imitation_terms(said, some.before, some.legal)
                else:
                    terms = policy_terms(said, *some[1:], config.clip)
                estimate = self.value(others.encodings).gather(1, others.actions[:, None])[:, 0]
                errors = ((estimate - others.targets) ** 2).mean() / 2
                loss = terms.clipped - entropy * terms.trusted + kl * terms.kl + config.value_weight * errors
                if magnet is not None and not warming:
                    with torch.no_grad():
                        pull = log_policy(magnet(some.encodings[:, :width]), some.legal)
                    loss = loss + config.magnet * divergence(said, pull, some.legal)
                minimize(self.optimizer, loss, self.parameters, config.max_gradient_norm)
                totals += torch.stack([loss.detach(), errors.detach(), terms.entropy.detach(), terms.kl.detach()])
        if self.average is not None:
            self.average.update_parameters(self.policy)
        means = (totals / (config.epochs * minibatches)).tolist()
        return dict(zip(("loss", "value_loss", "entropy", "kl"), means, strict=True))

    def from_rows(self, batch: "Batch") -> tuple["PolicyRows", "ValueRows"]:
        """What is learned from the decisions one by one."""
        import torch

        config = self.config
        estimates, values = self.estimates(batch)
        payoffs = batch.payoffs * self.scale
        gains = advantages(batch.games, batch.seats, values.cpu().numpy(), payoffs, config.gae_lambda)
        wins = torch.from_numpy(gains).to(self.device)
        targets = values + wins
        deviation = self.deviation(gains, payoffs)
        expected = torch.zeros_like(estimates)
        if config.estimate == "all":
            expected = torch.where(batch.legal, estimates - values[:, None], 0.0) / deviation
            wins = targets - estimates.gather(1, batch.actions[:, None])[:, 0]
        elif config.normalize == "advantages":
            wins = wins - wins.mean()
        trust = torch.ones_like(wins)
        return (
            PolicyRows(batch.encodings, batch.log_probs, batch.legal, batch.actions, wins / deviation, expected, trust),
            ValueRows(batch.encodings, batch.actions, targets),
        )

    def from_tree(self, batch: "Batch") -> tuple["PolicyRows", "ValueRows"]:
        """What is learned from the decisions together: each infoset counts once, and each action at a history."""
        import torch

        from .tree_estimates import tree_estimates

        assert batch.trace is not None
        estimates, _ = self.estimates(batch)
        probs = torch.where(batch.legal, batch.log_probs.exp(), 0.0)
        payoffs = batch.payoffs[:, 0] * self.scale
        actions, policy, guesses = (each.cpu().numpy() for each in (batch.actions, probs, estimates))
        found = tree_estimates(batch, batch.trace, actions, policy, guesses, payoffs)
        trust = found.visits / (found.visits + found.visits.mean() / 2)  # few samples are noise
        rows, tried, played, targets, values, trusted = (
            torch.from_numpy(each).to(self.device)
            for each in (
                found.rows, found.tried_rows, found.tried_actions, found.tried_values, found.values,
                trust.astype(np.float32),
            )
        )  # fmt: skip
        legal, probs = batch.legal[rows], probs[rows]
        means = (probs * values).sum(dim=1, keepdim=True)
        gains = torch.where(legal, values - means, 0.0)
        expected = gains / self.deviation(gains[legal].cpu().numpy(), payoffs)
        return (
            PolicyRows(
                batch.encodings[rows], batch.log_probs[rows], legal, batch.actions[rows], torch.zeros_like(means[:, 0]),
                expected, trusted,
            ),
            ValueRows(batch.encodings[tried], played, targets),
        )  # fmt: skip

    def estimates(self, batch: "Batch") -> tuple[Any, Any]:
        """The value network's estimates of all actions [rows, actions], and of the decisions by the policy [rows]."""
        import torch

        found = torch.where(batch.legal, self.value(batch.encodings), 0.0)
        return found, (torch.where(batch.legal, batch.log_probs.exp(), 0.0) * found).sum(dim=1)

    def minibatches(
        self, policy: "PolicyRows", value: "ValueRows", count: int, generator: np.random.Generator
    ) -> Iterator[tuple["PolicyRows", "ValueRows"]]:
        """Both in `count` random parts; the same decisions in a part where both have the same."""
        if count == 1:
            yield policy, value
            return
        order = self.shuffled(len(policy.actions), generator)
        same = policy.encodings is value.encodings
        other = order if same else self.shuffled(len(value.actions), generator)
        for here, there in zip(order.tensor_split(count), other.tensor_split(count), strict=True):
            some = PolicyRows(*(each[here] for each in policy))
            if same:
                yield some, ValueRows(some.encodings, some.actions, value.targets[here])
            else:
                yield some, ValueRows(*(each[there] for each in value))

    def shuffled(self, count: int, generator: np.random.Generator) -> "torch.Tensor":
        """A random permutation of `count` numbers, drawn on the device: a GPU doesn't wait for it."""
        import torch

        if not self.on_gpu:
            return torch.from_numpy(generator.permutation(count))
        random = torch.Generator(self.device).manual_seed(int(generator.integers(2**63)))
        return torch.randperm(count, generator=random, device=self.device)

    def magnet(self, iteration: int) -> "torch.nn.Module | None":
        """The magnet of an iteration, which moves to the present policy in the first one and from time to time."""
        config = self.config
        if not config.magnet:
            return None
        magnet, since = self.networks["magnet"], iteration - config.warmup - 1
        if since == 0 or (since > 0 and config.magnet_every and since % config.magnet_every == 0):
            magnet.load_state_dict(self.policy.state_dict())
        return magnet

    def deviation(self, gains: np.ndarray, payoffs: np.ndarray) -> float:
        """By which advantages are divided."""
        return float(np.std(gains if self.config.normalize == "advantages" else payoffs)) + 1e-8

    def network(self) -> Layers:
        """The layers of the policy: what is exported."""
        from .networks import exported

        return exported(self.policy if self.average is None else self.average.module)

    def evaluate(self) -> Metrics:
        """NashConv of the network, where the game is small enough to be written out, and points against the start."""
        found: Metrics = {}
        if not self.config.evaluate_every:
            return found
        if self.start is not None:
            present = self.network()
            own, before = self.start.policy(present), self.start.policy(self.start.layers)
            deals = self.config.evaluation_deals
            points = duplicate_deals.evaluate_policy(self.game, own, deals, EVALUATION_SEED, before)
            found |= {"points": points.mean, "points_error": points.error}
        if not self.measured:
            return found
        self.form = self.form or measurable_form(self.game, MAX_LEAVES)
        self.measured = self.form is not None
        if self.form is None:
            return found
        return found | {"nash_conv": evaluate_policy(self.form, compiled(self.network())).nash_conv}

    def totals(self, iteration: int) -> dict[str, int]:
        return {"games": iteration * self.config.games}

    # ------------------------------------------------------------ files

    def save(self, folder: Path) -> None:
        from ...nets.torch_state import save_state

        save_state(folder / "networks.safetensors", FORMAT, self.networks, self.optimizer)

    def restore(self, folder: Path) -> None:
        from ...nets.torch_state import restore_state

        restore_state(folder / "networks.safetensors", FORMAT, self.networks, self.optimizer)

    def export(self, path: Path, made: str) -> None:
        save_layers(path, self.game, self.network(), made)
