"""Baseline poker players: fixed moves and styles."""

from itertools import combinations

import numpy as np
import pytest

from kibitz import games
from kibitz.core.names import BadInput
from kibitz.play import players
from kibitz.poker.baselines import STYLES
from kibitz.poker.rules.display import card_of
from kibitz.poker.rules.evaluator import KEYS, value
from kibitz.poker.rules.hand_strength import chen_points, hand_strength, preflop_strength
from kibitz.poker.rules.state import CALL, FOLD, RAISE

from .test_players import look, positions_met

HOLDEM = games.load("holdem")


def cards(text):
    return [card_of(name) for name in text.split()]


@pytest.mark.parametrize(
    ("hand", "points"),  # Chen's own examples; he rounds up, so his last is 6
    [("As Ah", 20), ("As Ks", 12), ("Ts Th", 10), ("2c 2d", 5), ("7d 2c", -1.5), ("Ah Kd", 10), ("7s 5s", 5.5)],
)
def test_points_of_chens_formula(hand, points):
    one, two = cards(hand)
    assert chen_points(one, two) == chen_points(two, one) == points


def test_preflop_strength_is_a_share_of_all_hands():
    shares = preflop_strength(HOLDEM)
    pairs = list(combinations(range(52), 2))
    found = np.array([shares[pair] for pair in pairs])
    assert found.mean() == pytest.approx(0.5)
    assert shares[tuple(cards("As Ah"))] == pytest.approx(1 - 3 / 1326)
    small = preflop_strength(games.load("holdem:ranks=5,suits=3"))
    assert small[tuple(cards("6c 6d"))] > small[tuple(cards("6c 2d"))]
    assert small[tuple(cards("As Ah"))] == 0  # not in that deck


def test_hand_strength_is_the_share_of_other_hands_that_a_hand_beats_now():
    game = games.load("holdem:ranks=6,suits=3")
    deck = [4 * rank + suit for rank in range(6) for suit in range(3)]
    shares, met = preflop_strength(game), 0
    for state in positions_met(game, 60, seed=1):
        seat = game.turn(state)
        own, board = state.hole[seat].tolist(), state.board[state.board >= 0].tolist()
        if not board:
            assert hand_strength(game, look(game, state, seat), seat, shares) == shares[tuple(own)]
            continue
        met += 1
        own_value = value(KEYS[own + board].sum())
        others = [value(KEYS[[*hand, *board]].sum()) for hand in combinations(sorted(set(deck) - {*own, *board}), 2)]
        beaten = np.mean([(own_value > other) + (own_value == other) / 2 for other in others])
        assert hand_strength(game, look(game, state, seat), seat, shares) == pytest.approx(beaten)
    assert met > 10


@pytest.mark.parametrize(("text", "wanted"), [("always:fold", FOLD), ("always:call", CALL), ("always:raise", RAISE)])
@pytest.mark.parametrize("name", ["holdem:preflop_raises=1,raises=1", "leduc"])
def test_always_plays_its_move_where_it_is_legal_and_else_calls(name, text, wanted):
    game, met = games.load(name), set()
    player = players.make_for(text, game)
    for state in positions_met(game, 60, seed=2):
        legal = games.legal_actions(game, state)
        player.begin(game, game.turn(state), 1)
        assert player.move(look(game, state, game.turn(state))) == (wanted if wanted in legal else CALL)
        met.add(wanted in legal)
    assert met >= {True} if text == "always:call" else met == {True, False}


@pytest.mark.parametrize("text", ["random", "always:fold", *(f"style:{name}" for name in STYLES)])
def test_batched_action_probs_equal_those_of_single_views(text):
    player, views, alone = players.make_for(text, HOLDEM), [], np.zeros((40, 3))
    for i, state in enumerate(positions_met(HOLDEM, 40, seed=3)):
        seat = HOLDEM.turn(state)
        player.begin(HOLDEM, seat, 1)
        views.append(look(HOLDEM, state, seat))
        player.move(views[-1])
        alone[i, : len(player.advice.policy)] = player.advice.policy
    together = player.action_probs(np.array(views, HOLDEM.state))
    assert np.array_equal(together, alone)
    assert np.allclose(together.sum(axis=1), 1)


HANDS = list(combinations(range(51, -1, -1), 2))


def opening_probs(style):
    """[hands, 3]: probabilities of fold, call and raise as the dealer's first move."""
    player = players.make_for(f"style:{style}", HOLDEM)
    views = np.zeros(1326, HOLDEM.state)
    for view, hand in zip(views, HANDS, strict=True):
        HOLDEM.start(view)
        view.hole[1], view.dealt, view.to_move = hand, 4, 1
    return player.action_probs(views)


def test_loose_styles_play_more_hands_and_aggressive_ones_raise_more():
    probs = {style: opening_probs(style).mean(axis=0) for style in STYLES}
    for manner in ("passive", "aggressive"):
        assert probs[f"tight-{manner}"][FOLD] > probs[f"loose-{manner}"][FOLD] + 0.2
    for range_ in ("loose", "tight"):
        assert probs[f"{range_}-aggressive"][RAISE] > probs[f"{range_}-passive"][RAISE] + 0.2
        assert 0 < probs[f"{range_}-passive"][RAISE] < 0.1


def test_only_aggressive_styles_bluff():
    worst = HANDS.index(tuple(cards("7d 2c")))
    for style, parameters in STYLES.items():
        assert opening_probs(style)[worst].tolist() == pytest.approx([1 - parameters.bluffs, 0, parameters.bluffs])
        assert (parameters.bluffs > 0) == style.endswith("aggressive")


def test_the_default_opponent_of_holdem_can_play_it():
    for name, kind in {"": "net", "flop": "net", "thesis": "style", "flop,ranks=5": "style"}.items():
        game = games.load(f"holdem:{name}" if name else "holdem")
        assert isinstance(players.make_for(game.opponent, game), players.PLAYERS[kind])


@pytest.mark.parametrize(
    ("text", "game", "why"),
    [
        ("always:win", "holdem", "move=win is out of range, it should be fold or call or raise"),
        ("always", "holdem", "move is missing"),
        ("always:call", "kuhn", "always plays holdem and leduc, not kuhn"),
        ("style:wild", "holdem", "style=wild is out of range"),
        ("style:tight-passive", "leduc", "style plays holdem, not leduc"),
    ],
)
def test_unknown_options_and_games_are_refused(text, game, why):
    with pytest.raises(BadInput, match=why):
        players.make_for(text, games.load(game))
