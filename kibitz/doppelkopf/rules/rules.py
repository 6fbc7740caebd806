"""Doppelkopf by the tournament rules of the DDV, with common house rules as parameters.

Four seats and 48 cards, two copies of each of 24 kinds; the two copies are one action. Seat 0 is left of the dealer.
This file joins the parts: `cards`, `state` (the record of a game), `announcements` (who may announce what), `tricks`
(who wins a trick), `scoring`, `deals` (sampling of hidden hands), `heuristic`, `encoding` (for networks) and `display`
(for people). `notation` and `thesis_lines` read and write records.
"""

from typing import Annotated, NamedTuple

from ...games.game import CHANCE, OVER, game
from ...jit import below, copy_record, helper, long_helper, lowest, popcount, xor_mix
from . import display, encoding, hooks
from .announcements import CALL, LEVELS, SILENT, announce, ask_for_announcement, open_calls, side_of
from .cards import BITS, CLASS, CLUB_QUEEN, DECKS, FOX, POINTS, TYPES, kinds_in, nth_bit, to_physical
from .deals import NOTES, count_deals, draw_deal
from .heuristic import heuristic_call, heuristic_card, heuristic_reservation
from .state import (
    ANNOUNCING,
    CARDS,
    DEAL,
    DONE,
    HEALTHY,
    MARRIAGE,
    MARRIES,
    NAMED_MARRIAGE,
    NAMING,
    NOBODY,
    PLAIN,
    RESERVATION,
    RESERVES,
    RESERVING,
    SAYS_HEALTHY,
    SOLO,
    STATE,
    TYPE,
    hand_size,
    is_re,
    next_player,
)
from .tricks import holds_pigs, score, winning_place

FIRST_KEY, PIGS_SHOWN = 1, 63
# The scale of rewards for searches, as published: a score of 8, and the card points. Games with announcements or with
# one player against three can exceed it.
REWARDS = (-8.24, 8.24)


def max_game_length(game):
    """Turns of the longest game. Announcements end within 28 cards; after each of ten all seats are asked again."""
    deal, asked = 4 * hand_size(game), (0, 4 * hand_size(game), 28 * 4 + 10 * 4)[game.calls]
    return deal + 8 + deal + asked


def max_payoff(game):
    """The highest score: of a soloist who wins all tricks.

    1 for winning and 4 grades; with announcements 2 + 2 + 8, and 4 for points against those of the other party. Two
    partners can win less, even with all extra points: 4 tricks of 40, 2 foxes, 2 ♣J, and the queens of clubs.
    """
    calls = 12 + 4 * game.against if game.calls else 0
    return 3.0 * (5 + calls)


def check(game):
    if not game.solos and (game.owed or game.forced >= 0):
        return "solos are owed, so solos should be yes"
    if game.forced >= 0 and not game.owed >> game.forced & 1:
        return f"seat {game.forced} is forced to play a solo, so it should owe one: owed={1 << game.forced} or more"
    return None


