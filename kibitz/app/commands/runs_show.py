"""`kibitz runs show`: one run in detail."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from ...core.names import BadInput
from ...core.runs import Run
from .. import completion
from ..run_summary import summarize
from ..ui.progress import print_plain
from .options import Json, write_json


def show(
    folder: Annotated[Path, typer.Argument(help="Run folder.", metavar="RUN", autocompletion=completion.runs)],
    json_file: Json = None,
) -> None:
    """Show one run: its command, settings, progress, result and files, and how to resume it.

    Example: kibitz runs show runs/leduc-match-001
    """
    if not (folder / "config.json").is_file():
        raise BadInput(f"{folder} is not a run folder; kibitz runs lists those in runs, or in another with --in")
    row, config = summarize(folder), Run(folder).config()
    lines = {"run": row.run, "command": row.what, "done": row.progress, "result": row.reached}
    if row.running and (owner := Run(folder).owner()[0]):
        lines["running"] = f"process {owner.pid} on {owner.host}"
    lines |= {key: value for key, value in config.items() if key not in ("command", "game", "players")}
    lines["files"] = ", ".join(sorted(path.name for path in folder.iterdir()))
    width = max(map(len, lines))
    for key, value in lines.items():
        print_plain(f"{key:{width}}  {value}")
    if row.resume_command:
        print_plain(f"to resume: {row.resume_command}")
    write_json(json_file, asdict(row) | {"config": config, "resume": row.resume_command})
