"""Hold'em: hands replayed by OpenSpiel and PokerKit, published sizes of the game, all-ins, network inputs, records."""

import contextlib
import re
from dataclasses import replace

import numpy as np
import pyspiel
import pytest
from hypothesis import given
from hypothesis import strategies as some
from pokerkit import Automation, FixedLimitTexasHoldem

from kibitz import games, jit
from kibitz.core.names import BadInput
from kibitz.games import CHANCE, OVER
from kibitz.poker.rules import Holdem, acpc, encoding
from kibitz.poker.rules.display import card_name, card_of
from kibitz.poker.rules.state import CALL, FOLD, RAISE

from .walks import all_steps, encoding_of, same, targeted, view_of

LETTERS = {"f": FOLD, "c": CALL, "r": RAISE}


def played(game, moves, cards=range(9)):
    """A position after these moves, with cards from the list where chance deals."""
    state, cards = games.positions(game)[0], iter(cards)
    for move in moves:
        while game.turn(state) == CHANCE:
            game.play(state, next(cards))
        assert LETTERS[move] in games.legal_actions(game, state)
        game.play(state, LETTERS[move])
    while game.turn(state) == CHANCE:
        game.play(state, next(cards))
    return state


# ---------------------------------------------------------------- against OpenSpiel

VARIANTS = {
    "holdem": 700,
    "holdem:flop": 300,
    "holdem:5,suits=3,streets=3,preflop_raises=1,raises=2,small_blind=3,big_blind=7,small_bet=4,big_bet=9": 300,
    "holdem:6,preflop_raises=5,raises=1": 300,
    "holdem:4,suits=2,streets=2,raises=5": 300,
}


def universal_poker(game):
    streets = game.streets
    return pyspiel.load_game(
        f"universal_poker(betting=limit,numPlayers=2,numRounds={streets},blind={game.big_blind} {game.small_blind},"
        f"firstPlayer={listed(2, 1, 1, 1)[: 2 * streets - 1]},numSuits={game.suits},numRanks={game.ranks},"
        f"numHoleCards=2,numBoardCards={listed(0, 3, 1, 1)[: 2 * streets - 1]},"
        f"raiseSize={' '.join([str(game.small_bet)] * 2 + [str(game.big_bet)] * 2)},"
        f"maxRaises={listed(game.preflop_raises, *[game.raises] * 3)},bettingAbstraction=fcpa)"
    )


def listed(*numbers):
    return " ".join(map(str, numbers))


@pytest.mark.parametrize(("name", "count"), VARIANTS.items(), ids=VARIANTS)
def test_hands_agree_with_openspiel(name, count):
    agrees_with_openspiel(games.load(name), range(count))


@pytest.mark.heavy
@pytest.mark.parametrize(("name", "count"), VARIANTS.items(), ids=VARIANTS)
def test_many_hands_agree_with_openspiel(name, count):
    agrees_with_openspiel(games.load(name), range(25 * count))


