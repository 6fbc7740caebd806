"""`docs/cli.md` agrees with the help texts of the commands."""

from make_reference import FILE, reference


def test_the_reference_is_up_to_date():
    assert FILE.read_text() == reference(), "run python docs/make_reference.py to regenerate docs/cli.md"


def test_the_reference_is_plain_text():
    text = reference()
    assert "\x1b" not in text
    assert "[bold]" not in text
    assert "╭" not in text
