"""Matches: the same games for any number of processes, shared chance outcomes, views only."""

import multiprocessing
import os
import signal

import numpy as np
import pytest

from kibitz import games
from kibitz.core import steps
from kibitz.core.names import BadInput
from kibitz.core.progress import Reporter
from kibitz.games import CHANCE
from kibitz.games.records import read_line
from kibitz.play import match, players
from kibitz.play.batched import match_blocks
from kibitz.play.match import play_match
from kibitz.play.play import seat_of
from kibitz.play.statistics import summary
from kibitz.search.strategy import uniform_strategy
from kibitz.solve.best_response import evaluate
from kibitz.solve.cfr import Cfr
from kibitz.solve.sequence_form import unfold

LEDUC = games.load("leduc")


@pytest.fixture(scope="module")
def solved(tmp_path_factory):
    """A good strategy for Leduc: what it is, and its name as a player."""
    solver = Cfr(LEDUC, "cfr+")
    solver.run(100)
    path = tmp_path_factory.mktemp("solved") / "strategy.safetensors"
    solver.strategy().save(path)
    return solver.strategy(), f"strategy:{path}"


def lines(*arguments, **options):
    return [record.line() for record in sorted(play_match(*arguments, **options), key=lambda record: record.number)]


def test_any_number_of_processes_plays_the_same_games(solved):
    one, two = (lines("leduc", [solved[1], "random"], 120, 4, count, alone=0) for count in (1, 2))
    assert one == two
    assert len(one) == 120
    assert one != lines("leduc", [solved[1], "random"], 120, 5, 1)


def test_a_searching_player_plays_the_same_in_every_process():
    asked = ("kuhn", ["oos:50", "ismcts:50"], 12, 1)
    assert lines(*asked, 1) == lines(*asked, 2, alone=0)


def test_games_that_are_done_are_not_played_again():
    whole = lines("kuhn", ["random", "random"], 20, 1, 1)
    rest = lines("kuhn", ["random", "random"], 20, 1, 1, done={0, 3, 7})
    assert rest == [line for i, line in enumerate(whole) if i not in {0, 3, 7}]


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no SIGKILL")
def test_a_killed_worker_costs_no_game():
    class Listener(Reporter):
        def message(self, text):
            messages.append(text)

    messages, killed, found = [], [], []
    for record in play_match("leduc", ["random", "random"], 600, 1, 2, report=Listener(), alone=0):
        found.append(record)
        children = multiprocessing.active_children()
        if children and not killed:
            killed.append(children[0].pid)
            os.kill(children[0].pid, signal.SIGKILL)
    assert "died (exit code -9)" in messages[0]
    assert sorted(record.number for record in found) == list(range(600))
    assert lines("leduc", ["random", "random"], 40, 1, 1) == [
        record.line() for record in sorted(found, key=lambda record: record.number)[:40]
    ]


def chance_outcomes_of(record):
    return [action for state, action in record.replay() if action is not None and LEDUC.turn(state) == CHANCE]


def test_the_games_of_a_pair_share_chance_outcomes_and_swap_seats():
    found = list(play_match("leduc", ["random", "random"], 60, 3, 1))
    deals = []
    for even, odd in zip(found[::2], found[1::2], strict=True):
        one, two = chance_outcomes_of(even), chance_outcomes_of(odd)
        shorter = min(len(one), len(two))
        assert one[:shorter] == two[:shorter]
        deals.append(tuple(one[:2]))
    assert len(set(deals)) == 9  # all pairs of ranks come up
    assert any(even.actions != odd.actions for even, odd in zip(found[::2], found[1::2], strict=True))


def test_with_four_seats_a_deal_is_played_from_each_of_them():
    names = ["heuristic", "random", "random", "random"]
    one, two = (lines("doppelkopf:thesis", names, 12, 2, count, alone=0) for count in (1, 2))
    assert one == two
    found = [read_line(line, "here") for line in one]
    deals = [tuple(record.actions[:48]) for record in found]
    assert deals == [deal for deal in deals[::4] for _ in range(4)]
    assert len(set(deals)) == 3
    assert [record.players.index(names[0]) for record in found] == [seat_of(0, i, 4) for i in range(12)]
    assert {seat_of(0, i, 4) for i in range(4)} == {0, 1, 2, 3}
    assert len({tuple(record.actions) for record in found}) == 12
    for record in found:
        record.verify()


def test_chance_outcomes_follow_their_probabilities():
    """Two cards of one rank are dealt with probability 1/5, though there are three ranks."""
    found = list(play_match("leduc", ["random", "random"], 800, 11, 1))
    equal = [actions[0] == actions[1] for actions in (record.actions for record in found[::2])]
    assert abs(np.mean(equal) - 0.2) < 3 * np.sqrt(0.2 * 0.8 / len(equal))


class Spy(players.Random):
    """Keeps the arguments of its calls."""

    name = "spy"

    def __init__(self):
        self.seen = []

    def begin(self, game, seat, seed):
        super().begin(game, seat, seed)
        self.seen.append(("begin", seat, seed))

    def move(self, view):
        self.seen.append(("move", self.seat, view))
        return super().move(view)


