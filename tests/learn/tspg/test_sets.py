"""Tables of bits find what a board shows: against a slow search, at every cell, in every turn, compiled and plain."""

import functools
import math
from typing import NamedTuple

import numpy as np
import pytest

from benchmarks.naive_patterns import naive
from kibitz import games
from kibitz.games import boards, breakthrough, race
from kibitz.jit import kernel
from kibitz.jit.bitsets import CODES, ROWS, WORDS, any_of_three, matcher, sum_of_bits
from kibitz.search.policies import weighed
from kibitz.train.tspg import cases
from kibitz.train.tspg.cases import Finder
from kibitz.train.tspg.linear import STEEP, exponential, linear
from kibitz.train.tspg.patterns import Mark, Pattern, combined, parse, turned, window
from kibitz.train.tspg.sets import atoms_of, compile_set, marks_of, sight, starts_of, words_for

from .oracle import KINDS, TEN, activities, contents, fits, positions_met, some_patterns, symmetries

LINEAR = ["yavalath:3", "breakthrough"]  # stones on hexagons, pieces that move on squares; the rest is heavy


def found_by(game, kind, seat, patterns, states, finder=None):
    tables = compile_set(game, kind, seat, patterns, words_for(len(patterns)))
    return (finder or Finder(game, kind)).find(states, tables, len(patterns))


def sides_of(game, kind, states, count, seed=1):
    """Patterns of both seats, as many as asked for, and weights of all sizes."""
    patterns = tuple(some_patterns(game, kind, seat, states, count, seed + seat) for seat in range(2))
    generator = np.random.default_rng(seed)
    return patterns, tuple(
        generator.normal(size=len(each)) * generator.choice([0.1, 1.0], len(each)) for each in patterns
    )


# ---------------------------------------------------------------- what is active


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", [*TEN, "tic_tac_toe"])
def test_what_is_active_is_what_the_board_shows(name, kind, plainly):
    compare_with_board(games.load(name), kind, 1 if name in ("gomoku", "hex:11") else 3, 40)


@pytest.mark.heavy
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", [*TEN, "tic_tac_toe"])
def test_what_is_active_is_what_the_board_shows_compiled_too(name, kind):
    for seed in range(2):
        compare_with_board(games.load(name), kind, 12, 100, seed)


@pytest.fixture
def plainly(monkeypatch):
    """In plain Python: to compile would take longer, for so many games."""
    monkeypatch.setattr(cases, "find_cases", getattr(cases.find_cases, "py_func", cases.find_cases))


def compare_with_board(game, kind, positions, drawn, seed=0):
    for seat in range(2):
        states = positions_met(game, positions, 11 + seat + 2 * seed, seat)
        patterns = some_patterns(game, kind, seat, states, drawn, seat, first=0)
        patterns += [each for each in atoms_of(game, kind, seat) if each not in patterns]
        found = found_by(game, kind, seat, patterns, states)
        expected, actions = activities(game, states, seat, patterns, kind)
        assert found.actions.tolist() == actions
        np.testing.assert_array_equal(found.active, expected)
        counts = [len(games.legal_actions(game, state)) for state in states]
        assert found.first.tolist() == np.cumsum([0, *counts])[:-1].tolist()
        assert 0.05 < expected[:, :drawn].mean() < 0.95
        assert expected[:, :drawn].any(axis=0).mean() > 0.4  # most of what was drawn is met


@pytest.mark.parametrize("name", LINEAR)
def test_plain_python_finds_the_same(name, request):
    game = games.load(name)
    states = positions_met(game, 3, 5)
    patterns = some_patterns(game, "rich", 0, states, 300, 5)
    one = found_by(game, "rich", 0, patterns, states)
    request.getfixturevalue("plainly")
    other = found_by(game, "rich", 0, patterns, states)
    for field in ("active", "actions", "first"):
        assert getattr(one, field).tobytes() == getattr(other, field).tobytes()


