"""A game in words, and what may be said."""

from . import scoring
from .announcements import CALL, SILENT, side_of
from .cards import KINDS, NAMES, TYPES, WORDS, plain
from .cards import cards as name_cards
from .state import (
    ASK,
    CARDS,
    DEAL,
    DONE,
    HEALTHY,
    MARRIAGE,
    NAMED_MARRIAGE,
    RESERVATION,
    SOLO,
    cards_left,
    hand_size,
    known_parties,
)
from .tricks import result

PARTIES = ("Re", "Kontra")
# Action -> how it is spelled, in one word, and what else is understood. (Dashes and blanks don't matter.)
SAYS = {
    24: ("healthy", "gesund"),
    25: ("reservation", "vorbehalt"),
    27: ("♣-solo", "clubs solo", "kreuz solo"),
    28: ("♠-solo", "spades solo", "pik solo"),
    29: ("♥-solo", "hearts solo", "herz solo"),
    30: ("♦-solo", "diamonds solo", "karo solo"),
    31: ("queens-solo", "damen solo"),
    32: ("jacks-solo", "buben solo"),
    33: ("fleischlos", "aces solo"),
    34: ("marriage", "hochzeit"),
    SILENT: ("silent", "still", "pass"),
    CALL: ("Re/Kontra", "re", "kontra"),
    CALL + 1: ("no-90", "keine 90"),
    CALL + 2: ("no-60", "keine 60"),
    CALL + 3: ("no-30", "keine 30"),
    CALL + 4: ("black", "schwarz"),
}
UNDERSTOOD = {plain(word): action for action, words in SAYS.items() for word in words} | WORDS


def spell(state, action):
    """Re or Kontra is spelled as what the mover would say, where its hand or its party is there to see."""
    if action < KINDS:
        return NAMES[action]
    if action == CALL:
        mover = int(state.to_move)
        re, kontra = known_parties(state)
        if state.hands[mover] or (re | kontra) >> mover & 1:
            return PARTIES[side_of(state, mover)]
    return SAYS[int(action)][0]


def read(state, text):
    """The action that is meant, -1 where none is. Who is Kontra doesn't say Re."""
    action = UNDERSTOOD.get(plain(text), -1)
    if action == CALL and plain(text) not in (plain(spell(state, CALL)), plain(SAYS[CALL][0])):
        return -1
    return action


def show(game, state, seat):
    lines = [headline(game, state)]
    re, kontra = known_parties(state)
    for who in range(4):
        you = " (you)" if who == seat else ""
        left = cards_left(game, state, who)
        hand = name_cards(state.hands[who], int(state.type))
        if state.hands[who] == 0 and left:
            hand = f"{left} cards"
        tricks = "1 trick" if state.tricks[who] == 1 else f"{state.tricks[who]} tricks"
        facts = [f"{state.points[who]} points in {tricks}"] if state.count > 3 else []
        facts += {HEALTHY: ["healthy"], RESERVATION: ["reservation"]}.get(int(state.said[who]), [])
        facts += ["marriage"] if state.named[who] == NAMED_MARRIAGE else []
        if (re | kontra) >> who & 1:
            facts.append(PARTIES[int(kontra >> who & 1)])
        elif state.hands[who] and state.phase >= CARDS:
            facts.append(f"{PARTIES[side_of(state, who)]} in secret")
        facts += ["pigs"] if state.pigs == who else []
        facts += [f"called {call_name(state, who)}"] if state.call[who] >= 0 else []
        facts += [f"scores {state.scores[who]:+d}"] if state.phase == DONE else []
        lines.append(f"seat {who + 1}{you}: {', '.join([hand, *facts])}")
    count = int(state.count)
    if count & 3:
        lines.append(f"trick: {trick(state, count >> 2)}")
    if count > 3:
        lines.append(f"last trick: {trick(state, (count - 1 >> 2) - (count & 3 > 0))}")
    if state.phase == DONE:
        lines += [f"{name}: {worth:+d} for Re" for name, worth in sheet(game, state)]
    return "\n".join(lines)


def headline(game, state):
    if state.phase == DEAL:
        return f"dealing, {state.dealt} of {4 * hand_size(game)} cards"
    if state.phase < CARDS:
        return "who has a reservation?" if state.phase == 1 else "which game?"
    kind = TYPES[int(state.type)]
    if state.mode == MARRIAGE:
        with_whom = f"with seat {state.partner + 1}" if state.partner >= 0 else "not settled yet"
        kind = f"marriage of seat {state.bride + 1}, {with_whom}"
    elif state.mode == SOLO:
        kind = f"{kind} of seat {state.soloist + 1}" if state.bride < 0 else f"seat {state.bride + 1} found no partner"
    if state.phase == DONE:
        return f"{kind}, over"
    asked = f", calls of seat {state.to_move + 1}?" if state.phase == ASK else ""
    return f"{kind}, trick {(int(state.count) >> 2) + 1} of {hand_size(game)}{asked}"


def call_name(state, seat):
    level = int(state.call[seat])
    return scoring.LEVELS[level] if level else PARTIES[int(state.call_side[seat])]


def trick(state, number):
    leader = int(state.leaders[number])
    lain = range(4 * number, min(4 * number + 4, int(state.count)))
    return ", ".join(f"{(leader + i) % 4 + 1} {NAMES[state.played[i]]}" for i in lain)


def sheet(game, state):
    """The score sheet of a game that is over: (what for, worth to Re)."""
    return scoring.sheet(*result(game, state))
