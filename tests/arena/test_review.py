"""Reviews of finished games: exact values and costs in games that are small enough, and every format that is read."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from kibitz import games
from kibitz.app.ui import progress
from kibitz.core.names import BadInput
from kibitz.core.progress import Reporter
from kibitz.games.record_files import looks_like, read_game
from kibitz.games.records import Record
from kibitz.play.players import make
from kibitz.play.players.worlds import policy_values, possible_worlds
from kibitz.play.policy_values import play_out, with_values
from kibitz.play.review import review
from kibitz.search.advice import fixed_advice

from ..games.test_pokerstars import SHOWDOWN
from ..players.test_beliefs import KUHN, LEDUC, ByCard, Drawing, Hashed, after

EXACT = "alphabeta:depth=9"
BLUFFS = [1 / 3, 0, 1]  # how often each card bets


def tic_tac_toe(*actions):
    game = games.load("tic_tac_toe")
    state = games.positions(game)[0]
    for action in actions:
        game.play(state, action)
    payoffs = [float(game.payoff(state, seat)) for seat in range(2)]
    return Record(4, "tic_tac_toe", ["human", "random"], 1, list(actions), payoffs)


# x takes the centre; o answers on an edge, which loses by force.
LOST = tic_tac_toe(4, 1, 0, 8, 6, 3, 2)


def test_each_move_costs_what_the_best_one_is_worth_more():
    found = review(LOST, EXACT)
    assert [move.turn for move in found.moves] == [1, 2, 3, 4, 5, 6, 7]
    assert [move.seat for move in found.moves] == [0, 1, 0, 1, 0, 1, 0]
    # The game is a draw; an edge beside the centre loses it; afterwards everything is lost, or won at once.
    assert [move.best_value for move in found.moves] == [0, 0, 1, -1, 1, -1, 1]
    assert [move.value for move in found.moves] == [0, -1, 1, -1, 1, -1, 1]
    assert [move.cost for move in found.moves] == [0, 1, 0, 0, 0, 0, 0]
    assert [move.mark for move in found.moves] == ["", "blunder", "", "", "", "", ""]
    assert (found.total_cost(0), found.total_cost(1)) == (0, 1)
    assert [move.turn for move in found.costly()] == [2]
    assert [point["first"] for point in found.curve()] == [0, 1, 1, 1, 1, 1, 1, 1]
    assert found.moves[1].best_action in (0, 2, 6, 8)  # the corners hold the draw
    assert found.marks_in_words == (
        "marks by cost: inaccuracy 0.1, mistake 0.2, blunder 0.3 (5%, 10%, 15% of the range from -1 to 1)"
    )


def test_one_seat_is_reviewed_and_the_work_is_reported():
    seen = []

    class Counts(Reporter):
        def progress(self, done, total=None, note=""):
            seen.append((done, total))

    found = review(LOST, EXACT, seat=1, report=Counts())
    assert [move.seat for move in found.moves] == [1, 1, 1]
    assert seen == [(0, 3), (1, 3), (2, 3)]
    assert math.isnan(found.total_cost(0))
    with pytest.raises(BadInput, match="seat 2 should be 0 to 1"):
        review(LOST, EXACT, seat=2)


def test_a_policy_is_valued_by_its_own_play_against_itself():
    record = Record(0, "kuhn", ["a", "b"], 1, [1, 0, 1, 1], [2.0, -2.0])  # Q bets, J calls
    found = review(record, ByCard(KUHN, BLUFFS))
    first, second = found.moves
    # The jack loses every showdown: 2 where it calls, 1 where it passes.
    assert second.played == "bet"
    assert (second.value, second.best_value) == pytest.approx((-2, -1))
    assert second.best == "pass"
    assert second.mark == "blunder"
    view, seat = after(KUHN, "Q", "J")
    values = policy_values(KUHN, possible_worlds(KUHN, view, seat, ByCard(KUHN, BLUFFS)), seat, ByCard(KUHN, BLUFFS))
    assert [first.advice.value.tolist(), first.value] == [values.tolist(), values[1]]


def test_playouts_of_a_policy_have_its_exact_values():
    view, seat = after(LEDUC, "Q", "J")
    for player in (Hashed(LEDUC), Drawing(LEDUC)):
        made = make(player)
        made.begin(LEDUC, seat, 1)
        worlds = possible_worlds(LEDUC, view, seat, player)
        payoffs = play_out(LEDUC, made, worlds.states, worlds.probs, seat, 4000, 1)
        if not hasattr(player, "drawn"):
            exact = policy_values(LEDUC, worlds, seat, player)
            assert payoffs.mean(axis=1) == pytest.approx(exact, abs=4 * payoffs.std() / 4000**0.5)
        even = np.full(2, 0.5)
        advice = with_values(LEDUC, made, view, seat, fixed_advice(LEDUC, view, even))
        assert (advice.error is None) == (not hasattr(player, "drawn"))
        assert advice.value == pytest.approx(payoffs.mean(axis=1), abs=0.6)


def test_a_move_that_is_better_than_the_advice_is_the_best_and_costs_nothing():
    class Mistaken:
        """Advises the first legal action, and knows that the last is worth more."""

        def begin(self, game, seat, seed):
            self.game = game

        def move(self, view):
            n = len(games.legal_actions(self.game, view))
            self.advice = replace(fixed_advice(self.game, view, np.eye(n)[0]), value=np.linspace(-1, 1, n))
            return self.advice.best

        advice = None

    move = review(tic_tac_toe(8, 7, 6, 4, 3, 1), Mistaken(), seat=0).moves[0]
    assert (move.played, move.best, move.value, move.cost) == ("c3", "c3", 1, 0)


def test_a_mover_is_refused_and_forced_moves_are_left_out():
    class Mover:
        def move(self, view):
            return games.legal_actions(games.load("tic_tac_toe"), view)[0]

    with pytest.raises(BadInput, match="Mover gives no advice, only moves"):
        review(LOST, Mover())
    drawn = tic_tac_toe(4, 0, 8, 2, 1, 7, 3, 5, 6)
    assert [move.turn for move in review(drawn, EXACT).moves] == [1, 2, 3, 4, 5, 6, 7, 8]


# ---------------------------------------------------------------- files and the command


def test_games_of_every_format_are_read(kibitz, tmp_path):
    (tmp_path / "hands.acpc").write_text("STATE:7:crc/cc/rf:AhKd|QsJc/4h3d2c/5s:20|-20:alice|bob\n" * 2)
    hand = read_game(tmp_path / "hands.acpc", 2)
    assert (hand.game, hand.players) == ("holdem", ["alice", "bob"])
    (tmp_path / "hand.txt").write_text(SHOWDOWN)
    assert looks_like(SHOWDOWN) == "pokerstars"
    assert read_game(tmp_path / "hand.txt").game == "holdem"
    assert kibitz("match", "doppelkopf:thesis", *["random"] * 4, "--deals", "1", "--out", "match")[0] == 0
    assert kibitz("convert", "match", "games.txt")[0] == 0
    assert kibitz("convert", "match", "lines", "--to", "thesis", "--game", "1")[0] == 0
    dealt = read_game(tmp_path / "match", 3)
    assert read_game(tmp_path / "games.txt", 3).actions[48:] == dealt.actions[48:]
    assert read_game(tmp_path / "lines").game == dealt.game
    with pytest.raises(BadInput, match=r"hands\.acpc: it has no game 3: its games are 1 to 2"):
        read_game(tmp_path / "hands.acpc", 3)


def test_the_command_prints_a_table_of_80_columns_and_json(kibitz, tmp_path, monkeypatch):
    for console in (progress.out, progress.err):
        monkeypatch.setattr(console, "_width", 80)
    (tmp_path / "games.jsonl").write_text(LOST.line())
    code, out, _ = kibitz("review", "games.jsonl", "--game", "5", "--with", EXACT)
    assert code == 0
    assert max(map(len, out.splitlines())) <= 80
    assert "total cost of seat 2: 1.00 (1 blunder)" in out
    assert next(line.split() for line in out.splitlines() if "blunder" in line)[:3] == ["2", "2", "b1"]
    code, out, _ = kibitz("review", "games.jsonl", "--game", "5", "--with", EXACT, "--seat", "2", "--json", "-")
    found = json.loads(out)
    assert found["cost"] == [{"seat": 2, "total": 1.0}]
    assert found["moves"][0]["mark"] == "blunder"
    assert len(found["moves"][0]["advice"]["moves"]) == 8
    code, out, _ = kibitz("review", "games.jsonl", "--game", "5", "--with", "random", "--seat", "1")
    assert code == 0
    for arguments, why in (
        (("--game", "1"), "games.jsonl: it has no game 1: its games are 5 to 5"),
        (("--game", "5", "--seat", "3"), "--seat 3 should be 1 to 2"),
        (("--game", "5", "--from", "pgn"), "pgn"),
    ):
        code, _, err = kibitz("review", "games.jsonl", *arguments)
        assert code == 2
        assert why in " ".join(err.split())


def test_the_command_speaks_german_and_counts_marks(kibitz, tmp_path):
    poor = tic_tac_toe(6, 7, 0, 3, 8, 5, 2, 4)  # x wins at 4, twice overlooked
    (tmp_path / "games.jsonl").write_text(LOST.line() + replace(poor, number=5).line())
    code, out, _ = kibitz("review", "games.jsonl", "--game", "5", "--with", EXACT, "--language", "de")
    assert code == 0
    out = " ".join(out.split())
    assert out.startswith(
        f"Spiel 5, tic_tac_toe: Platz 1 human, Platz 2 random; geprüft von {EXACT} Zug Platz gespielt "
    )
    assert "Verlust von Platz 2 insgesamt: 1,00 (1 Patzer)" in out
    assert "Urteile nach Verlust: Ungenauigkeit 0,1, Fehler 0,2, Patzer 0,3 (5%, 10%, 15% der Spanne" in out
    code, out, _ = kibitz("review", "games.jsonl", "--game", "6", "--with", EXACT, "--seat", "1")
    assert "total cost of seat 1: 4.00 (2 blunders)" in out
    code, _, err = kibitz("review", "games.jsonl", "--game", "5", "--language", "fr")
    assert code == 2
    assert "no language is called 'fr'" in " ".join(err.split())


def test_a_move_that_a_search_hardly_tried_is_valued_by_the_next_position():
    found = review(LOST, "uct:3000")
    tried = found.moves[2].advice  # ends as soon as one of the moves is proven to win
    assert tried.value[tried.actions == LOST.actions[2]] < 0.9
    assert [move.mark for move in found.moves] == ["", "blunder", "", "", "", "", ""]
    assert [round(move.value, 1) for move in found.moves[2:]] == [1, -1, 1, -1, 1]
