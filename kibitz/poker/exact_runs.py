"""Runs of `kibitz exploit` in poker: an exact best response, one class of flops after the other, resumed after a kill.

config.json         game, strategy (its checksum), number of flops, seed
state.safetensors   the values of the flops visited so far, from which all results follow
result.json         what is known then: exploitability, or a lower bound while flops are missing
times.jsonl         flops per second
"""

import hashlib
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..core import memory
from ..core.files import check_fits, readable
from ..core.names import BadInput, at_least
from ..core.progress import SILENT, Reporter
from ..core.runs import RESUME, Run
from ..core.steps import Work, steps
from ..core.tensor_files import Format, checksum, tensor_file_about
from ..games import full_name, load_stored
from ..nets.devices import check_device
from ..play.play import as_kept
from ..play.players import absolute_label, make_for
from ..play.players.networks import NetworkPlayer
from ..play.statistics import Estimate
from ..train.deep_cfr.networks import Model
from .flop_sample import FlopValues, draw_orders, visits
from .gpu.public_best_response import PublicBestResponse
from .learn.network_best_response import NetworkBestResponse, TorchPolicy
from .rules import Holdem
from .solve.betting_tree import betting_tree
from .solve.cards import cards_of
from .solve.files import (
    ABSTRACTION_FILE,
    STRATEGY,
    checksum_of,
    lossless_if_small,
    read_buckets,
    read_table_strategy,
)
from .solve.first_street import FirstStreet, decisions_of
from .solve.strategy import TableStrategy

COMMAND, METHOD = "exploit", "exact"
STATE = Format(
    "kibitz exact best response 1",
    "state of a best response",
    {
        "flops": "float32 done? 2 ends? hands",
        "all_in": "float64 2 all_in? hands",
        "first_street": "float64 decisions hands most",
        "ends": "int64 ends",
        "all_in_ends": "int64 all_in",
        "weights": "int64 ?",
    },
    about={"seconds": float},
    sealed=True,
)
STATE_FILE, RESULT = "state.safetensors", "result.json"
MIN_FLOPS = 4  # two in each half: else there is no interval


@dataclass(frozen=True)
class Measured:
    """What a best response wins, or a lower bound of it."""

    exact: bool
    done: int  # classes of flops visited; single flops for a network on more than two streets
    classes: int
    drawn: int  # flops in each half of the sample
    best: tuple[float, float]  # by seat
    nash_conv: Estimate  # of one number where it is exact
    seconds: float  # of all flops so far

    def as_json(self) -> dict[str, Any]:
        """As JSON; what isn't known is None."""
        known = [None if math.isnan(each) else each for each in self.best]
        found = self.nash_conv.as_json()
        about = {"exact": self.exact, "flop_classes": self.classes, "visited": self.done, "drawn_per_half": self.drawn}
        interval = {} if self.exact else {"low": found["low"], "high": found["high"]}
        return about | {"nash_conv": found["mean"], **interval, "best": known, "seconds": round(self.seconds, 3)}


# ---------------------------------------------------------------- strategies


def table_strategy(path: Path, game: Any) -> TableStrategy:
    """Read the table strategy of a run with its abstraction, and check all of both.

    Raises:
        BadInput: A file is missing, damaged, or for another game or abstraction.
    """
    wanted, beside = tensor_file_about(path).get("abstraction"), path.with_name(ABSTRACTION_FILE)
    if not wanted:
        return read_table_strategy(path, game, lossless_if_small(game))
    if checksum_of(beside) != wanted:
        raise BadInput(f"{path} needs its card abstraction, {beside}, which is missing or another one")
    return read_table_strategy(path, game, read_buckets(beside, game))


def network_player(name: Any, game: Any) -> NetworkPlayer | None:
    """The player of a name, if it is a network for this game of hold'em."""
    made = None if isinstance(name, Path) else make_for(name, game)
    if not isinstance(made, NetworkPlayer) or not isinstance(game, Holdem):
        return None
    return made


def identity(chosen: Path | str, game: Any) -> str:
    """A checksum of all that the policy of a strategy file or a network depends on."""
    if isinstance(chosen, Path):
        about = tensor_file_about(chosen)
        return hashlib.sha256(f"{about.get('checksum')} {about.get('abstraction')}".encode()).hexdigest()
    made = network_player(chosen, game)
    assert made is not None
    assert made.known is not None
    network, said = made.known[1], [str(made.threshold)]
    if isinstance(network, Model):
        said += [network.average, network.fallback, network.seen, str(network.shape)]
        parts = [each[name] for seat in network.seats for each in seat for name in sorted(each)]
    else:
        parts = [array for layer in network for array in layer]
    return hashlib.sha256(f"{checksum(parts)} {said}".encode()).hexdigest()


