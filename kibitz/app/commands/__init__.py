"""The commands: a file each, whose `register(app)` adds it. Plugins register theirs as `kibitz GROUP NAME`."""

from ...core.registry import Registry

COMMANDS = Registry("command")  # "group name" -> function, whose parameters are annotated for Typer
command = COMMANDS  # as a decorator of a function of a plugin: @command("group name", formerly="name")
