"""Where `net:NAME` finds its network, and what it says where it finds none."""

from pathlib import Path

import numpy as np
import pytest

from kibitz import games
from kibitz.core.names import BadInput
from kibitz.nets import model_files
from kibitz.nets.mlp import new_layers, save_layers, sizes_of
from kibitz.nets.model_files import network_file, shipped
from kibitz.play import players
from kibitz.train.descriptions import describe
from kibitz.train.tspg.sets import atoms_of
from kibitz.train.tspg.store import POLICIES, Features, save_features


def network(path: Path, game_name: str = "kuhn", made: str = "by hand") -> Path:
    game = games.load(game_name)
    path.parent.mkdir(parents=True, exist_ok=True)
    save_layers(path, game, new_layers(sizes_of(game, [5]), np.random.default_rng(1)), made)
    return path


@pytest.fixture
def run(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "config.json").write_text("{}")
    return tmp_path / "run"


@pytest.fixture
def package(tmp_path, monkeypatch):
    """The package's folder of networks, for once with ours in it."""
    monkeypatch.setattr(model_files, "SHIPPED", tmp_path / "package")
    return tmp_path / "package"


def refused(name: object, iteration: int = 0) -> str:
    with pytest.raises(BadInput) as error:
        network_file(str(name), iteration)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_a_file_is_itself(tmp_path):
    path = network(tmp_path / "any.safetensors")
    assert network_file(str(path)) == path


def test_a_file_has_no_iterations(tmp_path):
    path = network(tmp_path / "any.safetensors")
    assert f"{path} is no run folder, so it has no iteration 3" in refused(path, 3)


def test_a_run_gives_its_last_network(run):
    last = network(run / "network.safetensors")
    network(run / "networks" / "000100.safetensors")
    assert network_file(str(run)) == last


def test_a_run_gives_the_network_of_an_iteration(run):
    network(run / "network.safetensors")
    kept = [network(run / "networks" / f"{iteration:06d}.safetensors") for iteration in (100, 200)]
    assert [network_file(str(run), iteration) for iteration in (100, 200)] == kept


def test_an_iteration_that_was_not_kept_is_refused_with_a_list_of_those_that_were(run):
    network(run / "network.safetensors")
    assert "no network of iteration 7; there are: none yet" in refused(run, 7)
    for iteration in (100, 200):
        network(run / "networks" / f"{iteration:06d}.safetensors")
    assert "no network of iteration 7; there are: 100, 200" in refused(run, 7)


def test_a_run_without_a_network_says_why(run, tmp_path):
    assert "training has not reached its first checkpoint" in refused(run)
    (tmp_path / "photos").mkdir()
    assert "has no network: it is no run" in refused(tmp_path / "photos")


def test_networks_of_the_package_go_by_name(package):
    assert shipped() == {}
    path = network(package / "kuhn.safetensors")
    assert shipped() == {"kuhn": path}
    assert network_file("models/kuhn") == path
    assert "no network of the package is called 'khun': did you mean 'kuhn'?" in refused("models/khun")


def test_a_folder_of_the_user_that_is_called_models_comes_first(package, tmp_path, monkeypatch):
    network(package / "kuhn.safetensors")
    monkeypatch.chdir(tmp_path)
    own = network(tmp_path / "models" / "kuhn" / "network.safetensors")
    assert network_file("models/kuhn").resolve() == own


def test_a_network_is_described(tmp_path):
    path = network(tmp_path / "any.safetensors", "leduc", "a long night")
    facts, size = games.load("leduc").facts, path.stat().st_size
    sizes = f"{facts.encoding}-5-{facts.num_actions}"
    about = describe(path)
    assert about == ("leduc", "a long night", sizes, "net", "", size)
    assert about.strongest("any") == "net:any"


def test_features_are_described(tmp_path):
    game, path = games.load("tic_tac_toe"), tmp_path / "any.safetensors"
    patterns = tuple(atoms_of(game, "faithful", seat) for seat in range(2))
    vectors = {name: tuple(np.zeros(len(each)) for each in patterns) for name in POLICIES}
    save_features(path, game, Features("faithful", patterns, vectors), "a short night")
    about = describe(path)
    assert about[:4] == ("tic_tac_toe", "a short night", "49 + 49 patterns", "features")
    assert about.bytes == path.stat().st_size
    assert about.strongest("any") == "puct:seconds=1,policy=any"


def test_what_cannot_be_described_is_refused(tmp_path):
    (tmp_path / "noise.safetensors").write_bytes(b"noise")
    with pytest.raises(BadInput, match="damaged or foreign"):
        describe(tmp_path / "noise.safetensors")
    with pytest.raises(BadInput, match="no network file"):
        describe(tmp_path / "nothing.safetensors")


@pytest.mark.parametrize("name", shipped())
def test_a_network_that_ships_is_sound(name):
    about = describe(shipped()[name])
    assert about.made
    assert about.bytes < 2_000_000
    assert players.make_for(f"{about.player}:models/{name}", games.load(about.game))
