"""Residual networks of boards as data: their shape and their file. No torch in here, so that players start at once.

A convolution is one matrix [taps * inputs, outputs]: the cell itself and its eight or six neighbours. Names of tensors:

    stem.weight, stem.bias                     planes of the encoding, and ones -> channels
    block.0.first.*, block.0.second.*, ...     channels -> channels; the input of a block is added to its output
    policy.first.*, policy.second.*            cell by cell -> one logit per plane of actions
    pool.*                                     cell by cell -> POOLED numbers, from which all cells together give:
    value.first.*, value.second.*              the value
    others.*                                   logits of actions without a cell (a pass, a column of Connect Four)
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...core.tensor_files import About, Shapes
from ...games import Game, full_name, load_stored, name_if
from ..model_files import MADE, ModelFormat
from .geometry import Geometry, geometry_of

POOLED = 8  # numbers per cell that value and actions without a cell see
VALUE_UNITS = 64

Weights = dict[str, np.ndarray]


class Shape(NamedTuple):
    channels: int
    blocks: int


def layer_sizes(geometry: Geometry, shape: Shape) -> dict[str, tuple[int, int]]:
    """Layer -> inputs and outputs of its matrix."""
    taps, c = len(geometry.taps), shape.channels
    found = {"stem": (taps * (geometry.planes + 1), c)}
    for i in range(shape.blocks):
        found |= {f"block.{i}.first": (taps * c, c), f"block.{i}.second": (taps * c, c)}
    if geometry.by_cell:
        found |= {"policy.first": (c, c), "policy.second": (c, geometry.by_cell)}
    found |= {
        "pool": (c, POOLED),
        "value.first": (geometry.cells * POOLED, VALUE_UNITS),
        "value.second": (VALUE_UNITS, 1),
    }
    if geometry.others:
        found["others"] = (geometry.cells * POOLED, geometry.others)
    return found


def _declared(about: About, shapes: Shapes) -> dict[str, str]:
    sizes = layer_sizes(geometry_of(load_stored(about["game"])), Shape(about["channels"], about["blocks"]))
    return {f"{name}.weight": f"float16 {inputs} {outputs}" for name, (inputs, outputs) in sizes.items()} | {
        f"{name}.bias": f"float16 {outputs}" for name, (_, outputs) in sizes.items()
    }


FORMAT = ModelFormat(
    "kibitz board network 1",
    "network",
    _declared,
    MADE | {"channels": range(1, 1025), "blocks": range(1, 101)},
    player="net",
    search="puct:seconds=1,net={}",
)


def save_network(path: Path, game: Game, shape: Shape, weights: Weights, made: str) -> None:
    """Write a network file in half precision."""
    tensors = {name: array.astype(np.float16) for name, array in weights.items()}
    FORMAT.write(path, tensors, game=full_name(game), made=made, channels=shape.channels, blocks=shape.blocks)


class Network(NamedTuple):
    game: str
    made: str
    shape: Shape
    weights: Weights


def read_network(path: Path, game: Game | None = None) -> Network:
    """Read a network file.

    Raises:
        BadInput: It is no such file, is damaged, or is for another game than `game`.
    """
    tensors, about = FORMAT.read(path, game=name_if(game))
    shape = Shape(about["channels"], about["blocks"])
    return Network(about["game"], about["made"], shape, {name: a.astype(np.float32) for name, a in tensors.items()})


@FORMAT.described
def blocks_in(path: Path) -> str:
    shape = read_network(path).shape
    return f"{shape.channels} x {shape.blocks} blocks"
