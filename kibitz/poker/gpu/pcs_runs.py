"""Runs of CFR on the public tree: poker solved into a run folder, which is resumed exactly.

    config.json               game, abstraction (its checksum), iterations, seed, device, boards per iteration
    abstraction.safetensors   the card abstraction, a second name of its file; none where each hand has its own bucket

The other files are those of `solver_runs`; times.jsonl has the boards per second.

On processor cores the result depends on the configuration only, bit by bit. A GPU adds in any order.
"""

import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...core import memory
from ...core.files import check_fits, readable
from ...core.names import BadInput, at_least, choose
from ...core.progress import SILENT, Reporter
from ...core.runs import Run
from ...core.steps import steps
from ...core.tensor_files import Format, tensor_file_about
from ...games import full_name, load_stored
from ...nets.devices import DEVICES
from ...solve.best_response import evaluate
from ...solve.solver_runs import STATE_FILE, STRATEGY_FILE, Solving, open_solver_run
from ..solve.betting_tree import betting_tree
from ..solve.buckets import Buckets
from ..solve.cards import cards_of, check_board, check_two_streets
from ..solve.files import (
    ABSTRACTION_FILE,
    abstraction_file,
    checksum_of,
    link,
    lossless_if_small,
    map_buckets,
    read_buckets,
    save_strategy,
)
from ..solve.solver import first_entries, poker_form
from ..solve.strategy import TableStrategy
from .pcs_solvers import (
    AgainstBest,
    OnAllBoards,
    OnCores,
    OnGpu,
    below_bytes,
    check_threads,
)

METHODS = ("pcs", "cfr-br")
START_FILE = "start.safetensors"  # the checkpoint that a run of CFR-BR was started from
STATE = Format(
    "kibitz public chance sampling 1", "checkpoint", about={"iterations": int, "total": str | None}, sealed=True
)
BOARDS = {"pcs": {"cpu": 1, "cuda": 16}, "cfr-br": {"cpu": 1, "cuda": 2}}  # per iteration
ALL = "all"  # boards per iteration
START_WEIGHT = 10.0  # of the strategy that CFR-BR starts from
BYTES = 24  # per entry of the tables, while a checkpoint is written


def new_run(
    game: Any,
    abstraction: Path | None = None,
    iterations: int = 1000,
    seed: int = 1,
    device: str = "cpu",
    boards: int | str | None = None,
    folder: Path | None = None,
    method: str = "pcs",
    start: Path | None = None,
    start_weight: float | None = None,
) -> Run:
    """Start a run, or continue the one in `folder` if its configuration is the same; its iterations may grow.

    Args:
        game: Leduc poker or hold'em.
        abstraction: A card abstraction, the file or its folder; None: a bucket for every hand.
        iterations: Number of iterations in all.
        seed: Of the boards.
        device: `cpu` (pcs: compiled kernels) or `cuda` (torch).
        boards: With pcs, the number of boards per iteration on a GPU; `all`: discounted CFR on all boards, for games of
            two streets. With cfr-br, the number of boards of the street before the last; in a game of two streets
            always `all`.
        folder: The run folder; None: the next free `runs/GAME-METHOD-001`.
        method: `pcs` or `cfr-br`.
        start: With cfr-br, a run of pcs whose tables it starts from, and whose abstraction it takes by default.
        start_weight: How many iterations of that run the regrets that it starts with are worth; None: 10.

    Raises:
        BadInput: The abstraction is missing or for other cards, or the tables need too much memory.
    """
    at_least("iterations", iterations, 1)
    at_least("seed", seed, 0)
    choose("device", device, DEVICES)
    choose("method", method, METHODS)
    cards = cards_of(game)
    if method == "pcs" and device == "cpu" and boards not in (None, 1, ALL):
        raise BadInput(f"boards = {boards} is for a GPU: on processor cores an iteration has one board, or all")
    if method == "cfr-br":
        check_board(game, cards)
        if cards.streets == 2 and boards not in (None, ALL):
            raise BadInput(f"boards = {boards} is for cfr-br in longer games: in {full_name(game)} it visits all")
        boards = ALL if cards.streets == 2 else boards
    boards = BOARDS[method][device] if boards is None else boards
    _check_boards(boards)
    if boards == ALL:
        check_two_streets(game, cards)
    given = Start(start, game) if start is not None else None
    if given is not None and abstraction is None and given.abstraction:
        abstraction = given.run.path(ABSTRACTION_FILE)
    file = None if abstraction is None else abstraction_file(abstraction)
    buckets = lossless_if_small(game) if file is None else map_buckets(file, game)  # `solve_run` checks all of it
    tree = betting_tree(game, cards)
    entries = first_entries(tree, buckets.counts)[1]
    need, lower = BYTES * entries, "choose an abstraction of fewer buckets"
    if device == "cpu" and (boards == ALL or method == "cfr-br"):
        upper = 1 if isinstance(boards, str) else boards
        need, lower = int(need + below_bytes(tree, buckets, upper)), "choose a smaller deck or --device cuda"
    memory.check(need, f"{full_name(game)} with {entries:,} entries", lower)
    checked = "" if file is None else checksum_of(file)
    if given is not None and given.abstraction != checked:
        raise BadInput(f"{start} has another card abstraction than {abstraction or 'none'}")
    config = {
        "command": "solve",
        "game": full_name(game),
        "with": method,
        "abstraction": checked,
        "iterations": iterations,
        "seed": seed,
        "device": device,
        "boards": boards,
    }
    if given is not None:
        weight = START_WEIGHT if start_weight is None else start_weight
        at_least("start_weight", weight, 0, 1e6)
        config |= {"from": given.checksum, "start_weight": weight}
    run = Run.create_or_resume(folder, f"{game.name}-{method}", config, may_grow=("iterations",))
    if file is not None:
        link(file, run.path(ABSTRACTION_FILE))
    if given is not None:
        link(given.run.path(STATE_FILE), run.path(START_FILE))
    return run


