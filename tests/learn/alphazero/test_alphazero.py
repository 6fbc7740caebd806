"""Self-play and learning: legal games, samples, symmetric images, resignation, and a network that learns."""

import pickle
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from kibitz.core.names import BadInput
from kibitz.core.progress import SILENT, Reporter
from kibitz.games import legal_actions, load, positions
from kibitz.nets.boards.geometry import geometry_of
from kibitz.nets.boards.networks import Shape, layer_sizes
from kibitz.play import players
from kibitz.play.match import match
from kibitz.search.batched_puct import new_batch, settings_for
from kibitz.search.tree import new_network_trees
from kibitz.train import trainer
from kibitz.train.alphazero.config import AlphaZeroConfig, refuse
from kibitz.train.alphazero.learner import GAMES, AlphaZero, _tables
from kibitz.train.alphazero.moves import SEAT, Rule, choose_move
from kibitz.train.alphazero.self_play import COUNTS, SelfPlay, exchanges_for, play_round
from kibitz.train.learner import joined
from kibitz.train.packing import Packed, pack

SMALL = {"games": 6, "parts": 1, "simulations": 8, "fast_simulations": 2, "channels": 4, "blocks": 1, "device": "cpu"}


def played(rounds=200, said=0.0, **values):
    """Self-play of Tic-Tac-Toe with a network that always says that seat 0 is losing by `said`."""
    game, config = load("tic_tac_toe"), AlphaZeroConfig("tic_tac_toe", **SMALL | values)
    play, batch = SelfPlay(game, config, config.part(0)), new_batch(game, config.games)
    for _ in range(rounds):
        play.advance(batch)
        stones = batch.encodings.sum(axis=1)
        batch.logits[:], batch.values[:] = 0, np.where(stones % 2, said, -said)
    return play


def as_bytes(samples):
    """Samples with packed rows as plain arrays, to compare them."""
    return {key: (each.numbers() if isinstance(each, Packed) else each).tobytes() for key, each in samples.items()}


def counts(play):
    return dict(zip(COUNTS, play.counts.tolist(), strict=True))


@pytest.mark.parametrize("selection", ["gumbel", "puct"])
def test_samples_are_of_legal_positions(selection):
    """Policies lie on empty cells and sum to 1; outcomes are those of finished games, for the seat that moved."""
    play = played(selection=selection, full_share=1.0)
    assert counts(play)["games"] > 5
    for game in play.finished:
        marks = game["encodings"].numbers().reshape(-1, 2, 9).sum(axis=1)
        legal = game["legal"].numbers()
        assert ((marks == 0) == (legal == 1)).all()
        assert (game["policies"][legal == 0] == 0).all()
        np.testing.assert_allclose(game["policies"].sum(axis=1) / 65535, 1, atol=1e-3)
        assert set(game["outcomes"].tolist()) <= {-1.0, 0.0, 1.0}
        assert (marks.sum(axis=1) == np.arange(len(marks))).all()  # every search was a full one
        assert (np.diff(game["outcomes"]) == -2 * game["outcomes"][:-1]).all()


def test_fast_searches_are_not_learned_from():
    play = played(full_share=0.25)
    rows = sum(len(game["outcomes"]) for game in play.finished)
    assert 0.1 < rows / counts(play)["moves"] < 0.4


def test_a_search_that_begins_anew_with_another_network_keeps_its_number_of_simulations():
    """Else full searches, which are interrupted more often, would turn into fast ones."""
    play = played(rounds=0, full_share=0.5, simulations=20)
    batch = new_batch(play.game, 6)
    for _ in range(40):
        play.restart_searches()
        for _ in range(24):  # enough for one full search
            play.advance(batch)
    rows = sum(len(game["outcomes"]) for game in play.finished)
    moves = counts(play)["moves"]
    assert moves > 100
    assert 0.4 < rows / moves < 0.6


def test_an_iteration_too_short_for_a_search_is_refused():
    with pytest.raises(BadInput, match="rounds=16 should be above simulations=16"):
        refuse(AlphaZeroConfig("tic_tac_toe", rounds=16, simulations=16), load("tic_tac_toe"))
    refuse(AlphaZeroConfig("tic_tac_toe", rounds=17, simulations=16), load("tic_tac_toe"))


def test_some_games_begin_with_random_moves():
    play = played(full_share=1.0, opening=4, rounds=800)
    first = [game["encodings"][:1].numbers().sum() for game in play.finished]
    assert set(first) == {0, 1, 2, 3, 4}  # stones at the first search
    assert 0.3 < np.mean(np.array(first) == 0) < 0.7
    over = played(full_share=1.0, opening=9)  # openings that end a game are dropped
    with_all = [game["encodings"][:1].numbers().sum() for game in over.finished if len(game["outcomes"])]
    assert 0 in with_all
    assert max(with_all) > 4


