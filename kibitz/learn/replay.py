"""Experience: what the expert said at each decision, in compact arrays that never grow.

A row is an encoding of what the seat knew, the expert's policy there, and which actions were
legal. Encodings of 0 and 1 are kept as bits. Which rows are kept, a rule decides:

    exponential   a new row goes to a random slot with probability k(1 - exp(-1/(r·k))), about 1/r,
                  so that the chance of a row still being there falls as exp(-age/(r·k)); r = 2 in ExIt-OOS
    uniform       every row ever seen is there with the same chance (Vitter's algorithm R)
    latest        the last k rows
"""

import math
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy

from ..core.files import write_atomically
from ..core.names import BadInput, at_least, choose

RULES = ("exponential", "uniform", "latest")
FORMAT = "kibitz experience 1"


class Experience:
    def __init__(
        self, rows: int, encoding: int, actions: int, rule: str = "exponential", decay: float = 2.0, bits: bool = True
    ) -> None:
        at_least("rows of experience", rows, 1)
        self.rule, self.decay, self.bits = choose("rule of experience", rule, RULES), decay, bits
        self.rows, self.width, self.actions = rows, encoding, actions
        shape, kind = ((rows, -(-encoding // 8)), np.uint8) if bits else ((rows, encoding), np.float32)
        self.encodings: np.ndarray = np.zeros(shape, kind)  # type: ignore[arg-type]
        self.policies = np.zeros((rows, actions), np.float16)
        self.legal = np.zeros((rows, -(-actions // 8)), np.uint8)
        self.seen = 0  # rows that were ever offered

    def __len__(self) -> int:
        return min(self.seen, self.rows)

    @property
    def bytes(self) -> int:
        return self.encodings.nbytes + self.policies.nbytes + self.legal.nbytes

    def add(
        self, encodings: np.ndarray, policies: np.ndarray, legal: np.ndarray, generator: np.random.Generator
    ) -> None:
        """Offer rows, the oldest first; the rule says which are taken, and which they replace."""
        if self.bits and not np.isin(encodings, (0, 1)).all():
            raise BadInput("an encoding that isn't all 0 and 1 can't be kept as bits: ask for bits=False")
        slots = self._slots(len(encodings), generator)
        taken = slots >= 0
        packed = np.packbits(encodings.astype(bool), axis=1) if self.bits else encodings
        # Row by row where a slot is hit twice the last one stays: NumPy assigns in order.
        self.encodings[slots[taken]] = packed[taken]
        self.policies[slots[taken]] = policies[taken]
        self.legal[slots[taken]] = np.packbits(legal.astype(bool), axis=1)[taken]
        self.seen += len(encodings)

    def _slots(self, count: int, generator: np.random.Generator) -> np.ndarray:
        return places(self.rule, self.seen, self.rows, count, generator, self.decay)

    def sample(self, count: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """So many rows drawn evenly, with replacement: encodings and policies as float32, legal as bool."""
        if not len(self):
            raise BadInput("there is no experience to draw from yet")
        drawn = generator.integers(0, len(self), size=count)
        encodings = self.encodings[drawn]
        if self.bits:
            encodings = np.unpackbits(encodings, axis=1, count=self.width)
        legal = np.unpackbits(self.legal[drawn], axis=1, count=self.actions).astype(bool)
        policies = self.policies[drawn].astype(np.float32)
        return encodings.astype(np.float32), policies / policies.sum(axis=1, keepdims=True), legal

    def save(self, path: Path) -> None:
        used = len(self)
        arrays = {"encodings": self.encodings[:used], "policies": self.policies[:used], "legal": self.legal[:used]}
        meta = {
            "format": FORMAT,
            **{key: str(getattr(self, key)) for key in ("rows", "width", "actions", "rule", "decay", "bits", "seen")},
        }
        write_atomically(
            path, safetensors.numpy.save({key: np.ascontiguousarray(a) for key, a in arrays.items()}, meta)
        )


def places(rule: str, seen: int, k: int, count: int, generator: np.random.Generator, decay: float = 2.0) -> np.ndarray:
    """Where each of `count` new rows goes among k, when `seen` ones came before; -1: nowhere."""
    order = seen + np.arange(count)
    if rule == "latest":
        return order % k
    if rule == "uniform":
        slots = generator.integers(0, np.maximum(order + 1, k))
        slots[slots >= k] = -1
    else:
        slots = generator.integers(0, k, size=count)
        slots[generator.random(count) >= k * -math.expm1(-1 / (decay * k))] = -1
    return np.where(order < k, order, slots)


def read_experience(path: Path) -> Experience:
    """What `save` wrote; refused if it is damaged or something else."""
    try:
        with safetensors.safe_open(path, "numpy") as file:  # type: ignore[no-untyped-call]
            meta: dict[str, Any] = file.metadata() or {}
            if meta.get("format") != FORMAT:
                raise BadInput(f"{path} is no experience of Kibitz (its format is {meta.get('format', 'not given')!r})")
            found = Experience(
                int(meta["rows"]), int(meta["width"]), int(meta["actions"]), meta["rule"], float(meta["decay"]),
                meta["bits"] == "True",
            )  # fmt: skip
            found.seen = int(meta["seen"])
            for name in ("encodings", "policies", "legal"):
                getattr(found, name)[: len(found)] = file.get_tensor(name)
            return found
    except FileNotFoundError:
        raise BadInput(f"no experience file {str(path)!r}") from None
    except BadInput:
        raise
    except (safetensors.SafetensorError, OSError, KeyError, ValueError) as error:
        raise BadInput(f"{path} can't be read as experience, it is damaged or foreign: {error}") from None
