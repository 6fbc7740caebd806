"""One seat as a Gymnasium environment: `kibitz.gym.make("leduc", against="net:models/leduc")`."""

from typing import TYPE_CHECKING, Any

from ...games import GAMES, Game
from ...games.game import is_shipped
from . import need

if TYPE_CHECKING:
    from .one_seat import OneSeat

ENTRY_POINT = "kibitz.bridges.envs.one_seat:OneSeat"


def make(
    game: Game | str,
    against: Any = "random",
    seat: int | None = 0,
    render_mode: str | None = None,
    trust: bool = False,
) -> "OneSeat":
    """Make a Gymnasium environment of one seat; chance and the players of the other seats move inside `step`.

    Args:
        game: A game or its name.
        against: The player of every other seat: a name such as `"net:models/leduc"` or `"oos:1000"`, or an object with
            `move(view)`; or a list with one for each other seat.
        seat: The seat, from 0; None draws one at each reset.
        render_mode: `"human"` prints the seat's view at each step, `"ansi"` and `"html"` let `render()` return it.
        trust: Whether code in `.py` files may run that a run, a record or a network names.

    Returns:
        The environment. Observations are `{"observation", "action_mask"}`; `info["action_mask"]` is the same mask, and
        `info["seat"]` the seat. The reward is the payoff at the end of the game.

    Raises:
        BadInput: Gymnasium isn't installed, or a player can't play the game.

    Example:
        >>> import kibitz
        >>> env = kibitz.gym.make("kuhn", against="random")
        >>> seen, info = env.reset(seed=1)
        >>> seen["observation"].shape, info["action_mask"]
        ((9,), array([1, 1], dtype=int8))
    """
    need("gymnasium", "Gymnasium")
    from gymnasium.envs.registration import EnvSpec

    from .one_seat import OneSeat

    arguments = {"game": game, "against": against, "seat": seat, "render_mode": render_mode, "trust": trust}
    env = OneSeat(**arguments)
    env.spec = EnvSpec(
        id_of(env.game.name), ENTRY_POINT, order_enforce=False, disable_env_checker=True, kwargs=arguments
    )
    return env


def register() -> list[str]:
    """Register every shipped game with Gymnasium: then `gymnasium.make("kibitz/Leduc-v0", against="random")` works.

    The arguments are those of `make`; `game="leduc:distinct_suits=yes"` gives parameters.

    Returns:
        The ids.

    Example:
        >>> import kibitz
        >>> "kibitz/ConnectFour-v0" in kibitz.gym.register()
        True
    """
    gymnasium = need("gymnasium", "Gymnasium")
    ids = {id_of(name): name for name, cls in GAMES.items() if is_shipped(cls)}
    for id, name in ids.items():
        if id not in gymnasium.registry:
            gymnasium.register(id, ENTRY_POINT, kwargs={"game": name})
    return list(ids)


def id_of(name: str) -> str:
    """The id of a game: `kibitz/ConnectFour-v0`."""
    return f"kibitz/{''.join(word.capitalize() for word in name.split('_'))}-v0"
