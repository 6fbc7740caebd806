"""Hold'em for people: names of cards, hands and moves, and positions as text and as a picture."""

from ...core.names import NoMove
from ...games.display import Display
from ...games.game import CHANCE, OVER, legal_actions, view_of
from ...games.german import drawn_in
from ...games.playing_cards import CARD_WIDTH, FELT, PAPER, card_row, empty_place, label, playing_card_svg, table_svg
from .evaluator import CATEGORY
from .hand_strength import hand_value
from .state import CALL, DEALT_BY, FOLD, HOLE, RAISE, moves_made, nth_move

RANKS, SUITS, SYMBOLS = "23456789TJQKA", "cdhs", "♣♦♥♠"
STREETS = ("preflop", "flop", "turn", "river")
ROLES = ("big blind", "dealer")
NAMES = ["deuce", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "jack", "queen", "king", "ace"]
LETTERS = {"fold": "f", "call": "c", "check": "ck", "raise": "r", "bet": "br"}  # each is short for the move


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
    """The legal action with this name, else BadInput with the names of all.

    A check is no call, and a bet no raise: who writes the one where only the other is possible is mistaken about the
    position.
    """
    names = {action: action_to_string(state, action) for action in legal_actions(game, state)}
    if state.to_move == CHANCE:
        if (card := card_of(text)) in names:
            return card
    else:
        word = text.strip().lower()
        for action, name in names.items():
            if word == name or (len(word) == 1 and word in LETTERS[name]):
                return action
    raise NoMove(f"{text.strip()!r} is no move here: {', '.join(names.values())}")


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
    return _drawn(game, state, seat, max(seat, 0))


def _drawn(game, state, seat, below):
    """Everything that the record shows, with the seat `below` at the bottom; `seat` is the one that looks."""
    places = int(DEALT_BY[game.streets - 1]) - HOLE
    parts = []
    for who, y, chips in ((1 - below, 40, 122), (below, 270, 256)):
        you = " (you)" if who == seat else ""
        stack = f", {game.stack - int(state.paid[who])} left" if game.stack else ""
        title = f"seat {who + 1}{you}, {ROLES[who]}{stack}{made_hand(state, who)}"
        parts.append(label(title, 280, 28 if who != below else y + 84, bold=who == state.to_move))
        parts += card_row([_rank_and_suit(card) for card in hole_cards(state, who)], 280, y, 100)
        parts += _chips(f"bets {state.paid[who]}", 280, chips)
        if ROLES[who] == "dealer":
            parts += _button(184, y + 31)
    step = CARD_WIDTH + 8
    for i in range(places):
        x = 280 - (places * step - 8) / 2 + i * step
        card = _rank_and_suit(state.board[i])
        parts.append(playing_card_svg(*card, x=x, y=146) if card else empty_place(x, 146))
    parts.append(label(f"pot {int(state.paid.sum())}", 480, 182, bold=True, size=18))
    lines = betting(state)
    if state.to_move == OVER:
        parts.append(label(outcome(game, state), 280, 232, bold=True, size=16))
    parts += [label(line, 280, 382 + 19 * i) for i, line in enumerate(lines)]
    return table_svg(f"Hold'em: {lines[-1]}", 560, 392 + 19 * len(lines), parts)


def _chips(text, x, y):
    """What a seat has bet, beside a chip."""
    ring = f'fill="{FELT}" stroke="{PAPER}" stroke-width="3" stroke-dasharray="4 2.3"'
    return [f'<circle cx="{x - 36:g}" cy="{y - 5:g}" r="7" {ring}/>', label(text, x + 6, y)]


def _button(x, y):
    """The dealer button."""
    disc = f'<circle cx="{x:g}" cy="{y:g}" r="12" fill="{PAPER}" stroke="#8a8478"/>'
    letter = f'<text x="{x:g}" y="{y + 5:g}" font-family="sans-serif" font-size="14" font-weight="bold" '
    return [disc, f'{letter}text-anchor="middle" fill="#1d2329">D</text>']


def outcome(game, state):
    """Who wins how many chips; nothing where the hands aren't known."""
    if (state.hole < 0).any():
        return ""
    won = [round(game.payoff(state, who) * game.big_blind) for who in range(2)]
    return f"seat {won.index(max(won)) + 1} wins {max(won)} chips" if max(won) else "the pot is split"


def _rank_and_suit(card):
    return (RANKS[card // 4].replace("T", "10"), SYMBOLS[card % 4]) if card >= 0 else None


# ---------------------------------------------------------------- the table


class HoldemDisplay(Display):
    """The table for interactive games: moves with their chips, suits as symbols."""

    symbol = "bb"
    stage_head = "street"

    def stage(self, view):
        return STREETS[view.street]

    def action_to_string(self, state, action):
        """`call 10`, `bet 10`, `raise by 10`; a card as `A♥`."""
        if state.to_move == CHANCE:
            return "".join(_rank_and_suit(action))
        seat, after, name = int(state.to_move), state.copy(), action_to_string(state, action)
        if action == FOLD or name == "check":
            return name
        self.game.play(after, action)
        if action == CALL:
            return f"{name} {after.paid[seat] - state.paid[seat]}"
        by = {"raise": {"en": " by", "de": " um"}}.get(name, {}).get(self.language, "")
        return f"{name}{by} {after.paid[seat] - state.paid[1 - seat]}"

    def parse_action(self, state, text):
        """A move with its chips or without."""
        names = {self.action_to_string(state, action): action for action in legal_actions(self.game, state)}
        plain = text.strip().lower()
        return names[plain] if plain in names else parse_action(self.game, state, text)

    def final_picture(self, state, seat):
        return drawn_in(self.language, _drawn(self.game, state, seat, seat))
