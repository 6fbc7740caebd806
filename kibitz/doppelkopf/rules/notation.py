"""Records of games as readable text, with precise errors for games that can't have been played.

    game 1 of doppelkopf, seed 1
    seat 1, random: ♥10 ♣Q ♦A ...                        hands as dealt
    ...
    reservations: 1 healthy, 2 reservation, 3 healthy, 4 healthy
    named: 2 marriage
    trick 1: 1 ♣A, 2 ♣10, 3 ♣9, 4 ♦10; 4 takes 31
    trick 2: 4 ♠A, 2 says Kontra, 1 ♠9, ...              an announcement is written where it was made
    ...
    Re: 1 and 3 with 130 in 7 tricks
    sheet: won +1, fox caught -1
    scores: +0 +0 +0 +0

Silence isn't written. Redundant parts (the winner of a trick, the last three lines) may be left out, and are checked
where they are present. Several announcements of one seat in a row (`2 says Re, 2 says no 90`, in any order) are the
highest of them, which implies the others. Cards and words may be German (see `german`). A blank line ends a game.
"""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ...core.names import BadInput, whole
from ...games import full_name, load_stored
from ...games.game import OVER, SCRATCH, legal_actions, positions
from ...games.record_files import play_all
from . import Doppelkopf
from .announcements import CALL, LEVELS, SILENT, side_of
from .cards import BITS, CLASS, DECKS, KINDS, NAMES, POINTS, SUITS, TRUMP, WORDS, hand_to_string, normalized
from .display import ACTIONS, PARTIES, SPELLINGS, action_to_string, find_action, sheet
from .german import to_english
from .state import ANNOUNCING, CARDS, DEAL, NAMING, RESERVING, cards_left, hand_size, known_parties
from .tricks import result


class Transcript(NamedTuple):
    """One game as it was read."""

    number: int
    game: str
    players: list[str]  # by seat
    seed: int
    actions: list[int]  # chance included
    end: Any  # the last position


# ---------------------------------------------------------------- illegal moves


def times(count: int) -> str:
    return {0: "never", 1: "once", 2: "twice"}.get(count, f"{count} times")


def check_deck(kinds: list[int], nines: bool) -> None:
    """Check that each card of the deck is there twice; a surplus card is reported before a missing one."""
    over = {kind: kinds.count(kind) - (int(DECKS[int(nines)]) >> 2 * kind & 3) for kind in range(KINDS)}
    worst = max(over, key=lambda kind: (over[kind] > 0, over[kind] != 0))
    if over[worst]:
        count = kinds.count(worst)
        raise BadInput(f"{NAMES[worst]} occurs {times(count)}, not {times(count - over[worst])}")


def dealing_actions(hands: list[list[int]]) -> list[int]:
    """The actions that deal these hands."""
    return [kind for hand in hands for kind in sorted(hand)]


def play(game: Any, state: Any, action: int) -> None:
    """Play an action, or raise BadInput with the reason why it is illegal."""
    if game.turn(state) == OVER or action not in legal_actions(game, state):
        raise BadInput(why_illegal(game, state, action))
    game.play(state, action)


def why_illegal(game: Any, state: Any, action: int) -> str:
    """The reason why an action is illegal."""
    if game.turn(state) == OVER:
        return "there are more actions after the end of the game"
    card = 0 <= action < KINDS
    word = NAMES[action] if card else SPELLINGS[action][0] if action in SPELLINGS else f"action {action}"
    phase, seat = int(state.phase), int(state.to_move)
    if phase == DEAL:
        return f"{word} can't be dealt a third time" if card else f"{word} is impossible while cards are dealt"
    who = f"seat {seat + 1}"
    if action == CALL:
        word = action_to_string(state, action)
    if phase != CARDS or not card:
        if CALL <= action < CALL + LEVELS:
            held = cards_left(game, state, seat)
            return f"{who} may not announce {word}: with {held} cards left it is too late, or it was announced before"
        return f"{who} can't play {word}: {_wanted(phase)}" if card else f"{who} can't say {word}: {_wanted(phase)}"
    held = int(state.hands[seat])
    if not held >> 2 * action & 3:
        return f"{who} plays {word}, which it doesn't hold: {hand_to_string(held, int(state.type))}"
    led = int(CLASS[int(state.type), int(state.played[int(state.count) & ~3])])
    had = hand_to_string(held & int(BITS[int(state.type), led]), int(state.type))
    return f"{who} revokes: {'trump' if led == TRUMP else SUITS[led]} was led, it plays {word}, and holds {had}"


def _wanted(phase: int) -> str:
    """The kind of move that is due in a phase."""
    return {
        RESERVING: "it should say whether it has a reservation",
        NAMING: "it should name its reservation",
        CARDS: "it should play a card",
        ANNOUNCING: "it should make an announcement or stay silent",
    }[phase]


