"""The pair that grows: all pairs of images counted the obvious way, and scored in the words of the reference."""

import functools
import itertools
import math

import numpy as np
import pytest

from kibitz import games
from kibitz.train.tspg import growth
from kibitz.train.tspg.cases import Finder
from kibitz.train.tspg.growth import best_pair, composition
from kibitz.train.tspg.patterns import canonical, combined, images, parse, turned, window
from kibitz.train.tspg.sets import compile_set, words_for

from .oracle import contents, fits, positions_met, some_patterns, symmetries

GAMES = ["connect_four", "yavalath:3", "breakthrough:6,columns=5"]


class Batch:
    """Positions of a seat, patterns with weights, and an error for every legal action."""

    def __init__(self, name, kind, count=4, patterns=16, seed=1, texts=None, seat=0, weights=None):
        self.game, self.kind, self.seat = games.load(name), kind, seat
        self.eye = window(self.game.board(), kind == "rich")
        self.states = positions_met(self.game, count, seed, seat)
        if texts is None:
            self.patterns = some_patterns(self.game, kind, seat, self.states, patterns, seed, first=patterns // 2)
        else:
            self.patterns = [parse(text, self.eye) for text in texts]
        generator = np.random.default_rng(seed)
        self.weights = generator.normal(size=len(self.patterns)) if weights is None else weights
        self.ends = [
            (state, *self.game.from_to(state, action))
            for state in self.states
            for action in games.legal_actions(self.game, state)
        ]
        self.errors = generator.normal(size=len(self.ends))
        self.made = functools.cache(lambda one, other: canonical(combined(one, other, self.eye), self.eye))

    def best(self, errors=None, fewest=1, patterns=None, **settings):
        patterns = patterns or self.patterns
        tables = compile_set(self.game, self.kind, self.seat, patterns, words_for(len(patterns)))
        weights = np.resize(self.weights, len(patterns))
        errors = self.errors if errors is None else errors
        finder = Finder(self.game, self.kind)
        return best_pair(finder, self.kind, self.states, tables, patterns, weights, errors, fewest, **settings)

    @functools.cached_property
    def instances(self):
        """Of each case the images that fit, those of large weights first; and all patterns that are active."""
        order = sorted(range(len(self.patterns)), key=lambda f: -abs(self.weights[f]))
        turns = [(f, image) for f in order for image in dict.fromkeys(images(self.patterns[f], self.eye))]
        cases = []
        for state, start, to in self.ends:
            there = contents(self.game, state, self.seat)
            found = [each for each in turns if fits(self.game, there, self.seat, each[1], start, to, 0, self.kind)]
            cases.append((found, {f for f, _ in found}))
        return cases

    def scores(self, errors, fewest=1, most=10**6):
        """(parts, pattern) -> score and correlation, of all pairs: case by case, pair by pair."""
        n, total, squares = len(errors), sum(errors), sum(error**2 for error in errors)
        together, summed, alone = {}, {}, dict.fromkeys(range(len(self.patterns)), 0)
        for error, (found, active) in zip(errors, self.instances, strict=True):
            for f in active:
                alone[f] += 1
            met = set()
            for (f, one), (g, other) in itertools.combinations(found[:most], 2):
                met.add((min(f, g), max(f, g), self.made(one, other)))
            for pair in met:
                together[pair] = together.get(pair, 0) + 1
                summed[pair] = summed.get(pair, 0.0) + error
        result = {}
        for (f, g, pattern), c in together.items():
            if fewest <= c < n and pattern not in self.patterns:
                r = (n * summed[f, g, pattern] - c * total) / (
                    math.sqrt(c * (n - c)) * math.sqrt(n * squares - total**2)
                )
                with_parts = [abs(with_part(c, alone[part], n)) for part in (f, g)]
                result[f, g, pattern] = abs(r) * (1 - max(with_parts)), r
        return result


def with_part(together, alone, n):
    """The correlation of two columns of bits, of which the first is 1 only where the second is."""
    if alone == n:
        return 0.0
    both, one, other = together / n, together / n, alone / n
    return (both - one * other) / math.sqrt(one * (1 - one) * other * (1 - other))


def check(batch, errors, fewest=1, most=10**6):
    found, scores = batch.best(errors, fewest), batch.scores(errors, fewest, most)
    score, correlation = scores[*found.parts, found.pattern]
    assert found.score == pytest.approx(score, rel=1e-8)
    assert found.correlation == pytest.approx(correlation, rel=1e-9)
    assert found.score >= max(score for score, _ in scores.values()) - 1e-8
    assert canonical(found.pattern, batch.eye) == found.pattern
    assert found.pattern not in batch.patterns
    return found


# ---------------------------------------------------------------- the best pair


@pytest.fixture
def uncapped(monkeypatch):
    monkeypatch.setattr(growth, "MAX_IMAGES", 5000)


@pytest.mark.parametrize(("name", "kind"), list(zip(GAMES, ["rich", "faithful", "faithful"], strict=True)))
def test_the_best_pair_is_that_of_the_obvious_way(name, kind, uncapped):
    batch = Batch(name, kind)
    generator = np.random.default_rng(7)
    grown = {check(batch, batch.errors * generator.normal(size=len(batch.errors))).pattern for _ in range(2)}
    grown |= {check(batch, generator.normal(size=len(batch.errors)), fewest).pattern for fewest in (3, 8)}
    assert len(grown) > 1


def test_the_other_seat_sees_its_own_pieces(uncapped):
    batch = Batch("breakthrough:6,columns=5", "faithful", count=3, seat=1)
    check(batch, batch.errors)


@pytest.mark.parametrize("name", GAMES[:2])
def test_of_many_images_those_of_the_largest_weights_are_paired(name):
    batch = Batch(name, "rich", count=1, patterns=40, seed=3)
    assert max(len(found) for found, _ in batch.instances) > growth.MAX_IMAGES == 75
    check(batch, batch.errors, most=75)


def test_of_equal_weights_the_first_patterns_are_paired(monkeypatch):
    monkeypatch.setattr(growth, "MAX_IMAGES", 20)
    batch = Batch("connect_four", "rich", count=2, patterns=20, weights=np.ones(20))
    check(batch, batch.errors, most=20)


def test_who_asks_for_confidence_gets_the_lower_end_of_the_interval(uncapped):
    """Of the correlation, by Fisher's z: what only luck explains counts nothing."""
    batch = Batch("yavalath:3", "faithful")
    n, least = len(batch.errors), 0.0
    for errors in (batch.errors, np.abs(batch.errors), batch.errors**3):
        scores = batch.scores(errors)
        sure = {
            pair: score * math.tanh(max(math.atanh(abs(r)) - 1.96 / math.sqrt(n - 3), 0.0)) / abs(r)
            for pair, (score, r) in scores.items()
            if r
        }
        found = batch.best(errors, confident=True)
        assert found.score == pytest.approx(sure[*found.parts, found.pattern], rel=1e-8)
        assert found.score == pytest.approx(max(sure.values()), rel=1e-8)
        assert found.correlation == pytest.approx(scores[*found.parts, found.pattern][1], rel=1e-9)
        least = max(least, found.score)
    assert least > 0


def test_a_planted_pair_is_found_whatever_its_turn(uncapped):
    """The error is 1 where two images lie so, and 0 elsewhere: nothing explains it better than the pair itself."""
    batch = Batch("yavalath:4", "faithful", count=6, texts=["to:", "to: friend(0)", "to: enemy(0,0)", "to: off(0)"])
    for text in ("to: friend(0) friend(1/2)", "to: friend(0) friend(1/6)", "to: friend(0) enemy(1/3,0)"):
        planted = parse(text, batch.eye)
        tables = compile_set(batch.game, "faithful", 0, [planted], words_for(1))
        errors = Finder(batch.game, "faithful").find(batch.states, tables, 1).active[:, 0].astype(float)
        assert 0 < errors.mean() < 1
        found = check(batch, errors)
        assert found.pattern == planted
        assert found.correlation == pytest.approx(1)
        assert check(batch, -errors).correlation == pytest.approx(-1)


def test_what_grew_can_grow_again():
    batch = Batch("connect_four", "faithful", count=6, patterns=49)
    patterns = list(batch.patterns)
    for _ in range(12):
        found = batch.best(patterns=patterns)
        assert found.pattern not in patterns
        assert canonical(found.pattern, batch.eye) == found.pattern
        assert all(0 <= part < len(patterns) for part in found.parts)
        patterns.append(found.pattern)
    assert max(len(pattern.elements) for pattern in patterns) > 2


def test_nothing_grows_where_nothing_is_wrong_or_new():
    batch = Batch("yavalath:3", "faithful", count=3, patterns=10)
    assert batch.best(np.zeros(len(batch.errors))) is None
    assert batch.best(fewest=len(batch.errors)) is None
    assert Batch("yavalath:3", "faithful", texts=["to:"]).best() is None
    texts = ["to:", "to: friend()", "to: empty()"]  # together they are one of them, or nothing
    assert Batch("yavalath:3", "faithful", texts=texts).best() is None


# ---------------------------------------------------------------- names of pairs


@pytest.mark.parametrize("name", GAMES)
def test_a_composition_is_one_turn_after_another(name):
    batch = Batch(name, "faithful")
    after = composition(batch.eye)
    assert after.shape == (symmetries(batch.game.board()),) * 2
    for pattern in batch.patterns:
        turns = images(pattern, batch.eye)
        for b, image in enumerate(turns):
            assert [turned(image, batch.eye, a) for a in range(len(turns))] == [turns[k] for k in after[:, b]]


@pytest.mark.parametrize("name", GAMES)
def test_two_relative_turns_have_one_name_exactly_where_they_make_one_pattern(name):
    """Of parts that share no cell: where they do, two names may make the same pattern, and are counted alike."""
    batch = Batch(name, "faithful", texts=[
        "to:", "to: friend()", "to: friend(0)", "to: friend(0,0) friend(1/2,0)", "to: enemy(0,0,0) empty(0,0,0,0)",
        "to: enemy(0,0,0)",
    ])  # fmt: skip
    eye = batch.eye
    after, turns = composition(eye), [images(pattern, eye) for pattern in batch.patterns]
    same = np.array([[image == each[0] for image in each] for each in turns])
    names = np.zeros((len(turns), len(turns), same.shape[1]), np.int8)
    growth.name_pairs(after, np.argmin(after, axis=1), same, names)
    for f, g in itertools.combinations_with_replacement(range(len(turns)), 2):
        made = [canonical(combined(turns[f][0], image, eye), eye) for image in turns[g]]
        for k, name in enumerate(names[f, g].tolist()):
            assert name <= k
            assert made[name] == made[k]
            assert names[f, g, name] == name
        overlap = {e[:2] for image in turns[f] for e in image.elements} & {
            e[:2] for each in turns[g] for e in each.elements
        }
        if not overlap or f == g:
            assert len(set(names[f, g].tolist())) == len(set(made))


@pytest.mark.parametrize("name", GAMES)
def test_plain_python_grows_the_same(name, monkeypatch):
    batch = Batch(name, "rich", count=2, patterns=12)
    compiled = [batch.best(errors) for errors in (batch.errors, batch.errors**2)]
    for kernel in ("count_pairs", "name_pairs"):
        function = getattr(growth, kernel)
        monkeypatch.setattr(growth, kernel, getattr(function, "py_func", function))
    assert [batch.best(errors) for errors in (batch.errors, batch.errors**2)] == compiled
