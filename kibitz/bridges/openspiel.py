"""Kibitz and OpenSpiel side by side: games, players and strategies of one as those of the other (`kibitz.openspiel`).

`openspiel:NAME(parameters)` is the name of a game of OpenSpiel wherever Kibitz takes a game, and `openspiel-bot:mcts`
that of a bot of OpenSpiel wherever it takes a player.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.names import BadInput
from ..games import Game, full_name, legal_actions, load, view_of
from ..games.openspiel import module
from ..play.players import make_for
from ..search.strategy import Strategy, normalised
from ..solve.sequence_form import unfold
from .openspiel_bots import BotPlayer

pyspiel = module()

from .openspiel_adapter import kibitz_game, record_of, register, spiel_game, state_of  # noqa: E402

if TYPE_CHECKING:
    from open_spiel.python.policy import TabularPolicy

__all__ = ["Bot", "BotPlayer", "game", "policy", "register", "strategy", "tabular_policy"]


def game(name: Game | str) -> Any:
    """A Kibitz game as a game of OpenSpiel, without registering it.

    Args:
        name: A game or its name, such as `"leduc:ranks=4"` or `"path/to/my_game.py:MyGame"`.

    Example:
        >>> import kibitz
        >>> kibitz.openspiel.game("kuhn").num_players()
        2
    """
    return spiel_game(name)


# ---------------------------------------------------------------- players


class Bot(pyspiel.Bot):  # type: ignore[misc, name-defined]
    """A Kibitz player as a bot of OpenSpiel, in an exported game or one of OpenSpiel's own.

    The player gets its seat's view of each state only.

    Example:
        >>> import kibitz, pyspiel
        >>> game = kibitz.openspiel.game("kuhn")
        >>> bots = [kibitz.openspiel.Bot(game, "random", seat) for seat in range(2)]
        >>> sum(pyspiel.evaluate_bots(game.new_initial_state(), bots, 1))
        0.0
    """

    def __init__(self, game: Any, player: Any, seat: int, seed: int = 1) -> None:
        """
        Args:
            game: A game of OpenSpiel, or a game of Kibitz or its name.
            player: A player or its name, such as `"oos:1000"`.
            seat: The seat, from 0.
            seed: The same seed gives the same moves.
        """
        super().__init__()
        self.game = kibitz_game(game) if isinstance(game, pyspiel.Game) else load(game)
        if seat not in range(self.game.facts.seats):
            raise BadInput(f"seat {seat} should be 0 to {self.game.facts.seats - 1}")
        self.player, self.seat, self.seed = make_for(player, self.game), seat, seed
        self.restart()

    def player_id(self) -> int:
        return self.seat

    def restart(self) -> None:
        self.player.begin(self.game, self.seat, self.seed)
        self.seed += 1  # the next game is another one

    def restart_at(self, state: Any) -> None:
        self.restart()

    def provides_policy(self) -> bool:
        return True

    def step(self, state: Any) -> int:
        return int(self.player.move(view_of(self.game, record_of(self.game, state), self.seat)))

    def get_policy(self, state: Any) -> list[tuple[int, float]]:
        return self.step_with_policy(state)[0]

    def step_with_policy(self, state: Any) -> tuple[list[tuple[int, float]], int]:
        action = self.step(state)
        advice, legal = self.player.advice, state.legal_actions()
        if advice is None:
            return [(each, float(each == action)) for each in legal], action
        probs = dict(zip(advice.actions.tolist(), advice.policy.tolist(), strict=True))
        return [(each, probs.get(each, 0.0)) for each in legal], action


# ---------------------------------------------------------------- strategies


def _infosets(game: Game) -> list[tuple[int, int, Any, str, list[int]]]:
    """Every infoset of a small game: seat, key, a view, OpenSpiel's information-state string, actions in order."""
    spiel, form, found = spiel_game(game), unfold(game), []
    for seat, (side, views) in enumerate(zip(form.sides, form.views, strict=True)):
        for key, view in zip(side.keys, views, strict=True):
            known = state_of(spiel, game, view).information_state_string(seat)
            found.append((seat, int(key), view, known, legal_actions(game, view)))
    return found


def _as_dict(strategy: Strategy) -> dict[str, list[tuple[int, float]]]:
    found = {}
    for _, key, _, known, actions in _infosets(strategy.game):
        found[known] = sorted(zip(actions, strategy.at(key, len(actions)).tolist(), strict=True))
    return found


def policy(strategy: Strategy) -> Any:
    """A strategy as a `pyspiel.TabularPolicy`, for OpenSpiel's algorithms in C++.

    Example:
        >>> import kibitz, pyspiel
        >>> solution = kibitz.solve("kuhn", iterations=100)
        >>> found = kibitz.openspiel.policy(solution.strategy)
        >>> abs(pyspiel.nash_conv(kibitz.openspiel.game("kuhn"), found) - solution.nash_conv) < 1e-9
        True
    """
    return pyspiel.TabularPolicy(_as_dict(strategy))


def tabular_policy(strategy: Strategy) -> "TabularPolicy":
    """A strategy as the `TabularPolicy` of OpenSpiel's algorithms in Python. It lists all states: for small games."""
    from open_spiel.python.policy import TabularPolicy

    table = TabularPolicy(spiel_game(strategy.game))
    for known, probs in _as_dict(strategy).items():
        row = table.policy_for_key(known)
        row[:] = 0
        for action, probability in probs:
            row[action] = probability
    return table


def strategy(game: Game | str, policy: Any) -> Strategy:
    """A policy of OpenSpiel as a strategy: anything with `action_probabilities(state)`, on the game that `game` makes.

    Example:
        >>> import kibitz
        >>> from open_spiel.python.policy import UniformRandomPolicy
        >>> uniform = kibitz.openspiel.strategy("kuhn", UniformRandomPolicy(kibitz.openspiel.game("kuhn")))
        >>> round(kibitz.exploit("kuhn", uniform).nash_conv, 4)
        0.9167
    """
    loaded = load(game)
    spiel = spiel_game(loaded)
    keys, counts, weights = [], [], []
    for _, key, view, _, actions in _infosets(loaded):
        probs = policy.action_probabilities(state_of(spiel, loaded, view))
        found = [float(probs.get(action, 0.0)) for action in actions]
        if abs(sum(found) - 1) > 1e-6:
            raise BadInput(f"the policy's probabilities at an infoset of {full_name(loaded)} sum to {sum(found):g}")
        keys.append(key)
        counts.append(len(actions))
        weights += found
    return normalised(loaded, np.array(keys, np.uint64), np.array(counts, np.int64), np.array(weights))
