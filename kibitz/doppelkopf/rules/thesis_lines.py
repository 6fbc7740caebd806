"""Games as lines of 62 characters, the training data of the LSTM in Obenaus' thesis (2017).

    abcdefghijkl0mnop...    12 cards of one hand, the player's position, the 48 cards in the order of play, a newline

Cards are letters from a to x. A `Form` fixes what lines leave open: which card a letter is, how the position is
counted, and whether a player with both ♣Q announced a marriage. Since all cards are played, a line contains all four
hands, but neither announcements nor solos.
"""

import functools
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from ...core.names import BadInput, choose
from ...games.game import Game, positions
from .announcements import SILENT
from .cards import CLUB_QUEEN, KINDS, NAMES, NORMAL, ORDER, WORDS, normalized
from .notation import check_deck, dealing_actions, replay, times
from .state import ANNOUNCING, MARRIES, RESERVES, SAYS_HEALTHY, SOLO
from .tricks import winning_place

LETTERS = "abcdefghijklmnopqrstuvwx"
HAND, TRICKS = 12, 12
POSITIONS = {  # meanings of the digit; the seat left of the dealer leads the first trick
    "place": "0 leads the first trick, 3 is the dealer",
    "dealer": "0 is the dealer, 1 leads the first trick",
    "leader": "number of seats from the player, to the left, to the leader of the first trick",
}
HANDS = {"letters": "by letter", "held": "trumps first, as people sort them"}
MARRIAGES = {"announced": "a player with both ♣Q announces a marriage", "silent": "nobody announces one"}


class Form(NamedTuple):
    """The meaning of lines."""

    kinds: tuple[int, ...] = tuple(range(KINDS))  # of the letters a to x
    position: str = "place"
    hand: str = "letters"  # order of a written hand; any order is read
    marriage: str = "announced"


def form(letters: str = "", position: str = "place", hand: str = "letters", marriage: str = "announced") -> Form:
    """A `Form` from user input; `letters` are the 24 cards from a to x, such as `♣9 ♣J ...`."""
    words = letters.replace(",", " ").split() or NAMES
    unknown = [word for word in words if normalized(word) not in WORDS]
    if unknown:
        raise BadInput(f"letters: {unknown[0]!r} is no card, such as ♣Q or ♥10")
    kinds = tuple(WORDS[normalized(word)] for word in words)
    if sorted(kinds) != list(range(KINDS)):
        raise BadInput(
            f"letters should name each of the {KINDS} cards once, not {len(set(kinds))} in {len(kinds)} words"
        )
    choose("position", position, POSITIONS)
    choose("order of hands", hand, HANDS)
    choose("marriage", marriage, MARRIAGES)
    return Form(kinds, position, hand, marriage)


def check_rules(game: Any) -> None:
    """Raise BadInput for rules that lines can't represent."""
    if not game.nines:
        raise BadInput("lines have twelve tricks, so the rules need nines=yes")
    if game.owed:
        raise BadInput("lines can't contain solos, so the rules need owed=0")


def seat_of(position: int, meaning: str) -> int:
    return {"place": position, "dealer": position - 1, "leader": -position}[meaning] % 4


def position_of(seat: int, meaning: str) -> int:
    return {"place": seat, "dealer": seat + 1, "leader": -seat}[meaning] % 4


def read_line(game: Any, text: str, form: Form, compiled: bool = False) -> tuple[int, list[int], Any]:
    """The seat whose hand a line shows, all actions of the game, and its last position."""
    seat, hand, played = split(text, form)
    hands = played_by_seat(game, played)
    left = Counter(hand)
    for kind in hands[seat]:
        if not left[kind]:
            raise BadInput(f"seat {seat + 1} plays {NAMES[kind]}, which its hand {_names(hand)} doesn't hold")
        left[kind] -= 1
    return seat, *reconstruct_game(game, played, form.marriage, compiled)


def read_games(game: Any, text: str, form: Form, compiled: bool = False) -> Iterator[tuple[list[int], Any]]:
    """Actions and last position of each game. Consecutive lines of one game from different seats are one game."""
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