def test_players_get_views_from_their_seat_and_a_seed_of_their_own():
    spy = Spy()
    found = list(play_match("leduc", [spy, "random"], 20, 1, 2))
    begun = [entry for entry in spy.seen if entry[0] == "begin"][1:]  # the first checks that it can play at all
    assert [seat for _, seat, _ in begun] == [0, 1] * 10
    assert [record.players.index("spy") for record in found] == [seat_of(0, i, 2) for i in range(20)] == [0, 1] * 10
    assert len({seed for _, _, seed in begun}) == 20
    moves = [entry for entry in spy.seen if entry[0] == "move"]
    assert len(moves) > 20
    for _, seat, view in moves:
        assert view.cards[1 - seat] == -1
        assert view.cards[seat] >= 0


def test_an_illegal_move_is_refused():
    class Cheat(players.Random):
        def move(self, view):
            return 17

    with pytest.raises(BadInput, match="Cheat played 17 in game 1, which is illegal"):
        list(play_match("leduc", [Cheat(), "random"], 2, 1, 1))


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (["random"], "leduc is for 2 players, not 1"),
        (["random", "randm"], "did you mean 'random'"),
        (["random", "strategy:none"], "no strategy file 'none'"),
    ],
)
def test_wrong_players_are_refused(names, text):
    with pytest.raises(BadInput, match=text):
        list(play_match("leduc", names, 2, 1, 1))


def errors(estimate, exact):
    """The number of standard errors by which an estimate is off. Four happen by chance once in 16,000 seeds."""
    return abs(estimate.mean - exact) / ((estimate.high - estimate.low) / (2 * 1.96))


def test_a_strategy_against_itself_has_a_mean_payoff_of_zero(solved):
    payoff = summary(play_match("leduc", [solved[1], solved[1]], 800, 2, 1)).payoff
    assert errors(payoff, 0) < 4
    assert payoff.high - payoff.low < 0.6


def test_a_match_finds_the_exact_value_of_a_strategy_against_random_play(solved):
    form, even = unfold(LEDUC), uniform_strategy(LEDUC)
    exact = (evaluate(form, solved[0], even).value - evaluate(form, even, solved[0]).value) / 2
    payoff = summary(play_match("leduc", [solved[1], "random"], 2000, 1, 1)).payoff
    assert errors(payoff, exact) < 4
    assert payoff.low > 0.3  # far from even
    assert payoff.high - payoff.low < 0.5


# ---------------------------------------------------------------- from Python


class First:
    """Plays the first legal action. It has no `begin` and no `advice`."""

    def move(self, view):
        return games.legal_actions(self.game, view)[0]


class Callers:
    """Gives probabilities only: always calls."""

    def action_probs(self, views):
        probs = np.zeros((len(views), 3))
        for i, view in enumerate(views):
            probs[i, games.legal_actions(self.game, view).index(1)] = 1
        return probs


def test_objects_and_names_play_a_match_in_memory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = match.match(LEDUC, [First(), "random"], 40, 3, processes=2)
    assert found.players == ["First", "random"]
    assert [record.number for record in found.records] == list(range(40))
    assert found.payoff == found.result.payoff == summary(found.records).payoff
    assert {tuple(record.players) for record in found.records} == {("First", "random"), ("random", "First")}
    assert "40 games of leduc" in str(found)
    assert "First" in str(found)
    assert f"{found.payoff.mean:+.4f}" in str(found)
    assert found._repr_html_().count("<tr>") == str(found).count("\n")
    assert list(tmp_path.iterdir()) == []


def test_objects_of_one_class_are_told_apart_and_one_object_has_one_seat():
    found = match.match("leduc", [First(), First()], 4)
    assert found.players == ["First", "First 2"]
    one = First()
    with pytest.raises(BadInput, match="a player object can have one seat only"):
        match.match("leduc", [one, one], 4)


def test_a_folder_is_written_and_resumed_with_objects_too(tmp_path):
    whole = match.match("leduc", [First(), "random"], 30, 1, out=tmp_path / "whole")
    assert {path.name for path in (tmp_path / "whole").iterdir()} == {
        "config.json",
        "games.jsonl",
        "lock",
        "result.json",
    }
    match.match("leduc", [First(), "random"], 10, 1, out=tmp_path / "run")
    again = match.match("leduc", [First(), "random"], 30, 1, out=str(tmp_path / "run"))
    assert again.records == whole.records == match.match("leduc", [First(), "random"], 30, 1).records
    assert again.folder == tmp_path / "run"


def test_a_player_with_probabilities_alone_plays_side_by_side_as_one_by_one(monkeypatch):
    one_by_one = match.match("leduc", [Callers(), "random"], 60).records
    blocks = []
    monkeypatch.setattr(match, "MANY", 10)
    monkeypatch.setattr(match, "match_blocks", lambda *given: blocks.append(given) or match_blocks(*given))
    assert match.match("leduc", [Callers(), "random"], 60).records == one_by_one
    assert len(blocks) == 1


def test_progress_is_reported_with_the_result_so_far(monkeypatch):
    class Listener(Reporter):
        def progress(self, done, total=None, note=""):
            seen.append((done, total, note))

    seen = []
    monkeypatch.setattr(steps, "REPORT_SECONDS", -1)
    match.match("kuhn", ["random", "random"], 6, report=Listener())
    assert [done for done, _, _ in seen] == [1, 2, 3, 4, 5, 6]
    assert all(total == 6 and "payoff" in note for _, total, note in seen)


@pytest.mark.parametrize(
    ("player", "text"),
    [
        (3, "3 is no player: give a name, or an object with move"),
        (First, "the class First is no player"),
    ],
)
def test_what_is_no_player_is_refused(player, text):
    with pytest.raises(BadInput, match=text):
        match.match("leduc", [player, "random"], 2)
