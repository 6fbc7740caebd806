"""Positions, strategies, advice and numbers as text for people."""

import re
from typing import Any

import numpy as np
from rich.console import Console, Group, RenderableType
from rich.measure import Measurement
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from ...games import CHANCE, OVER, Game, legal_actions, positions, view_of
from ...play.review import thresholds
from ...search.advice import Advice
from ...search.strategy import Strategy
from .words import ENGLISH, Words

MAX_LINE = 8  # moves shown of a principal variation
MAX_ROWS = 12  # moves shown of advice
MIN_WIDTH = 36  # of a box of advice
FEW_VISITS = 10  # of the most visited move: advice on fewer says so


def bar(share: float, width: int = 20) -> str:
    return "█" * round(share * width)


def probs_table(game: Game, view: np.void, probs: np.ndarray) -> Table:
    """One row per legal move, with its probability and a bar."""
    table = Table.grid(padding=(0, 1))
    for action, share in zip(legal_actions(game, view), probs, strict=True):
        table.add_row(Text(f"  {game.action_to_string(view, action)}"), f"{100 * share:5.1f}%", f"[blue]{bar(share)}")
    return table


def position(game: Game, view: Any, seat: int, title: str) -> Panel:
    """A seat's view of a position in a box, its own line in bold. Seat -1 is a spectator."""
    lines = [
        Text(line, "bold" if re.search(r"\((you|du)\)", line) else "") for line in game.show(view, seat).splitlines()
    ]
    return Panel(Group(*lines), title=Text(title), title_align="left", border_style="cyan", expand=False)


def advice_table(
    game: Any, view: Any, advice: Advice, words: Words = ENGLISH, rows: int = MAX_ROWS, bars: int = 20
) -> RenderableType:
    """The best moves, one row each, and the others together. Columns without any known value are left out.

    Args:
        rows: Number of moves shown; where only one more is left it is shown too.
        bars: Width of the longest bar; bars show the policy. 0: no bars, and less space between columns.
    """
    symbol = getattr(game, "symbol", "")
    valued, visited = not np.isnan(advice.value).all(), advice.visits.any()
    table = Table(box=None, padding=(0, 2 if bars else 1, 0, 0), pad_edge=False, header_style="dim")
    table.add_column(words("move"))
    table.add_column(words("policy"), justify="right")
    if bars:
        table.add_column("", width=bars)
    if valued:
        table.add_column(", ".join(filter(None, [words("value"), symbol])), justify="right")
    if advice.error is not None:
        table.add_column(words("error"), justify="right")
    if advice.won is not None:
        table.add_column(words("wins"), justify="right")
    if visited:
        table.add_column(words("visits"), justify="right")
    order = np.lexsort((-np.nan_to_num(advice.value, nan=-np.inf), -advice.visits, -advice.policy))
    shown = order if len(order) <= rows + 1 else order[:rows]
    for i in shown:
        action, share, value = advice.actions[i], float(advice.policy[i]), float(advice.value[i])
        best = "bold" if action == advice.best else ""
        row = [
            Text(game.action_to_string(view, int(action)), best),
            Text(words.number(f"{100 * share:.1f}%"), best),
            *([Text(bar(share, bars), "blue")] if bars else []),
        ]
        if valued:
            row += [Text("-" if np.isnan(value) else words.number(f"{round(value, 3) + 0.0:+.3f}"))]  # not -0.000
        if advice.error is not None:
            error = "-" if np.isnan(advice.error[i]) else words.number(f"± {advice.error[i]:.2f}")
            row += [Text(error, "dim")]
        if advice.won is not None:
            row += [Text(f"{100 * advice.won[i]:.0f}%")]
        if visited:
            row += [Text(words.number(f"{advice.visits[i]:,}"))]
        table.add_row(*row)
    if len(shown) < len(order):
        share = float(advice.policy[order[len(shown) :]].sum())
        rest = "and {count} more" if bars else "{count} more"
        table.add_row(words(rest, count=len(order) - len(shown)), words.number(f"{100 * share:.1f}%"), style="dim")
    return Group(table, *(Text(note, "dim") for note in advice_notes(game, view, advice, words)))


