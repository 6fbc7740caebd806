"""Hold'em in Deep CFR: its samples, its presets, and the defects of the thesis that concern it.

A view is kept as the 16 bytes of a hand: with three values and a weight a sample takes 32.
"""

from typing import Any

import numpy as np

from ...core.names import BadInput
from ...jit import kernel
from ...train.deep_cfr.config import PAPER
from ...train.deep_cfr.packing import Packing
from ...train.deep_cfr.traits import Traits
from ...train.packing import BYTE, Packed
from ..rules.encoding import CALLS_UNSEEN, HAND_CATEGORY, PACKED, by_street, pack, unpack

FEW_CARDS = 8  # in a deck that is small enough to compute NashConv exactly
MAX_RAISES = 5  # per street: the maximum of the rules


class HandPacking(Packing):
    """Packs views as hands."""

    def no_views(self) -> Packed:
        return Packed.empty(PACKED.itemsize, BYTE)

    def pack(self, states: np.ndarray, seat: int, encodings: np.ndarray) -> Packed:
        packed = np.zeros(len(states), PACKED)
        _pack_hands(states, seat, packed)
        return Packed(packed.view(np.uint8).reshape(len(states), PACKED.itemsize), self.no_views().columns)

    def unpack(self, views: Packed) -> np.ndarray:
        found = np.zeros((len(views), self.game.facts.encoding), np.float32)
        packed = np.ascontiguousarray(views.rows).view(PACKED).reshape(len(views))
        _encode_hands(self.game, packed, np.zeros(1, self.game.state), found)
        return found

    def unpacker(self, columns: np.ndarray, device: Any, shuffle: Any = None) -> Any:
        from .unpacking import unpacker

        return unpacker(self.game, device, shuffle)

    def streets(self, columns: np.ndarray, views: Any) -> Any:
        from .unpacking import streets

        return streets(views)


@kernel
def _pack_hands(states, seat, out):
    for i in range(len(states)):
        pack(states[i], seat, out[i])


@kernel
def _encode_hands(game, packed, room, out):
    for i in range(len(packed)):
        seat = unpack(game, packed[i], room[0])
        game.observe(room[0], seat, out[i])


class HoldemTraits(Traits):
    permutes_suits = True
    streets = True
    defects = ("whole-pot", "free-raises", "calls-unseen")

    @property
    def deck(self) -> tuple[int, int, int]:  # type: ignore[override]
        game = self.game
        return (game.streets, game.ranks, game.suits) if by_street(game) else (0, 0, 0)

    def packing(self) -> Packing:
        return HandPacking(self.game)

    def preset(self, name: str) -> dict[str, Any] | None:
        if name == "paper":
            return PAPER | (PAPER_FOUR_STREETS if self.game.streets == 4 else {})
        if name == "flop-gpu" and self.game.streets == 2 and by_street(self.game):
            return FLOP_GPU | {"hand_categories": True}
        if name == "best":
            return BEST | {"hand_categories": by_street(self.game)}  # not in the thesis' encoding
        return None

    def always(self) -> dict[str, Any]:
        return {"evaluate_every": 0} if self.game.facts.max_chance_outcomes > FEW_CARDS else {}

    def with_hand_categories(self) -> Any:
        return self.game._replace(inputs=HAND_CATEGORY)

    def with_defect(self, name: str) -> Any:
        if name == "free-raises":
            return self.game._replace(big_bet=self.game.small_bet, preflop_raises=MAX_RAISES, raises=MAX_RAISES)
        return self.game._replace(inputs=CALLS_UNSEEN) if name == "calls-unseen" else self.game

    def check_defect(self, name: str) -> None:
        if name in ("free-raises", "calls-unseen") and self.game.inputs == 0:
            raise BadInput(f"the defect {name} needs the thesis' encoding, holdem with inputs=1, not inputs=0")


PAPER_FOUR_STREETS = {"steps": 32_000, "batch_size": 20_000, "strategy_steps": 32_000, "strategy_batch_size": 20_000}
# (Parts of 160 traversals: 63 of them keep 16 processes busy to the end.)
BEST: dict[str, Any] = {
    "traversals": 10_000, "in_flight": 160, "iterations": 200, "hidden": "128", "steps": 1000, "batch_size": 32_768,
    "strategy_steps": 5000, "strategy_batch_size": 32_768, "reinitialize": False, "learning_rate_decay": "linear",
    "capacity": 20_000_000, "strategy_capacity": 20_000_000, "suit_isomorphism": True, "keep_every": 20,
    "balance_streets": True,
}  # fmt: skip
# Traversals of Flop Hold'em are short, so most of the time is spent on gradient steps, which grow with the samples.
FLOP_GPU: dict[str, Any] = BEST | {
    "traversals": 20_000, "in_flight": 320, "iterations": 300, "steps": 2000, "epochs": 1.0, "min_steps": 300,
    "batch_size": 16_384, "strategy_steps": 4000, "strategy_batch_size": 16_384, "learning_rate_decay": "none",
    "weight_averaging": 0.998, "capacity": 40_000_000, "strategy_capacity": 40_000_000, "average": "both",
    "keep_every": 50,
}  # fmt: skip
