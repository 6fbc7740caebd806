"""A slow, obvious implementation of Doppelkopf, written from the rules and independent of `kibitz`.

A game is one generator: find the type of the game, ask for announcements, play the tricks, count. A move is a word of
a player: a card ("♥10"), "healthy", "♣ solo", "no 90".
"""

from collections.abc import Generator
from typing import NamedTuple

# ---------------------------------------------------------------- cards

SUITS = "♣♠♥♦"
RANKS = ["9", "J", "Q", "K", "10", "A"]
CARDS = [suit + rank for suit in SUITS for rank in RANKS]
POINTS = {card: {"9": 0, "J": 2, "Q": 3, "K": 4, "10": 10, "A": 11}[card[1:]] for card in CARDS}

QUEENS = ["♣Q", "♠Q", "♥Q", "♦Q"]  # high to low
JACKS = ["♣J", "♠J", "♥J", "♦J"]
PLAIN = ["A", "10", "K", "Q", "J", "9"]  # high to low, of cards that aren't trump

SOLOS = ["♣ solo", "♠ solo", "♥ solo", "♦ solo", "queens", "jacks", "fleischlos"]
LAYOUTS = ["normal", *SOLOS]


def trumps(layout: str) -> list[str]:
    """The trumps of a type of game, high to low."""
    if layout == "queens":
        return QUEENS
    if layout == "jacks":
        return JACKS
    if layout == "fleischlos":
        return []
    suit = "♦" if layout == "normal" else layout[0]
    low = [suit + rank for rank in ("A", "10", "K", "9")]
    return ["♥10", *QUEENS, *JACKS, *(card for card in low if card != "♥10")]


TRUMPS = {layout: trumps(layout) for layout in LAYOUTS}
SUIT = {layout: {card: "trump" if card in TRUMPS[layout] else card[0] for card in CARDS} for layout in LAYOUTS}


def beats(card: str, best: str, layout: str, second_ten: bool, pigs: bool = False) -> bool:
    """Whether a card beats the best one before it in a trick; the first of two equal cards wins."""
    if pigs and "♦A" in (card, best):
        return best != "♦A"
    trump, order = SUIT[layout], TRUMPS[layout]
    if trump[card] == "trump" and trump[best] == "trump":
        if card == best == "♥10":
            return second_ten
        return order.index(card) < order.index(best)
    if trump[card] == "trump" or trump[best] == "trump":
        return trump[card] == "trump"
    return card[0] == best[0] and PLAIN.index(card[1:]) < PLAIN.index(best[1:])


# ---------------------------------------------------------------- house rules

NEVER, ALWAYS, BUT_LAST = 0, 1, 2  # whether the second ♥10 of a trick beats the first


class Rules(NamedTuple):
    """Parameters with the names and defaults of `kibitz.doppelkopf.rules`: the tournament rules."""

    solos: bool = True
    calls: int = 2  # 0 none, 1 before one's own card, 2 all seats are asked after each card
    nines: bool = True
    second_ten: int = NEVER
    charlie_caught: bool = False
    against: bool = True
    pigs: bool = False  # both ♦A in one hand are the highest trumps
    owed: int = 0  # bit s: seat s owes a compulsory solo
    forced: int = -1  # seat that has to play it now


THESIS = Rules(solos=False, calls=0, charlie_caught=True, against=False)

# ---------------------------------------------------------------- announcements

CALLS = ["Re/Kontra", "no 90", "no 60", "no 30", "black"]
NOTHING = -1  # level of a party that has announced nothing
RE, KONTRA = "Re", "Kontra"
OTHER = {RE: KONTRA, KONTRA: RE}

# Moves in the order of the game's action numbers.
MOVES = [*CARDS, "healthy", "reservation", "-", *SOLOS, "marriage", "silent", *CALLS]
NUMBER = {move: number for number, move in enumerate(MOVES)}


# ---------------------------------------------------------------- counting


class Count(NamedTuple):
    """The facts of a finished game that determine its score."""

    points: dict[str, int]  # by party
    tricks: dict[str, int]
    level: dict[str, int]  # highest announcement, NOTHING to 4
    alone: bool  # one against three
    extras: tuple[tuple[str, str], ...] = ()  # (name, party) of each extra point


