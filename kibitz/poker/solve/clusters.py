"""Card abstraction by k-means: hands with similar prospects share a bucket.

On the last street a hand is described by its equity against each of a few clusters of starting hands (OCHS, opponent
cluster hand strength); before it, by the histogram of the equities that it may have on the last street, with the earth
mover's distance between histograms (Johanson, Burch, Valenzano and Bowling 2013). In one dimension that distance is the
sum of differences of the cumulated histograms, and the mean of cumulated histograms is that of the histograms.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations
from typing import NamedTuple

import numpy as np

from ...core.progress import SILENT, Reporter
from ...core.workers import cores
from ...jit import kernel, long_helper
from .buckets import Buckets, buckets_of
from .cards import Cards

BINS = 50  # of equity
OPPONENTS = 8  # clusters of starting hands
IMPOSSIBLE = 255
SAMPLE = 50  # points per cluster that k-means is fitted to
ROUNDS = 25  # of k-means
CHUNK = 256  # boards at once
PART = 16 * CHUNK  # boards that are kept together
BLOCK = 256  # centers at once
NAMES = ("preflop", "flop", "turn", "river")

Nearest = Callable[[np.ndarray, np.ndarray, bool], np.ndarray]


class Keep:
    """Keeps finished parts of an abstraction, so that a killed run continues with them. This one keeps nothing."""

    def load(self, name: str) -> dict[str, np.ndarray] | None:
        """The arrays that were saved under a name, or None."""
        return None

    def save(self, name: str, arrays: dict[str, np.ndarray]) -> None:
        """Keep arrays under a name."""


class Spec(NamedTuple):
    """How many clusters each street has after the first; 0: no abstraction."""

    clusters: tuple[int, ...]
    seed: int = 1


def abstraction(
    cards: Cards,
    spec: Spec,
    nearest: "Nearest | None" = None,
    threads: int | None = None,
    report: Reporter = SILENT,
    keep: "Keep | None" = None,
) -> Buckets:
    """Compute the buckets of all streets.

    Args:
        nearest: Finds the nearest of some centers for many points; by default on all cores.
        keep: Keeps finished parts; those that it has already aren't computed again.
    """
    work = Work(cards, spec, threads or cores(), nearest, report, keep or Keep())
    tables = {}
    for street in range(1, cards.streets):
        if spec.clusters[street - 1]:
            tables[street] = work.street(street)
    return buckets_of(cards, tables)


class Work:
    """The steps of an abstraction. Each street can be computed by itself."""

    def __init__(
        self,
        cards: Cards,
        spec: Spec,
        threads: int,
        nearest: Nearest | None,
        report: Reporter,
        keep: Keep | None = None,
    ) -> None:
        self.cards, self.spec, self.report, self.keep = cards, spec, report, keep or Keep()
        self.pool, self.threads = ThreadPoolExecutor(threads), threads
        self.nearest = nearest or self._nearest
        self.last = cards.streets - 1
        self.keys = cards.classes(cards.dealt[-1])
        self._bins: np.ndarray | None = None

    def street(self, street: int) -> np.ndarray:
        """[canonical boards, hands] i2 or i4: the clusters of a street; -1: a hand shares a card with the board."""
        keys = self.cards.classes(self.cards.dealt[street])[0]
        count, hands, l1 = self.spec.clusters[street - 1], len(self.cards.hands), street < self.last
        describe = self.histograms if l1 else self.against_clusters
        centers = self.fit(street, keys, describe)
        found = np.full((len(keys), hands), -1, np.int16 if count < 2**15 else np.int32)
        for start in range(0, len(keys), PART):
            part, name = slice(start, start + PART), f"{street + 1}-rows-{start:06d}"
            kept = self.keep.load(name)
            if kept is not None and kept["rows"].shape == found[part].shape:
                found[part] = kept["rows"]
                continue
            for chunk in _chunks(np.arange(len(keys))[part]):
                self.report.progress(int(chunk[0]), len(keys), f"boards, {NAMES[street]}")
                free = self._free(keys[chunk])
                rows = np.full(free.shape, -1, found.dtype)
                rows[free] = self.nearest(describe(keys[chunk]), centers, l1)
                found[chunk] = rows
            self.keep.save(name, {"rows": found[part]})
        return found

    def fit(self, street: int, keys: np.ndarray, describe: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """[clusters, dimensions] f4: the centers of a street, fitted to a sample of its hands."""
        count, hands, name = self.spec.clusters[street - 1], len(self.cards.hands), f"{street + 1}-centers"
        kept = self.keep.load(name)
        if kept is not None and int(kept["round"]) == ROUNDS:
            return kept["centers"]
        random = np.random.default_rng([self.spec.seed, street])
        sampled = random.permutation(len(keys))[: max(1, min(len(keys), SAMPLE * count // hands + 64))]
        self.report.progress(0, ROUNDS, f"k-means, {NAMES[street]}")
        points = np.concatenate([describe(keys[part]) for part in _chunks(np.sort(sampled))])
        points = points[random.permutation(len(points))[: SAMPLE * count]]

        def after_round(number: int, centers: np.ndarray) -> None:
            self.keep.save(name, {"centers": centers, "round": np.array(number)})
            self.report.progress(number, ROUNDS, f"k-means, {NAMES[street]}")

        start = None if kept is None else (int(kept["round"]), kept["centers"])
        seed = self.spec.seed, street
        return k_means(points, count, street < self.last, seed, self.nearest, start=start, after_round=after_round)

    # ------------------------------------------------------------ descriptions of hands: one row per possible hand

    def _boards(self, keys: np.ndarray) -> np.ndarray:
        return np.array([self.cards.bits_to_board(key) for key in keys.tolist()], np.int64)

    def _free(self, keys: np.ndarray) -> np.ndarray:
        return self.cards.held & keys[:, None] == 0

    @property
    def bins(self) -> np.ndarray:
        """[canonical complete boards, hands] u1: the bin of the equity against a random hand; or IMPOSSIBLE."""
        if self._bins is None:
            found = np.full((len(self.keys[0]), len(self.cards.hands)), IMPOSSIBLE, np.uint8)
            everyone = np.zeros((1, len(self.cards.hands)), np.float32) + 1

            def fill(part: np.ndarray) -> None:
                equity = self._equities(self.keys[0][part], everyone)[:, :, 0]
                possible = equity >= 0
                chunk = found[part]
                chunk[possible] = np.minimum(equity[possible] * BINS, BINS - 1)
                found[part] = chunk

            parts = list(_chunks(np.arange(len(found))))
            for done, _ in enumerate(self.pool.map(fill, parts)):
                self.report.progress(done + 1, len(parts), "equities of all hands on all boards")
            self._bins = found
        return self._bins

    def _equities(self, keys: np.ndarray, ranges: np.ndarray) -> np.ndarray:
        """[boards, hands, ranges] f4: equity of each hand against each range of hands; -1: impossible."""
        values = self.cards.values(self._boards(keys))
        order = np.argsort(values, axis=1, kind="stable")
        found = np.full((*values.shape, len(ranges)), -1.0, np.float32)
        by_card = np.zeros((2, self.cards.deck))
        range_equities(self.cards.hands, values, order, ranges, by_card, found)
        return found

    def starting_hands(self) -> np.ndarray:
        """[OPPONENTS, hands] f4: clusters of starting hands, by the histograms of their equities on the last street."""
        classes = self.cards.lossless(0)[0]
        sums = np.zeros((int(classes.max()) + 1, BINS))
        count_bins(self.bins, self.keys[1], classes, sums)
        points = np.cumsum(sums / sums.sum(axis=1, keepdims=True), axis=1).astype(np.float32)
        count = min(OPPONENTS, len(points))
        centers = k_means(points, count, True, (self.spec.seed, 0), self._nearest, np.bincount(classes).astype(float))
        member = self._nearest(points, centers, True)[classes]
        return (member == np.arange(count)[:, None]).astype(np.float32)

    def against_clusters(self, keys: np.ndarray) -> np.ndarray:
        """[possible hands, OPPONENTS] f4: equities on the last street."""
        if not hasattr(self, "_ranges"):
            self._ranges = self.starting_hands()
        parts = self.pool.map(lambda part: self._equities(part, self._ranges), np.array_split(keys, self.threads))
        return np.concatenate(list(parts))[self._free(keys)]

    def histograms(self, keys: np.ndarray) -> np.ndarray:
        """[possible hands, BINS - 1] f4: cumulated histograms of equities on the last street."""
        bins, cards = self.bins, self.cards

        def one(part: np.ndarray) -> np.ndarray:
            found = np.zeros((len(part), len(cards.hands), BINS), np.float32)
            for board, out in zip(self._boards(part), found, strict=True):
                left = [card for card in range(cards.deck) if card not in board]
                more = np.array(list(combinations(left, cards.dealt[-1] - len(board))), np.int64)
                full = np.hstack([np.tile(board, (len(more), 1)), more])
                ends, orders = cards.canonical(full)
                cumulate(bins, np.searchsorted(self.keys[0], ends), cards.hand_orders, orders, out)
            return found

        parts = self.pool.map(one, [part for part in np.array_split(keys, self.threads) if len(part)])
        return np.concatenate(list(parts))[self._free(keys)][:, :-1]

    def _nearest(self, points: np.ndarray, centers: np.ndarray, l1: bool) -> np.ndarray:
        found, columns = np.zeros(len(points), np.int32), np.ascontiguousarray(centers.T)

        def part(place: slice) -> None:
            best, totals = np.zeros(len(points[place]), np.float32), np.zeros(BLOCK, np.float32)
            nearest_center(points[place], columns, l1, totals, best, found[place])

        size = -(-len(points) // self.threads)
        list(self.pool.map(part, [slice(start, start + size) for start in range(0, len(points), max(size, 1))]))
        return found


def _chunks(indices: np.ndarray) -> Iterator[np.ndarray]:
    for start in range(0, len(indices), CHUNK):
        yield indices[start : start + CHUNK]


def k_means(
    points: np.ndarray,
    count: int,
    l1: bool,
    seed: tuple[int, ...],
    nearest: Nearest,
    weights: np.ndarray | None = None,
    start: tuple[int, np.ndarray] | None = None,
    after_round: Callable[[int, np.ndarray], None] | None = None,
) -> np.ndarray:
    """Fit centers to points, from a random choice of different ones. A center that loses all points gets a new one.

    Args:
        start: The number of rounds that are done, and the centers then.
        after_round: Called with the same after each round.
    """
    after_round = after_round or (lambda number, centers: None)
    if start is None:
        different = np.unique(points, axis=0)
        if len(different) <= count:
            after_round(ROUNDS, different)
            return different
        centers = different[np.sort(np.random.default_rng(seed).permutation(len(different))[:count])]
        start = 0, centers
    done, centers = start
    weights = np.ones(len(points)) if weights is None else weights
    for number in range(done + 1, ROUNDS + 1):
        member = nearest(points, centers, l1)
        size = np.bincount(member, weights, count)
        sums = np.stack([np.bincount(member, weights * column, count) for column in points.T], axis=1)
        lost = size == 0
        after = (sums / np.maximum(size, 1e-30)[:, None]).astype(np.float32)
        random = np.random.default_rng([*seed, number])
        after[lost] = points[random.integers(len(points), size=int(lost.sum()))]
        same, centers = np.array_equal(after, centers), after
        after_round(ROUNDS if same else number, centers)
        if same:
            break
    return centers


# ---------------------------------------------------------------- kernels


@kernel
def nearest_center(points, columns, l1, totals, best, out):
    """out[i]: the nearest center to point i, by the sum of differences (l1) or of their squares.

    `columns` are the centers, [dimensions, centers]: the inner loop runs over centers, which is vectorised.
    """
    size, count = columns.shape
    for start in range(0, count, len(totals)):
        width = min(len(totals), count - start)
        for i in range(len(points)):
            totals[:] = np.float32(0.0)
            for d in range(size):
                value, column = points[i, d], columns[d, start : start + width]
                if l1:
                    for c in range(width):
                        totals[c] += abs(value - column[c])
                else:
                    for c in range(width):
                        gap = value - column[c]
                        totals[c] += gap * gap
            for c in range(width):
                if (start == 0 and c == 0) or totals[c] < best[i]:
                    best[i] = totals[c]
                    out[i] = start + c


@kernel
def count_bins(bins, weights, classes, out):
    """out[c, b]: the weight of all boards and hands of class c whose bin is b."""
    for row in range(len(bins)):
        for h in range(len(classes)):
            if bins[row, h] != IMPOSSIBLE:
                out[classes[h], bins[row, h]] += weights[row]


@kernel
def cumulate(bins, rows, hand_orders, orders, out):
    """out[h]: the cumulated histogram of a hand's bins over these boards (rows of `bins`, after a permutation)."""
    for b in range(len(rows)):
        row, order = bins[rows[b]], hand_orders[orders[b]]
        for h in range(len(out)):
            place = row[order[h]]
            if place != IMPOSSIBLE:
                out[h, place] += np.float32(1.0)
    for h in range(len(out)):
        total = np.float32(0.0)
        for i in range(out.shape[1]):
            total += out[h, i]
            out[h, i] = total
        if total > 0:
            for i in range(out.shape[1]):
                out[h, i] /= total


