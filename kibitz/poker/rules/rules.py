"""Heads-up limit hold'em by the rules of the ACPC, optionally with stacks, fewer streets and smaller decks.

This file joins the parts: `state` (the record of a hand), `evaluator` (hand values), `encoding` (network inputs and
packed samples), `display` (for people) and `acpc` (hand histories).

Each chance turn deals one card. Payoffs are in big blinds: 1,000 times their mean is the mbb/g in which players are
measured. Chips that can't be matched are returned, so only the smaller of two stacks would count: `stack` is that of
both seats.
"""

from typing import Annotated, NamedTuple

import numpy as np

from ...games.game import CHANCE, IST, OVER, game
from ...jit import below, copy_record, helper, xor_mix
from . import display, encoding
from .hand_strength import hand_value
from .state import (
    CALL,
    DEALT_BY,
    FOLD,
    HIDDEN,
    HOLE,
    RAISE,
    STATE,
    bet_size,
    bits,
    draw_card,
    first_to_move,
    insert,
    max_chips,
    max_lost,
    max_moves,
    max_raises,
    moves_made,
    nth_move,
    place_card,
    visible_cards,
)


def check(game):
    needed = int(DEALT_BY[game.streets - 1])
    if game.ranks * game.suits < needed:
        return f"{game.streets} streets need {needed} cards, ranks={game.ranks} times suits={game.suits} are fewer"
    if game.small_blind >= game.big_blind:
        return f"small_blind={game.small_blind} should be below big_blind={game.big_blind}"
    if 0 < game.stack < game.big_blind:
        return f"stack={game.stack} is below the big blind of {game.big_blind}; 0 is no limit"
    return None


@game(
    "holdem",
    state=STATE,
    num_actions=lambda game: 3 if max_lost(game) > game.big_blind else 2,
    max_chance_outcomes=lambda game: game.ranks * game.suits,
    max_game_length=lambda game: int(DEALT_BY[game.streets - 1]) + max_moves(game),
    payoffs=lambda game: (-max_lost(game) / game.big_blind, max_lost(game) / game.big_blind),
    encoding=encoding.size,
    targets=("pst", "ist"),
    milli_unit="mbb/g",
    check=check,
)
class Holdem(NamedTuple):
    """Heads-up limit Texas hold'em: two hole cards each, five cards on the board, bets of a fixed size."""

    ranks: Annotated[int, "ranks in the deck, from the deuce", range(2, 14)] = 13
    suits: Annotated[int, "suits in the deck", range(1, 5)] = 4
    streets: Annotated[int, "betting rounds: 1 preflop, 2 and flop, 3 and turn, 4 and river", range(1, 5)] = 4
    small_blind: Annotated[int, "chips that the dealer posts", range(1, 201)] = 5
    big_blind: Annotated[int, "chips that the other seat posts, the unit of payoffs", range(2, 401)] = 10
    small_bet: Annotated[int, "size of a raise preflop and on the flop", range(1, 401)] = 10
    big_bet: Annotated[int, "size of a raise on turn and river", range(1, 401)] = 20
    preflop_raises: Annotated[int, "maximum number of raises preflop", range(6)] = 3
    raises: Annotated[int, "maximum number of bets and raises in each later street", range(6)] = 4
    stack: Annotated[int, "chips of each seat, the blind included; 0: enough for all bets", range(20001)] = 0
    inputs: Annotated[
        int,
        "network inputs: 0 cards by street, bets by slot; 1 the thesis' 3 x 52; 2 as 1, without calls; "
        "3 as 0, with the made hand",
        range(4),
    ] = 0

    presets = {  # type: ignore[misc]
        "flop": {"streets": 2},
        "thesis": {"stack": 80, "inputs": 1},
    }

    display = display.HoldemDisplay  # type: ignore[misc]

    @property
    def opponent(self) -> str:
        """The network that comes with the package for these parameters, else a style."""
        changed = {name: value for name, value in self._asdict().items() if value != self._field_defaults[name]}
        if changed == {"streets": 2}:
            return "net:models/holdem-flop"
        return "style:tight-aggressive" if changed else "net:models/holdem"

    def start(self, state):
        state.line = 0b100
        state.paid[0] = self.big_blind
        state.paid[1] = self.small_blind
        state.hole[:, :] = HIDDEN
        state.board[:] = HIDDEN
        state.moves[:] = 0
        state.dealt = 0
        state.street = 0
        state.raised = 0
        state.to_move = CHANCE

    def turn(self, state):
        return int(state.to_move)

    def actions(self, state, out):
        n = 0
        if state.to_move == CHANCE:
            cards = visible_cards(state)
            for rank in range(self.ranks):
                for card in range(4 * rank, 4 * rank + self.suits):
                    if not cards >> card + 1 & 1:
                        out[n] = card
                        n += 1
            return n
        for action in range(CALL if not_behind(state) else FOLD, (RAISE if may_raise(self, state) else CALL) + 1):
            out[n] = action
            n += 1
        return n

    def sample_action(self, state, rng):
        if state.to_move == CHANCE:
            return draw_card(self, visible_cards(state), rng)
        low = int(not_behind(state))  # CALL, else FOLD
        return low + below(rng, 2 - low + may_raise(self, state))

    def play(self, state, action):
        if state.to_move == CHANCE:
            deal(self, state, action)
        else:
            bet(self, state, action)

    def payoff(self, state, seat):
        paid, other = int(state.paid[seat]), int(state.paid[1 - seat])
        ahead = (paid > other) - (paid < other)  # a seat that folded hasn't matched the bet
        if ahead == 0:
            mine, theirs = hand_value(state, seat), hand_value(state, 1 - seat)
            ahead = (mine > theirs) - (mine < theirs)
        return float(ahead * min(paid, other)) / self.big_blind

    def infoset(self, state, seat):
        cards = 0
        for i in range(2):
            cards = cards << 6 | int(state.hole[seat, i]) + 1
        for i in range(5):
            cards = cards << 6 | int(state.board[i]) + 1
        return xor_mix(xor_mix(state.line << np.uint64(1) | np.uint64(seat), 0), cards)

    def observe(self, state, seat, out):
        encoding.encode(self, state, seat, out)

    def look(self, state, seat, out):
        copy_record(out, state)
        out.hole[1 - seat, :] = HIDDEN

    def determinize(self, view, seat, notes, rng, out):
        copy_record(out, view)
        other = 1 - seat
        cards = visible_cards(view)
        for _ in range(min(max(int(view.dealt) - 2 * other, 0), 2)):
            card = draw_card(self, cards, rng)
            cards |= 1 << card + 1
            insert(out.hole[other], card)
        return True

    def target(self, state, view, seat, mode, actions, n, keep):
        dealing = state.to_move == CHANCE
        made, dealt = moves_made(state), int(state.dealt)
        # Cards that may come next and cards that must not, as bits; the move that must come.
        wanted, spared, move = -1, 0, -1
        if dealing and dealt < view.dealt:
            own = bits(view.hole[seat], 0, 2)
            if dealt >= HOLE + 3:
                wanted = bits(view.board, dealt - HOLE, dealt - HOLE + 1)
            elif dealt >= HOLE:
                wanted = bits(view.board, 0, 3)
            elif mode == IST and dealt >> 1 == seat:
                wanted = own
            else:
                spared = bits(view.board, 0, 5) | (own if mode == IST else 0)
        elif not dealing and made < moves_made(view):
            move = nth_move(view.line, moves_made(view), made)
        kept = 0
        for i in range(n):
            action = np.int64(actions[i])
            if dealing:
                keep[i] = (wanted & ~spared) >> action + 1 & 1 == 1
            else:
                keep[i] = move < 0 or action == move
            kept += keep[i]
        return kept

    def show(self, state, seat):
        return display.show(self, state, seat)

    def picture(self, state, seat):
        return display.picture(self, state, seat)

    def action_to_string(self, state, action):
        return display.action_to_string(state, action)

    def parse_action(self, state, text):
        return display.parse_action(self, state, text)

    # ------------------------------------------------------------ hooks, each of which imports its part when it is used

    how_to_solve = "--with pcs solves it, a game of many cards with an abstraction (--buckets small)"  # type: ignore[misc]
    review_marks = {"blunder": 1.0, "mistake": 0.5, "inaccuracy": 0.25}  # type: ignore[misc]

    @property
    def deep_cfr(self):
        from ..learn.holdem import HoldemTraits

        return HoldemTraits(self)

    def beliefs(self, view, seat, assumed=None, own=None):
        from ..beliefs import range_beliefs

        return range_beliefs(self, view, seat, assumed, assumed if own is None else own)

    def weighted_worlds(self, view, seat, player):
        from ..beliefs import weighted_worlds

        return weighted_worlds(self, view, seat, player)

    def insight(self, view, seat, player, assumed=None, uniform=False, asked=False):
        from ..insight import hand_insight

        return hand_insight(self, view, seat, player, assumed, uniform, asked)

    def public_cards(self):
        from .cards import HoldemCards

        return HoldemCards(self)

    def best_response(self, player, processes, report):
        from ..best_response import evaluate_hands

        return evaluate_hands(self, player, processes, report)


