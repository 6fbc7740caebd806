"""Networks as data: three ways to the same logits, files that are read whole or refused, and no torch."""

import json
import subprocess
import sys
from typing import NamedTuple

import numpy as np
import pytest
import safetensors.numpy

from kibitz import games
from kibitz.core.names import BadInput
from kibitz.games import CHANCE, OVER
from kibitz.jit import generators, record
from kibitz.nets.mlp import FORMAT, compiled, logits, new_layers, read_layers, save_layers, sizes_of
from kibitz.search.policies import weighed

GAMES = ["goofspiel:6", "leduc", "liars_dice:2"]


def random_layers(game, hidden, seed=1):
    return new_layers(sizes_of(game, hidden), np.random.default_rng(seed))


def decisions(game, count, seed=1):
    """Positions of random games where a seat is to move, as records of their own."""
    rng, found = generators(seed, 1)[0], []
    while len(found) < count:
        state = games.positions(game)[0]
        while game.turn(state) != OVER:
            if game.turn(state) != CHANCE:
                found.append(np.array([state], game.state)[0])
            game.play(state, game.sample_action(state, rng))
    return found[:count]


def encoded(game, states):
    encodings = np.zeros((len(states), game.facts.encoding), np.float32)
    for state, encoding in zip(states, encodings, strict=True):
        game.observe(state, game.turn(state), encoding)
    return encodings


def softmax_over(legal, row):
    probs = np.exp(row[legal].astype(np.float64) - row[legal].max())
    return probs / probs.sum()


def hidden_of(layers):
    return [len(biases) for _, biases in layers[:-1]]


@pytest.mark.parametrize("hidden", [[], [5], [128], [64, 33], [130, 16, 20]])
@pytest.mark.parametrize("name", GAMES)
def test_compiled_numpy_and_torch_agree(name, hidden):
    import torch

    from kibitz.nets.torch_mlp import as_module

    game = games.load(name)
    layers, states = random_layers(game, hidden), decisions(game, 60)
    assert hidden_of(layers) == hidden
    encodings = encoded(game, states)
    by_numpy = logits(layers, encodings)
    with torch.inference_mode():
        by_torch = as_module(layers)(torch.from_numpy(encodings)).numpy()
    np.testing.assert_allclose(by_numpy, by_torch, atol=1e-5)
    assert by_numpy.std() > 0.01
    net = compiled(layers)
    for state, row in zip(states, by_numpy, strict=True):
        legal = games.legal_actions(game, state)
        probs = weighed(game, net, state, len(legal))
        np.testing.assert_allclose(net.units[: len(row)], row, atol=1e-5)
        np.testing.assert_allclose(probs, softmax_over(legal, row), atol=1e-6)
        assert probs.sum() == pytest.approx(1, abs=1e-12)
        assert probs.min() > 0


@pytest.mark.parametrize("what", ["logits", "probs"])
@pytest.mark.parametrize("name", GAMES)
def test_plain_python_gives_the_same_to_the_last_bit(name, what):
    game = games.load(name)
    layers = random_layers(game, [16, 7])
    one, other = compiled(layers), compiled(layers)
    actions, probs = np.zeros(game.facts.num_actions, np.int64), np.zeros(game.facts.num_actions)
    for state in decisions(game, 25):
        n = game.actions(state, actions)
        one.weigh(game, state, actions, n, probs)
        found = weighed(game, other, state, n)
        if what == "logits":
            assert one.units.tolist() == other.units.tolist()
        else:
            assert found.tolist() == probs[:n].tolist()


@games.game("signed", state=record(("left", "i8")), num_actions=3, max_game_length=9, payoffs=(-1.0, 1.0), encoding=4)
class Signed(NamedTuple):
    """Its encoding holds any numbers."""

    def start(self, state):
        state.left = 7

    def turn(self, state):
        return 0 if state.left > 0 else OVER

    def actions(self, state, out):
        out[:3] = (0, 1, 2)
        return 3

    def play(self, state, action):
        state.left -= 1

    def payoff(self, state, seat):
        return 0.0

    def observe(self, state, seat, out):
        out[0] = -1.5 * state.left
        out[1] = 0.25 * state.left
        out[2] = 0.0
        out[3] = -1.0


