"""Hex against OpenSpiel move by move, and against its theory: no draws, the winner, and the swap."""

import itertools

import numpy as np
import pyspiel
import pytest
from scipy.stats import binomtest, chisquare

from kibitz import games, jit
from kibitz.games import OVER
from kibitz.games.boards import rhombus
from kibitz.games.hex import PLACE, cells_of, owner

from .counted import perft, value
from .replays import agrees_with_its_image
from .test_oracles import Games, play_games
from .walks import same

RARE = 1e-4


# ---------------------------------------------------------------- OpenSpiel


@pytest.mark.parametrize(
    ("size", "swap", "count"),
    [
        *((2, False, 200), (2, True, 200), (3, True, 300), (5, False, 300), (7, False, 200), (8, True, 100)),
        *((9, False, 50), (11, False, 100), (11, True, 30), (12, False, 30), (13, True, 20), (14, False, 30)),
    ],
)
def test_random_games_agree_with_openspiel(size, swap, count):
    game, oracle = games.GAMES["hex"](size, swap), pyspiel.load_game("hex", {"board_size": size, "swap": swap})
    rows, width = count * (game.facts.max_game_length + 1), game.facts.num_actions
    log = Games(
        *(np.zeros(rows, np.int64) for _ in range(3)),
        np.zeros((rows, width), np.int16),
        np.zeros((rows, 1)),
        np.zeros(rows, np.uint64),
        np.zeros((rows, 2)),
    )
    state = oracle.new_initial_state()
    for row in range(play_games(game, count, games.positions(game), jit.generators(14, 1)[0], *log)):
        if log.turns[row] == OVER:
            assert state.is_terminal()
            assert state.returns() == log.payoffs[row].tolist()
            state = oracle.new_initial_state()
            continue
        assert state.current_player() == log.turns[row]
        legal = log.legal[row, : log.counts[row]].tolist()
        assert state.legal_actions() == legal
        if row < 10:
            assert [state.action_to_string(action) for action in legal] == [
                game.action_to_string(None, each) for each in legal
            ]
        state.apply_action(int(log.played[row]))


# Lines of play of each length, counted with OpenSpiel; longer ones are fewer as more and more are over.
THREE = [9, 72, 504, 3024, 15120, 54720, 146880, 207360, 120960]
TWO_SWAPPED = [4, 16, 36, 36, 12]


@pytest.mark.parametrize(("name", "counts"), [("hex:3", THREE), ("hex:2,swap=yes", TWO_SWAPPED)])
def test_lines_of_play_are_as_many_as_in_openspiel(name, counts):
    game = games.load(name)
    assert [perft(game, depth) for depth in range(1, len(counts) + 2)] == [*counts, 0]


def test_before_the_first_chain_is_possible_every_empty_cell_is_legal():
    assert perft(games.load("hex:4,swap=no"), 5) == 16 * 15 * 14 * 13 * 12
    assert perft(games.load("hex:4,swap=yes"), 4) == 16 * (15 * 14 * 13 + 15 * 14)
    assert perft(games.load("hex:14"), 3) == 196 * 195 * 194


# ---------------------------------------------------------------- full boards


def joined(game, cells, seat):
    """Whether these cells join the two sides of a seat: step by step to all that can be reached from the first."""
    board, along = game.board(), 0 if seat == 0 else 1
    reached = {cell for cell in cells if cell[along] == 0}
    edge = list(reached)
    while edge:
        row, column = edge.pop()
        for near in board.neighbours[row * game.size + column].tolist():
            cell = divmod(near, game.size)
            if cell in cells and cell not in reached:
                reached.add(cell)
                edge.append(cell)
    return any(cell[along] == game.size - 1 for cell in reached)


def board_of(game, first, second=()):
    """A position with stones at these cells."""
    state = games.positions(game)[0]
    for seat, cells in enumerate((first, second)):
        for row, column in cells:
            place = int(PLACE[game.size, row * game.size + column])
            state.stones[seat, place >> 6] |= np.uint64(1 << (place & 63))
    return state


def stones_of(game, state, seat):
    found = []
    for cell in range(game.size**2):
        place = int(PLACE[game.size, cell])
        if int(state.stones[seat, place >> 6]) >> (place & 63) & 1:
            found.append(divmod(cell, game.size))
    return found


@jit.kernel
def who_joined(game, states, rest, out):
    for i in range(len(states)):
        out[i] = owner(game, states[i], rest)


