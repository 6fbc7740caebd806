"""`kibitz replay --svg`, and the same in Python."""

import pytest

import kibitz as package
from kibitz.games.records import Record

RECORD = Record(0, "kuhn", ["a", "b"], 1, [0, 1, 1, 0], [1.0, -1.0])


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "games.jsonl").write_text(RECORD.line())
    return tmp_path


def test_a_game_is_written_as_an_animated_picture(kibitz, folder):
    code, out, _ = kibitz("replay", "games.jsonl", "--svg", "game.svg")
    assert (code, out) == (0, "wrote game.svg\n")
    text = (folder / "game.svg").read_text()
    assert text.count("data-frame=") == 3  # the deal, a bet, a pass
    assert "seat 2: pass; seat 1 gets +1<" in text
    assert text == package.replay_svg(RECORD) == package.replay_svg(folder)


def test_a_state_is_drawn_from_its_history():
    state = package.load("kuhn").initial().play("J").play("Q").play("bet").play("pass")
    text = package.replay_svg(state)
    assert text.replace("<title>kuhn", "<title>kuhn: seat 1 a, seat 2 b") == package.replay_svg(RECORD)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (("--svg", "game.svg", "--seat", "1"), "--svg shows every position and every seat"),
        (("--svg", "game.svg", "--positions", "2"), "--svg shows every position and every seat"),
        (("--svg", "nowhere/game.svg"), "nowhere/game.svg"),
        (("--svg", "."), "can't write .: it is a folder"),
    ],
)
def test_bad_input_gives_one_line_and_writes_nothing(kibitz, folder, options, text):
    code, _, error = kibitz("replay", "games.jsonl", *options)
    assert code == 2
    assert text in error
    assert error.count("\n") == 1
    assert [path.name for path in folder.iterdir()] == ["games.jsonl"]