def test_an_encoding_may_hold_any_numbers():
    game = Signed()
    layers = random_layers(game, [20])
    for state in decisions(game, 7):
        [row] = logits(layers, encoded(game, [state]))
        np.testing.assert_allclose(weighed(game, compiled(layers), state, 3), softmax_over([0, 1, 2], row), atol=1e-6)


def test_new_weights_are_even_between_one_over_the_root_of_the_inputs():
    layers = new_layers([100, 400, 25], np.random.default_rng(1))
    for (weights, biases), (inputs, outputs) in zip(layers, [(100, 400), (400, 25)], strict=True):
        assert weights.shape == (inputs, outputs)
        assert biases.shape == (outputs,)
        assert weights.dtype == biases.dtype == np.float32
        for array in (weights, biases):
            assert np.abs(array).max() <= inputs**-0.5
            assert array.std() == pytest.approx((3 * inputs) ** -0.5, rel=0.3)
    again = new_layers([100, 400, 25], np.random.default_rng(1))
    assert all(np.array_equal(a, b) for one, other in zip(layers, again, strict=True) for a, b in zip(one, other))  # noqa: B905


def test_a_file_gives_back_exactly_what_was_saved(tmp_path):
    game = games.load("leduc")
    layers = random_layers(game, [33, 16])
    save_layers(tmp_path / "n.safetensors", game, layers, "by hand")
    for given in (game, None):
        found, about = read_layers(tmp_path / "n.safetensors", given)
        assert [array.tobytes() for layer in found for array in layer] == [
            array.tobytes() for layer in layers for array in layer
        ]
        assert [weights.shape for weights, _ in found] == [weights.shape for weights, _ in layers]
        assert about == ("leduc", "by hand", (game.facts.encoding, 33, 16, game.facts.num_actions))
    assert [path.name for path in tmp_path.iterdir()] == ["n.safetensors"]


def test_the_same_network_is_the_same_file(tmp_path):
    game = games.load("kuhn")
    for number in range(8):
        save_layers(tmp_path / str(number), game, random_layers(game, [3]), "by hand")
    assert len({path.read_bytes() for path in tmp_path.iterdir()}) == 1


# ---------------------------------------------------------------- what is refused


def refused(path, game=None):
    with pytest.raises(BadInput) as caught:
        read_layers(path, game)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.fixture
def saved(tmp_path):
    game = games.load("leduc")
    save_layers(tmp_path / "n.safetensors", game, random_layers(game, [8]))
    return tmp_path / "n.safetensors"


ABOUT = {"format": FORMAT.name, "game": "leduc", "made": ""}


def write(path, change=lambda tensors: None, about=ABOUT):
    """A file of a network for Leduc that is right but for a change."""
    game = games.load("leduc")
    (first, second), (third, fourth) = random_layers(game, [8])
    tensors = {"weights.0": first, "biases.0": second, "weights.1": third, "biases.1": fourth}
    change(tensors)
    path.write_bytes(safetensors.numpy.save(tensors, {"about": about if isinstance(about, str) else json.dumps(about)}))


def test_what_is_written_here_is_right_but_for_the_change(saved):
    write(saved)
    assert read_layers(saved, games.load("leduc"))[1].sizes[1] == 8


def test_a_file_that_is_not_there_is_named(tmp_path):
    assert refused(tmp_path / "n.safetensors") == f"no network file '{tmp_path / 'n.safetensors'}'"


def test_a_folder_is_no_network(tmp_path):
    assert str(tmp_path) in refused(tmp_path)


