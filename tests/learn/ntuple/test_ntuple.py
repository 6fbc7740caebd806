"""N-tuple networks: values equal a slow twin's, learning predicts results, files are checked, and players use them."""

import math

import numpy as np
import pytest

from kibitz.core.names import BadInput
from kibitz.games import load, positions
from kibitz.play.players import make_for
from kibitz.search.alphabeta import AlphaBeta
from kibitz.train import trainer
from kibitz.train.ntuple.regression import find, fit, regression
from kibitz.train.ntuple.self_play import self_play
from kibitz.train.ntuple.store import (  # fmt: skip
    FORMAT,
    default_evaluation,
    default_values,
    ntuples_for,
    read_ntuples,
    save_ntuples,
)
from kibitz.train.ntuple.tuples import KINDS, UNIT, groups, ntuples, offsets, share, sharing, symmetries

from ...search.test_mcts import random_positions

BOARDS = ("tic_tac_toe", "breakthrough:6,columns=5", "hex:4", "connect_four", "gomoku:9", "yavalath")


def slow_value(game, kind, weights, state):
    """The value by its definition: every group is looked up."""
    weights = sharing(game, kind).spread(weights)
    logit, offset, bits = 0.0, 0, game.places()
    for group in groups(game.board(), kind):
        code = 0
        for place, cell in enumerate(group):
            word, bit = divmod(int(bits[cell]), 64)
            for seat in range(2):
                code += (1 + seat) * 3**place * (int(game.pieces(state, seat, word)) >> bit & 1)
        logit += weights[offset + code, game.turn(state)]
        offset += 3 ** len(group)
    return math.tanh(logit / 2)


@pytest.mark.parametrize("name", BOARDS)
def test_values_equal_those_of_a_slow_twin_whatever_was_evaluated_before(name):
    game = load(name)
    for kind in KINDS:
        weights = np.rint(np.random.default_rng(1).normal(size=sharing(game, kind).size) / 20 / UNIT) * UNIT
        tuples = ntuples(game, kind, weights)
        for state in random_positions(game, 6, seed=2):
            assert tuples.leaf_value(game, state) == pytest.approx(slow_value(game, kind, weights, state), abs=1e-9)


def test_groups_of_a_square_and_of_a_hexagonal_board():
    board = load("tic_tac_toe").board()
    assert len(groups(board, "cells")) == 9
    assert len(groups(board, "blocks")) == 9 + 2 + 2  # of two by three, and three by two
    assert groups(board, "lines") == groups(board, "cells")  # no line of four
    assert len(groups(load("connect_four").board(), "lines")) == 42 + 69
    assert all(len(group) in (1, 6) for group in groups(load("hex:4").board(), "blocks"))
    assert len(groups(load("breakthrough").board(), "squares")) == 64 + 36


@pytest.mark.parametrize(
    ("name", "kept", "exchanged"),
    [("tic_tac_toe", 8, 0), ("connect_four", 2, 0), ("breakthrough:5,columns=4", 2, 2), ("hex:4", 2, 0)],
)
def test_symmetries_of_games(name, kept, exchanged):
    swapped = [each for _, each in symmetries(load(name))]
    assert (swapped.count(False), swapped.count(True)) == (kept, exchanged)


