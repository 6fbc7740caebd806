"""AIVAT: unbiased, by enumeration of all games, and of less variance than the payoffs."""

import json
from dataclasses import replace

import numpy as np
import pytest

from kibitz import games
from kibitz.core.names import BadInput
from kibitz.games import CHANCE, OVER
from kibitz.play import match
from kibitz.play.play import seed_of
from kibitz.play.statistics import further_games
from kibitz.poker import aivat
from kibitz.poker.aivat import Estimator, estimates, known_policies
from kibitz.poker.solve.cards import cards_of

LEDUC = games.load("leduc")
SMALL = games.load("leduc:raises=1")
APART = games.load("leduc:raises=1,distinct_suits=yes,ranks=2")
# Seven cards of one suit: two hands and the flop are all of them.
HOLDEM = games.load("holdem:flop,ranks=7,suits=1,preflop_raises=0,raises=1")
ALL_IN = games.load("holdem:flop,ranks=7,suits=1,stack=10")  # who calls the blind is all in: the flop ends the game


class Fixed:
    """A random policy that is the same whenever it is asked; some actions are never played."""

    def __init__(self, game, seed):
        self.game, self.seed, self.cache = game, seed, {}

    def begin(self, game, seat, seed):
        pass

    def action_probs(self, views, drawn=None):
        seeds = np.zeros(len(views), np.int64) if drawn is None else drawn
        return np.array([self.at(view, int(seed)) for view, seed in zip(views, seeds, strict=True)])

    def at(self, view, drawn):
        key = self.seed + drawn, int(self.game.infoset(view, self.game.turn(view)))
        if key not in self.cache:
            weights = np.random.default_rng(key).random(len(games.legal_actions(self.game, view)))
            weights[(weights < 0.15) & (weights < weights.max())] = 0
            self.cache[key] = np.pad(weights / weights.sum(), (0, 3 - len(weights)))
        return self.cache[key]


class Drawing(Fixed):
    """Draws one of three policies for each game."""

    def begin(self, game, seat, seed):
        self.drawn = seed % 3


class Hidden:
    """A player whose policy nobody knows."""


def deals(game, state):
    """Positions after all cards that chance deals next: (position, cards, probability), orders of equal result once."""
    found = {state.tobytes(): (state, (), 1.0)}
    while any(game.turn(state) == CHANCE for state, _, _ in found.values()):
        before, found = found, {}
        for state, cards, prob in before.values():
            for card, share in games.chance_outcomes(game, state):
                after = state.copy()
                game.play(after, card)
                so_far = found.get(after.tobytes(), (None, None, 0.0))[2]
                found[after.tobytes()] = after, (*cards, card), so_far + prob * share
    return found.values()


def all_games(game, players, number):
    """Every game: its actions, its probability if these policies play, and the payoff of the first seat."""

    def walk(state, actions, prob):
        turn = game.turn(state)
        if turn == OVER:
            yield actions, prob, game.payoff(state, 0)
        elif turn == CHANCE:
            for after, cards, share in deals(game, state):
                yield from walk(after, (*actions, *cards), prob * share)
        else:
            player, view = players[(turn + number) % 2], np.array([games.view_of(game, state, turn)], game.state)
            drawn = ([player.drawn],) if hasattr(player, "drawn") else ()
            probs = player.action_probs(view, *drawn)[0]
            for action, share in zip(games.legal_actions(game, state), probs, strict=False):
                if share > 0:
                    after = state.copy()
                    game.play(after, action)
                    yield from walk(after, (*actions, action), prob * share)

    return walk(games.positions(game)[0], (), 1.0)


def moments(game, players, known, number=0):
    """Exact means and variances, one row each: of the payoff, of imaginary observations, and of the whole estimate."""
    seen = [player if each else Hidden() for player, each in zip(players, known, strict=True)]
    for i, player in enumerate(players):
        player.begin(game, 0, seed_of(1, number, i))
    actions, probs, payoffs = zip(*all_games(game, players, number), strict=True)
    assert sum(probs) == pytest.approx(1, abs=1e-12)
    public = 2 * cards_of(game).hole * all(known)  # of two known policies all games with these bets and boards are one
    values = [payoffs]
    for corrections in (False, True):
        estimator = Estimator(game, seen, ["one", "two"], 1, corrections)
        found = {
            line[public:]: estimator.estimate(number, line)
            for line in {line[public:]: line for line in actions}.values()
        }
        values.append([found[line[public:]] for line in actions])
    means = np.array(values) @ probs
    return np.column_stack([means, (np.array(values) - means[:, None]) ** 2 @ probs])


EITHER = [(True, True), (True, False), (False, True)]


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("known", EITHER)
@pytest.mark.parametrize("game", [SMALL, APART], ids=games.full_name)
def test_in_leduc_the_estimate_is_unbiased_and_varies_less_over_all_games(game, known, number):
    payoff, imaginary, whole = moments(game, (Fixed(game, 3), Fixed(game, 10)), known, number)
    assert [imaginary[0], whole[0]] == pytest.approx([payoff[0]] * 2, abs=1e-9)
    assert imaginary[1] < 0.999 * payoff[1]
    assert whole[1] < (0.5 if all(known) else 0.9) * payoff[1]


def test_in_leduc_of_the_usual_size_the_estimate_is_unbiased():
    payoff, imaginary, whole = moments(LEDUC, (Fixed(LEDUC, 3), Fixed(LEDUC, 10)), (True, True))
    assert [imaginary[0], whole[0]] == pytest.approx([payoff[0]] * 2, abs=1e-9)
    assert whole[1] < 0.5 * payoff[1]


