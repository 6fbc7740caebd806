"""An exact best response to a network in hold'em, which is queried for every hand on every board, street by street.

A network may play differently after a permutation of suits, so every board is looked at.
"""

import math
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from ...core import memory
from ...games import CHANCE, full_name, positions
from ...nets.mlp import Layers, encode
from ...solve.regrets import matched
from ...train.deep_cfr.networks import PLAIN, Model, Shape, above, layer, on_bets, on_cards
from ..gpu.public_best_response import Dealt, PublicBestResponse, flop_classes
from ..gpu.public_streets import Pair, Street, first_entries
from ..rules.cards import HoldemCards
from ..rules.state import HIDDEN
from ..solve.betting_tree import BettingTree, betting_tree
from ..solve.buckets import Buckets
from ..solve.first_street import decisions_of
from ..solve.strategy import TableStrategy

ROWS = {"cpu": 2**15, "cuda": 2**20}  # views at once
NOTHING = np.zeros(0)


class TorchPolicy:
    """The policy of a network, a perceptron or one of Deep CFR, on a device.

    A view's inputs are those of its cards plus those of its bets. So what the lowest layers make of either is computed
    once, and added where they meet, for each pair. On a GPU the layers from there on are compiled, and in half
    precision, which has as many digits as TF32: reading and writing what is between them takes most of the time.
    """

    def __init__(self, network: Layers | Model, threshold: float = 0.0, device: str = "cpu") -> None:
        self.threshold, self.average, self.fallback = threshold, "network", ""
        if isinstance(network, Model):
            self.shape, self.average, self.fallback = network.shape, network.average, network.fallback
            seats = [seat[0] for seat in network.seats]
        else:
            sizes = [len(biases) for _, biases in network]
            self.shape = Shape(PLAIN, len(network[0][0]), tuple(sizes[:-1]), sizes[-1], "none", False)
            names = list(self.shape.layers())
            seats = [
                {f"{name}.{part}": array for name, each in zip(names, network, strict=True) for part, array in
                 zip(("weights", "biases"), each, strict=True)}
            ] * 2  # fmt: skip
        on_gpu = device.startswith("cuda")
        self.dtype = torch.float16 if on_gpu else torch.float32
        self.weights = [
            {name: torch.from_numpy(array).to(device, self.dtype) for name, array in seat.items()} for seat in seats
        ]
        self._outputs = torch.compile(self._logits, dynamic=True) if on_gpu else self._logits

    def of_cards(self, seat: int, shown: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor | None]:
        """What the first layer of the body gets from cards [rows, inputs], and that of the bets, if it gets any."""
        weights, shape, shown = self.weights[seat], self.shape, shown.to(self.dtype)
        with torch.no_grad():
            if shape.kind == PLAIN:
                return self._first(weights, shown), None
            made = shown[:, math.prod(shape.deck) :]  # features of the made hand are among the inputs of the bets
            below = on_cards(shape, weights, shown) @ weights["body.0.weights"][: shape.hidden[0]]
            return below, made @ weights["bet.0.weights"] if bool(made.any()) else None

    def probs(
        self, seat: int, cards: tuple[torch.Tensor, torch.Tensor | None], bets: torch.Tensor, legal: list[int]
    ) -> torch.Tensor:
        """[bets, cards, legal actions]: probabilities, for bets [bets, inputs] and what `of_cards` made of cards."""
        with torch.no_grad():
            outputs = self._outputs(self.weights[seat], *cards, bets.to(self.dtype)).float()[..., legal]
            probs = torch.softmax(outputs, -1) if self.average == "network" else self._matched(outputs)
            probs = torch.where(probs < self.threshold * probs.amax(-1, keepdim=True), 0.0, probs)
            return probs / probs.sum(-1, keepdim=True)

    def _logits(
        self, weights: Mapping[str, Any], below: torch.Tensor, made: torch.Tensor | None, bets: torch.Tensor
    ) -> Any:
        """[bets, cards, actions]: the network's outputs."""
        shape = self.shape
        if shape.kind == PLAIN:
            first = self._first(weights, bets)[:, None] + below
        elif made is None:
            first = (on_bets(shape, weights, bets) @ weights["body.0.weights"][shape.hidden[0] :])[:, None] + below
        else:
            lowest = bets[:, math.prod(shape.deck) :] @ weights["bet.0.weights"] + weights["bet.0.biases"]
            second = layer(shape, weights, "bet.1", (lowest[:, None] + made).clamp_min(0))
            first = second @ weights["body.0.weights"][shape.hidden[0] :] + below
        return above(shape, weights, (first + weights["body.0.biases"]).clamp_min(0))

    def _first(self, weights: Mapping[str, Any], inputs: torch.Tensor) -> Any:
        """The first layer of a plain network, without biases."""
        matrix = weights["body.0.weights"]
        skipped = self.shape.skips and matrix.shape[0] == matrix.shape[1]
        return inputs @ matrix + (inputs if skipped else 0)

    def _matched(self, advantages: torch.Tensor) -> torch.Tensor:
        """Regret matching, where nothing is positive as the model says."""
        if self.fallback != "argmax":
            return matched(advantages)  # type: ignore[no-any-return]
        best = torch.nn.functional.one_hot(advantages.argmax(-1), advantages.shape[-1]).to(advantages.dtype)
        return matched(advantages, best)  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Queried(Buckets):
    """A bucket for each hand on each board that is looked at together, filled when it is asked for."""

    query: Callable[[np.ndarray, int], np.ndarray]

    def of(self, boards: np.ndarray, street: int) -> np.ndarray:
        return self.query(boards, street)


