"""Draws figures from the documentation at random and measures them again: `python docs/audit.py`.

    python docs/audit.py [--figures 10] [--seed 1]

Tables whose header has `command`, `seed`, `ours`, `interval over` and `again` are read as they stand on the pages.
`again` holds the options that make a command quick, in place of its own; nothing (`-`) where it can't be: a training,
a GPU, another program. Each command drawn is run with a new seed, and its result compared with the page:

- an exact figure agrees if it is the same, rounded to the digits of the page;
- a speed agrees if the ranges of the ratios overlap;
- any other agrees unless the difference of both means is significant at 1%: more than 2.576 standard errors, each
  error being the part of the 95% interval towards the other mean, divided by 1.96.

So one in a hundred of these is outside by chance, if all are right.
"""

import argparse
import json
import random
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
COLUMNS = {"command", "seed", "ours", "interval over"}
NUMBER = r"[+-]?\d[\d,]*(?:\.\d+)?"
FIGURE = re.compile(rf"({NUMBER})(%|x| mbb/g)?(?: \(({NUMBER}) to ({NUMBER})\))?")
EXACT, RUNS = "exact", "5 runs"  # in the column "interval over"
Z95, Z99 = 1.96, 2.576
MINUTES = 10  # for one figure


class Interval(NamedTuple):
    mean: float
    low: float
    high: float


class Figure(NamedTuple):
    """A row of a table with a figure of ours."""

    where: str  # page and line
    command: str
    seed: str
    text: str  # without links and emphasis
    over: str  # what the interval is over: games, trainings, runs; or that the figure is exact
    again: str | None  # options of the quick command; None where there is none

    @property
    def words(self) -> list[str]:
        return shlex.split(self.command)[1:]

    @property
    def unit(self) -> str:
        found = FIGURE.match(self.text)
        return (found[2] or "").strip() if found else ""

    @property
    def digits(self) -> int:
        """Number of decimals."""
        return len(self.text.partition(self.unit or " ")[0].split(" ")[0].partition(".")[2])

    @property
    def stated(self) -> Interval | None:
        """As it is on the page; None where it isn't a number with an interval or an exact one."""
        found = FIGURE.match(self.text)
        if not found or (found[3] is None) != self.over.startswith(EXACT):
            return None
        mean, low, high = (float((found[i] or found[1]).replace(",", "")) for i in (1, 3, 4))
        return Interval(mean, low, high) if low <= mean <= high else None

    def quick(self, seed: int) -> list[str]:
        """The command with its quick options, and a new seed unless nothing is random."""
        words, given = self.words, shlex.split(self.again or "")
        if self.seed != "none":
            given += ["--seed", str(seed)]
        for option in [word for word in given if word.startswith("--")]:
            if option in words:
                at = words.index(option)
                del words[at : at + 2]
        return [*words, *given]


def figures(page: Path) -> Iterator[Figure]:
    """The rows of all tables of a page that have the columns."""
    heads: list[str] = []
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if not line.startswith("|"):
            heads = []
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not heads:
            heads = cells
        elif set(heads) >= COLUMNS and not set(line) <= set("|-: "):
            row = dict(zip(heads, cells, strict=True))
            command = re.search(r"`(kibitz [^`]+)`", row["command"])
            again = row.get("again", "-")
            text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", row["ours"]).replace("*", "")
            yield Figure(
                f"{page.name}:{number}", command[1] if command else "", row["seed"], text, row["interval over"],
                None if again == "-" else again.strip("`").replace("as it is", ""),
            )  # fmt: skip


def measured(figure: Figure, found: Any) -> Interval:
    """The figure in the JSON that the command has written."""
    kind = figure.words[0]
    if kind == "bench":
        return Interval(found[0]["ratio"], min(found[0]["ratios"]), max(found[0]["ratios"]))
    if kind in ("exploit", "solve"):
        return Interval(*[found["nash_conv"]] * 3)
    if kind == "critical":
        value, scale = next(iter(found["players"].values())), 100
    else:
        value = found["score" if figure.unit == "%" else "payoff"]
        scale = {"%": 100, "mbb/g": 1000, "": 1}[figure.unit]
    return Interval(*(scale * value[key] for key in ("mean", "low", "high")))


def agrees(figure: Figure, again: Interval) -> bool:
    stated = figure.stated
    assert stated is not None, figure.where
    if figure.over.startswith(EXACT):
        return round(again.mean, figure.digits) == stated.mean
    if figure.over == RUNS:
        return again.low <= stated.high and stated.low <= again.high
    below, above = sorted((stated, again))
    error = ((below.high - below.mean) ** 2 + (above.mean - above.low) ** 2) ** 0.5 / Z95
    return above.mean - below.mean <= Z99 * error


def measure(figure: Figure, seed: int) -> Interval | str:
    """Run the quick command in a folder that is deleted; the reason where it fails."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "kibitz", *figure.quick(seed), "--json", "result.json"]
        try:
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60 * MINUTES)
        except subprocess.TimeoutExpired:
            return f"not done after {MINUTES} minutes"
        if done.returncode:
            return (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        return measured(figure, json.loads((Path(folder) / "result.json").read_text()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--figures", type=int, default=10, help="number of figures to draw")
    parser.add_argument("--seed", type=int, default=1, help="draws the figures; their commands get seeds made of it")
    given = parser.parse_args()
    known = [figure for page in PAGES for figure in figures(page) if figure.again is not None]
    drawn = random.Random(given.seed).sample(known, min(given.figures, len(known)))
    counts = {"inside": 0, "OUTSIDE": 0, "failed": 0}
    for number, figure in enumerate(drawn, 1):
        seed = 1000 * given.seed + number
        again = measure(figure, seed)
        verdict = "failed" if isinstance(again, str) else "inside" if agrees(figure, again) else "OUTSIDE"
        counts[verdict] += 1
        digits = max(figure.digits, 1)
        shown = again if isinstance(again, str) else "{:.{d}f} ({:.{d}f} to {:.{d}f})".format(*again, d=digits)
        print(
            f"{verdict:8}{figure.text}; again {shown}\n        {figure.where}: {shlex.join(figure.quick(seed))}",
            flush=True,
        )
    print(f"{counts['inside']} of {len(drawn)} inside, {counts['OUTSIDE']} outside, {counts['failed']} failed; "
          f"drawn among {len(known)} with seed {given.seed}")  # fmt: skip


if __name__ == "__main__":
    main()