def test_hands_of_known_policies_do_not_matter():
    players = Fixed(SMALL, 3), Fixed(SMALL, 10)
    estimator, found = Estimator(SMALL, players, ["one", "two"], 1), {}
    for actions, _, _ in all_games(SMALL, players, 0):
        found.setdefault(actions[2:], set()).add(round(estimator.estimate(0, actions), 9))
    assert {len(each) for each in found.values()} == {1}


@pytest.mark.parametrize(("known", "number"), [(EITHER[0], 0), (EITHER[1], 1)], ids=["two_known", "one_known"])
def test_in_holdem_the_estimate_is_unbiased_and_varies_less_over_all_games(known, number):
    """The other hand is known from one's own and the flop, so with one known policy only luck can be subtracted."""
    payoff, imaginary, whole = moments(HOLDEM, (Fixed(HOLDEM, 3), Fixed(HOLDEM, 10)), known, number)
    assert [imaginary[0], whole[0]] == pytest.approx([payoff[0]] * 2, abs=1e-9)
    assert imaginary[1] < 0.999 * payoff[1] if all(known) else imaginary[1] == pytest.approx(payoff[1])
    assert whole[1] < 0.999 * payoff[1]


@pytest.mark.parametrize("known", EITHER)
def test_it_is_unbiased_where_seats_are_all_in(known):
    payoff, imaginary, whole = moments(ALL_IN, (Fixed(ALL_IN, 3), Fixed(ALL_IN, 10)), known)
    assert [imaginary[0], whole[0]] == pytest.approx([payoff[0]] * 2, abs=1e-9)
    assert whole[1] < 1e-12 if all(known) else whole[1] < payoff[1]  # two: luck of one decision and one deal is all


def test_it_is_unbiased_where_boards_to_come_are_sampled(monkeypatch):
    monkeypatch.setattr(aivat, "MOST", 5)  # of 35
    payoff, imaginary, whole = moments(ALL_IN, (Fixed(ALL_IN, 3), Fixed(ALL_IN, 10)), (True, True))
    assert whole[0] == pytest.approx(payoff[0], abs=1e-9)
    assert 1e-3 < whole[1] < imaginary[1] < payoff[1]


def test_a_player_that_draws_its_policy_is_known_by_what_it_drew():
    found = set()
    for number in range(4):
        players = Drawing(SMALL, 3), Fixed(SMALL, 10)
        payoff, _, whole = moments(SMALL, players, (True, True), number)
        assert whole[0] == pytest.approx(payoff[0], abs=1e-9)
        found.add((number % 2, players[0].drawn, round(float(payoff[0]), 9)))
    assert len({drawn for _, drawn, _ in found}) > 1


# ---------------------------------------------------------------- matches


def test_a_match_reports_the_reduced_payoff_beside_the_other_one(tmp_path):
    asked = "leduc", ["random", "always:call"]
    plain = match.match(*asked, 60)
    assert plain.result.reduced is None
    assert "reduced" not in plain.result.as_json()
    found = match.match(*asked, 60, out=tmp_path / "run", reduce_variance=True)
    assert found.records == plain.records
    assert replace(found.result, reduced=None) == plain.result
    reduced = found.result.reduced
    assert reduced.known == ["random", "always:call"]
    assert reduced.payoff.margin < 0.7 * found.payoff.margin
    assert abs(reduced.payoff.mean - found.payoff.mean) < found.payoff.margin
    assert f"{1000 * reduced.payoff.mean:+,.1f}" in str(found)
    stored = json.loads((tmp_path / "run" / "result.json").read_text())["reduced"]
    assert stored == found.result.as_json()["reduced"]
    assert stored["payoff"]["mean"] == reduced.payoff.mean
    assert further_games(found.result, 2, 0.1) < further_games(plain.result, 2, 0.1)


def test_a_match_that_is_resumed_or_was_played_without_it_has_the_same_estimate(tmp_path):
    asked = "leduc", ["random", "always:call"]
    whole = match.match(*asked, 30, reduce_variance=True).result
    match.match(*asked, 10, out=tmp_path / "run", reduce_variance=True)
    match.match(*asked, 30, out=tmp_path / "run")
    assert match.match(*asked, 30, out=tmp_path / "run", reduce_variance=True).result == whole


def test_any_number_of_processes_gives_the_same_estimate(monkeypatch):
    monkeypatch.setattr(aivat, "BLOCK", 4)
    players = ["random", "always:call"]
    records = match.match("leduc", players, 20).records
    one, two = (aivat.reduced(games.load("leduc"), players, records, count, alone=0) for count in (1, 2))
    assert one == two


def test_one_known_player_is_enough():
    players = ["ismcts:5", "always:call"]
    assert known_policies(games.load("leduc"), players) == ["always:call"]
    assert match.match("leduc", players, 6, reduce_variance=True).result.reduced.known == ["always:call"]


@pytest.mark.parametrize(
    ("game", "players", "text"),
    [
        ("kuhn", ["random", "random"], "variance is reduced in leduc and holdem, not in kuhn"),
        ("leduc", ["oos:10", "human"], "oos:10 and human give no probabilities for every hand"),
    ],
)
def test_games_and_players_that_it_is_not_for_are_refused_before_anything_is_played(tmp_path, game, players, text):
    with pytest.raises(BadInput, match=text):
        match.match(game, players, 10, out=tmp_path / "run", reduce_variance=True)
    assert not (tmp_path / "run").exists()


def test_a_policy_that_never_plays_as_recorded_is_refused():
    records = match.match("leduc", ["always:raise", "random"], 2).records
    of = estimates("leduc", ["always:fold", "random"], 1)
    with pytest.raises(BadInput, match="always:fold never plays as in game 1"):
        of(((0, tuple(records[0].actions)),))
