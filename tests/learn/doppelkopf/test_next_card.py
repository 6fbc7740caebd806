"""The next-card LSTM: its lines, its predictions, its training, exact resumption, and the player `lstm`."""

from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
import torch

from kibitz.core.names import BadInput
from kibitz.core.progress import Reporter
from kibitz.core.runs import Run
from kibitz.doppelkopf.learn import lstm_training
from kibitz.doppelkopf.learn.lstm import (
    CARDS,
    CHARACTERS,
    NEWLINE,
    LstmReader,
    line_so_far,
    lines_of,
    read_lstm,
    save_lstm,
)
from kibitz.doppelkopf.learn.lstm_training import as_lstm, as_network, card_logits, new_lstm
from kibitz.doppelkopf.learn.predictors import LstmPredictor, most_likely
from kibitz.doppelkopf.learn.recorded_games import is_validation, read_games
from kibitz.doppelkopf.rules import thesis_lines as letters
from kibitz.doppelkopf.rules.next_card import possible_next_cards
from kibitz.games import full_name, legal_actions, load, positions
from kibitz.play.players import make
from kibitz.train import trainer
from kibitz.train.descriptions import describe

from ..contract import Killed, outcome
from .records import RULES, records, write

TINY = {
    "iterations": 3,
    "nodes": 8,
    "batch_size": 7,
    "validation": 0.3,
    "evaluation_games": 5,
    "device": "cpu",
    "seed": 3,
}
GAME = load(RULES)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return write(tmp_path_factory.mktemp("data") / "games.jsonl")


@pytest.fixture(scope="module")
def games(data):
    return read_games(data, RULES)


def begun(folder, data, **values):
    return trainer.new_run(
        folder, "next-card", trainer.configured("next-card", RULES, None, TINY | {"data": str(data)} | values)
    )


def trained(folder, data, **values):
    run = begun(folder, data, **values)
    trainer.train(run)
    return run


# ---------------------------------------------------------------- lines


def test_lines_are_those_of_the_thesis(games):
    found = lines_of(games)
    alphabet = letters.LETTERS + "0123\n"
    for i, record in enumerate(records()):
        for seat in range(4):
            text = letters.write_line(GAME, record.actions, record.verify(), seat, letters.Form())
            assert "".join(alphabet[character] for character in found[4 * i + seat]) == text
    assert CHARACTERS == 29
    assert found.shape == (4 * len(games), 62)


def test_the_line_so_far_is_a_prefix_of_the_whole_line(games):
    found = lines_of(games)
    for position, action in records()[0].replay():
        if action is not None and (seat := GAME.turn(position)) >= 0 and not GAME.is_announcement(position):
            view = positions(GAME)[0]
            GAME.look(position, seat, view)
            line = line_so_far(view, seat)
            assert line == found[seat, : len(line)].tolist()
            assert len(line) == 13 + position.count


# ---------------------------------------------------------------- the network


def test_the_network_of_players_equals_the_trained_one(games):
    module = new_lstm(2, 16, 1)
    line = lines_of(games)[5]
    wanted = module(torch.from_numpy(line[None])).detach().numpy()[0]
    reader = LstmReader(as_network(module))
    for count in (0, 1, 13, 20, 61):
        np.testing.assert_allclose(reader.next_logits(line[:count].tolist()), wanted[count], atol=1e-5)
    np.testing.assert_allclose(
        reader.next_logits(line[:4].tolist()), wanted[4], atol=1e-5
    )  # another line from its beginning
    again = as_lstm(as_network(module))(torch.from_numpy(line[None])).detach().numpy()[0]
    np.testing.assert_allclose(again, wanted, atol=1e-6)


def test_predictions_depend_on_earlier_characters_only(games):
    module, line = new_lstm(1, 8, 1), lines_of(games)[:1].copy()
    before = module(torch.from_numpy(line)).detach()
    line[0, 30:] = NEWLINE
    after = module(torch.from_numpy(line)).detach()
    assert torch.equal(before[0, :31], after[0, :31])
    assert not torch.equal(before[0, 31:], after[0, 31:])