def test_symmetric_positions_have_the_same_value():
    """Breakthrough: columns from right to left; and upside down with the other seat's pieces, for the other seat."""
    game = load("breakthrough:5,columns=4")
    weights = np.random.default_rng(1).normal(size=sharing(game, "both").size) / 10
    evaluation = ntuples(game, "both", weights)
    for state in random_positions(game, 5, seed=4):
        rows = [[int(pieces) >> 4 * row & 15 for row in range(5)] for pieces in state.pieces]
        value, image = evaluation.leaf_value(game, state), state.copy()
        image.pieces[:] = [sum(int(f"{row:04b}"[::-1], 2) << 4 * r for r, row in enumerate(each)) for each in rows]
        assert evaluation.leaf_value(game, image) == pytest.approx(value, abs=1e-9)
        image.pieces[:] = [sum(row << 4 * (4 - r) for r, row in enumerate(each)) for each in rows[::-1]]
        image.to_move = 1 - image.to_move
        assert evaluation.leaf_value(game, image) == pytest.approx(-value, abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_learned_is_what_players_evaluate(kind):
    """The sum of all weights of a position, its own, shared ones and those of smaller groups, is its logit."""
    game = load("breakthrough:6,columns=5")
    model, shared = regression(game, kind), sharing(game, kind)
    weights = np.random.default_rng(1).normal(size=model.size).astype(np.float32) / 50
    folded = model.folded(weights, len(groups(game.board(), kind)))
    evaluation = ntuples(game, kind, shared.mean(folded))
    used, contents = np.zeros(len(model.cells), np.int64), np.zeros(30, np.int64)
    for state in random_positions(game, 10, seed=3):
        find(game, model, state, game.turn(state), contents, used)
        logit = model.sign[game.turn(state)] * weights[used].sum()
        assert evaluation.leaf_value(game, state) == pytest.approx(math.tanh(logit / 2), abs=5e-3)


def test_groups_of_a_row_share_a_weight():
    game = load("breakthrough:6,columns=5")
    chosen = groups(game.board(), "blocks")
    own, rows = share(game, chosen), share(game, chosen, by_row=True)
    begin, code = offsets(chosen)[0], 17
    at = {group: begin[number] + code for number, group in enumerate(chosen)}
    one, moved, above = (tuple(sorted((r, r + 1, r + 2, r + 5, r + 6, r + 7))) for r in (0, 1, 5))
    assert rows.weight[at[one], 0] == rows.weight[at[moved], 0] != rows.weight[at[above], 0]
    assert own.weight[at[one], 0] != own.weight[at[moved], 0]
    np.testing.assert_array_equal(own.sign, rows.sign)


def test_the_result_is_learned_from_the_contents_by_any_number_of_threads():
    """Who has more pieces wins."""
    game = load("breakthrough:5,columns=4")
    states = np.array([*random_positions(game, 400, seed=1, most=30)], game.state)
    ahead = [int(state.pieces[0]).bit_count() - int(state.pieces[1]).bit_count() for state in states]
    wins = np.where(np.array(ahead) > 0, 1.0, np.where(np.array(ahead) < 0, 0.0, 0.5))
    model = regression(game, "cells")
    learned = []
    for threads in (1, 3):
        weights = np.zeros(model.size, np.float32)
        losses = [fit(game, model, weights, states, wins, 4.0, 1.0, 400, threads) for _ in range(60)]
        assert losses[0] > losses[-1] + 0.1
        learned.append(weights)
    np.testing.assert_array_equal(*learned)
    evaluation = ntuples(game, "cells", sharing(game, "cells").mean(model.folded(weights, 20)))
    values = [evaluation.leaf_value(game, state) for state in states]
    assert np.corrcoef(values, wins)[0, 1] > 0.8


def samples_of(**values):
    """The positions of ten games, by game, and what they are worth to seat 0, -1 to 1."""
    given = {"tuples": "cells", "opening": 4, "epsilon": 0.0, **values}
    config = trainer.configured("ntuple", "breakthrough:5,columns=4", None, given)
    game = load(config.game)
    weights = sharing(game, "cells").mean(default_values(game, "cells")).astype(np.float32)
    found = self_play(config)(tuple(range(10)), weights)
    return game, weights, [(each["states"].reshape(-1).view(game.state), 2 * each["wins"] - 1) for _, each in found]


def test_positions_of_self_play_are_worth_what_follows():
    game, weights, played = samples_of(lambda_=1.0)
    assert sum(len(states) for states, _ in played) > 50
    for _, worth in played:
        assert len(set(worth.tolist())) <= 1  # the result of the game
    _, _, searched = samples_of(lambda_=0.0, depth=1)
    search = AlphaBeta(game, depth=1, evaluation=ntuples(game, "cells", weights))
    for states, worth in searched:
        for state, value in zip(states, worth, strict=True):
            seat = int(game.turn(state))
            advice = search.advise(state.copy(), seat, 10**6)
            assert value == pytest.approx(advice.root_value if seat == 0 else -advice.root_value, abs=1e-6)


def test_the_default_evaluation_of_a_race_likes_pieces_and_advances():
    game = load("breakthrough")
    evaluation, state = default_evaluation(game), positions(game)[0]
    assert evaluation.leaf_value(game, state) == pytest.approx(0)
    game.play(state, game.parse_action(state, "a2-a3"))
    assert evaluation.leaf_value(game, state) > 0
    state.pieces[0] &= ~np.uint64(1)
    assert evaluation.leaf_value(game, state) < 0
    assert default_evaluation(load("hex:4")) is None
    assert default_evaluation(load("leduc")) is None


def test_files_are_read_as_written_and_refused_for_another_game(tmp_path):
    game, path = load("tic_tac_toe"), tmp_path / "x.safetensors"
    weights = np.random.default_rng(1).normal(size=sharing(game, "both").size).astype(np.float16)
    save_ntuples(path, game, "both", weights, "by a test")
    _, kind, read, made = read_ntuples(path)
    assert (kind, made) == ("both", "by a test")
    np.testing.assert_array_equal(read, weights)
    with pytest.raises(BadInput, match=r"is an evaluation for tic_tac_toe, not for hex:size=4"):
        ntuples_for(path, load("hex:4"))
    with pytest.raises(BadInput, match="has no board"):
        ntuples_for(path, load("kuhn"))
    _, about = FORMAT.read(path)
    known = {key: about[key] for key in ("game", "made", "kind")}
    FORMAT.write(path, {"weights": weights[:-1]}, **known)
    with pytest.raises(BadInput, match="weights, which doesn't fit tic_tac_toe"):
        ntuples_for(path, game)
    with pytest.raises(BadInput, match="no board for n-tuples"):
        trainer.configured("ntuple", "leduc", None, {})


def test_players_search_with_an_evaluation(tmp_path):
    game, path = load("breakthrough:5,columns=4"), tmp_path / "x.safetensors"
    values = np.tile([[0.0], [1.0], [-1.0]], (20, 2))  # a piece is worth a logit
    save_ntuples(path, game, "cells", sharing(game, "cells").mean(values))
    state = positions(game)[0]
    state.pieces[0], state.pieces[1] = 0b11 | 1 << 9, 1 << 14 | 0b11 << 16  # b3 can take c4; a5 and b5 guard
    for text in (f"ntuple:{path}", f"alphabeta:2,eval={path}", f"alphabeta:nodes=500,depth=1,eval={path}"):
        player = make_for(text, game)
        player.begin(game, 0, 1)
        assert game.action_to_string(state, player.move(state)) == "b3xc4", text


def test_captures_at_the_horizon_are_searched_to_their_end():
    """A capture that is answered by another one is no gain."""
    game = load("breakthrough:6,columns=5")
    state = positions(game)[0]
    search = AlphaBeta(game, evaluation=default_evaluation(game))
    state.pieces[0] = np.uint64(1 << 12 | 1 << 0 | 1 << 1)  # c3, a1, b1
    state.pieces[1] = np.uint64(1 << 18 | 1 << 22 | 1 << 24 | 31 << 25)  # d4, guarded from c5 and e5
    search._start(state, 1)
    search._go(search.free, math.inf)
    quiet = search.frames.best[0]
    search._start(state, 1)
    search._go(search.fixed, math.inf)
    assert search.frames.best[0] > quiet


def test_games_whose_parameters_are_equal_keep_their_own_weights_apart():
    """Tuples of two games may be equal: the answer for one would depend on which of them was asked about before."""
    one, other = load("breakthrough"), load("knightthrough")
    assert one == other
    assert sharing(one, "cells") is not sharing(other, "cells")
    assert regression(one, "cells") is not regression(other, "cells")
    assert sharing(one, "cells") is sharing(one, "cells")
