"""Exact best responses to players without search in large games that declare a public tree."""

from functools import partial
from typing import Any

from ..core.names import BadInput
from ..core.progress import SILENT, Reporter
from ..core.workers import cores
from ..games import Game, full_name
from ..search import policies
from ..solve.best_response import Exploitability
from ..solve.public_tree.table import PublicStrategy
from ..solve.public_tree.tree import PublicTree
from ..solve.public_tree.values import Answer, evaluate_answers, evaluate_tables
from .players import make_adviser
from .players.networks import NetworkPlayer, StrategyPlayer
from .players.player import in_any_process, label


def evaluate_on_public_tree(
    game: Game, player: Any, threads: int | None = None, report: Reporter = SILENT
) -> Exploitability:
    """Evaluate a player that has `action_probs`, by name or as an object, asked at every infoset of the game.

    Args:
        game: A game that declares a public tree.
        player: A name, of which each thread makes a player of its own, or an object, which one thread asks.
        threads: By default one per core.
        report: Receives the progress.

    Raises:
        BadInput: The player plays no behaviour strategy, or the public tree is too large.
    """
    tree = PublicTree(game)
    made = make_adviser(player, game)
    if isinstance(made, StrategyPlayer) and isinstance(made.strategy, PublicStrategy):
        return evaluate_tables(tree, made.strategy.parts, threads, report)
    count = (threads or cores()) if in_any_process(player) else 1
    return evaluate_answers(tree, [_answer(game, player) for _ in range(count)], report)


def _answer(game: Game, player: Any) -> Answer:
    """A function of a thread's own that answers batches of views."""
    made: Any = make_adviser(player, game)
    if isinstance(made, NetworkPlayer):
        if made.is_mixed:
            raise BadInput(
                f"{label(player)} draws one of several networks for a game, and {full_name(game)} is too large to "
                "enumerate their mixture: name a single network"
            )
        compiled = made.compiled_policy()
        if compiled is not None:
            return partial(policies.action_probs, game, compiled)
    answer: Answer = made.action_probs
    return answer