def test_predicted_cards_are_possible(games, file):
    lines, possible = lines_of(games), possible_next_cards(GAME, games.actions, games.lengths, 0, 1).possible
    module = as_lstm(read_lstm(file)[0])
    probs = LstmPredictor(file).predict(games)
    np.testing.assert_allclose(probs.sum(axis=-1), 1)
    found = most_likely(probs, possible)
    by_logits = most_likely(card_logits(module, lines)[0].reshape(probs.shape), possible)
    assert (found.cards == by_logits.cards).all()
    assert (found.legal == by_logits.legal).all()
    assert (possible >> found.cards & 1).all()
    logits, bits = module(torch.from_numpy(lines)).detach().numpy()[:, CARDS], possible.reshape(-1, 48).tolist()
    allowed = np.array([[[each >> kind & 1 for kind in range(24)] for each in row] for row in bits], bool)
    assert (found.cards.reshape(-1, 48) == np.where(allowed, logits[..., :24], -np.inf).argmax(axis=2)).all()
    likeliest = logits.argmax(axis=2)
    legal = (likeliest < 24) & np.take_along_axis(allowed, np.minimum(likeliest, 23)[..., None], 2)[..., 0]
    assert (found.legal.reshape(-1, 48) == legal).all()
    assert 0.1 < legal.mean() < 0.9


# ---------------------------------------------------------------- learning


def test_it_overfits_a_few_games(tmp_path):
    data = write(tmp_path / "games.jsonl", records()[:6])
    run = trained(tmp_path / "run", data, iterations=120, nodes=64, learning_rate=0.01, batch_size=8)
    games = read_games(data, RULES)
    known = games.take(~is_validation(games, TINY["validation"]))
    lines = lines_of(known)
    module = as_lstm(read_lstm(run.path("network.safetensors"))[0])
    logits, loss = card_logits(module, lines)
    found = most_likely(logits, possible_next_cards(GAME, known.actions, known.lengths, 0, 1).possible.reshape(-1, 48))
    assert (found.cards == lines[:, CARDS]).mean() > 0.9
    assert loss < 0.4 < 3 < run.read_lines()[1]["loss"]


def test_presets_are_those_of_table_6(data):
    sizes = {}
    for name in ("thesis", "thesis-128", "thesis-256"):
        found = trainer.configured("next-card", RULES, name, {"data": str(data), "validation": 0.3})
        sizes[name] = (found.nodes, found.batch_size, found.iterations, found.learning_rate)
    assert sizes == {
        "thesis": (64, 25, 10, 0.002),
        "thesis-128": (128, 50, 10, 0.002),
        "thesis-256": (256, 50, 5, 0.002),
    }


class Kill(Reporter):
    """Collects the numbers of steps, and raises `Killed` at the last one."""

    def __init__(self, last, steps):
        self.last, self.steps = last, steps

    def progress(self, done, total=None, note=""):
        if done not in self.steps:
            self.steps.append(done)
        if done == self.last:
            raise Killed


@pytest.mark.parametrize("kept_every", [0.0, 1e9])
def test_a_run_killed_during_an_epoch_resumes_exactly(tmp_path, data, monkeypatch, kept_every):
    (tmp_path / "whole").mkdir()
    whole = outcome(trained(tmp_path / "whole" / "run", data))
    monkeypatch.setattr(trainer.Training, "save_seconds", kept_every)
    monkeypatch.setattr(trainer.Training, "save_share", 0.0)
    run, done = begun(tmp_path / "run", data), []
    for last in (3, 4, 14, 25):
        with pytest.raises(Killed):
            trainer.train(Run(run.folder), report=Kill(last, steps := []))
        done.append(len(steps))
    trainer.train(Run(run.folder))
    assert outcome(run) == whole
    # A step is reported before the checkpoint after it, so the one that a kill hits is done again, and no other.
    assert done == ([3, 2, 11, 12] if kept_every == 0.0 else [3, 4, 14, 25])


def test_more_epochs_extend_a_finished_run(tmp_path, data):
    (tmp_path / "whole").mkdir()
    whole = outcome(trained(tmp_path / "whole" / "run", data))
    run = trained(tmp_path / "run", data, iterations=1)
    trainer.train(Run.create_or_resume(run.folder, "", run.config() | {"iterations": 3}, may_grow=("iterations",)))
    assert outcome(run) == whole


def test_a_resumed_run_refuses_changed_games(tmp_path, data):
    own = write(tmp_path / "games.jsonl")
    run = trained(tmp_path / "run", own, iterations=1)
    write(own, records()[:-1])
    longer = Run.create_or_resume(run.folder, "", run.config() | {"iterations": 3}, may_grow=("iterations",))
    before = run.path("metrics.jsonl").read_text()
    with pytest.raises(BadInput, match=r"games\.jsonl holds other games now"):
        trainer.train(longer)
    assert run.path("metrics.jsonl").read_text() == before


