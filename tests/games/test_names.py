"""Games by name, and the one-line errors for wrong names."""

import contextlib
import difflib
import sys
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as some

from kibitz import games
from kibitz.core import names
from kibitz.core.names import BadInput
from kibitz.games.check import _checked

from .facts import PILE, ROWS, SHIPPED

Goofspiel, Leduc, LiarsDice = (games.GAMES[name] for name in ("goofspiel", "leduc", "liars_dice"))


@pytest.mark.parametrize(
    ("text", "game"),
    [
        ("leduc", Leduc()),
        (" leduc ", Leduc()),
        ("leduc:", Leduc()),
        ("goofspiel:13", Goofspiel(13)),
        ("goofspiel:cards=13", Goofspiel(13)),
        ("goofspiel:5,base=1", Goofspiel(5, base=1)),
        ("goofspiel: 5 , base = 1", Goofspiel(5, base=1)),
        ("liars_dice:dice=2,faces=6", LiarsDice(2, 6)),
        ("leduc:distinct_suits=yes", Leduc(distinct_suits=True)),
        ("leduc:distinct_suits=True", Leduc(distinct_suits=True)),
        ("leduc:distinct_suits=1", Leduc(distinct_suits=True)),
        ("goofspiel:sign=no", Goofspiel(sign=False)),
        ("goofspiel:sign=FALSE", Goofspiel(sign=False)),
        ("goofspiel:sign=0", Goofspiel(sign=False)),
    ],
)
def test_a_name_makes_its_game(text, game):
    made = games.load(text)
    assert type(made) is type(game)
    assert made == game


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("goofspeil", ["'goofspeil'", "did you mean 'goofspiel'?", *SHIPPED]),
        ("chess960", ["'chess960'", *SHIPPED]),
        ("", ["''", *SHIPPED]),
        ("goofspiel:0", ["goofspiel", "cards=0", "2 to 13"]),
        ("goofspiel:14", ["goofspiel", "cards=14", "2 to 13"]),
        ("goofspiel:-4", ["cards=-4", "2 to 13"]),
        ("goofspiel:4.5", ["cards=4.5", "2 to 13"]),
        ("liars_dice:dice=99", ["liars_dice", "dice=99", "1 to 5"]),
        ("liars_dice:dice=x", ["dice=x", "1 to 5"]),
        ("liars_dice:dice=", ["dice= ", "1 to 5"]),
        ("liars_dice:dice=1,dice=2", ["dice", "twice"]),
        ("goofspiel:4,cards=5", ["cards", "twice"]),
        ("goofspiel:base=1,5", ["'5'", "key=value", "cards (2 to 13)"]),
        ("goofspiel:colour=red", ["'colour'", "cards (2 to 13)", "sign (yes or no)"]),
        ("leduc:distinct_suits=maybe", ["distinct_suits=maybe", "yes or no"]),
        ("kuhn:3", ["'3'", "no parameters"]),
        ("kuhn:cards=3", ["'cards'", "no parameters"]),
        ("liars_dice:dice=5,faces=15", ["dice=5, faces=15", "150 bids", "62"]),
        ("leduc:ranks=2,suits=1", ["ranks", "suits", "at least 3 cards"]),
        (f"{PILE}:Pile:13", ["13 sticks"]),
        (f"{PILE}:Heap", [str(PILE), "'Heap'", "Pile"]),
        (f"{PILE}", [str(PILE), "Pile"]),
        ("no/such/file.py:Game", ["'no/such/file.py'", "path/to/file.py:Class"]),
    ],
)
def test_the_error_for_a_wrong_name_says_what_would_be_right(text, words):
    with pytest.raises(BadInput) as raised:
        games.load(text)
    message = str(raised.value)
    assert "\n" not in message
    for word in words:
        assert word in message


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_the_full_name_makes_the_same_game(row):
    game = games.load(row.name)
    again = games.load(games.full_name(game))
    assert type(again) is type(game)
    assert again == game


def test_the_full_name_leaves_defaults_out():
    assert games.full_name(Leduc()) == "leduc"
    assert games.full_name(Goofspiel(4, base=1)) == "goofspiel:base=1"


@given(some.data())
def test_any_parameters_survive_the_full_name(data):
    cls = data.draw(some.sampled_from(list(SHIPPED.values())))
    fields = {
        key: some.booleans() if kind is bool else some.sampled_from(allowed)
        for key, (kind, _, allowed) in names.hints(cls).items()
    }
    game = cls(**data.draw(some.fixed_dictionaries(fields)))
    try:
        game.facts  # noqa: B018  (refuses what doesn't go together)
    except BadInput:
        with pytest.raises(BadInput):
            games.load(games.full_name(game))
    else:
        assert games.load(games.full_name(game)) == game