def agrees_with_openspiel(game, seeds):
    """Mover, legal actions, what the mover knows, pot, payoffs, and the line of the hand."""
    oracle, known, keys = universal_poker(game), {}, {}
    for seed in seeds:
        state, past = oracle.new_initial_state(), {0: (), 1: ()}
        for step in hand(game, seed):
            turn = step["turn"]
            assert state.is_terminal() == (turn == OVER)
            if turn == OVER:
                assert state.returns() == acpc.chips(game, step["state"])
                check_line(game, step["state"], str(state))
                break
            legal = state.legal_actions()
            assert state.current_player() == turn
            ours = [card // game.suits * 4 + card % game.suits for card in legal] if turn == CHANCE else legal
            assert sum(1 << action for action in ours) == step["legal"]
            if turn != CHANCE:
                known_now = state.information_state_string()
                pot = re.search(r"Spent: \[P0: (\d+)  P1: (\d+)", str(state))
                assert [int(paid) for paid in pot.groups()] == step["state"]["paid"].tolist()
                past[turn] = hash((past[turn], known_now))
                key = int(step["key"])
                assert keys.setdefault((turn, past[turn]), key) == key
                assert known.setdefault(key, (turn, past[turn])) == (turn, past[turn])
            state.apply_action(legal[ours.index(step["action"])])


def hand(game, seed):
    """A random hand, one row per turn. Three of four folds become calls: else few hands would reach the river."""
    fields = ("state", game.state), ("turn", "i8"), ("legal", "u8"), ("key", "u8"), ("action", "i8")
    steps = np.zeros(game.facts.max_game_length + 1, list(fields))
    return steps[: play_hand(game, jit.generators(seed, 1)[0], np.zeros(52, np.int64), *(steps[f] for f, _ in fields))]


@jit.kernel
def play_hand(game, rng, actions, states, turns, legal, keys, played):
    game.start(states[0])
    row = 0
    while game.turn(states[row]) != OVER:
        turn = game.turn(states[row])
        turns[row] = turn
        keys[row] = game.infoset(states[row], max(turn, 0))
        for i in range(game.actions(states[row], actions)):
            legal[row] |= np.uint64(1) << np.uint64(actions[i])
        played[row] = game.sample_action(states[row], rng)
        if turn != CHANCE and played[row] == FOLD and jit.below(rng, 4):
            played[row] = CALL
        states[row + 1] = states[row]
        row += 1
        game.play(states[row], played[row - 1])
    turns[row] = OVER
    return row + 1


def check_line(game, state, theirs):
    """Our line equals OpenSpiel's, except for the order of cards that are dealt together, and is read back."""
    line = acpc.write(game, state, 7, ("oos:1000", "random"))
    moves, cards = re.search(r"STATE:0:(.*?):(\S*)", theirs).groups()
    parts = line.split(":")
    assert parts[2] == moves
    assert [sorted(together) for together in re.split(r"[|/]", parts[3])] == [
        sorted(together) for together in re.split(r"[|/]", cards)
    ]
    hand = acpc.read(game, line)
    assert (hand.number, hand.names) == (7, ["oos:1000", "random"])
    assert hand.payoffs == [game.payoff(state, seat) for seat in range(2)]
    again = games.positions(game)[0]
    for action in hand.actions:
        game.play(again, action)
    assert same(again, state)


# ---------------------------------------------------------------- stacks, against PokerKit

STACKS = ["holdem:thesis", "holdem:stack=35", "holdem:stack=10", "holdem:stack=247", "holdem:stack=40,raises=2"]
AUTOMATIC = tuple(set(Automation) - {Automation.HOLE_DEALING, Automation.BOARD_DEALING, Automation.CARD_BURNING})


@pytest.mark.parametrize("name", STACKS)
def test_hands_with_stacks_agree_with_pokerkit(name):
    agrees_with_pokerkit(games.load(name), range(80))


@pytest.mark.heavy
@pytest.mark.parametrize("name", STACKS)
def test_many_hands_with_stacks_agree_with_pokerkit(name):
    agrees_with_pokerkit(games.load(name), range(4000))


def agrees_with_pokerkit(game, seeds):
    table = FixedLimitTexasHoldem(AUTOMATIC, True, 0, (game.small_blind, game.big_blind), game.small_bet, game.big_bet)
    for seed in seeds:
        state = table(game.stack, 2)
        state.streets = tuple(
            replace(street, max_completion_betting_or_raising_count=game.raises if i else game.preflop_raises)
            for i, street in enumerate(state.streets)
        )
        dealt = ""
        for step in hand(game, seed):
            turn, paid, cards = step["turn"], step["state"]["paid"].tolist(), step["state"]["dealt"]
            if turn == OVER:
                assert not state.status
                assert [stack - game.stack for stack in state.stacks] == acpc.chips(game, step["state"])
            elif turn == CHANCE:
                dealt += card_name(step["action"])
                if cards in (1, 3):
                    state.deal_hole(dealt)
                elif cards >= 6:
                    state.burn_card("??")
                    state.deal_board(dealt)
                dealt = "" if cards in (1, 3) or cards >= 6 else dealt
            else:
                # PokerKit allows folding to a check, with a warning.
                can = state.checking_or_calling_amount > 0, state.can_check_or_call()
                can += (state.can_complete_bet_or_raise_to(),)
                assert state.turn_index == turn
                assert sum(1 << action for action in range(3) if can[action]) == step["legal"]
                assert [game.stack - stack for stack in state.stacks] == paid
                (state.fold, state.check_or_call, state.complete_bet_or_raise_to)[step["action"]]()


@pytest.mark.parametrize(
    ("stack", "moves", "paid", "legal"),
    [
        (10, "", [10, 5], [FOLD, CALL]),  # the big blind is all in
        (15, "", [10, 5], [FOLD, CALL, RAISE]),
        (15, "r", [10, 15], [FOLD, CALL]),  # a raise of 5
        (15, "ccr", [15, 10], [FOLD, CALL]),
        (80, "rrrcrrrr", [70, 80], [FOLD, CALL]),
        (80, "ccccrrr", [70, 50], [FOLD, CALL, RAISE]),
        (80, "ccccrrrr", [70, 80], [FOLD, CALL]),
    ],
)
def test_no_seat_puts_in_more_than_its_stack(stack, moves, paid, legal):
    state = played(Holdem(stack=stack), moves)
    assert state.paid.tolist() == paid
    assert games.legal_actions(Holdem(stack=stack), state) == legal


def test_after_an_all_in_the_remaining_cards_are_dealt():
    state = played(Holdem(stack=15), "rc")
    assert Holdem(stack=15).turn(state) == OVER
    assert state.dealt == 9
    assert state.moves.tolist() == [2, 0, 0, 0]
    assert acpc.write(Holdem(stack=15), state).startswith("STATE:0:rc///:2d2c|2s2h/3h3d3c/3s/4c:")


# ---------------------------------------------------------------- known numbers


def test_the_game_has_the_published_number_of_infosets():
    """Johanson (2013) counts 319,365,922,522,608: decision points by street, times the cards that a seat sees."""
    game, decisions = games.load("holdem"), [0, 0, 0, 0]

    def visit(state):
        while game.turn(state) == CHANCE:
            game.play(state, int(state.dealt))
        if game.turn(state) != OVER:
            decisions[state.street] += 1
            for action in games.legal_actions(game, state):
                after = state.copy()
                game.play(after, action)
                visit(after)

    visit(games.positions(game)[0])
    pairs = 52 * 51 // 2
    flops = pairs * (50 * 49 * 48 // 6)
    assert decisions == [8, 7 * 10, 7 * 9 * 10, 7 * 9 * 9 * 10]
    assert np.dot(decisions, [pairs, flops, flops * 47, flops * 47 * 46]) == 319_365_922_522_608


def test_always_folding_loses_750_mbb_per_game_to_always_raising():
    game, rng, lost = games.load("holdem"), jit.generators(1, 1)[0], []
    for hand in range(200):
        folder, state = hand % 2, games.positions(game)[0]
        while (turn := game.turn(state)) != OVER:
            legal = games.legal_actions(game, state)
            game.play(state, game.sample_action(state, rng) if turn == CHANCE else legal[0 if turn == folder else -1])
        lost.append(1000 * game.payoff(state, folder))
    assert np.mean(lost) == -750


def test_at_most_24_big_blinds_are_lost():
    game = games.load("holdem")
    state = played(game, "rrrc" + "rrrrc" * 3)
    assert state.paid.tolist() == [240, 240]
    assert game.facts.payoffs == (-24, 24)
    assert game.facts.max_game_length == 9 + len("crrrc" + "crrrrc" * 3)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("holdem:stack=9", ["stack=9", "below the big blind of 10"]),
        ("holdem:stack=-1", ["stack=-1", "0 to 20000"]),
        ("holdem:small_blind=10", ["small_blind=10", "below big_blind=10"]),
        ("holdem:2", ["ranks=2", "suits=4", "9 cards"]),
        ("holdem:14", ["ranks=14", "2 to 13"]),
        ("holdem:streets=5", ["streets=5", "1 to 4"]),
    ],
)
def test_bad_parameters_are_refused(name, words):
    with pytest.raises(BadInput) as raised:
        games.load(name)
    assert "\n" not in str(raised.value)
    assert all(word in str(raised.value) for word in words)


