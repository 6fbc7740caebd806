"""Grids of hold'em: in advice, at the table, by `kibitz poker ranges`, and as pictures; reviews in big blinds."""

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

from kibitz import games
from kibitz.app.ui import progress
from kibitz.app.ui.terminal import TerminalGame
from kibitz.core.names import BadInput
from kibitz.games.record_files import read_game
from kibitz.play.players import make_for
from kibitz.play.review import review
from kibitz.poker.app.range_grid import insight_text, strategy_cells
from kibitz.poker.beliefs import differences, distance, hand_class, public_position, public_strategy
from kibitz.poker.insight import hand_insight

from ...arena.test_acpc_match import play as play_at_dealer

STYLE = "style:tight-aggressive"
HOLDEM = games.load("holdem")
SMALL = "holdem:flop,ranks=5,suits=3"


@pytest.fixture(autouse=True)
def narrow(monkeypatch):
    for console in (progress.out, progress.err):
        monkeypatch.setattr(console, "_width", 80)


def printed(result):
    """The lines of a command that succeeded: at most 80 columns, without colours."""
    code, out, err = result
    assert code == 0, err
    assert max(map(len, out.splitlines())) <= 80
    assert "\x1b" not in out
    return out.splitlines()


def rows(lines):
    """The rows of two grids side by side, by the rank between them: cells on the left, cells on the right."""
    found = (re.fullmatch(r"(.{38}) ([2-9TJQKA]) (\S.*)", line) for line in lines)
    return {each[2]: (each[1].split(), each[3].split()) for each in found if each and len(each[1].split()) == 13}


def test_a_grid_has_all_combos_of_each_class():
    hands = public_strategy(HOLDEM, public_position(HOLDEM, ""), STYLE)
    grid = hands.grid()
    assert [len(row) for row in grid] == [13] * 13
    for y, row in enumerate(grid):
        for x, cell in enumerate(row):
            assert len(cell["combos"]) == (6 if x == y else 4 if x > y else 12)
            assert cell["name"][2:] == ("" if x == y else "s" if x > y else "o")
    assert sum(len(cell["combos"]) for row in grid for cell in row) == 1326
    assert (grid[0][0]["name"], grid[0][1]["name"], grid[1][0]["name"]) == ("AA", "AKs", "AKo")
    assert sum(cell["prob"] for row in grid for cell in row) == pytest.approx(1)
    assert hands.weights() == [[pytest.approx(1)] * 13] * 13
    assert hands.mean_policy().sum() == pytest.approx(1)
    assert [hand_class(hand) for hand in ((51, 50), (51, 47), (51, 46))] == ["AA", "AKs", "AKo"]


def test_cells_on_the_board_are_blank_and_the_likeliest_move_is_named():
    hands = public_strategy(HOLDEM, public_position(HOLDEM, "raise call AcAdAh check"), STYLE)
    cells = strategy_cells(hands)
    assert cells[0][0] == ("", "")  # only one ace is left
    assert sum(len(cell["combos"]) for row in hands.grid() for cell in row) == 49 * 48 // 2
    assert {text[0] for row in cells for text, _ in row if text} <= {"c", "b"}


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("raise call", "the next cards of the board are missing"),
        ("fold", "the hand is over"),
        ("fold call", "'call' comes after the end of the hand"),
        ("raise jump", "'jump' is no move here: fold, call, raise"),
        ("raise call 2c2c3d", "'2c' is no move here"),
    ],
)
def test_a_line_that_is_no_decision_is_refused(line, why):
    with pytest.raises(BadInput, match=why):
        public_position(HOLDEM, line)


def test_advice_shows_both_grids_in_80_columns(kibitz, tmp_path):
    lines = printed(kibitz("advise", "holdem", "??AhAs raise call 2c7dTs check", "--with", STYLE))
    found = rows(lines)
    assert list(found) == list("AKQJT98765432")
    assert all(len(right) <= 13 for _, right in found.values())  # blank: it never holds such a hand here
    assert found["A"][0][:2] == ["b8", "c9"]  # aces bet 85% of the time, AKs always checks
    assert {cell for _, right in found.values() for cell in right} <= {"██", "▓▓", "▒▒", "░░", "··"}
    assert "likeliest move (c check, b bet) and its share in tenths; 9: 90% or more" in lines
    assert any(line.startswith("As Ah (AA) wins 90.1%") and "of showdowns against this range" in line for line in lines)
    lines = printed(kibitz("advise", "holdem", "??AhAs", "--with", STYLE, "--no-range"))
    assert not rows(lines)
    german = printed(kibitz("advise", "holdem", "??AhAs raise call 2c7dTs check", "--with", STYLE, "--language", "de"))
    assert any("der Showdowns gegen diese Range (Teilung zählt halb)" in line for line in german)
    assert any(line.startswith(f"links: wenn Platz 2 wie {STYLE} spielt; im Mittel ") for line in german)


