"""What a beginner does at Doppelkopf: sensible, quick, and blind to what is hidden."""

import numpy as np

from kibitz import games, jit
from kibitz.games import OVER
from kibitz.games.doppelkopf import Doppelkopf
from kibitz.games.doppelkopf.table import is_re

from .doppelkopf_twin import MOVES
from .test_doppelkopf import ALL_HEALTHY, NO_CALLS, TABLES, after, every_table, some_hands

THESIS = TABLES["thesis"]


def usual(game, state) -> str:
    return MOVES[game.usual(state, jit.generators(1, 1)[0])]


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


# ---------------------------------------------------------------- how well


@jit.kernel
def play_usual(game, rng, who, states, scores):
    """Games in which the seats of these bits do what is usual, the others anything."""
    for number in range(len(states)):
        state = states[number]
        game.start(state)
        while game.turn(state) != OVER:
            usual = game.turn(state) >= 0 and who >> game.turn(state) & 1
            game.play(state, game.usual(state, rng) if usual else game.pick(state, rng))
        for seat in range(4):
            scores[number, seat] = game.payoff(state, seat)


def played(game, who: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    states, scores = np.zeros(count, game.state), np.zeros((count, 4))
    play_usual(game, jit.generators(3, 1)[0], who, states, scores)
    return states, scores


def test_a_beginner_beats_three_who_play_anything():
    """1.5 points a game; the published search with 10 x 1,000 simulations has 1.7."""
    assert np.mean([played(THESIS, 1 << seat, 4000)[1][:, seat].mean() for seat in range(4)]) > 1.4


def test_calls_and_solos_of_beginners_pay():
    states, scores = played(Doppelkopf(), 0b1111, 20_000)
    solo = (states["mode"] == 2) & (states["type"] > 0)
    assert 0.02 < solo.mean() < 0.08
    assert scores[solo, states["soloist"][solo]].mean() > 3
    for side, often in ((0, 0.3), (1, 0.03)):
        called = (states["call_side"] == side) & ~solo[:, None]
        assert called.any(axis=1).mean() > often
        assert scores[called].mean() > 2


# ---------------------------------------------------------------- nobody peeks


@jit.kernel
def count_peeks(game, rng, count, states, notes, seen):
    """Turns; those at which the mover does otherwise, or sees otherwise, in its view or in another deal that fits what
    it saw; and those at which that deal has other parties."""
    out, same_rng, does = np.zeros(64, np.int64), np.zeros(2, np.uint64), np.zeros(3, np.int64)
    turns, differ, other_parties = 0, 0, 0
    for number in range(count):
        game.start(states[0])
        while game.turn(states[0]) != OVER:
            seat = game.turn(states[0])
            action = game.pick(states[0], rng)
            if seat >= 0:
                game.look(states[0], seat, states[1])
                game.prepare(states[1], seat, notes)
                game.guess(states[1], seat, notes, rng, states[2])
                for i in range(3):
                    same_rng[:] = rng
                    does[i] = game.usual(states[i], same_rng) + 64 * game.actions(states[i], out)
                    game.observe(states[i], seat, seen[i])
                same = does[0] == does[1] == does[2]
                for j in range(seen.shape[1]):
                    same &= seen[0, j] == seen[1, j] == seen[2, j]
                re = 0
                for other in range(4):
                    re |= int(is_re(states[0], other)) ^ int(is_re(states[2], other))
                turns += 1
                differ += not same
                other_parties += re
                action = does[0] & 63 if number % 2 else action
            game.play(states[0], action)
    return turns, differ, other_parties


@every_table
def test_nobody_peeks(game):
    states, seen = np.zeros(3, game.state), np.zeros((3, game.facts.encoding))
    turns, differ, other_parties = count_peeks(
        game, jit.generators(4, 1)[0], 100, states, np.zeros(game.facts.notes), seen
    )
    assert turns > 4000
    assert other_parties > 50
    assert differ == 0


def test_compiled_and_plain_rules_do_the_same():
    game = Doppelkopf()
    states, scores = played(game, 0b1111, 1)
    (state,) = games.positions(game)
    rng = jit.generators(3, 1)[0]
    while game.turn(state) != OVER:
        game.play(state, int(game.usual(state, rng)))
    assert state.scores.tolist() == scores[0].tolist()
    assert state.played.tolist() == states[0].played.tolist()
