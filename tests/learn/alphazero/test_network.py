"""The network: both layouts agree, training and evaluation agree, files."""

import numpy as np
import pytest
import torch

from kibitz.core.names import BadInput
from kibitz.games import load
from kibitz.nets.boards.geometry import geometry_of
from kibitz.nets.boards.networks import Shape, layer_sizes, read_network, save_network
from kibitz.nets.boards.processor_network import Evaluator
from kibitz.nets.boards.torch_network import BoardNetwork, Places, forward

SHAPE = Shape(6, 2)


def random_weights(geometry, seed=1):
    rng, found = np.random.default_rng(seed), {}
    for name, (inputs, outputs) in layer_sizes(geometry, SHAPE).items():
        found[f"{name}.weight"] = rng.normal(0, inputs**-0.5, (inputs, outputs)).astype(np.float32)
        found[f"{name}.bias"] = rng.normal(size=outputs).astype(np.float32)
    return found


@pytest.mark.parametrize("name", ["tic_tac_toe", "hex:3", "connect_four:rows=4,columns=5", "yavalath:3"])
def test_gathered_neighbours_and_a_grid_compute_the_same(name):
    game = load(name)
    geometry = geometry_of(game)
    weights = {key: torch.from_numpy(array) for key, array in random_weights(geometry).items()}
    encodings = torch.from_numpy(np.random.default_rng(2).integers(0, 2, (5, game.facts.encoding)).astype(np.float32))
    cells, grid = Places(geometry, "cpu"), Places(geometry, "cpu")
    grid.on_grid = True
    one, two = (forward(places, SHAPE, weights, encodings, None) for places in (cells, grid))
    assert one[0].shape == (5, game.facts.num_actions)
    for a, b in zip(one, two, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-4)
    answer = Evaluator(geometry, SHAPE, random_weights(geometry))(encodings.numpy())
    for a, found in zip(one, answer, strict=True):
        np.testing.assert_allclose(found, a.numpy(), rtol=1e-4, atol=1e-4)


def test_a_hexagon_sees_its_neighbours_only():
    """A stone two cells away changes nothing after one convolution, one that touches does."""
    geometry = geometry_of(load("hex:5"))
    places, weight = Places(geometry, "cpu"), torch.randn(7 * 4, 1)
    empty = torch.zeros(1, 75)
    middle = 12
    touched = set()
    for cell in range(25):
        stone = empty.clone()
        stone[0, cell] = 1
        change = places.convolve(places.start(stone), weight, None) - places.convolve(places.start(empty), weight, None)
        if change[0, middle].abs() > 1e-6:
            touched.add(cell)
    assert touched == {7, 8, 11, 12, 13, 16, 17}


def test_evaluation_is_training_with_fixed_statistics():
    """After many batches of the same rows the running statistics are theirs: the folded network answers the same."""
    geometry = geometry_of(load("tic_tac_toe"))
    network = BoardNetwork(geometry, SHAPE, np.random.default_rng(1), "cpu")
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if name.endswith("gain"):
                parameter.uniform_(0.5, 1.5)
    encodings = torch.from_numpy(np.random.default_rng(2).integers(0, 2, (64, 18)).astype(np.float32))
    with torch.no_grad():
        for _ in range(300):
            logits, values = network(encodings)
    answer = Evaluator(geometry, SHAPE, network.folded())(encodings.numpy())
    np.testing.assert_allclose(answer[0], logits.numpy(), atol=0.02)
    np.testing.assert_allclose(answer[1], values.numpy(), atol=0.02)


def test_files_are_small_and_checked(tmp_path):
    game, path = load("tic_tac_toe"), tmp_path / "network.safetensors"
    weights = random_weights(geometry_of(game))
    save_network(path, game, SHAPE, weights, "made")
    found = read_network(path, game)
    assert (found.shape, found.made) == (SHAPE, "made")
    np.testing.assert_allclose(found.weights["stem.weight"], weights["stem.weight"], atol=1e-3)
    with pytest.raises(BadInput, match="is a network for tic_tac_toe, not for hex:size=3"):
        read_network(path, load("hex:3"))
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(BadInput, match="damaged"):
        read_network(path, game)
