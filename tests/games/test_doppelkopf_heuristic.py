"""What a beginner does at Doppelkopf: sensible, quick, and blind to what is hidden."""

from typing import NamedTuple

import numpy as np

from kibitz import games, jit
from kibitz.games import OVER
from kibitz.games.doppelkopf import Doppelkopf
from kibitz.games.doppelkopf.state import is_re

from .doppelkopf_twin import MOVES
from .test_doppelkopf import ALL_HEALTHY, NO_CALLS, TABLES, after, every_table, some_hands

THESIS = TABLES["thesis"]


def usual(game, state) -> str:
    return MOVES[game.heuristic(state, jit.generators(1, 1)[0])]


# ---------------------------------------------------------------- what is played


def test_an_ace_is_led_of_the_suit_that_others_have():
    hands = some_hands("♣A ♠A ♠K ♠K ♠9 ♠9 ♦9 ♦9 ♦K ♦K ♥J ♦J")
    assert usual(NO_CALLS, after(NO_CALLS, hands, *ALL_HEALTHY)) == "♣A"


def test_a_fox_goes_home_in_the_partners_trick_and_not_in_a_foes():
    """Seat 0 shows a ♣Q; seat 3 has the other and plays last."""
    hands = some_hands("♣Q", "♥10 ♦9", "♦J", "♣Q ♦A ♦9 ♦K ♥10")
    assert usual(NO_CALLS, after(NO_CALLS, hands, *ALL_HEALTHY, "♣Q", "♦9", "♦J")) == "♦A"
    assert usual(NO_CALLS, after(NO_CALLS, hands, *ALL_HEALTHY, "♣Q", "♥10", "♦J")) == "♦9"


def test_the_last_seat_takes_a_trick_with_no_more_than_it_needs():
    hands = some_hands("♦10", "♦J", "♠J", "♥10 ♣Q ♠Q ♣J ♦9 ♦K ♥9 ♥9 ♥K ♥K ♠K ♣K")
    assert usual(NO_CALLS, after(NO_CALLS, hands, *ALL_HEALTHY, "♦10", "♦J", "♠J")) == "♣J"


def test_who_has_none_of_a_suit_takes_its_ace_with_a_trump():
    hands = some_hands("♣A ♣9", "♣9", "♣10", "♥10 ♣Q ♠Q ♥Q ♦A ♦9 ♠K ♠9 ♥K ♥9 ♥9 ♠9")
    assert usual(NO_CALLS, after(NO_CALLS, hands, *ALL_HEALTHY, "♣A", "♣9", "♣10")) == "♦A"


def test_both_queens_of_clubs_are_a_marriage_and_a_hand_of_trumps_a_solo():
    married = some_hands("♣Q ♣Q ♣9 ♠9 ♥9 ♥K ♣K ♠K ♦9 ♦K ♥J ♦J")
    alone = some_hands("♥10 ♥10 ♣Q ♣Q ♠Q ♠Q ♥Q ♥Q ♦Q ♣A ♣A ♠A")
    game = Doppelkopf()
    assert usual(game, after(game, married)) == "reservation"
    assert usual(game, after(game, married, "reservation", *ALL_HEALTHY[1:])) == "marriage"
    assert usual(game, after(game, alone, "reservation", *ALL_HEALTHY[1:])) == "♣ solo"
    poor = some_hands("♣9 ♠9 ♥9 ♥K ♣K ♠K ♦9 ♦K ♥J ♦J ♠J ♣J")
    assert usual(game, after(game, poor)) == "healthy"


def test_the_strong_announce_and_the_weak_are_silent():
    game = Doppelkopf()
    strong = some_hands("♥10 ♥10 ♣Q ♠Q ♠Q ♥Q ♥Q ♦A ♦A ♣J ♣A ♣A")
    weak = some_hands("♣Q ♣K ♠9 ♥9 ♥K ♣K ♠K ♦9 ♦K ♥J ♦J ♣9")
    assert usual(game, after(game, weak, *ALL_HEALTHY)) == "silent"
    assert usual(game, after(game, strong, *ALL_HEALTHY)) == "no 90"