class Start:
    """A run of pcs that CFR-BR starts from."""

    def __init__(self, folder: Path, game: Any) -> None:
        self.run = Run(folder)
        path = self.run.path(STATE_FILE)
        if not path.is_file():
            raise BadInput(f"{folder} holds no run of pcs to start from: it has no {path.name}")
        about = tensor_file_about(path)
        if about.get("game") != full_name(game):
            raise BadInput(f"{folder} is a run of {about.get('game')}, not of {full_name(game)}")
        self.abstraction, self.checksum = str(about.get("abstraction")), str(about.get("checksum"))


def open_run(folder: Path, iterations: int | None = None) -> Run:
    """The run in a folder, with a larger number of iterations where one is given.

    Raises:
        BadInput: There is no such run, or it wasn't made by public chance sampling.
    """
    return open_solver_run(folder, iterations, _config)


def _config(run: Run) -> dict[str, Any]:
    if not run.path("config.json").is_file():
        raise BadInput(f"{run.folder} holds no run")
    config = run.config()
    if config.get("command") != "solve" or config.get("with") not in METHODS:
        made = " ".join(str(config.get(key, "")) for key in ("command", "with")).strip() or "something else"
        wanted = " or ".join(METHODS)
        raise BadInput(f"{run.folder} can't be resumed by kibitz solve: it was made by {made}, not by solve {wanted}")
    with readable(run.path("config.json"), "configuration"):
        check_fits(
            config,
            {"game": str, "abstraction": str, "device": str, "boards": int | str, "iterations": int, "seed": int}
            | {"from?": str, "start_weight?": float},
        )
        choose("device", config["device"], DEVICES)
        _check_boards(config["boards"])
    return config


def _check_boards(boards: int | str) -> None:
    if isinstance(boards, str):
        choose("boards", boards, (ALL,))
    else:
        at_least("boards", boards, 1, 10**5)


# ---------------------------------------------------------------- the loop


class Solved(NamedTuple):
    """What a run has reached."""

    iterations: int
    boards: int
    infosets: int
    seconds: float  # of this call, without those of earlier ones
    boards_per_second: float
    metrics: dict[str, float]  # the last measurement


def solve_run(run: Run, threads: int | None = None, report: Reporter = SILENT) -> Solved:
    """Start a run, or resume it from its last checkpoint, until all its iterations are done.

    What is raised after Ctrl-C: see `steps`.
    """
    config = _config(run)
    check_threads(threads, config["with"], config["device"], config["boards"])
    with run.lock():
        solved: Solved = steps(PcsSolving(run, config, load_stored(config["game"]), threads), report)
    return solved