def wins(party: str, count: Count) -> bool:
    own, others = count.level[party], count.level[OTHER[party]]
    points, tricks = count.points[party], count.tricks[party]
    if own >= 1:  # it must fulfil its own announcement
        return (points >= 151, points >= 181, points >= 211, count.tricks[OTHER[party]] == 0)[own - 1]
    if others >= 1:  # it is enough that the others miss theirs
        return (points >= 90, points >= 60, points >= 30, tricks >= 1)[others - 1]
    only_kontra = count.level[KONTRA] >= 0 and count.level[RE] < 0
    if party == RE:
        return points >= (120 if only_kontra else 121)
    return points >= (121 if only_kontra else 120)


def grades(of: str, count: Count) -> list[str]:
    """The limits that a party missed: each is a point for the others."""
    points, tricks = count.points[of], count.tricks[of]
    missed = [f"under {limit}" for limit in (90, 60, 30) if points < limit]
    return [*missed, "no trick"] if tricks == 0 else missed


def score_sheet(count: Count, rules: Rules) -> list[tuple[str, str, int]]:
    """The lines of the score sheet: (item, party that gets it, points)."""
    sheet: list[tuple[str, str, int]] = []
    won = [party for party in (RE, KONTRA) if wins(party, count)]
    assert len(won) <= 1
    if won:
        (winner,) = won
        loser = OTHER[winner]
        sheet.append(("won", winner, 1))
        sheet += [(name, winner, 1) for name in grades(loser, count)]
        for party in (RE, KONTRA):  # the winner gets the points of both parties' announcements
            if count.level[party] >= 0:
                sheet.append((party, winner, 2))
            sheet += [(f"{party} said {CALLS[level]}", winner, 1) for level in range(1, count.level[party] + 1)]
    else:
        for party in (RE, KONTRA):
            sheet += [(name, party, 1) for name in grades(OTHER[party], count)]
    if rules.against:
        for party in (RE, KONTRA):
            for level, enough in ((1, 120), (2, 90), (3, 60), (4, 30)):
                if count.level[OTHER[party]] >= level and count.points[party] >= enough:
                    sheet.append((f"{enough} against {CALLS[level]}", party, 1))
    if not count.alone:
        if won == [KONTRA]:
            sheet.append(("against the queens of clubs", KONTRA, 1))
        sheet += [(name, party, 1) for name, party in count.extras]
    return sheet


def value_for_re(count: Count, rules: Rules) -> int:
    return sum(points if party == RE else -points for _, party, points in score_sheet(count, rules))


# ---------------------------------------------------------------- a game

Turn = tuple[int, list[str]]  # seat to move, and its legal moves


class Trick(NamedTuple):
    cards: list[tuple[int, str]]  # (seat, card), in order
    winner: int
    best: str


