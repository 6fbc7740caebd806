"""Self-play in batches: all games of a part move at the same time, and the network answers for all of them at once.

Kernels play chance, encode and draw actions; between them torch evaluates the network, on any device. Every game has a
random stream of its own, so that samples don't depend on how the games are spread over threads.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch

from ...core.names import BadInput
from ...games import CHANCE, OVER, Game, positions
from ...games.protocol import NO_SEAT, TOO_LONG, TOO_MANY_ACTIONS
from ...jit import helper, kernel, uniform
from ..torch_mlp import BANNED

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


class Part:
    """Games that are played side by side, again and again."""

    def __init__(self, game: Game, count: int, all_views: bool, device: torch.device) -> None:
        facts = game.facts
        self.game, self.device, self.views = game, device, facts.seats if all_views else 1
        self.opening, self.states = positions(game, count), np.zeros(count, game.state)
        self.live = np.zeros(count, np.int32)
        self.turns = np.zeros(count, np.int8)
        self.encodings = np.zeros((count, self.views * facts.encoding), np.float32)
        self.legal = np.zeros((count, facts.num_actions), bool)
        self.chosen = np.zeros(count, np.int64)
        self.payoffs = np.zeros((count, facts.seats))
        self.scratch = np.zeros(facts.num_actions, np.int64)

    def play(self, streams: np.ndarray, evaluate: Evaluate, known: int | None = None) -> Batch:
        """Play all games to the end.

        Args:
            streams: [games, 2] u8, the random state of each.
            evaluate: The policy.
            known: Number of actions, from 0 on, that the policy knows; at the others the game's heuristic plays.
        """
        self.states[:] = self.opening
        self.live[:] = np.arange(len(self.live))
        rows: list[tuple[Any, ...]] = []
        count = len(self.live)
        while True:
            count = advance(
                self.game, self.states, streams, self.live, count, self.views, self.turns, self.encodings, self.legal,
                self.payoffs, self.scratch,
            )  # fmt: skip
            if not count:
                break
            if len(rows) == self.game.facts.max_game_length:
                raise BadInput(TOO_LONG)
            # Copies: the buffers are written again in the next round.
            seen, may = (torch.tensor(each[:count], device=self.device) for each in (self.encodings, self.legal))
            log_probs = evaluate(seen, may)
            if known is not None:
                played = log_probs.cpu().numpy().copy()
                imitate(self.game, self.states, streams, self.live, count, known, played, self.scratch)
                log_probs = torch.tensor(played, device=self.device)
            act(self.game, self.states, streams, self.live, count, log_probs.cpu().numpy(), self.scratch, self.chosen)
            chosen = torch.tensor(self.chosen[:count], device=self.device)
            rows.append((seen, may, log_probs, chosen, self.live[:count].copy(), self.turns[:count].copy()))
        encodings, legal, said, actions, games, seats = zip(*rows, strict=True)
        return Batch(
            torch.cat(encodings), torch.cat(legal), torch.cat(said), torch.cat(actions), np.concatenate(games),
            np.concatenate(seats), self.payoffs.copy(),
        )  # fmt: skip


def joined(parts: list[Batch]) -> Batch:
    """One batch of several: their games are numbered on."""
    if len(parts) == 1:
        return parts[0]
    first = np.cumsum([0, *(len(part.payoffs) for part in parts[:-1])])
    games = [part.games + start for part, start in zip(parts, first, strict=True)]
    return Batch(
        encodings=torch.cat([part.encodings for part in parts]),
        legal=torch.cat([part.legal for part in parts]),
        log_probs=torch.cat([part.log_probs for part in parts]),
        actions=torch.cat([part.actions for part in parts]),
        games=np.concatenate(games).astype(np.int32),
        seats=np.concatenate([part.seats for part in parts]),
        payoffs=np.concatenate([part.payoffs for part in parts]),
    )


@kernel
def advance(game, states, streams, live, count, views, turns, encodings, legal, payoffs, actions):
    """Play chance in each live game up to its next decision, which is encoded; return how many games are still live."""
    left, width, seats = 0, encodings.shape[1] // views, payoffs.shape[1]
    for k in range(count):
        i = live[k]
        state, rng = states[i], streams[i]
        turn = game.turn(state)
        while turn == CHANCE:
            game.play(state, game.sample_action(state, rng))
            turn = game.turn(state)
        if turn == OVER:
            for seat in range(seats):
                payoffs[i, seat] = game.payoff(state, seat)
            continue
        if turn >= seats:
            raise BadInput(NO_SEAT)
        for view in range(views):
            game.observe(state, (turn + view) % seats, encodings[left, view * width : (view + 1) * width])
        for action in range(legal.shape[1]):
            legal[left, action] = False
        for j in range(game.actions(state, actions)):
            if actions[j] >= legal.shape[1]:
                raise BadInput(TOO_MANY_ACTIONS)
            legal[left, actions[j]] = True
        live[left] = i
        turns[left] = turn
        left += 1
    return left


@kernel
def act(game, states, streams, live, count, log_probs, actions, chosen):
    """Draw an action of each live game by the policy, and play it."""
    for k in range(count):
        i = live[k]
        n = game.actions(states[i], actions)
        chosen[k] = actions[draw_by_log(log_probs[k], actions, n, streams[i])]
        game.play(states[i], chosen[k])


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


@helper
def draw_by_log(log_probs, actions, n, rng):
    left = uniform(rng)
    for j in range(n - 1):
        left -= np.exp(np.float64(log_probs[actions[j]]))
        if left < 0:
            return j
    return n - 1