@game(
    "doppelkopf",
    state=STATE,
    seats=4,
    num_actions=CALL + LEVELS,
    max_chance_outcomes=lambda game: 2 * hand_size(game),
    max_game_length=max_game_length,
    payoffs=lambda game: (-max_payoff(game), max_payoff(game)),
    rewards=REWARDS,
    encoding=encoding.SIZE,
    notes=NOTES,
    check=check,
)
class Doppelkopf(NamedTuple):
    """Doppelkopf: four players in two parties, and at first nobody knows who their partner is."""

    solos: Annotated[bool, "whether solos may be played"] = True
    calls: Annotated[int, "announcements: 0 none, 1 before one's own card, 2 after every card", range(3)] = 2
    nines: Annotated[bool, "whether the nines are in the deck"] = True
    second_ten: Annotated[
        int, "the second ♥10 beats the first: 0 never, 1 always, 2 except in the last trick", range(3)
    ] = 0
    charlie_caught: Annotated[bool, "a point for the opponents' ♣J in the last trick"] = False
    against: Annotated[bool, "points for 120 against no 90, 90 against no 60, ..."] = True
    pigs: Annotated[bool, "both ♦A in one hand are the highest trumps"] = False
    owed: Annotated[int, "bit s: seat s still owes a compulsory solo", range(16)] = 0
    forced: Annotated[int, "seat that has to play its compulsory solo now; -1: none", range(-1, 4)] = -1

    presets = {  # type: ignore[misc]
        "thesis": {"solos": False, "calls": 0, "charlie_caught": True, "against": False},
    }

    def start(self, state):
        state.hands[:] = 0
        state.history = FIRST_KEY
        state.points[:] = 0
        state.scores[:] = 0
        state.log[:] = 0
        state.played[:] = -1
        state.leaders[:] = NOBODY
        state.tricks[:] = 0
        state.said[:] = 0
        state.named[:] = -1
        state.call[:] = -1
        state.call_side[:] = NOBODY
        state.late[:] = 0
        state.logged = 0
        state.count = 0
        state.dealt = 0
        state.phase = DEAL
        state.type = 0
        state.mode = PLAIN
        state.soloist = NOBODY
        state.bride = NOBODY
        state.partner = NOBODY
        state.settled = 0
        state.queens = 0
        state.pigs = NOBODY
        state.waiting = 0
        state.to_move = CHANCE

    def turn(self, state):
        return int(state.to_move)

    def actions(self, state, out):
        seat, n = int(state.to_move), 0
        if state.phase == DEAL or state.phase == CARDS:
            kinds = kinds_in(undealt_cards(self, state)) if state.phase == DEAL else playable(state, seat)
            while kinds:
                out[n] = lowest(kinds) >> 1
                kinds &= kinds - 1
                n += 1
        elif state.phase == RESERVING:
            out[0] = SAYS_HEALTHY
            out[1] = RESERVES
            n = 1 + (self.solos or holds_both_queens(state, seat))
        elif state.phase == NAMING:
            if self.solos:
                for type in range(1, len(TYPES)):
                    out[n] = TYPE + type
                    n += 1
            if holds_both_queens(state, seat) and self.forced < 0:
                out[n] = MARRIES
                n += 1
        elif state.phase == ANNOUNCING:
            first, count = open_calls(self, state, seat, side_of(state, seat))
            out[0] = SILENT
            n = 1 + count
            for i in range(count):
                out[1 + i] = CALL + first + i
        return n

    def chance_probs(self, state, actions, n, out):
        left = undealt_cards(self, state)
        share = 1.0 / popcount(to_physical(left))
        for i in range(n):
            out[i] = (left >> 2 * actions[i] & 3) * share

    def sample_action(self, state, rng):
        seat = int(state.to_move)
        if state.phase == CARDS:
            kinds = playable(state, seat)
            return nth_bit(kinds, below(rng, popcount(kinds))) >> 1
        if state.phase == DEAL:
            left = to_physical(undealt_cards(self, state))
            return nth_bit(left, below(rng, popcount(left))) >> 1
        if state.phase == ANNOUNCING:
            first, count = open_calls(self, state, seat, side_of(state, seat))
            i = below(rng, 1 + count)
            return SILENT if i == 0 else CALL + first + i - 1
        both = holds_both_queens(state, seat)
        if state.phase == RESERVING:
            return SAYS_HEALTHY + below(rng, 1 + (self.solos or both))
        i = below(rng, (7 if self.solos else 0) + (both and self.forced < 0))
        return TYPE + 1 + i if self.solos and i < 7 else MARRIES

    def play(self, state, action):
        seat = int(state.to_move)
        if state.phase == DEAL:
            dealt = int(state.dealt)
            to = dealt // hand_size(self)
            state.hands[to] = int(state.hands[to]) + (1 << 2 * action)
            state.dealt = dealt + 1
            if dealt + 1 == 4 * hand_size(self):
                state.phase = RESERVING
                state.to_move = 0
                if self.forced >= 0:
                    state.said[self.forced] = RESERVATION
                    next_reservation(self, state)
            return
        state.history = xor_mix(state.history, action)
        if state.phase == CARDS:
            if action == FOX and holds_pigs(self, state, seat):
                state.pigs = seat
                state.history = xor_mix(state.history, PIGS_SHOWN)
            play_card(self, state, seat, action)
        elif state.phase == ANNOUNCING:
            waiting = int(state.waiting)
            if action >= CALL:
                announce(self, state, seat, action - CALL)
                waiting = 3 if self.calls == 2 else 0
            ask_for_announcement(self, state, seat + 1, waiting)
        elif state.phase == RESERVING:
            state.said[seat] = action - SAYS_HEALTHY + HEALTHY
            state.to_move = seat + 1
            if seat == 3:
                next_reservation(self, state)
        else:
            state.named[seat] = action - TYPE
            if action == MARRIES:
                next_reservation(self, state)
            else:
                state.mode = SOLO
                state.type = action - TYPE
                state.soloist = seat
                lead(self, state, seat if self.owed >> seat & 1 else 0)

    def heuristic(self, state, rng):
        seat = int(state.to_move)
        if state.phase == CARDS:
            kinds = playable(state, seat)
            return heuristic_card(self, state, kinds) if kinds & kinds - 1 else lowest(kinds) >> 1
        if state.phase == ANNOUNCING:
            return heuristic_call(self, state, seat)
        return self.sample_action(state, rng) if state.phase == DEAL else heuristic_reservation(self, state, seat)

    def is_announcement(self, state):
        return state.phase == RESERVING or state.phase == NAMING or state.phase == ANNOUNCING

    def payoff(self, state, seat):
        return float(state.scores[seat])

    def reward(self, state, seat):
        """The score plus a small share of the party's card points.

        This is the published 500 * score + points, shifted and scaled so that it is close to the score and zero-sum
        between the parties.
        """
        points = 0
        for other in range(4):
            if is_re(state, other) == is_re(state, seat):
                points += int(state.points[other])
        return int(state.scores[seat]) + (points - 120) / 500.0

    def infoset(self, state, seat):
        return xor_mix(state.history, int(state.hands[seat]) << 8 | int(state.dealt) << 2 | seat)

    def observe(self, state, seat, out):
        encoding.encode(self, state, seat, out)

    def look(self, state, seat, out):
        copy_record(out, state)
        for other in range(4):
            if other != seat:
                out.hands[other] = 0

    def prepare(self, view, seat, notes):
        count_deals(self, view, seat, notes)

    def determinize(self, view, seat, notes, rng, out):
        copy_record(out, view)
        return draw_deal(view, seat, notes, rng, out.hands)

    display = display.DoppelkopfDisplay  # type: ignore[misc]

    @property
    def opponent(self) -> str:
        return "doko:models/doppelkopf" if self.nines else "ensemble-uct:10x1000"  # the network is for 48 cards

    def without_announcements(self):
        return self._replace(calls=0)

    def show(self, state, seat):
        return display.show(self, state, seat)

    def picture(self, state, seat):
        return display.picture(self, state, seat)

    def action_to_string(self, state, action):
        return display.action_to_string(state, action)

    def parse_action(self, state, text):
        return display.parse_action(self, state, text)

    beliefs, session, training = hooks.beliefs, hooks.session, property(hooks.training)  # type: ignore[misc]


