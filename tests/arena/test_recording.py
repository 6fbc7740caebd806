"""Recordings: each game has its own chance outcomes; the same games in any number of processes, stopped or not."""

import pytest

from kibitz.core import steps
from kibitz.core.names import BadInput
from kibitz.core.progress import Reporter
from kibitz.games.records import read_records
from kibitz.play.match import FILE, open_run, play_into

ASKED = ("record", "leduc", ["random"], 40, 1)


class Stop(Reporter):
    """Interrupts after a number of games."""

    def __init__(self, after):
        self.after = after

    def progress(self, done, total=None, note=""):
        if done == self.after:
            raise KeyboardInterrupt


@pytest.fixture
def whole(tmp_path):
    play_into(open_run(tmp_path / "whole", *ASKED), 1)
    return (tmp_path / "whole" / FILE).read_bytes()


def test_every_game_has_a_deal_of_its_own(tmp_path):
    run = open_run(tmp_path / "run", "record", "doppelkopf:thesis", ["random"], 6, 1)
    records = play_into(run, 1)
    assert len({tuple(record.actions[:48]) for record in records}) == 6
    assert {tuple(record.players) for record in records} == {("random",) * 4}


def test_players_move_on_by_one_seat_per_game(tmp_path):
    records = play_into(open_run(tmp_path / "run", "record", "kuhn", ["random", "oos:10"], 4, 1), 1)
    assert [record.players for record in records] == [["random", "oos:10"], ["oos:10", "random"]] * 2


@pytest.mark.parametrize("processes", [1, 2])
def test_a_killed_recording_is_resumed_to_the_same_games(tmp_path, whole, processes, monkeypatch):
    run = open_run(tmp_path / "run", *ASKED)
    monkeypatch.setattr(steps, "REPORT_SECONDS", -1)
    with pytest.raises(KeyboardInterrupt):
        play_into(run, 1, Stop(after=12))
    run.path(FILE).write_bytes(run.path(FILE).read_bytes()[:-9])  # a line that was cut off
    play_into(open_run(tmp_path / "run", *ASKED), processes, alone=0.0)
    assert run.path(FILE).read_bytes() == whole


def test_a_recording_may_be_extended(tmp_path, whole):
    play_into(open_run(tmp_path / "run", "record", "leduc", ["random"], 9, 1), 1)
    play_into(open_run(tmp_path / "run", *ASKED), 1)
    assert (tmp_path / "run" / FILE).read_bytes() == whole
    assert len(read_records(tmp_path / "run" / FILE)) == 40


def test_what_cannot_be_recorded_is_refused_before_anything_is_written(tmp_path):
    for names, why in (
        (["random"] * 3, "name one for all seats, or 4, not 3"),
        (["uct:10"], "hidden information"),
        (["human"], "a human can't play a recording"),
    ):
        with pytest.raises(BadInput, match=why):
            open_run(tmp_path / "run", "record", "doppelkopf:thesis", names, 10, 1)
    with pytest.raises(BadInput, match="games should be at least 1"):
        open_run(tmp_path / "run", "record", "doppelkopf:thesis", ["random"], 0, 1)
    assert not (tmp_path / "run").exists()
    open_run(tmp_path / "run", *ASKED)
    with pytest.raises(BadInput, match="holds another run, whose seed is 1, not 2"):
        open_run(tmp_path / "run", "record", "leduc", ["random"], 40, 2)
