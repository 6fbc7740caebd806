"""Guests enter by registries and hooks: no general file names one, and none imports from one."""

import ast
import re
from pathlib import Path

import pytest

from .test_rooms import GUESTS, imports

PACKAGE = Path(__file__).parents[1] / "kibitz"
WORDS = re.compile(r"hold'?em|acpc|doppelkopf|doko|(?<!kuhn )(?<!leduc )poker", re.IGNORECASE)


def naming(package):
    """General file -> the words of guests in it, and the guests' modules that it imports."""
    found = {}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package).with_suffix("").parts
        if parts[0] in GUESTS:
            continue
        text = path.read_text()
        words = {word.lower() for word in WORDS.findall(re.sub(r"[\s_]+", " ", text))}
        for module in imports(ast.parse(text), (package.name, *parts)):
            if module[0] == package.name and module[1:] and module[1] in GUESTS:
                words.add(".".join(module))
        if words:
            found["/".join(parts)] = words
    return found


def test_guests_enter_by_plugins():
    assert all((PACKAGE / guest / "plugin.py").exists() for guest in GUESTS)


def test_no_general_file_names_a_guest():
    assert naming(PACKAGE) == {}, "general files name a guest: use a registry or a hook (see CONTRIBUTING.md)"


@pytest.mark.parametrize(
    ("file", "text", "words"),
    [
        ("play/match.py", "from ..poker import rules", {"poker", "kibitz.poker.rules"}),
        ("play/match.py", "def f():\n    from ..poker.rules import deck", {"poker", "kibitz.poker.rules.deck"}),
        ("play/match.py", 'OPPONENT = "doko:models/x"', {"doko"}),
        ("play/match.py", "# as in Texas Hold'em", {"hold'em"}),
        ("play/match.py", '"""Kuhn poker and Leduc\npoker."""\nkuhn_poker = 1', None),
        ("poker/rules/deck.py", "from ...games import game  # hold'em", None),
        ("doppelkopf/cards.py", "ACPC = 1", None),
    ],
)
def test_a_planted_name_is_found_and_nothing_else(tmp_path, file, text, words):
    package = tmp_path / "kibitz"
    for name, content in {"poker/plugin.py": "", file: text}.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(content)
    assert naming(package) == ({file.removesuffix(".py"): words} if words else {})
