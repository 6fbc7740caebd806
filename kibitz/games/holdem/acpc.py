"""Hand histories in the format of the Annual Computer Poker Competition, one line per hand:

    STATE:0:crc/cc/rf:AhKd|QsJc/2c3d4h/5s:20|-20:alice|bob

Number, moves by street, cards, chips won, names; the big blind comes first, then the dealer.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...core.names import BadInput
from ...jit import kernel
from ..game import CHANCE, OVER, SCRATCH, Game, legal_actions, positions
from .display import RANKS, SUITS, card_name, card_of, moves_by_street

LETTERS = "fcr"
FORMAT = "STATE:number:moves:cards:chips:names"


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
    streets = [*state.hole.tolist(), board[:3], board[3:4], board[4:]]
    first, second, *rest = ("".join(map(card_name, part)) for part in streets)
    return ":".join(
        [
            "STATE",
            str(number),
            moves(state),
            "/".join([f"{first}|{second}", *filter(None, rest)]),
            "|".join(map(str, chips(game, state))),
            "|".join(names),
        ]
    )


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
    number, hand = int(parts[1]), f"hand {parts[1]}"
    dealt, letters = parse_cards(game, parts[3], hand), parts[2].replace("/", "")
    names = parts[5].split("|")
    if len(names) != 2:
        raise BadInput(f"{hand}: {parts[5]!r} should be two names, one|two")
    state, actions, made = positions(game)[0], list[int](), 0
    if compiled:
        given = (np.array(dealt, np.int64), np.array([LETTERS.find(move) for move in letters], np.int64))
        played, legal_then = np.zeros(game.facts.max_game_length, np.int64), np.zeros(SCRATCH, np.int64)
        actions = played[: replay(game, *given, state, played, legal_then)].tolist()
        if not actions:  # something is wrong: replay slowly, to report what
            game.start(state)
    while game.turn(state) != OVER:
        legal = legal_actions(game, state)
        if game.turn(state) == CHANCE:
            at = int(state.dealt)
            if at == len(dealt):
                raise BadInput(f"{hand}: {parts[3]!r} has only {at} cards, but more were dealt")
            action = dealt[at]
        elif made == len(letters):
            raise BadInput(f"{hand} isn't over after the moves {parts[2]!r}")
        else:
            action = LETTERS.find(letters[made])
            made += 1
            if action not in legal:
                words = " or ".join(LETTERS[action] for action in legal)
                raise BadInput(f"{hand}: move {made} of {parts[2]!r} is {letters[made - 1]!r}, legal is {words}")
        actions.append(action)
        game.play(state, action)
    if parts[2] != moves(state):
        raise BadInput(f"{hand}: the moves {parts[2]!r} should be {moves(state)!r}")
    if len(dealt) > state.dealt:
        raise BadInput(f"{hand}: {parts[3]!r} has {len(dealt)} cards, but only {state.dealt} were dealt")
    won = "|".join(map(str, chips(game, state)))
    if [amount.removesuffix(".000000") for amount in parts[4].split("|")] != won.split(
        "|"
    ):  # some servers write decimals
        raise BadInput(f"{hand}: it pays {won} chips, not {parts[4]!r}")
    return Hand(number, actions, [game.payoff(state, seat) for seat in range(2)], names, state)


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