@kernel
def range_equities(hands, values, order, ranges, by_card, out):
    """out[b, h, r]: the equity of hand h against range r on board b; a half where no hand of the range is possible."""
    for b in range(len(values)):
        first = 0
        while first < values.shape[1] and values[b, order[b, first]] < 0:
            first += 1
        for r in range(len(ranges)):
            one_range(hands, values[b], order[b], first, ranges[r], by_card, out[b], r)


@long_helper
def one_range(hands, values, order, first, weights, by_card, out, r):
    hole = hands.shape[1]
    every, below = by_card[0], by_card[1]
    every[:] = 0.0
    below[:] = 0.0
    total, lower = 0.0, 0.0
    for i in range(first, len(order)):
        h = order[i]
        total += weights[h]
        for c in range(hole):
            every[hands[h, c]] += weights[h]
    start = first
    while start < len(order):
        stop, level = start, values[order[start]]
        while stop < len(order) and values[order[stop]] == level:
            stop += 1
        for i in range(start, stop):
            h = order[i]
            against, beaten = total + (hole - 1) * weights[h], lower
            for c in range(hole):
                against -= every[hands[h, c]]
                beaten -= below[hands[h, c]]
            out[h, r] = beaten / max(against, 1e-30)
        for i in range(start, stop):
            h = order[i]
            lower += weights[h]
            for c in range(hole):
                below[hands[h, c]] += weights[h]
        for i in range(start, stop):  # ties: half of those not below before, but not above now
            h = order[i]
            against, above = total + (hole - 1) * weights[h], lower + (hole - 1) * weights[h]
            for c in range(hole):
                against -= every[hands[h, c]]
                above -= below[hands[h, c]]
            out[h, r] = 0.5 if against <= 0.0 else (out[h, r] + above / against) / 2
        start = stop
