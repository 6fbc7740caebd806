"""Elo ratings: closed forms, ratings recovered from sampled games, and data without a maximum."""

import itertools
import json
import math
from dataclasses import replace

import numpy as np
import pytest

from kibitz.core.names import BadInput
from kibitz.games.records import Record
from kibitz.play import elo
from kibitz.play.elo import fit, rate, read_games

SEEDS = itertools.count(1)


def games(one, two, wins=0, draws=0, losses=0, game="kuhn"):
    """Results of `one` against `two`, from both seats, each game with a deal of its own."""
    results = [1.0] * wins + [0.0] * draws + [-1.0] * losses
    return [
        Record(i, game, [one, two] if i % 2 == 0 else [two, one], seed, [], [v, -v] if i % 2 == 0 else [-v, v])
        for (i, v), seed in zip(enumerate(results), SEEDS, strict=False)
    ]


def pairs(results):
    """A match of a against b: the scores of a in the games of each deal."""
    return [
        Record(2 * deal + i, "kuhn", ["ab", "ba"][i], 1, [], [[v, -v], [-v, v]][i])
        for deal, both in enumerate(results)
        for i, v in enumerate(both)
    ]


def elos(found):
    return {player.name: player.elo for player in found.players}


def test_two_players_without_draws_are_400_log_of_their_wins_apart():
    found = rate(games("a", "b", wins=30, losses=12))
    assert elos(found)["a"] == 1500
    assert elos(found)["b"] == pytest.approx(1500 - 400 * math.log10(30 / 12), abs=1e-4)
    assert found.draws == 0
    assert found.helped == []


def test_draws_follow_davidson():
    """The maximum for two players: ν = draws / sqrt(wins losses), and Elo as without draws."""
    found = rate(games("a", "b", wins=30, draws=20, losses=12), "b", 1000)
    assert elos(found)["b"] == 1000
    assert elos(found)["a"] == pytest.approx(1000 + 400 * math.log10(30 / 12), abs=1e-4)
    assert found.draws == pytest.approx(20 / math.sqrt(30 * 12), rel=1e-6)


def test_the_interval_is_that_of_a_log_odds():
    """Without draws: the variance of log(W / L) is 1 / W + 1 / L."""
    found = rate(games("a", "b", wins=300, losses=120))
    reach = 1.96 * math.sqrt(1 / 300 + 1 / 120) * 400 / math.log(10)
    second = found.players[1]
    assert second.high - second.elo == pytest.approx(reach, rel=1e-2)
    assert second.elo - second.low == pytest.approx(reach, rel=1e-2)
    assert (found.players[0].low, found.players[0].high) == (1500, 1500)


def test_the_intervals_use_the_exact_second_derivative():
    """With draws, ν is estimated too: compare with differences of the likelihood, for three players."""
    wins = np.array([[0, 9, 4], [5, 0, 7], [6, 3, 0]], float)
    draws = np.array([[0, 4, 2], [4, 0, 5], [2, 5, 0]], float)
    found, nu, covariance = fit(wins, draws, 0)

    def loss(x):
        strength, tie, total = np.exp(np.append(0, x[:2]) / elo.ELO), math.exp(x[2]), 0.0
        for i in range(3):
            for j in range(3):
                sum_ = strength[i] + strength[j] + tie * math.sqrt(strength[i] * strength[j])
                total -= wins[i, j] * math.log(strength[i] / sum_) if i != j else 0
                if i < j:
                    total -= draws[i, j] * math.log(tie * math.sqrt(strength[i] * strength[j]) / sum_)
        return total

    at, steps = np.array([found[1], found[2], math.log(nu)]), np.diag([1.0, 1.0, 0.01])
    for step in steps:
        assert loss(at) < min(loss(at + step), loss(at - step))
    hessian = np.array(
        [
            [
                (loss(at + a + b) - loss(at + a - b) - loss(at - a + b) + loss(at - a - b)) / 4 / a.sum() / b.sum()
                for b in steps
            ]
            for a in steps
        ]
    )
    assert elo.ELO**2 * covariance[1:3, 1:3] == pytest.approx(np.linalg.inv(hessian)[:2, :2], rel=1e-3)