def response_to(chosen: Path | str, game: Any, device: str = "cpu") -> PublicBestResponse:
    """The best response to a strategy file or a network, ready to visit flops.

    Raises:
        BadInput: It is neither a table strategy nor a network of this game, or there is no such device.
    """
    check_device(device)
    if isinstance(chosen, Path) and STRATEGY.fits(chosen):
        return PublicBestResponse(table_strategy(chosen, game), device)
    made = network_player(chosen, game)
    if made is None or made.known is None:
        raise BadInput(f"{chosen} is neither a table strategy of kibitz solve --with pcs nor a network of hold'em")
    if hasattr(made, "drawn"):
        raise BadInput(
            f"{chosen} draws one of its networks for each game, so its policy isn't one strategy; try --with lbr"
        )
    network = made.known[1]
    return NetworkBestResponse(game, TorchPolicy(network, made.threshold, device), made.seen, device)


# ---------------------------------------------------------------- runs


def flops_in(game: Any) -> int:
    """The number of flops; of boards of the first street with cards, in any poker game."""
    cards = cards_of(game)
    return math.comb(cards.deck, cards.dealt[1]) if cards.streets > 1 else 0


def new_run(
    game: Any,
    strategy: str,
    flops: int | None = None,
    seed: int = 1,
    folder: Path | None = None,
    resume: Sequence[str] = (),
) -> Run:
    """Start a run, or continue the one in `folder` if its configuration is the same; its flops may grow.

    Args:
        game: Leduc poker or hold'em.
        strategy: The checksum of the strategy, or the name of a player.
        flops: Number of flops to draw; None: all, for an exact result.
        seed: Of the order of flops.
        folder: The run folder; None: the next free `runs/GAME-exploit-001`.
        resume: The words of the command that continues the run, without the folder.
    """
    at_least("seed", seed, 0)
    every = flops_in(game)
    if flops is not None:
        at_least("flops", flops, MIN_FLOPS)
    config = {
        "command": COMMAND,
        "with": METHOD,
        "game": full_name(game),
        "strategy": absolute_label(strategy),
        "flops": every if flops is None else min(flops, every),
        "seed": seed,
    }
    if resume:
        config[RESUME] = list(resume)
    return Run.create_or_resume(folder, f"{game.name}-{COMMAND}", as_kept(folder, config), may_grow=("flops",))


def is_exact_run(folder: Path) -> bool:
    """Whether a folder holds a run of an exact best response."""
    if not (folder / "config.json").is_file():
        return False
    config = Run(folder).config()
    return (config.get("command"), config.get("with")) == (COMMAND, METHOD)


def exploit_run(run: Run, response: PublicBestResponse, report: Reporter = SILENT) -> Measured:
    """Visit the flops of a run that are left, and measure. What is raised after Ctrl-C: see `steps`."""
    with run.lock():
        found: Measured = steps(Visiting(run, response), report)
    return found


def read_run(folder: Path) -> Measured:
    """What a run has found so far, without the strategy.

    Raises:
        BadInput: It holds no such run, nothing was visited yet, or a file is damaged.
    """
    if not is_exact_run(folder):
        raise BadInput(f"{folder} holds no run of kibitz exploit --with exact")
    run = Run(folder)
    if not run.path(STATE_FILE).exists():
        raise BadInput(f"{folder} has visited no flops yet")
    work = Visiting(run, None)
    work.restore()
    return work.measured()