# ---------------------------------------------------------------- views and network inputs


def test_the_order_in_which_cards_come_is_not_known():
    game = games.load("holdem")
    one = played(game, "cc", [10, 20, 30, 40, 1, 2, 3])
    same_cards = [[20, 10, 30, 40, 3, 1, 2], [10, 20, 40, 30, 2, 3, 1]]
    others = [[10, 21, 30, 40, 1, 2, 3], [10, 20, 30, 40, 1, 2, 4]]
    assert all(same(one, played(game, "cc", cards)) for cards in same_cards)
    assert all(game.infoset(one, 0) != game.infoset(played(game, "cc", cards), 0) for cards in others)
    # The turn card is known as such.
    swapped = [played(game, "cccc", [10, 20, 30, 40, *board]) for board in ([1, 2, 3, 4], [1, 2, 4, 3])]
    assert game.infoset(swapped[0], 0) != game.infoset(swapped[1], 0)


def test_targeting_a_view_deals_its_cards_in_their_places():
    game, cards = games.load("holdem"), [10, 20, 30, 40, 1, 2, 3, 4]
    view = view_of(game, played(game, "cccc", cards), 0)

    def kept(mode, moves, dealt):
        state = games.positions(game)[0]
        dealt, moves = iter(dealt), iter(moves)
        while (move := next(dealt if game.turn(state) == CHANCE else moves, None)) is not None:
            game.play(state, LETTERS.get(move, move))
        keep, count = targeted(game, state, view, 0, mode)
        assert count == sum(keep.values())
        return {card for card in keep if keep[card]}

    others = set(range(52)) - set(cards[4:])
    assert kept("pst", "", []) == others
    assert kept("ist", "", []) == {10, 20}
    assert kept("ist", "", [20]) == {10}
    assert kept("pst", "", [50, 51]) == others - {50, 51}
    assert kept("ist", "", [10, 20]) == others - {10, 20}
    for mode in ("pst", "ist"):
        assert kept(mode, "cc", [10, 20, 30, 31]) == {1, 2, 3}
        assert kept(mode, "cc", [10, 20, 30, 31, 2]) == {1, 3}
        assert kept(mode, "cccc", [10, 20, 30, 31, 2, 1, 3]) == {4}
        assert kept(mode, "ccc", [10, 20, 30, 31, 2, 1, 3]) == {CALL}


