"""Discounted CFR against the same algorithm in rational numbers and in decimals of many digits."""

from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import islice

import pytest

from kibitz import games
from kibitz.solve.best_response import evaluate
from kibitz.solve.cfr import Cfr
from kibitz.solve.regrets import factor

from .exact_cfr import discounted_cfr, nash_conv, proportional, tree


def gain(t):
    power = Decimal(t) * Decimal(t).sqrt()
    return power / (power + 1)


@pytest.mark.parametrize("name", ["kuhn", "leduc:ranks=2"])
def test_the_first_iterations_equal_those_in_rational_numbers(name):
    """t^1.5 is irrational: both take the nearest double of t^1.5 / (t^1.5 + 1), and the rest is exact."""
    game = games.load(name)
    ours = Cfr(game, "dcfr")
    root = tree(game, Fraction)
    for averages in islice(discounted_cfr(root, Fraction, lambda t: Fraction(factor(t, 1.5))), 6):
        ours.run(1)
        strategy = ours.strategy()
        assert len(averages) == ours.form.infosets
        for key, sums in averages.items():
            exact = [float(prob) for prob in proportional(sums, Fraction)]
            assert strategy.at(key, len(sums)) == pytest.approx(exact, abs=1e-12)
        exact = float(nash_conv(root, Fraction, averages))
        assert evaluate(ours.form, strategy).nash_conv == pytest.approx(exact, abs=1e-12)


@pytest.mark.parametrize(("name", "iterations"), [("kuhn", 300), ("leduc:ranks=2", 300), ("leduc", 50)])
def test_nash_conv_equals_that_in_60_digits(name, iterations):
    game = games.load(name)
    ours = Cfr(game, "dcfr")
    with localcontext(prec=60):
        root = tree(game, Decimal)
        for t, averages in enumerate(islice(discounted_cfr(root, Decimal, gain), iterations), 1):
            ours.run(1)
            if t % 25 == 0:
                exact = float(nash_conv(root, Decimal, averages))
                assert evaluate(ours.form, ours.strategy()).nash_conv == pytest.approx(exact, abs=1e-10), t


@pytest.mark.heavy
def test_leduc_after_300_iterations_in_exact_arithmetic():
    """Rounding errors grow tenfold in about twelve iterations: those of doubles reach a third."""
    found = []
    for digits in (60, 90):
        with localcontext(prec=digits):
            root = tree(games.load("leduc"), Decimal)
            [averages] = islice(discounted_cfr(root, Decimal, gain), 299, 300)
            found.append(float(nash_conv(root, Decimal, averages)))
    assert found[0] == pytest.approx(found[1], rel=1e-9)
    assert found[0] == pytest.approx(0.00194846563308, rel=1e-9)
