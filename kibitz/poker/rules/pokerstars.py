"""Hand histories of PokerStars, heads-up limit hold'em:

    PokerStars Hand #27738502010: Hold'em Limit ($1/$2 USD) - 2009/05/02 13:32:38 ET
    Table 'Mekbuda VI' 2-max Seat #1 is the button
    Seat 1: alice ($25 in chips)
    Seat 2: bob ($30 in chips)
    alice: posts small blind $0.50
    bob: posts big blind $1
    *** HOLE CARDS ***
    Dealt to alice [Ah Kd]
    alice: raises $1 to $2
    bob: calls $1
    *** FLOP *** [2c 3d 4h]
    ...

A history shows the cards of one player, and those of both only after a showdown. A hand with hidden cards, of another
game or with a player all-in is refused: it isn't a whole game of `holdem`. Payoffs are without the rake.
"""

import re
from collections.abc import Iterator
from typing import Any

from ...core.names import BadInput, whole
from ...games.game import CHANCE, OVER, legal_actions, positions
from .acpc import Hand
from .display import card_of, move_name
from .state import CALL, FOLD, RAISE

MARK = ("PokerStars Hand #", "PokerStars Game #")
MOVES = {"folds": FOLD, "checks": CALL, "calls": CALL, "bets": RAISE, "raises": RAISE}
AMOUNT = r"[^\d\s]?([\d.,]+)"
CARDS = r"\[([^\]]+)\]"


def hands(text: str) -> Iterator[tuple[int, list[str]]]:
    """The hands of a file: the number of the first line, and the lines."""
    start, lines = 0, list[str]()
    for number, line in enumerate(text.lstrip("\ufeff").splitlines()):
        if line.startswith(MARK):
            if lines:
                yield start, lines
            start, lines = number + 1, []
        if start and line.strip():
            lines.append(line.strip())
    if lines:
        yield start, lines


def read(game: Any, lines: list[str]) -> Hand:
    """Parse one hand and replay it; raises BadInput in one line for what isn't a whole game by these rules."""
    found = re.match(r"PokerStars (?:Hand|Game) #(\d+):(.*)", lines[0])
    if not found:
        raise BadInput(f"{lines[0]!r} is no header of a hand, such as {MARK[0]}27738502010: Hold'em Limit ($1/$2)")
    number, hand = whole(found[1]), f"hand {found[1]}"
    if "Hold'em Limit" not in found[2]:
        raise BadInput(f"{hand}: {found[2].split('-')[0].strip()!r} should be Hold'em Limit")
    players = [line[1] for text in lines if (line := re.match(rf"Seat \d+: (.+) \({AMOUNT} in chips\)", text))]
    if len(players) != 2:
        raise BadInput(f"{hand} has {len(players)} players, not 2")
    names = _by_seat(game, lines, players, hand)
    state, actions = positions(game)[0], list[int]()
    cards, moves = _cards(lines, names, hand), _moves(lines, names, hand)
    while game.turn(state) != OVER:
        seat, legal = game.turn(state), legal_actions(game, state)
        if seat == CHANCE:
            if int(state.dealt) == len(cards):
                raise BadInput(f"{hand} isn't over: no card is dealt after {len(actions)} cards and moves")
            action = cards[int(state.dealt)]
            if action not in legal:
                raise BadInput(f"{hand}: a card occurs twice, or is not in the deck of {game.name}")
        else:
            if not moves:
                raise BadInput(f"{hand} isn't over: there is no move of {names[seat]} at the end")
            who, word = moves.pop(0)
            action = MOVES[word]
            if who != seat:
                raise BadInput(f"{hand}: {names[who]} {word}, but it is the turn of {names[seat]}")
            if action not in legal:
                options = " or ".join(move_name(each, FOLD in legal, True) for each in legal)
                raise BadInput(f"{hand}: {names[who]} {word}, which these rules don't allow here, only {options}")
        actions.append(action)
        game.play(state, action)
    if moves:
        raise BadInput(f"{hand}: {names[moves[0][0]]} {moves[0][1]} after the end of the hand")
    _check_pot(game, state, lines, hand)
    return Hand(number, actions, [game.payoff(state, seat) for seat in range(2)], names, state)


def _by_seat(game: Any, lines: list[str], players: list[str], hand: str) -> list[str]:
    """The players, the big blind first; checks that the blinds have the proportion of the rules."""
    posted: dict[str, tuple[str, float]] = {}
    for line in lines:
        for name in players:
            found = re.match(rf"{re.escape(name)}: posts (small|big) blind {AMOUNT}", line)
            if found:
                posted[found[1]] = name, _number(found[2])
    if len(posted) != 2 or posted["small"][0] == posted["big"][0]:
        raise BadInput(f"{hand}: both blinds should be posted, one by each player")
    small, big = posted["small"][1], posted["big"][1]
    if abs(small * game.big_blind - big * game.small_blind) > 1e-6:
        wanted = f"{game.small_blind}/{game.big_blind}"
        raise BadInput(f"{hand}: the blinds {small:g}/{big:g} should be in proportion {wanted}: name other --rules")
    return [posted["big"][0], posted["small"][0]]


def _cards(lines: list[str], names: list[str], hand: str) -> list[int]:
    """All cards in the order of dealing: the hole cards of the big blind, of the dealer, the board."""
    hole: dict[str, str] = {}
    board = ""
    for line in lines:
        for name in names:
            plain = re.escape(name)
            shown = rf"(?:Dealt to {plain} |{plain}: shows |Seat \d+: {plain} .*?(?:showed|mucked) ){CARDS}"
            if found := re.match(shown, line):
                hole.setdefault(name, found[1])
        if re.match(r"\*\*\* (?:FLOP|TURN|RIVER) \*\*\*", line):
            board = " ".join(re.findall(CARDS, line))
    for name in names:
        if name not in hole:
            raise BadInput(f"{hand}: the cards of {name} aren't shown, so it is no whole game")
    words = [*hole[names[0]].split(), *hole[names[1]].split(), *board.split()]
    found_cards = [card_of(word) for word in words]
    if -1 in found_cards:
        raise BadInput(f"{hand}: {words[found_cards.index(-1)]!r} is no card, such as Ah")
    return found_cards


def _moves(lines: list[str], names: list[str], hand: str) -> list[tuple[int, str]]:
    """The seat and the word of each move."""
    found = []
    for line in lines:
        for seat, name in enumerate(names):
            word, _, rest = line.removeprefix(f"{name}: ").partition(" ")
            if line.startswith(f"{name}: ") and word in MOVES:
                if "all-in" in rest:
                    raise BadInput(f"{hand}: {name} is all-in, and stacks aren't part of these rules")
                found.append((seat, word))
    return found


def _check_pot(game: Any, state: Any, lines: list[str], hand: str) -> None:
    """Compare the pot with the one that the rules give: sizes of bets differ where it does."""
    blind = next(found[1] for line in lines if (found := re.search(rf"posts big blind {AMOUNT}", line)))
    pot = 2 * int(state.paid.min()) * _number(blind) / game.big_blind
    for line in lines:
        found = re.match(rf"Total pot {AMOUNT}", line)
        if found and abs(_number(found[1]) - pot) > 1e-6:
            raise BadInput(f"{hand}: the pot of {_number(found[1]):g} should be {pot:g} by these rules")


def _number(text: str) -> float:
    return float(text.rstrip(".").replace(",", ""))