def test_bets_are_encoded_by_slot_as_shares_of_the_pot():
    game = games.load("holdem")
    seen = encoding_of(game, played(game, "crcrr", [10, 20, 30, 40, 1, 2, 3]), 1)
    decks, slots = seen[: 4 * 52].reshape(4, 52), seen[4 * 52 :].reshape(-1, 2)
    assert [np.flatnonzero(deck).tolist() for deck in decks] == [[30, 40], [1, 2, 3], [], []]
    expected = np.zeros((5 + 3 * 6, 2))
    expected[:3] = [[1, 5 / 15], [1, 10 / 20], [1, 10 / 30]]
    expected[5:7] = [[1, 10 / 40], [1, 20 / 50]]
    assert slots == pytest.approx(expected)


@pytest.mark.parametrize(
    ("own", "board", "pairs", "runs", "suited", "own_ranks"),
    [
        ("Ah Kh", "", [[], [], []], [[], []], 2, []),
        ("9c 9d", "9h 2s 2c", [[0, 7], [7], []], [[], []], 2, []),
        ("Ah Kd", "Qs Jc 2h", [[], [], []], [[9], []], 2, []),
        ("Ah Kd", "Qs Jc Th", [[], [], []], [[8, 9], [9]], 2, []),
        ("Ah 5d", "2s 3c 4h", [[], [], []], [[0, 1], [0]], 2, []),
        ("Ah 5h", "2h 3h 9c Kd", [[], [], []], [[0], []], 4, [3, 12]),
        ("Ah 5d", "2h 3h 9h Kh 2s", [[0], [], []], [[0], []], 5, [12]),
        ("Ts Tc", "Td Th Ac", [[8], [8], [8]], [[], []], 2, []),
        ("3c 4d", "Th Jh 2h 8h 5s", [[], [], []], [[0, 1], []], 1, []),
    ],
)
def test_the_made_hand_is_encoded(own, board, pairs, runs, suited, own_ranks):
    """Ranks go from 0 (deuce) to 12 (ace), runs of five from 0 (ace to five)."""
    game = Holdem(inputs=3)
    cards = [card_of(text) for text in f"{own} {board}".split()]
    state = games.positions(game)[0]
    game.start(state)
    state.hole[1], state.board[: len(cards) - 2] = cards[:2], cards[2:]
    made = encoding_of(game, state, 1)[-encoding.MADE :]
    bits = [np.flatnonzero(part).tolist() for part in np.split(made, np.cumsum([13, 13, 13, 10, 10, 4]))]
    assert bits == [*pairs, *runs, list(range(suited - 1)), own_ranks]