def check_full_boards(game, boards):
    """Just one seat joins its sides, and `owner` says which, whoever is said to have the rest."""
    everywhere = set(itertools.product(range(game.size), repeat=2))
    full = np.array([board_of(game, first, everywhere - first) for first in boards], game.state)
    for rest in range(2):
        winners = np.zeros(len(boards), np.int64)
        who_joined(game, full.view(np.recarray), rest, winners)
        for first, winner in zip(boards, winners.tolist(), strict=True):
            assert joined(game, first, 0) == (winner == 0)
            assert joined(game, everywhere - first, 1) == (winner == 1)


@pytest.mark.parametrize("size", [2, 3])
def test_on_every_full_board_exactly_one_seat_is_connected(size):
    cells = list(itertools.product(range(size), repeat=2))
    boards = [{cell for i, cell in enumerate(cells) if bits >> i & 1} for bits in range(2 ** len(cells))]
    check_full_boards(games.GAMES["hex"](size), boards)


@pytest.mark.parametrize("size", range(4, 15))
def test_on_a_random_full_board_exactly_one_seat_is_connected(size):
    rng = np.random.default_rng(size)
    cells = list(itertools.product(range(size), repeat=2))
    boards = [{cell for cell in cells if rng.random() < share} for share in (0.45, 0.5, 0.55) for _ in range(40)]
    check_full_boards(games.GAMES["hex"](size), boards)


# ---------------------------------------------------------------- random ends


@jit.kernel
def finish_often(game, states, start, rng):
    for i in range(len(states)):
        states[i] = start[0]
        game.random_playout(states[i], rng)


def finished(game, moves, count, seed=15):
    start = games.positions(game)
    for move in moves:
        game.play(start[0], game.parse_action(start[0], move))
    states = np.zeros(count, game.state)
    finish_often(game, states.view(np.recarray), start.view(np.recarray), jit.generators(seed, 1)[0])
    return start[0], states


