"""Leduc poker: one private card per seat, one public card, a betting round before and after it."""

from typing import Annotated, NamedTuple

import numpy as np

from ..jit import below, copy_record, helper, record
from .display import seat_name
from .game import CHANCE, IST, OVER, game
from .leduc_cards import LeducCards
from .svg import card_svg, table_html

HIDDEN = -1
FOLD, CALL, RAISE = 0, 1, 2
WORDS = ("fold", "call", "raise")
RANKS = "23456789TJQKA"
RECIPROCAL = np.array([0, 65536, 32768, 21846, 16384])  # card * this >> 16 is card // suits, but faster
STATE = record(
    ("line", "u8"),  # the moves so far, two bits each (move + 1) below a leading 0b100
    ("level", "i2"),  # chips that each seat has paid, or must pay to stay in
    ("cards", "i1", (2,)),
    ("public", "i1"),
    ("dealt", "i1"),
    ("moved", "i1"),  # moves in this round
    ("before", "i1"),  # moves in the round before it
    ("raised", "i1"),  # in this round
    ("to_move", "i1"),
)


def kinds(game):
    return game.ranks * (game.suits if game.distinct_suits else 1)


def stake(game):
    return float(game.ante + game.raises * (game.first + game.second))


@game(
    "leduc",
    state=STATE,
    num_actions=3,
    max_chance_outcomes=kinds,
    max_game_length=lambda game: 3 + 2 * (game.raises + 2),
    payoffs=lambda game: (-stake(game), stake(game)),
    encoding=lambda game: 2 * kinds(game) + 6 * (game.raises + 2),
    targets=("pst", "ist"),
    milli_unit="mA/g",
    formerly={"told_apart": "distinct_suits"},
    check=lambda game: "ranks times suits should be at least 3 cards" if game.ranks * game.suits < 3 else None,
)
class Leduc(NamedTuple):
    """Leduc poker: one private card per seat, one public card, two betting rounds."""

    ranks: Annotated[int, "ranks in the deck", range(2, 14)] = 3
    suits: Annotated[int, "cards of each rank", range(1, 5)] = 2
    distinct_suits: Annotated[bool, "whether suits are distinguished (936 infosets instead of 288)"] = False
    raises: Annotated[int, "maximum number of raises per round", range(0, 7)] = 2
    ante: Annotated[int, "chips that each seat pays before the deal", range(1, 101)] = 1
    first: Annotated[int, "size of a raise in round 1", range(1, 101)] = 2
    second: Annotated[int, "size of a raise in round 2", range(1, 101)] = 4

    def start(self, state):
        state.line = 0b100
        state.level = self.ante
        state.cards[:] = HIDDEN
        state.public = HIDDEN
        state.dealt = 0
        state.moved = 0
        state.before = 0
        state.raised = 0
        state.to_move = CHANCE

    def turn(self, state):
        return int(state.to_move)

    def actions(self, state, out):
        n = 0
        if state.to_move == CHANCE:
            suits = self.suits
            copies = 1 if self.distinct_suits else suits
            for card in range(self.ranks * suits // copies):
                if taken(state, card) < copies:
                    out[n] = card
                    n += 1
            return n
        if last_move(state) == RAISE:
            out[n] = FOLD
            n += 1
        out[n] = CALL
        n += 1
        if state.raised < self.raises:
            out[n] = RAISE
            n += 1
        return n

    def chance_probs(self, state, actions, n, out):
        copies = 1 if self.distinct_suits else self.suits
        share = 1.0 / (self.ranks * self.suits - int(state.dealt))
        for i in range(n):
            out[i] = (copies - taken(state, actions[i])) * share

    def sample_action(self, state, rng):
        if state.to_move == CHANCE:
            return deal(self, int(state.cards[0]), int(state.cards[1]), rng)
        low = FOLD if last_move(state) == RAISE else CALL
        high = RAISE if state.raised < self.raises else CALL
        return low + below(rng, high - low + 1)

    def play(self, state, action):
        if state.to_move == CHANCE:
            if state.dealt < 2:
                state.cards[int(state.dealt)] = action
            else:
                state.public = action
                state.raised = 0
                state.before = state.moved
                state.moved = 0
            state.dealt += 1
            state.to_move = CHANCE if state.dealt == 1 else 0
            return
        # Without branches on the action: it is random in playouts, and mispredicted branches cost most.
        seat, round = int(state.to_move), int(state.dealt) - 2
        moved, bet = int(state.moved) + 1, self.second if round == 1 else self.first
        folds, raises = action == FOLD, action == RAISE
        closes = folds | (action == CALL) & (moved > 1)  # a call, or a check behind a check, ends the round
        state.line = state.line << np.uint64(2) | np.uint64(action + 1)
        state.moved = moved
        state.level = int(state.level) + (bet if raises else 0)
        state.raised = int(state.raised) + raises
        ended = OVER if folds | (round == 1) else CHANCE
        state.to_move = ended if closes else 1 - seat

    def payoff(self, state, seat):
        mine, other = strength(self, state, seat), strength(self, state, 1 - seat)
        round = int(state.dealt) - 2
        folded = last_move(state) == FOLD
        alone = 1 if state.moved & 1 == seat else -1  # after a fold the seat that would move next has won
        unpaid = self.second if round == 1 else self.first  # and the last raise was not called
        ahead = alone if folded else (mine > other) - (mine < other)
        return float(ahead * (int(state.level) - (unpaid if folded else 0)))

    def infoset(self, state, seat):
        seen = np.uint64((int(state.public) + 1) * 64 + int(state.cards[seat]) + 1)
        return (state.line << np.uint64(12) | seen) << np.uint64(1) | np.uint64(seat)

    def observe(self, state, seat, out):
        out[:] = 0
        kinds = self.ranks * self.suits if self.distinct_suits else self.ranks
        if state.cards[seat] >= 0:
            out[int(state.cards[seat])] = 1
        if state.public >= 0:
            out[kinds + int(state.public)] = 1
        first = int(state.before) if state.dealt == 3 else int(state.moved)
        for i in range(moves(state)):
            slot = i if i < first else i - first + self.raises + 2
            out[2 * kinds + 3 * slot + nth_move(state, i)] = 1

    def look(self, state, seat, out):
        copy_record(out, state)
        out.cards[1 - seat] = HIDDEN

    def determinize(self, view, seat, notes, rng, out):
        copy_record(out, view)
        if view.dealt > 1 - seat:
            out.cards[1 - seat] = deal(self, int(view.cards[seat]), int(view.public), rng)
        return True

    def target(self, state, view, seat, mode, actions, n, keep):
        made = moves(state)
        dealing = state.to_move == CHANCE
        private = dealing and state.dealt < 2
        # Cards that are still to be dealt on the way to the view; -1: none is targeted.
        public = np.int64(view.public)  # (as wide as `own`, or their tuple has no type)
        own = int(view.cards[seat]) if mode == IST and state.dealt <= seat else HIDDEN
        forced, wanted = False, 0
        if private:
            forced, wanted = own >= 0 and state.dealt == seat, own
        elif dealing:
            forced, wanted = public >= 0, public
        elif made < moves(view):
            forced, wanted = True, nth_move(view, made)
        if forced:
            own = HIDDEN
        copies = 1 if self.distinct_suits else self.suits
        blocks = private and (public >= 0 or own >= 0)
        kept = 0
        for i in range(n):
            keep[i] = not forced or actions[i] == wanted
            if blocks:  # the card must leave the cards of the view in the deck
                for card in (public, own):
                    if card >= 0:
                        used = taken(state, card) + (actions[i] == card) + (public == card) + (own == card)
                        keep[i] = keep[i] and used <= copies
            kept += keep[i]
        return kept

    def private_state(self, state, seat):
        return int(state.cards[seat])

    def public_state(self, state):
        return state.line << np.uint64(6) | np.uint64(int(state.public) + 1)

    def show(self, state, seat):
        lines = []
        for who in range(2):
            card = "?" if state.cards[who] < 0 and state.dealt > who else card_name(self, state.cards[who])
            lines.append(f"{seat_name(who, seat)}: {card}, {paid(self, state, who)} in the pot")
        lines.append(f"public: {card_name(self, state.public)}")
        return "\n".join([*lines, *(f"{title}: {said}" for title, said in rounds(state))])

    def picture(self, state, seat):
        rows = []
        for who in range(2):
            card = card_name(self, state.cards[who]) if state.cards[who] >= 0 else None
            held = [card_svg(card)] if state.dealt > who else []
            rows.append((seat_name(who, seat), held, f"{paid(self, state, who)} in the pot"))
        public = [card_svg(card_name(self, state.public))] if state.public >= 0 else []
        return table_html([*rows, ("public", public, ""), *((title, [], said) for title, said in rounds(state))])

    def action_to_string(self, state, action):
        if state.to_move == CHANCE:
            return card_name(self, action)
        if action == CALL and last_move(state) != RAISE:
            return "check"
        return WORDS[action]

    def public_cards(self):
        return LeducCards(self)


@helper
def taken(state, card):
    """Number of copies of a card that are dealt."""
    return int(state.cards[0] == card) + int(state.cards[1] == card) + int(state.public == card)


@helper
def deal(game, one, two, rng):
    """A random card of the deck without two known cards (-1: not dealt)."""
    suits = game.suits
    if not game.distinct_suits:  # take a known rank for its first card, or its second
        two = two * suits + (one == two and one >= 0)
        one = one * suits
    gone = (one >= 0) + (two >= 0)
    card = below(rng, game.ranks * suits - gone)
    low, high = min(one, two), max(one, two)
    card += (low >= 0) & (card >= low)
    card += (high >= 0) & (card >= high)
    if game.distinct_suits:
        return card
    return card * RECIPROCAL[suits] >> 16


@helper
def strength(game, state, seat):
    mine, public = int(state.cards[seat]), int(state.public)
    if game.distinct_suits:
        scale = int(RECIPROCAL[game.suits])
        mine, public = mine * scale >> 16, public * scale >> 16
    return mine + (100 if mine == public else 0)


@helper
def moves(state):
    """Number of moves made."""
    return int(state.before) + int(state.moved)


@helper
def last_move(state):
    """The last move; -1 before the first."""
    return np.int64(state.line & np.uint64(3)) - 1


@helper
def nth_move(state, i):
    last = moves(state) - 1
    return np.int64(state.line >> np.uint64(2 * (last - i)) & np.uint64(3)) - 1


def paid(game, state, seat):
    """Chips that a seat has in the pot: the level, without a last raise that it hasn't called."""
    round = int(state.dealt) - 2
    made = int(state.moved)
    asked = {RAISE: made % 2, FOLD: (made - 1) % 2}.get(int(last_move(state)), -1) if made else -1
    return int(state.level) - ((game.second if round else game.first) if seat == asked else 0)


def rounds(state):
    """The title of each betting round and its moves in words."""
    first = int(state.before) if state.dealt == 3 else int(state.moved)
    made = [nth_move(state, i) for i in range(moves(state))]
    for title, part in (("round 1", made[:first]), ("round 2", made[first:])):
        before = [CALL, *part]
        said = ["check" if move == CALL and before[i] != RAISE else WORDS[move] for i, move in enumerate(part)]
        yield title, " ".join(said) or "-"


def card_name(game, card):
    if card < 0:
        return "-"
    ranks = RANKS[-game.ranks :] if game.ranks != 3 else "JQK"
    if not game.distinct_suits:
        return ranks[card]
    return ranks[card // game.suits] + "shdc"[card % game.suits]
