"""Self-play by search: rows that are true to the game, the same whoever plays, and large batches."""

import numpy as np
import pytest

import kibitz.train.exit_oos.self_play as exit_oos
from kibitz import games
from kibitz.core.names import BadInput
from kibitz.games import CHANCE, OVER
from kibitz.nets.mlp import new_layers, sizes_of
from kibitz.search.advice import Advice
from kibitz.search.batched_oos import IN_FLIGHT, BatchedOos, new_batch
from kibitz.train.exit_oos.config import ExItOosConfig
from kibitz.train.exit_oos.self_play import Episode, self_play, side_by_side


def configured(game="leduc", **values):
    return ExItOosConfig(game, **{"simulations": 60, "hidden": "16", "seed": 5} | values)


def network(config, seed=1):
    sizes = sizes_of(games.load(config.game), config.hidden_sizes)
    return new_layers(sizes, np.random.default_rng(seed))


def played(config, numbers, layers=None):
    """Number -> rows, by a worker of its own."""
    return dict(self_play(config)(tuple(numbers), layers or network(config)))


def same(one, other):
    assert one.keys() == other.keys() == {"encodings", "policies", "legal"}
    return all(np.array_equal(one[key], other[key]) for key in one)


def copy_of(game, state):
    return np.array([state], game.state)[0]


def nexts(game, state):
    """All that can come of one move: positions where a seat is to move, or the game is over."""
    for action in games.legal_actions(game, state):
        after = copy_of(game, state)
        game.play(after, action)
        if game.turn(after) == CHANCE:
            yield from nexts(game, after)
        else:
            yield str(after)


class Logged(Episode):
    """Remembers each decision: the position, and what was advised."""

    known: dict[int, "Logged"] = {}

    def __init__(self, game, search, config, number):
        self.log = []
        self.known[number] = self
        super().__init__(game, search, config, number)

    def follow(self, advice):
        self.log.append((copy_of(self.game, self.state), advice))
        super().follow(advice)


@pytest.mark.parametrize("playouts", ["compiled", "batched"])
@pytest.mark.parametrize("name", ["leduc", "goofspiel:cards=4"])
def test_rows_are_the_decisions_of_one_whole_game_each(name, playouts, monkeypatch):
    monkeypatch.setattr(exit_oos, "Episode", Logged)
    Logged.known.clear()
    game, first = games.load(name), games.positions(games.load(name))[0]
    found = played(configured(name, playouts=playouts), range(6))
    assert sorted(found) == sorted(Logged.known) == list(range(6))
    for number, rows in found.items():
        episode = Logged.known[number]
        states, advices = zip(*episode.log, strict=True)
        assert str(states[0]) in ([str(first)] if game.turn(first) != CHANCE else list(nexts(game, first)))
        for before, after in zip(states, [*states[1:], episode.state], strict=True):
            assert str(after) in list(nexts(game, before))
        assert episode.over
        assert game.turn(episode.state) == OVER
        for encoding, policy, legal, state, advice in zip(*rows.values(), states, advices, strict=True):
            seen = np.full(game.facts.encoding, 7, np.float32)
            game.observe(state, game.turn(state), seen)
            assert encoding.tolist() == seen.tolist()
            assert np.flatnonzero(legal).tolist() == games.legal_actions(game, state) == advice.actions.tolist()
            assert policy.sum() == pytest.approx(1, abs=1e-6)
            assert policy.min() >= 0
            assert (policy[~legal] == 0).all()
            assert policy[legal].tolist() == advice.policy.astype(np.float32).tolist()
            assert advice.simulations == 60
            assert advice.visits.sum() > 0  # the search was aimed at what this seat sees
        assert len({policy.tobytes() for policy in rows["policies"]}) > 1


# ---------------------------------------------------------------- the same whoever plays


@pytest.mark.parametrize("playouts", ["compiled", "batched"])
def test_a_game_is_the_same_whoever_plays_it(playouts):
    """In any order, alone or with others, by a worker that has played others before or not, and longer ones."""
    config = configured("goofspiel:cards=6", playouts=playouts, simulations=300)
    whole, layers = played(config, range(6)), network(config)
    worker = self_play(config)
    again = dict(worker((4, 1), layers)) | dict(worker((0, 5, 2), network(config))) | dict(worker((3,), layers))
    assert sorted(again) == list(range(6))
    assert all(same(whole[number], again[number]) for number in whole)
    assert not any(same(whole[number], whole[other]) for number in whole for other in range(number))


def test_seeds_and_networks_make_other_games():
    config = configured("goofspiel:cards=6")
    base = played(config, [0])[0]
    assert same(base, played(config, [0])[0])
    assert not same(base, played(configured("goofspiel:cards=6", seed=6), [0])[0])
    assert not same(base, played(config, [0], network(config, 2))[0])


@pytest.mark.parametrize("playouts", ["compiled", "batched"])
def test_a_worker_takes_the_network_that_is_given_now(playouts):
    config = configured("goofspiel:cards=6", playouts=playouts)
    worker, old, new = self_play(config), network(config, 1), network(config, 2)
    worker((0,), old)
    assert same(dict(worker((0,), new))[0], played(config, [0], new)[0])


