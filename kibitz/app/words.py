"""Strategies in words: what it does at a few positions, as a player would say it."""

import numpy as np
from rich.table import Table

from ..games import CHANCE, OVER, Game, legal_actions, positions
from ..search.strategy import Strategy


def bar(share: float, width: int = 20) -> str:
    return "█" * round(share * width)


def odds_table(game: Game, view: np.void, odds: np.ndarray) -> Table:
    table = Table.grid(padding=(0, 1))
    for action, share in zip(legal_actions(game, view), odds, strict=True):
        table.add_row(f"  {game.spell(view, action)}", f"{100 * share:5.1f}%", f"[blue]{bar(share)}")
    return table


def sample_views(game: Game, strategy: Strategy, count: int, seed: int) -> list[tuple[int, np.void]]:
    """Different views of the seat to move, met in games that the strategy plays against itself."""
    generator = np.random.default_rng(seed)
    rng = generator.integers(2**63, size=2, dtype=np.uint64)
    met: dict[int, tuple[int, np.void]] = {}
    for _ in range(50 * count):
        state = positions(game)[0]
        while game.turn(state) != OVER and len(met) < count:
            turn = game.turn(state)
            if turn == CHANCE:
                game.play(state, game.pick(state, rng))
                continue
            actions, key = legal_actions(game, state), int(game.infoset(state, turn))
            if key not in met and len(actions) > 1:
                view = np.zeros(1, game.state)[0]
                game.look(state, turn, view)
                met[key] = (turn, view)
            game.play(state, int(generator.choice(actions, p=strategy.at(key, len(actions)))))
        if len(met) >= count:
            break
    return list(met.values())
