"""Games against OpenSpiel, move by move: mover, legal actions, chance probabilities, infosets, payoffs."""

from typing import Any, NamedTuple

import numpy as np
import pytest

from kibitz import games, jit
from kibitz.games import CHANCE, OVER

from .replays import openspiel

GOOFSPIEL = "turn_based_simultaneous_game(game=goofspiel(points_order=ascending,{}))"
POKER = (  # antes are blinds that both pay; the same seat opens both rounds
    "universal_poker(betting=limit,numPlayers=2,numRounds=2,numHoleCards=1,numBoardCards=0 1,firstPlayer=1 1,"
    "stack=9999 9999,numRanks={},numSuits={},maxRaises={},blind={},raiseSize={})"
)

PAIRS = {
    "kuhn": "kuhn_poker",
    "leduc": "leduc_poker(suit_isomorphism=true)",
    "leduc:distinct_suits=yes": "leduc_poker",
    "leduc:ranks=4,distinct_suits=yes": POKER.format(4, 2, "2 2", "1 1", "2 4"),
    "leduc:ranks=3,suits=3,distinct_suits=yes,raises=1": POKER.format(3, 3, "1 1", "1 1", "2 4"),
    "leduc:ranks=3,suits=1,distinct_suits=yes": POKER.format(3, 1, "2 2", "1 1", "2 4"),
    "leduc:ranks=13,suits=4,distinct_suits=yes,raises=4,ante=5,first=3,second=7": POKER.format(
        13, 4, "4 4", "5 5", "3 7"
    ),
    "goofspiel:4,base=1": GOOFSPIEL.format("imp_info=true,num_cards=4,returns_type=win_loss"),
    "goofspiel:6,base=1": GOOFSPIEL.format("imp_info=true,num_cards=6,returns_type=win_loss"),
    "goofspiel:13,base=1": GOOFSPIEL.format("imp_info=true,num_cards=13,returns_type=win_loss"),
    "goofspiel:5,base=1,sign=no": GOOFSPIEL.format("imp_info=true,num_cards=5,returns_type=point_difference"),
    "goofspiel:4,base=1,open_bids=yes": GOOFSPIEL.format("imp_info=false,num_cards=4,returns_type=win_loss"),
    "goofspiel:13,base=1,open_bids=yes,sign=no": GOOFSPIEL.format(
        "imp_info=false,num_cards=13,returns_type=point_difference"
    ),
    "liars_dice": "liars_dice(numdice=1)",
    "liars_dice:dice=2": "liars_dice(numdice=2)",
    "liars_dice:dice=2,faces=3": "liars_dice(numdice=2,dice_sides=3)",
    "liars_dice:faces=4": "liars_dice(numdice=1,dice_sides=4)",
    "liars_dice:dice=3,faces=5": "liars_dice(numdice=3,dice_sides=5)",
}
pairs = pytest.mark.parametrize(("ours", "theirs"), PAIRS.items(), ids=PAIRS)


@pairs
def test_random_games_agree_with_openspiel(ours, theirs):
    replay(games.load(ours), openspiel(theirs), count=2000, seed=10)


@pytest.mark.heavy
@pairs
def test_many_random_games_agree_with_openspiel(ours, theirs):
    replay(games.load(ours), openspiel(theirs), count=50_000, seed=11)


class Games(NamedTuple):
    """Finished games, turn after turn, without gaps."""

    turns: np.ndarray
    played: np.ndarray
    counts: np.ndarray
    legal: np.ndarray
    probs: np.ndarray
    keys: np.ndarray
    payoffs: np.ndarray  # of the two seats, at the turn that is OVER


def replay(game: games.Game, oracle: Any, count: int, seed: int) -> None:
    rows, width = count * (game.facts.max_game_length + 1), max(game.facts.num_actions, game.facts.max_chance_outcomes)
    log = Games(
        np.zeros(rows, np.int64),
        np.zeros(rows, np.int64),
        np.zeros(rows, np.int64),
        np.zeros((rows, width), np.int16),
        np.zeros((rows, width)),
        np.zeros(rows, np.uint64),
        np.zeros((rows, 2)),
    )
    scale = 2 if "point_difference" in str(oracle) else 1  # its difference is to the mean of both seats
    end = play_games(game, count, games.positions(game), jit.generators(seed, 1)[0], *log)
    string_of_key: dict[int, tuple] = {}
    key_of_string: dict[tuple, int] = {}
    state, past = oracle.new_initial_state(), {0: (), 1: ()}
    for row in range(end):
        turn, legal = log.turns[row], log.legal[row, : log.counts[row]].tolist()
        if turn == OVER:
            assert state.is_terminal()
            assert [scale * payoff for payoff in state.returns()] == log.payoffs[row].tolist()
            state, past = oracle.new_initial_state(), {0: (), 1: ()}
            continue
        assert state.current_player() == turn  # -1 is chance for both
        if turn == CHANCE:
            outcomes, probs = zip(*state.chance_outcomes(), strict=True)
            assert list(outcomes) == legal
            assert probs == pytest.approx(log.probs[row, : len(legal)].tolist(), abs=1e-12)
        else:
            assert state.legal_actions() == legal
            # All that it ever told this player: of open bids its string tells the cards left, not when each was bid.
            past[turn] = hash((past[turn], state.information_state_string()))
            key, known = int(log.keys[row]), (int(turn), past[turn])
            assert string_of_key.setdefault(key, known) == known
            assert key_of_string.setdefault(known, key) == key
        state.apply_action(int(log.played[row]))


@jit.kernel
def play_games(game, count, states, rng, turns, played, counts, legal, probs, keys, payoffs):
    state = states[0]
    row = 0
    for _ in range(count):
        game.start(state)
        while True:
            turn = game.turn(state)
            turns[row] = turn
            if turn == OVER:
                break
            counts[row] = game.actions(state, legal[row])
            if turn == CHANCE:
                game.chance_probs(state, legal[row], counts[row], probs[row])
            else:
                keys[row] = game.infoset(state, turn)
            played[row] = game.sample_action(state, rng)
            game.play(state, played[row])
            row += 1
        for seat in range(2):
            payoffs[row, seat] = game.payoff(state, seat)
        row += 1
    return row
