"""Tables of bits find what a board shows: against a slow search, at every cell, in every turn, compiled and plain."""

import math
from typing import NamedTuple

import numpy as np
import pytest

from kibitz import games
from kibitz.games import breakthrough
from kibitz.jit import kernel
from kibitz.learn.features.cases import Finder, find_cases
from kibitz.learn.features.growth import fit
from kibitz.learn.features.linear import ON_HEXAGONS, ON_SQUARES, RICH, STEEP, exponential, linear, look, new_eyes
from kibitz.learn.features.naive import naive
from kibitz.learn.features.patterns import Mark, Pattern, combined, turned, window
from kibitz.learn.features.sets import atoms_of, compile_set, is_moving, marks_of, sight, words_for
from kibitz.search.policies import weighed
from kibitz.vectors import CODES, WORDS, matcher, sum_of_bits

from .oracle import KINDS, TEN, activities, contents, fits, positions_met, some_patterns, symmetries

LINEAR = ["connect_four", "breakthrough", "hex:7"]  # stones that fall, pieces that move, hexagons in four words


def found_by(game, kind, seat, patterns, states, finder=None):
    tables = compile_set(game, kind, seat, patterns, words_for(len(patterns)))
    return (finder or Finder(game, kind)).find(states, tables, len(patterns))


def sides_of(game, kind, states, count, seed=1):
    """Patterns of both seats, as many as asked for, and weights of all sizes."""
    patterns = tuple(some_patterns(game, kind, seat, states, count, seed + seat) for seat in range(2))
    generator = np.random.default_rng(seed)
    return patterns, tuple(generator.normal(size=len(each)) * generator.choice([0.1, 1.0], len(each)) for each in patterns)


# ---------------------------------------------------------------- what is active


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", [*TEN, "tic_tac_toe"])
def test_what_is_active_is_what_the_board_shows(name, kind):
    game = games.load(name)
    count = 2 if name in ("gomoku", "hex:11") else 5
    for seat in range(2):
        states = positions_met(game, count, 10 + seat, seat)
        patterns = some_patterns(game, kind, seat, states, 60, seat, first=0)
        patterns += [each for each in atoms_of(game, kind, seat)[:: 3 if count == 2 else 1] if each not in patterns]
        cases = found_by(game, kind, seat, patterns, states)
        expected, actions = activities(game, states, seat, patterns)
        assert cases.actions.tolist() == actions
        np.testing.assert_array_equal(cases.active, expected)
        assert cases.first.tolist() == np.cumsum([0, *(len(games.legal_actions(game, s)) for s in states)])[:-1].tolist()
        assert 0.05 < expected[:, :60].mean() < 0.95
        assert expected[:, :60].any(axis=0).mean() > 0.4  # most of what was drawn is met


@pytest.mark.parametrize("name", ["teeko", "hex:7", "othello"])
def test_plain_python_finds_the_same(name):
    game = games.load(name)
    states = positions_met(game, 3, 5)
    patterns = some_patterns(game, "rich", 0, states, 300, 5)
    tables = compile_set(game, "rich", 0, patterns, words_for(len(patterns)))
    results = []
    for function in (find_cases, getattr(find_cases, "py_func", find_cases)):
        finder, room = Finder(game, "rich"), len(states) * game.facts.most_actions
        bits, held = np.zeros((room, words_for(300)), np.uint64), np.zeros(words_for(300), np.uint64)
        actions, first = np.zeros(room, np.int64), np.zeros(len(states), np.int64)
        given = (game, states, finder.seen, finder.eyes, tables, finder.actions, held, bits, actions, first)
        results.append((function(*given), bits.tobytes(), actions.tolist(), first.tolist()))
        results[-1] += tuple(array.tobytes() for array in finder.eyes)
    assert results[0] == results[1]


@pytest.mark.parametrize("count", [256, 257, 512, 513, 1100])
def test_any_number_of_patterns_has_room(count):
    """One vector of few words, or any number of large ones: what is found of a pattern isn't changed by others."""
    game = games.load("connect_four")
    states = positions_met(game, 6, 3)
    patterns = some_patterns(game, "rich", 0, states, 1100, 3)[:count]
    assert words_for(count) * 64 >= count
    whole = found_by(game, "rich", 0, patterns, states).active
    assert whole.shape[1] == count
    for first in range(0, count, 200):
        part = found_by(game, "rich", 0, patterns[first : first + 200], states).active
        np.testing.assert_array_equal(whole[:, first : first + 200], part)


