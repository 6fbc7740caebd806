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
from typing import Any, NamedTuple

import numpy as np

from ...core.files import Expected, Shapes, check_fits, read_tensors, readable, tensor_file_format, write_tensors
from ...core.names import BadInput, absolute
from ...games import Game, full_name, load_stored
from ..model_files import Description, model_format
from .geometry import Geometry, geometry_of

FORMAT = "kibitz board network 1"
SEARCH = "puct:seconds=1,net={}"  # the player that searches with such a file
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


def is_board_network(path: Path) -> bool:
    return tensor_file_format(path) == FORMAT


def save_network(path: Path, game: Game, shape: Shape, weights: Weights, made: str) -> None:
    """Write a network file in half precision."""
    tensors = {name: array.astype(np.float16) for name, array in weights.items()}
    write_tensors(path, FORMAT, tensors, game=full_name(game), made=made, channels=shape.channels, blocks=shape.blocks)


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

    def schema(shapes: Shapes, about: dict[str, Any]) -> dict[str, Expected]:
        check_fits(about, {"game": str, "made": str, "channels": int, "blocks": int})
        if not (1 <= about["channels"] <= 1024 and 1 <= about["blocks"] <= 100):
            raise ValueError("its channels or blocks are out of range")
        if game is not None and absolute(about["game"]) != full_name(game):
            raise BadInput(f"{path} is a network for {about['game']}, not for {full_name(game)}")
        with readable(path, "network"):
            geometry = geometry_of(game or load_stored(about["game"]))
        wanted: dict[str, Expected] = {}
        for name, size in layer_sizes(geometry, Shape(about["channels"], about["blocks"])).items():
            wanted |= {f"{name}.weight": Expected("float16", size), f"{name}.bias": Expected("float16", size[1:])}
        return wanted

    tensors, about = read_tensors(path, FORMAT, "network", schema)
    shape = Shape(about["channels"], about["blocks"])
    return Network(about["game"], about["made"], shape, {name: a.astype(np.float32) for name, a in tensors.items()})


@model_format(FORMAT)
def describe(path: Path) -> Description:
    network = read_network(path)
    what = f"{network.shape.channels} x {network.shape.blocks} blocks"
    return Description(network.game, network.made, what, "net", SEARCH)
