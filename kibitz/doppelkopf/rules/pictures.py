"""Positions of Doppelkopf as SVG; the words are those of a `DoppelkopfDisplay`."""

from ...games.playing_cards import BLACK, CARD_HEIGHT, CARD_WIDTH, PAPER, card_row, label, playing_card_svg, table_svg
from .cards import ORDER
from .state import DONE, cards_left

PLACES = ((380, 378), (122, 190), (380, 34), (638, 190))  # middle and top of the hands: own, left, opposite, right
OWN, SMALL = 1.25, 0.6  # size of the own cards, and of the last trick
IN_TRICK = ((0, 36), (-52, 0), (0, -36), (52, 0))  # cards of a trick, from the middle of the table


def drawn(words, state, seat):
    """Everything that the record shows."""
    game, below, count = words.game, max(seat, 0), int(state.count)
    title = words.title(state, seat)
    parts = [label(title, 380, 474, bold=True, size=16)]
    for side, (middle, top) in enumerate(PLACES):
        who = below + side & 3
        kinds = sorted_hand(state, who)
        cards = [words.rank_and_suit(kind) for kind in kinds] or [None] * cards_left(game, state, who)
        parts.append(label(words.label(state, who, seat), middle, top - 8, who == state.to_move, 16))
        own = side == 0
        parts += card_row(cards, middle, top, 720 if own else 228, kinds if who == seat else (), OWN if own else 1)
    first = count & ~3 if state.phase == DONE else max(count - 1, 0) & ~3  # the last trick stays until the next card
    for i in range(first, count):
        across, down = IN_TRICK[int(state.leaders[i >> 2]) + i - below & 3]
        x, y = 380 - CARD_WIDTH / 2 + across, 228 - CARD_HEIGHT / 2 + down
        parts.append(playing_card_svg(*words.rank_and_suit(int(state.played[i])), x=x, y=y))
    if state.phase != DONE and count > 3:
        parts += _last_trick(words, state, seat, count - 1 >> 2)
    if state.phase == DONE:
        parts += _score_sheet(words, state, seat)
        parts += [
            label(f"{state.scores[below + side & 3]:+d}", middle, top + 36, bold=True, size=20)
            for side, (middle, top) in enumerate(PLACES)
        ]
    return table_svg(f"Doppelkopf: {title}", 760, 486, parts)


def _score_sheet(words, state, seat):
    """The parties and the items of the score sheet, on paper in the middle of the table."""
    parties, items = words.parties(state, seat), words.items(state)
    left, right, top, step = 200, 560, 92, 21
    rows = len(parties) + len(items)
    yield f'<rect x="{left}" y="{top}" width="{right - left}" height="{rows * step + 18}" rx="6" fill="{PAPER}"/>'
    for i, line in enumerate(parties):
        yield label(line, 380, top + 22 + i * step, size=15, ink=BLACK)
    for i, (name, counted) in enumerate(items, len(parties)):
        y, last = top + 27 + i * step, i == rows - 1
        name += f" {words.word('for')} Re" if last else ""
        yield label(name, left + 30, y, last, 15, "start", BLACK)
        yield label(f"{counted:+d}", right - 30, y, last, 15, "end", BLACK)


def _last_trick(words, state, seat, on_table):
    """The trick before the one on the table, small in a corner, in the order of the seats."""
    if on_table == 0:
        return
    number, middle, top = on_table - 1, 76, 60
    yield label(words.word("last trick"), middle, 24, size=12)
    for i in range(4 * number, 4 * number + 4):
        across, down = IN_TRICK[int(state.leaders[number]) + i - max(seat, 0) & 3]
        x, y = middle + (across - CARD_WIDTH / 2) * SMALL, top + (down - CARD_HEIGHT / 2) * SMALL + 14
        yield playing_card_svg(*words.rank_and_suit(int(state.played[i])), x=x, y=y, scale=SMALL)
    to = words.who(int(state.leaders[number + 1]), seat)
    yield label(f"{words.word('to')} {to}", middle, top + 64, size=12)


def sorted_hand(state, seat):
    """The visible cards of a hand, as players sort them."""
    hand = int(state.hands[seat])
    return [int(kind) for kind in ORDER[int(state.type)] for _ in range(hand >> 2 * int(kind) & 3)]
