"""Matches that were stopped: they are resumed from their folder, which is never mixed with another match."""

import json

import pytest

from kibitz.core import steps
from kibitz.core.names import BadInput
from kibitz.core.progress import Reporter
from kibitz.core.runs import Run
from kibitz.play.match import FILE, open_run, play_into

ASKED = ("kuhn", ["random", "random"], 30, 1)


class Listener(Reporter):
    """Keeps the number of games of each report, and interrupts after a number of them."""

    def __init__(self, stop_after=None):
        self.seen, self.stop_after = [], stop_after

    def progress(self, done, total=None, note=""):
        self.seen.append(done)
        if done == self.stop_after:
            raise KeyboardInterrupt


@pytest.fixture(autouse=True)
def every_game_is_reported(monkeypatch):
    monkeypatch.setattr(steps, "REPORT_SECONDS", -1)


def played(folder, *asked):
    run = open_run(folder, "match", *(asked or ASKED))
    return play_into(run, 1)


@pytest.fixture
def whole(tmp_path):
    """The bytes of a match that was never stopped."""
    played(tmp_path / "whole")
    return (tmp_path / "whole" / FILE).read_bytes()


def test_a_stopped_match_is_resumed_to_the_same_games(tmp_path, whole):
    lines = whole.splitlines(keepends=True)
    played(tmp_path / "run", "kuhn", ["random", "random"], 30, 1)
    (tmp_path / "run" / FILE).write_bytes(b"".join(lines[5:12][::-1]))
    listener = Listener()
    run = open_run(tmp_path / "run", "match", *ASKED)
    play_into(run, 1, listener)
    assert listener.seen == list(range(7, 31))  # the seven games that were there count at once
    assert run.path(FILE).read_bytes() == whole


def test_each_game_is_on_disk_as_soon_as_it_ends(tmp_path, whole):
    run = open_run(tmp_path / "run", "match", *ASKED)

    class OnDisk(Listener):
        def progress(self, done, total=None, note=""):
            assert run.path(FILE).read_bytes().count(b"\n") == done
            super().progress(done, total, note)

    listener = OnDisk(stop_after=10)
    with pytest.raises(KeyboardInterrupt):
        play_into(run, 1, listener)
    assert listener.seen == list(range(1, 11))
    assert run.path(FILE).read_bytes() == b"".join(whole.splitlines(keepends=True)[:10])
    played(tmp_path / "run")
    assert run.path(FILE).read_bytes() == whole


@pytest.mark.parametrize("cut", [1, 20, 150])
def test_a_last_line_that_was_cut_off_is_played_again(tmp_path, whole, cut):
    run = open_run(tmp_path / "run", "match", *ASKED)
    run.path(FILE).write_bytes(whole[:-cut])
    assert len(played(tmp_path / "run")) == 30
    assert run.path(FILE).read_bytes() == whole


def test_a_match_may_be_killed_again_and_again(tmp_path, whole):
    """A line that was cut off must not run into the next one."""
    run = open_run(tmp_path / "run", "match", *ASKED)
    run.path(FILE).write_bytes(whole[:1000])
    for count in (13, 21):
        with pytest.raises(KeyboardInterrupt):
            play_into(run, 1, Listener(stop_after=count))
        run.path(FILE).write_bytes(run.path(FILE).read_bytes()[:-9])
    played(tmp_path / "run")
    assert run.path(FILE).read_bytes() == whole


def test_a_match_is_extended_by_more_games(tmp_path, whole):
    played(tmp_path / "run", "kuhn", ["random", "random"], 12, 1)
    assert len(played(tmp_path / "run")) == 30
    assert (tmp_path / "run" / FILE).read_bytes() == whole
    assert json.loads((tmp_path / "run" / "config.json").read_text())["games"] == 30


def test_a_finished_match_is_read_and_not_changed(tmp_path, whole):
    assert len(played(tmp_path / "whole")) == 30
    assert (tmp_path / "whole" / FILE).read_bytes() == whole


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        (("leduc", ["random", "random"], 30, 1), 'whose game is "kuhn", not "leduc"'),
        (("kuhn", ["random", "oos:9"], 30, 1), r'whose players is \["random", "random"\]'),
        (("kuhn", ["random", "random"], 30, 2), "whose seed is 1, not 2"),
        (("kuhn", ["random", "random"], 29, 1), "started with games = 30, which can only grow: 29 is less"),
    ],
)
def test_another_match_in_the_folder_is_refused(tmp_path, whole, asked, text):
    before = {path.name: path.read_bytes() for path in (tmp_path / "whole").iterdir()}
    with pytest.raises(BadInput, match=text):
        played(tmp_path / "whole", *asked)
    assert before == {path.name: path.read_bytes() for path in (tmp_path / "whole").iterdir()}


