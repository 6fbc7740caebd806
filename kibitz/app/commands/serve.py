"""`kibitz serve`: the table in the browser."""

from pathlib import Path
from typing import Annotated, Any

import typer

from ...core.names import BadInput
from ..ui.progress import out
from .options import path_to_read


def register(app: typer.Typer) -> None:
    app.command("serve")(serve)


def serve(
    game_files: Annotated[
        list[str] | None,
        typer.Argument(
            help="Games from files to offer beside the registered ones: path/to/my_game.py:MyGame.",
            metavar="GAME_FILE",
        ),
    ] = None,
    host: Annotated[
        str, typer.Option(help="Address to listen on. Any other than this machine's own needs a token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0: any free one.")] = 8600,
    open_browser: Annotated[
        bool, typer.Option("--open/--no-open", help="Whether to open the page in the browser.")
    ] = True,
    token: Annotated[
        str | None,
        typer.Option(help="Token that every browser must show, at least 8 characters. `new` makes a random one."),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            parser=path_to_read, metavar="FOLDER", help="Where tables are kept. Default: the user's data folder."
        ),
    ] = None,
) -> None:
    """Play in the browser: a board to click on, players of three strengths, and a kibitzer whose advice grows live.

    Study shows any position with two advisers, Review a finished game, the Lab the runs in runs/ and short trainings.

    Tables survive a reload and a restart. Ctrl-C stops the server.

    Example: kibitz serve

    Example: kibitz serve --host 0.0.0.0 --token new --no-open
    """
    try:
        import fastapi  # noqa: F401
        import uvicorn  # noqa: F401
        import websockets  # noqa: F401
    except ImportError as error:
        raise BadInput(f"{error.name} is missing: install it with pip install 'kibitz[web]'") from None
    run(game_files or [], host, port, open_browser, token, data)


def run(game_files: list[str], host: str, port: int, open_browser: bool, token: str | None, data: Path | None) -> None:
    """Serve until interrupted."""
    import secrets

    from ...games import load
    from ..web.security import is_loopback
    from ..web.store import data_folder

    games = [load(each) for each in game_files]
    local = is_loopback(host)
    if not token and not local:
        raise BadInput(f"--host {host} lets others in: add --token new, or a token of your own")
    token = secrets.token_urlsafe(18) if token == "new" else token or ""
    if token and not (8 <= len(token) <= 200 and token.replace("-", "").replace("_", "").isalnum() and token.isascii()):
        raise BadInput("--token should be 8 to 200 letters, digits, - or _; or new for a random one")
    with _listen(host, port) as listening:
        where = f"http://{_spelled(host)}:{listening.getsockname()[1]}/" + (f"?token={token}" if token else "")
        server = _server(data or data_folder(), games, token, local)
        out.print(f"playing at [bold]{where}[/bold] (Ctrl-C stops it)", highlight=False, soft_wrap=True)
        if open_browser:
            import threading
            import webbrowser

            threading.Timer(0.5, webbrowser.open, [where]).start()
        server.run(sockets=[listening])


def _listen(host: str, port: int) -> Any:
    """A socket that listens; a port that is taken is reported in one line."""
    import os
    import socket

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family)
    if os.name != "nt":  # there it would allow a port that another program listens on
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host.strip("[]"), port))
        listening.listen(1024)
    except (OSError, ValueError) as error:  # ValueError: a host that is no name
        listening.close()
        why = getattr(error, "strerror", None) or error
        raise BadInput(f"can't listen on {host}, port {port}: {why}; try --port 0") from None
    return listening


def _spelled(host: str) -> str:
    """A host for an address that a browser on this machine can open."""
    if host in ("0.0.0.0", "::"):
        return "localhost"
    return f"[{host}]" if ":" in host else host


def _server(folder: Path, games: list[Any], token: str, local: bool) -> Any:
    import logging

    import uvicorn

    from ..web.connections import PATIENCE, Connection, allow_files, in_one_line
    from ..web.security import MAX_BODY
    from ..web.server import build

    allow_files()
    logging.getLogger("uvicorn.error").addFilter(in_one_line)
    return uvicorn.Server(
        uvicorn.Config(
            build(folder, games, token, local),
            log_level="warning",
            access_log=False,
            ws="websockets-sansio",
            ws_max_size=MAX_BODY,
            ws_per_message_deflate=False,  # costs more time and memory than it saves in a local network
            http=Connection,
            timeout_keep_alive=PATIENCE,
            timeout_graceful_shutdown=2,
            server_header=False,
        )
    )
