"""`docs/api.md` agrees with the docstrings, and has all of the public interface."""

import importlib
import re

import pytest
from make_api import FILE, SECTIONS, _text, reference

import kibitz

NAMES = [name for names in SECTIONS.values() for name in names]


def test_the_reference_is_up_to_date():
    assert FILE.read_text() == reference(), "run python docs/make_reference.py to regenerate docs/api.md"


def test_every_public_name_has_an_entry():
    missing = [name for name in kibitz.__all__ if not any(f"{each}.".startswith(f"kibitz.{name}.") for each in NAMES)]
    assert missing == []


@pytest.mark.parametrize("name", NAMES)
def test_every_entry_is_a_name_that_can_be_imported_and_says_what_it_is(name):
    extra = name.split(".")[1]
    if extra in ("gym", "pettingzoo"):
        pytest.importorskip({"gym": "gymnasium"}.get(extra, extra))
    if extra == "openspiel":
        pytest.importorskip("pyspiel")
    found, parts = kibitz, name.split(".")[1:]
    for i, part in enumerate(parts, 1):
        if not hasattr(found, part):
            importlib.import_module(f"kibitz.{'.'.join(parts[:i])}")
        found = getattr(found, part)
    entry = re.split(rf"^### {re.escape(name)}$", reference(), flags=re.MULTILINE)[1].partition("\n### ")[0]
    assert re.sub(r"^```.*?^```", "", entry, flags=re.MULTILINE | re.DOTALL).strip()


DOCSTRING = """Do it.

Args:
    a: One | two
        lines.
    b: Two.

Returns:
    It.

Example:
    >>> f()
    1
"""


def test_a_docstring_becomes_markdown():
    assert list(_text(DOCSTRING)) == [
        "Do it.", "", "| argument | |", "|---|---|", r"| `a` | One \| two lines. |", "| `b` | Two. |",
        "", "Returns: It.", "", "```pycon", ">>> f()\n1", "```", "",
    ]  # fmt: skip