def replay(game: Any, actions: list[int], compiled: bool = False) -> Any:
    """The last position of a game, or BadInput with what is wrong. Compiling the rules pays from 1,000 games on."""
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
        raise BadInput(f"the game ends after {state.count} of {4 * hand_size(game)} cards")
    return state


# ---------------------------------------------------------------- writing


def write(number: int, game_name: str, players: list[str], seed: int, actions: list[int]) -> str:
    """A finished game as text, with a newline after the last line."""
    game: Any = load_stored(game_name)
    size = hand_size(game)
    lines = [f"game {number + 1} of {full_name(game)}, seed {seed}"]
    state = positions(game)[0]
    for action in actions[: 4 * size]:
        game.play(state, action)
    for seat, name in enumerate(players):
        lines.append(f"seat {seat + 1}, {' '.join(name.split())}: {hand_to_string(state.hands[seat])}")
    heads: dict[str, list[str]] = {}
    for action in actions[4 * size :]:
        phase, seat, trick = int(state.phase), int(state.to_move), int(state.count) >> 2
        head = {RESERVING: "reservations", NAMING: "named"}.get(phase, f"trick {trick + 1}")
        word = f"says {action_to_string(state, action)}" if phase == ANNOUNCING else action_to_string(state, action)
        game.play(state, action)
        if action != SILENT:
            heads.setdefault(head, []).append(f"{seat + 1} {word}")
        if phase == CARDS and state.count & 3 == 0:
            heads[head][-1] += f"; {taken(state, trick)}"
    lines += [f"{head}: {', '.join(moves)}" for head, moves in heads.items()]
    lines += [f"{head}: {text}" for head, text in summary(game, state).items()]
    return "\n".join(lines) + "\n"


def taken(state: Any, trick: int) -> str:
    """The winner of a trick and its points."""
    points = sum(int(POINTS[int(kind)]) for kind in state.played[4 * trick : 4 * trick + 4])
    return f"{state.leaders[trick + 1] + 1} takes {points}"


def summary(game: Any, end: Any) -> dict[str, str]:
    """The last three lines: head -> text."""
    points, tricks, *_ = result(game, end)
    re_seats = [str(seat + 1) for seat in range(4) if known_parties(end)[0] >> seat & 1]
    return {
        "Re": f"{' and '.join(re_seats)} with {points} in {tricks} tricks",
        "sheet": ", ".join(f"{name} {points:+d}" for name, points in sheet(game, end)) or "nothing",
        "scores": " ".join(f"{score:+d}" for score in end.scores),
    }


# ---------------------------------------------------------------- reading


def read(text: str) -> Iterator[Transcript]:
    """The games of a text. Errors begin with the number of the line."""
    block: list[tuple[int, str]] = []
    for number, line in enumerate([*text.splitlines(), ""]):
        if line.strip():
            block.append((number + 1, line.strip()))
        elif block:
            yield Parser(block).transcript
            block = []


