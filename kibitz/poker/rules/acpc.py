"""Lines of the Annual Computer Poker Competition. Hand histories have one per hand:

    STATE:0:crc/cc/rf:AhKd|QsJc/2c3d4h/5s:20|-20:alice|bob

Number, moves by street, cards, chips won, names; the big blind comes first, then the dealer. In a match, a dealer sends
each player what that player sees, after the cards and after each move, and expects the line back with a move:

    MATCHSTATE:0:12:crc/c:AhKd|/2c3d4h

Seat, number of the hand, moves, cards. (Protocol 2.0.0, October 2010.)
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...core.names import BadInput, whole
from ...games.game import CHANCE, OVER, SCRATCH, Game, legal_actions, positions, view_of
from ...jit import kernel
from .display import RANKS, SUITS, card_name, card_of, moves_by_street

LETTERS = "fcr"
FORMAT = "STATE:number:moves:cards:chips:names"
SEEN_FORMAT = "MATCHSTATE:seat:hand:moves:cards"
NO_HANDS = ("#", ";", "SCORE")  # other lines in the log of a dealer


class Hand(NamedTuple):
    """One hand as it was read."""

    number: int
    actions: list[int]  # chance included
    payoffs: list[float]  # in big blinds, by seat
    names: list[str]
    end: Any  # the last position


def write(game: Game, state: Any, number: int = 0, names: Sequence[str] = ("1", "2")) -> str:
    """The line of a finished hand."""
    if game.turn(state) != OVER:
        raise BadInput(f"hand {number} isn't over")
    if (state.hole < 0).any():
        raise BadInput(f"hand {number} has hidden cards: it is the view of a seat")
    board = [int(card) for card in state.board if card >= 0]
    cards = cards_by_street(state.hole.tolist(), board)
    won = "|".join(map(str, chips(game, state)))
    return ":".join(["STATE", str(number), moves(state), cards, won, "|".join(names)])


def cards_by_street(hole: Sequence[Sequence[int]], board: Sequence[int]) -> str:
    """Hole cards and board as text; no cards of a seat are hidden ones."""
    parts = [*hole, board[:3], board[3:4], board[4:]]
    first, second, *rest = ("".join(map(card_name, part)) for part in parts)
    return "/".join([f"{first}|{second}", *filter(None, rest)])


def moves(state: Any) -> str:
    """The moves as letters, street by street."""
    return "/".join("".join(LETTERS[move] for move in street) for street in moves_by_street(state))


def chips(game: Any, state: Any) -> list[int]:
    """Chips won by each seat."""
    return [round(game.payoff(state, seat) * game.big_blind) for seat in range(2)]


def read(game: Game, line: str, compiled: bool = False) -> Hand:
    """Parse a line and replay its hand; raises BadInput for impossible hands.

    With `compiled` the hand is replayed by a kernel, which pays from 1,000 hands on.
    """
    parts = line.strip().split(":", 5)  # names may contain colons, as those of players do
    if len(parts) != 6 or parts[0] != "STATE" or not parts[1].isdecimal():
        raise BadInput(f"{line.strip()!r} is no hand, it should have the form {FORMAT}")
    number, hand = whole(parts[1]), f"hand {parts[1]}"
    dealt, letters = parse_cards(game, parts[3], hand), parts[2].replace("/", "")
    names = parts[5].split("|")
    if len(names) != 2:
        raise BadInput(f"{hand}: {parts[5]!r} should be two names, one|two")
    state, actions = positions(game)[0], list[int]()
    if compiled:
        given = (np.array(dealt, np.int64), np.array([LETTERS.find(move) for move in letters], np.int64))
        played, legal_then = np.zeros(game.facts.max_game_length, np.int64), np.zeros(SCRATCH, np.int64)
        actions = played[: replay(game, *given, state, played, legal_then)].tolist()
    if not actions:  # something is wrong, if it was compiled: replay slowly, to report what
        game.start(state)
        actions = follow(game, state, dealt, parts[2], parts[3], hand)
        if game.turn(state) != OVER:
            raise BadInput(f"{hand} isn't over after the moves {parts[2]!r}")
    check_lines(state, dealt, parts[2], parts[3], hand)
    won = "|".join(map(str, chips(game, state)))
    if [amount.removesuffix(".000000") for amount in parts[4].split("|")] != won.split(
        "|"
    ):  # some servers write decimals
        raise BadInput(f"{hand}: it pays {won} chips, not {parts[4]!r}")
    return Hand(number, actions, [game.payoff(state, seat) for seat in range(2)], names, state)


def follow(game: Any, state: Any, dealt: Sequence[int], moves_text: str, cards_text: str, hand: str) -> list[int]:
    """Play cards and moves from the start until a seat has no further move; returns all actions."""
    actions, letters, made = list[int](), moves_text.replace("/", ""), 0
    while game.turn(state) != OVER:
        if game.turn(state) == CHANCE:
            at = int(state.dealt)
            if at == len(dealt):
                raise BadInput(f"{hand}: {cards_text!r} has only {at} cards, but more were dealt")
            action = dealt[at]
        elif made == len(letters):
            break
        else:
            legal, action = legal_actions(game, state), LETTERS.find(letters[made])
            made += 1
            if action not in legal:
                words = " or ".join(LETTERS[action] for action in legal)
                raise BadInput(f"{hand}: move {made} of {moves_text!r} is {letters[made - 1]!r}, legal is {words}")
        actions.append(action)
        game.play(state, action)
    return actions


@kernel
def replay(game, cards, moves, state, actions, legal):
    """Replay a hand; returns its number of actions, or 0 if one is illegal or the hand isn't over."""
    dealt = made = 0
    while game.turn(state) != OVER:
        dealing = game.turn(state) == CHANCE
        if (dealing and dealt == len(cards)) or (not dealing and made == len(moves)):
            return 0
        action = cards[dealt] if dealing else moves[made]
        found = False
        for i in range(game.actions(state, legal)):
            found |= legal[i] == action
        if not found:
            return 0
        game.play(state, action)
        actions[dealt + made] = action
        if dealing:
            dealt += 1
        else:
            made += 1
    return dealt + made


