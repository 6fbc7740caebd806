"""II-Goofspiel: bid a card of your hand for each prize; only the winner of each bid is revealed.

Bids are simultaneous: seat 0 bids first, face down. Prizes come in ascending order. A tie discards the prize. The last
card is forced and played automatically, unless `play_last` is set.
"""

from typing import Annotated, NamedTuple

import numpy as np

from ..jit import below, copy_record, helper, lowest, popcount, record, uniform, xor_mix
from .display import seat_name
from .game import OVER, game
from .svg import card_svg, table_html

MOST = 13
HIDDEN = -1
WON, LOST, TIE, UNPLAYED = 0, 1, 2, 3  # the result of a card that was bid
FIRST_KEY = 1 << 32  # larger than the numbers mixed in
KEPT, ANSWERS, ASIDE = 0, 1, 2  # uses of a card of the other seat: see `prepare`
NTH_BIT = np.array([[*(i for i in range(7) if bits >> i & 1), *[0] * 7][:7] for bits in range(128)])
STATE = record(
    ("keys", "u8", (2,)),  # hash of what each seat has seen
    ("points", "i2", (2,)),
    ("hand", "i2", (2,)),  # bit c: the seat still holds card c
    ("bids", "i1", (2, MOST)),
    ("winner", "i1", (MOST,)),  # of each round: a seat or TIE
    ("rounds", "i1"),  # completed rounds
    ("to_move", "i1"),
)


