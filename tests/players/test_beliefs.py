"""Beliefs about hidden information: against hand computation, enumeration, and views that are equal."""

import json

import numpy as np
import pytest

from kibitz import games
from kibitz.core.names import BadInput
from kibitz.doppelkopf.rules.cards import CLUB_QUEEN, KINDS
from kibitz.doppelkopf.rules.state import PLAIN, known_parties
from kibitz.games import legal_actions, positions, view_of
from kibitz.jit import generators
from kibitz.play.players import beliefs as module
from kibitz.play.players.beliefs import beliefs
from kibitz.play.players.worlds import policy_values, possible_worlds
from kibitz.poker.beliefs import range_beliefs
from kibitz.poker.rules.state import RAISE

from ..games.test_doppelkopf_beliefs import GAME as DOPPELKOPF
from ..games.test_doppelkopf_beliefs import deals, late

KUHN, LEDUC, DICE = games.load("kuhn"), games.load("leduc"), games.load("liars_dice:dice=2,faces=3")
GOOFSPIEL, HOLDEM = games.load("goofspiel:4"), games.load("holdem:ranks=4,suits=2,streets=2")


def after(game, *words):
    state = game.initial(seed=1)
    for word in words:
        state.play(word)
    return view_of(game, state.record, state.turn), state.turn


class ByCard:
    """Bets or raises with a probability that depends on its card; all other moves are equally likely."""

    def __init__(self, game, bold):
        self.game, self.bold = game, bold

    def action_probs(self, views):
        probs = np.zeros((len(views), self.game.facts.num_actions))
        for i, view in enumerate(views):
            n, share = len(legal_actions(self.game, view)), self.bold[int(view.cards[self.game.turn(view)])]
            probs[i, :n] = [*[(1 - share) / (n - 1)] * (n - 1), share]
        return probs


class Hashed:
    """Any policy that depends on the whole infoset."""

    name = "hashed"

    def __init__(self, game):
        self.game = game

    def action_probs(self, views):
        probs = np.zeros((len(views), self.game.facts.num_actions))
        for i, view in enumerate(views):
            n = len(legal_actions(self.game, view))
            weights = np.random.default_rng(int(self.game.infoset(view, self.game.turn(view)))).random(n)
            probs[i, :n] = weights / weights.sum()
        return probs


class Drawing(Hashed):
    """Draws one of two policies for each game, as SD-CFR does."""

    name, drawn, draw_weights = "drawing", 0, np.array([0.3, 0.7])

    def action_probs(self, views, drawn):
        even = np.zeros((len(views), self.game.facts.num_actions))
        for i, view in enumerate(views):
            n = len(legal_actions(self.game, view))
            even[i, :n] = 1 / n
        return np.where(np.asarray(drawn)[:, None] == 0, even, super().action_probs(views))


def probs_of(found, about):
    (one,) = [each.probs for each in found.distributions if each.about == about]
    return one


# ---------------------------------------------------------------- small games


def test_in_kuhn_poker_a_bet_of_a_known_player_tells_its_card_by_bayes_rule():
    view, seat = after(KUHN, "J", "Q", "bet")  # the deal itself isn't seen
    even = beliefs(KUHN, view, seat)
    assert probs_of(even, "card of seat 1") == {"J": 0.5, "K": 0.5}
    assert even.basis == "uniform over deals that fit"
    assert even.exact
    found = beliefs(KUHN, view, seat, ByCard(KUHN, [1 / 3, 0, 1]))  # the equilibrium: bluffs once in three times
    assert probs_of(found, "card of seat 1") == pytest.approx({"J": 1 / 4, "K": 3 / 4})
    assert found.basis == "if the opponent plays like ByCard"
    assert found.distributions[0].fits == {"J": 0.5, "K": 0.5}