@pytest.mark.parametrize("moves", [[], ["b2"], ["b2", "a1"], ["b2", "a1", "c1", "a3"]])
def test_random_playout_shares_the_empty_cells_uniformly(moves):
    game = games.load("hex:3")
    start, states = finished(game, moves, 60_000)
    before = [set(stones_of(game, start, seat)) for seat in range(2)]
    empty = set(itertools.product(range(3), repeat=2)) - before[0] - before[1]
    shares = itertools.combinations(sorted(empty), (len(empty) + 1) // 2)  # of who is to move
    mover = game.turn(start)
    counts = {tuple(sorted(before[mover] | set(share))): 0 for share in shares}
    _, firsts, times = np.unique(states["stones"].reshape(-1, 8), axis=0, return_index=True, return_counts=True)
    for state, count in zip(states[firsts], times.tolist(), strict=True):
        mine, theirs = (stones_of(game, state, seat) for seat in (mover, 1 - mover))
        assert sorted(mine + theirs) == sorted(itertools.product(range(3), repeat=2))
        counts[tuple(mine)] = count
    assert chisquare(list(counts.values())).pvalue > RARE


def chance_of_first(game, state):
    """That seat 0 wins by random moves, from all lines of play."""
    if game.turn(state) == OVER:
        return float(game.payoff(state, 0) > 0)
    chances = []
    for action in games.legal_actions(game, state):
        after = state.copy()
        game.play(after, action)
        chances.append(chance_of_first(game, after))
    return sum(chances) / len(chances)


@pytest.mark.parametrize(
    ("name", "moves"),
    [
        ("hex:2", []),
        ("hex:2,swap=yes", []),
        ("hex:2,swap=yes", ["a1"]),
        ("hex:2,swap=yes", ["b1"]),
        ("hex:2,swap=yes", ["a1", "swap"]),
        ("hex:3", ["b2", "a1", "c1"]),
        ("hex:3", ["c1", "b2", "a3", "b1"]),
        ("hex:3,swap=yes", ["a2", "swap", "b2", "b3"]),
    ],
)
def test_random_playout_wins_as_often_as_random_moves_do(name, moves):
    game, count = games.load(name), 40_000
    start, states = finished(game, moves, count)
    assert (states["to_move"] == OVER).all()
    assert binomtest(int(np.sum(states["winner"] == 0)), count, chance_of_first(game, start)).pvalue > RARE


@pytest.mark.parametrize("name", ["hex:2,swap=yes", "hex:8", "hex:11", "hex:14,swap=yes"])
def test_random_playout_is_the_same_compiled_and_plain(name):
    game = games.load(name)
    moves = ["a1", "swap", "b2"] if game.swap else ["a1"]
    start, compiled = finished(game, moves, 5)
    rng = jit.generators(15, 1)[0]
    for state in compiled:
        plain = start.copy()
        game.random_playout(plain, rng)
        assert same(plain, state)
        game.random_playout(plain, rng)  # what is over stays so
        assert same(plain, state)
        assert joined(game, set(stones_of(game, plain, int(plain.winner))), int(plain.winner))


# ---------------------------------------------------------------- theory


@pytest.mark.parametrize(("name", "result"), [("hex:2", 1), ("hex:3", 1), ("hex:4", 1)])
def test_the_first_player_wins(name, result):
    """Nash: a second stone never harms, so the first player could take over any plan of the second."""
    assert value(games.load(name)) == result


@pytest.mark.parametrize("name", ["hex:2,swap=yes", "hex:3,swap=yes"])
def test_with_the_swap_the_second_player_wins(name):
    """The second player takes over an opening that wins, and leaves one that loses."""
    assert value(games.load(name)) == -1


@pytest.mark.parametrize(
    ("size", "opening", "result"),
    [(2, "a1", -1), (2, "b1", 1), (3, "a1", -1), (3, "b1", -1), (4, "a1", -1), (4, "b1", -1)],
)
def test_openings_at_the_sharp_corner_lose(size, opening, result):
    """HexWiki, "Swap": a1, b1 and their images lose on every board, but b1 on 2x2."""
    game = games.GAMES["hex"](size)
    for image in (
        opening,
        game.action_to_string(None, size**2 - 1 - game.parse_action(games.positions(game)[0], opening)),
    ):
        start = games.positions(game)[0]
        game.play(start, game.parse_action(start, image))
        assert value(game, start) == result


def replayed(game, actions):
    state = games.positions(game)[0]
    for action in actions:
        game.play(state, action)
    return state


def random_moves(game, seed):
    rng, state, moves = jit.generators(seed, 1)[0], games.positions(game)[0], []
    while game.turn(state) != OVER:
        moves.append(int(game.sample_action(state, rng)))
        game.play(state, moves[-1])
    return moves


@pytest.mark.parametrize("size", [2, 3, 8])
def test_a_rotated_board_has_rotated_moves(size):
    turned = list(range(size**2))[::-1]
    assert turned in rhombus(size).symmetries.tolist()
    agrees_with_its_image(games.GAMES["hex"](size), turned.__getitem__, range(20))


@pytest.mark.parametrize("size", [2, 3, 5, 12])
def test_a_swap_is_an_exchange_of_roles(size):
    """After it the game goes as if the players had changed chairs, seen in a mirror."""
    swapping, plain = games.GAMES["hex"](size, True), games.GAMES["hex"](size)

    def mirror(action):
        return action % size * size + action // size

    assert [mirror(action) for action in range(size**2)] in rhombus(size).symmetries.tolist()
    for seed in range(20):
        moves = random_moves(plain, seed)
        there = replayed(plain, moves)
        here = replayed(swapping, [moves[0], size**2, *map(mirror, moves[1:])])
        assert here.to_move == there.to_move == OVER
        assert here.winner == 1 - there.winner
        for seat in range(2):
            wanted = sorted((column, row) for row, column in stones_of(plain, there, 1 - seat))
            assert stones_of(swapping, here, seat) == wanted


def test_the_swap_is_legal_only_as_the_second_move():
    game = games.load("hex:3,swap=yes")
    assert 9 not in games.legal_actions(game, replayed(game, []))
    assert 9 in games.legal_actions(game, replayed(game, [4]))
    assert 9 not in games.legal_actions(game, replayed(game, [4, 9]))
    assert 9 not in games.legal_actions(game, replayed(game, [4, 9, 0]))
    assert 9 not in games.legal_actions(game, replayed(game, [4, 0]))


def test_an_action_is_the_cell_of_its_stone():
    game = games.load("hex:5,swap=yes")
    for action in range(25):
        assert cells_of(game, action) == (-1, action)
        assert [row * 5 + column for row, column in stones_of(game, replayed(game, [action]), 0)] == [action]
        assert game.board().names[action] == game.action_to_string(None, action)
    assert cells_of(game, 25) == (-1, -1)


def test_no_kernel_counts_references():
    jit.counting.clear()
    finished(games.load("hex:9"), [], 1)
    assert jit.counting == []
