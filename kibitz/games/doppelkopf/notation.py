"""Games as people write them down, and what is wrong with those that can't have been played.

    game 0 of doppelkopf, seed 1
    seat 1, random: ♥10 ♣Q ♦A ...                        hands as dealt
    ...
    reservations: 1 healthy, 2 reservation, 3 healthy, 4 healthy
    named: 2 marriage
    trick 1: 1 ♣A, 2 ♣10, 3 ♣9, 4 ♦10; 4 takes 31
    trick 2: 4 ♠A, 2 says Kontra, 1 ♠9, ...              a call stands where it was made
    ...
    Re: 1 and 3 with 130 in 7 tricks
    sheet: won +1, fox caught -1
    scores: +0 +0 +0 +0

Who was silent when asked isn't written. What follows from the rest (who takes a trick, and the last three lines) may
be left out; what is there is checked. Cards and words are understood in German, too. A blank line ends a game.
"""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ...core.names import BadInput
from ...jit import kernel
from .. import full_name, load
from ..game import OVER, SCRATCH, legal_actions, positions
from . import Doppelkopf
from .announcements import CALL, LEVELS, SILENT, side_of
from .cards import BITS, CLASS, DECKS, KINDS, NAMES, POINTS, SUITS, TRUMP, WORDS, plain
from .cards import cards as name_cards
from .state import ASK, CARDS, DEAL, NAME, SAY, cards_left, hand_size, known_parties
from .text import PARTIES, SAYS, UNDERSTOOD, sheet, spell
from .text import read as understand
from .tricks import result


class Transcript(NamedTuple):
    number: int
    game: str
    players: list[str]  # by seat
    seed: int
    actions: list[int]  # chance included
    end: Any  # the last position


# ---------------------------------------------------------------- moves that can't be


def times(count: int) -> str:
    return {0: "never", 1: "once", 2: "twice"}.get(count, f"{count} times")


def check_deck(kinds: list[int], nines: bool) -> None:
    """That each card of the deck is there twice. A card too many is told before one that is missing."""
    over = {kind: kinds.count(kind) - (int(DECKS[int(nines)]) >> 2 * kind & 3) for kind in range(KINDS)}
    worst = max(over, key=lambda kind: (over[kind] > 0, over[kind] != 0))
    if over[worst]:
        count = kinds.count(worst)
        raise BadInput(f"{NAMES[worst]} is there {times(count)}, not {times(count - over[worst])}")


def dealt(hands: list[list[int]]) -> list[int]:
    """The actions that deal these hands."""
    return [kind for hand in hands for kind in sorted(hand)]


def play(game: Any, state: Any, action: int) -> None:
    """Play an action, or say why it can't be."""
    if game.turn(state) == OVER or action not in legal_actions(game, state):
        raise BadInput(wrong(game, state, action))
    game.play(state, action)


def wrong(game: Any, state: Any, action: int) -> str:
    """Why an action can't be played here."""
    if game.turn(state) == OVER:
        return "the game is over, and goes on"
    card = 0 <= action < KINDS
    word = NAMES[action] if card else SAYS[action][0] if action in SAYS else f"action {action}"
    phase, seat = int(state.phase), int(state.to_move)
    if phase == DEAL:
        return f"{word} can't be dealt: both are" if card else f"{word} can't be, while cards are dealt"
    who = f"seat {seat + 1}"
    if action == CALL:
        word = spell(state, action)
    if phase != CARDS or not card:
        if CALL <= action < CALL + LEVELS:
            held = cards_left(game, state, seat)
            return f"{who} may not say {word}: it has {held} cards, so that is too late, or it was said"
        return f"{who} can't play {word}: {_wanted(phase)}" if card else f"{who} can't say {word}: {_wanted(phase)}"
    held = int(state.hands[seat])
    if not held >> 2 * action & 3:
        return f"{who} plays {word}, which it doesn't hold: {name_cards(held, int(state.type))}"
    led = int(CLASS[int(state.type), int(state.played[int(state.count) & ~3])])
    had = name_cards(held & int(BITS[int(state.type), led]), int(state.type))
    return f"{who} revokes: {'trump' if led == TRUMP else SUITS[led]} was led, it plays {word}, and holds {had}"


def _wanted(phase: int) -> str:
    words = {SAY: "it should say whether it has a reservation", NAME: "it should name its reservation"}
    return (words | {CARDS: "it should play a card", ASK: "it should say whether it calls something"})[phase]


