"""A hand in words, and what may be said."""

from ...core.names import BadInput
from ..game import CHANCE, legal_actions
from .evaluator import CATEGORY, KEYS, value
from .state import CALL, FOLD, HOLE, RAISE, moves_made, nth_move

RANKS, SUITS = "23456789TJQKA", "cdhs"
STREETS = ("preflop", "flop", "turn", "river")
NAMES = ["deuce", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "jack", "queen", "king", "ace"]
UNDERSTOOD = {"f": FOLD, "c": CALL, "k": CALL, "r": RAISE, "b": RAISE}
UNDERSTOOD |= {"fold": FOLD, "call": CALL, "check": CALL, "raise": RAISE, "bet": RAISE}


# ---------------------------------------------------------------- cards


def card_name(card):
    return RANKS[card // 4] + SUITS[card % 4]


def card_of(text):
    """`Ah`, `10s`, `K♦`; -1 where it is no card."""
    plain = text.strip().replace("10", "T").translate(str.maketrans("♣♦♥♠", "cdhs"))
    rank, suit = plain[:1].upper(), plain[1:].lower()
    return 4 * RANKS.index(rank) + SUITS.index(suit) if rank and rank in RANKS and suit in tuple(SUITS) else -1


def cards(found):
    return " ".join("?" if card < 0 else card_name(int(card)) for card in found) or "-"


def hand_name(worth):
    """`two pair, aces and kings`, of a value."""
    made, beside = ([NAMES[r] for r in range(12, -1, -1) if worth >> low + r & 1] for low in (13, 0))
    run = NAMES[worth & 15] if worth & 15 < 13 else ""
    category = worth >> CATEGORY
    first, second = (made or beside)[0], (made[1:] or beside or [""])[0]
    return (
        f"{first} high",
        f"pair of {many(first)}",
        f"two pair, {many(first)} and {many(second)}",
        f"three {many(first)}",
        f"straight to the {run}",
        f"flush, {first} high",
        f"full house, {many(first)} over {many(second)}",
        f"four {many(first)}",
        f"straight flush to the {run}",
    )[category]


def many(rank):
    return rank + ("es" if rank == "six" else "s")


# ---------------------------------------------------------------- moves


def action_to_string(state, action):
    if state.to_move == CHANCE:
        return card_name(action)
    seat = int(state.to_move)
    faced = state.paid[seat] < state.paid[1 - seat]
    return word(action, faced, bool(state.raised) or state.street == 0)


def word(move, faced, opened):
    """What a move is called where a bet is faced, or the street has been opened by one."""
    return ("fold", "call" if faced else "check", "raise" if opened else "bet")[move]


def read(game, state, said):
    legal = legal_actions(game, state)
    action = card_of(said) if state.to_move == CHANCE else UNDERSTOOD.get(said.strip().lower(), -1)
    if action not in legal:
        words = ", ".join(action_to_string(state, action) for action in legal)
        raise BadInput(f"{said.strip()!r} is no move here: {words}")
    return action


def by_street(state):
    """The moves of each street that was reached."""
    made, start, found = moves_made(state), 0, []
    for street in range(int(state.street) + 1):
        end = start + int(state.moves[street])
        found.append([int(nth_move(state.line, made, i)) for i in range(start, end)])
        start = end
    return found


# ---------------------------------------------------------------- positions


def show(game, state, seat):
    lines = []
    for who, role in enumerate(("big blind", "dealer")):
        held = state.hole[who, : min(max(int(state.dealt) - 2 * who, 0), 2)]
        paid = f"{state.paid[who]} of {game.stack}" if game.stack else f"{state.paid[who]}"
        made = f", {hand_name(worth(state, who))}" if state.dealt > HOLE and held[0] >= 0 else ""
        lines.append(f"seat {who + 1}{' (you)' if who == seat else ''}, {role}: {cards(held)}{made}, {paid} in the pot")
    there = state.board[state.board >= 0]
    lines.append(f"board: {' / '.join(cards(part) for part in (there[:3], there[3:4], there[4:]) if len(part)) or '-'}")
    for street, moves in enumerate(by_street(state)):
        said = []
        for i, move in enumerate(moves):
            raised = RAISE in moves[:i]
            said.append(word(move, raised or street + i == 0, raised or street == 0))
        lines.append(f"{STREETS[street]}: {' '.join(said) or '-'}")
    return "\n".join(lines)


def worth(state, seat):
    key = KEYS[state.hole[seat]].sum()
    for card in state.board:
        key += KEYS[card] if card >= 0 else 0
    return int(value(key))
