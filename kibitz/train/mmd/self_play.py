"""Self-play in batches: all games of a part move at the same time, and the network answers for all of them at once.

Kernels play chance, encode and draw actions (`side_by_side`); between them torch evaluates the network, on any device.
Samples don't depend on how the games are spread over threads.

On a CPU many parts are played at the same time, a core each. For a GPU batches have to be large, so that there are two
parts: all cores play the one (`slices`) while the GPU evaluates the other.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from ...games import Game
from ...jit import kernel
from ...nets.torch_mlp import BANNED
from ..packing import unpacker
from .side_by_side import CHANCE_SINCE, SAMPLED, SideBySide
from .slices import Slices
from .transfer import Transfer

INPUTS = {"encodings": torch.float32, "legal": torch.bool, "bits": torch.uint8}  # arrays of `SideBySide`
Evaluate = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]  # encodings, legal -> log-probabilities


class Batch(NamedTuple):
    """Decisions of many games, in the order in which each game makes them."""

    encodings: torch.Tensor  # [rows, seats seen x encoding] f4: the mover's view first, then those of the next seats
    legal: torch.Tensor  # [rows, actions] bool
    log_probs: torch.Tensor  # [rows, actions] f4: the policy that played
    actions: torch.Tensor  # [rows] i8
    games: np.ndarray  # [rows] i4
    seats: np.ndarray  # [rows] i1
    payoffs: np.ndarray  # [games, seats] f8
    trace: "Trace | None" = None


class Trace(NamedTuple):
    """What tells which decisions of a batch are the same, and how likely they were."""

    histories: np.ndarray  # [rows] u8: a hash of all that has happened
    infosets: np.ndarray  # [rows] u8: the mover's infoset
    chances: np.ndarray  # [rows] f8: probability of chance since the game's last decision
    sampled: np.ndarray  # [rows] f8: probability of playing to here
    reached: np.ndarray  # [rows] f8: the same if the mover wants to come here: of chance and the others' policy
    ends: np.ndarray  # [games] u8: the hash at the end of the game
    end_chances: np.ndarray  # [games] f8


class Part:
    """Games that are played side by side, again and again."""

    def __init__(
        self,
        game: Game,
        count: int,
        all_views: bool,
        device: torch.device,
        traced: bool = False,
        explore: float = 0.0,
        packed: bool = False,
        slices: int = 1,
    ) -> None:
        """
        Args:
            game: The game.
            count: Number of games.
            all_views: Whether the views of all seats are encoded, or the mover's alone.
            device: Where the network is.
            traced: Whether batches have a trace.
            explore: Share of actions that are drawn uniformly.
            packed: Whether encodings, all of 0 and 1, go to the device as bits.
            slices: Into how many threads the games are spread while no network is asked.
        """
        self.traced, self.explore, self.device, self.packed = traced, explore, device, packed
        self.games = Slices(lambda size: SideBySide(game, size, all_views, traced, packed), count, slices)
        first, self.actions = self.games.slices[0], game.facts.num_actions
        self.inputs = first.inputs
        self.unpack = unpacker(np.zeros(self.inputs + self.actions, np.uint8), device)
        self.sent = {
            name: Transfer(device, count, getattr(first, name).shape[1], dtype)
            for name, dtype in INPUTS.items()
            if (name == "bits") == packed
        }
        self.answers = Transfer(device, count, self.actions, torch.float32)

    def __len__(self) -> int:
        """Number of games."""
        return self.games.games[-1].stop

    def play(self, streams: np.ndarray, evaluate: Evaluate, known: int | None = None) -> Batch:
        """Play all games to the end.

        Args:
            streams: [games, 2] u8, the random state of each.
            evaluate: The policy.
            known: Number of actions, from 0 on, that the policy knows; at the others the game's heuristic plays.
        """
        games = self.games
        games.begin()
        inputs: list[tuple[torch.Tensor, ...]] = []
        rows: list[tuple[Any, ...]] = []
        traces: list[tuple[np.ndarray, ...]] = []
        left = games.advance(streams)
        while left:
            # Copies: the buffers are written again in the next round.
            inputs.append(tuple(transfer.send(games.by_row(name)) for name, transfer in self.sent.items()))
            seen, may = self.unpacked(inputs[-1])
            log_probs = self.by_infoset(evaluate, seen, may) if self.traced else evaluate(seen, may)
            said = self.answers.fetch(log_probs)
            if known is not None:
                said = said.copy()
                for one, its, part in zip(games.slices, games.games, games.row_slices(), strict=True):
                    imitate(one.game, one.states, streams[its], one.live, one.count, known, said[part], one.scratch)
                log_probs = torch.tensor(said, device=self.device)
            live, turns = games.live(), np.concatenate(games.by_row("turns"))
            if self.traced:
                infosets = np.concatenate(games.by_row("infosets"))
                histories, reach_probs = games.by_game("histories")[live], games.by_game("reach_probs")[live]
                wanted = reach_probs[np.arange(left), 2 + turns]
                traces.append((histories, infosets, reach_probs[:, CHANCE_SINCE], reach_probs[:, SAMPLED], wanted))
            chosen, left = games.play(streams, said, self.explore)
            rows.append((log_probs, chosen, live, turns))
        policies, actions, numbers, seats = zip(*rows, strict=True)
        encodings, legal = self.unpacked([torch.cat(column) for column in zip(*inputs, strict=True)])
        trace = None
        if self.traced:
            histories, infosets, chances, sampled, reached = map(np.concatenate, zip(*traces, strict=True))
            ends, end_chances = games.by_game("histories"), games.by_game("reach_probs")[:, CHANCE_SINCE].copy()
            trace = Trace(histories, infosets, chances, sampled, reached, ends, end_chances)
        return Batch(
            encodings, legal, torch.cat(policies), torch.from_numpy(np.concatenate(actions)).to(self.device),
            np.concatenate(numbers), np.concatenate(seats), games.by_game("payoffs"), trace,
        )  # fmt: skip

    def unpacked(self, sent: Sequence[torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
        """Encodings and legal actions, of what was sent to the device."""
        if not self.packed:
            encodings, legal = sent
            return encodings, legal
        numbers = self.unpack(sent[0])
        return numbers[:, : self.inputs].contiguous(), numbers[:, self.inputs :].bool()

    def by_infoset(self, evaluate: Evaluate, seen: torch.Tensor, may: torch.Tensor) -> torch.Tensor:
        """Evaluate the network once per infoset."""
        infosets = np.concatenate(self.games.by_row("infosets"))
        _, first, which = np.unique(infosets, return_index=True, return_inverse=True)
        at, of = (torch.from_numpy(each).to(self.device) for each in (first, which))
        return evaluate(seen[at], may[at])[of]


def batch_of(samples: dict[str, np.ndarray], device: torch.device) -> Batch:
    """A batch of plain arrays with the names of its fields, without a trace."""
    on_device = ("encodings", "legal", "log_probs", "actions")
    given: dict[str, Any] = {
        name: torch.from_numpy(each).to(device) if name in on_device else each for name, each in samples.items()
    }
    return Batch(**given)


def joined(parts: list[Batch]) -> Batch:
    """One batch of several: their games are numbered on."""
    if len(parts) == 1:
        return parts[0]
    first = np.cumsum([0, *(len(part.payoffs) for part in parts[:-1])])
    traces = [part.trace for part in parts if part.trace]
    games = [part.games + start for part, start in zip(parts, first, strict=True)]
    return Batch(
        encodings=torch.cat([part.encodings for part in parts]),
        legal=torch.cat([part.legal for part in parts]),
        log_probs=torch.cat([part.log_probs for part in parts]),
        actions=torch.cat([part.actions for part in parts]),
        games=np.concatenate(games).astype(np.int32),
        seats=np.concatenate([part.seats for part in parts]),
        payoffs=np.concatenate([part.payoffs for part in parts]),
        trace=Trace(*map(np.concatenate, zip(*traces, strict=True))) if traces else None,
    )


@kernel
def imitate(game, states, streams, live, count, known, log_probs, actions):
    """Where no legal action is among the first `known`, write the policy that plays the game's heuristic."""
    for k in range(count):
        i = live[k]
        n, unknown = game.actions(states[i], actions), True
        for j in range(n):
            unknown = unknown and actions[j] >= known
        if unknown:
            chosen = game.heuristic(states[i], streams[i])
            for j in range(n):
                log_probs[k, actions[j]] = 0.0 if actions[j] == chosen else BANNED
