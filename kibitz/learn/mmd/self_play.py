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
from ...jit import helper, kernel, mix, uniform
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
        facts = game.facts
        self.traced, self.explore = traced, explore
        self.game, self.device, self.views = game, device, facts.seats if all_views else 1
        self.opening, self.states = positions(game, count), np.zeros(count, game.state)
        self.live = np.zeros(count, np.int32)
        self.turns = np.zeros(count, np.int8)
        self.encodings = np.zeros((count, self.views * facts.encoding), np.float32)
        self.legal = np.zeros((count, facts.num_actions), bool)
        self.chosen = np.zeros(count, np.int64)
        self.payoffs = np.zeros((count, facts.seats))
        self.scratch = np.zeros(max(facts.num_actions, facts.max_chance_outcomes), np.int64)
        self.probs = np.zeros(len(self.scratch))
        self.histories = np.zeros(count, np.uint64)
        self.infosets = np.zeros(count, np.uint64)
        self.reach_probs = np.ones((count, 2 + facts.seats))  # see CHANCE_SINCE

    def play(self, streams: np.ndarray, evaluate: Evaluate, known: int | None = None) -> Batch:
        """Play all games to the end.

        Args:
            streams: [games, 2] u8, the random state of each.
            evaluate: The policy.
            known: Number of actions, from 0 on, that the policy knows; at the others the game's heuristic plays.
        """
        self.states[:] = self.opening
        self.live[:] = np.arange(len(self.live))
        self.histories[:], self.reach_probs[:] = 0, 1
        rows: list[tuple[Any, ...]] = []
        traces: list[tuple[np.ndarray, ...]] = []
        count = len(self.live)
        while True:
            count = advance(
                self.game, self.states, streams, self.live, count, self.views, self.turns, self.encodings, self.legal,
                self.payoffs, self.scratch, self.traced, self.probs, self.histories, self.infosets, self.reach_probs,
            )  # fmt: skip
            if not count:
                break
            if len(rows) == self.game.facts.max_game_length:
                raise BadInput(TOO_LONG)
            # Copies: the buffers are written again in the next round.
            seen, may = (torch.tensor(each[:count], device=self.device) for each in (self.encodings, self.legal))
            log_probs = self.by_infoset(evaluate, seen, may) if self.traced else evaluate(seen, may)
            if known is not None:
                played = log_probs.cpu().numpy().copy()
                imitate(self.game, self.states, streams, self.live, count, known, played, self.scratch)
                log_probs = torch.tensor(played, device=self.device)
            live, turns = self.live[:count].copy(), self.turns[:count].copy()
            if self.traced:
                infosets, reach_probs = self.infosets[:count].copy(), self.reach_probs[live]
                wanted = reach_probs[np.arange(count), 2 + turns]
                traces.append(
                    (self.histories[live], infosets, reach_probs[:, CHANCE_SINCE], reach_probs[:, SAMPLED], wanted)
                )
            act(
                self.game, self.states, streams, self.live, count, log_probs.cpu().numpy(), self.scratch, self.chosen,
                self.explore, self.turns, self.histories, self.reach_probs,
            )  # fmt: skip
            chosen = torch.tensor(self.chosen[:count], device=self.device)
            rows.append((seen, may, log_probs, chosen, live, turns))
        encodings, legal, said, actions, games, seats = zip(*rows, strict=True)
        trace = None
        if self.traced:
            histories, infosets, chances, sampled, reached = map(np.concatenate, zip(*traces, strict=True))
            ends, end_chances = self.histories.copy(), self.reach_probs[:, CHANCE_SINCE].copy()
            trace = Trace(histories, infosets, chances, sampled, reached, ends, end_chances)
        return Batch(
            torch.cat(encodings), torch.cat(legal), torch.cat(said), torch.cat(actions), np.concatenate(games),
            np.concatenate(seats), self.payoffs.copy(), trace,
        )  # fmt: skip

    def by_infoset(self, evaluate: Evaluate, seen: torch.Tensor, may: torch.Tensor) -> torch.Tensor:
        """Evaluate the network once per infoset."""
        _, first, which = np.unique(self.infosets[: len(seen)], return_index=True, return_inverse=True)
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


# Places in `reach_probs`: the probability of chance since the last decision; that of playing to here; from the third
# place on that of coming here if a seat wants to, by seat.
CHANCE_SINCE, SAMPLED = 0, 1


@kernel
def advance(
    game, states, streams, live, count, views, turns, encodings, legal, payoffs, actions, traced, probs, histories,
    infosets, reach_probs,
):  # fmt: skip
    """Play chance in each live game up to its next decision, which is encoded; return how many games are still live."""
    left, width, seats = 0, encodings.shape[1] // views, payoffs.shape[1]
    for k in range(count):
        i = live[k]
        state, rng = states[i], streams[i]
        turn = game.turn(state)
        while turn == CHANCE:
            outcome = game.sample_action(state, rng)
            if traced:
                n = game.actions(state, actions)
                game.chance_probs(state, actions, n, probs)
                for j in range(n):
                    if actions[j] == outcome:
                        reach_probs[i] *= probs[j]
                histories[i] = mix(histories[i], outcome)
            game.play(state, outcome)
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
        if traced:
            infosets[left] = mix(game.infoset(state, turn), turn)
        live[left] = i
        turns[left] = turn
        left += 1
    return left


@kernel
def act(game, states, streams, live, count, log_probs, actions, chosen, explore, turns, histories, reach_probs):
    """Draw an action of each live game by the policy, or sometimes uniformly, and play it."""
    for k in range(count):
        i = live[k]
        n = game.actions(states[i], actions)
        action = actions[draw_by_log(log_probs[k], actions, n, explore, streams[i])]
        chosen[k] = action
        prob = np.exp(np.float64(log_probs[k, action]))
        reach_probs[i, CHANCE_SINCE] = 1
        reach_probs[i, SAMPLED] *= (1 - explore) * prob + explore / n
        for seat in range(reach_probs.shape[1] - 2):
            if seat != turns[k]:
                reach_probs[i, 2 + seat] *= prob
        histories[i] = mix(histories[i], action)
        game.play(states[i], action)


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
def draw_by_log(log_probs, actions, n, explore, rng):
    left = uniform(rng)
    for j in range(n - 1):
        left -= (1 - explore) * np.exp(np.float64(log_probs[actions[j]])) + explore / n
        if left < 0:
            return j
    return n - 1