def test_in_leduc_poker_the_public_card_counts_too():
    bold = ByCard(LEDUC, [0.2, 0.5, 0.8])
    view, seat = after(LEDUC, "J", "Q", "raise")
    found = probs_of(beliefs(LEDUC, view, seat, bold), "card of seat 1")
    # Five cards are left: J J Q K K. Raises: 2 * 0.2, 0.5, 2 * 0.8, of 2.5.
    assert found == pytest.approx({"J": 0.16, "Q": 0.2, "K": 0.64})
    view, seat = after(LEDUC, "J", "Q", "raise", "call", "K", "raise")
    found = probs_of(beliefs(LEDUC, view, seat, bold), "card of seat 1")
    # Four cards are left: J J Q K, and each was raised with twice: 2 * 0.04, 0.25, 0.64, of 0.97.
    assert found == pytest.approx({"J": 0.08 / 0.97, "Q": 0.25 / 0.97, "K": 0.64 / 0.97})


def test_a_move_that_the_assumed_player_never_makes_leaves_all_deals():
    view, seat = after(KUHN, "J", "Q", "bet")
    found = beliefs(KUHN, view, seat, ByCard(KUHN, [0, 0, 0]))
    assert probs_of(found, "card of seat 1") == {"J": 0.5, "K": 0.5}
    assert found.basis == "uniform over deals that fit; ByCard never plays like this"


def test_dice_are_rolls_and_goofspiel_is_bids_and_hands():
    view, seat = after(DICE, "1", "1", "2", "3", "1x2")
    found = beliefs(DICE, view, seat)
    rolls = probs_of(found, "dice of seat 1")
    assert rolls == pytest.approx({"1 1": 1 / 9, "1 2": 2 / 9, "1 3": 2 / 9, "2 2": 1 / 9, "2 3": 2 / 9, "3 3": 1 / 9})
    assert probs_of(found, "faces among the dice of seat 1") == pytest.approx({"1": 5 / 9, "2": 5 / 9, "3": 5 / 9})
    view, seat = after(GOOFSPIEL, "3", "2", "1")  # seat 2 lost with its 2, seat 1's next bid is face down
    found = beliefs(GOOFSPIEL, view, seat)
    assert probs_of(found, "bid of seat 1 in round 1") == {"3": 0.5, "4": 0.5}
    assert probs_of(found, "bid of seat 1 in round 2") == pytest.approx(
        {"1": 1 / 3, "2": 1 / 3, "3": 1 / 6, "4": 1 / 6}
    )
    left = probs_of(found, "cards in the hand of seat 1")
    assert left == pytest.approx({"1": 2 / 3, "2": 2 / 3, "3": 1 / 3, "4": 1 / 3})


def test_where_there_are_too_many_histories_worlds_are_sampled():
    view, seat = after(LEDUC, "J", "Q", "raise")
    sampled, all_of_them = (possible_worlds(LEDUC, view, seat, Hashed(LEDUC), most) for most in (2, 10_000))
    assert not sampled.exact
    assert sampled.basis == "2,000 samples, uniform over deals that fit; too many to weigh by hashed"
    for card in range(3):
        there = [worlds.states["cards"][:, 0] == card for worlds in (sampled, all_of_them)]
        assert sampled.probs[there[0]].sum() == pytest.approx(all_of_them.fits[there[1]].sum(), abs=0.05)


def test_a_game_without_questions_of_its_own_shows_its_hidden_fields(monkeypatch):
    monkeypatch.setattr(module, "QUESTIONS", {})
    view, seat = after(KUHN, "J", "Q", "bet")
    found = beliefs(KUHN, view, seat, ByCard(KUHN, [1 / 3, 0, 1]))
    assert [each.about for each in found.distributions] == ["cards[0]"]
    assert probs_of(found, "cards[0]") == pytest.approx({"0": 1 / 4, "2": 3 / 4})


def test_what_is_not_hidden_or_not_known_is_refused():
    game = games.load("tic_tac_toe")
    with pytest.raises(BadInput, match="nothing is hidden in tic_tac_toe"):
        beliefs(game, positions(game)[0], 0)
    view, seat = after(KUHN, "J", "Q", "bet")
    with pytest.raises(BadInput, match="oos:10 gives no probabilities for every hand"):
        beliefs(KUHN, view, seat, "oos:10")


