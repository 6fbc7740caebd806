"""Recorded games as arrays: their content, their cache, and which files are refused."""

import json

import numpy as np
import pytest

from kibitz.core.names import BadInput
from kibitz.doppelkopf.learn import recorded_games
from kibitz.doppelkopf.learn.recorded_games import ARRAYS, NOTHING, is_validation, read_games
from kibitz.doppelkopf.rules import thesis_lines
from kibitz.games import full_name, load
from kibitz.play.match import open_run, play_into, play_match

from .records import RULES, records, write


def same(one, other):
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in ARRAYS)


def test_arrays_are_those_of_the_recorded_games(tmp_path):
    games = read_games(write(tmp_path / "games.jsonl"), RULES)
    assert len(games) == 24
    for i, record in enumerate(records()):
        end = record.verify()
        hands = [sum(1 << 2 * kind for kind in record.actions[12 * seat : 12 * seat + 12]) for seat in range(4)]
        assert games.hands[i].tolist() == hands
        assert games.played[i].tolist() == end.played.tolist()
        assert games.leaders[i].tolist() == end.leaders[:12].tolist()
        assert games.scores[i].tolist() == record.payoffs
        assert [np.flatnonzero(own).tolist() for own in games.own[i]] == [
            [at for at in range(48) if (int(end.leaders[at >> 2]) + at & 3) == seat] for seat in range(4)
        ]
        assert games.actions[i, 48 : games.lengths[i]].tolist() == record.actions[48:]
        assert (games.actions[i, games.lengths[i] :] == NOTHING).all()


def test_lines_of_the_thesis_give_the_same_games(tmp_path):
    form = thesis_lines.form(position="dealer")
    text = "".join(
        thesis_lines.write_line(load(RULES), record.actions, record.verify(), seat, form)
        for record in records()
        for seat in range(4)
    )
    (tmp_path / "games.lines").write_text(text)
    found = read_games(tmp_path / "games.lines", RULES, form)
    silent = [i for i, record in enumerate(records()) if not thesis_lines.is_lossy(record.verify())]
    recorded = read_games(write(tmp_path / "games.jsonl"), RULES)
    assert len(found) == 24
    assert same(found.take(np.array(silent)), recorded.take(np.array(silent)))
    with pytest.raises(BadInput, match=r"games\.lines, line 1: seat "):
        read_games(tmp_path / "games.lines", RULES)


def test_arrays_are_cached_while_the_file_is_unchanged(tmp_path, monkeypatch):
    path = write(tmp_path / "games.jsonl")
    first = read_games(path, RULES)
    reads = []
    plain = recorded_games._read
    monkeypatch.setattr(recorded_games, "_read", lambda *given: reads.append(1) or plain(*given))
    assert same(read_games(path, RULES), first)
    assert not reads
    kept = tmp_path / "games.jsonl.safetensors"
    whole = kept.read_bytes()
    for damaged in (whole[:-5], whole[:-500] + bytes([whole[-500] ^ 1]) + whole[-499:]):
        kept.write_bytes(damaged)
        assert same(read_games(path, RULES), first)
        assert kept.read_bytes() == whole
    assert len(reads) == 2
    write(path, records()[:5])
    assert len(read_games(path, RULES)) == 5
    assert len(reads) == 3


def test_duplicates_are_removed(tmp_path):
    one, two = records()[:2]
    other = json.loads(one.line())
    other["actions"][:12] = other["actions"][:12][::-1]  # dealt in another order
    (tmp_path / "games.jsonl").write_text(one.line() + two.line() + one.line() + json.dumps(other) + "\n")
    assert len(read_games(tmp_path / "games.jsonl", RULES)) == 2