def test_advice_gives_ranges_as_json_and_as_a_picture(kibitz, tmp_path):
    asked = ("advise", SMALL, "??6c6d", "--with", STYLE)
    assert "beliefs" not in json.loads(kibitz(*asked, "--json", "-")[1])
    found = json.loads(kibitz(*asked, "--range", "--plot", "a.svg", "--json", "-")[1])["beliefs"]
    assert found["kind"] == "ranges"
    assert len(found["own"]["grid"]) == 5
    assert found["equity"]["hand"] == "6d 6c"
    assert found["equity"]["exact"]
    assert 0.7 < found["equity"]["share"] < 0.95
    assert b"<svg" in (tmp_path / "a.svg").read_bytes()
    uniform = json.loads(kibitz(*asked, "--beliefs", "any", "--json", "-")[1])["beliefs"]
    assert uniform["basis"] == "uniform over deals that fit"
    assert uniform["own"]["actions"] == ["fold", "call", "raise"]
    for arguments, why in (
        (("leduc", "K ?", "--with", "random", "--range"), "--range is for holdem, not for leduc"),
        (("holdem", "??AhAs", "--plot", "a.pdf"), "--plot a.pdf should end in .png or .svg"),
    ):
        code, _, err = kibitz("advise", *arguments)
        assert code == 2
        assert why in " ".join(err.split())


def test_a_search_has_no_grid_unless_asked_for():
    view = public_position(HOLDEM, "")
    view.hole[1] = 51, 50
    assert hand_insight(HOLDEM, view, 1, "oos:10") is None
    assert not hasattr(games.load("kuhn"), "insight")
    found = hand_insight(HOLDEM, view, 1, "oos:10", STYLE, asked=True)
    assert found.believed.own.actions == ()
    text = insight_text(found, 80).plain
    assert "range of seat 1" in text
    assert "strategy of seat" not in text


def test_ranges_rest_on_the_view_alone():
    """The same text whatever the other seat holds, as views hide it."""
    texts = set()
    for hidden in ((0, 1), (4, 9)):
        state = public_position(HOLDEM, "raise call 2s7dTs check")
        state.hole[0], state.hole[1] = hidden[::-1], (51, 50)
        view = games.view_of(HOLDEM, state, 1)
        assert (view.hole[0] < 0).all()
        texts.add(insight_text(hand_insight(HOLDEM, view, 1, STYLE), 80).plain)
    assert len(texts) == 1


def test_grids_stand_one_above_the_other_in_a_narrow_terminal():
    view = public_position(HOLDEM, "")
    view.hole[1] = 51, 50
    lines = insight_text(hand_insight(HOLDEM, view, 1, STYLE), 60).plain.splitlines()
    grids = [line for line in lines if line[:1] in "AKQJT98765432" and line[1:2] == " " and len(line) <= 40]
    assert len(grids) == 26


def test_ranges_of_one_player_are_in_percent_and_of_two_are_compared(kibitz, tmp_path):
    lines = printed(kibitz("poker", "ranges", "holdem", STYLE, "--plot", "one.png"))
    assert lines[0] == "holdem, seat 2 (small blind): first decision"
    assert lines[3].split()[:3] == ["A", "r85", "r85"]
    assert (tmp_path / "one.png").read_bytes().startswith(b"\x89PNG")
    lines = printed(kibitz("poker", "ranges", "holdem", STYLE, "always:raise", "--json", "two.json"))
    assert rows(lines)["2"][0][11] == "f9"  # 32o
    assert rows(lines)["2"][1] == ["r9"] * 13
    start = lines.index(f"the largest differences between {STYLE} and always:raise:")
    different = lines[start + 1 : start + 9]
    assert all(line.startswith("  ") and line.endswith(" | raise 100%") for line in different)
    assert len({line.split()[0] for line in different}) == 8
    found = json.loads((tmp_path / "two.json").read_text())
    assert [each["player"] for each in found["players"]] == [STYLE, "always:raise"]
    assert found["players"][1]["grid"][0][0]["policy"] == [0, 0, 1]
    apart = f"their moves differ by {found['distance']:.1%} on average over all hands (total variation distance)"
    assert apart in lines
    for arguments, why in (
        (("leduc", "random"), "ranges are for holdem, not for leduc"),
        (("holdem", STYLE, STYLE, STYLE), "3 players: name one or two"),
        (("holdem", "oos:10"), "oos:10 gives no probabilities for every hand"),
    ):
        code, _, err = kibitz("poker", "ranges", *arguments)
        assert code == 2
        assert why in " ".join(err.split())