def test_the_encoding_of_the_thesis_has_three_rows():
    for inputs, call in ((1, -1), (2, 0)):
        game = Holdem(inputs=inputs)
        rows = encoding_of(game, played(game, "crcrr", [10, 20, 30, 40, 1, 2, 3]), 1).reshape(3, 52)
        assert np.flatnonzero(rows[0]).tolist() == [1, 2, 3]
        assert np.flatnonzero(rows[1]).tolist() == [30, 40]
        assert rows[2].tolist() == [call, 1, call, 1, 1] + [0] * 47


@jit.kernel
def packed_and_back(game, state, seat, packed, out):
    encoding.pack(state, seat, packed)
    return encoding.unpack(game, packed, out)


@pytest.mark.parametrize("name", ["holdem", "holdem:thesis", "holdem:6,suits=3,streets=3,stack=45"])
def test_a_view_is_packed_into_16_bytes_and_restored(name):
    game = games.load(name)
    packed, out = np.zeros(1, encoding.PACKED), np.zeros(1, game.state)
    assert packed.itemsize == 16
    for step in all_steps(game, 40):
        if step.turn >= 0:
            for function in (packed_and_back, getattr(packed_and_back, "py_func", packed_and_back)):
                assert function(game, step.state, step.turn, packed[0], out[0]) == step.turn
                assert same(out[0], view_of(game, step.state, step.turn))


# ---------------------------------------------------------------- text and records


@pytest.mark.parametrize(
    ("moves", "words", "letters"),
    [("", "fold, call, raise", "fcr"), ("c", "check, raise", "ckr"), ("cc", "check, bet", "ckrb")],
)
def test_a_check_is_no_call_and_a_bet_no_raise(moves, words, letters):
    game = games.load("holdem")
    state = played(game, moves)
    for word in words.split(", "):
        assert game.action_to_string(state, game.parse_action(state, f" {word.upper()}")) == word
    for letter in letters:
        game.parse_action(state, letter)
    for word in {"fold", "check", "call", "bet", "raise", *"fckrb"} - {*words.split(", "), *letters}:
        with pytest.raises(BadInput, match=f"^'{word}' is no move here: {words}$"):
            game.parse_action(state, word)