def advice_notes(game: Any, view: Any, advice: Advice, words: Words = ENGLISH) -> list[str]:
    """Lines on what the advice rests on: its value, principal variation, simulations and time; too few visits.

    Visits are too few where the 95% interval of the advice's value is wider to either side than what `kibitz review`
    calls a mistake: then it may be one.
    """
    spent, notes = [], []
    if not np.isnan(advice.root_value):
        value = f"{words.number(f'{advice.root_value:+.3f}')} {getattr(game, 'symbol', '')}".strip()
        spent.append(words("value {value}", value=value))
    if advice.line:
        line = " ".join(advice.spelled_line(game, view)[:MAX_LINE])
        spent.append(words("principal variation {moves}", moves=line))
    if advice.simulations:
        count, seconds = (words.number(text) for text in (f"{advice.simulations:,}", f"{advice.seconds:.2f}"))
        if advice.depth is not None:
            spent.append(words("depth {depth}", depth=advice.depth))
        what = f"{'simulation' if advice.depth is None else 'position'}{'s' * (advice.simulations != 1)}"
        spent.append(words(f"{{count}} {what} in {{seconds}} s", count=count, seconds=seconds))
    elif np.isnan(advice.value).all():
        notes.append(words("a policy without search"))
    if not np.isnan(advice.value).all():
        what = "points" if getattr(game, "unit", "payoff") == "points" else "payoff"
        notes.append(words(f"values: expected {what} for seat {{seat}}", seat=int(game.turn(view)) + 1))
        notes += filter(None, [unit_note(game, words)])
    visits = int(advice.visits.sum())
    counted = visits > 0 or np.isnan(advice.value).all()  # a solver has values without visits
    unsure = advice.visits.max() < FEW_VISITS or advice.root_margin(game) > thresholds(game)["mistake"]
    if advice.simulations and counted and unsure and not advice.exact:
        count = words.number(f"{visits:,}")
        notes.append(words(f"only {{count}} visit{'s'[: visits != 1]}: little to rely on", count=count))
    return [", ".join(spent), *notes] if spent else notes


def unit_note(game: Any, words: Words = ENGLISH) -> str:
    """What the unit of payoffs means, for a display that counts in big blinds; else empty."""
    if getattr(game, "symbol", "") != "bb":
        return ""
    return words("bb: big blinds of {chips} chips, won or lost in the whole hand", chips=game.big_blind)


def width_beside(left: RenderableType, console: Console) -> int:
    """The columns that a console has beside something; 0 where they are too few for a box of advice."""
    free = console.width - Measurement.get(console, console.options, left).maximum
    return free if free >= MIN_WIDTH else 0


def compact_moves(names: list[str]) -> str:
    """Many moves in a few words: cells as ranges (`a-k 1-11`), moves from a cell together (`a2-a3/b3`).

    Names of any other form are listed one by one.
    """
    cells: dict[str, list[int]] = {}
    origins: dict[str, list[str]] = {}
    others = []
    for name in names:
        if found := re.fullmatch(r"([a-z])(\d+)", name):
            cells.setdefault(found[1], []).append(int(found[2]))
        elif found := re.fullmatch(r"([a-z]\d+[-x])(\S+)", name):
            origins.setdefault(found[1], []).append(found[2])
        else:
            others.append(name)
    columns: list[tuple[str, str, str]] = []  # first and last letter of neighbouring columns with the same rows
    for letter in sorted(cells):
        rows = " ".join(_runs(cells[letter]))
        if columns and columns[-1][2] == rows and ord(columns[-1][1]) + 1 == ord(letter):
            columns[-1] = (columns[-1][0], letter, rows)
        else:
            columns.append((letter, letter, rows))
    ranges = [f"{first}{f'-{last}' if last != first else ''} {rows}" for first, last, rows in columns]
    return ", ".join([*ranges, *(f"{start}{'/'.join(ends)}" for start, ends in origins.items()), *others])


def _runs(numbers: list[int]) -> list[str]:
    """Ascending numbers as runs: 1, 2, 3, 5 -> `1-3`, `5`."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return [f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs]


def nth(number: int) -> str:
    """An ordinal: 1st, 2nd, 3rd, 4th."""
    ending = "th" if number // 10 % 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def sample_views(game: Game, strategy: Strategy, count: int, seed: int) -> list[tuple[int, np.void]]:
    """Distinct views of the seat to move, from games that the strategy plays against itself."""
    generator = np.random.default_rng(seed)
    rng = generator.integers(2**63, size=2, dtype=np.uint64)
    found: dict[int, tuple[int, np.void]] = {}
    for _ in range(50 * count):
        state = positions(game)[0]
        while game.turn(state) != OVER and len(found) < count:
            turn = game.turn(state)
            if turn == CHANCE:
                game.play(state, game.sample_action(state, rng))
                continue
            actions, key = legal_actions(game, state), int(game.infoset(state, turn))
            if key not in found and len(actions) > 1:
                found[key] = (turn, view_of(game, state, turn))
            game.play(state, int(generator.choice(actions, p=strategy.at(key, len(actions)))))
        if len(found) >= count:
            break
    return list(found.values())