def test_no_deal_is_in_both_training_and_validation_set(tmp_path):
    """Each deal of a match is played four times."""
    rotated = tuple(play_match(RULES, ["random"] * 4, 120, 1, 1))
    games = read_games(write(tmp_path / "games.jsonl", rotated), RULES)
    apart = is_validation(games, 0.5)
    deals = [{tuple(hands) for hands in games.hands[which].tolist()} for which in (apart, ~apart)]
    assert len(deals[0] | deals[1]) == 30
    assert not deals[0] & deals[1]
    assert 5 < len(deals[0]) < 25
    assert (is_validation(games, 0.2) <= apart).all()  # a smaller share is a subset of a larger one


def test_the_validation_share_is_about_the_requested_one():
    class Fake:
        hands = np.random.default_rng(1).integers(0, 2**48, (50_000, 4))

        def __len__(self):
            return len(self.hands)

    for share in (0.02, 0.3, 0.9):
        assert is_validation(Fake(), share).mean() == pytest.approx(share, abs=0.01)


def spoiled(record, **changes):
    return json.dumps(json.loads(record.line()) | changes) + "\n"


def test_truncated_foreign_and_illegal_games_are_refused_with_their_line(tmp_path):
    one, two = records()[:2]
    cards = two.actions[-48:]
    rules = full_name(load(RULES))
    wrongs = {
        two.line()[:-300]: "line 2, is no record of a game",
        spoiled(two, payoffs=[3.0, -1.0, -1.0, -1.0]): "line 2: the payoffs are",
        spoiled(two, payoffs=[1.0, -1.0], players=["a", "b"]): "line 2: the payoffs are",
        spoiled(two, actions=two.actions[:-1]): "line 2: the game ends after 47 of 48 cards",
        spoiled(
            two, actions=[*two.actions, 0]
        ): f"line 2: action {len(two.actions) + 1}: there are more actions after the end of the game",
        spoiled(two, actions=[*two.actions[:-1], 255]): "line 2: card 48: seat ",
        spoiled(two, actions=[*two.actions[:-1], 999]): "line 2: card 48: seat ",
        spoiled(two, actions=[*two.actions[:-1], -1]): "line 2: card 48: seat ",
        spoiled(two, actions=[14] * 3 + two.actions[3:]): "♥Q can't be dealt a third time",
        spoiled(two, actions=[*two.actions[:-48], *cards[::-1]]): "line 2: card ",
        spoiled(two, actions=[0] * 5000): "line 2: action 3: ♣9 can't be dealt",
        spoiled(two, game="doppelkopf"): f"line 2: it is a game of doppelkopf, not of {rules}",
        spoiled(two, game="kuhn"): "line 2: it is a game of kuhn",
        "\n": "line 2, is no record of a game",
    }
    for line, why in wrongs.items():
        path = tmp_path / "bad.jsonl"
        path.write_text(one.line() + line)
        with pytest.raises(BadInput) as caught:
            read_games(path, RULES)
        assert why in str(caught.value)
        assert str(caught.value).startswith(f"{path}, ")
        assert not (tmp_path / "bad.jsonl.safetensors").exists()


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "it has no games"),
        (b"\xff\xfe\x00", "it is not text"),
        (b"\x89PNG\r\n", "it is not text"),
        (b"zz\n", "line 1: 'z'"),
    ],
)
def test_files_without_games_are_refused(tmp_path, data, why):
    (tmp_path / "file").write_bytes(data)
    with pytest.raises(BadInput, match=why):
        read_games(tmp_path / "file", RULES)


def test_an_unfinished_recording_is_refused(tmp_path):
    run = open_run(tmp_path / "run", "record", RULES, ["random"], 5, 1)
    play_into(run, 1)
    assert len(read_games(run.folder, RULES)) == 5
    all_lines = run.path("games.jsonl").read_text().splitlines(keepends=True)
    run.path("games.jsonl").write_text("".join(all_lines[:3]))
    with pytest.raises(BadInput, match=r"holds 3 of 5 games: finish it by kibitz record --out"):
        read_games(run.folder, RULES)
    with pytest.raises(BadInput, match=r"nowhere can't be read"):
        read_games(tmp_path / "nowhere", RULES)
