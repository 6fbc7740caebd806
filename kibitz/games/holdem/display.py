"""Hold'em for people: names of cards, hands and moves, and positions as text and as a picture."""

from ...core.names import BadInput
from ..game import CHANCE, OVER, legal_actions, view_of
from ..playing_cards import CARD_WIDTH, card_row, empty_place, label, playing_card_svg, table_svg
from .evaluator import CATEGORY
from .hand_strength import hand_value
from .state import CALL, DEALT_BY, FOLD, HOLE, RAISE, moves_made, nth_move

RANKS, SUITS, SYMBOLS = "23456789TJQKA", "cdhs", "♣♦♥♠"
STREETS = ("preflop", "flop", "turn", "river")
ROLES = ("big blind", "dealer")
NAMES = ["deuce", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "jack", "queen", "king", "ace"]
SPELLINGS = {"f": FOLD, "c": CALL, "k": CALL, "r": RAISE, "b": RAISE}
SPELLINGS |= {"fold": FOLD, "call": CALL, "check": CALL, "raise": RAISE, "bet": RAISE}


# ---------------------------------------------------------------- cards


def card_name(card):
    """A card such as `Ah`."""
    return RANKS[card // 4] + SUITS[card % 4]


def card_of(text):
    """The card of a name such as `Ah`, `10s`, `K♦`; -1 if it is no card."""
    plain = text.strip().replace("10", "T").translate(str.maketrans(SYMBOLS, SUITS))
    rank, suit = plain[:1].upper(), plain[1:].lower()
    return 4 * RANKS.index(rank) + SUITS.index(suit) if rank and rank in RANKS and suit in tuple(SUITS) else -1


def card_names(cards):
    """Cards as text; `?` for hidden ones, `-` for none."""
    return " ".join("?" if card < 0 else card_name(int(card)) for card in cards) or "-"


def hand_name(value):
    """The name of a hand's value, such as `two pair, aces and kings`."""
    made, kickers = ([NAMES[r] for r in range(12, -1, -1) if value >> low + r & 1] for low in (13, 0))
    run = NAMES[value & 15] if value & 15 < 13 else ""
    category = value >> CATEGORY
    first, second = (made or kickers)[0], (made[1:] or kickers or [""])[0]
    return (
        f"{first} high",
        f"pair of {plural(first)}",
        f"two pair, {plural(first)} and {plural(second)}",
        f"three {plural(first)}",
        f"straight to the {run}",
        f"flush, {first} high",
        f"full house, {plural(first)} over {plural(second)}",
        f"four {plural(first)}",
        f"straight flush to the {run}",
    )[category]


def plural(rank):
    return rank + ("es" if rank == "six" else "s")


# ---------------------------------------------------------------- moves


def action_to_string(state, action):
    """The name of a card or of a move."""
    if state.to_move == CHANCE:
        return card_name(action)
    seat = int(state.to_move)
    faced = state.paid[seat] < state.paid[1 - seat]
    return move_name(action, faced, bool(state.raised) or state.street == 0)


def move_name(move, faced, opened):
    """The name of a move; `faced`: there is a bet to call, `opened`: the street has a bet or a blind."""
    return ("fold", "call" if faced else "check", "raise" if opened else "bet")[move]


def parse_action(game, state, text):
    """The legal action with this name, else BadInput with the names of all."""
    legal = legal_actions(game, state)
    action = card_of(text) if state.to_move == CHANCE else SPELLINGS.get(text.strip().lower(), -1)
    if action not in legal:
        words = ", ".join(action_to_string(state, action) for action in legal)
        raise BadInput(f"{text.strip()!r} is no move here: {words}")
    return action


def moves_by_street(state):
    """The moves of each street that was reached."""
    made, start, found = moves_made(state), 0, []
    for street in range(int(state.street) + 1):
        end = start + int(state.moves[street])
        found.append([int(nth_move(state.line, made, i)) for i in range(start, end)])
        start = end
    return found


# ---------------------------------------------------------------- positions


def show(game, state, seat):
    """A position as plain text."""
    lines = []
    for who, role in enumerate(ROLES):
        held = hole_cards(state, who)
        paid = f"{state.paid[who]} of {game.stack}" if game.stack else f"{state.paid[who]}"
        you = " (you)" if who == seat else ""
        lines.append(f"seat {who + 1}{you}, {role}: {card_names(held)}{made_hand(state, who)}, {paid} in the pot")
    board = state.board[state.board >= 0]
    parts = [card_names(part) for part in (board[:3], board[3:4], board[4:]) if len(part)]
    return "\n".join([*lines, f"board: {' / '.join(parts) or '-'}", *betting(state)])


def hole_cards(state, seat):
    """The hole cards that a seat has been dealt so far; -1 if hidden."""
    return state.hole[seat, : min(max(int(state.dealt) - 2 * seat, 0), 2)]


def made_hand(state, seat):
    """The name of a seat's hand with the board, after a comma; nothing before the flop or if it is hidden."""
    return f", {hand_name(hand_value(state, seat))}" if state.dealt > HOLE and state.hole[seat, 0] >= 0 else ""


def betting(state):
    """One line per street: the names of its moves."""
    lines = []
    for street, moves in enumerate(moves_by_street(state)):
        names = []
        for i, move in enumerate(moves):
            raised = RAISE in moves[:i]
            names.append(move_name(move, raised or street + i == 0, raised or street == 0))
        lines.append(f"{STREETS[street]}: {' '.join(names) or '-'}")
    return lines


# ---------------------------------------------------------------- pictures


def picture(game, state, seat):
    """A position as SVG from a seat's point of view, at the bottom; -1: from seat 1's, with all cards visible."""
    state = view_of(game, state, seat) if seat >= 0 else state
    below, places = max(seat, 0), int(DEALT_BY[game.streets - 1]) - HOLE
    parts = []
    for who, y in ((1 - below, 34), (below, 250)):
        you = " (you)" if who == seat else ""
        stack = f", {game.stack - int(state.paid[who])} left" if game.stack else ""
        title = f"seat {who + 1}{you}, {ROLES[who]}: bets {state.paid[who]}{stack}"
        parts.append(label(title + made_hand(state, who), 260, y - 10, bold=who == state.to_move))
        parts += card_row([_rank_and_suit(card) for card in hole_cards(state, who)], 260, y, 100)
    step = CARD_WIDTH + 6
    for i in range(places):
        x = 260 - (places * step - 6) / 2 + i * step
        card = _rank_and_suit(state.board[i])
        parts.append(playing_card_svg(*card, x=x, y=136) if card else empty_place(x, 136))
    parts.append(label(f"pot {int(state.paid.sum())}", 260, 122, bold=True))
    lines = betting(state)
    if state.to_move == OVER and not (state.hole < 0).any():
        lines.append(f"seat {below + 1} wins {game.payoff(state, below) * game.big_blind:+g} chips")
    parts += [label(line, 260, 338 + 18 * i) for i, line in enumerate(lines)]
    return table_svg(f"Hold'em: {lines[-1]}", 520, 348 + 18 * len(lines), parts)


def _rank_and_suit(card):
    return (RANKS[card // 4].replace("T", "10"), SYMBOLS[card % 4]) if card >= 0 else None
