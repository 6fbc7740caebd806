"""Hand histories of PokerStars: what is read, and what is refused in one line."""

import pytest

from kibitz.core.names import BadInput
from kibitz.games import load
from kibitz.poker.rules import acpc, pokerstars

GAME = load("holdem")
SHOWDOWN = """PokerStars Hand #27738502010: Hold'em Limit ($1/$2 USD) - 2009/05/02 13:32:38 ET
Table 'Mekbuda VI' 2-max Seat #1 is the button
Seat 1: alice ($25 in chips)
Seat 2: bob: 2 ($30.50 in chips)
alice: posts small blind $0.50
bob: 2: posts big blind $1
*** HOLE CARDS ***
Dealt to alice [Ah Kd]
alice: raises $1 to $2
bob: 2: calls $1
*** FLOP *** [2c 3d 4h]
bob: 2: checks
alice: bets $1
bob: 2: raises $1 to $2
alice: calls $1
*** TURN *** [2c 3d 4h] [5s]
bob: 2: checks
alice: checks
*** RIVER *** [2c 3d 4h 5s] [9c]
bob: 2 said, "nice hand"
bob: 2: bets $2
alice: calls $2
*** SHOW DOWN ***
bob: 2: shows [Qs Jc] (high card Queen)
alice: shows [Ah Kd] (a straight, Ace to Five)
alice collected $11.50 from pot
*** SUMMARY ***
Total pot $12 | Rake $0.50
Board [2c 3d 4h 5s 9c]
Seat 1: alice (button) (small blind) showed [Ah Kd] and won ($11.50) with a straight, Ace to Five
Seat 2: bob: 2 (big blind) showed [Qs Jc] and lost with high card Queen
"""
FOLDED = """PokerStars Game #7: Hold'em Limit (€1/€2 EUR) - 2009/05/02 13:33:38 ET
Table 'Mekbuda VI' 2-max Seat #2 is the button
Seat 1: alice (€25 in chips)
Seat 2: carol (€30 in chips)
carol: posts small blind €0.50
alice: posts big blind €1
*** HOLE CARDS ***
Dealt to alice [Th 2s]
carol: folds
Uncalled bet (€0.50) returned to alice
alice collected €1 from pot
*** SUMMARY ***
Total pot €1 | Rake €0
Seat 2: carol (button) (small blind) folded before Flop
"""


def read(text):
    (_, lines) = next(pokerstars.hands(text))
    return pokerstars.read(GAME, lines)


def test_a_hand_is_the_game_that_was_played():
    hand = read(SHOWDOWN)
    assert (hand.number, hand.names) == (27738502010, ["bob: 2", "alice"])
    assert hand.payoffs == [-6.0, 6.0]
    line = acpc.write(GAME, hand.end, 0, ("bob", "alice"))
    assert line == "STATE:0:rc/crrc/cc/rc:QsJc|AhKd/4h3d2c/5s/9c:-60|60:bob|alice"


def test_a_file_holds_hands_with_a_byte_order_mark_and_any_line_ends():
    found = list(pokerstars.hands("\ufeff" + "\r\n".join([*SHOWDOWN.splitlines(), "", "", *FOLDED.splitlines()])))
    assert [place for place, _ in found] == [1, 34]
    assert pokerstars.read(GAME, found[0][1]).payoffs == [-6.0, 6.0]


def test_mucked_cards_of_the_summary_are_known():
    mucked = SHOWDOWN.replace("bob: 2: shows [Qs Jc] (high card Queen)", "bob: 2: mucks hand")
    assert read(mucked.replace("(big blind) showed", "(big blind) mucked")).payoffs == [-6.0, 6.0]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (FOLDED, "hand 7: the cards of carol aren't shown, so it is no whole game"),
        (SHOWDOWN.replace("Limit", "No Limit"), 'Limit ($1/$2 USD)" should be'),
        (SHOWDOWN.replace("Seat 2: bob", "Seat 3: dan ($9 in chips)\nSeat 2: bob", 1), "has 3 players, not 2"),
        (SHOWDOWN.replace("calls $2", "calls $2 and is all-in"), "alice is all-in"),
        (SHOWDOWN.replace("blind $0.50", "blind $0.40"), "the blinds 0.4/1 should be in proportion 5/10"),
        (SHOWDOWN.replace("Total pot $12", "Total pot $14"), "the pot of 14 should be 12 by these rules"),
        (SHOWDOWN.replace("alice: calls $2\n", ""), "isn't over: there is no move of alice"),
        (SHOWDOWN.replace("alice: checks\n", ""), "bob: 2 bets, but it is the turn of alice"),
        (SHOWDOWN.replace("Kd", "Qs"), "a card occurs twice"),
        (SHOWDOWN.replace("Kd", "1d"), "'1d' is no card, such as Ah"),
        (SHOWDOWN.replace("alice: bets $1\n", "alice: folds\n"), "alice folds, which these rules don't allow here"),
        (SHOWDOWN.replace("posts big", "posts no"), "both blinds should be posted"),
    ],
)
def test_what_is_no_whole_game_is_refused_in_one_line(text, reason):
    with pytest.raises(BadInput) as error:
        read(text)
    assert reason in str(error.value)
    assert "\n" not in str(error.value)