def test_equal_players_do_not_differ():
    state = public_position(HOLDEM, "")
    one, other = (public_strategy(HOLDEM, state, name) for name in (STYLE, "style:loose-passive"))
    assert differences(one, one) == []
    assert distance(one, one) == 0
    never, always = (public_strategy(HOLDEM, state, f"always:{move}") for move in ("fold", "raise"))
    assert distance(never, always) == 1
    assert distance(one, always) == pytest.approx(1 - one.mean_policy()[2])
    assert differences(one, other)[0][1] != differences(one, other)[0][2]


def test_the_table_shows_the_grid_above_the_position_and_results_in_bb():
    shown, answers = [], iter(["fold", "n"])

    def ask(prompt):
        return next(answers)

    def show(what):
        with progress.out.capture() as captured:
            progress.out.print(what)
        shown.append(captured.get())

    players = [make_for(STYLE, HOLDEM) for _ in range(2)]
    TerminalGame(HOLDEM, players[:1], players[1], ask, show, seat=1, advice=True, name=STYLE, ranges=True).run()
    text = "".join(shown)
    assert max(map(len, text.splitlines())) <= 80
    assert len(rows(text.splitlines())) == 13
    assert text.index("of showdowns against this range") < text.index("big blind: ? ?")
    assert "bb: big blinds of 10 chips, won or lost in the whole hand" in text
    assert "you lose 0.5 bb" in text
    assert "score: -0.5 bb after 1 game" in text


def test_a_match_says_what_its_unit_means(kibitz):
    lines = printed(kibitz("match", "holdem", "always:fold", "always:raise", "--games", "4", "--processes", "1"))
    assert any("mean payoff, bb" in line and "-0.7500" in line for line in lines)
    assert "mbb/g: thousandths of a big blind (bb) per game; who always folds loses 750" in lines


def test_a_log_of_the_dealer_is_reviewed_in_big_blinds(kibitz, tmp_path):
    _, log, _, _ = play_at_dealer("always:fold", "always:raise", hands=2, seed=5)
    (tmp_path / "match.log").write_text(log)
    number = next(i for i in (1, 2, 3, 4) if read_game(tmp_path / "match.log", i).players[0] == "alice")
    lines = printed(kibitz("review", "match.log", "--game", str(number), "--with", STYLE))
    assert any(line.split()[:2] == ["street", "seat"] and "policy" in line for line in lines)
    assert any("─ the hand ─" in line for line in lines)
    assert any("big blind: " in line and " in the pot" in line for line in lines)
    assert any(line.split()[0] == "preflop" and "fold" in line for line in lines)
    totals = [line for line in lines if line.startswith("total cost of seat")]
    assert len(totals) == 2
    assert all(" bb" in line for line in totals)
    assert "bb: big blinds of 10 chips, won or lost in the whole hand" in lines
    assert "marks by cost: inaccuracy 0.25, mistake 0.5, blunder 1 bb" in " ".join(lines)


def test_a_costly_fold_is_marked_and_a_doubtful_cost_is_not(tmp_path):
    # The big blind folds aces before the flop to one raise; then a hand in which nothing is certain.
    (tmp_path / "hands.acpc").write_text("STATE:0:rf:AhAs|7d2c:-10|10:alice|bob\n")
    [first, fold] = review(read_game(tmp_path / "hands.acpc"), STYLE).moves
    assert (fold.played, fold.value, fold.mark) == ("fold", -1.0, "blunder")
    assert fold.cost > 1
    assert 0 < fold.margin < 1
    assert fold.prob == 0
    assert first.mark == "" or first.cost > first.margin
    assert math.isnan(first.margin) or first.margin >= 0
    assert np.allclose(fold.advice.paired_error, fold.advice.paired_error.T)


def test_the_code_of_the_page_runs(capsys):
    page = (Path(__file__).parents[3] / "docs" / "holdem-ranges.md").read_text()
    [code] = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    exec(code, {})
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("AA 6 {'fold': 0.0, 'call': 0.15")
    assert second == "AA wins 90.1%"