@functools.lru_cache(maxsize=1)  # consecutive lines are often one game from all four seats
def reconstruct_game(game: Any, played: tuple[int, ...], marriage: str, compiled: bool) -> tuple[list[int], Any]:
    """Actions and last position of a game without announcements, from its cards in order of play."""
    hands = played_by_seat(game, played)
    brides = [seat for seat in range(4) if hands[seat].count(CLUB_QUEEN) == 2 and marriage == "announced"]
    reservations = [RESERVES if seat in brides else SAYS_HEALTHY for seat in range(4)] + [MARRIES] * len(brides)
    actions = [*dealing_actions(hands), *reservations, *played]
    silent = game._replace(calls=0)
    end = replay(silent, actions, compiled)
    return (actions, end) if game == silent else add_silence(game, actions)


def add_silence(game: Any, actions: list[int]) -> tuple[list[int], Any]:
    """Actions and last position where announcements are possible and nobody makes one."""
    state, found = positions(game)[0], []
    for action in actions:
        while state.phase == ANNOUNCING:
            game.play(state, SILENT)
            found.append(SILENT)
        game.play(state, action)
        found.append(action)
    return found, state


def split(text: str, form: Form) -> tuple[int, list[int], tuple[int, ...]]:
    """Seat, hand and played cards of a line."""
    for column, letter in enumerate(text):
        if letter not in LETTERS and letter not in "0123456789":
            raise BadInput(f"{letter!r} in column {column + 1} is no card: cards are a to x")
    digits = [column for column, letter in enumerate(text) if letter not in LETTERS]
    if not digits:
        raise BadInput("the position (0 to 3) after the hand is missing")
    if digits[0] != HAND:
        raise BadInput(f"{digits[0]} cards in the hand, not {HAND}")
    if len(digits) > 1:
        raise BadInput(f"there is a second position, {text[digits[1]]}, in column {digits[1] + 1}")
    if text[HAND] not in "0123":
        raise BadInput(f"position {text[HAND]} should be 0 to 3")
    kinds = [form.kinds[LETTERS.index(letter)] for letter in text if letter in LETTERS]
    hand, played = kinds[:HAND], kinds[HAND:]
    if len(played) != 4 * TRICKS:
        raise BadInput(f"{len(played)} cards are played, not {4 * TRICKS}")
    for kind, count in Counter(hand).items():
        if count > 2:
            raise BadInput(f"{NAMES[kind]} occurs {times(count)} in the hand, and the deck has two")
    check_deck(played, True)
    return seat_of(int(text[HAND]), form.position), hand, tuple(played)


@functools.lru_cache(maxsize=1)
def played_by_seat(game: Any, played: tuple[int, ...]) -> list[list[int]]:
    """The cards of each seat in order of play, in a game without a solo, where seat 0 leads."""
    state, leader = positions(game)[0], 0
    state.played[:] = played
    hands: list[list[int]] = [[], [], [], []]
    for trick in range(TRICKS):
        for place in range(4):
            hands[leader + place & 3].append(played[4 * trick + place])
        leader = leader + winning_place(game, state, trick) & 3
    return hands


def write_line(game: Game, actions: list[int], end: Any, seat: int, form: Form) -> str:
    """The line of a finished game from a seat; `actions` are those of its record."""
    check_rules(game)
    if end.mode == SOLO and end.type != NORMAL:
        raise BadInput("lines can't contain solos")
    hand = actions[HAND * seat : HAND * seat + HAND]
    order = form.kinds if form.hand == "letters" else ORDER[NORMAL].tolist()
    kinds = [*sorted(hand, key=order.index), *map(int, end.played)]
    letters = "".join(LETTERS[form.kinds.index(kind)] for kind in kinds)
    return f"{letters[:HAND]}{position_of(seat, form.position)}{letters[HAND:]}\n"


def is_lossy(end: Any) -> bool:
    """Whether a line loses information that affects the scores: announcements or a silent marriage."""
    first = int(end.queens) & 15
    silent = end.bride < 0 and first & first - 1 == 0
    return bool(end.logged) or silent


def _names(kinds: list[int]) -> str:
    return " ".join(NAMES[kind] for kind in sorted(kinds, key=ORDER[NORMAL].tolist().index))
