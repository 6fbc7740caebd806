"""`check` compares what `determinize` gives with the positions that fit a view, and refuses what is wrong."""

import re
from pathlib import Path

import numpy as np
import pytest

import kibitz
from kibitz import BadInput, games
from kibitz.core.progress import Reporter
from kibitz.games.checks.worlds import unlikely

from .walks import every_small_hidden_game

HERE = Path(__file__).parent
POKER = f"{HERE.parents[1]}/examples/von_neumann_poker.py:VonNeumannPoker"
KUHN, HEX, ULTIMATE = f"{HERE}/three_kuhn.py:ThreeKuhn", f"{HERE}/dark_hex.py:DarkHex", f"{HERE}/ultimate.py:Ultimate"


@every_small_hidden_game
def test_shipped_games_draw_the_positions_that_fit(game):
    assert games.check(game, games=4) >= 4


@pytest.mark.parametrize("name", [POKER, KUHN, f"{HEX}:2", HEX, "goofspiel:5", "liars_dice:dice=2,faces=3"])
def test_positions_of_games_whose_trees_are_larger_or_of_users_are_drawn_rightly(name):
    """Dark Hex on three rows has too large a tree: the views of random games are followed."""
    assert kibitz.check(name, games=8) > 30


def identity(text):
    """`determinize` copies the view."""
    start = re.search(r"def determinize.*\n        copy_record\(out, view\)\n", text).end()
    return text[:start] + text[text.index("        return True\n", text.rindex("copy_record(out, view)")) :]


def swap(old, new):
    def changed(text):
        assert old in text
        return text.replace(old, new, 1)

    return changed


WRONG = {
    "the view itself, poker": (POKER, identity, r"view \(cards=.* gives the view itself each time: cards\[\d\] is"),
    "the view itself, three seats": (KUHN, identity, r"gives the view itself each time: cards\[\d\] is always -1"),
    "the view itself, Dark Hex": (HEX, identity, r"gives the view itself each time: "),
    "always the first card": (
        POKER,
        swap("below(rng, self.cards - (own >= 0))", "0"),
        r"view \(cards=.* gives \(cards=.* each time: cards\[\d\] is always",
    ),
    "a card that another seat holds": (
        KUHN,
        swap("range(3):\n                        fits =", "range(0):\n                        fits ="),
        r"no game with that view leads there: cards\[\d\] is \d, and \d in the nearest of \d",
    ),
    "a card that is never drawn": (
        POKER, swap("below(rng, self.cards - (own >= 0))", "below(rng, self.cards - (own >= 0) - 1)"),
        r"gives \(cards=.* never in .* draws, expected",
    ),
    "cards that aren't equally likely": (
        POKER,
        swap(
            "below(rng, self.cards - (own >= 0))",
            "min(below(rng, self.cards - (own >= 0)), below(rng, self.cards - (own >= 0)))",
        ),
        r"draws, expected .*: chance by its probabilities",
    ),
    "what the other has met": (
        HEX, swap("and below(rng, 2) == 1", "and below(rng, 2) == 2"), r"gives it with seen\[.* never in .* draws"
    ),
    "a stone too many": (
        HEX,
        swap("while left > 0:", "left += int(view.stones + 2 < cells)\n            while left > 0:"),
        r"gives it with owner\[.*, and no game with that view leads there",
    ),
    "other frequencies, unsaid": (HEX, swap("def likelihood", "def board_text"), r"`likelihood` may state other"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_determinization_that_is_wrong_is_refused(name, tmp_path):
    """In one line with the view, the position and the difference."""
    source, change, message = WRONG[name]
    file, _, kind = source.rpartition(":")
    path = tmp_path / "wrong.py"
    path.write_text(change(Path(file).read_text()))
    with pytest.raises(BadInput, match=rf"wrong.py:\d+: determinize: .*{message}") as found:
        kibitz.check(f"{path}:{kind}{':2' if 'unsaid' in name else ''}")
    assert "\n" not in str(found.value)


def test_what_is_unlikely_by_chernoffs_bound_is_at_least_as_unlikely_by_the_binomial_distribution():
    from scipy.stats import binom

    for draws, prob in ((10, 0.5), (100, 0.2), (1000, 0.01)):
        counts = np.arange(draws + 1)
        tails = np.where(counts > draws * prob, binom.sf(counts - 1, draws, prob), binom.cdf(counts, draws, prob))
        assert (tails <= np.exp(-unlikely(counts, draws, np.full(draws + 1, prob))) * (1 + 1e-9)).all()
    assert unlikely(np.array([1, 0, 5]), 5, np.array([0.0, 0.0, 1.0])).tolist() == [np.inf, 0, 0]


class Notes(Reporter):
    def __init__(self):
        self.notes = []

    def progress(self, done, total=None, note=""):
        self.notes.append(note)


def test_most_positions_are_checked_by_compiled_rules():
    """Ultimate Tic-Tac-Toe: all games are played to their ends, and 350 positions are checked in plain Python."""
    report = Notes()
    assert games.check(games.load(ULTIMATE), report=report) > 1_500
    assert report.notes.count("positions in plain Python") < 200
    assert report.notes.count("games") == 40
    assert any(note.startswith("rules, compiled: play") for note in report.notes)