def test_words_are_whole_vectors():
    few, many = WORDS
    assert [words_for(count) for count in (1, 64 * few)] == [few, few]
    assert [words_for(count) for count in (64 * few + 1, 64 * many, 64 * many + 1)] == [many, many, 2 * many]


def test_an_action_that_goes_nowhere_has_no_patterns():
    """Such as a pass; and patterns around `from` are none of a stone that is dropped."""
    game = games.load("othello")
    passing = positions_met(game, 1, 1)
    passing[0].moves = 0  # no cell may be taken
    patterns = atoms_of(game, "rich", 0)
    cases = found_by(game, "rich", 0, patterns, passing)
    assert cases.actions.tolist() == [64]
    assert not cases.active.any()
    teeko = games.load("teeko")
    atoms = atoms_of(teeko, "faithful", 0)
    active = found_by(teeko, "faithful", 0, atoms, games.positions(teeko)).active
    around_from = np.array([1 in pattern.anchors for pattern in atoms])
    assert around_from.sum() == (~around_from).sum() == 49
    assert not active[:, around_from].any()
    assert active[:, ~around_from].any(axis=1).all()


def test_pieces_move_in_some_games():
    moving = {"breakthrough", "knightthrough", "fanorona", "teeko"}
    assert {name for name in [*TEN, "tic_tac_toe"] if is_moving(games.load(name))} == moving


