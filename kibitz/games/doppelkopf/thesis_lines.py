"""Games as lines of 62 characters, the form that a network was once trained on.

    abcdefghijkl0mnop...    12 cards of one hand, the player's position, the 48 cards in the order of play, a newline

Cards are letters from a to x. What a line doesn't tell is a parameter: which card a letter is, how the position is
counted, and whether who held both ♣Q said so. Since all cards are played, a line of a game without a solo tells all
four hands; calls it doesn't tell at all.
"""

import functools
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from ...core.names import BadInput, choose
from ..game import Game, positions
from .announcements import SILENT
from .cards import CLUB_QUEEN, KINDS, NAMES, NORMAL, ORDER, WORDS, plain
from .notation import check_deck, dealt, times, walk
from .state import ASK, MARRIES, RESERVES, SAYS_HEALTHY, SOLO
from .tricks import taker

LETTERS = "abcdefghijklmnopqrstuvwx"
HAND, TRICKS = 12, 12
POSITIONS = {  # what the digit says of the seat that is left of the dealer, and leads
    "place": "0 leads the first trick, 3 is the dealer",
    "dealer": "0 is the dealer, 1 leads the first trick",
    "leader": "so many seats to the left of the player sits who leads the first trick",
}
HANDS = {"letters": "by letter", "held": "trumps first, as people hold them"}
MARRIAGES = {"announced": "who holds both ♣Q announces a marriage", "silent": "nobody announces one"}


class Form(NamedTuple):
    """How lines are meant."""

    kinds: tuple[int, ...] = tuple(range(KINDS))  # of each letter
    position: str = "place"
    hand: str = "letters"  # its order, in what is written; read is any
    marriage: str = "announced"


def form(letters: str = "", position: str = "place", hand: str = "letters", marriage: str = "announced") -> Form:
    """Of what a user says; `letters` are the 24 cards from a to x, such as `♣9 ♣J ...`."""
    words = letters.replace(",", " ").split() or NAMES
    unknown = [word for word in words if plain(word) not in WORDS]
    if unknown:
        raise BadInput(f"letters: {unknown[0]!r} is no card, such as ♣Q or ♥10")
    kinds = tuple(WORDS[plain(word)] for word in words)
    if sorted(kinds) != list(range(KINDS)):
        raise BadInput(
            f"letters should name each of the {KINDS} cards once, not {len(set(kinds))} in {len(kinds)} words"
        )
    choose("position", position, POSITIONS)
    choose("order of hands", hand, HANDS)
    choose("marriage", marriage, MARRIAGES)
    return Form(kinds, position, hand, marriage)


def check_rules(game: Any) -> None:
    if not game.nines:
        raise BadInput("lines have twelve tricks: they are for games with nines")
    if game.owed:
        raise BadInput("lines don't tell solos, so nobody should owe one")


def seat_of(position: int, meaning: str) -> int:
    return {"place": position, "dealer": position - 1, "leader": -position}[meaning] % 4


def position_of(seat: int, meaning: str) -> int:
    return {"place": seat, "dealer": seat + 1, "leader": -seat}[meaning] % 4


def read_line(game: Any, text: str, form: Form, compiled: bool = False) -> tuple[int, list[int], Any]:
    """Whose hand it shows, all actions of the game, and its last position; or what is wrong with the line."""
    seat, hand, played = split(text, form)
    hands = who_played(game, played)
    left = Counter(hand)
    for kind in hands[seat]:
        if not left[kind]:
            raise BadInput(f"seat {seat + 1} plays {NAMES[kind]}, which its hand {_names(hand)} doesn't hold")
        left[kind] -= 1
    return seat, *whole_game(game, played, form.marriage, compiled)


def read_games(game: Any, text: str, form: Form, compiled: bool = False) -> Iterator[tuple[list[int], Any]]:
    """Actions and last position of each game. Lines that follow each other may tell one, each from another seat."""
    check_rules(game)
    before, seen = "", set[int]()
    for number, line in enumerate(text.splitlines()):
        try:
            seat, actions, end = read_line(game, line, form, compiled)
        except BadInput as error:
            raise BadInput(f"line {number + 1}: {error}") from None
        if line[HAND + 1 :] == before and seat not in seen:
            seen.add(seat)
            continue
        before, seen = line[HAND + 1 :], {seat}
        yield actions, end


