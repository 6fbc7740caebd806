"""Results and intervals of matches, against known values."""

import math

import numpy as np
import pytest

from kibitz.games.records import Record
from kibitz.play.statistics import Running, interval, score_of, summary


def record(number, first, second=None):
    """A game in which the first-named player got `first`."""
    payoffs = [first, -first if second is None else second]
    return Record(number, "kuhn", ["a", "b"], 1, [], payoffs if number % 2 == 0 else payoffs[::-1])


def test_wins_draws_and_losses_are_those_of_the_first_named_player():
    result = summary([record(0, 2), record(1, 1), record(2, 0), record(3, -1), record(4, -3), record(5, 4)])
    assert (result.games, result.wins, result.draws, result.losses) == (6, 3, 1, 2)
    assert result.score.mean == pytest.approx(3.5 / 6)
    assert result.payoff.mean == pytest.approx(0.5)


def test_where_payoffs_differ_in_size_the_payoff_is_first_and_there_is_no_score():
    poker = summary([record(i, payoff) for i, payoff in enumerate([1.0, -5.0] * 4 + [1.0, 1.0])])
    assert poker.payoffs_differ
    names = [row[0] for row in poker.rows("mbb/g")]
    assert names[:3] == ["mean payoff, bb", "in mbb/g", "won / drawn / lost"]
    assert "score" not in f"{poker}{poker._repr_html_()}"
    for payoffs in ([1.0, 1.0, -1.0, 0.0], [2.0, -2.0], [0.0, 0.0]):  # a win is worth what a defeat costs
        board = summary([record(i, payoff) for i, payoff in enumerate(payoffs)])
        assert not board.payoffs_differ
        assert [row[0] for row in board.rows()][:3] == ["won / drawn / lost", "score (a draw is half)", "mean payoff"]


def test_a_win_is_more_than_the_others_get_on_average():
    def at(*payoffs):
        seats = range(len(payoffs))
        return [score_of(Record(0, "x", ["a"] * len(payoffs), 1, [], list(payoffs)), seat) for seat in seats]

    assert at(3, 1, 1) == [1, 0, 0]
    assert at(2, 2, -4) == [1, 1, 0]
    assert at(-1, -1, -1) == [0.5, 0.5, 0.5]
    assert at(0.1, 0.1, 0.1, 0.1) == [0.5] * 4
    assert at(2, -2, -2, 2) == [1, 0, 0, 1]  # partners
    assert at(-6, 2, 2, 2) == [0, 1, 1, 1]  # a solo that was lost
    assert at(0, 0, 0, 0) == [0.5] * 4
    assert at(2, 3) == [0, 1]


def test_a_player_named_for_several_seats_has_one_result_the_mean_over_them():
    """Two deals of one against three: the intervals are over deals, and the others lose what the first wins."""

    def rotated(number, first):
        payoffs = [-first / 3] * 4
        payoffs[-number % 4] = first
        names = ["b"] * 4
        names[-number % 4] = "a"
        return Record(number, "doppelkopf", names, 1, [], payoffs)

    found = summary([rotated(i, first) for i, first in enumerate([3.0, 6.0, 0.0, 3.0, -3.0, 0.0, 3.0, 0.0])])
    assert (found.games, found.wins, found.draws, found.losses) == (8, 4, 3, 1)
    assert list(found.by_name) == ["a", "b"]
    reach = 12.706 * 1.5  # deals of mean 3 and 0: a quantile of Student's t for one degree of freedom
    assert found.by_name["a"] == found.payoff == pytest.approx((1.5, 1.5 - reach, 1.5 + reach), abs=1e-3)
    assert found.by_name["b"] == pytest.approx((-0.5, -0.5 - reach / 3, -0.5 + reach / 3), abs=1e-3)
    assert found.deviation == pytest.approx(np.std([3, 6, 0, 3, -3, 0, 3, 0], ddof=1))
    assert found.as_json()["by_name"]["b"]["mean"] == pytest.approx(-0.5)


def test_the_interval_agrees_with_the_normal_approximation():
    values = np.random.default_rng(1).normal(3, 2, 1000)
    found = interval(values, np.ones(1000))
    reach = 1.96 * values.std(ddof=1) / math.sqrt(1000)
    assert found.mean == pytest.approx(values.mean())
    assert found.low == pytest.approx(values.mean() - reach, abs=0.01 * reach)
    assert found.high == pytest.approx(values.mean() + reach, abs=0.01 * reach)


