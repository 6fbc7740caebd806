"""Doppelkopf for people: names of actions, positions as text and as a picture, and the table in English or German."""

import re

from ...core.names import NoMove
from ...games.display import Display
from ...games.game import legal_actions, view_of
from . import scoring
from .announcements import CALL, SILENT, side_of
from .cards import GERMAN as GERMAN_CARDS
from .cards import KINDS, NAMES, ORDER, TYPES, WORDS, hand_to_string, normalized
from .german import WORDS as GERMAN
from .pictures import drawn, sorted_hand
from .state import (
    ANNOUNCING,
    CARDS,
    DEAL,
    DONE,
    HEALTHY,
    MARRIAGE,
    NAMED_MARRIAGE,
    RESERVATION,
    RESERVING,
    SOLO,
    cards_left,
    hand_size,
    known_parties,
    next_player,
)
from .tricks import result

PARTIES = ("Re", "Kontra")

# ---------------------------------------------------------------- actions

# Action -> its name in one word, and other spellings. (Dashes, blanks and capitals don't matter.)
SPELLINGS = {
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
ACTIONS = WORDS | {normalized(word): action for action, words in SPELLINGS.items() for word in words}


def action_to_string(state, action):
    """The name of an action; Re or Kontra by the mover's party, where its hand is visible or its party known."""
    if action < KINDS:
        return NAMES[action]
    if action == CALL:
        mover = int(state.to_move)
        re, kontra = known_parties(state)
        if state.hands[mover] or (re | kontra) >> mover & 1:
            return PARTIES[side_of(state, mover)]
    return SPELLINGS[int(action)][0]


def find_action(state, text):
    """The action with this name, -1 if there is none. A player of Kontra can't announce Re."""
    action = ACTIONS.get(normalized(text), -1)
    if action == CALL and normalized(text) not in map(normalized, (action_to_string(state, CALL), SPELLINGS[CALL][0])):
        return -1
    return action


def parse_calls(state, text):
    """The announcements in a text that names two or more; else none."""
    words = [word for word in re.split(r"[\s,+]+|\bund\b|\band\b", text) if word]
    for size in range(1, len(words)):
        first, rest = find_action(state, " ".join(words[:size])), " ".join(words[size:])
        others = parse_calls(state, rest) or [find_action(state, rest)]
        if first >= CALL and min(others) >= CALL:
            return [first, *others]
    return []


def parse_action(game, state, text, legal=None):
    """The legal action with this name, else BadInput with the names of all. `game` may be a `Display`."""
    action, legal = find_action(state, text), legal or legal_actions(game, state)
    if action not in legal:
        words = ", ".join(game.action_to_string(state, action) for action in legal)
        raise NoMove(f"{text.strip()!r} is no move here: {words}")
    return action


# ---------------------------------------------------------------- text


def show(game, state, seat):
    """A position as plain text."""
    lines = [headline(game, state)]
    re, kontra = known_parties(state)
    for who in range(4):
        you = " (you)" if who == seat else ""
        left = cards_left(game, state, who)
        hand = hand_to_string(state.hands[who], int(state.type))
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
        lines += [f"{name}: {points:+d} for Re" for name, points in sheet(game, state)]
    return "\n".join(lines)


def headline(game, state):
    """The type of the game and how far it has got."""
    if state.phase == DEAL:
        return f"dealing, {state.dealt} of {4 * hand_size(game)} cards"
    if state.phase < CARDS:
        return "who has a reservation?" if state.phase == RESERVING else "which game?"
    kind = kind_of_game(state)
    if state.phase == DONE:
        return f"{kind}, over"
    asked = f", calls of seat {state.to_move + 1}?" if state.phase == ANNOUNCING else ""
    return f"{kind}, trick {(int(state.count) >> 2) + 1} of {hand_size(game)}{asked}"


def kind_of_game(state, word=lambda english: english):
    """The type of the game and whose it is; `word` translates."""
    kind, seat, of = word(TYPES[int(state.type)]), word("seat"), word("of")
    if state.mode == MARRIAGE:
        with_whom = f"{word('with')} {seat} {state.partner + 1}" if state.partner >= 0 else word("not settled yet")
        return f"{word('marriage')} {of} {seat} {state.bride + 1}, {with_whom}"
    if state.mode == SOLO and state.bride >= 0:
        return f"{seat} {state.bride + 1} {word('found no partner')}"
    return f"{kind} {of} {seat} {state.soloist + 1}" if state.mode == SOLO else kind


def call_name(state, seat):
    """The highest announcement of a seat."""
    level = int(state.call[seat])
    return scoring.LEVELS[level] if level else PARTIES[int(state.call_side[seat])]


def trick(state, number):
    """The cards of a trick with their seats, as far as it was played."""
    leader = int(state.leaders[number])
    played = range(4 * number, min(4 * number + 4, int(state.count)))
    return ", ".join(f"{(leader + i) % 4 + 1} {NAMES[state.played[i]]}" for i in played)


def sheet(game, state):
    """The score sheet of a finished game: (item, points for Re)."""
    return scoring.sheet(*result(game, state))


def picture(game, state, seat, language="en"):
    """A position as SVG from a seat's point of view, at the bottom; -1: from seat 1's, with all hands visible."""
    return drawn(DoppelkopfDisplay(game, language), view_of(game, state, seat) if seat >= 0 else state, seat)


# ---------------------------------------------------------------- the table

WIDTH = 68
KEYS = {SILENT: "", CALL: "rk", CALL + 1: "9", CALL + 2: "6", CALL + 3: "3", CALL + 4: "s"}


class DoppelkopfDisplay(Display):
    """The table for interactive games: the seats around the trick, in English or German."""

    unit = "points"

    def word(self, english: str) -> str:
        return GERMAN.get(english, english) if self.language == "de" else english

    def card(self, kind: int) -> str:
        return (GERMAN_CARDS if self.language == "de" else NAMES)[kind]

    def rank_and_suit(self, kind: int) -> tuple[str, str]:
        return self.card(kind)[1:], self.card(kind)[0]

    def picture(self, state, seat):
        return picture(self.game, state, seat, self.language)

    def final_picture(self, state, seat):
        return drawn(self, state, seat)

    def who(self, seat: int, you: int) -> str:
        return self.word("you") if seat == you else f"{self.word('seat')} {seat + 1}"

    # ---------------------------------------------------------------- moves

    def action_to_string(self, state, action):
        return self.card(action) if action < KINDS else self.word(action_to_string(state, action).replace("-", " "))

    def describe_observed(self, before, action, after):
        """An announcement of Re or Kontra reveals the party."""
        if action == CALL:
            return PARTIES[int(after.call_side[int(before.to_move)])]
        return self.action_to_string(before, action)

    def moves(self, view):
        """Legal actions, with cards as they are sorted in the hand."""
        order = ORDER[int(view.type)].tolist()
        return sorted(
            legal_actions(self.game, view), key=lambda action: order.index(action) if action < KINDS else action
        )

    def parse_action(self, view, text):
        """A legal action; of several announcements at once (`Re, no 90`) the highest, which implies the others."""
        legal = self.moves(view)
        calls = parse_calls(view, text) if view.phase == ANNOUNCING else []
        return max(calls) if calls and set(calls) <= set(legal) else parse_action(self, view, text, legal)

    def parse_addition(self, before, action, text):
        """A second announcement before the next card: the higher of the two."""
        second = find_action(before, text)
        both = before.phase == ANNOUNCING and action >= CALL and second >= CALL
        return max(action, second) if both and second in legal_actions(self.game, before) else -1

    def keys(self, view):
        if view.phase != ANNOUNCING:
            return {}
        side = side_of(view, int(view.to_move))
        return {KEYS[action][side if action == CALL else 0 :][:1]: action for action in self.moves(view)}

    def planned_actions(self, view):
        return self.playable(view, int(view.to_move)) if view.phase == ANNOUNCING else []

    def parse_planned(self, view, text):
        """A player who is asked for an announcement may name a card instead: that is silence, then the card."""
        return SILENT if find_action(view, text) in self.planned_actions(view) else -1

    def forced_action(self, view):
        """Ask for an announcement only right before one's own card: deadlines depend on the cards that one holds, and
        waiting reveals more."""
        legal = legal_actions(self.game, view)
        if view.phase == ANNOUNCING and next_player(view) != view.to_move:
            return SILENT
        last = int(view.count) >> 2 == hand_size(self.game) - 1
        return legal[0] if len(legal) == 1 and (last or view.phase != CARDS) else -1

    def is_visible(self, view, action):
        return view.phase != DEAL and action != SILENT

    def playable(self, view, seat):
        """The kinds that a seat may play if it is next to play a card, also before its announcement; else none."""
        if view.phase not in (CARDS, ANNOUNCING) or next_player(view) != seat:
            return []
        now = view.copy()
        now.phase, now.to_move = CARDS, seat
        return legal_actions(self.game, now)

    # ---------------------------------------------------------------- positions

    def show(self, state, seat):
        if state.phase == DONE:
            return "\n".join([self.title(state, seat), *self.sheet(state, seat)])
        lines = [self.title(state, seat), *self.round_the_table(state, seat)]
        if state.count > 3:
            lines.append(f"{self.word('last trick')}: {self.last_trick(state, seat)}")
        return "\n".join([*lines, f"{self.word('your hand')}: {self.hand(state, seat)}"])

    def title(self, state, seat):
        if state.phase < CARDS:
            return self.word(headline(self.game, state))
        kind = self.word(TYPES[int(state.type)])
        if state.mode == MARRIAGE:
            kind = f"{self.word('marriage')}, {self.who(state.bride, seat)}"
            kind += f" {self.word('with')} {self.who(state.partner, seat)}" if state.partner >= 0 else ""
        elif state.mode == SOLO:
            kind += f", {self.who(state.soloist, seat)} {self.word('alone')}"
        if state.phase == DONE:
            return kind
        asked = f": {self.word('call or card?')}" if state.phase == ANNOUNCING and next_player(state) == seat else ""
        number = f"{(int(state.count) >> 2) + 1} {self.word('of')} {hand_size(self.game)}"
        return f"{kind}, {self.word('trick')} {number}{asked}"

    def label(self, state, who, seat):
        """A seat with what is publicly known of it, and the viewer's own party."""
        re, kontra = known_parties(state)
        facts, called, said = [self.who(who, seat)], int(state.call[who]), int(state.said[who])
        if (re | kontra) >> who & 1:
            facts.append(PARTIES[int(kontra >> who & 1)] + "!" * (called >= 0))
        elif who == seat and state.phase >= CARDS:
            facts.append(f"({PARTIES[side_of(state, who)]})")
        if state.phase < CARDS and said:
            facts.append(self.word("healthy" if said == HEALTHY else "reservation"))
            facts += [self.word("marriage")] if state.named[who] == NAMED_MARRIAGE else []
        facts += [self.word("pigs")] if state.pigs == who else []
        facts += [self.word(scoring.LEVELS[called])] if called > 0 else []
        return " ".join(facts) + (f", {state.points[who]}" if state.tricks[who] else "")

    def round_the_table(self, state, seat):
        """Five rows: the viewer at the bottom, the next seat on the left."""
        count = int(state.count)
        played = {int(state.leaders[i >> 2]) + i & 3: self.card(int(state.played[i])) for i in range(count & ~3, count)}
        cards = [played.get(seat + side & 3, "·" if state.phase >= CARDS else "") for side in range(4)]
        labels = [self.label(state, seat + side & 3, seat) for side in range(4)]
        middle = f"{cards[1]:>6}{'':10}{cards[3]:<6}"
        side = (WIDTH - len(middle)) // 2
        rows = [labels[2].center(WIDTH), cards[2].center(WIDTH), f"{labels[1]:<{side}}{middle}{labels[3]:>{side}}"]
        return [row.rstrip() for row in [*rows, cards[0].center(WIDTH), labels[0].center(WIDTH)]]

    def last_trick(self, state, seat):
        number = (int(state.count) >> 2) - 1
        leader = int(state.leaders[number])
        cards = " ".join(self.card(int(kind)) for kind in state.played[4 * number : 4 * number + 4])
        return f"{self.who(leader, seat)} {cards} {self.word('to')} {self.who(int(state.leaders[number + 1]), seat)}"

    def hand(self, state, seat):
        """A sorted hand; legal cards are in brackets if not all are legal."""
        legal, held = self.playable(state, seat), sorted_hand(state, seat)
        some = legal and not set(held) <= set(legal)
        return " ".join(f"[{self.card(kind)}]" if some and kind in legal else self.card(kind) for kind in held)

    def parties(self, state, seat):
        """One line per party: its seats, points and tricks."""
        re = known_parties(state)[0]
        points, tricks, others = result(self.game, state)[:3]
        lines = []
        for name, members, made, taken in (("Re", re, points, tricks), ("Kontra", 15 ^ re, 240 - points, others)):
            seats = ", ".join(self.who(who, seat) for who in range(4) if members >> who & 1)
            word = self.word("trick" if taken == 1 else "tricks")
            lines.append(f"{name} ({seats}): {made} {self.word('points')}, {taken} {word}")
        return lines

    def items(self, state):
        """The items of the score sheet with their points for Re, and their sum."""
        items = [(self.word(name), counted) for name, counted in sheet(self.game, state)]
        return [*items, (self.word("together"), sum(counted for _, counted in items))]

    def sheet(self, state, seat):
        """The result by party, the score sheet, and the score of each seat."""
        lines = [*self.parties(state, seat), *(f"  {name:<32}{counted:+4d}" for name, counted in self.items(state))]
        lines[-1] += f" {self.word('for')} Re"
        return [*lines, ", ".join(f"{self.who(who, seat)} {state.scores[who]:+d}" for who in range(4))]
