"""What names from files of strangers may do to a terminal: nothing."""

import io

import pytest
from rich.table import Table
from rich.text import Text

from kibitz.app.ui.console import SafeConsole
from kibitz.core.names import BadInput, as_path, check_text

EVIL = "\x1b]0;owned\x07\x1b[2Jx\x9b31m\u202e\udcff"


def printed(*things, **options):
    console = SafeConsole(file=io.StringIO(), force_terminal=True, width=120)
    console.print(*things, **options)
    return console.file.getvalue()


def test_escape_codes_in_a_name_are_shown():
    table = Table("player")
    table.add_row(Text(EVIL))
    for shown in (printed(EVIL, markup=False, highlight=False), printed(Text(EVIL)), printed(table)):
        assert r"\x1b]0;owned" in shown
        assert not any(letter in shown for letter in "\x07\x9b\u202e\udcff")
        assert "\x1b[2J" not in shown


def test_all_of_a_name_is_shown_on_a_line_of_its_own():
    assert printed(EVIL, markup=False, highlight=False) == ascii(EVIL)[1:-1].replace(r"\x07", "") + "\n"


def test_the_colours_of_the_console_itself_work():
    assert "\x1b[1m" in printed("[bold]fine[/bold]")


def test_a_record_of_a_stranger_prints_its_names(kibitz, tmp_path):
    code, _, _ = kibitz("match", "kuhn", "random", "random", "--games", "2", "--out", "run")
    assert code == 0
    path = tmp_path / "run" / "games.jsonl"
    path.write_text(path.read_text().replace('"random", "random"', r'"\u001b[2J[/red]\ud800", "[bold]b"'))
    for command in (("replay", "run"), ("rate", "run"), ("convert", "run", "--to", "json"), ("runs", "--in", ".")):
        code, out, error = kibitz(*command)
        assert code in (0, 2), command
        assert "\x1b" not in out + error
    assert "[/red]" in kibitz("replay", "run")[1]


@pytest.mark.parametrize("text", ["", "a\0b", "a\x1bb", "\udcff", "~no-such-user/x", "a" * 5000, "a/" * 5000])
def test_texts_that_are_no_paths_are_refused(text):
    with pytest.raises(BadInput) as caught:
        as_path(text)
    assert len(str(caught.value)) < 200
    assert str(caught.value).isprintable()


def test_arguments_may_have_new_lines_but_no_control_characters():
    check_text("a\nb\tc", "Größe ♣ 💥")
    with pytest.raises(BadInput, match=r"'\\x1b\[2J' has a control character"):
        check_text("\x1b[2J")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("solve", "kuhn", "--out", "file/x"), "is a file"),
        (("solve", "kuhn", "--out", "file"), "is a file"),
        (("solve", "kuhn", "--json", "file/x"), "its folder does not exist"),
        (("convert", "run", "folder"), "it is a folder"),
        (("explain", "run", "--out", "folder"), "it is a folder"),
        (("replay", "folder"), "can't be read"),
        (("rate", "file"), "no folder"),
        (("runs", "--in", "file"), "no folder"),
        (("train", "--resume", "file"), "holds no run"),
    ],
)
def test_files_where_folders_belong_are_refused_before_anything_is_written(kibitz, tmp_path, words, told):
    (tmp_path / "file").write_text("text")
    (tmp_path / "folder").mkdir()
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "network.safetensors").write_text("")
    before = sorted(tmp_path.rglob("*"))
    code, _, error = kibitz(*words)
    assert (code, error.count("\n")) == (2, 1)
    assert told in error
    assert sorted(tmp_path.rglob("*")) == before
