"""Doppelkopf at a table with people: who sits where, the trick between them, and words in English or German."""

from ...core.names import BadInput
from ..display import Display
from ..game import legal_actions
from . import text
from .announcements import CALL, SILENT, side_of
from .cards import GERMAN as GERMAN_CARDS
from .cards import KINDS, NAMES, ORDER, TYPES
from .scoring import LEVELS
from .state import (
    ASK,
    CARDS,
    DEAL,
    DONE,
    HEALTHY,
    MARRIAGE,
    NAMED_MARRIAGE,
    SOLO,
    hand_size,
    known_parties,
    next_player,
)
from .tricks import result

WIDTH = 68
GERMAN = {
    "seat": "Platz", "you": "du", "trick": "Stich", "tricks": "Stiche", "points": "Punkte", "of": "von", "to": "an",
    "with": "mit", "alone": "allein", "for": "für", "together": "zusammen", "last trick": "letzter Stich",
    "your hand": "deine Hand", "who has a reservation?": "Vorbehalte?", "which game?": "Welches Spiel?",
    "call or card?": "Ansage oder Karte?",
    "normal game": "Normalspiel", "♣ solo": "♣-Solo", "♠ solo": "♠-Solo", "♥ solo": "♥-Solo", "♦ solo": "♦-Solo",
    "queens solo": "Damensolo", "jacks solo": "Bubensolo", "marriage": "Hochzeit", "healthy": "gesund",
    "reservation": "Vorbehalt", "silent": "still", "no 90": "keine 90", "no 60": "keine 60", "no 30": "keine 30",
    "black": "schwarz", "won": "gewonnen", "under 90": "unter 90", "under 60": "unter 60", "under 30": "unter 30",
    "without a trick": "ohne Stich", "refused": "abgesagt", "120 against no 90": "120 gegen keine 90",
    "90 against no 60": "90 gegen keine 60", "60 against no 30": "60 gegen keine 30",
    "30 against black": "30 gegen schwarz", "against the queens of clubs": "gegen die Alten",
    "trick of 40": "Doppelkopf", "fox caught": "Fuchs gefangen", "♣J took the last trick": "Karlchen",
    "♣J caught in the last trick": "Karlchen gefangen", "pigs": "Schweine",
}  # fmt: skip
KEYS = {SILENT: "", CALL: "rk", CALL + 1: "9", CALL + 2: "6", CALL + 3: "3", CALL + 4: "s"}