def width(records):
    return rate(records).players[1].high - rate(records).players[1].low


def test_the_games_of_a_deal_are_one_observation():
    """Deals that decide both games: for the better player, or each for the seat."""
    generator = np.random.default_rng(2)
    results = generator.choice([1.0, -1.0], 200, p=[0.6, 0.4])
    apart = width(games("a", "b", 2 * int((results > 0).sum()), 0, 2 * int((results < 0).sum())))
    assert width(pairs([(v, v) for v in results])) == pytest.approx(math.sqrt(2) * apart, rel=0.02)
    assert 0 < width(pairs([(v, -v) for v in results])) < 0.2 * apart


@pytest.mark.parametrize(("favours", "apart"), [("the player", (0.75, 0.9)), ("the seat", (0.99, 1.0))])
def test_about_95_of_100_intervals_contain_the_true_difference(favours, apart):
    """Most deals decide both of their games. Intervals of independent games would hold too rarely, or nearly always."""
    generator, held, held_apart, repeats = np.random.default_rng(3), 0, 0, 400
    for _ in range(repeats):
        decided, lucky = generator.random(120) < 0.8, np.where(generator.random(120) < 0.6, 1.0, -1.0)
        first, second = np.where(generator.random((2, 120)) < 0.6, 1.0, -1.0)
        first = np.where(decided, lucky, first)
        if favours == "the player":
            true, second = 0.6, np.where(decided, lucky, second)
        else:  # 80% of the deals for the seat, that is one game each; 60% of the games in the others
            true, second = 0.8 * 0.5 + 0.2 * 0.6, np.where(decided, -lucky, second)
        found = rate(pairs(zip(first.tolist(), second.tolist(), strict=True)), "b").players
        a, wins = next(each for each in found if each.name == "a"), int((first > 0).sum() + (second > 0).sum())
        real = 1500 + 400 * math.log10(true / (1 - true))
        held += a.low <= real <= a.high
        held_apart += abs(a.elo - real) <= 1.96 * elo.ELO * math.sqrt(1 / wins + 1 / (240 - wins))
    assert 0.93 <= held / repeats <= 0.985
    assert apart[0] <= held_apart / repeats <= apart[1]


def test_a_match_that_was_repeated_counts_once():
    match = pairs([(1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)] * 10)
    once, twice = rate(match), rate([*match, *match])
    assert (once.repeated, twice.repeated) == (0, 60)
    assert twice.players == once.players
    other = [replace(each, seed=2) for each in match]
    assert rate([*match, *other]).repeated == 0


def test_known_ratings_are_recovered_from_sampled_games():
    generator = np.random.default_rng(1)
    planted = {"a": 1500, "b": 1620, "c": 1300, "d": 1710, "e": 1450}
    nu, records = 0.5, []
    for one in planted:
        for two in planted:
            if one < two:
                d = (planted[one] - planted[two]) / 400 / 2
                probs = np.array([10**d, nu, 10**-d])
                counts = generator.multinomial(600, probs / probs.sum())
                records += games(one, two, *counts.tolist())
    found = rate(records, "a", 1500)
    assert found.draws == pytest.approx(nu, rel=0.1)
    for player in found.players:
        error = (player.high - player.low) / (2 * 1.96)
        assert abs(player.elo - planted[player.name]) <= 4 * error
        assert error < 12
    assert [player.name for player in found.players] == ["d", "b", "a", "e", "c"]


def test_a_player_that_won_all_gets_a_finite_rating_and_a_note():
    found = rate(games("a", "b", wins=20))
    apart = 400 * math.log10(20.5 / 0.5)
    assert elos(found)["b"] == pytest.approx(1500 - apart, abs=1e-3)
    assert [player.note for player in found.players] == ["won all", "lost all"]
    assert found.helped == [("a", "b")]


