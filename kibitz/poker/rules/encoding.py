"""The view of a seat as network inputs, and packed into 16 bytes for the replay buffers of training."""

import numpy as np

from ...games.game import CHANCE
from ...jit import long_helper, record
from .state import CALL, DEALT_BY, HIDDEN, RAISE, bet_size, first_to_move, max_chips, max_raises, moves_made, nth_move

BY_SLOT, THESIS, CALLS_UNSEEN, HAND_CATEGORY = range(4)  # values of the parameter `inputs`
DECK = 52
# Features of the made hand: ranks that occur two, three and four times; runs of five ranks of which four or five are
# present; the number of cards in a suit of a hole card, two to five; and ranks of hole cards in a suit of four or more.
RANKS, RUNS, SUITED = 13, 10, 4
PAIRS, STRAIGHTS, FLUSHES = 0, 3 * RANKS, 3 * RANKS + 2 * RUNS
MADE = FLUSHES + SUITED + RANKS
# [rank, run]: whether the rank is in the run; the ace is also the lowest rank.
IN_RUN = np.array([[(rank - run + 1) % RANKS < 5 for run in range(RUNS)] for rank in range(RANKS)])
PACKED = record(("line", "u8"), ("cards", "i1", (7,)), ("seat", "i1"))  # two hole cards, five of the board


def by_street(game):
    """Whether the inputs have the cards street by street."""
    return game.inputs == BY_SLOT or game.inputs == HAND_CATEGORY


def size(game):
    """The number of inputs."""
    if not by_street(game):
        return 3 * DECK
    slots = sum(max_raises(game, street) + 2 for street in range(game.streets))
    return game.streets * game.ranks * game.suits + 2 * slots + (MADE if game.inputs == HAND_CATEGORY else 0)


@long_helper
def encode(game, state, seat, out):
    """Write the view of a seat to `out` [size(game)]."""
    out[:] = 0
    if game.inputs == BY_SLOT or game.inputs == HAND_CATEGORY:
        encode_by_slot(game, state, seat, out)
        if game.inputs == HAND_CATEGORY:
            encode_hand_category(state, seat, out[len(out) - MADE :])
    else:
        encode_thesis(state, seat, game.inputs == THESIS, out)


@long_helper
def encode_by_slot(game, state, seat, out):
    """One-hot decks for hole cards, flop, turn and river; then two inputs for each possible move of each street.

    These are whether the move was made, and the chips it put in, as a share of the pot before it.
    """
    deck = game.ranks * game.suits
    for i in range(7):
        card = int(state.hole[seat, i]) if i < 2 else int(state.board[i - 2])
        if card >= 0:
            part = 0 if i < 2 else max(i - 3, 1)
            out[part * deck + card // 4 * game.suits + card % 4] = 1
    at, i, made = game.streets * deck, 0, moves_made(state)
    mine, level = game.small_blind, game.big_blind  # chips of the mover and of the other seat
    for street in range(game.streets):
        if street > 0:
            mine = level
        for move in range(int(state.moves[street])):
            what, before, size = nth_move(state.line, made, i), mine, bet_size(game, street)
            if what == CALL:
                mine = level
            elif what == RAISE:
                mine = min(level + size, max_chips(game))
            out[at + 2 * move] = 1
            out[at + 2 * move + 1] = (mine - before) / (before + level)
            mine, level = level, mine
            i += 1
        at += 2 * (max_raises(game, street) + 2)


@long_helper
def encode_hand_category(state, seat, out):
    """Features of the made hand, which a network would have to learn from single cards."""
    ranks, suits = 0, 0  # counts, four bits each
    for i in range(7):
        card = int(state.hole[seat, i]) if i < 2 else int(state.board[i - 2])
        if card >= 0:
            ranks += 1 << 4 * (card // 4)
            suits += 1 << 4 * (card % 4)
    for rank in range(RANKS):
        for more in range(3):
            out[PAIRS + more * RANKS + rank] = ranks >> 4 * rank & 15 > more + 1
    for run in range(RUNS):
        there = 0
        for rank in range(RANKS):
            there += IN_RUN[rank, run] and ranks >> 4 * rank & 15 > 0
        out[STRAIGHTS + run] = there >= 4
        out[STRAIGHTS + RUNS + run] = there >= 5
    for i in range(2):
        card = int(state.hole[seat, i])
        if card >= 0:
            together = suits >> 4 * (card % 4) & 15
            for more in range(SUITED):
                if together >= more + 2:
                    out[FLUSHES + more] = 1
            if together >= 4:
                out[FLUSHES + SUITED + card // 4] = 1


@long_helper
def encode_thesis(state, seat, calls_seen, out):
    """Three rows of 52, after Żarejko's thesis: the board, the hole cards, and the moves, with 1 for a raise.

    In the thesis a call is 0, like a move that wasn't made; with `calls_seen` it is -1.
    """
    for i in range(5):
        if state.board[i] >= 0:
            out[int(state.board[i])] = 1
    for i in range(2):
        if state.hole[seat, i] >= 0:
            out[DECK + int(state.hole[seat, i])] = 1
    made = moves_made(state)
    for i in range(made):
        what = nth_move(state.line, made, i)
        out[2 * DECK + i] = 1 if what == RAISE else -1 if calls_seen and what == CALL else 0


# ---------------------------------------------------------------- packed samples


@long_helper
def pack(state, seat, out):
    """Pack all that a seat knows."""
    out.line = state.line
    for i in range(2):
        out.cards[i] = state.hole[seat, i]
    for i in range(5):
        out.cards[2 + i] = state.board[i]
    out.seat = seat


@long_helper
def unpack(game, packed, out):
    """Restore a packed view by replaying its moves; returns its seat."""
    game.start(out)
    made = 0
    while packed.line >> np.uint64(2 * made + 3):
        made += 1
    for i in range(made + 1):
        if out.to_move == CHANCE:
            out.dealt = DEALT_BY[int(out.street)]
            out.to_move = first_to_move(int(out.street))
        if i < made:
            game.play(out, nth_move(packed.line, made, i))
    seat = int(packed.seat)
    out.hole[:, :] = HIDDEN
    for i in range(2):
        out.hole[seat, i] = packed.cards[i]
    for i in range(5):
        out.board[i] = packed.cards[2 + i]
    return seat