def test_values_of_a_policy_are_expected_payoffs():
    view, seat = after(KUHN, "Q", "J")
    worlds = possible_worlds(KUHN, view, seat)
    # Pass: half the time a bet follows, and half of these are folded to. Bet: half the time the other folds.
    assert policy_values(KUHN, worlds, seat, "random") == pytest.approx([-0.25, 0.5])
    view, seat = after(KUHN, "J", "Q", "bet")
    bluffs = ByCard(KUHN, [1 / 3, 0, 1])
    worlds = possible_worlds(KUHN, view, seat, bluffs)
    assert policy_values(KUHN, worlds, seat, bluffs) == pytest.approx([-1, 0.25 * 2 - 0.75 * 2])
    assert policy_values(KUHN, worlds, seat, bluffs, most=0) == pytest.approx([-1, -1])
    assert policy_values(KUHN, possible_worlds(KUHN, *after(KUHN, "Q", "J")), 0, "random", most=2) is None


# ---------------------------------------------------------------- hold'em


@pytest.mark.parametrize("player", [Hashed(HOLDEM), Drawing(HOLDEM)])
def test_ranges_equal_those_of_all_histories(player):
    rng, compared = generators(4, 1)[0], 0
    while compared < 8:
        state = positions(HOLDEM)[0]
        while (turn := HOLDEM.turn(state)) != games.OVER:
            if turn >= 0 and (state.dealt == 7 or compared < 3):
                view = view_of(HOLDEM, state, turn)
                worlds = possible_worlds(HOLDEM, view, turn, player, 10**6)
                found = range_beliefs(HOLDEM, view, turn, player)
                assert found.basis.startswith("if seat")
                for hand, prob in zip(found.other.hands.tolist(), found.other.probs, strict=True):
                    there = (worlds.states["hole"][:, 1 - turn] == hand).all(axis=1)
                    assert prob == pytest.approx(worlds.probs[there].sum(), abs=1e-12)
                compared += 1
            HOLDEM.play(state, HOLDEM.sample_action(state, rng))


def test_the_grid_has_pairs_on_its_diagonal_suited_hands_above_and_offsuit_ones_below():
    game = games.load("holdem")
    state = game.initial()
    for word in ("Ah", "Kd", "2c", "2d"):
        state.play(word)
    found = beliefs(game, view_of(game, state.record, 1), 1, "style:tight-aggressive")
    grid = found.other.grid()
    assert [len(row) for row in grid] == [13] * 13
    assert [grid[i][i]["name"] for i in (0, 1, 12)] == ["AA", "KK", "22"]
    assert (grid[0][1]["name"], grid[1][0]["name"], grid[3][2]["name"]) == ("AKs", "AKo", "QJo")
    combos = [[len(cell["combos"]) for cell in row] for row in grid]
    assert (combos[0][0], combos[0][1], combos[1][0]) == (6, 4, 12)
    assert combos[12][12] == 1  # two deuces are in the own hand
    assert sum(map(sum, combos)) == 50 * 49 // 2
    assert sum(cell["prob"] for row in grid for cell in row) == pytest.approx(1)
    assert found.other.actions == ()  # the big blind hasn't moved
    own = found.own
    assert own.actions == ("fold", "call", "raise")
    assert own.grid()[0][0]["policy"] == pytest.approx([0, 0.15, 0.85])  # aces
    assert own.policy.sum(axis=1) == pytest.approx(1)
    state.play(RAISE)
    later = beliefs(game, view_of(game, state.record, 0), 0, "style:tight-aggressive")
    assert later.other.played == "raise"
    assert later.other.grid()[0][0]["policy"] == pytest.approx([0, 0.15, 0.85])
    strong, weak = later.other.grid()[1][1], later.other.grid()[12][5]
    assert strong["prob"] / len(strong["combos"]) > 5 * weak["prob"] / len(weak["combos"])
    assert later.own.actions == ("fold", "call", "raise")
    json.dumps(later.as_json(), allow_nan=False)


