"""Games recorded to learn from: each of its own luck, the same whoever plays them and however often it stops."""

import pytest

from kibitz.arena.match import FILE
from kibitz.arena.recording import open_recording, record_into
from kibitz.core.names import BadInput
from kibitz.games.records import read_records

ASKED = ("leduc", ["random"], 40, 1)


@pytest.fixture
def whole(tmp_path):
    record_into(open_recording(tmp_path / "whole", *ASKED), 1)
    return (tmp_path / "whole" / FILE).read_bytes()


def test_every_game_has_a_deal_of_its_own(tmp_path):
    run = open_recording(tmp_path / "run", "doppelkopf:thesis", ["random"], 6, 1)
    records = record_into(run, 1)
    assert len({tuple(record.actions[:48]) for record in records}) == 6
    assert {tuple(record.players) for record in records} == {("random",) * 4}


def test_named_players_go_through_the_seats(tmp_path):
    records = record_into(open_recording(tmp_path / "run", "kuhn", ["random", "oos:10"], 4, 1), 1)
    assert [record.players for record in records] == [["random", "oos:10"], ["oos:10", "random"]] * 2


@pytest.mark.parametrize("processes", [1, 2])
def test_it_goes_on_after_a_kill_to_the_same_games(tmp_path, whole, processes):
    run = open_recording(tmp_path / "run", *ASKED)

    def kill(record):
        if record.number == 11:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        record_into(run, 1, on_record=kill)
    run.path(FILE).write_bytes(run.path(FILE).read_bytes()[:-9])  # a line that was cut off
    record_into(open_recording(tmp_path / "run", *ASKED), processes, alone=0.0)
    assert run.path(FILE).read_bytes() == whole


def test_it_may_grow(tmp_path, whole):
    record_into(open_recording(tmp_path / "run", "leduc", ["random"], 9, 1), 1)
    record_into(open_recording(tmp_path / "run", *ASKED), 1)
    assert (tmp_path / "run" / FILE).read_bytes() == whole
    assert len(read_records(tmp_path / "run" / FILE)) == 40


def test_what_cannot_be_recorded_is_refused_before_anything_is_written(tmp_path):
    for names, why in (
        (["random"] * 3, "name one for all seats, or 4, not 3"),
        (["uct:10"], "would peek"),
        (["human"], "a human can't"),
    ):
        with pytest.raises(BadInput, match=why):
            open_recording(tmp_path / "run", "doppelkopf:thesis", names, 10, 1)
    with pytest.raises(BadInput, match="games should be at least 1"):
        open_recording(tmp_path / "run", "doppelkopf:thesis", ["random"], 0, 1)
    assert not (tmp_path / "run").exists()
    open_recording(tmp_path / "run", *ASKED)
    with pytest.raises(BadInput, match="holds another run, whose seed is 1, not 2"):
        open_recording(tmp_path / "run", "leduc", ["random"], 40, 2)