class DoppelkopfDisplay(Display):
    languages = ("en", "de")

    def word(self, english: str) -> str:
        return GERMAN.get(english, english) if self.language == "de" else english

    def card(self, kind: int) -> str:
        return (GERMAN_CARDS if self.language == "de" else NAMES)[kind]

    def who(self, seat: int, you: int) -> str:
        return self.word("you") if seat == you else f"{self.word('seat')} {seat + 1}"

    # ---------------------------------------------------------------- moves

    def action_to_string(self, state, action):
        return self.card(action) if action < KINDS else self.word(text.spell(state, action).replace("-", " "))

    def heard(self, before, action, after):
        """Who calls Re or Kontra tells which by that."""
        if action == CALL:
            return text.PARTIES[int(after.call_side[int(before.to_move)])]
        return self.action_to_string(before, action)

    def moves(self, view):
        held = ORDER[int(view.type)].tolist()
        return sorted(
            legal_actions(self.game, view), key=lambda action: held.index(action) if action < KINDS else action
        )

    def parse_action(self, view, said):
        action = text.read(view, said)
        if action not in self.moves(view):
            words = ", ".join(self.action_to_string(view, action) for action in self.moves(view))
            raise BadInput(f"{said.strip()!r} is no move here: {words}")
        return action

    def keys(self, view):
        if view.phase != ASK:
            return {}
        side = side_of(view, int(view.to_move))
        return {KEYS[action][side if action == CALL else 0 :][:1]: action for action in self.moves(view)}

    def ahead(self, view, said):
        """Who is asked for a call may as well play: the call is passed."""
        if view.phase != ASK:
            return -1
        return SILENT if text.read(view, said) in self.playable(view, int(view.to_move)) else -1

    def unasked(self, view):
        """A call can wait for the own turn: what one may say depends on the own cards, and more is seen by then."""
        legal = legal_actions(self.game, view)
        if view.phase == ASK and next_player(view) != view.to_move:
            return SILENT
        last = int(view.count) >> 2 == hand_size(self.game) - 1
        return legal[0] if len(legal) == 1 and (last or view.phase != CARDS) else -1

    def tells(self, view, action):
        return view.phase != DEAL and action != SILENT

    def playable(self, view, seat):
        """Kinds, where it is the seat's turn to play or to call before it does."""
        if view.phase not in (CARDS, ASK) or next_player(view) != seat:
            return []
        now = view.copy()
        now.phase, now.to_move = CARDS, seat
        return legal_actions(self.game, now)

    # ---------------------------------------------------------------- pictures

    def show(self, state, seat):
        if state.phase == DONE:
            return "\n".join([self.title(state, seat), *self.sheet(state, seat)])
        lines = [self.title(state, seat), *self.round_the_table(state, seat)]
        if state.count > 3:
            lines.append(f"{self.word('last trick')}: {self.last_trick(state, seat)}")
        return "\n".join([*lines, f"{self.word('your hand')}: {self.hand(state, seat)}"])

    def title(self, state, seat):
        if state.phase < CARDS:
            return self.word(text.headline(self.game, state))
        kind = self.word(TYPES[int(state.type)])
        if state.mode == MARRIAGE:
            kind = f"{self.word('marriage')}, {self.who(state.bride, seat)}"
            kind += f" {self.word('with')} {self.who(state.partner, seat)}" if state.partner >= 0 else ""
        elif state.mode == SOLO:
            kind += f", {self.who(state.soloist, seat)} {self.word('alone')}"
        if state.phase == DONE:
            return kind
        asked = f": {self.word('call or card?')}" if state.phase == ASK and next_player(state) == seat else ""
        number = f"{(int(state.count) >> 2) + 1} {self.word('of')} {hand_size(self.game)}"
        return f"{kind}, {self.word('trick')} {number}{asked}"

    def label(self, state, who, seat):
        """A seat with all that the others know of it; the own party too."""
        re, kontra = known_parties(state)
        facts, called, said = [self.who(who, seat)], int(state.call[who]), int(state.said[who])
        if (re | kontra) >> who & 1:
            facts.append(text.PARTIES[int(kontra >> who & 1)] + "!" * (called >= 0))
        elif who == seat and state.phase >= CARDS:
            facts.append(f"({text.PARTIES[side_of(state, who)]})")
        if state.phase < CARDS and said:
            facts.append(self.word("healthy" if said == HEALTHY else "reservation"))
            facts += [self.word("marriage")] if state.named[who] == NAMED_MARRIAGE else []
        facts += [self.word("pigs")] if state.pigs == who else []
        facts += [self.word(LEVELS[called])] if called > 0 else []
        return " ".join(facts) + (f", {state.points[who]}" if state.tricks[who] else "")

    def round_the_table(self, state, seat):
        """The seat below, the next one at its left."""
        count = int(state.count)
        lain = {int(state.leaders[i >> 2]) + i & 3: self.card(int(state.played[i])) for i in range(count & ~3, count)}
        cards = [lain.get(seat + side & 3, "·" if state.phase >= CARDS else "") for side in range(4)]
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
        """As players sort it. In brackets what may be played, where not all may."""
        may, hand = self.playable(state, seat), int(state.hands[seat])
        held = [int(kind) for kind in ORDER[int(state.type)] for _ in range(hand >> 2 * int(kind) & 3)]
        some = may and not set(held) <= set(may)
        return " ".join(f"[{self.card(kind)}]" if some and kind in may else self.card(kind) for kind in held)

    def sheet(self, state, seat):
        """What counted, and for whom."""
        re = known_parties(state)[0]
        points, tricks, others = result(self.game, state)[:3]
        lines = []
        for name, members, made, taken in (("Re", re, points, tricks), ("Kontra", 15 ^ re, 240 - points, others)):
            seats = ", ".join(self.who(who, seat) for who in range(4) if members >> who & 1)
            word = self.word("trick" if taken == 1 else "tricks")
            lines.append(f"{name} ({seats}): {made} {self.word('points')}, {taken} {word}")
        items = [(self.word(name), worth) for name, worth in text.sheet(self.game, state)]
        items.append((self.word("together"), sum(worth for _, worth in items)))
        lines += [f"  {name:<32}{worth:+4d}" for name, worth in items]
        lines[-1] += f" {self.word('for')} Re"
        return [*lines, ", ".join(f"{self.who(who, seat)} {state.scores[who]:+d}" for who in range(4))]