def test_a_file_that_was_cut_off_anywhere_is_refused(saved):
    whole = saved.read_bytes()
    for length in [*range(0, len(whole), 97), len(whole) - 1]:
        saved.write_bytes(whole[:length])
        assert "damaged or foreign" in refused(saved)


@pytest.mark.parametrize("content", [b"", b"hello", b"{}", bytes(1000), b"\xff" * 100])
def test_something_else_is_refused(tmp_path, content):
    (tmp_path / "n.safetensors").write_bytes(content)
    assert "damaged or foreign" in refused(tmp_path / "n.safetensors")


@pytest.mark.parametrize(
    ("about", "text"),
    [
        (ABOUT | {"format": "kibitz strategy 1"}, "is no network of Kibitz (its format is 'kibitz strategy 1')"),
        ({"game": "leduc", "made": ""}, "is no network of Kibitz (its format is 'not given')"),
        ({"format": FORMAT.name, "game": "leduc"}, "damaged or foreign"),
        ({"format": FORMAT.name, "made": ""}, "damaged or foreign"),
        ("leduc", "damaged or foreign"),
        ([FORMAT.name], "damaged or foreign"),
        (None, "damaged or foreign"),
    ],
)
def test_a_file_of_another_format_is_refused(tmp_path, about, text):
    write(tmp_path / "n.safetensors", about=about)
    assert text in refused(tmp_path / "n.safetensors")


def test_a_file_without_metadata_is_refused(tmp_path):
    (tmp_path / "n.safetensors").write_bytes(safetensors.numpy.save({"weights.0": np.zeros((2, 2), np.float32)}))
    assert "is no network of Kibitz (its format is 'not given')" in refused(tmp_path / "n.safetensors")


def test_the_network_of_another_game_is_refused(saved):
    assert refused(saved, games.load("kuhn")) == f"{saved} is a network for leduc, not for kuhn"


@pytest.mark.parametrize(
    "change",
    {
        "nan": lambda tensors: tensors["weights.1"].__setitem__((3, 1), np.nan),
        "infinite": lambda tensors: tensors["biases.0"].__setitem__(2, np.inf),
        "another type": lambda tensors: tensors.update({"weights.0": tensors["weights.0"].astype(np.float64)}),
        "a bias too many": lambda tensors: tensors.update({"biases.0": np.zeros(9, np.float32)}),
        "a unit too many": lambda tensors: tensors.update({"weights.1": np.zeros((9, 3), np.float32)}),
        "an input too many": lambda tensors: tensors.update({"weights.0": np.zeros((31, 8), np.float32)}),
        "an action too many": lambda tensors: tensors.update(
            {"weights.1": np.zeros((8, 4), np.float32), "biases.1": np.zeros(4, np.float32)}
        ),
        "flat weights": lambda tensors: tensors.update({"weights.1": np.zeros(24, np.float32)}),
        "biases as a table": lambda tensors: tensors.update({"biases.0": np.zeros((8, 2), np.float32)}),
        "a number for weights": lambda tensors: tensors.update({"weights.0": np.zeros((), np.float32)}),
        "a number for biases": lambda tensors: tensors.update({"biases.1": np.zeros((), np.float32)}),
        "no biases": lambda tensors: tensors.pop("biases.1"),
        "other names": lambda tensors: tensors.update({"w": tensors.pop("weights.1")}),
        "one tensor more": lambda tensors: tensors.update({"more": np.zeros(3, np.float32)}),
        "nothing": lambda tensors: tensors.clear(),
    }.items(),
    ids=lambda item: item[0],
)
def test_layers_that_are_no_network_are_refused(tmp_path, change):
    write(tmp_path / "n.safetensors", change[1])
    text = refused(tmp_path / "n.safetensors", games.load("leduc"))
    assert "is damaged: the sizes of its layers" in text or "damaged or foreign" in text


# ---------------------------------------------------------------- torch


def test_players_and_networks_start_without_torch():
    script = "import sys, kibitz.nets.mlp, kibitz.play.players; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
