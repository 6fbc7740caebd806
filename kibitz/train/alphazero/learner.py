"""AlphaZero as a learner: a residual network learns the policy of its own tree search, and the outcomes of its games.

Loss: cross-entropy of the search's policy over the legal actions + squared error of the value.
"""

from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ...core.progress import Reporter
from ...core.tensor_files import About, Format, Shapes
from ...core.workers import Pool
from ...games import OVER, Game, legal_actions, positions
from ...nets.boards.geometry import geometry_of
from ...nets.boards.networks import FORMAT as NETWORK
from ...nets.boards.networks import Weights, save_network
from ...nets.boards.processor_network import evaluator
from ...search.mcts import Uct
from ..learner import Learner, Metrics, Samples, joined, learner
from ..packing import Packed, on_device
from ..replay import ReplayBuffer
from . import config as settings
from .config import AlphaZeroConfig
from .self_play import COUNTS, Arrays, Part, self_play

FORMAT = Format("kibitz alphazero 1", "checkpoint", about={"generator": dict})
GAMES = Format("kibitz games in progress 1", "checkpoint")
OPENING = 2  # random plies before an evaluation game
SEARCHED = 0.25  # share of the search's value in what the value learns; the rest is the outcome
WEIGHT_DECAY = 1e-4


@learner("alphazero")
class AlphaZero(Learner):
    Config: ClassVar[type] = AlphaZeroConfig
    about = (
        "AlphaZero for games on boards, with Gumbel root selection. A residual network plays against itself by tree "
        "search, learns the search's policy and the outcomes, and values the leaves of the next searches."
    )
    examples = ("tic_tac_toe --preset small --iterations 20", "connect_four:rows=5,columns=6 --preset small")
    presets = settings.PRESETS
    preset = staticmethod(settings.preset)
    refuse = staticmethod(settings.refuse)
    worker = staticmethod(self_play)
    headline = ("loss", "score_uct")
    search = NETWORK.search

    def __init__(self, config: AlphaZeroConfig, game: Game) -> None:
        import torch

        from ...nets.boards.torch_network import BoardNetwork

        super().__init__(config, game)
        facts, self.geometry, self.device = game.facts, geometry_of(game), config.torch_device()
        self.generator = np.random.default_rng([config.seed, 1])
        self.network = BoardNetwork(self.geometry, config.shape, self.generator, self.device)
        self.average = torch.optim.swa_utils.AveragedModel(
            self.network, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(config.averaging), use_buffers=True
        )
        self.networks = torch.nn.ModuleDict({"last": self.network, "average": self.average})
        self.optimizer = torch.optim.AdamW(
            self.network.parameters(), lr=config.learning_rate, weight_decay=WEIGHT_DECAY, fused=True
        )
        empty: Samples = {
            "encodings": Packed.empty(facts.encoding),
            "policies": np.zeros((0, facts.num_actions), np.uint16),
            "legal": Packed.empty(facts.num_actions),
            "values": np.zeros(0, np.float32),
        }
        self.replay = ReplayBuffer(config.capacity, empty, "latest")
        self.tables: list[Arrays | None] = [None] * config.parts  # games in progress
        self.counts = np.zeros(len(COUNTS), np.int64)
        inverse = np.argsort(self.geometry.cell_images, axis=1), np.argsort(self.geometry.action_images, axis=1)
        self.cells_from, self.actions_from = (torch.from_numpy(each).to(self.device) for each in inverse)

    # ------------------------------------------------------------ self-play

    @property
    def tasks(self) -> int:
        return self.config.parts

    def collect(self, workers: Pool, iteration: int, report: Reporter) -> Samples:
        config, results = self.config, dict[int, tuple[Samples, Arrays]]()
        if lost := sum(len(table["encodings"]) for table in self.tables if table and "encodings" in table):
            what = "1 sample of an unfinished game is" if lost == 1 else f"{lost:,} samples of unfinished games are"
            report.message(f"{what} left out: version 0.2 kept them in a form that isn't read any more")
        workers.share(self.weights())
        for part, samples, table in workers.do([Part(*each) for each in enumerate(self.tables)]):
            results[part] = samples, table
            done = (iteration - 1) + len(results) / config.parts
            report.progress(done * config.games * config.rounds, config.iterations * config.games * config.rounds)
        found = [results[part][0] for part in range(config.parts)]
        tables = {
            f"table.{part}.{name}": array for part in range(config.parts) for name, array in results[part][1].items()
        }
        return joined(found) | tables

    def totals(self, iteration: int) -> dict[str, int]:
        return {"evaluations": iteration * self.config.games * self.config.rounds}

    # ------------------------------------------------------------ learning

    def learn(self, iteration: int, samples: Samples | None, report: Reporter) -> Metrics:
        assert samples is not None
        config = self.config
        done = iteration * config.games * config.rounds
        report.progress(done, config.iterations * config.games * config.rounds, "learning")
        self.tables = _tables(samples, config.parts)
        self.counts = self.counts + samples["counts"].sum(axis=0)
        mixed = SEARCHED * samples["searched"] + (1 - SEARCHED) * samples["outcomes"]
        packed = {
            "encodings": samples["encodings"],
            "policies": samples["policies"],
            "legal": samples["legal"],
            "values": mixed.astype(np.float32),
        }
        self.replay.add(packed, self.generator)
        metrics: Metrics = {"games": int(self.counts[0]), "rows": len(self.replay)}
        if self.counts[0]:
            metrics["length"] = float(self.counts[1] / self.counts[0])
        if self.counts[3]:
            metrics["false_resignations"] = float(self.counts[4] / self.counts[3])
        return metrics | (self._fit() if len(self.replay) else {})

    def _fit(self) -> Metrics:
        import torch

        from ...nets.devices import one_thread
        from ...nets.torch_mlp import BANNED, minimize

        config, on_gpu = self.config, self.device.startswith("cuda")
        total = torch.zeros(2, device=self.device)
        with one_thread():
            for _ in range(config.steps):
                encodings, policies, legal, values = self._minibatch(
                    self.replay.sample(config.batch_size, self.generator)
                )
                with torch.autocast("cuda", torch.bfloat16, enabled=on_gpu):
                    logits, value = self.network(encodings)
                said = torch.log_softmax(torch.where(legal, logits.float(), BANNED), dim=1)
                losses = torch.stack(
                    [-(policies * said).sum(dim=1).mean(), torch.nn.functional.mse_loss(value.float(), values)]
                )
                minimize(self.optimizer, losses.sum())
                total += losses.detach()
        self.average.update_parameters(self.network)
        policy, value_loss = (total / config.steps).tolist()
        return {"loss": policy + value_loss, "policy_loss": policy, "value_loss": value_loss}

    def weights(self) -> Weights:
        """Of the network that plays: the moving average."""
        averaged: Any = self.average.module
        weights: Weights = averaged.folded()
        return weights

    def _minibatch(self, rows: Samples) -> tuple[Any, Any, Any, Any]:
        """Unpack samples on the device, each as a random symmetric image of itself."""
        import torch

        geometry = self.geometry
        policies, values = (torch.from_numpy(rows[name].astype(np.float32)) for name in ("policies", "values"))
        policies, values = policies.to(self.device), values.to(self.device)
        encodings, legal = (on_device(rows[name], self.device) for name in ("encodings", "legal"))
        if len(self.cells_from) > 1:
            drawn = self.generator.integers(len(self.cells_from), size=len(policies))
            chosen = torch.from_numpy(drawn).to(self.device)
            cells, actions = self.cells_from[chosen], self.actions_from[chosen]
            planes = encodings.view(-1, geometry.planes, geometry.cells)
            encodings = planes.gather(2, cells[:, None].expand_as(planes)).reshape(len(planes), -1)
            policies, legal = policies.gather(1, actions), legal.gather(1, actions)
        return encodings, policies / policies.sum(dim=1, keepdim=True), legal.bool(), values

    # ------------------------------------------------------------ evaluation

    def evaluate(self) -> Metrics:
        """The score of the network without search against uct, both seats, after two random plies."""
        if not (self.config.evaluate_every and self.config.evaluation_games):
            return {}
        return {"score_uct": self.score(self.config.evaluation_games)}

    def score(self, games: int) -> float:
        game, evaluate = self.game, evaluator(self.geometry, self.config.shape, self.weights(), self.device)
        opponent, generator = Uct(game, reuse=False), np.random.default_rng([self.config.seed, 3])
        states, points = positions(game, games), 0.0
        for state in states:
            for _ in range(OPENING):
                if game.turn(state) != OVER:
                    game.play(state, int(generator.choice(legal_actions(game, state))))
        encodings = np.zeros((games, game.facts.encoding), np.float32)
        while any(game.turn(state) != OVER for state in states):
            for g, state in enumerate(states):
                if (turn := game.turn(state)) not in (OVER, g % 2):
                    opponent.begin(int(generator.integers(2**63)))
                    game.play(state, opponent.advise(state, turn, self.config.evaluation_simulations).best)
                if game.turn(state) == g % 2:
                    game.observe(state, g % 2, encodings[g])
            logits, _ = evaluate(encodings)
            for g, state in enumerate(states):
                if game.turn(state) == g % 2:
                    legal = np.array(legal_actions(game, state))
                    best = np.argmax(logits[g, self.geometry.frames[g % 2, legal]])
                    game.play(state, int(legal[best]))
        low, high = game.facts.payoffs
        points = sum((game.payoff(state, g % 2) - low) / (high - low) for g, state in enumerate(states))
        return float(points / games)

    # ------------------------------------------------------------ files

    def save(self, folder: Path) -> None:
        from ...nets.torch_state import save_state

        state = self.generator.bit_generator.state
        save_state(folder / "network.safetensors", FORMAT, self.networks, self.optimizer, generator=state)
        self.replay.save(folder / "samples.safetensors")
        tables = {
            f"table.{part}.{name}": array
            for part, table in enumerate(self.tables)
            if table is not None
            for name, array in table.items()
        }
        GAMES.write(folder / "games.safetensors", tables | {"counts": self.counts})

    def restore(self, folder: Path) -> None:
        from ...nets.torch_state import restore_state

        def declared(about: About, shapes: Shapes) -> dict[str, str]:
            first = "positions" if "table.0.positions" in shapes else "encodings"  # the latter before version 0.3
            kinds = {"states": "uint8", "records": "uint8", "rngs": "uint64", first: "uint8", "legal": "uint8",
                     "policies": "uint16", "seats": "int8", "values": "float32"}  # fmt: skip
            wanted = {"counts": f"int64 {len(COUNTS)}"}
            for part in range(self.config.parts if len(shapes) > 1 else 0):
                for name, kind in kinds.items():
                    key = f"table.{part}.{name}"
                    wanted[key] = kind + " ?" * len(shapes[key])
            return wanted

        path = folder / "network.safetensors"
        _, about = restore_state(path, FORMAT, self.networks, self.optimizer)
        self.generator.bit_generator.state = about["generator"]
        self.replay.restore(folder / "samples.safetensors")
        tensors, _ = GAMES.read(folder / "games.safetensors", declared)
        self.counts, self.tables = tensors["counts"], _tables(tensors, self.config.parts)

    def export(self, path: Path, made: str) -> None:
        save_network(path, self.game, self.config.shape, self.weights(), made)


def _tables(arrays: Samples, parts: int) -> list[Arrays | None]:
    """The games in progress of each part among named arrays."""
    marks = [f"table.{part}." for part in range(parts)]
    found = [{key.removeprefix(mark): each for key, each in arrays.items() if key.startswith(mark)} for mark in marks]
    return [table or None for table in found]