@pytest.mark.parametrize("count", [256, 257, 512, 513, 1100])
def test_any_number_of_patterns_has_room(count):
    """One vector of few words, or any number of large ones: what is found of a pattern isn't changed by others."""
    game = games.load("connect_four")
    states = positions_met(game, 6, 3)
    patterns = many_patterns()[:count]
    assert words_for(count) * 64 >= count
    whole = found_by(game, "rich", 0, patterns, states).active
    assert whole.shape[1] == count
    for first in range(0, count, 200):
        part = found_by(game, "rich", 0, patterns[first : first + 200], states).active
        np.testing.assert_array_equal(whole[:, first : first + 200], part)


@functools.cache
def many_patterns():
    game = games.load("connect_four")
    return some_patterns(game, "rich", 0, positions_met(game, 6, 3), 1100, 3)


def test_words_are_whole_vectors():
    few, many = WORDS
    assert [words_for(count) for count in (1, 64 * few)] == [few, few]
    assert [words_for(count) for count in (64 * few + 1, 64 * many, 64 * many + 1)] == [many, many, 2 * many]


def test_an_action_that_goes_nowhere_has_no_patterns(plainly):
    """Such as a pass; and patterns around `from` are none of a stone that is dropped."""
    game = games.load("othello")
    passing = positions_met(game, 1, 1)
    passing[0].moves = 0  # no cell may be taken
    patterns = atoms_of(game, "rich", 0)
    found = found_by(game, "rich", 0, patterns, passing)
    assert found.actions.tolist() == [64]
    assert not found.active.any()
    teeko = games.load("teeko")
    atoms = atoms_of(teeko, "faithful", 0)
    active = found_by(teeko, "faithful", 0, atoms, games.positions(teeko)).active
    around_from = np.array([1 in pattern.anchors for pattern in atoms])
    assert [around_from.sum(), (~around_from).sum()] == [49 + 2, 49]  # two directions: straight and diagonal
    assert not active[:, around_from].any()
    assert active[:, ~around_from].any(axis=1).all()


def test_faithful_patterns_follow_the_lines_of_fanorona(plainly):
    game = games.load("fanorona:compulsory=no")
    eye = window(game.board())
    atoms = atoms_of(game, "faithful", 0)
    assert len(atoms) == 2 * 73 + 2  # those of `rich` without marks: rays of four in eight directions
    ahead, off = parse("to: enemy(1/8,0)", eye), parse("to: off(1/8,0)", eye)
    assert {ahead, off} <= set(atoms)
    for moves, expected in (("b3-c3", [True, False]), ("c3-b3", [False, True])):  # to a strong point, to a weak one
        start, to = (game.board().names.index(name) for name in moves.split("-"))
        state = games.positions(game)
        state[0].pieces[0] = 1 << start
        state[0].pieces[1] = sum(1 << game.board().names.index(name) for name in ("e5", "d5", "i1"))
        found = found_by(game, "faithful", 0, [ahead, off], state)
        ends = [game.from_to(state[0], action) for action in found.actions.tolist()]
        assert found.active[ends.index((start, to))].tolist() == expected


def test_patterns_know_the_direction_of_a_move(plainly):
    game = games.load("breakthrough")
    eye, names = window(game.board()), game.board().names
    state = games.positions(game)
    state[0].pieces[0], state[0].pieces[1] = 1 << names.index("d4"), 1 << names.index("d6") | 1 << names.index("h8")
    texts = ["to: enemy(0); from(1/2):", "to: enemy(0); from(1/4):", "to:; from(1/2):", "to:; from(1/8):"]
    found = found_by(game, "faithful", 0, [parse(text, eye) for text in texts], state)
    by_move = {
        game.action_to_string(state[0], action): active
        for action, active in zip(found.actions.tolist(), found.active.tolist(), strict=True)
    }
    assert by_move == {"d4-d5": [1, 0, 1, 0], "d4-c5": [0, 0, 0, 1], "d4-e5": [0, 0, 0, 1]}
    assert {parse(text, eye) for text in texts[2:]} <= set(atoms_of(game, "faithful", 0))


def test_pieces_move_in_some_games():
    moving = {"breakthrough", "knightthrough", "fanorona", "teeko"}
    assert {name for name in [*TEN, "tic_tac_toe"] if starts_of(games.load(name))} == moving