@pytest.mark.parametrize(
    ("name", "content", "text"),
    [
        ("diary.txt", "mine", "holds other things"),
        ("config.json", "mine", "config.json can't be read"),
        ("config.json", "[1]", "is no configuration of Kibitz"),
        ("config.json", '{"colour": "red"}', "holds another run, whose colour is"),
    ],
)
def test_a_foreign_folder_is_refused_and_not_touched(tmp_path, name, content, text):
    (tmp_path / name).write_text(content)
    with pytest.raises(BadInput, match=text):
        played(tmp_path)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [(name, content)]


def test_a_file_that_a_kill_left_half_written_is_ignored(tmp_path, whole):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "config.json.123.part").write_text("{")
    played(tmp_path / "run")
    assert (tmp_path / "run" / FILE).read_bytes() == whole


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"seed": 2}, "game 4 is of another match"),
        ({"game": "leduc"}, "game 4 is of another match"),
        ({"players": ["random", "oos:9"]}, "game 4 is of another match"),
        ({"number": 30}, "game 31 is of another match"),
        ({"number": 2}, "game 3 is there twice"),
    ],
)
def test_games_of_another_match_in_the_file_are_refused(tmp_path, whole, change, text):
    lines = whole.decode().splitlines(keepends=True)
    lines[3] = json.dumps(json.loads(lines[3]) | change) + "\n"
    (tmp_path / "whole" / FILE).write_text("".join(lines))
    with pytest.raises(BadInput, match=text):
        played(tmp_path / "whole")


def test_two_processes_never_write_to_one_folder(tmp_path):
    run = open_run(tmp_path / "run", "match", *ASKED)
    with run.lock(), pytest.raises(BadInput, match="is being written by another process"):
        play_into(Run(tmp_path / "run"), 1)
    assert len(play_into(run, 1)) == 30


def test_only_the_named_numbers_of_a_configuration_may_grow(tmp_path):
    Run.create_or_resume(tmp_path / "run", "x", {"steps": 3, "name": "n"})
    with pytest.raises(BadInput, match="whose steps is 3, not 4"):
        Run.create_or_resume(tmp_path / "run", "x", {"steps": 4, "name": "n"})
    grown = Run.create_or_resume(tmp_path / "run", "x", {"steps": 4, "name": "n"}, may_grow=("steps",))
    assert grown.config() == {"steps": 4, "name": "n"}
    with grown.lock():
        assert Run(tmp_path / "run").config() == {"steps": 4, "name": "n"}


def test_a_process_that_is_refused_leaves_the_configuration_as_it_was(tmp_path):
    """One that asks for more games, while another plays."""
    run = open_run(tmp_path / "run", "match", *ASKED)
    before = run.path("config.json").read_bytes()
    more = open_run(tmp_path / "run", "match", "kuhn", ["random", "random"], 40, 1)
    with run.lock(), pytest.raises(BadInput, match="is being written by another process"):
        play_into(more, 1)
    assert run.path("config.json").read_bytes() == before
    assert len(play_into(more, 1)) == 40
    assert run.config()["games"] == 40


def test_a_run_that_has_grown_meanwhile_does_not_shrink(tmp_path):
    open_run(tmp_path / "run", "match", *ASKED)
    one, other = (open_run(tmp_path / "run", "match", "kuhn", ["random", "random"], games, 1) for games in (34, 40))
    play_into(other, 1)
    with pytest.raises(BadInput, match="started with games = 40, which can only grow: 34 is less"):
        play_into(one, 1)
    assert len(play_into(other, 1)) == 40


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        (("kuhn", ["random", "randm"], 2, 1), "randm"),
        (("kuhn", ["random", "random"], 0, 1), "games should be at least 1, not 0"),
        (("kuhn", ["random", "random"], 2, -1), "seed should be at least 0, not -1"),
    ],
)
def test_a_match_that_cannot_be_played_leaves_no_folder(tmp_path, asked, text):
    with pytest.raises(BadInput, match=text):
        open_run(tmp_path / "run", "match", *asked)
    assert not (tmp_path / "run").exists()


def test_more_games_than_memory_holds_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("kibitz.core.memory.limit", lambda: 1e9)
    with pytest.raises(BadInput, match=r"a run of 10,000,000 games needs 4\.00 GB of memory or more"):
        open_run(tmp_path / "run", "match", "kuhn", ["random", "random"], 10**7, 1)
    assert not (tmp_path / "run").exists()