def test_batches_are_full():
    """Every game has one row of each batch, except in the round in which it ends."""
    play = played(rounds=50)
    play.advance(new_batch(play.game, 6))
    assert (play.table.seats["waiting"] == 1).sum() >= 5


def test_resignations_are_counted_and_measured():
    """A seat that is told that it is lost resigns, unless the game is played on to see whether it was."""
    resigned = counts(played(resign=0.5, play_on=0.0, said=0.99))
    measured = counts(played(resign=0.5, play_on=1.0, said=0.99))
    never = counts(played(resign=1.0, said=0.99))
    assert resigned["resigned"] > 0
    assert resigned["played_on"] == 0
    assert measured["resigned"] == never["resigned"] == 0
    assert measured["played_on"] >= measured["false_resignations"] > 0


@pytest.mark.parametrize(("ply", "chosen"), [(3, 2), (4, 1)])
def test_noise_decides_the_first_moves_and_the_search_the_later_ones(ply, chosen):
    """Two actions of equal visits: the first is better, the noise is for the second."""
    tree, seat = new_network_trees(1, 3), np.zeros(1, SEAT)
    tree.first[0], tree.children[0], tree.prior[1:], tree.proven[:] = 1, 2, 0.5, 2.0
    tree.visits[:], tree.total[1:] = (5, 2, 2), (1.0, -1.0)
    seat["ply"] = ply
    rule = Rule(2, 4, 1.0, 2.0, 0.0, temperature_moves=4, opening=0)
    settings = settings_for(load("tic_tac_toe"), gumbel=True)
    noise, rng = np.array([0.0, 50.0]), np.ones(2, np.uint64)
    assert choose_move(tree, 0, seat[0], settings, rule, np.zeros(2), noise, rng) == chosen


def test_games_in_progress_survive_packing():
    one = played(rounds=40)
    packed = one.table.packed()
    two = SelfPlay(one.game, one.config, one.config.part(0))
    two.table.unpack(packed)
    for play in (one, two):
        play.restart_searches()
        play.finished = []
        batch = new_batch(play.game, 6)
        for _ in range(60):
            play.advance(batch)
    assert len(one.finished) == len(two.finished) > 0
    for a, b in zip(one.finished, two.finished, strict=True):
        assert as_bytes(a) == as_bytes(b)


class Delayed:
    """Answers that depend on a row alone, and are written when they are waited for, as a GPU's may be."""

    on_gpu = True

    def __init__(self, game):
        self.game, self.asked = game, []

    def exchange(self, rows, number):
        return DelayedExchange(self, new_batch(self.game, rows), number)


class DelayedExchange:
    def __init__(self, evaluator, batch, number):
        self.evaluator, self.batch, self.number = evaluator, batch, number

    def ask(self):
        self.evaluator.asked.append(self.number)

    def wait(self):
        if self.number in self.evaluator.asked:
            self.evaluator.asked.remove(self.number)
            weights = np.random.default_rng(1).normal(size=(18, 10))
            found = np.stack([row @ weights for row in self.batch.encodings])
            self.batch.logits[:], self.batch.values[:] = found[:, :-1], np.tanh(found[:, -1])


def test_two_batches_in_alternation_play_the_games_of_one():
    """While the games of one half are searched the other half waits for its answers."""
    found = []
    for on_gpu in (True, False):
        play = SelfPlay(load("tic_tac_toe"), AlphaZeroConfig("tic_tac_toe", **SMALL | {"games": 7}), range(7))
        evaluate = Delayed(play.game)
        evaluate.on_gpu = on_gpu
        exchanges = exchanges_for(play, evaluate)
        assert [(first, len(each.batch.values)) for first, each in exchanges] == (
            [(0, 3), (3, 4)] if on_gpu else [(0, 7)]
        )
        for _ in range(100):
            play_round(play, exchanges)
        assert evaluate.asked == ([0, 1] if on_gpu else [0])
        found.append(play)
    one, two = found
    assert one.counts.tolist() == two.counts.tolist()
    assert len(one.finished) > 5
    for a, b in zip(one.finished, two.finished, strict=True):
        assert as_bytes(a) == as_bytes(b)