def test_moves_have_the_names_that_players_use():
    game = games.load("holdem")
    for moves, words in (
        ("", ["fold", "call", "raise"]),
        ("c", ["check", "raise"]),
        ("rrr", ["fold", "call"]),
        ("cc", ["check", "bet"]),
        ("ccr", ["fold", "call", "raise"]),
    ):
        state = played(game, moves)
        legal = games.legal_actions(game, state)
        assert [game.action_to_string(state, action) for action in legal] == words
        assert [game.parse_action(state, letter) for letter in ("f", "c", "r") if LETTERS[letter] in legal] == legal
    assert game.show(played(game, "crcccrrf"), 0).splitlines() == [
        "seat 1 (you), big blind: 2d 2c, four threes, 40 in the pot",
        "seat 2, dealer: 2s 2h, four threes, 60 in the pot",
        "board: 3h 3d 3c / 3s",
        "preflop: call raise call",
        "flop: check check",
        "turn: bet raise fold",
    ]


GOOD = "STATE:3:crc/cc/rrc/cc:AhKd|QsJc/2c3d4h/5s/9c:60|-60:alice|bob"


def test_a_hand_history_is_read():
    hand = acpc.read(games.load("holdem"), GOOD + "\n")
    assert hand.number == 3
    assert hand.names == ["alice", "bob"]
    assert hand.payoffs == [6.0, -6.0]
    assert acpc.read(games.load("holdem"), GOOD.replace("60|-60", "60.000000|-60.000000")) == hand


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("STATE", "MATCH", ["STATE:number:moves:cards:chips:names"]),
        (":3:", ":x:", ["STATE:number:moves"]),
        (":60|-60:alice|bob", "", ["STATE:number:moves"]),
        ("alice|bob", "alice", ["hand 3", "'alice'", "two names"]),
        ("Ah", "Ax", ["hand 3", "'Ax' is no card", "23456789TJQKA", "cdhs"]),
        ("Ah", "1h", ["hand 3", "'1h' is no card"]),
        ("2c3d4h", "2c3dKd", ["hand 3", "Kd occurs twice"]),
        ("crc/", "crrrrc/", ["hand 3", "move 5", "'r'", "f or c"]),
        ("crc/", "f/", ["hand 3", "'f/cc/rrc/cc' should be 'f'"]),
        ("crc/", "cx/", ["hand 3", "move 2", "'x'", "c or r"]),
        ("crc/cc", "crcc/c", ["hand 3", "should be 'crc/cc/rrc/cc'"]),
        ("rrc/cc:", "rrc/c:", ["hand 3", "isn't over"]),
        ("/9c", "", ["hand 3", "has only 8 cards"]),
        ("/rrc/cc:", "/rf:", ["hand 3", "has 9 cards", "only 8"]),
        ("AhKd|QsJc", "AhKdQsJc", ["hand 3", "should have the form AhKd|QsJc"]),
        ("/5s/9c", "/5s9c", ["hand 3", "should have the form AhKd|QsJc"]),
        ("60|-60", "-60|60", ["hand 3", "60|-60 chips", "'-60|60'"]),
    ],
)
def test_an_impossible_hand_history_is_refused(old, new, words):
    assert GOOD.count(old) == 1
    with pytest.raises(BadInput) as raised:
        acpc.read(games.load("holdem"), GOOD.replace(old, new))
    assert "\n" not in str(raised.value)
    assert all(word in str(raised.value) for word in words)


@given(some.integers(0, len(GOOD)), some.integers(0, 9), some.text("AhKd|/:fcr3é\n ", max_size=6))
def test_any_text_is_read_or_refused(start, length, text):
    with contextlib.suppress(BadInput):
        acpc.read(games.load("holdem"), GOOD[:start] + text + GOOD[start + length :])


def test_a_card_that_a_small_deck_lacks_is_refused():
    with pytest.raises(BadInput, match="'8c' is no card of the deck, it should be a rank of 234567 and a suit of cdh"):
        acpc.read(games.load("holdem:6,suits=3"), "STATE:0:f:8c2d|3c3d:5|-5:a|b")


def test_only_a_finished_hand_with_all_cards_is_written():
    game = games.load("holdem")
    with pytest.raises(BadInput, match="hand 4 isn't over"):
        acpc.write(game, played(game, "cc"), 4)
    with pytest.raises(BadInput, match="hand 5 has hidden cards"):
        acpc.write(game, view_of(game, played(game, "rf"), 0), 5)
