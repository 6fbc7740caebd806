"""Lines of the ACPC's protocol, against the examples that its description prints (version 2.0.0, October 2010)."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as some

from kibitz import games
from kibitz.core.names import BadInput
from kibitz.games import CHANCE, OVER, positions, view_of
from kibitz.poker.rules import acpc
from kibitz.poker.rules.display import card_of

# "Two player limit Texas Hold'em": what the server sends (S) and the client answers (C).
PUBLISHED = """
S MATCHSTATE:0:0::TdAs|
S MATCHSTATE:0:0:r:TdAs|
C MATCHSTATE:0:0:r:TdAs|:r
S MATCHSTATE:0:0:rr:TdAs|
S MATCHSTATE:0:0:rrc/:TdAs|/2c8c3h
C MATCHSTATE:0:0:rrc/:TdAs|/2c8c3h:r
S MATCHSTATE:0:0:rrc/r:TdAs|/2c8c3h
S MATCHSTATE:0:0:rrc/rc/:TdAs|/2c8c3h/9c
C MATCHSTATE:0:0:rrc/rc/:TdAs|/2c8c3h/9c:c
S MATCHSTATE:0:0:rrc/rc/c:TdAs|/2c8c3h/9c
S MATCHSTATE:0:0:rrc/rc/cr:TdAs|/2c8c3h/9c
C MATCHSTATE:0:0:rrc/rc/cr:TdAs|/2c8c3h/9c:c
S MATCHSTATE:0:0:rrc/rc/crc/:TdAs|/2c8c3h/9c/Kh
C MATCHSTATE:0:0:rrc/rc/crc/:TdAs|/2c8c3h/9c/Kh:c
S MATCHSTATE:0:0:rrc/rc/crc/c:TdAs|/2c8c3h/9c/Kh
S MATCHSTATE:0:0:rrc/rc/crc/cr:TdAs|/2c8c3h/9c/Kh
C MATCHSTATE:0:0:rrc/rc/crc/cr:TdAs|/2c8c3h/9c/Kh:c
S MATCHSTATE:0:0:rrc/rc/crc/crc:TdAs|8hTc/2c8c3h/9c/Kh
S MATCHSTATE:1:1::|Qd7c
C MATCHSTATE:1:1::|Qd7c:r
S MATCHSTATE:1:1:r:|Qd7c
S MATCHSTATE:1:1:rr:|Qd7c
C MATCHSTATE:1:1:rr:|Qd7c:c
S MATCHSTATE:1:1:rrc/:|Qd7c/2h8h5c
S MATCHSTATE:1:1:rrc/r:|Qd7c/2h8h5c
C MATCHSTATE:1:1:rrc/r:|Qd7c/2h8h5c:c
S MATCHSTATE:1:1:rrc/rc/:|Qd7c/2h8h5c/Th
S MATCHSTATE:1:1:rrc/rc/r:|Qd7c/2h8h5c/Th
C MATCHSTATE:1:1:rrc/rc/r:|Qd7c/2h8h5c/Th:f
S MATCHSTATE:1:1:rrc/rc/rf:|Qd7c/2h8h5c/Th
S MATCHSTATE:0:2::9d7s|
S MATCHSTATE:0:2:r:9d7s|
C MATCHSTATE:0:2:r:9d7s|:c
S MATCHSTATE:0:2:rc/:9d7s|/5d2cJc
C MATCHSTATE:0:2:rc/:9d7s|/5d2cJc:c
S MATCHSTATE:0:2:rc/c:9d7s|/5d2cJc
S MATCHSTATE:0:2:rc/cc/:9d7s|/5d2cJc/3d
C MATCHSTATE:0:2:rc/cc/:9d7s|/5d2cJc/3d:c
S MATCHSTATE:0:2:rc/cc/c:9d7s|/5d2cJc/3d
S MATCHSTATE:0:2:rc/cc/cr:9d7s|/5d2cJc/3d
C MATCHSTATE:0:2:rc/cc/cr:9d7s|/5d2cJc/3d:f
S MATCHSTATE:0:2:rc/cc/crf:9d7s|/5d2cJc/3d
""".strip().splitlines()
SENT = [line[2:] for line in PUBLISHED if line[0] == "S"]
ANSWERED = {line[2:-2]: line[-1] for line in PUBLISHED if line[0] == "C"}
# Cards in the order of dealing, moves, chips of the seat. Cards that the description doesn't tell are made up.
HANDS = {
    0: ("TdAs8hTc2c8c3h9cKh", "rrcrccrccrc", -80),
    1: ("3s3dQd7c2h8h5cTh", "rrcrcrf", -40),
    2: ("9d7s3s3h5d2cJc3d", "rccccrf", -20),
}
GAME = games.load("holdem")


def test_the_rules_are_those_of_the_game_definition():
    """holdem.limit.2p.reverse_blinds.game: blind = 10 5, raiseSize = 10 10 20 20, maxRaises = 3 4 4 4."""
    (state,) = positions(GAME)
    assert state.paid.tolist() == [10, 5]  # seat 0 is the big blind
    bets = [GAME.small_bet, GAME.small_bet, GAME.big_bet, GAME.big_bet]
    raises = [GAME.preflop_raises, *[GAME.raises] * 3]
    assert (bets, raises) == ([10, 10, 20, 20], [3, 4, 4, 4])
    seen = [acpc.read_seen(GAME, f"MATCHSTATE:0:0:{moves}:AhKd|{board}") for moves, board in
            (("", ""), ("cc/", "/2c3d4h"), ("cc/cc/", "/2c3d4h/5s"), ("cc/cc/cc/", "/2c3d4h/5s/6c"))]  # fmt: skip
    assert [GAME.turn(each.view) + 1 for each in seen] == [2, 1, 1, 1]  # firstPlayer = 2 1 1 1


@pytest.mark.parametrize("line", SENT)
def test_the_published_lines_are_understood(line):
    seen = acpc.read_seen(GAME, line)
    assert (str(seen.seat), str(seen.number)) == tuple(line.split(":")[1:3])
    assert acpc.moves(seen.view) == line.split(":")[3]
    # The client moves exactly where the description has an answer, and that answer is legal.
    assert (not seen.over and GAME.turn(seen.view) == seen.seat) == (line in ANSWERED)
    if line in ANSWERED:
        assert acpc.LETTERS.index(ANSWERED[line]) in games.legal_actions(GAME, seen.view)
    if seen.over:
        assert seen.chips == HANDS[seen.number][2]
    else:
        assert (seen.view.hole[1 - seen.seat] == -1).all()  # nothing is made up for the player


def test_a_dealer_writes_the_published_lines():
    written = []
    for number, (cards, letters, _) in HANDS.items():
        seat = number % 2  # the client of the example has seats 0, 1, 0
        cards, moves = [card_of(cards[i : i + 2]) for i in range(0, len(cards), 2)], list(letters)
        (state,), dealt = positions(GAME), []
        while GAME.turn(state) != OVER:
            if GAME.turn(state) == CHANCE:
                dealt.append(cards[len(dealt)])
                GAME.play(state, dealt[-1])
            else:
                written.append(acpc.write_seen(GAME, state, seat, number, dealt))
                GAME.play(state, acpc.LETTERS.index(moves.pop(0)))
        assert moves == []
        written.append(acpc.write_seen(GAME, state, seat, number, dealt))
    assert written == SENT


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("MATCHSTATE:2:0::AhKd|", "should have the form MATCHSTATE:seat:hand:moves:cards"),
        ("MATCHSTATE:0:x::AhKd|", "should have the form"),
        ("STATE:0:0::AhKd|", "should have the form"),
        ("MATCHSTATE:0:4::|AhKd", "hand 4: the cards '|AhKd' should have those of seat 0"),
        ("MATCHSTATE:0:4::AhKd", "should have those of seat 0"),
        ("MATCHSTATE:0:4::AhAh|", "hand 4: Ah occurs twice"),
        ("MATCHSTATE:0:4::AhKx|", "'Kx' is no card of the deck"),
        ("MATCHSTATE:0:4:rrrrr:AhKd|", "move 4 of 'rrrrr' is 'r', legal is f or c"),
        ("MATCHSTATE:0:4:cf:AhKd|", "move 2 of 'cf' is 'f', legal is c or r"),
        ("MATCHSTATE:0:4:cc:AhKd|/2c3d4h", "the moves 'cc' should be 'cc/'"),
        ("MATCHSTATE:0:4:cc/:AhKd|", "has only 4 cards, but more were dealt"),
        ("MATCHSTATE:0:4::AhKd|/2c3d4h", "has 7 cards, but only 4 were dealt"),
        ("MATCHSTATE:0:4:cc/cc/cc/cc:AhKd|/2c3d4h/5s/6c", "should show the cards of both seats after a showdown"),
    ],
)
def test_an_impossible_state_is_refused_in_one_line(line, why):
    with pytest.raises(BadInput) as raised:
        acpc.read_seen(GAME, line)
    assert why in str(raised.value)
    assert "\n" not in str(raised.value)


@given(some.sampled_from(SENT), some.integers(0, 60), some.integers(0, 9), some.text("AhKd|/:fcr3é\n ", max_size=6))
def test_any_line_is_read_or_refused(line, start, length, text):
    with contextlib.suppress(BadInput):
        acpc.read_seen(GAME, line[:start] + text + line[start + length :])


def test_a_log_is_read_without_its_other_lines():
    hand = "STATE:3:crc/cc/rrc/cc:AhKd|QsJc/2c3d4h/5s/9c:60|-60:alice|bob"
    log = (
        f"# name/game/hands/seed x y 2 1\n#--t_response 600000\n{hand}\n\n{hand.replace(':3:', ':4:')}\nSCORE:0|0:a|b\n"
    )
    assert [found.number for found in acpc.read_acpc_log(GAME, log)] == [3, 4]
    with pytest.raises(BadInput, match="line 3: hand 3: Ah occurs twice"):
        list(acpc.read_acpc_log(GAME, log.replace("Kd", "Ah")))


def test_the_view_is_that_of_the_rules():
    """Cards and moves of a whole hand give the view that the game itself shows the seat."""
    cards, moves, _ = HANDS[0]
    (state,) = positions(GAME)
    acpc.follow(GAME, state, [card_of(cards[i : i + 2]) for i in range(0, 14, 2)], moves[:4], "", "hand 0")
    seen = acpc.read_seen(GAME, "MATCHSTATE:0:0:rrc/r:TdAs|/2c8c3h")
    assert seen.view == view_of(GAME, state, 0)
