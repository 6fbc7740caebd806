"""Self-play in batches: all games of a part move at the same time, and the network answers for all of them at once.

Kernels play chance, encode and draw actions (`side_by_side`); between them torch evaluates the network, on any device.
Samples don't depend on how the games are spread over threads.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch

from ...games import Game
from ...jit import kernel
from ..torch_mlp import BANNED
from .side_by_side import CHANCE_SINCE, SAMPLED, SideBySide

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
        self, game: Game, count: int, all_views: bool, device: torch.device, traced: bool = False, explore: float = 0.0
    ) -> None:
        """`traced`: whether its batches have a trace; `explore`: share of actions that are drawn uniformly."""
        self.traced, self.explore, self.device = traced, explore, device
        self.games = SideBySide(game, count, all_views, traced)

    def play(self, streams: np.ndarray, evaluate: Evaluate, known: int | None = None) -> Batch:
        """Play all games to the end.

        Args:
            streams: [games, 2] u8, the random state of each.
            evaluate: The policy.
            known: Number of actions, from 0 on, that the policy knows; at the others the game's heuristic plays.
        """
        games = self.games
        games.begin()
        rows: list[tuple[Any, ...]] = []
        traces: list[tuple[np.ndarray, ...]] = []
        while count := games.advance(streams):
            # Copies: the buffers are written again in the next round.
            seen, may = (torch.tensor(each[:count], device=self.device) for each in (games.encodings, games.legal))
            log_probs = self.by_infoset(evaluate, seen, may) if self.traced else evaluate(seen, may)
            if known is not None:
                played = log_probs.cpu().numpy().copy()
                imitate(games.game, games.states, streams, games.live, count, known, played, games.scratch)
                log_probs = torch.tensor(played, device=self.device)
            live, turns = games.live[:count].copy(), games.turns[:count].copy()
            if self.traced:
                infosets, reach_probs = games.infosets[:count].copy(), games.reach_probs[live]
                wanted = reach_probs[np.arange(count), 2 + turns]
                traces.append(
                    (games.histories[live], infosets, reach_probs[:, CHANCE_SINCE], reach_probs[:, SAMPLED], wanted)
                )
            games.act(streams, log_probs.cpu().numpy(), self.explore)
            chosen = torch.tensor(games.chosen[:count], device=self.device)
            rows.append((seen, may, log_probs, chosen, live, turns))
        encodings, legal, said, actions, numbers, seats = zip(*rows, strict=True)
        trace = None
        if self.traced:
            histories, infosets, chances, sampled, reached = map(np.concatenate, zip(*traces, strict=True))
            ends, end_chances = games.histories.copy(), games.reach_probs[:, CHANCE_SINCE].copy()
            trace = Trace(histories, infosets, chances, sampled, reached, ends, end_chances)
        return Batch(
            torch.cat(encodings), torch.cat(legal), torch.cat(said), torch.cat(actions), np.concatenate(numbers),
            np.concatenate(seats), games.payoffs.copy(), trace,
        )  # fmt: skip

    def by_infoset(self, evaluate: Evaluate, seen: torch.Tensor, may: torch.Tensor) -> torch.Tensor:
        """Evaluate the network once per infoset."""
        _, first, which = np.unique(self.games.infosets[: len(seen)], return_index=True, return_inverse=True)
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
