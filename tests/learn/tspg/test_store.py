"""Files of features: what was saved is read, what is no such file is refused in one line."""

import json

import numpy as np
import pytest
import safetensors.numpy

from kibitz import games
from kibitz.core.names import BadInput
from kibitz.train.tspg.patterns import parse, window
from kibitz.train.tspg.sets import atoms_of
from kibitz.train.tspg.store import FORMAT, POLICIES, Features, biased, read_features, save_features

from .oracle import KINDS, positions_met, some_patterns

GAME = games.load("tic_tac_toe")


def some_features(game=GAME, kind="faithful", counts=(60, 57), seed=1):
    states, generator = positions_met(game, 3, seed), np.random.default_rng(seed)
    patterns = tuple(tuple(some_patterns(game, kind, seat, states, count, seed)) for seat, count in enumerate(counts))
    vectors = {name: tuple(generator.normal(size=len(each)) for each in patterns) for name in POLICIES}
    return Features(kind, patterns, vectors)


def same(one, other):
    weights = [[array.tobytes() for name in POLICIES for array in each.vectors[name]] for each in (one, other)]
    return one.kind == other.kind and one.patterns == other.patterns and weights[0] == weights[1]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["tic_tac_toe", "breakthrough", "hex:7", "yavalath:4", "othello:4"])
def test_a_file_gives_back_exactly_what_was_saved(tmp_path, name, kind):
    game = games.load(name)
    features = some_features(game, kind, (150, 149))
    save_features(tmp_path / "f.safetensors", game, features, "by hand")
    found, made = read_features(tmp_path / "f.safetensors", game)
    assert same(found, features)
    assert made == "by hand"
    assert FORMAT.fits(tmp_path / "f.safetensors")
    assert [path.name for path in tmp_path.iterdir()] == ["f.safetensors"]


def test_the_same_features_are_the_same_file(tmp_path):
    for number in range(6):
        save_features(tmp_path / str(number), GAME, some_features(), "by hand")
    save_features(tmp_path / "again", GAME, read_features(tmp_path / "0", GAME)[0], "by hand")
    assert len({path.read_bytes() for path in tmp_path.iterdir()}) == 1


def test_patterns_may_be_written_by_hand(tmp_path):
    """Any image, any walk, another order of words."""
    write(tmp_path / "f", ABOUT | {"patterns": [["to: friend(1/4,-1/4)  empty(0)", "to:"], ["to:"]]}, (2, 1))
    found = read_features(tmp_path / "f", GAME)[0]
    eye = window(GAME.board())
    assert found.patterns == ((parse("to: empty(0) friend(1/8)", eye), parse("to:", eye)), (parse("to:", eye),))


def test_a_seat_may_have_no_patterns(tmp_path):
    features = Features("faithful", ((), ()), {name: (np.zeros(0), np.zeros(0)) for name in POLICIES})
    save_features(tmp_path / "f", GAME, features)
    assert same(read_features(tmp_path / "f", GAME)[0], features)


def test_weights_are_what_was_learned_from_visits_and_an_offset():
    features = some_features()
    ce = features.vectors["ce"]
    assert features.weights("ce") is ce
    for name in ("double", "tspg"):
        for seat in range(2):
            expected = ce[seat] + features.vectors[name][seat]
            assert features.weights(name)[seat].tolist() == expected.tolist()
    with pytest.raises(BadInput, match="no policy is called 'best'"):
        features.weights("best")


def test_a_search_has_one_policy_as_its_prior_and_another_in_playouts():
    features, [state] = some_features(), positions_met(GAME, 1, 5, 0)
    rng, actions, room = np.array([1, 2], np.uint64), np.zeros(9, np.int64), np.zeros(9)
    n = GAME.actions(state, actions)

    def probs(policy):
        policy.weigh(GAME, state, actions, n, room)
        return room[:n].tolist()

    pair = biased(GAME, features, "ce", "uniform")
    assert probs(pair) == probs(features.policy(GAME, "ce")) != probs(features.policy(GAME, "tspg"))
    assert probs(features.policy(GAME, "uniform")) == [1 / n] * n
    drawn = [int(pair.step(GAME, state, actions, room, rng)) for _ in range(900)]
    shares = [drawn.count(action) / len(drawn) for action in games.legal_actions(GAME, state)]
    np.testing.assert_allclose(shares, 1 / n, atol=0.07)
    assert max(probs(pair)) > 1 / n + 0.14


# ---------------------------------------------------------------- what is refused

ABOUT = {
    "format": FORMAT.name, "game": "tic_tac_toe", "made": "", "kind": "faithful",
    "patterns": [["to:", "to: friend(0)", "to: enemy(0)"], ["to:", "to: friend(0)"]],
}  # fmt: skip


def write(path, about=ABOUT, counts=(3, 2), change=lambda tensors: None):
    """A file of features that is right but for a change."""
    tensors = {f"{name}.{seat}": np.ones(count) for name in POLICIES for seat, count in enumerate(counts)}
    change(tensors)
    path.write_bytes(safetensors.numpy.save(tensors, {"about": about if isinstance(about, str) else json.dumps(about)}))


def refused(path, game=GAME):
    with pytest.raises(BadInput) as caught:
        read_features(path, game)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)
    return str(caught.value)


def test_what_is_written_here_is_right_but_for_the_change(tmp_path):
    write(tmp_path / "f")
    assert [len(each) for each in read_features(tmp_path / "f", GAME)[0].patterns] == [3, 2]


