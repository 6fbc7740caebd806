"""`kibitz cache`: the compiled kernels on disk."""

from typing import Annotated

import typer

from ..ui.progress import out, print_plain


def register(app: typer.Typer) -> None:
    app.command("cache")(cache)


def cache(clear: Annotated[bool, typer.Option("--clear", help="Delete all compiled kernels.")] = False) -> None:
    """Show the folder and the size of the compiled kernels, or delete them.

    Example: kibitz cache

    Example: kibitz cache --clear
    """
    from ...jit import cache_files, cache_folder

    files = cache_files()
    total = sum(path.stat().st_size for path in files)
    print_plain(f"{cache_folder()}: {len(files)} files, {total / 1e6:.1f} MB")
    if clear:
        for path in files:
            path.unlink(missing_ok=True)
        out.print("cleared")