def check_lines(state: Any, dealt: Sequence[int], moves_text: str, cards_text: str, hand: str) -> None:
    """Refuse moves that are parted wrongly, or move on after the end, and cards that weren't dealt."""
    if moves_text != moves(state):
        raise BadInput(f"{hand}: the moves {moves_text!r} should be {moves(state)!r}")
    if len(dealt) > state.dealt:
        raise BadInput(f"{hand}: {cards_text!r} has {len(dealt)} cards, but only {state.dealt} were dealt")


def parse_cards(game: Any, text: str, hand: str) -> list[int]:
    """The cards of a line in the order of dealing."""
    found: list[int] = []
    plain = text.replace("|", "").replace("/", "")
    for name in (plain[i : i + 2] for i in range(0, len(plain), 2)):
        card = card_of(name)
        if card < 0 or card // 4 >= game.ranks or card % 4 >= game.suits:
            deck = f"a rank of {RANKS[: game.ranks]} and a suit of {SUITS[: game.suits]}"
            raise BadInput(f"{hand}: {name!r} is no card of the deck, it should be {deck}")
        if card in found:
            raise BadInput(f"{hand}: {name} occurs twice")
        found.append(card)
    lengths = [len(part) for part in text.split("/")]
    if lengths != [9, 6, 2, 2][: len(lengths)] or text[4] != "|":
        raise BadInput(f"{hand}: the cards {text!r} should have the form AhKd|QsJc/2c3d4h/5s/6c, as far as dealt")
    return found


# ---------------------------------------------------------------- logs


def read_acpc_log(game: Game, text: str, compiled: bool = False) -> Iterator[Hand]:
    """The hands of a dealer's log, whose other lines are comments and the score; BadInput names a wrong line."""
    for place, line in enumerate(text.splitlines()):
        if line.strip() and not line.startswith(NO_HANDS):
            try:
                yield read(game, line, compiled)
            except BadInput as error:
                raise BadInput(f"line {place + 1}: {error}") from None


# ---------------------------------------------------------------- what a seat sees


class Seen(NamedTuple):
    """A hand as a player of a match sees it."""

    seat: int
    number: int
    view: Any
    over: bool
    chips: int | None  # that the seat won, when the hand is over


def write_seen(game: Game, state: Any, seat: int, number: int, dealt: Sequence[int]) -> str:
    """The line for a seat. `dealt` are all cards in the order of dealing, which a position doesn't keep.

    The other seat's cards are shown at a showdown only.
    """
    showdown = game.turn(state) == OVER and state.paid[0] == state.paid[1]
    hole = [dealt[2 * each : 2 * each + 2] if each == seat or showdown else [] for each in range(2)]
    return f"MATCHSTATE:{seat}:{number}:{moves(state)}:{cards_by_street(hole, dealt[4:])}"


def read_seen(game: Any, line: str) -> Seen:
    """Parse a dealer's line and replay it; raises BadInput for impossible hands."""
    parts = line.strip().split(":")
    numbers = [int(part) for part in parts[1:3] if part.isdecimal() and len(part) < 19]
    if len(parts) != 5 or parts[0] != "MATCHSTATE" or len(numbers) < 2 or numbers[0] > 1:
        raise BadInput(f"{line.strip()!r:.200} is no state of a match, it should have the form {SEEN_FORMAT}")
    (seat, number), hand = numbers, f"hand {parts[2]}"
    first, *board = parts[4].split("/")
    hole = first.split("|")
    if len(hole) != 2 or not hole[seat]:
        raise BadInput(f"{hand}: the cards {parts[4]!r} should have those of seat {seat}, as AhKd| has those of seat 0")
    hidden = not hole[1 - seat]
    if hidden:  # any two other cards keep their place
        deck = (card_name(4 * rank + suit) for rank in range(game.ranks) for suit in range(game.suits))
        hole[1 - seat] = "".join([card for card in deck if card not in parts[4]][:2])
    dealt = parse_cards(game, "/".join(["|".join(hole), *board]), hand)
    state = positions(game)[0]
    follow(game, state, dealt, parts[3], parts[4], hand)
    check_lines(state, dealt, parts[3], parts[4], hand)
    over = game.turn(state) == OVER
    if over and hidden and state.paid[0] == state.paid[1]:
        raise BadInput(f"{hand}: {parts[4]!r} should show the cards of both seats after a showdown")
    return Seen(seat, number, view_of(game, state, seat), over, chips(game, state)[seat] if over else None)