def test_half_wins_are_added_between_groups_of_which_one_never_lost():
    """Nobody won all, yet nothing bounds the distance between a, b and c, d."""
    records = games("a", "b", 5, 0, 5) + games("c", "d", 5, 0, 5) + games("b", "c", 6)
    found = rate(records)
    assert found.helped == [("b", "c")]
    assert elos(found)["b"] - elos(found)["c"] == pytest.approx(400 * math.log10(6.5 / 0.5), abs=1e-3)
    assert all(player.note == "" for player in found.players)


def test_a_draw_alone_does_not_bound_a_rating():
    """Davidson's maximum for 9 wins, a draw and no loss is at infinity."""
    found = rate(games("a", "b", wins=9, draws=1))
    assert elos(found)["b"] == pytest.approx(1500 - 400 * math.log10(9.5 / 0.5), abs=1e-3)
    assert found.helped == [("a", "b")]


def test_draws_alone_give_equal_ratings():
    found = rate(games("a", "b", draws=10))
    assert elos(found) == pytest.approx({"a": 1500, "b": 1500})
    assert math.isfinite(found.players[0].high)


def test_games_of_a_player_against_itself_do_not_count():
    found = rate(games("a", "b", 3, 2, 1) + games("a", "a", 5, 0, 0))
    assert {player.name: (player.games, player.score) for player in found.players} == {
        "a": (6, pytest.approx(4 / 6)),
        "b": (6, pytest.approx(2 / 6)),
    }


@pytest.mark.parametrize(
    ("records", "fixed", "text"),
    [
        (games("a", "b", 1, 0, 1) + games("c", "d", 1, 0, 1), None, "not connected by games.*: a, b; c, d"),
        (games("a", "a", 3), None, "no player to rate"),
        (games("a", "bob", 1, 0, 1), "bop", "no player is called 'bop': did you mean 'bob'"),
    ],
)
def test_games_that_allow_no_rating_are_refused(records, fixed, text):
    with pytest.raises(BadInput, match=text):
        rate(records, fixed)


def write(path, records):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(record.line() for record in records))


def test_all_games_below_a_folder_are_read(tmp_path):
    write(tmp_path / "games.jsonl", games("a", "b", 2))
    write(tmp_path / "x" / "y" / "games.jsonl", games("a", "c", 3))
    assert len(read_games(tmp_path)) == 5
    write(tmp_path / "z" / "games.jsonl", games("a", "c", 4, game="leduc"))
    with pytest.raises(BadInput, match="holds different games: kuhn, leduc; choose one with --game"):
        read_games(tmp_path)
    assert len(read_games(tmp_path, "leduc")) == 4
    with pytest.raises(BadInput, match="no game here is called 'goofspiel'"):
        read_games(tmp_path, "goofspiel")


def test_a_folder_without_valid_games_is_refused(tmp_path):
    with pytest.raises(BadInput, match="no games below"):
        read_games(tmp_path)
    with pytest.raises(BadInput, match="no folder"):
        read_games(tmp_path / "none")
    three = Record(0, "x", ["a", "b", "c"], 1, [], [1.0, 0.0, -1.0])
    write(tmp_path / "games.jsonl", [three])
    with pytest.raises(BadInput, match="two seats: x has 3"):
        read_games(tmp_path)


@pytest.mark.parametrize(
    "change",
    [
        {"payoffs": [1]},
        {"payoffs": [math.nan, 0]},
        {"payoffs": ["1", "2"]},
        {"players": "ab"},
        {"number": "1"},
        {"actions": [1.5]},
        {"game": 3},
        {"more": 1},
    ],
)
def test_a_line_that_is_no_record_is_refused_with_its_number(tmp_path, change):
    good = games("a", "b", 2)
    broken = json.loads(good[0].line()) | change
    (tmp_path / "games.jsonl").write_text(good[0].line() + json.dumps(broken) + "\n")
    with pytest.raises(BadInput, match=r"games.jsonl, line 2, is no record of a game"):
        read_games(tmp_path)
