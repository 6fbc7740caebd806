"""Games as PettingZoo environments: `kibitz.pettingzoo.env("leduc")`."""

from typing import TYPE_CHECKING, Any

from ...core.names import at_least
from ...core.trust import only_named
from ...games import Game, load
from . import need

if TYPE_CHECKING:
    from .all_seats import EverySeatActs


def env(game: Game | str, max_cycles: int | None = None, render_mode: str | None = None, trust: bool = False) -> Any:
    """Make a PettingZoo environment (AEC) in which agents `player_0`, `player_1`, ... play a game.

    Args:
        game: A game or its name.
        max_cycles: By default the environment is one game, in which agents act when the rules give them the turn. With
            `max_cycles` it is `parallel_env` in PettingZoo's AEC form.
        render_mode: `"human"` prints all of the state at each step, `"ansi"` and `"html"` let `render()` return it.
        trust: Whether code in `.py` files may run that a file names.

    Returns:
        The environment. Observations are `{"observation", "action_mask"}`, made of the agent's view; rewards are the
        payoffs, at the end of the game. An illegal action ends the game: the agent gets the lowest payoff, others 0.

    Raises:
        BadInput: PettingZoo isn't installed, or there is no such game.

    Example:
        >>> import kibitz
        >>> env = kibitz.pettingzoo.env("kuhn")
        >>> env.reset(seed=1)
        >>> env.agent_selection, env.last()[0]["action_mask"]
        ('player_0', array([1, 1], dtype=int8))
    """
    zoo = need("pettingzoo.utils.conversions", "PettingZoo")
    from .all_seats import SeatsInTurn

    if max_cycles is not None:
        return zoo.parallel_to_aec(parallel_env(game, max_cycles, render_mode, trust))
    with only_named(game, trust=trust):
        return SeatsInTurn(load(game), render_mode)


def parallel_env(
    game: Game | str, max_cycles: int | None = None, render_mode: str | None = None, trust: bool = False
) -> "EverySeatActs":
    """Make a PettingZoo environment in which all agents act in every step, for learners that need that.

    Only the action of the agent to move counts. The others have one legal action, 0, which does nothing.

    Args:
        game: A game or its name.
        max_cycles: By default the environment ends with the game. With `max_cycles` game follows game, and all agents
            are truncated after this number of steps.
        render_mode: As for `env`.
        trust: As for `env`.

    Returns:
        The environment.

    Raises:
        BadInput: PettingZoo isn't installed, or there is no such game.

    Example:
        >>> import kibitz
        >>> seen, infos = kibitz.pettingzoo.parallel_env("kuhn").reset(seed=1)
        >>> seen["player_1"]["action_mask"]
        array([1, 0], dtype=int8)
    """
    need("pettingzoo", "PettingZoo")
    from .all_seats import EverySeatActs

    if max_cycles is not None:
        at_least("max_cycles", max_cycles, 1)
    with only_named(game, trust=trust):
        return EverySeatActs(load(game), max_cycles, render_mode)
