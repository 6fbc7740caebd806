"""Statements of the four papers, and of their programs, that don't hold: the documentation names them, and why."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from kibitz import games
from kibitz.doppelkopf.rules import scoring
from kibitz.games import CHANCE, OVER, legal_actions, view_of
from kibitz.solve.sequence_form import unfold
from kibitz.train.tspg.rmsprop import RmsProp


def nodes(game):
    """All positions at which a seat moves."""
    todo = [games.positions(game)[0]]
    while todo:
        state = todo.pop()
        if game.turn(state) == OVER:
            continue
        if game.turn(state) != CHANCE:
            yield state
        for action in legal_actions(game, state):
            after = state.copy()
            game.play(after, action)
            todo.append(after)


# ---------------------------------------------------------------- ExIt-OOS


# Percent and the number in parentheses beside it, tables 3 and 4: games without draws.
LIARS_DICE = [(65, 2.6), (53, 2.8), (66, 2.6), (51, 2.8), (52, 2.8), (64, 2.7), (54, 2.8)]


@pytest.mark.parametrize(("score", "reach"), LIARS_DICE)
def test_intervals_of_exit_oos_fit_a_quarter_of_its_5000_games(score, reach):
    half_width = {n: 196 * math.sqrt(score / 100 * (1 - score / 100) / n) for n in (1250, 5000)}
    assert half_width[1250] == pytest.approx(reach, abs=0.1)
    assert half_width[5000] < 0.55 * reach


def test_some_infosets_of_leduc_have_two_elements():
    """Ranks that the other seat may hold: three, but two where the own card is paired."""
    game, others = games.load("leduc"), {}
    for state in nodes(game):
        seat = game.turn(state)
        key, paired = int(game.infoset(state, seat)), int(state.public) == int(state.cards[seat])
        others.setdefault((key, paired), set()).add(int(state.cards[1 - seat]))
    assert {(paired, len(ranks)) for (_, paired), ranks in others.items()} == {(False, 3), (True, 2)}


def test_winners_by_seat_make_views_of_the_two_seats_look_the_same():
    """One seat has won the first round, the other has lost it: as in the encoding of the public program."""
    shared = {}
    for name in ("goofspiel:3", "goofspiel:3,by_seat=yes"):
        game, seen = games.load(name), {}
        for state in nodes(game):
            seat, encoding = game.turn(state), np.zeros(game.facts.encoding, np.float32)
            game.observe(state, seat, encoding)
            other = np.zeros(game.facts.encoding, np.float32)
            game._replace(by_seat=False).observe(view_of(game, state, seat), seat, other)
            seen.setdefault(encoding.tobytes(), set()).add(other.tobytes())
        shared[name] = max(map(len, seen.values()))
    assert shared == {"goofspiel:3": 1, "goofspiel:3,by_seat=yes": 2}


# ---------------------------------------------------------------- tree-search policy gradients


def test_equation_6_of_tspg_is_not_equation_9():
    """Two moves, then the game ends and pays: (6) counts each reward once, (9) the return from every move on."""
    generator = np.random.default_rng(1)
    pays = generator.normal(size=(2, 2))  # by first and second move
    search = [np.array([0.3, 0.7]), np.array([[0.6, 0.4], [0.1, 0.9]])]
    theta = generator.normal(size=3)  # one logit per position: the opening, after each first move

    def policy(theta):
        first = 1 / (1 + np.exp(-theta))
        return np.stack([first, 1 - first], axis=-1)

    def equation_6(theta):
        """Σ_t E[R_{t+1}]: only the second move is rewarded, the first one is by the search."""
        return float(search[0] @ (policy(theta)[1:] * pays).sum(axis=1))

    def equation_9(theta):
        first = policy(theta)[0] @ (search[1] * pays).sum(axis=1)
        return float(first) + equation_6(theta)

    def slope(objective):
        return [(objective(theta + h) - objective(theta - h)) / 2e-6 for h in 1e-6 * np.eye(3)]

    def slopes_of_equation_10():
        values = [(search[1] * pays).sum(axis=1), pays[0], pays[1]]
        return [
            reach * p[0] * p[1] * (q[0] - q[1])
            for reach, p, q in zip([1, *search[0]], policy(theta), values, strict=True)
        ]

    assert slope(equation_9) == pytest.approx(slopes_of_equation_10(), abs=1e-8)
    assert slope(equation_6)[0] == 0  # the policy's first move has no influence on it
    assert abs(slopes_of_equation_10()[0]) > 0.01


def test_bootstrap_intervals_over_five_runs_cover_83_percent():
    generator = np.random.default_rng(1)
    runs = generator.normal(size=(2000, 5))
    means = runs[:, generator.integers(0, 5, (400, 5))].mean(axis=2)
    low, high = np.quantile(means, [0.025, 0.975], axis=1)
    assert np.mean((low < 0) & (high > 0)) == pytest.approx(0.83, abs=0.03)
    reach = stats.t.ppf(0.975, 4) * runs.std(axis=1, ddof=1) / 5**0.5
    assert np.mean(np.abs(runs.mean(axis=1)) < reach) == pytest.approx(0.95, abs=0.02)


def test_a_gradient_that_hardly_varies_makes_huge_steps_where_epsilon_is_outside_the_root():
    sizes = {}
    for inside in (False, True):
        optimizer = RmsProp(rate=0.005, inside=inside)
        for _ in range(300):
            step = optimizer.step(np.array([0.001]))
        sizes[inside] = abs(float(step[0]))
    assert sizes[False] > 100
    assert sizes[True] < 1


# ---------------------------------------------------------------- Doppelkopf


def test_equation_3_of_the_thesis_on_doppelkopf_is_the_root_of_a_negative_number():
    assert all(math.log(p) / (1 + n) < 0 for p, n in itertools.product((0.01, 0.5, 0.99), (0, 1, 100)))


def test_its_normalized_values_leave_0_to_1_where_a_player_is_alone_or_announces():
    def normalized(score, points):
        return (500 * score + points + 4000) / 8240

    assert (normalized(-8, 0), normalized(8, 240)) == (0, 1)
    silent_solo = 3 * scoring.value(240, 12, 0, -1, -1, True, False, 0)
    announced = scoring.value(240, 12, 0, 4, 4, False, False, 0)
    assert normalized(silent_solo, 240) == pytest.approx(1.42, abs=0.01)
    assert normalized(announced, 240) > 1.5


def test_its_intervals_have_the_factor_of_five_samples_for_4000_games():
    assert stats.t.ppf(0.975, 4) == pytest.approx(2.776, abs=1e-3)
    assert 2.776 / stats.t.ppf(0.975, 3999) == pytest.approx(1.42, abs=0.01)


def test_its_human_predicted_within_four_points():
    """47.6% of 12 games of 48 cards."""
    assert 196 * math.sqrt(0.476 * 0.524 / (12 * 48)) == pytest.approx(4.1, abs=0.05)


# ---------------------------------------------------------------- Deep CFR


@pytest.mark.parametrize(("games_played", "one_pair", "ten_pairs"), [(100, 61, 65), (200, 115, 121)])
def test_its_matches_show_large_differences_only(games_played, one_pair, ten_pairs):
    """The least wins that are significant at 5%: for one pair of models, and for ten pairs (Bonferroni)."""
    for level, wins in ((0.05, one_pair), (0.005, ten_pairs)):
        assert stats.binomtest(wins, games_played).pvalue < level <= stats.binomtest(wins - 1, games_played).pvalue


def test_equation_2_6_of_the_thesis_on_holdem_holds_only_where_the_action_ends_the_game():
    """Kuhn poker, uniform play: regrets with π(h, h') = 1 after the action, and with what σ makes of it."""
    game = games.load("kuhn")
    assert unfold(game).infosets == 12

    def after(state, action):
        state = state.copy()
        game.play(state, action)
        return state

    def leaves(state, chance=1.0):
        """(probability under uniform play, payoff of seat 1) of each end."""
        if game.turn(state) == OVER:
            return [(chance, game.payoff(state, 0))]
        actions = legal_actions(game, state)
        return [leaf for action in actions for leaf in leaves(after(state, action), chance / len(actions))]

    agree = set()
    for state in nodes(game):
        if game.turn(state) == 0:
            for action in legal_actions(game, state):
                ends = leaves(after(state, action))
                right, printed = sum(p * u for p, u in ends), sum(u for _, u in ends)
                agree.add((len(ends) == 1, right == pytest.approx(printed)))
    assert (True, True) in agree
    assert (True, False) not in agree
    assert (False, False) in agree
