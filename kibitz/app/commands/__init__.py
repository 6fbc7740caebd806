"""The commands: a file each, whose `register(app)` adds it. Plugins register theirs as `kibitz GROUP NAME`."""

from collections.abc import Callable
from typing import TypeVar

from ...core.registry import Registry

COMMANDS = Registry("command")  # "group name" -> function, whose parameters are annotated for Typer
FORMER: dict[str, str] = {}  # a name before the command had its group -> its name
F = TypeVar("F", bound=Callable[..., None])


def command(name: str, formerly: str = "") -> Callable[[F], F]:
    """Decorator that registers a function of a plugin as the command `kibitz GROUP NAME`.

    Args:
        name: Group and name, such as `cards deal`.
        formerly: The name that it had without a group.
    """
    if formerly:
        FORMER[formerly] = name
    return COMMANDS(name)
