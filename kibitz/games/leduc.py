"""Leduc poker: one private card each, one public card, a betting round before and after it."""

from typing import Annotated, NamedTuple

import numpy as np

from ..jit import below, copy_record, helper, record
from .protocol import CHANCE, IST, OVER, game

HIDDEN = -1
FOLD, CALL, RAISE = 0, 1, 2
RANKS = "23456789TJQKA"
STATE = record(
    ("line", "u8"),  # the moves so far, two bits each (move + 1) below a leading 1
    ("spent", "i2", (2,)),
    ("cards", "i1", (2,)),
    ("public", "i1"),
    ("dealt", "i1"),
    ("moved", "i1", (2,)),  # moves in each round
    ("raised", "i1"),  # in this round
    ("folded", "i1"),
    ("to_move", "i1"),
)


def kinds(game):
    return game.ranks * (game.suits if game.told_apart else 1)


def stake(game):
    return float(game.ante + game.raises * (game.first + game.second))


@game(
    "leduc",
    state=STATE,
    most_actions=3,
    most_outcomes=kinds,
    longest=lambda game: 3 + 2 * (game.raises + 2),
    payoffs=lambda game: (-stake(game), stake(game)),
    encoding=lambda game: 2 * kinds(game) + 6 * (game.raises + 2),
    targets=("pst", "ist"),
    check=lambda game: "ranks times suits should be at least 3 cards" if game.ranks * game.suits < 3 else None,
)
class Leduc(NamedTuple):
    """Leduc poker: one card each and one in the middle, two betting rounds."""

    ranks: Annotated[int, "ranks in the deck", range(2, 14)] = 3
    suits: Annotated[int, "cards of each rank", range(1, 5)] = 2
    told_apart: Annotated[bool, "whether suits are told apart (936 infosets, not 288)"] = False
    raises: Annotated[int, "most raises a round", range(0, 7)] = 2
    ante: Annotated[int, "chips each pays before the deal", range(1, 101)] = 1
    first: Annotated[int, "size of a raise in round 1", range(1, 101)] = 2
    second: Annotated[int, "size of a raise in round 2", range(1, 101)] = 4

    def start(self, state):
        state.line = 1
        state.spent[:] = self.ante
        state.cards[:] = HIDDEN
        state.public = HIDDEN
        state.dealt = 0
        state.moved[:] = 0
        state.raised = 0
        state.folded = -1
        state.to_move = CHANCE

    def turn(self, state):
        return int(state.to_move)

    def actions(self, state, out):
        n = 0
        if state.to_move == CHANCE:
            suits = self.suits
            copies = 1 if self.told_apart else suits
            for card in range(self.ranks * suits // copies):
                if taken(state, card) < copies:
                    out[n] = card
                    n += 1
            return n
        seat = int(state.to_move)
        if state.spent[seat] < state.spent[1 - seat]:
            out[n] = FOLD
            n += 1
        out[n] = CALL
        n += 1
        if state.raised < self.raises:
            out[n] = RAISE
            n += 1
        return n

    def odds(self, state, actions, n, out):
        copies = 1 if self.told_apart else self.suits
        left = self.ranks * self.suits - int(state.dealt)
        for i in range(n):
            out[i] = (copies - taken(state, actions[i])) / left

    def pick(self, state, rng):
        if state.to_move == CHANCE:
            return deal(self, int(state.cards[0]), int(state.cards[1]), rng)
        seat = int(state.to_move)
        low = FOLD if state.spent[seat] < state.spent[1 - seat] else CALL
        high = RAISE if state.raised < self.raises else CALL
        return low + below(rng, high - low + 1)

    def play(self, state, action):
        if state.to_move == CHANCE:
            if state.dealt < 2:
                state.cards[int(state.dealt)] = action
            else:
                state.public = action
            state.dealt += 1
            state.to_move = CHANCE if state.dealt == 1 else 0
            return
        seat = int(state.to_move)
        round = 1 if state.dealt == 3 else 0
        state.line = state.line << np.uint64(2) | np.uint64(action + 1)
        state.moved[round] += 1
        state.to_move = 1 - seat
        if action == FOLD:
            state.folded = seat
            state.to_move = OVER
        elif action == RAISE:
            state.spent[seat] = int(state.spent[1 - seat]) + (self.second if round else self.first)
            state.raised += 1
        else:
            state.spent[seat] = state.spent[1 - seat]
            if state.moved[round] > 1:  # a call, or a check behind a check, ends the round
                state.raised = 0
                state.to_move = OVER if round else CHANCE

    def payoff(self, state, seat):
        if state.folded >= 0:
            return -float(state.spent[seat]) if state.folded == seat else float(state.spent[1 - seat])
        mine, other = strength(self, state, seat), strength(self, state, 1 - seat)
        if mine == other:
            return 0.0
        return float(state.spent[1 - seat]) if mine > other else -float(state.spent[seat])

    def infoset(self, state, seat):
        seen = np.uint64((int(state.public) + 1) * 64 + int(state.cards[seat]) + 1)
        return (state.line << np.uint64(12) | seen) << np.uint64(1) | np.uint64(seat)

    def observe(self, state, seat, out):
        out[:] = 0
        kinds = self.ranks * self.suits if self.told_apart else self.ranks
        if state.cards[seat] >= 0:
            out[int(state.cards[seat])] = 1
        if state.public >= 0:
            out[kinds + int(state.public)] = 1
        first = int(state.moved[0])
        for i in range(first + int(state.moved[1])):
            slot = i if i < first else i - first + self.raises + 2
            out[2 * kinds + 3 * slot + nth_move(state, i)] = 1

    def view(self, state, seat, out):
        copy_record(out, state)
        out.cards[1 - seat] = HIDDEN

    def guess(self, view, seat, notes, rng, out):
        copy_record(out, view)
        if view.dealt > 1 - seat:
            out.cards[1 - seat] = deal(self, int(view.cards[seat]), int(view.public), rng)
        return True

    def aim(self, state, view, seat, mode, actions, n, keep):
        moves = int(state.moved[0]) + int(state.moved[1])
        dealing = state.to_move == CHANCE
        private = dealing and state.dealt < 2
        # Cards that are still to come on the way to the view; -1 where none is aimed at.
        public = int(view.public)
        own = int(view.cards[seat]) if mode == IST and state.dealt <= seat else HIDDEN
        forced, wanted = False, 0
        if private:
            forced, wanted = own >= 0 and state.dealt == seat, own
        elif dealing:
            forced, wanted = public >= 0, public
        elif moves < int(view.moved[0]) + int(view.moved[1]):
            forced, wanted = True, nth_move(view, moves)
        if forced:
            own = HIDDEN
        copies = 1 if self.told_apart else self.suits
        kept = 0
        for i in range(n):
            keep[i] = not forced or actions[i] == wanted
            if private:  # the card must leave in the deck what the view has seen
                for card in (public, own):
                    if card >= 0:
                        used = taken(state, card) + (actions[i] == card) + (public == card) + (own == card)
                        keep[i] = keep[i] and used <= copies
            kept += keep[i]
        return kept

    def show(self, state, seat):
        lines = []
        for who in range(2):
            you = " (you)" if who == seat else ""
            lines.append(f"seat {who + 1}{you}: {card_name(self, state.cards[who])}, {state.spent[who]} in the pot")
        first, moves = int(state.moved[0]), [nth_move(state, i) for i in range(int(state.moved.sum()))]
        for title, part in (("round 1", moves[:first]), ("round 2", moves[first:])):
            lines.append(f"{title}: {' '.join(('fold', 'call', 'raise')[move] for move in part) or '-'}")
        lines.insert(2, f"public: {card_name(self, state.public)}")
        return "\n".join(lines)

    def spell(self, state, action):
        if state.to_move == CHANCE:
            return card_name(self, action)
        if action == CALL and state.spent[0] == state.spent[1]:
            return "check"
        return ("fold", "call", "raise")[action]


@helper
def taken(state, card):
    """How many copies of a card are on the table."""
    return (state.cards[0] == card) + (state.cards[1] == card) + (state.public == card)


@helper
def deal(game, one, two, rng):
    """A card drawn from the deck without two that are known (-1: not there)."""
    suits = game.suits
    if not game.told_apart:  # let a known rank be its first card, or its second
        two = two * suits + (one == two)
        one = one * suits
    gone = (one >= 0) + (two >= 0)
    card = below(rng, game.ranks * suits - gone)
    low, high = min(one, two), max(one, two)
    if low >= 0 and card >= low:
        card += 1
    if high >= 0 and card >= high:
        card += 1
    return card if game.told_apart else card // suits


@helper
def strength(game, state, seat):
    suits = game.suits if game.told_apart else 1
    mine, public = int(state.cards[seat]) // suits, int(state.public) // suits
    return mine + (100 if mine == public else 0)


@helper
def nth_move(state, i):
    last = int(state.moved[0]) + int(state.moved[1]) - 1
    return np.int64(state.line >> np.uint64(2 * (last - i)) & np.uint64(3)) - 1


def card_name(game, card):
    if card < 0:
        return "-"
    ranks = RANKS[-game.ranks :] if game.ranks != 3 else "JQK"
    if not game.told_apart:
        return ranks[card]
    return ranks[card // game.suits] + "shdc"[card % game.suits]