def test_symmetric_images_of_a_sample_are_samples():
    """Each image of an encoding is that of the image position, with the policy on the image actions."""
    game = load("tic_tac_toe")
    learner = AlphaZero(AlphaZeroConfig("tic_tac_toe", **SMALL), game)
    state = positions(game)[0]
    for action in (0, 5):
        game.play(state, action)
    encoding, legal = np.zeros(18, np.float32), np.zeros(9, np.uint8)
    game.observe(state, 0, encoding)
    legal[legal_actions(game, state)] = 1
    policy = np.where(legal, np.arange(9), 0).astype(np.uint16)
    row = {
        "encodings": pack(encoding[None].repeat(200, 0)),
        "policies": policy[None].repeat(200, 0),
        "legal": pack(legal[None].repeat(200, 0)),
        "values": np.zeros(200, np.float32),
    }
    encodings, policies, allowed, _ = learner._minibatch(row)
    assert len({each.numpy().tobytes() for each in encodings}) == 8
    wanted = {}
    for cells, actions in zip(geometry_of(game).cell_images, geometry_of(game).action_images, strict=True):
        image = np.zeros((2, 9), np.float32)
        image[:, cells] = encoding.reshape(2, 9)
        probs = np.zeros(9, np.float32)
        probs[actions] = policy / policy.sum()
        wanted[image.tobytes()] = probs
    for seen, probs, possible in zip(encodings, policies, allowed, strict=True):
        np.testing.assert_allclose(wanted[seen.numpy().tobytes()], probs.numpy(), atol=1e-6)
        assert (possible.numpy() == (seen.view(2, 9).sum(dim=0) == 0).numpy()).all()


def test_what_plays_is_a_moving_average_of_weights():
    """After two iterations of learning: averaging times the first weights, and the rest the second ones."""
    learner = AlphaZero(
        AlphaZeroConfig("tic_tac_toe", **SMALL, steps=2, batch_size=8, averaging=0.75), load("tic_tac_toe")
    )
    rows = played(full_share=1.0).finished
    samples = joined(rows) | {"counts": np.zeros((1, 5), int)}
    weights = []
    for iteration in (1, 2):
        learner.learn(iteration, samples, SILENT)
        weights.append(learner.network.folded()["pool.weight"])
    np.testing.assert_allclose(learner.weights()["pool.weight"], 0.75 * weights[0] + 0.25 * weights[1], atol=1e-6)
    assert not np.allclose(weights[0], weights[1], atol=1e-4)


@pytest.mark.parametrize("name", ["connect_four", "breakthrough", "hex:7", "hex:11", "othello", "gomoku", "yavalath"])
def test_the_networks_of_the_gpu_preset_are_below_two_megabytes(name):
    """In half precision, by the number of weights; the policy has at most a plane per cell and action of a cell."""
    game = load(name)
    preset = AlphaZero.preset(game, "gpu")
    cells, actions, planes = len(game.board().places), game.facts.num_actions, game.facts.encoding
    geometry = SimpleNamespace(
        cells=cells, planes=planes // cells, taps=range(9), by_cell=actions // cells, others=actions % cells
    )
    sizes = layer_sizes(geometry, Shape(preset["channels"], preset["blocks"]))
    assert 2 * sum((inputs + 1) * outputs for inputs, outputs in sizes.values()) < 1.95e6


def test_what_cannot_be_trained_is_refused():
    with pytest.raises(BadInput, match="it can't play leduc"):
        trainer.configured("alphazero", "leduc", None, {})
    with pytest.raises(BadInput, match="parts=8 should be at most games=4"):
        trainer.configured("alphazero", "tic_tac_toe", None, {"games": 4})


# ---------------------------------------------------------------- a network that has learned


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    values = {
        "iterations": 14, "games": 64, "parts": 1, "rounds": 96, "simulations": 12, "full_share": 1.0, "channels": 12,
        "blocks": 1, "steps": 40, "batch_size": 64, "learning_rate": 5e-3, "averaging": 0.5, "evaluate_every": 0,
        "device": "cpu",
    }  # fmt: skip
    made = trainer.new_run(
        tmp_path_factory.mktemp("alphazero") / "run",
        "alphazero",
        trainer.configured("alphazero", "tic_tac_toe", None, values),
    )
    trainer.train(made, 1)
    return made


def shares(game, one, two, games):
    """Shares of won and of lost games of the first player."""
    found = match(game, [one, two], games, processes=1).result
    return found.wins / games, found.losses / games


def test_the_network_alone_beats_random(run):
    won, lost = shares("tic_tac_toe", f"net:{run.folder}", "random", 100)
    assert won > 0.6  # 73 to 78% with five seeds; random play wins 44%
    assert lost < 0.25


def test_with_search_it_draws_against_perfect_play(run):
    won, lost = shares("tic_tac_toe", f"puct:5000,net={run.folder}", "alphabeta:9", 10)
    assert won == 0
    assert lost == 0


def test_puct_with_a_network_takes_simulations_and_seconds(run):
    game = load("tic_tac_toe")
    for budget in ("simulations=40", "seconds=0.05", "simulations=40,threads=2"):
        player = players.make_for(f"puct:{budget},net={run.folder}", game)
        assert player.move(positions(game)[0]) in range(9)
        assert player.advice.simulations > 0