# ---------------------------------------------------------------- bets


@helper
def not_behind(state):
    """Whether there is nothing to call: then folding is illegal."""
    seat = int(state.to_move)
    return state.paid[seat] >= state.paid[1 - seat]


@helper
def may_raise(game, state):
    """Whether a raise is legal: below the cap, and nobody is all in."""
    level = max(int(state.paid[0]), int(state.paid[1]))
    return (state.raised < max_raises(game, int(state.street))) & (level < max_chips(game))


@helper
def deal(game, state, card):
    """Deal a card. After the last of a street a seat moves, or the next street is dealt if both are all in."""
    place_card(state, card)
    street = int(state.street)
    if state.dealt == DEALT_BY[street]:
        all_in, last = street > 0 and state.paid[0] >= max_chips(game), street == game.streets - 1
        state.to_move = (OVER if last else CHANCE) if all_in else first_to_move(street)
        state.street = street + (all_in and not last)


@helper
def bet(game, state, action):
    """Fold, call or raise."""
    seat, street, limit = int(state.to_move), int(state.street), max_chips(game)
    moved, own, level = int(state.moves[street]) + 1, int(state.paid[seat]), int(state.paid[1 - seat])
    folds, calls, last = action == FOLD, action == CALL, street == game.streets - 1
    raised_to = min(level + bet_size(game, street), limit)
    # A first check doesn't close the street, nor does the dealer's call of a blind that isn't all in.
    closes = folds | calls & ((moved > 1) | (level == limit))
    state.line = state.line << np.uint64(2) | np.uint64(action + 1)
    state.moves[street] = moved
    state.paid[seat] = own if folds else level if calls else raised_to
    state.raised = 0 if closes else int(state.raised) + (action == RAISE)
    state.street = street + (closes & (not folds) & (not last))
    state.to_move = (OVER if folds | last else CHANCE) if closes else 1 - seat