def test_a_network_with_nonfinite_loss_is_not_kept(tmp_path, data, monkeypatch):
    run = begun(tmp_path / "run", data, iterations=1)
    monkeypatch.setattr(lstm_training, "cross_entropy", lambda logits, lines: (logits * torch.nan).mean())
    with pytest.raises(BadInput, match=r"the network's loss is nan: learning_rate=0\.002 is too high"):
        trainer.train(run)
    assert not run.path("network.safetensors").exists()


@pytest.mark.parametrize("spoil", ["cut", "foreign", "gone"])
def test_a_damaged_checkpoint_gives_a_one_line_error(tmp_path, data, spoil):
    run = trained(tmp_path / "run", data, iterations=1)
    [path] = run.folder.glob("checkpoints/*/pupil.safetensors")
    if spoil == "gone":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:-7] if spoil == "cut" else safetensors.numpy.save({"x": np.zeros(3)}))
    with pytest.raises(BadInput, match=r"checkpoints/0000\d\d can't be read, it is damaged: ") as caught:
        trainer.train(Run(run.folder))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"data": ""}, "--data is missing"),
        ({"data": "nowhere"}, "nowhere can't be read"),
        ({"learning_rate": 0.0}, "learning_rate=0.0 is out of range, it should be a number"),
        ({"validation": 1.5}, "validation=1.5 is out of range, it should be a number"),
        ({"validation": 1e-6}, "keeps 0 of 24 games for validation"),
        ({"batch_size": 0}, "batch_size=0 is out of range"),
        ({"position": "left"}, "position=left is out of range"),
        ({"device": "tpu"}, "device=tpu is out of range"),
    ],
)
def test_bad_configurations_are_refused(data, values, why):
    with pytest.raises(BadInput, match=why):
        trainer.configured("next-card", RULES, None, TINY | {"data": str(data)} | values)


@pytest.mark.parametrize("game", ["kuhn", "doppelkopf:nines=no"])
def test_other_games_are_refused(data, game):
    with pytest.raises(BadInput, match="next-card is for doppelkopf with nines"):
        trainer.configured("next-card", game, None, {"data": str(data)})


# ---------------------------------------------------------------- files and the player


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "network.safetensors"
    save_lstm(path, full_name(GAME), as_network(new_lstm(2, 8, 1)), "a test")
    return path


def test_a_network_is_described(file):
    found = describe(file)
    assert (found.game, found.made, found.what, found.player) == (full_name(GAME), "a test", "29-8-8-29", "lstm")


def test_damaged_and_foreign_networks_are_refused(file, tmp_path):
    whole = file.read_bytes()
    file.write_bytes(whole[:-9])
    with pytest.raises(BadInput, match="it is damaged or foreign"):
        read_lstm(file)
    safetensors.numpy.save_file({"x": np.zeros(3)}, file)
    with pytest.raises(BadInput, match="is no next-card network of Kibitz"):
        read_lstm(file)
    network = as_network(new_lstm(2, 8, 1))
    for wrong in (
        network._replace(weights=np.zeros((9, 29), np.float32)),
        network._replace(biases=np.full(29, np.nan, np.float32)),
        network._replace(layers=network.layers[::-1]),
        network._replace(layers=[]),
    ):
        save_lstm(file, "doppelkopf", wrong, "")
        with pytest.raises(BadInput, match=r"damaged or foreign: .*(has the shape|aren't finite|is missing)"):
            read_lstm(file)
    with pytest.raises(BadInput, match="no next-card network file"):
        read_lstm(Path("nowhere.safetensors"))


def test_the_player_plays_the_most_likely_legal_card(file):
    player = make(f"lstm:{file}")
    module = as_lstm(read_lstm(file)[0])
    state = positions(GAME)[0]
    player.begin(GAME, 2, 1)
    rng = np.random.default_rng(1)
    while GAME.turn(state) != -2:
        action = int(rng.choice(legal_actions(GAME, state)))
        if GAME.turn(state) == 2:
            view = positions(GAME)[0]
            GAME.look(state, 2, view)
            legal = legal_actions(GAME, state)
            action = player.move(view)
            assert action in legal
            if not GAME.is_announcement(state):
                line = np.full((1, 62), NEWLINE, np.uint8)
                line[0, : 13 + state.count] = line_so_far(view, 2)
                logits = module(torch.from_numpy(line)).detach().numpy()[0, 13 + state.count]
                assert action == legal[int(np.argmax(logits[legal]))]
        GAME.play(state, action)


def test_the_player_refuses_other_games(file):
    with pytest.raises(BadInput, match="next-card is for doppelkopf with nines"):
        make(f"lstm:{file}").begin(load("kuhn"), 0, 1)