def walk(game: Any, actions: list[int], compiled: bool = False) -> Any:
    """The last position of a game, or what is wrong with it. To compile the rules first pays for a thousand games."""
    state = positions(game)[0]
    known = compiled and all(0 <= action < CALL + LEVELS for action in actions)
    if known and play_all(game, np.array(actions, np.int64), state, np.empty(SCRATCH, np.int64)):
        return state
    game.start(state)
    for ply, action in enumerate(actions):
        try:
            play(game, state, action)
        except BadInput as error:
            where = f"card {state.count + 1}" if state.phase == CARDS else f"action {ply + 1}"
            raise BadInput(f"{where}: {error}") from None
    if game.turn(state) != OVER:
        raise BadInput(f"it breaks off after {state.count} of {4 * hand_size(game)} cards")
    return state


@kernel
def play_all(game, actions, state, legal):
    """Whether these are all the actions of a game, and legal."""
    for action in actions:
        found = False
        if game.turn(state) != OVER:
            for i in range(game.actions(state, legal)):
                found |= legal[i] == action
        if not found:
            return False
        game.play(state, action)
    return game.turn(state) == OVER


# ---------------------------------------------------------------- writing


def write(number: int, game_name: str, players: list[str], seed: int, actions: list[int]) -> str:
    """A game that is over, with a newline behind its last line."""
    game: Any = load(game_name)
    size = hand_size(game)
    lines = [f"game {number} of {full_name(game)}, seed {seed}"]
    state = positions(game)[0]
    for action in actions[: 4 * size]:
        game.play(state, action)
    for seat, name in enumerate(players):
        lines.append(f"seat {seat + 1}, {' '.join(name.split())}: {name_cards(state.hands[seat])}")
    heads: dict[str, list[str]] = {}
    for action in actions[4 * size :]:
        phase, seat, trick = int(state.phase), int(state.to_move), int(state.count) >> 2
        head = {SAY: "reservations", NAME: "named"}.get(phase, f"trick {trick + 1}")
        word = f"says {spell(state, action)}" if phase == ASK else spell(state, action)
        game.play(state, action)
        if action != SILENT:
            heads.setdefault(head, []).append(f"{seat + 1} {word}")
        if phase == CARDS and state.count & 3 == 0:
            heads[head][-1] += f"; {taken(state, trick)}"
    lines += [f"{head}: {', '.join(moves)}" for head, moves in heads.items()]
    lines += [f"{head}: {text}" for head, text in summary(game, state).items()]
    return "\n".join(lines) + "\n"


def taken(state: Any, trick: int) -> str:
    worth = sum(int(POINTS[int(kind)]) for kind in state.played[4 * trick : 4 * trick + 4])
    return f"{state.leaders[trick + 1] + 1} takes {worth}"


def summary(game: Any, end: Any) -> dict[str, str]:
    """The last lines."""
    points, tricks, *_ = result(game, end)
    re_seats = [str(seat + 1) for seat in range(4) if known_parties(end)[0] >> seat & 1]
    return {
        "Re": f"{' and '.join(re_seats)} with {points} in {tricks} tricks",
        "sheet": ", ".join(f"{name} {worth:+d}" for name, worth in sheet(game, end)) or "nothing",
        "scores": " ".join(f"{score:+d}" for score in end.scores),
    }


# ---------------------------------------------------------------- reading


def read(text: str) -> Iterator[Transcript]:
    """The games of a text. What is wrong is told with its line."""
    block: list[tuple[int, str]] = []
    for number, line in enumerate([*text.splitlines(), ""]):
        if line.strip():
            block.append((number + 1, line.strip()))
        elif block:
            yield Reading(block).transcript
            block = []