class Visiting(Work):
    """A run being measured: the flops in their order, and the values of those visited."""

    run: Run
    save_seconds, logs = 30.0, False

    def __init__(self, run: Run, response: PublicBestResponse | None) -> None:
        super().__init__(run, 0)
        self.response, self.config = response, run.config()
        with readable(run.path("config.json"), "configuration"):
            check_fits(self.config, {"game": str, "strategy": str, "flops": int, "seed": int})
        self.game: Any = load_stored(self.config["game"])
        self.cards = cards_of(self.game)
        self.tree = betting_tree(self.game, self.cards)
        self.spent = self._before = 0.0  # seconds of all flops so far; those of earlier calls
        self._visits: Iterator[np.ndarray] | None = None

    def restore(self) -> bool:
        there = self.response is None or self.run.path(STATE_FILE).exists()
        if there:
            self._restore()
        else:
            self._start()
        self.total, self._before = len(self.wanted), self.spent
        return there

    def _draw(self, weights: np.ndarray) -> None:
        """Draw the order of flops, of which some are alike and have a common weight."""
        self.weights, self.orders = weights, draw_orders(weights, self.config["seed"])
        draws = self.orders.size if self.config["flops"] >= weights.sum() else self.config["flops"]
        self.wanted, self.order = visits(self.orders, draws), visits(self.orders, self.orders.size)

    def _start(self) -> None:
        assert self.response is not None
        response, hands = self.response, len(self.cards.hands)
        self._draw(np.array([len(flop.images) for flop in response.flops], np.int64))
        self.ends, self.all_in_ends = response.ends, response.all_in_ends
        self.first_street = response.first_street_probs()
        memory.check(
            16 * len(self.wanted) * len(self.ends) * hands,
            f"the values of {len(self.wanted):,} classes of flops",
            "name fewer --flops",
        )
        self.flops = np.zeros((len(self.wanted), 2, len(self.ends), hands), np.float32)
        self.all_in = response.all_in()

    def step(self) -> None:
        """Visit the next flop."""
        assert self.response is not None
        if self._visits is None:
            self._visits = self.response.visits(self.wanted[self.done :].tolist())
        self.flops[self.done] = next(self._visits)
        self.done += 1
        self.spent = self._before + self.seconds

    def note(self) -> str:
        return f"{self.rate:.3g} flops/s" if self.done > self.start else ""

    def result(self) -> Measured:
        found = self.measured()
        if self.done > self.start and not math.isnan(found.nash_conv.mean):
            self.run.log_times(iteration=self.done, flops_per_second=round(self.rate, 4))
            self.run.log(iteration=self.done, **{"nash_conv" if found.exact else "lower_bound": found.nash_conv.mean})
        about = self.run.config() | found.as_json() | {"wanted": self.total}
        self.run.write(RESULT, json.dumps(about, indent=2) + "\n")
        return found

    def save(self) -> None:
        """Write all that is known, at once."""
        tensors = {
            "flops": self.flops[: self.done],
            "all_in": self.all_in,
            "first_street": self.first_street,
            "ends": self.ends,
            "all_in_ends": self.all_in_ends,
            "weights": self.weights,
        }
        STATE.write(self.run.path(STATE_FILE), tensors, seconds=self.spent, **self._own())

    def _own(self) -> dict[str, Any]:
        """By which it knows its file."""
        return {key: self.config[key] for key in ("game", "strategy", "seed")}

    def _restore(self) -> None:
        path = self.run.path(STATE_FILE)
        decisions, hands, most = len(decisions_of(self.tree)), len(self.cards.hands), self.tree.most
        tensors, about = STATE.read(path, same=self._own(), decisions=decisions, hands=hands, most=most)
        with readable(path, STATE.what):
            found = tensors["flops"]
            if (tensors["weights"] < 1).any() or tensors["weights"].sum() != flops_in(self.game):
                raise ValueError("its flops aren't those of the game")
            self._draw(tensors["weights"])
            if len(found) > len(self.order):
                raise ValueError(f"it has {len(found):,} classes of flops, and there are {len(self.order):,}")
            self.done, self.spent = len(found), float(about["seconds"])
            self.flops = np.zeros((max(len(found), len(self.wanted)), *found.shape[1:]), np.float32)
            self.flops[: self.done] = found
            self.all_in, self.first_street = tensors["all_in"], tensors["first_street"]
            self.ends, self.all_in_ends = tensors["ends"], tensors["all_in_ends"]

    def measured(self) -> Measured:
        """The exact result after all flops, else the lower bound of a sample."""
        street = FirstStreet(self.tree, self.cards, self.first_street)
        known = street.known.copy()
        for way, node in enumerate(self.all_in_ends.tolist()):
            known[:, street.place[node]] = self.all_in[:, way] / self._boards(int(self.tree.street[node]))
        ends = np.array([street.place[node] for node in self.ends.tolist()], np.int64)
        values = FlopValues(
            street, known, ends, self.flops[: self.done], self.order[: self.done], self.weights, self._boards(1)
        )
        every, exact = len(self.order), self.done == len(self.order)
        if exact:
            first, second = values.best().tolist()
            both = Estimate(first + second, first + second, first + second)
            return Measured(True, self.done, every, 0, (first, second), both, self.spent)
        found = values.split(self.orders)
        first, second = found.best.tolist()
        return Measured(False, self.done, every, found.drawn, (first, second), found.nash_conv, self.spent)

    def _boards(self, street: int) -> float:
        """How many boards can follow two hands until a street."""
        cards = self.cards
        return float(math.comb(cards.deck - 2 * cards.hole, cards.dealt[street])) if cards.streets > street else 1.0