class Game:
    """A game from the dealt hands to the scores: `mover` is to move, `options` are legal, `move` plays one."""

    def __init__(self, rules: Rules, hands: list[list[str]]) -> None:
        self.rules = rules
        self.hands = [list(hand) for hand in hands]
        self.size = len(hands[0])
        self.both_queens = [hand.count("♣Q") == 2 for hand in hands]
        self.re = {seat for seat in range(4) if "♣Q" in hands[seat]}  # as dealt; a solo or a marriage changes it
        self.both_foxes = [hand.count("♦A") == 2 for hand in hands]
        self.pigs: int | None = None  # seat that has shown them
        self.layout = "normal"
        self.solo = False  # whether a solo is played
        self.bride: int | None = None
        self.settled = 1  # trick in which a marriage was settled; 0: not yet
        self.leader = 0
        self.tricks: list[Trick] = []
        self.trick: list[tuple[int, str]] = []  # the current one
        self.level = {RE: NOTHING, KONTRA: NOTHING}
        self.late = {RE: False, KONTRA: False}  # whether Re/Kontra was only a late reply
        self.shown: dict[int, str] = {}  # publicly known parties
        self.queens_seen = 0  # of clubs
        self._story = self._play()
        self.mover: int | None
        self.mover, self.options = next(self._story)

    def move(self, what: str) -> None:
        if what not in self.options:
            raise ValueError(f"seat {self.mover} can't {what!r}: {self.options}")
        try:
            self.mover, self.options = self._story.send(what)
        except StopIteration:
            self.mover, self.options = None, []

    def _play(self) -> Generator[Turn, str, None]:
        yield from self._find_the_type()
        if self.rules.calls == 2:
            yield from self._ask_all(self.leader)
        while self.hands[self.leader]:
            self.trick = []
            for place in range(4):
                seat = (self.leader + place) % 4
                if self.rules.calls == 1:
                    yield from self._ask(seat)
                card = yield seat, self.playable(seat)
                self.hands[seat].remove(card)
                self.trick.append((seat, card))
                self._see(seat, card)
                if place == 3:
                    self._take()
                if self.rules.calls == 2:
                    yield from self._ask_all(self.leader if place == 3 else (seat + 1) % 4)

    # ------------------------------------------------------------ the type of the game

    def _find_the_type(self) -> Generator[Turn, str, None]:
        if self.rules.forced >= 0:
            named = yield self.rules.forced, SOLOS
            self._solo(self.rules.forced, named)
            return
        reserved = []
        for seat in range(4):
            something = self.rules.solos or self.both_queens[seat]
            said = yield seat, ["healthy", "reservation"] if something else ["healthy"]
            if said == "reservation":
                reserved.append(seat)
        reserved.sort(key=lambda seat: not self.owes(seat))  # compulsory solos first, then the earlier seat
        for seat in reserved:
            could = list(SOLOS) if self.rules.solos else []
            named = yield seat, [*could, "marriage"] if self.both_queens[seat] else could
            if named != "marriage":
                self._solo(seat, named)
                return
            self.bride = seat
        if self.bride is not None:
            self.re = {self.bride}
            self.settled = 0
            self.shown[self.bride] = RE

    def owes(self, seat: int) -> bool:
        return bool(self.rules.owed >> seat & 1) or seat == self.rules.forced

    def _solo(self, seat: int, named: str) -> None:
        self.layout, self.solo, self.bride, self.re = named, True, None, {seat}
        self.shown = {other: self.party(other) for other in range(4)}
        if self.owes(seat):
            self.leader = seat

    # ------------------------------------------------------------ cards

    def playable(self, seat: int) -> list[str]:
        """Legal cards: follow suit (trump is one), else anything."""
        suit = SUIT[self.layout]
        hand = list(dict.fromkeys(self.hands[seat]))
        if self.trick:
            led = suit[self.trick[0][1]]
            follow = [card for card in hand if suit[card] == led]
            if follow:
                return follow
        return hand

    def _see(self, seat: int, card: str) -> None:
        """Public information of a card: a ♣Q shows a player of Re, the first of two ♦A shows pigs."""
        if card == "♦A" and self.rules.pigs and self.layout in ("normal", "♦ solo") and self.both_foxes[seat]:
            self.pigs = seat
        if card == "♣Q" and not self.solo and self.bride is None:
            self.shown[seat] = RE
            self.queens_seen += 1
            self._conclude()

    def _conclude(self) -> None:
        """Parties known by elimination: after two Re players, after both ♣Q, after three Kontra players."""
        re = [seat for seat, party in self.shown.items() if party == RE]
        kontra = [seat for seat, party in self.shown.items() if party == KONTRA]
        if len(re) == 2 or self.queens_seen == 2:
            rest = KONTRA
        elif len(kontra) == 3:
            rest = RE
        else:
            return
        for seat in range(4):
            self.shown.setdefault(seat, rest)

    def _take(self) -> None:
        """Finish a trick: its winner leads the next one, and may become the bride's partner."""
        last = len(self.hands[self.leader]) == 0
        second_ten = self.rules.second_ten == ALWAYS or (self.rules.second_ten == BUT_LAST and not last)
        winner, best = self.trick[0]
        for seat, card in self.trick[1:]:
            if beats(card, best, self.layout, second_ten, self.pigs is not None):
                winner, best = seat, card
        self.tricks.append(Trick(self.trick, winner, best))
        self.trick = []
        self.leader = winner
        if self.bride is not None and self.settled == 0 and (winner != self.bride or len(self.tricks) == 3):
            self.re = {self.bride, winner}
            self.settled = len(self.tricks)
            self.shown = {seat: self.party(seat) for seat in range(4)}

    # ------------------------------------------------------------ announcements

    def party(self, seat: int) -> str:
        return RE if seat in self.re else KONTRA

    def needs(self, level: int) -> int:
        """Cards that a seat must still hold to announce a level: one fewer for each level.

        11, 10, 9, 8, 7 with twelve cards. A marriage that is settled later shifts all deadlines by as many tricks.
        """
        return self.size - 1 - level - (self.settled - 1)

    def may_call(self, seat: int, party: str) -> list[str]:
        """Legal announcements of a seat if it is of this party."""
        if self.settled == 0:
            return []
        cards, own, others = len(self.hands[seat]), self.level[party], self.level[OTHER[party]]
        if own == NOTHING and others != NOTHING and self.needs(others) - 1 <= cards < self.needs(0):
            return [CALLS[0]]  # a late reply
        if self.late[party]:
            return []
        calls = []
        for level in range(own + 1, 5):  # skipped levels have to be in time, too
            if cards < self.needs(level):
                break
            calls.append(CALLS[level])
        return calls

    def might_call(self, seat: int) -> bool:
        """Whether a seat is asked: only public information counts, so that it reveals no party."""
        parties = [self.shown[seat]] if seat in self.shown else [RE, KONTRA]
        return any(self.may_call(seat, party) for party in parties)

    def _ask(self, seat: int) -> Generator[Turn, str, bool]:
        """Ask a seat for an announcement; returns whether it made one."""
        if not self.might_call(seat):
            return False
        party = self.party(seat)
        said = yield seat, ["silent", *self.may_call(seat, party)]
        if said == "silent":
            return False
        if len(self.hands[seat]) < self.needs(0) and self.level[party] == NOTHING:
            self.late[party] = True
        self.level[party] = CALLS.index(said)
        self.shown[seat] = party
        self._conclude()
        return True

    def _ask_all(self, first: int) -> Generator[Turn, str, None]:
        """Ask all seats in turn; after an announcement all others are asked again."""
        waiting = [(first + step) % 4 for step in range(4)]
        while waiting:
            seat = waiting.pop(0)
            called = yield from self._ask(seat)
            if called:
                waiting = [(seat + step) % 4 for step in range(1, 4)]

    # ------------------------------------------------------------ the end

    @property
    def alone(self) -> bool:
        """One player against three: a solo, a silent marriage, or a bride without a partner."""
        return len(self.re) == 1

    def count(self) -> Count:
        points, tricks = {RE: 0, KONTRA: 0}, {RE: 0, KONTRA: 0}
        for trick in self.tricks:
            points[self.party(trick.winner)] += sum(POINTS[card] for _, card in trick.cards)
            tricks[self.party(trick.winner)] += 1
        return Count(points, tricks, dict(self.level), self.alone, tuple(self.extras()))

    def extras(self) -> list[tuple[str, str]]:
        """Extra points of tricks: (name, party that gets it)."""
        found = []
        for trick in self.tricks:
            winner = self.party(trick.winner)
            if sum(POINTS[card] for _, card in trick.cards) >= 40:
                found.append(("a trick of 40", winner))
            for seat, card in trick.cards:
                if card == "♦A" and self.party(seat) != winner:
                    found.append(("a fox caught", winner))
        last = self.tricks[-1]
        winner = self.party(last.winner)
        if last.best == "♣J":
            found.append(("♣J takes the last trick", winner))
        if self.rules.charlie_caught:
            for seat, card in last.cards:
                if card == "♣J" and self.party(seat) != winner:
                    found.append(("♣J caught in the last trick", winner))
        return found

    def scores(self) -> list[int]:
        value = value_for_re(self.count(), self.rules)
        return [(3 * value if self.alone else value) if seat in self.re else -value for seat in range(4)]


# ---------------------------------------------------------------- consistency with evidence


class Step(NamedTuple):
    """A move with the public information after it."""

    seat: int
    move: str
    shown: dict[int, str]  # known parties: an announcement reveals one
    pigs: int | None  # seat that has shown them


def story(rules: Rules, hands: list[list[str]], moves: list[tuple[int, str]]) -> list[Step]:
    game, steps = Game(rules, hands), []
    for seat, move in moves:
        assert game.mover == seat
        game.move(move)
        steps.append(Step(seat, move, dict(game.shown), game.pigs))
    return steps


def could_be(rules: Rules, hands: list[list[str]], steps: list[Step]) -> bool:
    """Whether the public history is consistent with these hands. As long as it is, the same seats are asked."""
    game = Game(rules, hands)
    for seat, move, shown, pigs in steps:
        assert game.mover == seat, "whose turn it is reveals something"
        if move not in game.options:
            return False
        game.move(move)
        if game.shown != shown or game.pigs != pigs:
            return False
    return True
