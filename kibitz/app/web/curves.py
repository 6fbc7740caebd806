"""Curves of measurements, thinned to a few hundred points, and which of them are shown."""

from array import array
from collections.abc import Iterable

POINTS = 300  # of a curve; up to twice as many
MAX_CURVES = 12
FIRST = ("nash_conv", "exploitability", "loss", "accuracy", "points", "score")  # how names of curves begin, in order


class Series:
    """A curve of at most `2 * POINTS` points: every second one is left out whenever there are more."""

    def __init__(self) -> None:
        self.x, self.y = array("d"), array("d")
        self._count, self._every = 0, 1
        self.last = (0.0, 0.0)

    def add(self, x: float, y: float) -> None:
        self.last = x, y
        if self._count % self._every == 0:
            self.x.append(x)
            self.y.append(y)
            if len(self.x) > 2 * POINTS:
                self.x, self.y, self._every = self.x[::2], self.y[::2], 2 * self._every
        self._count += 1

    def points(self) -> list[tuple[float, float]]:
        found = list(zip(self.x, self.y, strict=True))
        return found if not found or found[-1] == self.last else [*found, self.last]


def curve_names(series: Iterable[str]) -> list[str]:
    """The measurements that say how good a training is, the most telling first."""
    measured = [name for name in series if not name.endswith("_error")]
    telling = [(FIRST.index(start), name) for name in measured for start in FIRST if name.startswith(start)]
    return list(dict.fromkeys(name for _, name in sorted(telling)))[:MAX_CURVES]