def test_a_file_that_is_not_there_is_named(tmp_path):
    assert refused(tmp_path / "f") == f"no feature set file '{tmp_path / 'f'}'"
    assert not FORMAT.fits(tmp_path / "f")


def test_a_folder_holds_no_features(tmp_path):
    refused(tmp_path)
    assert not FORMAT.fits(tmp_path)


def test_a_file_that_was_cut_off_anywhere_is_refused(tmp_path):
    save_features(tmp_path / "f", GAME, some_features())
    whole = (tmp_path / "f").read_bytes()
    for length in [*range(0, len(whole), 397), len(whole) - 1]:
        (tmp_path / "f").write_bytes(whole[:length])
        assert "damaged or foreign" in refused(tmp_path / "f")


@pytest.mark.parametrize("content", [b"", b"hello", b"{}", bytes(1000), b"\xff" * 100])
def test_something_else_is_refused(tmp_path, content):
    (tmp_path / "f").write_bytes(content)
    assert "damaged or foreign" in refused(tmp_path / "f")
    assert not FORMAT.fits(tmp_path / "f")


@pytest.mark.parametrize(
    ("about", "text"),
    [
        (ABOUT | {"format": "kibitz network 1"}, "is no feature set of Kibitz (its format is 'kibitz network 1')"),
        ({key: value for key, value in ABOUT.items() if key != "format"}, "its format is 'not given'"),
        (ABOUT | {"game": "hex:7"}, "is a feature set for hex:7, not for tic_tac_toe"),
        (ABOUT | {"kind": "poor"}, "no kind of features is called 'poor'"),
        (ABOUT | {"patterns": [["to:"]]}, "patterns of 1 seats, not of 2"),
        (ABOUT | {"patterns": [["to:"]] * 3}, "patterns of 3 seats, not of 2"),
        (ABOUT | {"patterns": "to:"}, "patterns is \"to:\", which should be a list"),
        (ABOUT | {"patterns": None}, "damaged or foreign"),
        (ABOUT | {"patterns": [["to:", "to: friend(0)", 7], ["to:", "to:"]]}, "damaged or foreign"),
        (ABOUT | {"patterns": [["to:", "to: friend(0)", None], ["to:", "to: friend(0)"]]}, "damaged or foreign"),
        (ABOUT | {"patterns": [["to:", "to: foe(0)", "to: enemy(0)"], ["to:", "to: friend(0)"]]}, "'foe'"),
        (ABOUT | {"patterns": [["to:", "to: friend(0)", "to: friend(1/4)"], ["to:", "to: friend(0)"]]}, "twice"),
        (ABOUT | {"patterns": [["to:", "to: friend(0)", "to: goal=1"], ["to:", "to: enemy(0)"]]}, "'to: goal=1'"),
        (ABOUT | {"patterns": [["to:", "to: friend(0)", "to: friend(1/8,0)"], ["to:", "to: off()"]]}, "out of sight"),
        ({key: value for key, value in ABOUT.items() if key != "kind"}, "damaged or foreign"),
        ({key: value for key, value in ABOUT.items() if key != "made"}, "damaged or foreign"),
        ({key: value for key, value in ABOUT.items() if key != "game"}, "damaged or foreign"),
        ("not json", "damaged or foreign"),
        ([FORMAT.name], "damaged or foreign"),
        (None, "damaged or foreign"),
    ],
)  # fmt: skip
def test_a_file_with_wrong_metadata_is_refused(tmp_path, about, text):
    write(tmp_path / "f", about)
    assert text in refused(tmp_path / "f")


def test_a_file_without_metadata_is_refused(tmp_path):
    (tmp_path / "f").write_bytes(safetensors.numpy.save({"ce.0": np.zeros(3)}))
    assert "is no feature set of Kibitz (its format is 'not given')" in refused(tmp_path / "f")
    assert not FORMAT.fits(tmp_path / "f")


@pytest.mark.parametrize(
    "change",
    {
        "nan": lambda tensors: tensors["tspg.0"].__setitem__(1, np.nan),
        "infinite": lambda tensors: tensors["ce.1"].__setitem__(0, -np.inf),
        "another type": lambda tensors: tensors.update({"double.0": np.ones(3, np.float32)}),
        "a weight too many": lambda tensors: tensors.update({"ce.0": np.ones(4)}),
        "a weight too few": lambda tensors: tensors.update({"ce.1": np.ones(1)}),
        "no weights": lambda tensors: tensors.update({"tspg.1": np.ones(0)}),
        "a table": lambda tensors: tensors.update({"tspg.1": np.ones((2, 1))}),
        "a number": lambda tensors: tensors.update({"tspg.1": np.ones(())}),
        "one missing": lambda tensors: tensors.pop("double.1"),
        "other names": lambda tensors: tensors.update({"best.0": tensors.pop("tspg.0")}),
        "nothing": lambda tensors: tensors.clear(),
    }.items(),
    ids=lambda item: item[0],
)
def test_weights_that_dont_fit_are_refused(tmp_path, change):
    write(tmp_path / "f", change=change[1])
    text = refused(tmp_path / "f")
    assert "is damaged: " in text or "damaged or foreign" in text


def test_features_of_another_board_are_refused(tmp_path):
    game, other = games.load("othello:4"), games.load("yavalath:4")
    save_features(tmp_path / "f", game, some_features(game))
    assert (
        refused(tmp_path / "f", other)
        == f"{tmp_path / 'f'} is a feature set for othello:size=4, not for yavalath:side=4"
    )
    assert len(read_features(tmp_path / "f", game)[0].patterns[0]) == 60
    assert len(atoms_of(game, "faithful", 0)) == 49