class PcsSolving(Solving):
    """A run being solved by public chance sampling, or by CFR-BR."""

    save_share = 30.0

    def __init__(self, run: Run, config: dict[str, Any], game: Any, threads: int | None) -> None:
        super().__init__(run, config)
        self.game = game
        self.buckets = lossless_if_small(game) if not config["abstraction"] else self._abstraction()
        self.solver: OnCores | OnGpu | OnAllBoards | AgainstBest
        if config["with"] == "cfr-br":
            self.solver = AgainstBest(game, self.buckets, config["seed"], config["boards"], config["device"])
        elif config["boards"] == ALL:
            self.solver = OnAllBoards(game, self.buckets, config["device"])
        elif config["device"] == "cpu":
            self.solver = OnCores(game, self.buckets, config["seed"], threads)
        else:
            self.solver = OnGpu(game, self.buckets, config["seed"], config["boards"], config["device"])
        tree = self.solver.tree
        self.infosets = int(np.array(self.buckets.counts)[tree.street[tree.choices > 0]].sum())
        exact = config["boards"] == ALL or config["with"] == "cfr-br"
        self.form = None if exact else poker_form(game, tree, self.buckets.cards)

    def _abstraction(self) -> Buckets:
        path = self.run.path(ABSTRACTION_FILE)
        buckets = read_buckets(path, self.game)
        if checksum_of(path) != self.config["abstraction"]:
            raise BadInput(f"{path} is another card abstraction than the one that the run was started with")
        return buckets

    def iterate(self) -> None:
        self.solver.run()

    def measure(self) -> dict[str, float]:
        """What the solver knows, and NashConv in a game that is small enough to enumerate."""
        found: dict[str, float] = self.solver.measure()
        if self.form is not None:
            strategy = self.strategy(self.solver.tables()["sums"])
            found |= {"nash_conv": evaluate(self.form, strategy.on(self.form)).nash_conv}
        return found

    def totals(self) -> dict[str, int]:
        return {"boards": self.done * self.solver.boards}

    def boards_per_second(self) -> float:
        return self.solver.boards * self.rate

    def speed(self) -> dict[str, float]:
        return {"boards_per_second": round(self.boards_per_second(), 3)}

    def note(self) -> str:
        shown = [f"{self.boards_per_second():,.1f} boards/s"] if self.done > self.start else []
        labels = {"nash_conv": "NashConv", "regret_bound": "regret", "value": "value", "opponents_win": "lost"}
        return "  ".join(shown + [f"{labels[key]} {self.metrics[key]:.4g}" for key in labels if key in self.metrics])

    def result(self) -> Solved:
        boards, rate = self.done * self.solver.boards, self.boards_per_second()
        return Solved(self.done, boards, self.infosets, self.seconds, rate, self.metrics)

    def strategy(self, sums: np.ndarray) -> TableStrategy:
        return TableStrategy(self.game, self.solver.tree, self.buckets, self.solver.first, sums)

    def save(self) -> None:
        """Write the average strategy and a checkpoint, last: a run without it starts again."""
        tables = self.solver.tables()
        about = {"game": self.config["game"], "abstraction": self.config["abstraction"], "iterations": self.done}
        total = None if math.isnan(self.solver.total) else self.solver.total.hex()
        fine = self.config["boards"] == ALL
        save_strategy(self.run.path(STRATEGY_FILE), self.strategy(tables["sums"]), self.config["abstraction"], fine)
        STATE.write(self.run.path(STATE_FILE), tables, total=total, **about)

    def restore(self) -> bool:
        path = self.run.path(STATE_FILE)
        if not path.exists():
            self._start()
            return False
        tensors, about = self._read(path, self.solver.sizes())
        self.solver.total = math.nan if about["total"] is None else float.fromhex(about["total"])
        self.solver.restore(about["iterations"], tensors)
        self.done = int(about["iterations"])
        self.restore_metrics()
        return True

    def _start(self) -> None:
        """Start from the tables of another run, if there is one: its average strategy is the first to be answered.

        The regrets that stand for it are as large as some iterations' were then, and its average counts as a first
        iteration's: so the answers outweigh them in time. In the trunk the opponents start from it too: from nothing,
        they would play at random there until most of its hands had been met.
        """
        path = self.run.path(START_FILE)
        if not self.config.get("from"):
            return
        sizes = {key: size for key, size in self.solver.sizes().items() if key != "trunk"}
        tensors, about = self._read(path, sizes)
        if about["checksum"] != self.config["from"]:
            raise BadInput(f"{path} isn't the state that the run was started from")
        regrets, sums, tree = tensors["regrets"], tensors["sums"], self.solver.tree
        weight = self.config.get("start_weight", 1.0) / max(int(about["iterations"]), 1)
        for node in np.flatnonzero(tree.choices):
            n, first = int(tree.choices[node]), int(self.solver.first[node])
            part = slice(first, first + n * self.buckets.counts[tree.street[node]])
            weights, size = sums[part].reshape(-1, n), np.abs(regrets[part].reshape(-1, n)).sum(axis=1, keepdims=True)
            probs = weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-30)
            regrets[part] = (probs * size * weight).reshape(-1)
        sums /= max(float(sums.max()), 1e-30)
        if "trunk" in self.solver.sizes():
            assert isinstance(self.solver, AgainstBest)
            tensors["trunk"] = self.solver.start_trunk(regrets)
        self.solver.restore(0, tensors)

    def _read(self, path: Path, sizes: dict[str, int]) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """The tables of a checkpoint, and what is known about them."""
        same = {key: self.config[key] for key in ("game", "abstraction")}
        return STATE.read(path, {key: f"float32 {size}" for key, size in sizes.items()}, same=same)