# ---------------------------------------------------------------- Doppelkopf


@pytest.mark.parametrize(("seed", "count"), [(1, 37), (4, 38), (5, 39), (6, 41)])
def test_cards_and_parties_equal_those_of_all_deals(seed, count):
    state = late(seed, count)
    seat = DOPPELKOPF.turn(state)
    view = view_of(DOPPELKOPF, state, seat)
    found, every = beliefs(DOPPELKOPF, view, seat), np.array(list(deals(view, seat)))
    assert found.expected.sum(axis=1) == pytest.approx(found.copies)
    assert found.expected[:, seat].tolist() == [0] * len(found.kinds)
    for kind, row in zip(found.kinds, found.expected, strict=True):
        assert [row[seat + 1 + j & 3] for j in range(3)] == pytest.approx(every[:, kind].mean(axis=0))
    re, kontra = known_parties(view)
    for j in range(3):
        other = seat + 1 + j & 3
        if view.mode == PLAIN and not (re | kontra) >> other & 1:
            assert found.re[other] == pytest.approx((every[:, CLUB_QUEEN, j] > 0).mean())
        else:
            assert found.re[other] == re >> other & 1


def test_before_the_first_card_each_of_the_others_is_re_as_often():
    state = positions(DOPPELKOPF)[0]
    rng = generators(3, 1)[0]
    while DOPPELKOPF.turn(state) < 0 or state.phase < 3:
        DOPPELKOPF.play(state, DOPPELKOPF.sample_action(state, rng))
    for seat in range(4):
        found = beliefs(DOPPELKOPF, view_of(DOPPELKOPF, state, seat), seat)
        queens = int(state.hands[seat]) >> 2 * CLUB_QUEEN & 3
        assert found.re[seat] == (queens > 0)
        # Two queens in 36 places: a hand of 12 has one of them unless both are in the other 24.
        expected = {0: 1 - 24 * 23 / (36 * 35), 1: 1 / 3, 2: 0}[queens]
        others = [found.re[other] for other in range(4) if other != seat]
        assert others == pytest.approx([expected] * 3)
        assert len(found.kinds) <= KINDS


def test_a_belief_network_weighs_the_cards():
    state = late(2, 20)
    seat = DOPPELKOPF.turn(state)
    view = view_of(DOPPELKOPF, state, seat)
    even, weighed = (beliefs(DOPPELKOPF, view, seat, name) for name in (None, "doko:models/doppelkopf"))
    assert weighed.basis == "weighed by the belief network of doko:models/doppelkopf"
    assert weighed.expected.sum(axis=1) == pytest.approx(weighed.copies)
    assert not np.allclose(even.expected, weighed.expected)
    with pytest.raises(BadInput, match="random has no belief network"):
        beliefs(DOPPELKOPF, view, seat, "random")


# ---------------------------------------------------------------- nothing leaks


@pytest.mark.parametrize("game", [KUHN, LEDUC, DICE, GOOFSPIEL, HOLDEM, DOPPELKOPF], ids=lambda game: game.name)
def test_equal_views_give_equal_beliefs(game):
    rng, notes, compared = generators(7, 1)[0], np.zeros(game.facts.notes), 0
    assumed = None if game is DOPPELKOPF else Hashed(game)
    for _ in range(4):
        state, turns = positions(game)[0], 0
        while (turn := game.turn(state)) != games.OVER:
            turns += turn >= 0
            if turn >= 0 and (game is not DOPPELKOPF or turns % 12 == 0):
                view, world = view_of(game, state, turn), positions(game)[0]
                game.prepare(view, turn, notes)
                assert game.determinize(view, turn, notes, rng, world)
                other = view_of(game, world, turn)
                assert beliefs(game, view, turn, assumed).as_json() == beliefs(game, other, turn, assumed).as_json()
                compared += any(not np.array_equal(state[field], world[field]) for field in game.state.names)
            game.play(state, game.sample_action(state, rng))
    assert compared
