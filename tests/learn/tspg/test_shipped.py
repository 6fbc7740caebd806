"""What the shipped patterns have learned makes sense: bridges in Hex, blocks in Connect Four, lines in Yavalath."""

import numpy as np
import pytest

from kibitz.games import OVER, legal_actions, load, positions
from kibitz.nets.model_files import network_file
from kibitz.search.policies import weighed
from kibitz.train.tspg.store import read_features

SIZE = 7
NEIGHBOURS = [(0, 1), (1, 0), (1, -1), (0, -1), (-1, 0), (-1, 1)]
FAR = SIZE - 1  # a corner


def odds_after(name, policy, moves):
    game = load(name)
    features, _ = read_features(network_file(f"models/{name.replace(':', '-')}"), game)
    state = positions(game)[0]
    for move in moves:
        game.play(state, move)
    actions = legal_actions(game, state)
    return dict(zip(actions, weighed(game, features.policy(game, policy), state, len(actions)), strict=True))


def cell(*offsets):
    row, column = np.sum([(SIZE // 2, SIZE // 2), *offsets], axis=0)
    return int(row * SIZE + column)


@pytest.mark.parametrize("policy", ["ce", "tspg"])
def test_in_hex_bridges_are_built(policy):
    probs = odds_after("hex:7", policy, [cell(), FAR])
    near = {cell(step) for step in NEIGHBOURS}
    bridges = {cell(step, NEIGHBOURS[i - 5]) for i, step in enumerate(NEIGHBOURS)}
    rest = [np.log(chance) for move, chance in probs.items() if move not in near | bridges]
    assert len(bridges) == 6
    assert np.mean([np.log(probs[move]) for move in bridges]) > np.mean(rest) + 0.5


@pytest.mark.parametrize("policy", ["ce", "tspg"])
@pytest.mark.parametrize("side", range(6))
def test_in_hex_an_attack_on_a_bridge_is_answered(policy, side):
    """Of the two cells that join a bridge the opponent has taken one: nothing is likelier than the other."""
    one, two = NEIGHBOURS[side], NEIGHBOURS[side - 5]
    probs = odds_after("hex:7", policy, [cell(), FAR, cell(one, two), cell(one)])
    assert max(probs, key=probs.__getitem__) == cell(two)


def ends(game, state, action):
    """What the mover gets if this ends the game; None: it goes on."""
    after = positions(game)
    after[0] = state
    game.play(after[0], action)
    return game.reward(after[0], game.turn(state)) if game.turn(after[0]) == OVER else None


def met(game, count, seed):
    """Positions of random games."""
    generator = np.random.default_rng(seed)
    for _ in range(count):
        states = positions(game)
        while game.turn(states[0]) != OVER:
            yield states[0]
            game.play(states[0], int(generator.choice(legal_actions(game, states[0]))))


@pytest.mark.parametrize("policy", ["ce", "tspg"])
@pytest.mark.parametrize(("moves", "wanted"), [([1, 6, 2, 6, 4], 3), ([1, 6, 1, 5, 1], 1), ([1, 1, 2, 2, 3], 4)])
def test_in_connect_four_lines_are_blocked(policy, moves, wanted):
    probs = odds_after("connect_four", policy, moves)
    assert max(probs, key=probs.__getitem__) == wanted


@pytest.mark.parametrize("policy", ["ce", "tspg"])
@pytest.mark.parametrize("turned", [1, -1])
def test_in_gomoku_the_first_player_wins_on_diagonals_and_blocks_rows(policy, turned):
    """Four in a row, one end blocked; the other moves are far away. (In self-play the second player had rows.)"""
    lines = [[112 + i * step for i in range(-2, 4)] for step in (15 + turned, 1 if turned > 0 else 15)]
    before, *four, behind = lines[0]
    probs = odds_after("gomoku", policy, [four[0], before, four[1], 0, four[2], 2, four[3], 4])
    assert max(probs, key=probs.__getitem__) == behind
    before, *four, behind = lines[1]
    probs = odds_after("gomoku", policy, [before, four[0], 0, four[1], 2, four[2], 4, four[3]])
    assert max(probs, key=probs.__getitem__) == behind


def test_in_yavalath_lines_of_four_are_completed():
    game = load("yavalath")
    features, _ = read_features(network_file("models/yavalath"), game)
    policy, shares = features.policy(game, "tspg"), []
    for state in met(game, 20, 1):
        actions = legal_actions(game, state)
        winning = np.array([ends(game, state, action) == 1 for action in actions])
        if winning.any() and not winning.all():
            probs = weighed(game, policy, state, len(actions))
            shares.append(probs[winning].mean() / probs[~winning].mean())
    assert len(shares) > 15
    assert np.median(shares) > 20


def test_in_yavalath_a_bare_line_of_three_is_shunned():
    game = load("yavalath")
    features, _ = read_features(network_file("models/yavalath"), game)
    policy, shares = features.policy(game, "tspg"), []
    for state in met(game, 8, 2):
        actions = legal_actions(game, state)
        losing = np.array([ends(game, state, action) == -1 for action in actions])
        if losing.any() and not losing.all():
            probs = weighed(game, policy, state, len(actions))
            shares.append(probs[losing].mean() / probs[~losing].mean())
    assert len(shares) > 50
    assert np.median(shares) < 0.02