def test_two_games_of_the_same_numbers_are_two():
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
    "marked", state=breakthrough.STATE, most_actions=lambda game: 6 * game.rows * game.columns, longest=99,
    payoffs=(-1.0, 1.0),
)  # fmt: skip
class Marked(NamedTuple):
    """Breakthrough, with a goal and corners."""

    rows: int = 7
    columns: int = 5

    board, start, turn = (getattr(breakthrough.Breakthrough, name) for name in ("board", "start", "turn"))
    actions, play, payoff = (getattr(breakthrough.Breakthrough, name) for name in ("actions", "play", "payoff"))
    ends, stones = breakthrough.Breakthrough.ends, breakthrough.Breakthrough.stones

    def regions(self, seat):
        cells = range(self.rows * self.columns)
        goal = [cell for cell in cells if cell // self.columns == (0 if seat else self.rows - 1)]
        return {"goal": goal, "corner": [0, self.columns - 1]}


def test_cells_are_known_by_their_distance_to_regions():
    game = Marked()
    found = marks_of(game, 0)
    assert sorted(found) == [(name, value) for name in ("corner", "goal") for value in range(4)]
    assert [int(found["goal", value].sum()) for value in range(4)] == [5, 5, 5, 5]
    assert np.flatnonzero(found["corner", 1]).tolist() == [1, 3, 5, 6, 8, 9]
    for seat in range(2):
        states = positions_met(game, 3, 4, seat)
        atoms = atoms_of(game, "rich", seat)
        assert len(atoms) == 2 * (73 + 8)
        marks = [each for each in atoms if each.marks]
        eye = window(game.board(), True)
        more = [combined(one, other, eye) for one in marks for other in (marks[5], marks[8], atoms[9], atoms[100])]
        patterns = list(dict.fromkeys([*atoms, *more]))
        cases = found_by(game, "rich", seat, patterns, states)
        np.testing.assert_array_equal(cases.active, activities(game, states, seat, patterns)[0])
        assert cases.active[:, [patterns.index(each) for each in more]].any()
    assert not any(pattern.marks for pattern in atoms_of(game, "faithful", 0))
    assert Pattern((0,), (), (Mark(0, "goal", 0),)) in atoms_of(game, "rich", 1)


# ---------------------------------------------------------------- images and combinations


@pytest.mark.parametrize("name", ["fanorona:3,columns=3", "breakthrough:6,columns=5", "yavalath:3", "hex:5,swap=yes"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_combination_is_active_exactly_where_both_parts_are(name, kind):
    """As images, at every pair of cells, in every turn: what growth counts on."""
    game = games.load(name)
    eye, cells = window(game.board(), kind == "rich"), len(game.board().places)
    states = positions_met(game, 4, 8, 0)
    generator = np.random.default_rng(8)
    drawn = some_patterns(game, kind, 0, states, 24, 9, first=0)
    atoms = atoms_of(game, kind, 0)
    parts, together, impossible = [], [], []
    for _ in range(60):
        one = drawn[generator.integers(len(drawn))]
        other = (drawn, atoms)[generator.integers(2)]
        other = turned(other[generator.integers(len(other))], eye, int(generator.integers(len(eye.turns))))
        both = combined(one, other, eye)
        if both is None:
            impossible.append((one, other))
        else:
            parts.append((one, other))
            together.append(both)
    assert len(together) >= 30
    patterns = [*(one for one, _ in parts), *(other for _, other in parts), *together]
    patterns += [each for pair in impossible for each in pair]
    words = words_for(len(patterns))
    tables, seen = compile_set(game, kind, 0, patterns, words), sight(game, kind == "rich")
    eyes, images = new_eyes(seen), np.zeros((symmetries(game.board()), words), np.uint64)
    plainly = getattr(fit_one, "py_func", fit_one)
    met = np.zeros(len(patterns), int)
    for state in states:
        there = contents(game, state, 0)
        for to in range(cells):
            start = int(generator.integers(-1, cells))
            plainly(game, state, seen, eyes, tables, eye.images, start, to, images)
            held = np.unpackbits(images.view(np.uint8), axis=1, bitorder="little", count=len(patterns)).astype(bool)
            n = len(together)
            np.testing.assert_array_equal(held[:, 2 * n : 3 * n], held[:, :n] & held[:, n : 2 * n])
            assert not (held[:, 3 * n :: 2] & held[:, 3 * n + 1 :: 2]).any()
            met += held.any(axis=0)
            f = int(generator.integers(len(patterns)))
            by_board = [fits(game, there, 0, patterns[f], start, to, s) for s in range(symmetries(game.board()))]
            assert sorted(by_board) == sorted(held[:, f].tolist())
            assert held[0, f] == by_board[0]  # the first symmetry changes nothing
    assert (met[2 * n : 3 * n] > 0).sum() > 8


@kernel
def fit_one(game, state, seen, eyes, tables, images, start, to, out):
    look(game, state, seen, eyes)
    fit(eyes, tables, images, start, to, out)


# ---------------------------------------------------------------- policies


def agree(game, kind, states, patterns, weights):
    fast, slow = linear(game, kind, patterns, weights), naive(game, kind, patterns, weights)
    spread = []
    for state in states:
        n = len(games.legal_actions(game, state))
        odds, expected = (weighed(game, each, state, n) for each in (fast, slow))
        np.testing.assert_allclose(odds, expected, rtol=1e-5)
        assert odds.sum() == pytest.approx(1, abs=1e-12)
        spread.append(float(odds.max() / odds.min()))
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
    game = games.load(name)
    states = positions_met(game, 100, 22)
    for count in (60, 250, 700):
        agree(game, kind, states, *sides_of(game, kind, states, count))


@pytest.mark.parametrize("name", LINEAR)
def test_the_odds_are_the_softmax_of_the_active_weights(name):
    game = games.load(name)
    for seat in range(2):
        states = positions_met(game, 5, 30, seat)
        patterns, weights = sides_of(game, "faithful", states, 90)
        policy = linear(game, "faithful", patterns, weights)
        cases = found_by(game, "faithful", seat, patterns[seat], states)
        expected = cases.softmax(cases.active.astype(float) @ weights[seat])
        found = [weighed(game, policy, s, n) for s, n in zip(states, cases.lengths.tolist(), strict=True)]
        np.testing.assert_allclose(np.concatenate(found), expected, rtol=1e-5)


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
        game.play(states[i], game.pick(states[i], rng))
    return states


@pytest.mark.parametrize("name", ["tic_tac_toe", "hex:5,swap=yes"])
def test_plain_and_compiled_policies_agree_to_the_last_bit(name):
    game = games.load(name)
    states = positions_met(game, 4, 51)
    patterns, weights = sides_of(game, "faithful", states, 80)
    one, other = (linear(game, "faithful", patterns, weights) for _ in range(2))
    actions, odds = np.zeros(game.facts.most_actions, np.int64), np.zeros(game.facts.most_actions)
    for state in states:
        n = game.actions(state, actions)
        one.weigh(game, state, actions, n, odds)
        assert weighed(game, other, state, n).tolist() == odds[:n].tolist()


def test_a_step_is_drawn_by_the_odds():
    game = games.load("tic_tac_toe")
    states = positions_met(game, 1, 61, 0)
    patterns, weights = sides_of(game, "faithful", states, 60)
    policy = linear(game, "faithful", patterns, weights)
    legal, rng = games.legal_actions(game, states[0]), np.array([1, 2], np.uint64)
    odds = weighed(game, policy, states[0], len(legal))
    actions, room = np.zeros(9, np.int64), np.zeros(9)
    drawn = [int(policy.step(game, states[0], actions, room, rng)) for _ in range(4000)]
    shares = np.array([drawn.count(action) / len(drawn) for action in legal])
    np.testing.assert_allclose(shares, odds, atol=4 * math.sqrt(0.25 / len(drawn)))


# ---------------------------------------------------------------- inner loops

matchers = {"squares": (matcher(ON_SQUARES), ON_SQUARES), "rich": (matcher(RICH), RICH)}
matchers["hexagons"] = matcher(ON_HEXAGONS), ON_HEXAGONS
on_squares, on_rich, on_hexagons = (function for function, _ in matchers.values())


@kernel
def match(which, rows, codes, to, start, held, out):
    if which == 0:
        on_squares(rows, codes, to, start, held, out)
    elif which == 1:
        on_rich(rows, codes, to, start, held, out)
    else:
        on_hexagons(rows, codes, to, start, held, out)


@kernel
def sum_all(numbers, bits):
    return sum_of_bits(numbers, bits)


@pytest.mark.parametrize("words", [4, 8, 16, 40])
@pytest.mark.parametrize("which", range(3))
def test_compiled_patterns_are_matched_as_in_plain_python_and_by_definition(which, words):
    function, images = list(matchers.values())[which]
    generator = np.random.default_rng([which, words])
    rays = images.shape[1]
    rows = ~np.zeros((2 * rays * CODES, words), np.uint64)
    for _ in range(3):  # three of eight bits are 0, so that something is left
        rows &= ~(words_by_chance(generator, rows.shape) & words_by_chance(generator, rows.shape) & words_by_chance(generator, rows.shape))
    codes = generator.integers(0, CODES, (7, rays)).astype(np.uint8)
    codes[6] = codes[5]
    left = 0
    for to, start in [(0, -1), (3, 2), (6, 6), (5, 6), (1, -1)]:
        held = words_by_chance(generator, words)
        plain, compiled, expected = (words_by_chance(generator, words) for _ in range(3))
        expected[:] = 0
        for image in images:  # [ray of the pattern] -> where it lies
            fitting = held.copy()
            for ray, lies in enumerate(image):
                fitting &= rows[ray * CODES + codes[to, lies]]
                if start >= 0:
                    fitting &= rows[(rays + ray) * CODES + codes[start, lies]]
            expected |= fitting
        function(rows, codes, to, start, held, plain)
        match(which, rows, codes, to, start, held, compiled)
        assert plain.tolist() == compiled.tolist() == expected.tolist()
        left += int(np.bitwise_count(expected).sum())
    assert left > 0


def words_by_chance(generator, shape):
    return generator.integers(0, 2**64, shape, np.uint64)


@pytest.mark.parametrize("words", [1, 4, 8, 24])
def test_compiled_weights_are_summed_as_in_plain_python_to_the_last_bit(words):
    generator = np.random.default_rng(words)
    for share in range(4):
        size = 64 * words
        numbers = (generator.normal(size=size) * 10.0 ** generator.uniform(-4, 4, size)).astype(np.float32)
        bits = words_by_chance(generator, words)
        if share != 1:
            bits = bits & words_by_chance(generator, words) if share else bits & np.uint64(0)
        if share == 3:
            bits[:] = ~np.uint64(0)
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
    numbers = np.concatenate([np.linspace(-STEEP, STEEP, 20011), [0.0, 1 / 128, -1 / 128], np.arange(-STEEP, STEEP) + 1e-9])
    out = np.zeros(len(numbers))
    exponentials(numbers, out)
    np.testing.assert_allclose(out, np.exp(numbers), rtol=1e-9)
    assert out.tolist() == [exponential(number) for number in numbers]
    for beyond in (STEEP + 1e-9, 51.0, 1e6, math.inf):
        assert exponential(beyond) == pytest.approx(math.exp(STEEP))
        assert exponential(-beyond) == pytest.approx(math.exp(-STEEP))