def test_games_with_a_shared_seed_are_the_same():
    found = played(configured("goofspiel:cards=6", shared_seed=2), range(4))
    assert same(found[0], found[1])
    assert same(found[2], found[3])
    assert not same(found[0], found[2])
    assert same(found[2], played(configured("goofspiel:cards=6"), [1])[1])


# ---------------------------------------------------------------- chance


class Idle:
    def begin(self, seed):
        self.seed = seed


def episodes(config, count):
    game = games.load(config.game)
    return [Episode(game, Idle(), config, number) for number in range(count)]


@pytest.mark.parametrize("explore", [0.0, 0.2, 1.0])
def test_moves_are_drawn_from_the_advice_and_uniformly_with_the_probability_of_exploration(explore):
    policy = np.array([0.7, 0.3, 0.0])
    advice = Advice(np.arange(3), policy, *(np.zeros(3) for _ in range(3)), simulations=1, seconds=0.0)
    counts = np.zeros(3)
    for episode in episodes(configured("goofspiel:cards=3", exploration=explore), 2000):
        episode.follow(advice)
        counts[int(episode.state.bids[0, 0])] += 1
    np.testing.assert_allclose(counts / 2000, explore / 3 + (1 - explore) * policy, atol=0.035)
    assert (counts[2] == 0) == (explore == 0)


def test_cards_are_dealt_by_their_probabilities_and_every_search_has_a_seed_of_its_own():
    dealt = episodes(configured(), 1500)
    pairs = [tuple(int(card) for card in episode.state.cards[:2]) for episode in dealt]
    for low in range(3):
        assert np.mean([pair[0] == low for pair in pairs]) == pytest.approx(1 / 3, abs=0.04)
        assert np.mean([pair == (low, low) for pair in pairs]) == pytest.approx(1 / 15, abs=0.025)
    assert len({episode.search.seed for episode in dealt}) == 1500


# ---------------------------------------------------------------- batches


def side_by_side_rows(config, numbers, searches=None):
    """Rows of games played at once with even playouts, and how many rows each batch had."""
    game, sizes = games.load(config.game), []

    def evaluate(encodings):
        sizes.append(len(encodings))
        return np.zeros((len(encodings), game.facts.num_actions), np.float32)

    searches = searches or [BatchedOos(game) for _ in numbers]
    found = [Episode(game, search, config, number) for search, number in zip(searches, numbers, strict=True)]
    side_by_side(found, new_batch(game, len(found) * IN_FLIGHT), evaluate, config.simulations)
    return [episode.samples() for episode in found], sizes


@pytest.mark.parametrize("name", ["leduc", "goofspiel:cards=6"])
def test_games_side_by_side_are_the_same_as_one_after_the_other(name):
    """Where the network says exactly the same; games end at different times, searches were used before."""
    config = configured(name, simulations=700)
    game = games.load(name)
    together, _ = side_by_side_rows(config, range(7))
    used = BatchedOos(game)
    for number, rows in enumerate(together):
        assert same(rows, side_by_side_rows(config, [number])[0][0])
        assert same(rows, side_by_side_rows(config, [number], [used])[0][0])


def test_batches_are_nearly_as_large_as_what_is_in_flight():
    """Short only while the simulations of a move, which end together, run out."""
    config = configured("goofspiel:cards=6", simulations=800)
    _, sizes = side_by_side_rows(config, range(12))
    assert max(sizes) == 240
    assert np.mean(sizes) > 0.8 * 240
    assert np.median(sizes) > 0.9 * 240


def test_workers_play_their_games_in_batches(monkeypatch):
    import kibitz.nets.torch_mlp as learning

    sizes, evaluator = [], learning.batch_evaluator

    def counted(layers, device):
        evaluate = evaluator(layers, device)
        return lambda encodings: (sizes.append(len(encodings)), evaluate(encodings))[1]

    monkeypatch.setattr(learning, "batch_evaluator", counted)
    found = played(configured("goofspiel:cards=6", playouts="batched", simulations=100), range(20))
    assert len(found) == 20
    assert max(sizes) == 400
    assert np.mean(sizes) > 250


# ---------------------------------------------------------------- the configuration


def test_small_networks_are_compiled_and_large_ones_asked_in_batches():
    for name, hidden, batches in (("leduc", "128", False), ("goofspiel:13", "128-128-64", False)):
        assert configured(name, hidden=hidden).in_batches(games.load(name)) == batches
    game = games.load("leduc")
    assert configured(hidden="1024-1024").in_batches(game)
    assert not configured(hidden="1024-1024", playouts="compiled").in_batches(game)
    assert configured(hidden="8", playouts="batched").in_batches(game)


@pytest.mark.parametrize("hidden", ["", "128-", "x", "0", "64--3", "12.5"])
def test_hidden_layers_that_make_no_sense_are_refused(hidden):
    with pytest.raises(BadInput, match=r"should be sizes of layers, such as 128 or 128-64"):
        _ = configured(hidden=hidden).hidden_sizes