def best(game):
    """The highest payoff: all prizes except the lowest, as winning the others loses a bid with the lowest card."""
    return 1.0 if game.sign else float(game.cards * (game.cards - 1) // 2 + game.base * (game.cards - 2))


@game(
    "goofspiel",
    state=STATE,
    num_actions=lambda game: game.cards,
    max_game_length=lambda game: 2 * (game.cards if game.play_last else game.cards - 1),
    payoffs=lambda game: (-best(game), best(game)),
    encoding=lambda game: game.cards * (game.cards * (2 if game.open_bids else 1) + 3),
    notes=lambda game: (game.cards + 1) ** 3 + 2 * game.cards,
    targets=("ist",),
)
class Goofspiel(NamedTuple):
    """II-Goofspiel: bid cards for prizes of rising value; only the winner of each bid is revealed."""

    cards: Annotated[int, "cards in each hand, and prizes", range(2, MOST + 1)] = 4
    base: Annotated[int, "value of the lowest prize", range(0, 2)] = 0
    open_bids: Annotated[bool, "whether bids are revealed after each round"] = False
    sign: Annotated[bool, "whether the payoff is +1, 0 or -1; else it is the difference in points"] = True
    play_last: Annotated[bool, "whether the forced last card is a turn of its own"] = False
    by_seat: Annotated[bool, "encode winners by absolute seat, not relative to the player (a mistake)"] = False

    def start(self, state):
        state.keys[0] = FIRST_KEY
        state.keys[1] = 2 * FIRST_KEY
        state.points[:] = 0
        state.hand[:] = (1 << self.cards) - 1
        state.bids[:, :] = HIDDEN
        state.winner[:] = HIDDEN
        state.rounds = 0
        state.to_move = 0

    def turn(self, state):
        return int(state.to_move)

    def actions(self, state, out):
        hand = int(state.hand[int(state.to_move)])
        n = 0
        while hand:
            out[n] = lowest(hand)
            hand &= hand - 1
            n += 1
        return n

    def sample_action(self, state, rng):
        return nth_card(int(state.hand[int(state.to_move)]), below(rng, self.cards - int(state.rounds)))

    def play(self, state, action):
        seat, round = int(state.to_move), int(state.rounds)
        state.bids[seat, round] = action
        state.hand[seat] = int(state.hand[seat]) & ~(1 << action)
        if seat == 0:
            state.to_move = 1
            return
        settle(self, state)
        if int(state.rounds) == self.cards - 1 and not self.play_last:
            for who in range(2):
                state.bids[who, round + 1] = nth_card(int(state.hand[who]), 0)
                state.hand[who] = 0
            settle(self, state)
        state.to_move = 0 if int(state.rounds) < self.cards else OVER

    def payoff(self, state, seat):
        difference = int(state.points[seat]) - int(state.points[1 - seat])
        if self.sign:
            return float((difference > 0) - (difference < 0))
        return float(difference)

    def infoset(self, state, seat):
        if seat == 0 and state.to_move == 1:
            return xor_mix(state.keys[0], 1024 + int(state.bids[0, int(state.rounds)]))
        return state.keys[seat]

    def observe(self, state, seat, out):
        """Own bids as [rounds, cards], then won / lost / tied per round, then (open bids) the other seat's bids."""
        out[:] = 0
        n = self.cards
        for round in range(min(int(state.rounds) + 1, n)):
            bid, winner, other = (
                int(state.bids[seat, round]),
                int(state.winner[round]),
                int(state.bids[1 - seat, round]),
            )
            if bid >= 0:
                out[round * n + bid] = 1
            if winner >= 0:
                mine = 0 if self.by_seat else seat
                out[n * n + 3 * round + (2 if winner == TIE else int(winner != mine))] = 1
                if self.open_bids:
                    out[n * n + 3 * n + round * n + other] = 1

    def look(self, state, seat, out):
        copy_record(out, state)
        other = 1 - seat
        out.keys[other] = 0
        if self.open_bids:
            if other == 0 and state.to_move == 1:  # that bid is still face down
                bid = int(state.bids[0, int(state.rounds)])
                out.bids[0, int(state.rounds)] = HIDDEN
                if bid >= 0:  # else the state is already a view
                    out.hand[0] = int(state.hand[0]) | 1 << bid
        else:
            out.bids[other, :] = HIDDEN
            out.hand[other] = 0

    def prepare(self, view, seat, notes):
        """Count the other seat's bids that fit the view: notes[(v * m + a) * m + b], m = cards + 1.

        A sweep over card values v. `a` cards are set aside for rounds that this seat won with a higher card; `b` rounds
        that it lost with a lower card still need one.
        """
        if self.open_bids:
            return
        m = self.cards + 1
        notes[: m**3] = 0
        notes[self.cards * m * m] = 1.0
        for v in range(self.cards - 1, -1, -1):
            result = result_of(view, seat, v)
            for a in range(m):
                for b in range(m - a):
                    for use in (KEPT, ANSWERS, ASIDE):
                        notes[(v * m + a) * m + b] += ways(notes, m, v, a, b, result, use)

    def determinize(self, view, seat, notes, rng, out):
        copy_record(out, view)
        other, m = 1 - seat, self.cards + 1
        if not self.open_bids:
            if notes[0] == 0:
                return False
            aside, waiting = m**3, m**3 + self.cards  # two lists behind the counts: cards and rounds
            a, b = 0, 0
            for v in range(self.cards):
                result, round = result_of(view, seat, v), round_of(view, seat, v)
                # (Slightly below 1, so that rounding never selects a use with no ways.)
                left = uniform(rng) * notes[(v * m + a) * m + b] * (1.0 - 1e-12)
                left -= ways(notes, m, v, a, b, result, KEPT)
                answers = left >= 0 and left < ways(notes, m, v, a, b, result, ANSWERS)
                if result == WON:
                    i = below(rng, a)
                    out.bids[other, round] = int(notes[aside + i])
                    a -= 1
                    notes[aside + i] = notes[aside + a]
                elif result == TIE:
                    out.bids[other, round] = v
                if answers:
                    i = below(rng, b)
                    out.bids[other, int(notes[waiting + i])] = v
                    b -= 1
                    notes[waiting + i] = notes[waiting + b]
                elif left >= 0:
                    notes[aside + a] = v
                    a += 1
                if result == LOST:
                    notes[waiting + b] = round
                    b += 1
        retrace(self, out, other)
        if other == 0 and view.to_move == 1:
            bid = nth_card(int(out.hand[0]), below(rng, self.cards - int(view.rounds)))
            out.bids[0, int(view.rounds)] = bid
            out.hand[0] = int(out.hand[0]) & ~(1 << bid)
        return True

    def target(self, state, view, seat, mode, actions, n, keep):
        round, mover = int(state.rounds), int(state.to_move)
        wanted = int(view.bids[mover, round])
        if mover == seat or self.open_bids:
            for i in range(n):
                keep[i] = wanted < 0 or actions[i] == wanted
        elif round >= int(view.rounds):
            keep[:n] = True
        else:
            low, high, ties = limits(self, state, view, seat)
            for i in range(n):
                keep[i] = low <= actions[i] <= high and not ties >> actions[i] & 1
        kept = 0
        for i in range(n):
            kept += keep[i]
        return kept

    def show(self, state, seat):
        def cards(values):
            return " ".join("?" if value < 0 else str(value + 1) for value in values) or "-"

        lines = [prize(self, state)]
        for who in range(2):
            bids = cards(state.bids[who, : int(state.rounds)])
            hand = cards(held(self, state, who, seat))
            lines.append(f"{seat_name(who, seat)}: {state.points[who]} points, holds {hand}, bid {bids}")
        return "\n".join([*lines, f"won by: {winners(state)}"])

    def picture(self, state, seat):
        def cards(values, own=False):
            return [card_svg(str(value + 1) if value >= 0 else None, action=value if own else None) for value in values]

        rows, n = [("", [], prize(self, state))], int(state.rounds)
        for who in range(2):
            shown = n + (who == 0 and state.to_move == 1)  # with a bid that is still face down
            hand = cards(held(self, state, who, seat), who == seat)
            rows.append((seat_name(who, seat), hand, f"{state.points[who]} points"))
            rows.append(("bids", cards(state.bids[who, :shown]), ""))
        return table_html([*rows, ("won by", [], winners(state))])

    def action_to_string(self, state, action):
        return str(action + 1)


@helper
def settle(game, state):
    """End a round in which both seats have bid."""
    round = int(state.rounds)
    one, two = int(state.bids[0, round]), int(state.bids[1, round])
    # Without branches: the winner is random in playouts, and mispredicted branches cost most.
    state.points[0] = int(state.points[0]) + (one > two) * (round + game.base)
    state.points[1] = int(state.points[1]) + (two > one) * (round + game.base)
    state.winner[round] = (two > one) + 2 * (one == two)
    state.rounds = round + 1
    state.keys[0] = xor_mix(state.keys[0], seen(game, one, two))
    state.keys[1] = xor_mix(state.keys[1], seen(game, two, one))


@helper
def seen(game, mine, other):
    """A seat's observation of one round, as a number."""
    return mine * 16 + other if game.open_bids else mine * 4 + (2 if mine == other else int(mine < other))


@helper
def nth_card(hand, i):
    """The i-th lowest card of a hand."""
    low = hand & 127
    held = popcount(low)
    return NTH_BIT[low, i] if i < held else 7 + NTH_BIT[hand >> 7, i - held]


@helper
def round_of(view, seat, card):
    """The completed round in which a seat bid this card, or -1."""
    for round in range(int(view.rounds)):
        if view.bids[seat, round] == card:
            return round
    return -1


@helper
def result_of(view, seat, card):
    round = round_of(view, seat, card)
    if round < 0:
        return UNPLAYED
    if view.winner[round] == TIE:
        return TIE
    return WON if view.winner[round] == seat else LOST


@helper
def ways(notes, m, v, a, b, result, use):
    """Number of ways from card value v on, if the other seat keeps card v, answers a lost round, or sets it aside."""
    factor = 1.0
    if result == WON:  # one of the cards set aside was bid in this round
        factor = float(a)
        a -= 1
    if use == ANSWERS:
        factor *= b
        b -= 1
    elif use == ASIDE:
        a += 1
    if result == LOST:
        b += 1
    if (result == TIE and use != KEPT) or factor == 0 or a >= m or b >= m:
        return 0.0
    return factor * notes[((v + 1) * m + a) * m + b]


@helper
def retrace(game, state, seat):
    """Recompute hand and key of a seat from the bids."""
    hand, key = (1 << game.cards) - 1, np.uint64((1 + seat) * FIRST_KEY)
    for round in range(int(state.rounds)):
        mine, other = int(state.bids[seat, round]), int(state.bids[1 - seat, round])
        hand &= ~(1 << mine)
        key = xor_mix(key, seen(game, mine, other))
    state.hand[seat] = hand
    state.keys[seat] = key


@helper
def limits(game, state, view, seat):
    """The bids of the other seat that keep a simulation on the way to a view: `low` to `high`, without those in `ties`.

    Each later round that this seat won needs a card below its own, each that it lost one above. A sweep from below
    finds the highest card value at which no card is to spare: a lower bid would take a card that is needed. The sweep
    from above is its mirror image.
    """
    round, n = int(state.rounds), int(view.rounds)
    hand = int(state.hand[1 - seat])
    won, lost, ties = 0, 0, 0
    for later in range(round + 1, n):
        card = 1 << int(view.bids[seat, later])
        winner = int(view.winner[later])
        if winner == TIE:
            ties |= card
        elif winner == seat:
            won |= card
        else:
            lost |= card
    own = int(view.bids[seat, round])
    winner = int(view.winner[round])
    if winner == TIE:
        return own, own, ties
    low, high = (0, own - 1) if winner == seat else (own + 1, game.cards - 1)
    free = hand & ~ties
    spare = 0
    for card in range(game.cards):
        if won >> card & 1:
            spare -= 1
            if spare == 0:
                low = max(low, card)
        spare += free >> card & 1
    spare = 0
    for card in range(game.cards - 1, -1, -1):
        if lost >> card & 1:
            spare -= 1
            if spare == 0:
                high = min(high, card)
        spare += free >> card & 1
    return low, high, ties


# ---------------------------------------------------------------- for people


def prize(game, state):
    if int(state.rounds) == game.cards:
        return "all prizes are gone"
    return f"prize {int(state.rounds) + game.base} of {' '.join(str(i + game.base) for i in range(game.cards))}"


def held(game, state, who, seat):
    """The cards in a seat's hand, -1 for each that `seat` doesn't see."""
    if who != seat and not game.open_bids and seat >= 0:
        return [HIDDEN] * (game.cards - int(state.rounds))
    return [card for card in range(game.cards) if int(state.hand[who]) >> card & 1]


def winners(state):
    return " ".join("=" if who == TIE else str(who + 1) for who in state.winner[: int(state.rounds)]) or "-"
