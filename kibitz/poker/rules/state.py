"""The record of a hand: cards, bets and progress.

A card is 4 * rank + suit, with ranks from the deuce and suits clubs, diamonds, hearts, spades, as in the programs of
the ACPC; a smaller deck has the lower ranks and the first suits. Seat 0 is the big blind, seat 1 the dealer, who posts
the small blind.
"""

import numpy as np

from ...jit import below, helper, record

FOLD, CALL, RAISE = 0, 1, 2
HIDDEN = -1
HOLE = 4  # hole cards: both of seat 0 are dealt first, then both of seat 1
DEALT_BY = np.array([4, 7, 8, 9])  # number of cards dealt before the betting of each street
STATE = record(
    ("line", "u8"),  # all moves, two bits each (move + 1), after a leading 0b100
    ("paid", "i2", (2,)),  # chips in the pot, by seat
    ("hole", "i1", (2, 2)),  # the higher card first: the order of dealing is not known
    ("board", "i1", (5,)),  # the flop in descending order, then turn and river
    ("moves", "i1", (4,)),  # number of moves in each street
    ("dealt", "i1"),  # number of cards
    ("street", "i1"),
    ("raised", "i1"),  # number of raises in this street
    ("to_move", "i1"),
)
UNLIMITED = 32767


# ---------------------------------------------------------------- cards


@helper
def visible_cards(state):
    """All cards in the record (of a view: those that its seat sees), as bits."""
    return bits(state.hole[0], 0, 2) | bits(state.hole[1], 0, 2) | bits(state.board, 0, 5)


@helper
def bits(cards, start, end):
    """Bit c + 1 for card c; bit 0 for cards that are hidden or not dealt."""
    found = 0
    for i in range(start, end):
        found |= 1 << int(cards[i]) + 1
    return found


@helper
def draw_card(game, cards, rng):
    """Draw a card that isn't among these bits."""
    while True:
        card = below(rng, game.ranks * game.suits)
        if game.suits < 4:
            card = card // game.suits * 4 + card % game.suits
        if not cards >> card + 1 & 1:
            return card


@helper
def insert(cards, card):
    """Insert a card into two or three places in descending order.

    (Without branches, as nearly all here: branches on random values can't be predicted, and mispredictions are the
    largest cost of playouts.)
    """
    first, second = int(cards[0]), int(cards[1])
    cards[0] = max(first, card)
    cards[1] = max(second, min(first, card))
    if len(cards) > 2:
        cards[2] = min(second, card)


@helper
def place_card(state, card):
    """Put the next dealt card into the hand or on the board."""
    dealt = int(state.dealt)
    if dealt < HOLE:
        insert(state.hole[dealt >> 1], card)
    elif dealt < HOLE + 3:
        insert(state.board, card)
    else:
        state.board[dealt - HOLE] = card
    state.dealt = dealt + 1


# ---------------------------------------------------------------- bets


@helper
def max_chips(game):
    """The most chips that a seat may put into the pot."""
    return game.stack if game.stack > 0 else UNLIMITED


@helper
def max_raises(game, street):
    """The cap on raises in a street."""
    return game.preflop_raises if street == 0 else game.raises


@helper
def bet_size(game, street):
    return game.small_bet if street < 2 else game.big_bet


@helper
def first_to_move(street):
    return 1 if street == 0 else 0


@helper
def moves_made(state):
    made = 0
    for street in range(4):
        made += int(state.moves[street])
    return made


@helper
def nth_move(line, made, i):
    """Move i of the `made` moves in a line."""
    return np.int64(line >> np.uint64(2 * (made - 1 - i)) & np.uint64(3)) - 1


# ---------------------------------------------------------------- facts (plain Python)


def max_moves(game, street=0, level=None):
    """The number of moves in the longest hand from a street on, when each seat has put in `level` chips."""
    level, limit = level or game.big_blind, max_chips(game)
    if street == game.streets:
        return 0
    if level >= limit:  # all in: the small blind may call the big one, later streets are only dealt
        return int(street == 0)
    found, raises = 0, 0
    while True:
        found = max(found, 2 + raises + max_moves(game, street + 1, level))
        if raises == max_raises(game, street) or level >= limit:
            return found
        level, raises = min(level + bet_size(game, street), limit), raises + 1


def max_lost(game):
    """The most chips that a seat can lose."""
    return min(
        game.big_blind + sum(max_raises(game, street) * bet_size(game, street) for street in range(game.streets)),
        max_chips(game),
    )