def test_two_games_of_the_same_numbers_are_two(plainly):
    """They are tuples, and equal ones."""
    for kind in KINDS:
        for name, cells in (("yavalath:4", 37), ("othello:4", 16), ("yavalath:4", 37)):
            game = games.load(name)
            assert len(sight(game, kind == "rich").empty_codes) == cells
            states = positions_met(game, 2, 1, 0)
            patterns = atoms_of(game, kind, 0)
            np.testing.assert_array_equal(
                Finder(game, kind).find(states, compile_set(game, kind, 0, patterns, 4), len(patterns)).active,
                activities(game, states, 0, patterns)[0],
            )


# ---------------------------------------------------------------- regions


@games.game(
    "marked", state=race.STATE, num_actions=lambda game: 6 * game.rows * game.columns, max_game_length=99,
    payoffs=(-1.0, 1.0),
)  # fmt: skip
class Marked(NamedTuple):
    """Breakthrough, with a goal and corners."""

    rows: int = 7
    columns: int = 5

    board, start, turn = (getattr(breakthrough.Breakthrough, name) for name in ("board", "start", "turn"))
    actions, play, payoff = (getattr(breakthrough.Breakthrough, name) for name in ("actions", "play", "payoff"))
    from_to, pieces = breakthrough.Breakthrough.from_to, breakthrough.Breakthrough.pieces

    def regions(self, seat):
        cells = range(self.rows * self.columns)
        goal = [cell for cell in cells if cell // self.columns == (0 if seat else self.rows - 1)]
        return {"goal": goal, "corner": [0, self.columns - 1]}


def test_cells_are_known_by_their_distance_to_regions(plainly):
    game = Marked()
    found = marks_of(game, 0)
    assert sorted(found) == [(name, value) for name in ("corner", "goal") for value in range(4)]
    assert [int(found["goal", value].sum()) for value in range(4)] == [5, 5, 5, 5]
    assert np.flatnonzero(found["corner", 1]).tolist() == [1, 3, 5, 6, 8, 9]
    for seat in range(2):
        states = positions_met(game, 3, 4, seat)
        atoms = atoms_of(game, "rich", seat)
        assert len(atoms) == 2 * (73 + 8) + 2
        marks = [each for each in atoms if each.marks]
        eye = window(game.board(), True)
        more = [combined(one, other, eye) for one in marks for other in (marks[5], marks[8], atoms[9], atoms[100])]
        patterns = list(dict.fromkeys([*atoms, *more]))
        active = found_by(game, "rich", seat, patterns, states).active
        np.testing.assert_array_equal(active, activities(game, states, seat, patterns)[0])
        assert active[:, [patterns.index(each) for each in more]].any()
    assert not any(pattern.marks for pattern in atoms_of(game, "faithful", 0))
    assert Pattern((0,), (), (Mark(0, "goal", 0),)) in atoms_of(game, "rich", 1)


# ---------------------------------------------------------------- images and combinations


@pytest.mark.parametrize("name", ["fanorona:3,columns=3", "breakthrough:6,columns=5", "yavalath:3", "hex:5,swap=yes"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_combination_is_active_exactly_where_both_parts_are(name, kind):
    """As images, at every pair of cells, in every turn: what growth counts on."""
    game, generator = games.load(name), np.random.default_rng(8)
    eye, cells, turns = window(game.board(), kind == "rich"), len(game.board().places), symmetries(game.board())
    states = positions_met(game, 3, 8, 0)
    drawn, atoms = some_patterns(game, kind, 0, states, 24, 9, first=0), atoms_of(game, kind, 0)
    impossible, met = 0, 0
    for _ in range(40):
        one, other = (each[generator.integers(len(each))] for each in (drawn, (drawn, atoms)[generator.integers(2)]))
        other = turned(other, eye, int(generator.integers(turns)))
        both = combined(one, other, eye)
        impossible += both is None
        there = contents(game, states[generator.integers(len(states))], 0)
        for to in range(cells):
            start = int(generator.integers(-1, cells))
            for s in range(turns):
                held = [fits(game, there, 0, each, start, to, s, kind) for each in (one, other)]
                assert all(held) == (both is not None and fits(game, there, 0, both, start, to, s, kind))
                met += all(held)
    assert impossible < 20
    assert met > 30


@pytest.mark.parametrize("name", ["breakthrough:6,columns=5", "yavalath:3"])
def test_an_image_lies_where_its_matrix_puts_it(name):
    game = games.load(name)
    eye, states = window(game.board(), True), positions_met(game, 2, 18, 0)
    turns = range(symmetries(game.board()))
    for pattern in some_patterns(game, "rich", 0, states, 12, 3, first=0):
        for state in states:
            there = contents(game, state, 0)
            for action in games.legal_actions(game, state):
                ends = game.from_to(state, action)
                by_matrix = [fits(game, there, 0, pattern, *ends, s) for s in turns]
                by_window = [fits(game, there, 0, turned(pattern, eye, s), *ends, 0) for s in turns]
                assert sorted(by_matrix) == sorted(by_window)
                assert by_matrix[0] == by_window[0]  # the first changes nothing


# ---------------------------------------------------------------- policies


def agree(game, kind, states, patterns, weights):
    fast, slow = linear(game, kind, patterns, weights), naive(game, kind, patterns, weights)
    spread = []
    for state in states:
        n = len(games.legal_actions(game, state))
        probs, expected = (weighed(game, each, state, n) for each in (fast, slow))
        np.testing.assert_allclose(probs, expected, rtol=1e-5)
        assert probs.sum() == pytest.approx(1, abs=1e-12)
        spread.append(float(probs.max() / probs.min()))
    assert max(spread) > 2
    return fast


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", LINEAR)
def test_the_fast_policy_is_the_slow_one(name, kind):
    game = games.load(name)
    states = positions_met(game, 20, 21)
    agree(game, kind, states, *sides_of(game, kind, states, 300 if kind == "rich" else 100))


@pytest.mark.heavy
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", [*TEN, "tic_tac_toe"])
def test_the_fast_policy_is_the_slow_one_in_every_game(name, kind):
    """Also when it goes from position to position: to the nine digits of its exponential, as logits are large here and
    the level that is subtracted from them was set by an earlier position.
    """
    game = games.load(name)
    states = np.concatenate([positions_met(game, 60, 22), line_of(game, 5)])
    for count in (60, 250, 700):
        patterns, weights = sides_of(game, kind, states, count)
        used = agree(game, kind, states, patterns, weights)
        for state in states[::7]:
            n, fresh = len(games.legal_actions(game, state)), linear(game, kind, patterns, weights)
            np.testing.assert_allclose(weighed(game, used, state, n), weighed(game, fresh, state, n), rtol=1e-8)


@pytest.mark.parametrize("name", LINEAR)
def test_probabilities_are_the_softmax_of_the_active_weights(name):
    game = games.load(name)
    for seat in range(2):
        states = positions_met(game, 5, 30, seat)
        patterns, weights = sides_of(game, "faithful", states, 90)
        policy = linear(game, "faithful", patterns, weights)
        found = found_by(game, "faithful", seat, patterns[seat], states)
        expected = found.softmax(found.active.astype(float) @ weights[seat])
        probs = [weighed(game, policy, s, n) for s, n in zip(states, found.lengths.tolist(), strict=True)]
        np.testing.assert_allclose(np.concatenate(probs), expected, rtol=1e-5)


@pytest.mark.parametrize("name", LINEAR)
def test_what_was_seen_before_makes_no_difference(name):
    """Between positions of other games, forwards and back, after the other seat's turn: to the last bit."""
    game = games.load(name)
    states = np.concatenate([positions_met(game, 12, 41), games.positions(game), line_of(game, 9)])
    patterns, weights = sides_of(game, "rich", states, 120)
    used, generator = linear(game, "rich", patterns, weights), np.random.default_rng(2)
    finder = Finder(game, "rich")
    tables = compile_set(game, "rich", 0, patterns[0], words_for(120))
    counts = [len(games.legal_actions(game, state)) for state in states]
    fresh = [
        weighed(game, linear(game, "rich", patterns, weights), state, n)
        for state, n in zip(states, counts, strict=True)
    ]
    order = [*range(len(states)), *range(len(states) - 1, -1, -1), *generator.integers(0, len(states), 100).tolist()]
    for i in order:
        assert weighed(game, used, states[i], counts[i]).tolist() == fresh[i].tolist()
        if generator.random() < 0.2:
            one, other = (each.find(states[i : i + 1], tables, 120) for each in (finder, Finder(game, "rich")))
            np.testing.assert_array_equal(one.active, other.active)


def line_of(game, plies):
    """Positions one move apart."""
    states = games.positions(game, plies)
    rng = np.array([5, 6], np.uint64)
    for i in range(1, plies):
        states[i] = states[i - 1]
        game.play(states[i], game.sample_action(states[i], rng))
    return states


@pytest.mark.parametrize("name", LINEAR)
def test_plain_and_compiled_policies_agree_to_the_last_bit(name):
    game = games.load(name)
    states = positions_met(game, 4, 51)
    patterns, weights = sides_of(game, "faithful", states, 80)
    one, other = (linear(game, "faithful", patterns, weights) for _ in range(2))
    actions, probs = np.zeros(game.facts.num_actions, np.int64), np.zeros(game.facts.num_actions)
    for state in states:
        n = game.actions(state, actions)
        one.weigh(game, state, actions, n, probs)
        assert weighed(game, other, state, n).tolist() == probs[:n].tolist()


def test_a_step_is_drawn_from_the_policy():
    game = games.load("tic_tac_toe")
    states = positions_met(game, 1, 61, 0)
    patterns, weights = sides_of(game, "faithful", states, 60)
    policy = linear(game, "faithful", patterns, weights)
    rng, actions, probs, room = np.array([1, 2], np.uint64), np.zeros(9, np.int64), np.zeros(9), np.zeros(9)
    n = game.actions(states[0], actions)
    policy.weigh(game, states[0], actions, n, probs)
    drawn = [int(policy.step(game, states[0], actions, room, rng)) for _ in range(1500)]
    shares = [drawn.count(action) / len(drawn) for action in games.legal_actions(game, states[0])]
    np.testing.assert_allclose(shares, probs[:n], atol=4 * math.sqrt(0.25 / len(drawn)))


# ---------------------------------------------------------------- inner loops


def test_symmetries_map_diagonals_of_one_place_as_those_of_four():
    for board in (boards.square(3, 3), boards.alquerque(3, 5)):
        for rich in (False, True):
            assert window(board, rich).images.tolist() == window(boards.square(4, 4)).images.tolist()


EYES = (window(boards.square(3, 3)), window(boards.hexagon(3)))
MATCHERS = [matcher(eye.images) for eye in EYES]
(fit_0, match_0), (fit_1, match_1) = MATCHERS


@kernel
def fit(which, rows, codes, cell, anchor, out):
    if which == 0:
        fit_0(rows, codes, cell, anchor, out)
    else:
        fit_1(rows, codes, cell, anchor, out)


@kernel
def match(which, rows, codes, cell, anchor, one, other, out):
    if which == 0:
        match_0(rows, codes, cell, anchor, one, other, out)
    else:
        match_1(rows, codes, cell, anchor, one, other, out)


@kernel
def any_of(first, second, third, one, other, out):
    any_of_three(first, second, third, one, other, out)


@kernel
def sum_all(numbers, bits):
    return sum_of_bits(numbers, bits)


@pytest.mark.parametrize("words", [4, 8, 16, 40])
@pytest.mark.parametrize("which", range(2))
def test_compiled_patterns_are_matched_as_in_plain_python_and_by_definition(which, words):
    images, generator = EYES[which].images, np.random.default_rng([which, words])
    turns, rays = images.shape
    rare = np.bitwise_and.reduce([words_by_chance(generator, (2 * rays * ROWS, words)) for _ in range(4)])
    rows = ~rare  # one bit of 16 is 0, so that something fits
    codes = generator.integers(0, CODES, (7, rays)).astype(np.uint8)
    left = 0
    for cell, anchor in [(0, 0), (3, 1), (6, 0), (5, 1)]:
        expected = ~np.zeros((turns, words), np.uint64)
        for s, image in enumerate(images):
            for ray, lies in enumerate(image):
                expected[s] &= rows[(anchor * rays + ray) * ROWS + int(codes[cell, lies])]
        plain, compiled = (words_by_chance(generator, (turns, words)) for _ in range(2))
        MATCHERS[which][0](rows, codes, cell, anchor, plain)
        fit(which, rows, codes, cell, anchor, compiled)
        assert plain.tolist() == compiled.tolist() == expected.tolist()
        one, other, plain, compiled = (words_by_chance(generator, words) for _ in range(4))
        MATCHERS[which][1](rows, codes, cell, anchor, one, other, plain)
        match(which, rows, codes, cell, anchor, one, other, compiled)
        assert plain.tolist() == compiled.tolist() == (one & other & np.bitwise_or.reduce(expected)).tolist()
        left += int(np.bitwise_count(expected).sum())
    assert 0.1 < left / (4 * 64 * words * turns) < 0.9


@pytest.mark.parametrize("words", [4, 8, 16, 40])
@pytest.mark.parametrize("turns", [8, 12])
def test_what_fits_at_both_ends_fits_under_one_symmetry(turns, words):
    generator = np.random.default_rng([turns, words])
    first, second, third = (words_by_chance(generator, (turns, words)) for _ in "abc")
    one, other, plain, compiled = (words_by_chance(generator, words) for _ in range(4))
    any_of_three(first, second, third, one, other, plain)
    any_of(first, second, third, one, other, compiled)
    expected = [
        sum(
            1 << bit
            for bit in range(64)
            if int(one[w] & other[w]) >> bit & 1
            and any(int(first[s, w] & second[s, w] & third[s, w]) >> bit & 1 for s in range(turns))
        )
        for w in range(words)
    ]
    assert plain.tolist() == compiled.tolist() == expected
    assert 0 < sum(expected) < sum(int(word) for word in one & other)


def words_by_chance(generator, shape):
    return generator.integers(0, 2**64, shape, np.uint64)


@pytest.mark.parametrize("words", [1, 4, 8, 24])
def test_compiled_weights_are_summed_as_in_plain_python_to_the_last_bit(words):
    generator = np.random.default_rng(words)
    some, size = words_by_chance(generator, words), 64 * words
    for bits in (some, some & words_by_chance(generator, words), np.zeros_like(some), ~np.zeros_like(some)):
        numbers = (generator.normal(size=size) * 10.0 ** generator.uniform(-4, 4, size)).astype(np.float32)
        numbers[np.unpackbits(bits.view(np.uint8), bitorder="little") == 0] = np.nan  # what isn't chosen isn't read
        plain, compiled = sum_of_bits(numbers, bits), sum_all(numbers, bits)
        assert np.float64(plain).tobytes() == np.float64(compiled).tobytes()
        chosen = [float(number) for number in numbers if not math.isnan(number)]
        assert plain == pytest.approx(math.fsum(chosen), abs=1e-6 * sum(map(abs, chosen)))


@kernel
def exponentials(numbers, out):
    for i in range(len(numbers)):
        out[i] = exponential(numbers[i])


def test_the_exponential_is_right_to_nine_digits_and_cut():
    numbers = np.concatenate(
        [np.linspace(-STEEP, STEEP, 20011), [0.0, 1 / 128, -1 / 128], np.arange(-STEEP, STEEP) + 1e-9]
    )
    out = np.zeros(len(numbers))
    exponentials(numbers, out)
    np.testing.assert_allclose(out, np.exp(numbers), rtol=1e-9)
    assert out.tolist() == [exponential(number) for number in numbers]
    for beyond in (STEEP + 1e-9, 51.0, 1e6, math.inf):
        assert exponential(beyond) == pytest.approx(math.exp(STEEP))
        assert exponential(-beyond) == pytest.approx(math.exp(-STEEP))
