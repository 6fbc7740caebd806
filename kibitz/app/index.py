"""The index of what ships: options of learners and studies, models, games, players.

A help page or a list needn't import the learners and games that it describes, which takes longer than printing it. The
index is made when a wheel is built. Where it is missing, as in a clone, it is made on first use and kept in the user's
cache until a file of the package changes.
"""

import functools
import hashlib
import inspect
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from ..core import plugins
from ..core.files import write_atomically
from ..core.plugins import named
from ..core.registry import Registry
from ..core.user_files import is_shipped
from ..core.user_folders import cache_folder

PACKAGE = Path(__file__).parents[1]
FILE = Path(__file__).with_name("index.json")
KINDS: dict[str, Any] = {kind.__name__: kind for kind in (str, int, float, bool, Path)}
KINDS |= {f"list[{name}]": list.__class_getitem__(kind) for name, kind in KINDS.items()}
KEPT = ("help", "rich_help_panel", "metavar", "min", "max", "show_default")  # settings of an argument or option


@functools.cache
def index() -> dict[str, Any]:
    if FILE.exists():
        found: dict[str, Any] = json.loads(FILE.read_bytes())
        return found
    path, stamp = _cached(), _stamp()
    try:
        kept = json.loads(path.read_bytes())
        if kept["stamp"] == stamp:
            return dict(kept["index"])
    except (OSError, ValueError, TypeError, KeyError):  # none yet, or a damaged one
        pass
    found = json.loads(as_json(named(f"{__package__}.make_index:written")()))
    write_atomically(path, as_json({"stamp": stamp, "index": found}))
    return found


def _cached() -> Path:
    """The file of this installation's index in the user's cache."""
    return cache_folder() / f"index-{hashlib.sha256(bytes(PACKAGE)).hexdigest()[:16]}.json"


def _stamp() -> str:
    """A fingerprint of the code and the models of the package, by their times and sizes."""
    files = sorted(path for end in ("*.py", "*.safetensors") for path in PACKAGE.rglob(end))
    facts = [(path.as_posix(), about.st_mtime_ns, about.st_size) for path in files for about in [path.stat()]]
    return hashlib.sha256(repr(facts).encode()).hexdigest()


def as_json(found: dict[str, Any]) -> bytes:
    return json.dumps(found, ensure_ascii=False).encode()


def games_listed() -> dict[str, list[str]]:
    """The summaries of the games that ship, and of those of installed plugins."""
    found = dict(index()["games"])
    if plugins.have("game"):
        from ..games import GAMES

        found |= {name: summary(cls) for name, cls in GAMES.items() if plugins.is_installed(cls)}
    return found


def is_enough() -> bool:
    """Whether this process only prints help or completes a command line."""
    return "--help" in sys.argv[1:] or "_KIBITZ_COMPLETE" in os.environ


def describe_command(command: Callable[..., Any], text: str) -> dict[str, Any]:
    """The help text and parameters of a command, for JSON."""
    return {
        "help": text,
        "parameters": [_describe(each) for each in inspect.signature(command).parameters.values()],
    }


def _describe(parameter: inspect.Parameter) -> dict[str, Any]:
    kind, info = get_args(parameter.annotation)[:2]
    optional = type(None) in get_args(kind)
    kind = next(each for each in get_args(kind) if each is not type(None)) if optional else kind
    required = parameter.default is parameter.empty
    values = {key: value for key in KEPT if (value := getattr(info, key)) is not None and value is not True}
    return {
        "name": parameter.name,
        "kind": next(name for name, known in KINDS.items() if known == kind),
        "optional": optional,
        "argument": isinstance(info, typer.models.ArgumentInfo),
        "names": [each for each in (info.default, *(info.param_decls or ())) if isinstance(each, str)],
        **({} if required else {"default": parameter.default}),
        **values,
    }


def rebuild_command(described: dict[str, Any]) -> Callable[..., Any]:
    """A function with the parameters of a command, for its help page only."""

    def command(**values: Any) -> None:
        raise NotImplementedError("for a help page only")

    parameters = []
    for each in described["parameters"]:
        kind = KINDS[each["kind"]] | None if each["optional"] else KINDS[each["kind"]]
        settings = {key: each[key] for key in KEPT if key in each}
        info = typer.Argument(**settings) if each["argument"] else typer.Option(*each["names"], **settings)
        default = each.get("default", inspect.Parameter.empty)
        parameters.append(
            inspect.Parameter(
                each["name"], inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, info]
            )
        )
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    return command


def ships(registry: Registry) -> dict[str, Any]:
    """Those of a registry that are Kibitz's own, not registered by a user's program."""
    return {name: cls for name, cls in registry.items() if is_shipped(cls)}


def summary(cls: Any) -> list[str]:
    """The parameters of a game with their defaults, and a sentence about it."""
    defaults = ", ".join(f"{field} ({text_of(value)})" for field, value in cls._field_defaults.items())
    return [defaults or "-", cls.__doc__]


def text_of(value: Any) -> str:
    """The value of a parameter as one types it."""
    if isinstance(value, tuple):
        return ", ".join(map(text_of, value)) or "-"
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
