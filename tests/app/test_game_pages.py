"""The pages of the games: one for each, with all of its options, an up-to-date playthrough and a replay."""

import re
from dataclasses import replace
from itertools import groupby
from xml.etree import ElementTree

import make_games
import pytest
from make_games import FOLDER, RECORDS, SHOWN, SIZES, filled, played, shipped_games

from kibitz.app.ui.position_parser import parse_position
from kibitz.core import names
from kibitz.games import CHANCE, load
from kibitz.games.display import display
from kibitz.games.records import read_records

NAMES = list(shipped_games())
every_page = pytest.mark.parametrize("name", NAMES)
MOST_BYTES = 60_000


def test_every_game_has_a_page_and_every_page_a_game():
    assert sorted(path.stem for path in FOLDER.glob("*.md") if path.name != "README.md") == NAMES
    assert sorted(path.stem for path in FOLDER.glob("*.svg")) == NAMES
    assert list(SHOWN) == NAMES
    assert set(SIZES) <= set(NAMES)


@every_page
def test_a_page_has_rules_options_presets_and_a_replay(name):
    text = (FOLDER / f"{name}.md").read_text()
    kind = shipped_games()[name]
    for title in ("Rules", "How moves are written", "Facts and options", "Playthrough", "Elsewhere"):
        assert f"\n## {title}\n" in text
    for option in names.hints(kind):
        assert f"| `{option}` |" in text
    for preset in getattr(kind, "presets", {}):
        assert f"`{name}:{preset}`" in text
    assert f"({name}.svg)" in text
    assert re.findall("<!-- generated: (.*) -->", text) == ["facts", "playthrough"]


def test_generated_parts_and_replays_are_up_to_date():
    stale = [path.name for path, content in make_games.pages() if path.read_bytes() != content]
    assert stale == [], "run python docs/make_games.py"


def test_a_generated_part_is_replaced_and_the_rest_is_kept(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("one\n<!-- generated: facts -->\nold\n<!-- end -->\ntwo\n")
    new = "one\n<!-- generated: facts -->\nnew\n<!-- end -->\ntwo\n"
    assert filled(page, {"facts": lambda: "new"}) == new
    page.write_text(new)
    assert filled(page, {"facts": lambda: "new"}) == new


@every_page
def test_the_game_of_a_page_was_played_as_the_table_says(name):
    record = read_records(RECORDS)[NAMES.index(name)]
    game, player, _ = SHOWN[name]
    assert load(record.game) == load(game)
    assert record.players == [player] * load(game).facts.seats
    assert record.number == NAMES.index(name)  # so that `kibitz replay` finds it
    record.verify()


@pytest.mark.parametrize("name", ["kuhn", *(pytest.param(each, marks=pytest.mark.heavy) for each in NAMES)])
def test_the_same_seed_plays_the_same_game(name):
    record = read_records(RECORDS)[NAMES.index(name)]
    assert replace(played(*SHOWN[name]), number=record.number) == record


@every_page
def test_the_positions_of_the_examples_can_be_read(name):
    examples = re.findall('^kibitz advise (\\S+) "([^"]+)"', (FOLDER / f"{name}.md").read_text(), re.MULTILINE)
    assert examples
    for game, moves in examples:
        assert load(game).name == name
        parse_position(load(game), moves)


@every_page
def test_a_replay_is_small_and_has_a_frame_per_move(name):
    record, text = read_records(RECORDS)[NAMES.index(name)], (FOLDER / f"{name}.svg").read_text()
    game = load(record.game)
    words = display(game)
    seen = [
        int(game.turn(state))
        for state, action in record.replay()
        if action is not None and (game.turn(state) == CHANCE or words.is_visible(state, action))
    ]
    frames = sum(1 if turn == CHANCE else len(list(group)) for turn, group in groupby(seen)) + (seen[0] != CHANCE)
    assert re.findall('data-frame="([0-9]+)"', text) == [str(i) for i in range(frames)]
    root = ElementTree.fromstring(text)
    assert not any(each.tag.endswith("script") for each in root.iter())
    assert all(value.startswith("#") for each in root.iter() for key, value in each.attrib.items() if "href" in key)
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
    assert len(text.encode()) < MOST_BYTES