@functools.lru_cache(maxsize=1)  # a game is often told from all four seats
def whole_game(game: Any, played: tuple[int, ...], marriage: str, compiled: bool) -> tuple[list[int], Any]:
    """Its actions and last position, without calls."""
    hands = who_played(game, played)
    brides = [seat for seat in range(4) if hands[seat].count(CLUB_QUEEN) == 2 and marriage == "announced"]
    said = [RESERVES if seat in brides else SAYS_HEALTHY for seat in range(4)] + [MARRIES] * len(brides)
    actions = [*dealt(hands), *said, *played]
    quiet = game._replace(calls=0)
    end = walk(quiet, actions, compiled)
    return (actions, end) if game == quiet else with_silence(game, actions)


def with_silence(game: Any, actions: list[int]) -> tuple[list[int], Any]:
    """The same where calls may be made, and nobody makes one."""
    state, found = positions(game)[0], []
    for action in actions:
        while state.phase == ASK:
            game.play(state, SILENT)
            found.append(SILENT)
        game.play(state, action)
        found.append(action)
    return found, state


def split(text: str, form: Form) -> tuple[int, list[int], tuple[int, ...]]:
    """Seat, hand and cards played of a line that is whole."""
    for column, letter in enumerate(text):
        if letter not in LETTERS and letter not in "0123456789":
            raise BadInput(f"{letter!r} in column {column + 1} is no card: cards are a to x")
    digits = [column for column, letter in enumerate(text) if letter not in LETTERS]
    if not digits:
        raise BadInput("no position (0 to 3) stands behind the hand")
    if digits[0] != HAND:
        raise BadInput(f"{digits[0]} cards in the hand, not {HAND}")
    if len(digits) > 1:
        raise BadInput(f"a second position, {text[digits[1]]}, stands in column {digits[1] + 1}")
    if text[HAND] not in "0123":
        raise BadInput(f"position {text[HAND]} should be 0 to 3")
    kinds = [form.kinds[LETTERS.index(letter)] for letter in text if letter in LETTERS]
    hand, played = kinds[:HAND], kinds[HAND:]
    if len(played) != 4 * TRICKS:
        raise BadInput(f"{len(played)} cards are played, not {4 * TRICKS}")
    for kind, count in Counter(hand).items():
        if count > 2:
            raise BadInput(f"{NAMES[kind]} is {times(count)} in the hand, and there are two")
    check_deck(played, True)
    return seat_of(int(text[HAND]), form.position), hand, tuple(played)


@functools.lru_cache(maxsize=1)
def who_played(game: Any, played: tuple[int, ...]) -> list[list[int]]:
    """The cards of each seat in the order in which it played them, where seat 0 leads a game that is no solo."""
    state, leader = positions(game)[0], 0
    state.played[:] = played
    hands: list[list[int]] = [[], [], [], []]
    for trick in range(TRICKS):
        for place in range(4):
            hands[leader + place & 3].append(played[4 * trick + place])
        leader = leader + taker(game, state, trick) & 3
    return hands


def write_line(game: Game, actions: list[int], end: Any, seat: int, form: Form) -> str:
    """A game that is over, from a seat; `actions` are those of its record."""
    check_rules(game)
    if end.mode == SOLO and end.type != NORMAL:
        raise BadInput("a solo can't be told in a line")
    hand = actions[HAND * seat : HAND * seat + HAND]
    order = form.kinds if form.hand == "letters" else ORDER[NORMAL].tolist()
    kinds = [*sorted(hand, key=order.index), *map(int, end.played)]
    letters = "".join(LETTERS[form.kinds.index(kind)] for kind in kinds)
    return f"{letters[:HAND]}{position_of(seat, form.position)}{letters[HAND:]}\n"


def untold(end: Any) -> bool:
    """Whether a line of the game, read again, might give other scores: it had calls or a silent marriage."""
    first = int(end.queens) & 15
    silent = end.bride < 0 and first & first - 1 == 0
    return bool(end.logged) or silent


def _names(kinds: list[int]) -> str:
    return " ".join(NAMES[kind] for kind in sorted(kinds, key=ORDER[NORMAL].tolist().index))