def test_what_is_said_is_aside_and_a_quiet_game_goes_on_without_it():
    """From any card on: nobody is asked, and the same cards bring the same scores."""
    game, rng = Doppelkopf(), jit.generators(9, 1)[0]
    (state,) = games.positions(game)
    while game.turn(state) != OVER and state.count < 9:
        assert game.is_announcement(state) == (game.turn(state) >= 0 and game.heuristic(state, rng) >= 24)
        game.play(state, game.heuristic(state, rng))
    quiet = state.copy()
    while game.is_announcement(quiet):
        game.play(quiet, game.heuristic(quiet, rng))
    loud = quiet.copy()
    while game.turn(quiet) != OVER:
        action = game.without_announcements().sample_action(quiet, rng)
        while game.is_announcement(loud):
            game.play(loud, 35)
        for rules, position in ((game.without_announcements(), quiet), (game, loud)):
            rules.play(position, action)
        assert not game.is_announcement(quiet)
    while game.is_announcement(loud):
        game.play(loud, 35)
    assert quiet.scores.tolist() == loud.scores.tolist()
    assert quiet.logged == loud.logged


# ---------------------------------------------------------------- how well


class Played(NamedTuple):
    states: np.ndarray  # the last of each game
    scores: np.ndarray  # [game, seat]
    turns: int
    differ: int  # turns at which a seat is told or does otherwise in its view than in the position
    parties: int  # seats that the view, if it were read as the position, would tell to be of the other party


@jit.kernel
def play_heuristic(game, rng, who, states, scores, view, same_rng):
    """Games in which the seats of these bits do what is usual, the others anything."""
    turns, differ, parties = 0, 0, 0
    for number in range(len(states)):
        state = states[number]
        game.start(state)
        while game.turn(state) != OVER:
            action = game.sample_action(state, rng)
            for seat in range(4):
                game.look(state, seat, view[0])
                differ += game.turn(view[0]) != game.turn(state)
                differ += game.infoset(view[0], seat) != game.infoset(state, seat)
            seat = game.turn(state)
            if seat >= 0:
                game.look(state, seat, view[0])
                for other in range(4):
                    parties += is_re(view[0], other) != is_re(state, other)
                same_rng[0], same_rng[1] = rng[0], rng[1]
                does = game.heuristic(state, same_rng)
                same_rng[0], same_rng[1] = rng[0], rng[1]
                turns += 1
                differ += game.heuristic(view[0], same_rng) != does
                action = does if who >> seat & 1 else action
            game.play(state, action)
        for seat in range(4):
            scores[number, seat] = game.payoff(state, seat)
    return turns, differ, parties


def played(game, who: int, count: int) -> Played:
    states, scores = np.zeros(count, game.state), np.zeros((count, 4))
    rng = jit.generators(3, 1)[0]
    scratch = np.zeros(1, game.state), np.zeros(2, np.uint64)
    return Played(states, scores, *play_heuristic(game, rng, who, states, scores, *scratch))


def test_a_beginner_beats_three_who_play_anything():
    """1.5 points a game; the published search with 10 x 1,000 simulations has 1.7."""
    assert np.mean([played(THESIS, 1 << seat, 4000).scores[:, seat].mean() for seat in range(4)]) > 1.4


def test_calls_and_solos_of_beginners_pay():
    states, scores, *_ = played(Doppelkopf(), 0b1111, 20_000)
    solo = (states["mode"] == 2) & (states["type"] > 0)
    assert 0.02 < solo.mean() < 0.08
    assert scores[solo, states["soloist"][solo]].mean() > 3
    for side, often in ((0, 0.3), (1, 0.03)):
        called = (states["call_side"] == side) & ~solo[:, None]
        assert called.any(axis=1).mean() > often
        assert scores[called].mean() > 2


# ---------------------------------------------------------------- nobody peeks


@every_table
def test_nobody_peeks(game):
    found = played(game, 0b0101, 100)
    assert found.turns > 4000
    assert found.parties > 100
    assert found.differ == 0


def test_compiled_and_plain_rules_do_the_same():
    game = Doppelkopf()
    states, scores, *_ = played(game, 0b1111, 1)
    (state,) = games.positions(game)
    rng = jit.generators(3, 1)[0]
    while game.turn(state) != OVER:
        action = game.sample_action(state, rng)
        game.play(state, int(game.heuristic(state, rng.copy())) if game.turn(state) >= 0 else action)
    assert state.scores.tolist() == scores[0].tolist()
    assert state.played.tolist() == states[0].played.tolist()