@given(some.text(max_size=20))
def test_any_text_is_a_game_or_bad_input(text):
    for name in (text, f"leduc:{text}", f"goofspiel:4,{text}"):
        with contextlib.suppress(BadInput):  # and nothing else
            games.load(name)


# ---------------------------------------------------------------- games in files


def test_a_game_in_a_file_is_loaded_with_its_parameters(tmp_path):
    file = tmp_path / "heap.py"
    file.write_text(PILE.read_text().replace("class Pile", "class Heap"))
    game = games.load(f"{file}:Heap:sticks=9")
    assert (type(game).__name__, game.sticks, game.facts.max_game_length) == ("Heap", 9, 18)
    assert games.full_name(game) == f"{file}:Heap:sticks=9"
    assert games.load(games.full_name(game)) == game


def test_a_parameter_without_a_default_is_required(tmp_path):
    file = tmp_path / "strict_pile.py"
    file.write_text(PILE.read_text().replace("range(1, 41)] = 7", "range(1, 41)]"))
    assert games.load(f"{file}:Pile:9").sticks == 9
    with pytest.raises(BadInput, match=r"pile: sticks is missing; .*1 to 40"):
        games.load(f"{file}:Pile")


def test_a_game_in_a_file_can_import_modules_beside_it(tmp_path):
    (tmp_path / "unlucky_numbers.py").write_text("UNLUCKY = 11\n")
    file = tmp_path / "unlucky_pile.py"
    file.write_text("from unlucky_numbers import UNLUCKY\n" + PILE.read_text().replace("== 13", "== UNLUCKY"))
    assert games.load(f"{file}:Pile:13").sticks == 13
    with pytest.raises(BadInput):
        games.load(f"{file}:Pile:11")


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("def broken(:\n", "SyntaxError"),
        ("import no_such_module\n", "no_such_module"),
        ("1 / 0\n", "ZeroDivisionError"),
        ("raise ValueError('one line\\nanother line')\n", "one line"),
        ("x = 1\n", "its classes are none"),
    ],
)
def test_a_file_that_fails_is_named_with_its_error(tmp_path, source, error):
    file = tmp_path / "broken_game.py"
    file.write_text(source)
    with pytest.raises(BadInput) as raised:
        games.load(f"{file}:Game")
    assert str(file) in str(raised.value)
    assert error in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_class_that_is_no_game_is_refused(tmp_path):
    file = tmp_path / "plain_class.py"
    file.write_text("class Plain:\n    pass\n")
    with pytest.raises(BadInput, match=r"plain_class\.py:Plain is no game: .*@game"):
        games.load(f"{file}:Plain")


def test_a_game_object_is_loaded_as_it_is():
    game = Goofspiel(5)
    assert games.load(game) is game


def test_a_game_outside_the_package_is_registered_but_never_replaces_a_shipped_one(tmp_path):
    for name in ("leduc", "my_pile"):
        file = tmp_path / f"pile_called_{name}.py"
        file.write_text(PILE.read_text().replace('"pile"', f'"{name}"'))
        loaded = games.load(f"{file}:Pile")
        assert games.full_name(loaded) == f"{file}:{type(loaded).__qualname__}"
    assert type(games.load("leduc")) is Leduc
    assert type(games.load("my_pile")).file == str(tmp_path / "pile_called_my_pile.py")


def test_a_broken_file_does_not_replace_a_module_of_its_name(tmp_path):
    file = tmp_path / "difflib.py"  # `names` uses the real one
    file.write_text("def broken(:\n")
    with pytest.raises(BadInput):
        games.load(f"{file}:Game")
    assert sys.modules["difflib"] is difflib


# ---------------------------------------------------------------- fields of any kind


@dataclass
class Settings:
    """Players are parsed by the same functions: other types, and presets."""

    rate: float = 0.5
    label: str = "none"

    presets = {"fast": {"rate": 2}}


def test_numbers_text_and_presets_are_parsed():
    assert names.parameters("settings", Settings, "0.25,label=a b") == {"rate": 0.25, "label": "a b"}
    assert names.parameters("settings", Settings, "fast") == {"rate": 2.0}
    assert names.parameters("settings", Settings, "fast,label=x") == {"rate": 2.0, "label": "x"}
    assert names.parameters("settings", Settings, "fast,rate=3") == {"rate": 3.0}
    with pytest.raises(BadInput, match="rate=quick should be a number"):
        names.parameters("settings", Settings, "quick")


def test_only_the_last_games_are_remembered_as_checked(monkeypatch):
    monkeypatch.setattr(sys.modules["kibitz.games.check"], "REMEMBERED", 3)
    made = [games.load(f"{PILE}:Pile:{sticks}") for sticks in range(1, 7)]
    assert list(_checked[type(made[0])]) == made[-3:]
