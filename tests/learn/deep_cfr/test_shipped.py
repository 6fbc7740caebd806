"""What the shipped network for hold'em has learned makes sense, and it wins."""

import pytest

from kibitz import games
from kibitz.games import CHANCE, positions, view_of
from kibitz.play import players
from kibitz.play.batched import match_blocks
from kibitz.poker.rules.display import card_of

NETWORK = "net:models/holdem"


def odds_after(cards, moves):
    """Of fold, call and raise; cards of the big blind, of the dealer, and of the board."""
    game, cards = games.load("holdem"), [card_of(card) for card in cards.split()]
    player, state = players.make_for(NETWORK, game), positions(game)[0]
    for move in [*moves, ""]:
        while game.turn(state) == CHANCE:
            game.play(state, cards.pop(0))
        if move:
            game.play(state, "fcr".index(move))
    seat = int(game.turn(state))
    player.begin(game, seat, 1)
    player.move(view_of(game, state, seat))
    return player.advice.policy


def test_good_hands_are_raised_and_bad_ones_folded_before_the_flop():
    for hand in ("As Ah", "Kd Kc"):
        fold, _, more = odds_after(f"5c 9h {hand}", "")
        assert fold < 0.01
        assert more > 0.99  # as the table does
        assert odds_after(f"{hand} 5c 9h", "r")[0] < 0.01
    assert odds_after("9c 5h 3d 2c", "")[0] > 0.4
    assert odds_after("7c 2d 9c 5h", "r")[0] > 0.5


def test_on_the_river_what_is_made_raises_and_nothing_at_all_folds_more_often():
    board, checked_to_the_river = "Qs Js 8s 8c 2h", "rcccccr"
    full, flush, nothing = (
        odds_after(f"4c 5c {hand} {board}", checked_to_the_river) for hand in ("Qc Qd", "As 3s", "7c 3d")
    )
    for made in (full, flush):
        assert made[0] < 0.05
        assert made[2] > 0.8
    assert nothing[0] > 0.3


@pytest.mark.parametrize(("other", "least"), [("always:call", 200), ("random", 200), ("net:models/holdem-deep-cfr", 0)])
def test_it_wins(other, least):
    records = match_blocks("holdem", [NETWORK, other], 1)(range(2000))
    won = sum(record.payoffs[record.players.index(NETWORK)] for record in records) / len(records)
    assert 1000 * won > least  # mbb/g
