"""Liar's Dice: bid the number of dice of a face under both cups, or call the last bid a lie.

Bids rise by quantity, then by face. The highest face is wild. The dice are rolled one at a time, seat 0's first, and
kept sorted.
"""

from typing import Annotated, NamedTuple

import numpy as np

from ..jit import below, copy_record, helper, record, xor_mix
from .display import seat_name
from .game import CHANCE, IST, OVER, game
from .svg import die_svg, table_html

MOST = 5
HIDDEN = -1
STATE = record(
    ("bids", "u8"),  # bit b: bid b was made
    ("dice", "i1", (2, MOST)),
    ("rolled", "i1"),
    ("last", "i1"),  # the highest bid, -1 before the first
    ("made", "i1"),  # number of bids
    ("called", "i1"),
    ("to_move", "i1"),
)


@game(
    "liars_dice",
    state=STATE,
    num_actions=lambda game: 2 * game.dice * game.faces + 1,
    max_chance_outcomes=lambda game: game.faces,
    max_game_length=lambda game: 2 * game.dice + 2 * game.dice * game.faces + 1,
    payoffs=(-1.0, 1.0),
    encoding=lambda game: 5 * game.dice * game.faces,
    targets=("pst", "ist"),
    check=lambda game: (
        f"dice={game.dice}, faces={game.faces} gives {2 * game.dice * game.faces} bids, more than 62"
        if game.dice * game.faces > 31
        else None
    ),
)
class LiarsDice(NamedTuple):
    """Liar's Dice: bid higher, or call the last bid a lie; the highest face is wild."""

    dice: Annotated[int, "dice under each cup", range(1, MOST + 1)] = 1
    faces: Annotated[int, "faces of a die", range(2, 16)] = 6

    def start(self, state):
        state.bids = 0
        state.dice[:, :] = HIDDEN
        state.rolled = 0
        state.last = -1
        state.made = 0
        state.called = 0
        state.to_move = CHANCE

    def turn(self, state):
        return int(state.to_move)

    def actions(self, state, out):
        if state.to_move == CHANCE:
            for face in range(self.faces):
                out[face] = face
            return self.faces
        first, liar = int(state.last) + 1, 2 * self.dice * self.faces
        n = liar - first
        for i in range(n):
            out[i] = first + i
        if first > 0:
            out[n] = liar
            n += 1
        return n

    def sample_action(self, state, rng):
        if state.to_move == CHANCE:
            return below(rng, self.faces)
        first = int(state.last) + 1
        return first + below(rng, 2 * self.dice * self.faces - first + (first > 0))

    def play(self, state, action):
        if state.to_move == CHANCE:
            rolled = int(state.rolled)
            insert(state, rolled // self.dice, rolled % self.dice, action)
            state.rolled = rolled + 1
            state.to_move = CHANCE if rolled + 1 < 2 * self.dice else 0
        elif action == 2 * self.dice * self.faces:
            state.called = 1
            state.to_move = OVER
        else:
            state.bids |= np.uint64(1) << np.uint64(action)
            state.last = action
            state.made += 1
            state.to_move = 1 - int(state.to_move)

    def payoff(self, state, seat):
        quantity, face = int(state.last) // self.faces + 1, int(state.last) % self.faces
        matches = 0
        for who in range(2):
            for i in range(self.dice):
                die = int(state.dice[who, i])
                matches += (die == face) | (die == self.faces - 1)
        bidder = (int(state.made) - 1) % 2
        return 1.0 if (matches >= quantity) == (bidder == seat) else -1.0

    def infoset(self, state, seat):
        held = seat
        for i in range(self.dice):
            held = held * 16 + int(state.dice[seat, i]) + 1
        return xor_mix(xor_mix(np.uint64(held), 0), state.bids)

    def observe(self, state, seat, out):
        """Own sorted dice, one-hot; then the bids of the seat, then those of the other seat."""
        out[:] = 0
        for i in range(self.dice):
            if state.dice[seat, i] >= 0:
                out[i * self.faces + int(state.dice[seat, i])] = 1
        own, bids = self.dice * self.faces, 2 * self.dice * self.faces
        bidder = 0
        for bid in range(bids):
            if state.bids >> np.uint64(bid) & np.uint64(1):
                out[own + bid + (0 if bidder == seat else bids)] = 1
                bidder = 1 - bidder

    def look(self, state, seat, out):
        copy_record(out, state)
        out.dice[1 - seat, :] = HIDDEN

    def determinize(self, view, seat, notes, rng, out):
        copy_record(out, view)
        for i in range(min(max(int(view.rolled) - (1 - seat) * self.dice, 0), self.dice)):
            insert(out, 1 - seat, i, below(rng, self.faces))
        return True

    def target(self, state, view, seat, mode, actions, n, keep):
        if state.to_move == CHANCE:
            roller = int(state.rolled) // self.dice
            known = mode == IST and roller == seat and view.rolled == 2 * self.dice
            kept = 0
            for i in range(n):
                keep[i] = not known or count(view, seat, actions[i]) > count(state, seat, actions[i])
                kept += keep[i]
            return kept
        wanted = -1
        if state.made < view.made:
            wanted = int(state.last) + 1
            while wanted < 62 and not view.bids >> np.uint64(wanted) & np.uint64(1):
                wanted += 1
        elif view.called:
            wanted = 2 * self.dice * self.faces
        for i in range(n):
            keep[i] = wanted < 0 or actions[i] == wanted
        return n if wanted < 0 else 1

    def private_state(self, state, seat):
        """The rank of the sorted dice among all rolls."""
        number = 0
        for i in range(self.dice):
            ways = 1
            for k in range(i + 1):  # (die + i) over (i + 1), the number of rolls of i + 1 dice below this one
                ways = ways * (int(state.dice[seat, i]) + i - k) // (k + 1)
            number += ways
        return number

    def public_state(self, state):
        return state.bids

    def rising_bids(self):
        return 2 * self.dice * self.faces

    def payoff_class(self, state):
        return 2 * int(state.last) + int(state.made) % 2

    def show(self, state, seat):
        lines = []
        for who in range(2):
            dice = " ".join("?" if die < 0 else str(die + 1) for die in state.dice[who, : self.dice])
            lines.append(f"{seat_name(who, seat)}: {dice}")
        return "\n".join([*lines, f"bids: {bids_made(self, state)}"])

    def picture(self, state, seat):
        rows = []
        for who in range(2):
            rolled = min(max(int(state.rolled) - who * self.dice, 0), self.dice)
            dice = [die_svg(int(die) + 1 if die >= 0 else None) for die in state.dice[who, :rolled]]
            rows.append((seat_name(who, seat), dice, ""))
        return table_html([*rows, ("bids", [], bids_made(self, state))])

    def action_to_string(self, state, action):
        if state is not None and state.to_move == CHANCE:
            return str(action + 1)
        if action == 2 * self.dice * self.faces:
            return "liar"
        return f"{action // self.faces + 1}x{action % self.faces + 1}"


@helper
def insert(state, seat, held, die):
    """Insert a die into the `held` sorted dice of a seat."""
    i = held
    while i > 0 and state.dice[seat, i - 1] > die:
        state.dice[seat, i] = state.dice[seat, i - 1]
        i -= 1
    state.dice[seat, i] = die


@helper
def count(state, seat, face):
    """Number of dice of a seat with this face."""
    held = 0
    for i in range(MOST):
        held += state.dice[seat, i] == face
    return held


def bids_made(game, state):
    bids = [game.action_to_string(None, bid) for bid in range(62) if int(state.bids) >> bid & 1]
    return " ".join(bids + ["liar"] * int(state.called)) or "-"
