"""Samples of ExIt-OOS in few bytes: what a seat knew (encoded), the policy of the search, the legal actions.

Encodings of 0 and 1 are stored as bits, policies as half-precision numbers.
"""

import numpy as np

from ...core.names import BadInput
from ...games import Game
from ..encodings import survey
from ..learner import Samples


class Packing:
    def __init__(self, game: Game, bits: bool | None = None) -> None:
        """`bits`: whether encodings are all 0 and 1; None: found out by random games."""
        self.width, self.actions = game.facts.encoding, game.facts.num_actions
        self.bits = survey(game)[1] if bits is None else bits

    @property
    def empty(self) -> Samples:
        """The packed arrays without rows, for a `ReplayBuffer`."""
        return {
            "encodings": np.zeros((0, -(-self.width // 8)), np.uint8) if self.bits else np.zeros((0, self.width), "f4"),
            "policies": np.zeros((0, self.actions), np.float16),
            "legal": np.zeros((0, -(-self.actions // 8)), np.uint8),
        }

    def pack(self, samples: Samples) -> Samples:
        encodings = samples["encodings"]
        if self.bits:
            if not np.isin(encodings, (0, 1)).all():
                raise BadInput("an encoding with other values than 0 and 1 can't be stored as bits: use bits=False")
            encodings = np.packbits(encodings.astype(bool), axis=1)
        legal = np.packbits(samples["legal"].astype(bool), axis=1)
        return {"encodings": encodings, "policies": samples["policies"], "legal": legal}

    def unpack(self, samples: Samples) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return encodings and policies as float32 (policies sum to 1 again), and legal actions as bool."""
        encodings = samples["encodings"]
        if self.bits:
            encodings = np.unpackbits(encodings, axis=1, count=self.width)
        legal = np.unpackbits(samples["legal"], axis=1, count=self.actions).astype(bool)
        policies = samples["policies"].astype(np.float32)
        return encodings.astype(np.float32), policies / policies.sum(axis=1, keepdims=True), legal