# ---------------------------------------------------------------- before the first card


@helper
def undealt_cards(game, state):
    dealt = int(state.hands[0]) + int(state.hands[1]) + int(state.hands[2]) + int(state.hands[3])
    return int(DECKS[int(game.nines)]) - dealt


@helper
def holds_both_queens(state, seat):
    """Whether the seat holds both ♣Q."""
    return int(state.hands[seat]) >> 2 * CLUB_QUEEN & 3 == 2


@long_helper
def next_reservation(game, state):
    """Let the next seat with a reservation name it, first those that owe a solo.

    When all have named theirs and none was a solo, the game is a marriage or a normal game.
    """
    for i in range(8):
        seat = i & 3
        owes = game.owed >> seat & 1 == 1
        if state.said[seat] == RESERVATION and state.named[seat] < 0 and owes == (i < 4):
            state.phase = NAMING
            state.to_move = seat
            return
    for seat in range(4):
        if state.named[seat] == NAMED_MARRIAGE:
            state.mode = MARRIAGE
            state.bride = seat
    lead(game, state, 0)


@helper
def lead(game, state, seat):
    """Let a seat lead the first trick."""
    state.leaders[0] = seat
    next_turn(game, state)


# ---------------------------------------------------------------- cards


@helper
def playable(state, seat):
    """The even bits of the kinds that a seat may legally play."""
    kinds, count = kinds_in(int(state.hands[seat])), int(state.count)
    if count & 3 == 0:
        return kinds
    type = int(state.type)
    follows = kinds & int(BITS[type, CLASS[type, int(state.played[count & ~3])]])
    return follows if follows else kinds


@long_helper
def play_card(game, state, seat, kind):
    count = int(state.count)
    state.hands[seat] = int(state.hands[seat]) - (1 << 2 * kind)
    state.played[count] = kind
    state.count = count + 1
    if kind == CLUB_QUEEN:
        state.queens = (int(state.queens) | 1 << seat) + 16
    if count & 3 == 3:
        trick = count >> 2
        winner = int(state.leaders[trick]) + winning_place(game, state, trick) & 3
        points = 0
        for i in range(count - 3, count + 1):
            points += POINTS[int(state.played[i])]
        state.leaders[trick + 1] = winner
        state.points[winner] = int(state.points[winner]) + points
        state.tricks[winner] = int(state.tricks[winner]) + 1
        if state.mode == MARRIAGE and state.settled == 0:
            settle_marriage(state, winner, trick + 1)
        if count + 1 == 4 * hand_size(game):
            state.phase = DONE
            state.to_move = OVER
            score(game, state)
            return
    next_turn(game, state)


@helper
def next_turn(game, state):
    """Proceed to the next card, or to an announcement before it."""
    ask_for_announcement(game, state, next_player(state), (0, 1, 4)[game.calls])


@helper
def settle_marriage(state, winner, trick):
    """The first other player to win a trick is the partner; a bride who wins the first three tricks plays alone."""
    if winner != state.bride:
        state.partner = winner
        state.settled = trick
    elif trick == 3:
        state.mode = SOLO
        state.soloist = winner
        state.settled = trick