def test_the_principal_variation_goes_on_from_the_best_move(run):
    game = load("tic_tac_toe")
    player = players.make_for(f"puct:200,net={run.folder}", game)
    state, best = positions(game)[0], player.move(positions(game)[0])
    line = player.advice.line
    assert line[0] == best
    assert len(line) > 2
    for action in line:  # all of them legal
        assert action in legal_actions(game, state)
        game.play(state, action)


def test_options_that_mean_nothing_with_a_network_are_refused(run):
    game = load("tic_tac_toe")
    with pytest.raises(BadInput, match="plies=3 is about playouts"):
        players.make_for(f"puct:10,net={run.folder},plies=3", game)
    with pytest.raises(BadInput, match="give one of them"):
        players.make_for(f"puct:10,net={run.folder},policy=models/hex-7", game)


def test_threads_without_a_network_are_refused():
    with pytest.raises(BadInput, match="threads=2 is for a network"):
        players.make_for("puct:10,threads=2", load("tic_tac_toe"))


def test_the_file_of_a_run_is_described(run):
    from kibitz.train.descriptions import describe

    found = describe(run.path("network.safetensors"))
    assert (found.game, found.player, found.what) == ("tic_tac_toe", "net", "12 x 1 blocks")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_gpu_answers_as_the_processor_does(run):
    from kibitz.nets.boards.networks import read_network
    from kibitz.nets.boards.processor_network import evaluator

    network, geometry = read_network(run.path("network.safetensors")), geometry_of(load("tic_tac_toe"))
    encodings = np.random.default_rng(1).integers(0, 2, (16, 18)).astype(np.float32)
    one, two = (evaluator(geometry, network.shape, network.weights, device)(encodings) for device in ("cpu", "cuda"))
    np.testing.assert_allclose(one[0], two[0], atol=0.05)
    np.testing.assert_allclose(one[1], two[1], atol=0.02)


class Watched:
    """Workers in this process; `sent` are the bytes that each task, and what they share, take on their way."""

    def __init__(self, work):
        self.work, self.sent, self.shared_bytes = work, [], []

    def share(self, value):
        self.value = value
        self.shared_bytes.append(len(pickle.dumps(value)))

    def do(self, tasks):
        for task in list(tasks):
            self.sent.append(pickle.dumps(task))
            yield self.work(pickle.loads(self.sent[-1]), self.value)


def test_a_worker_is_sent_the_games_of_its_parts_alone():
    """What all workers get doesn't grow with the games; each part's games are sent once."""
    config = AlphaZeroConfig("tic_tac_toe", **SMALL | {"games": 400, "parts": 4, "rounds": 12})
    learner = AlphaZero(config, load("tic_tac_toe"))
    workers = Watched(AlphaZero.worker(config))
    for iteration in (1, 2):
        samples = learner.collect(workers, iteration, SILENT)
        learner.tables = _tables(samples, config.parts)
    assert workers.shared_bytes[0] == workers.shared_bytes[1]
    games = sum(array.nbytes for table in learner.tables for array in table.values())
    assert games > 20_000
    assert max(map(len, workers.sent[:4])) < 200
    assert sum(map(len, workers.sent[4:])) < 1.5 * games
    assert max(map(len, workers.sent[4:])) < 0.4 * games


def test_samples_of_unfinished_games_that_version_0_2_kept_are_left_out_with_a_message(tmp_path):
    """It kept their encodings instead of positions. The games go on, and the message comes once."""
    values = SMALL | {"iterations": 1, "rounds": 40, "steps": 1, "batch_size": 4, "evaluate_every": 0}
    run = trainer.new_run(tmp_path / "run", "alphazero", trainer.configured("alphazero", "tic_tac_toe", None, values))
    trainer.train(run, 1)
    (file,) = run.folder.glob("checkpoints/*/games.safetensors")
    tensors, _ = GAMES.read(file)
    count = len(tensors.pop("table.0.positions"))
    assert count
    GAMES.write(file, tensors | {"table.0.encodings": np.zeros((count, 18), np.uint8)})
    told = []

    class Listener(Reporter):
        def message(self, text):
            told.append(text)

    trainer.train(trainer.open_run(run.folder, 3), 1, report=Listener())
    assert told == [
        f"{count} samples of unfinished games are left out: version 0.2 kept them in a form that isn't read any more"
    ]
    assert run.read_lines()[-1]["games"] > 0


def test_policies_are_rounded_by_at_most_half_a_step_of_16_bits():
    """Uniform visits of a search give thirds and the like, which 16 bits don't hold; each sums to 1 before."""
    games = played(said=0.3).finished
    found = np.concatenate([game["policies"].astype(np.int64) for game in games])
    legal = np.concatenate([game["legal"].numbers() for game in games]).sum(axis=1)
    assert len(found)
    assert (np.abs(found.sum(axis=1) - 65535) <= legal / 2).all()
    assert (found[legal == 1].max(axis=1) == 65535).all()