@pytest.mark.parametrize("pairs", [5, 60])  # five runs of a study, and the pairs of a match
def test_about_95_of_100_intervals_contain_the_true_mean(pairs):
    generator = np.random.default_rng(7)
    held = 0
    for _ in range(1000):
        found = interval(generator.normal(0.4, 1, pairs), np.full(pairs, 2.0))
        held += found.low <= 0.2 <= found.high
    assert 930 <= held <= 970


@pytest.mark.parametrize("wins", [0.5, 0.9, 0.98])
@pytest.mark.parametrize("together", [True, False])  # whether a deal decides both of its games
def test_win_rates_near_the_ends_have_honest_intervals(wins, together):
    generator = np.random.default_rng(7)
    held = 0
    for _ in range(1000):
        won = generator.random((20, 2)) < wins
        won[:, 1] = won[:, 0] if together else won[:, 1]
        found = interval(won.sum(axis=1).astype(float), np.full(20, 2.0), bounds=(0, 1))
        assert 0 <= found.low < found.mean or found.mean == 0
        held += found.low <= wins <= found.high
    assert held >= 930


def test_twenty_wins_of_twenty_are_no_proof_of_perfection():
    found = summary([record(i, 1.0) for i in range(20)])
    assert found.score == pytest.approx((1, 10 / (10 + 1.96**2), 1))  # Wilson's interval of 10 wins in 10 deals
    assert found.payoff == pytest.approx((1, 2 * found.score.low - 1, 1))
    assert found.by_name["b"] == pytest.approx((-1, -1, -found.payoff.low))
    assert summary([record(i, 1.0) for i in range(2000)]).score.low > 0.99


def test_chance_that_both_games_of_a_pair_share_does_not_widen_the_interval():
    """The deal decides every game, for the one player and then for the other."""
    chance = np.random.default_rng(1).choice([-1, 1], 100)
    games = [record(i, float(chance[i // 2] * (-1) ** i)) for i in range(200)]
    found = summary(games)
    assert found.payoff == pytest.approx((0, -0.028, 0.028), abs=1e-3)
    assert found.score == pytest.approx((0.5, 0.486, 0.514), abs=1e-3)
    alone = summary([record(2 * i, game.payoffs[0]) for i, game in enumerate(games)])
    assert alone.payoff.high - alone.payoff.low > 0.2


def test_equal_payoffs_have_an_interval_of_width_0():
    assert interval(np.full(50, 2.0), np.full(50, 2.0)) == (1, 1, 1)


def test_an_incomplete_pair_counts_half():
    """Sums 2, 0 over 2 + 1 games: the mean is of games, not of pairs."""
    found = summary([record(0, 1), record(1, 1), record(2, -2)])
    reach = 12.706 * math.sqrt(2 * (2**2 + 2**2)) / 3
    assert found.payoff == pytest.approx((0, -reach, reach), abs=1e-3)


def test_one_pair_gives_no_interval():
    found = summary([record(0, 1), record(1, -1)])
    assert math.isnan(found.payoff.low)
    assert found.as_json()["payoff"] == {"mean": 0.0, "low": None, "high": None}


def test_the_running_result_agrees_with_the_summary():
    values = np.random.default_rng(3).choice([-2.0, 0.0, 1.0, 2.0], 400)
    games = [record(i, values[i]) for i in np.random.default_rng(4).permutation(400).tolist()]
    running = Running()
    for game in games:
        running.add(game)
    found = summary(games)
    assert running.payoff.mean == pytest.approx(found.payoff.mean)
    assert running.payoff == pytest.approx(found.payoff)
    assert tuple(running.outcomes.values()) == (found.wins, found.draws, found.losses)
    assert f"+{found.wins} ={found.draws} -{found.losses}, payoff" in str(running)


def test_the_running_result_starts_without_games():
    running = Running()
    assert math.isnan(running.payoff.mean)
    running.add(record(0, 1))
    assert "±" not in str(running)
    running.add(record(1, 1))
    running.add(record(2, 1))
    running.add(record(3, 0))  # two pairs: a quantile of 12.7
    assert "payoff +0.750 ± 3.177" in str(running)
