"""Strategy files: read back exactly, and refused if they are damaged or something else."""

import numpy as np
import pytest
import safetensors.numpy

from kibitz import games
from kibitz.core.names import BadInput
from kibitz.core.tensor_files import Format
from kibitz.search.strategy import Strategy, read_strategy, uniform_strategy
from kibitz.solve.best_response import evaluate
from kibitz.solve.cfr import Cfr
from kibitz.solve.mccfr import OutcomeSampling


@pytest.fixture(scope="module")
def solved() -> Cfr:
    solver = Cfr(games.load("leduc"), "cfr+")
    solver.run(50)
    return solver


def test_a_saved_strategy_is_read_back_exactly(solved, tmp_path):
    strategy = solved.strategy()
    strategy.save(tmp_path / "strategy.safetensors")
    again = read_strategy(tmp_path / "strategy.safetensors", games.load("leduc"))
    assert again.game == strategy.game
    for field in ("keys", "starts", "probs"):
        assert np.array_equal(getattr(again, field), getattr(strategy, field))
    assert evaluate(solved.form, again) == evaluate(solved.form, strategy)
    assert [path.name for path in tmp_path.iterdir()] == ["strategy.safetensors"]  # nothing half-written is left


def test_the_file_names_the_game_and_its_parameters(tmp_path):
    solver = OutcomeSampling(games.load("leduc:ranks=4,raises=1"), 1)
    solver.run(10)
    solver.strategy().save(tmp_path / "s.safetensors")
    assert read_strategy(tmp_path / "s.safetensors").game == games.load("leduc:ranks=4,raises=1")


def test_a_strategy_for_another_game_or_other_parameters_is_refused(solved, tmp_path):
    path = tmp_path / "s.safetensors"
    solved.strategy().save(path)
    for other in ("kuhn", "leduc:raises=1"):
        with pytest.raises(BadInput, match="is a strategy for leduc, not for " + other.replace(":", ".")):
            read_strategy(path, games.load(other))


def test_unknown_infosets_are_played_uniformly(solved):
    assert uniform_strategy(solved.game).at(12345, 4).tolist() == [0.25] * 4
    partial = OutcomeSampling(solved.game, 1)
    partial.run(1)
    for side in solved.form.sides:
        probs = partial.strategy().behaviour(side)
        sums = np.add.reduceat(probs[1:], side.first[:-1] - 1)
        np.testing.assert_allclose(sums, 1)


def test_at_and_behaviour_agree(solved):
    strategy = solved.strategy()
    for side in solved.form.sides:
        probs = strategy.behaviour(side)
        for key, start, end in zip(side.keys, side.first[:-1], side.first[1:], strict=True):
            assert np.array_equal(strategy.at(int(key), end - start), probs[start:end])


PARTS = {
    "keys": np.array([3, 5], np.uint64),
    "starts": np.array([0, 2, 4]),
    "probs": np.array([0.5, 0.5, 1.0, 0.0]),
}


def _file(tmp_path, **changes):
    Format("kibitz strategy 1", "strategy").write(tmp_path / "s.safetensors", PARTS | changes, game="kuhn")
    return tmp_path / "s.safetensors"


DAMAGE = {
    "probabilities that don't sum to 1": {"probs": np.array([0.5, 0.4, 1.0, 0.0])},
    "negative probabilities": {"probs": np.array([1.5, -0.5, 1.0, 0.0])},
    "not numbers": {"probs": np.array([np.nan, 0.5, 1.0, 0.0])},
    "keys out of order": {"keys": np.array([5, 3], np.uint64)},
    "too few probabilities": {"probs": np.array([0.5, 0.5])},
    "starts beyond the end": {"starts": np.array([0, 2, 9])},
}


@pytest.mark.parametrize("changes", DAMAGE.values(), ids=DAMAGE.keys())
def test_a_damaged_strategy_is_refused(changes, tmp_path):
    assert isinstance(read_strategy(_file(tmp_path)), Strategy)
    with pytest.raises(BadInput, match="damaged"):
        read_strategy(_file(tmp_path, **changes))


@pytest.mark.parametrize("keep", [0, 5, 100, 0.5, -1])
def test_a_truncated_file_is_refused(keep, solved, tmp_path):
    path = tmp_path / "s.safetensors"
    solved.strategy().save(path)
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * keep) if isinstance(keep, float) else keep])
    with pytest.raises(BadInput, match=r"s\.safetensors can't be read as"):
        read_strategy(path)


def test_other_files_and_folders_are_refused(tmp_path):
    with pytest.raises(BadInput, match="no strategy file"):
        read_strategy(tmp_path / "nothing")
    with pytest.raises(BadInput, match="folder"):
        read_strategy(tmp_path)
    (tmp_path / "foreign").write_bytes(safetensors.numpy.save({"weights": np.zeros(3)}))
    with pytest.raises(BadInput, match="no strategy of Kibitz"):
        read_strategy(tmp_path / "foreign")
