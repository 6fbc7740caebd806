"""Positions, strategies, advice and numbers as text for people."""

from typing import Any

import numpy as np
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from ...games import CHANCE, OVER, Game, legal_actions, positions, view_of
from ...search.advice import Advice
from ...search.strategy import Strategy

MAX_LINE = 8  # moves shown of a principal variation
VERBS = {"bet", "call", "check", "fold", "pass", "raise"}


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
    lines = [Text(line, "bold" if "(you)" in line else "") for line in game.show(view, seat).splitlines()]
    return Panel(Group(*lines), title=Text(title), title_align="left", border_style="cyan", expand=False)


def advice_table(game: Game, view: Any, advice: Advice) -> RenderableType:
    """One row per move. Columns without any known value are left out."""
    valued, visited = not np.isnan(advice.value).all(), advice.visits.any()
    most = max(np.nanmax(abs(advice.value)), 1e-9) if valued else 1.0
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    table.add_column("move")
    table.add_column("policy", justify="right")
    table.add_column("", width=20)
    if valued:
        table.add_column("value", justify="right")
        table.add_column("", width=10)
    if advice.won is not None:
        table.add_column("wins", justify="right")
    if visited:
        table.add_column("visits", justify="right")
    for i, action in enumerate(advice.actions):
        share, value = float(advice.policy[i]), float(advice.value[i])
        best = "bold" if action == advice.best else ""
        row = [
            Text(game.action_to_string(view, int(action)), best),
            Text(f"{100 * share:.1f}%", best),
            Text(bar(share), "blue"),
        ]
        if valued:
            known = not np.isnan(value)
            row += [Text(f"{value:+.3f}" if known else "-")]
            row += [Text(bar(abs(value) / most, 10) if known else "", "green" if value > 0 else "red")]
        if advice.won is not None:
            row += [Text(f"{100 * advice.won[i]:.0f}%")]
        if visited:
            row += [Text(f"{advice.visits[i]:,}")]
        table.add_row(*row)
    notes = []
    if not np.isnan(advice.root_value):
        notes.append(f"value {advice.root_value:+.3f}")
    if advice.line:
        notes.append("principal variation " + " ".join(advice.spelled_line(game, view)[:MAX_LINE]))
    if advice.simulations:
        notes.append(f"{advice.simulations:,} simulations in {advice.seconds:.2f} s")
    return Group(table, Text(", ".join(notes), "dim")) if notes else table


def sentence(who: str, move: str, announced: bool = False) -> str:
    """A move as a sentence: `seat 2 raises`, `you raise`, `seat 2 says liar`, `you play 2x5`."""
    spoken = announced or move.isalpha()
    verb, rest = (move, "") if move in VERBS else ("say" if spoken else "play", f" {move}")
    ending = "" if who == "you" else "es" if verb.endswith(("s", "ch")) else "s"
    return f"{who} {verb}{ending}{rest}"


def format_duration(seconds: float) -> str:
    """`40 s`, `12 min`, `3.5 h`."""
    if seconds < 90:
        return f"{max(round(seconds), 1)} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def nth(number: int) -> str:
    """An ordinal: 1st, 2nd, 3rd, 4th."""
    ending = "th" if number // 10 % 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def either(words: list[str]) -> str:
    """Alternatives in words: `J, Q or K`."""
    return " or ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


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