class NetworkBestResponse(PublicBestResponse):
    """Visits classes of flops in Flop Hold'em, single flops in longer games.

    The table holds the network's answers on the boards that are looked at: when the next ones are, it is written anew.
    """

    prepares_ahead = False

    def __init__(self, game: Any, policy: TorchPolicy, seen: Any, device: str = "cpu") -> None:
        """`seen` is the game by whose rules views are encoded."""
        cards = HoldemCards(game)
        self.policy, self.seen, self.tree, self.codes = policy, seen, betting_tree(game, cards), cards.codes
        self._on_gpu = device.startswith("cuda")
        self._on: dict[int, np.ndarray] = {}  # street -> the boards whose answers are in the table
        together = [1, len(cards.suit_orders)] + [cards.deck - dealt for dealt in cards.dealt[1:-1]]
        counts = tuple(len(cards.hands) * each for each in together[: cards.streets])
        decisions = np.flatnonzero(self.tree.choices)
        entries = int((self.tree.choices[decisions] * np.array(counts)[self.tree.street[decisions]]).sum())
        if device == "cpu":
            memory.check(8 * entries, f"a best response in {full_name(game)}", "use --device cuda, or --with lbr")
        buckets = Queried(cards, (), (), counts, self._query)
        super().__init__(TableStrategy(game, self.tree, buckets, NOTHING, NOTHING), device)
        self._all = (0,)  # boards that a permutation of suits makes equal aren't
        self._bets_follow = True  # on the boards that are looked at
        self.first = first_entries(self.root, np.zeros(len(self.tree.seat), np.int64))
        self.states = states_of(game, self.tree, cards)
        self.bets = self._encoded(self.states[decisions])  # [decisions, inputs]
        self.place = {int(node): i for i, node in enumerate(decisions)}
        if cards.streets > 2:
            self.flops = [
                Dealt(cards.permuted(flop.board, cards.suit_orders[image]), (0,), (0,))
                for flop in flop_classes(cards)
                for image in flop.images
            ]

    def _fill(self, street: Street) -> None:
        """Nothing is known before boards are queried."""

    def first_street_probs(self) -> np.ndarray:
        self._bets_follow = True
        self._query(np.zeros((1, 0), np.int64), 0)
        hands, found = len(self.cards.hands), []
        for node in decisions_of(self.tree):
            n = int(self.tree.choices[node])
            probs = self.table[self.first[node] :][: hands * n].view(hands, n).double().cpu().numpy()
            found.append(np.pad(probs, ((0, 0), (0, self.tree.most - n))))
        return np.stack(found)

    def visit(self, number: int) -> np.ndarray:
        flop, cards = self.flops[number], self.cards
        boards = [Dealt(cards.permuted(flop.board, cards.suit_orders[i]), (0,), (0,)) for i in flop.images]
        found = [
            self._boards(below, self._reach_of(place), boards)
            for place, (below, _) in enumerate(self.root.below)
            if below.number == 1
        ]
        return self._gathered(found)

    def _boards(self, street: Street, reach: Pair, boards: list[Dealt], ready: Future | None = None) -> Pair:
        self._bets_follow = any(node.seat >= 0 for node in street.nodes)
        return super()._boards(street, reach, boards, ready)

    def _query(self, boards: np.ndarray, street: int) -> np.ndarray:
        """[boards, hands]: places in the table, after the network was queried at all decisions of the street."""
        hands, tree = len(self.cards.hands), self.tree
        places = np.arange(len(boards) * hands).reshape(len(boards), hands)
        nodes = np.flatnonzero((tree.street == street) & (tree.choices > 0))
        if not self._bets_follow or not len(nodes) or np.array_equal(self._on.get(street, NOTHING), boards):
            return places
        assert places.size <= self.strategy.buckets.counts[street]
        self._on[street] = boards
        board, hand = np.nonzero(np.stack([self.cards.free(each) for each in boards]))
        at = torch.from_numpy(places[board, hand]).to(self.device)
        shown = self._cards(int(nodes[0]), boards[board], hand)
        kinds: dict[tuple[int, ...], list[int]] = {}  # seat and legal actions -> nodes
        for node in nodes.tolist():
            actions = tree.actions[node, : tree.choices[node]].tolist()
            kinds.setdefault((int(tree.seat[node]), *actions), []).append(node)
        self._ask(kinds, shown, at, self.strategy.buckets.counts[street])
        return places

    def _ask(self, kinds: dict[tuple[int, ...], list[int]], shown: torch.Tensor, at: torch.Tensor, count: int) -> None:
        """Write the answers at nodes, for cards that are shown, to their places among the `count` of each node."""
        most = ROWS["cuda" if self._on_gpu else "cpu"]
        for begin in range(0, len(at), most):
            rows = slice(begin, begin + most)
            cards = [self.policy.of_cards(seat, shown[rows]) for seat in (0, 1)]
            together = max(1, most // len(at[rows]))
            for (seat, *legal), same in kinds.items():
                for start in range(0, len(same), together):
                    part = same[start : start + together]
                    bets = self.bets[[self.place[node] for node in part]]
                    for node, found in zip(part, self.policy.probs(seat, cards[seat], bets, legal), strict=True):
                        entries = self.table[self.first[node] :][: count * len(legal)]
                        entries.view(-1, len(legal))[at[rows]] = found

    def _cards(self, node: int, boards: np.ndarray, hands: np.ndarray) -> torch.Tensor:
        """[rows, inputs]: the inputs that boards and hands add to those of bets."""
        views = np.zeros(len(hands), self.states.dtype)
        views[:] = self.states[node]
        codes = self.codes[boards]
        codes[:, :3] = -np.sort(-codes[:, :3], axis=1)  # a flop is in descending order
        views["board"][:, : codes.shape[1]] = codes
        views["hole"][:, self.tree.seat[node]] = self.codes[self.cards.hands[hands]]
        return self._encoded(views) - self.bets[self.place[node]]

    def _encoded(self, views: np.ndarray) -> torch.Tensor:
        found = np.zeros((len(views), self.seen.facts.encoding), np.float32)
        encode(self.seen, views, found)
        return torch.from_numpy(found).to(self.device)


def states_of(game: Any, tree: BettingTree, cards: HoldemCards) -> np.ndarray:
    """[nodes]: positions with the bets of each node, all cards hidden."""
    found, deal = np.zeros(len(tree.seat), game.state), cards.two_deals()[0]

    def visit(node: int, state: Any) -> None:
        while game.turn(state) == CHANCE:
            game.play(state, deal[state.dealt])
        found[node] = state
        for place in range(int(tree.choices[node])):
            after = state.copy()
            game.play(after, int(tree.actions[node, place]))
            visit(int(tree.child[node, place]), after)

    visit(0, positions(game)[0])
    found["hole"], found["board"] = HIDDEN, HIDDEN
    return found