class Parser:
    """Parses the lines of one game."""

    def __init__(self, block: list[tuple[int, str]]) -> None:
        self.actions: list[int] = []
        self.before_call: tuple[Any, int, int] | None = None  # the last announcement: position before, actions, level
        for self.line, text in block:
            text = to_english(text)
            try:
                if self.line == block[0][0]:
                    self.parse_header(text)
                elif len(self.players) < 4:
                    self.parse_hand(text)
                else:
                    self.parse_moves(text)
            except BadInput as error:
                raise BadInput(f"line {self.line}: {error}") from None
        if len(self.players) < 4 or self.game.turn(self.state) != OVER:
            cards = f"{self.state.count} of {4 * self.size} cards" if len(self.players) == 4 else "its head"
            raise BadInput(f"line {self.line}: the game ends after {cards}")
        self.transcript = Transcript(
            self.number, full_name(self.game), self.players, self.seed, self.actions, self.state
        )

    def parse_header(self, text: str) -> None:
        found = re.fullmatch(r"game (-?\d+) of (\S+), seed (-?\d+)", text)
        if not found:
            raise BadInput(f"{text!r} should be a header such as: game 1 of doppelkopf, seed 1")
        self.number, self.seed, self.game = whole(found[1]) - 1, whole(found[3]), check_game(load_stored(found[2]))
        self.size = hand_size(self.game)
        self.players: list[str] = []
        self.hands: list[list[int]] = []
        self.state = positions(self.game)[0]

    def parse_hand(self, text: str) -> None:
        seat = len(self.players) + 1
        found = re.fullmatch(r"seat (\d), (.*): ([^:]*)", text)
        if not found or int(found[1]) != seat:
            raise BadInput(f"{text!r} should be the hand of seat {seat}: seat {seat}, NAME: ♥10 ♣Q ...")
        words = found[3].split()
        for word in words:
            if normalized(word) not in WORDS:
                raise BadInput(f"{word!r} is no card, such as ♣Q or ♥10")
        if len(words) != self.size:
            raise BadInput(f"{len(words)} cards in the hand, not {self.size}")
        self.players.append(found[2])
        self.hands.append([WORDS[normalized(word)] for word in words])
        held = Counter(kind for hand in self.hands for kind in hand)
        for kind, count in held.items():
            if count > 2:
                raise BadInput(f"{NAMES[kind]} is dealt {times(count)}, not twice")
        if seat == 4:
            check_deck(list(held.elements()), self.game.nines)
            for kind in dealing_actions(self.hands):
                self.play(kind)

    def parse_moves(self, text: str) -> None:
        head, colon, rest = (part.strip() for part in text.partition(":"))
        if not colon:
            raise BadInput(f"{text!r} should be moves, such as trick 1: 1 ♣A, 2 ♣9, 3 ♣K, 4 ♣10")
        if self.game.turn(self.state) == OVER:
            expected = summary(self.game, self.state)
            if head not in expected:
                raise BadInput(f"{text!r} comes after the end of the game")
            if rest != expected[head]:
                raise BadInput(f"{head}: {rest} should be {expected[head]}")
            return
        trick = int(self.state.count) >> 2
        known = ("reservations", "named") if self.state.phase in (RESERVING, NAMING) else (f"trick {trick + 1}",)
        if head not in known:
            raise BadInput(f"{head!r} should be {' or '.join(known)}")
        moves, semicolon, takes = (part.strip() for part in rest.partition(";"))
        for move in moves.split(","):
            self.parse_move(move.strip())
        if semicolon:
            if int(self.state.count) != 4 * trick + 4:
                raise BadInput(f"{int(self.state.count) - 4 * trick} cards in trick {trick + 1}, not 4")
            if takes != taken(self.state, trick):
                raise BadInput(f"{takes!r} should be {taken(self.state, trick)!r}")

    def parse_move(self, text: str) -> None:
        """Parse one move, such as `2 ♣10` or `2 says no 90`."""
        found = re.fullmatch(r"([1-4]) (says |sagt )?(.+)", text)
        if not found:
            raise BadInput(f"{text!r} should be a seat and its move, such as 2 ♣10 or 2 says no 90")
        seat, calls, word = int(found[1]) - 1, bool(found[2]), found[3]
        if normalized(word) not in ACTIONS:
            raise BadInput(f"{word!r} is neither a card nor an announcement")
        action = ACTIONS[normalized(word)]
        if calls and action >= CALL:
            action = self.with_previous_call(seat, action)
        while self.state.phase == ANNOUNCING and not (calls and self.state.to_move == seat):
            self.play(SILENT)
        if self.game.turn(self.state) == OVER:
            raise BadInput(f"{text!r} comes after the end of the game")
        if calls and self.state.phase != ANNOUNCING:
            held = cards_left(self.game, self.state, seat)
            raise BadInput(
                f"seat {seat + 1} may not announce {word} here: with {held} cards left it is too late, or too early"
            )
        if self.state.to_move != seat:
            raise BadInput(f"it is the turn of seat {self.state.to_move + 1}, not of seat {seat + 1} with {word}")
        if ACTIONS[normalized(word)] == CALL and find_action(self.state, word) < 0:
            raise BadInput(f"seat {seat + 1} announces {word}, but it is {PARTIES[side_of(self.state, seat)]}")
        if action >= CALL:
            self.before_call = self.state.copy(), len(self.actions), action
        self.play(action)

    def with_previous_call(self, seat: int, action: int) -> int:
        """The higher of an announcement and the seat's previous one, which is taken back, if no card lies between."""
        if self.before_call is None:
            return action
        before, played, previous = self.before_call
        others = [each for each in self.actions[played + 1 :] if each != SILENT]
        if before.to_move != seat or before.count != self.state.count or others:
            return action
        if action == previous:
            raise BadInput(f"seat {seat + 1} may not announce {SPELLINGS[action][0]} twice")
        self.state, self.actions, self.before_call = before, self.actions[:played], None
        return max(action, previous)

    def play(self, action: int) -> None:
        play(self.game, self.state, action)
        self.actions.append(action)


def check_game(game: Any) -> Any:
    """Return the game, or raise BadInput if it isn't Doppelkopf."""
    if not isinstance(game, Doppelkopf):
        raise BadInput(f"{full_name(game)} has no records of this form: only doppelkopf has")
    return game
