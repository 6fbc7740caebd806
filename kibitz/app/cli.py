"""The command `kibitz`: assembles the subcommands of `commands/`, and reports errors in one line."""

import importlib
import pkgutil
import sys
from typing import Annotated, NoReturn

import typer

from ..core.names import BadInput, check_text, present
from ..core.trust import only_named
from ..core.version import __version__
from . import commands, streams
from .ui.progress import compiling, err, out, print_plain

try:
    from typer._click import exceptions as click_errors
except ImportError:  # Typer before it vendored click
    from click import exceptions as click_errors  # type: ignore[no-redef]

# Sections of `kibitz --help`, with their commands in order.
PANELS = {
    "Play": ("games", "players", "play", "serve", "engine", "demo"),
    "Search": ("advise", "solve"),
    "Train": ("train", "models", "explain"),
    "Measure": ("match", "tournament", "rate", "exploit", "critical", "study", "bench"),
    "Data": ("runs", "record", "replay", "review", "convert", "export"),
    "Setup": ("check", "compile", "cache"),
}


OF_GROUPS = "Of single games"  # the panel of commands that plugins add


def panels() -> dict[str, tuple[str, ...]]:
    """The sections of `kibitz --help`, those of plugins included."""
    return {**PANELS, OF_GROUPS: tuple(groups())}


def groups() -> dict[str, typer.Typer]:
    """The commands of plugins by their group."""
    found: dict[str, typer.Typer] = {}
    for name, function in commands.COMMANDS.items():
        group, _, inner = name.partition(" ")
        if group not in found:
            text = f"Commands for {group}.\n\nExample: kibitz {group} {inner} --help"
            found[group] = typer.Typer(help=text, no_args_is_help=True)
        found[group].command(inner)(function)
    return found


def build(only: str = "") -> typer.Typer:
    """Assemble the application from every module in `commands` that has a function `register(app)`.

    Args:
        only: Import just the module of this command, if there is one of that name: the application starts faster.
    """
    app = typer.Typer(
        name="kibitz",
        help="Search, solve and learn games of perfect and imperfect information. Start with [bold]kibitz demo[/bold].",
        rich_markup_mode="rich",
        no_args_is_help=True,
    )
    app.callback()(_root)
    places = {name: panel for panel, names in PANELS.items() for name in names}
    modules = [module.name for module in pkgutil.iter_modules(commands.__path__)]
    alone = only in places and only in modules
    for name in [only] if alone else modules:
        module = importlib.import_module(f"{commands.__name__}.{name}")
        if hasattr(module, "register"):
            module.register(app)
    for name, added in ({} if alone else groups()).items():
        places[name] = OF_GROUPS
        app.add_typer(added, name=name)
    order = list(places)
    for command in app.registered_commands:
        command.name = command.name or str(getattr(command.callback, "__name__", ""))
        command.rich_help_panel = places.get(command.name, "Other")
    app.registered_commands.sort(key=lambda command: order.index(command.name) if command.name in order else len(order))
    for group in app.registered_groups:
        group.rich_help_panel = places.get(str(group.name), "Other")
    return app


def _version(show: bool) -> None:
    if show:
        out.print(f"kibitz {__version__}")
        raise typer.Exit


def _root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    command = context.invoked_subcommand or ""
    context.with_resource(compiling("" if command in ("engine", "play") else command))


def main() -> NoReturn:
    """Run the command that `sys.argv` names. A user's mistake is reported in one line, without a traceback."""
    with streams.guarded(), streams.ended_by_signals():
        _run()
    raise AssertionError  # `_run` exits


def _run() -> NoReturn:
    try:
        check_text(*sys.argv[1:])
        with only_named(*sys.argv[1:]):
            first = sys.argv[1] if len(sys.argv) > 1 else ""
            app = build(first)
            if (name := present("command", first)) != first:
                print_plain(f"kibitz {first} is called kibitz {name} now", err)
                sys.argv[1:2] = name.split()
            code = app(standalone_mode=False, prog_name="kibitz")
        sys.exit(code if isinstance(code, int) else 0)
    except click_errors.ClickException as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            print(error.format_message())
            sys.exit(2)
        message, context = error.format_message(), getattr(error, "ctx", None)
        if context:
            message += f"{'' if message.endswith(('.', '?')) else '.'} See {context.command_path} --help."
        _fail(message)
    except (BadInput, MemoryError) as error:
        _fail(str(error) or "out of memory")
    except (KeyboardInterrupt, typer.Abort):
        sys.exit(streams.INTERRUPTED)


def _fail(message: str) -> NoReturn:
    err.print(f"kibitz: {' '.join(message.split())}", style="red", markup=False, highlight=False, soft_wrap=True)
    sys.exit(2)