class Reading:
    """One game, line by line."""

    def __init__(self, block: list[tuple[int, str]]) -> None:
        self.actions: list[int] = []
        for self.line, text in block:
            try:
                if self.line == block[0][0]:
                    self.begin(text)
                elif len(self.players) < 4:
                    self.deal(text)
                else:
                    self.go_on(text)
            except BadInput as error:
                raise BadInput(f"line {self.line}: {error}") from None
        if len(self.players) < 4 or self.game.turn(self.state) != OVER:
            cards = f"{self.state.count} of {4 * self.size} cards" if len(self.players) == 4 else "its head"
            raise BadInput(f"line {self.line}: the game breaks off after {cards}")
        self.transcript = Transcript(
            self.number, full_name(self.game), self.players, self.seed, self.actions, self.state
        )

    def begin(self, text: str) -> None:
        found = re.fullmatch(r"game (-?\d+) of (\S+), seed (-?\d+)", text)
        if not found:
            raise BadInput(f"{text!r} should read: game 0 of doppelkopf, seed 1")
        self.number, self.seed, self.game = int(found[1]), int(found[3]), check_game(load(found[2]))
        self.size = hand_size(self.game)
        self.players: list[str] = []
        self.hands: list[list[int]] = []
        self.state = positions(self.game)[0]

    def deal(self, text: str) -> None:
        seat = len(self.players) + 1
        found = re.fullmatch(r"seat (\d), (.*): ([^:]*)", text)
        if not found or int(found[1]) != seat:
            raise BadInput(f"{text!r} should be the hand of seat {seat}: seat {seat}, NAME: ♥10 ♣Q ...")
        words = found[3].split()
        for word in words:
            if plain(word) not in WORDS:
                raise BadInput(f"{word!r} is no card, such as ♣Q or ♥10")
        if len(words) != self.size:
            raise BadInput(f"{len(words)} cards in the hand, not {self.size}")
        self.players.append(found[2])
        self.hands.append([WORDS[plain(word)] for word in words])
        held = Counter(kind for hand in self.hands for kind in hand)
        for kind, count in held.items():
            if count > 2:
                raise BadInput(f"{NAMES[kind]} is dealt {times(count)}, not twice")
        if seat == 4:
            check_deck(list(held.elements()), self.game.nines)
            for kind in dealt(self.hands):
                self.play(kind)

    def go_on(self, text: str) -> None:
        head, colon, rest = (part.strip() for part in text.partition(":"))
        if not colon:
            raise BadInput(f"{text!r} should be what was said or played, such as trick 1: 1 ♣A, 2 ♣9, 3 ♣K, 4 ♣10")
        if self.game.turn(self.state) == OVER:
            expected = summary(self.game, self.state)
            if head not in expected:
                raise BadInput(f"the game is over, and goes on with {text!r}")
            if rest != expected[head]:
                raise BadInput(f"{head}: {rest} should be {expected[head]}")
            return
        trick = int(self.state.count) >> 2
        known = ("reservations", "named") if self.state.phase in (SAY, NAME) else (f"trick {trick + 1}",)
        if head not in known:
            raise BadInput(f"{head!r} stands where {' or '.join(known)} should")
        moves, semicolon, takes = (part.strip() for part in rest.partition(";"))
        for move in moves.split(","):
            self.move(move.strip())
        if semicolon:
            if int(self.state.count) != 4 * trick + 4:
                raise BadInput(f"{int(self.state.count) - 4 * trick} cards in trick {trick + 1}, not 4")
            if takes != taken(self.state, trick):
                raise BadInput(f"{takes!r} should be {taken(self.state, trick)!r}")

    def move(self, text: str) -> None:
        """`2 ♣10`, `2 says no 90`."""
        found = re.fullmatch(r"([1-4]) (says |sagt )?(.+)", text)
        if not found:
            raise BadInput(f"{text!r} should be a seat and what it does, such as 2 ♣10 or 2 says no 90")
        seat, calls, word = int(found[1]) - 1, bool(found[2]), found[3]
        if plain(word) not in UNDERSTOOD:
            raise BadInput(f"{word!r} is no card and nothing that is said")
        while self.state.phase == ASK and not (calls and self.state.to_move == seat):
            self.play(SILENT)
        if self.game.turn(self.state) == OVER:
            raise BadInput(f"the game is over, and goes on with {text!r}")
        action = UNDERSTOOD[plain(word)]
        if calls and self.state.phase != ASK:
            held = cards_left(self.game, self.state, seat)
            raise BadInput(
                f"seat {seat + 1} may not say {word} here: it has {held} cards, so that is too late, or too early"
            )
        if self.state.to_move != seat:
            raise BadInput(f"it is the turn of seat {self.state.to_move + 1}, not of seat {seat + 1} with {word}")
        if action == CALL and understand(self.state, word) < 0:
            raise BadInput(f"seat {seat + 1} says {word}, but it is {PARTIES[side_of(self.state, seat)]}")
        self.play(action)

    def play(self, action: int) -> None:
        play(self.game, self.state, action)
        self.actions.append(action)


def check_game(game: Any) -> Any:
    if not isinstance(game, Doppelkopf):
        raise BadInput(f"{full_name(game)} has no such records: only doppelkopf has")
    return game
