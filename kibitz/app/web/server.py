"""The application behind `kibitz serve`: the page, its JSON interface, and live connections."""

import asyncio
import contextlib
import gzip
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI, Header, Request, Response, WebSocket
from fastapi import Path as InPath
from fastapi import Query as InQuery
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse
from fastapi.staticfiles import StaticFiles

from ...core.names import BadInput
from ...core.version import __version__
from ...core.workers import cores
from ...games import Game
from .lab import Lab, lab_routes
from .live import Live
from .lobby import PAUSE, Lobby, Unknown
from .messages import Chosen, GameInfo, Language, Move, Name, NewTable, Opened, PlayerInfo, Problem, SeatLink, TableView
from .review import router as review_router
from .security import Guard
from .store import Store
from .study import router as study_router
from .workers import Pool

STATIC = Path(__file__).with_name("static")
MAX_LIVE = 1000  # live connections at once

Key = Annotated[str, InPath(max_length=64, pattern=r"^[\w-]+$", description="The key of a seat.")]
GameNumber = Annotated[int, InQuery(ge=1, le=1 << 31, description="`number` of the game before.")]
REFUSALS: dict[int | str, dict[str, Any]] = {
    400: {"model": Problem, "description": "The body is no JSON."},
    404: {"model": Problem, "description": "There is nothing of this name."},
    409: {"model": Problem, "description": "The position doesn't allow it."},
    422: {"model": Problem, "description": "The request isn't understood."},
}


def build(
    folder: Path,
    games: list[Game] | None = None,
    token: str = "",
    local: bool = True,
    processes: int | None = None,
    pause: float = PAUSE,
    pool: Any = None,
) -> Any:
    """Make the ASGI application.

    Args:
        folder: Where tables are kept.
        games: Games beside the registered ones.
        token: What every request must show; empty: nothing.
        local: Whether the server is for this machine only.
        processes: In which players move; None: one per core.
        pause: Seconds between moves of players where there are more than two seats.
        pool: Lets players move; None: a `Pool` of processes.
    """
    store, pool = Store(folder), Pool(processes or cores()) if pool is None else pool
    lobby = Lobby(store, pool, games or [], pause)
    lab = Lab(lobby, folder)

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        pool.warm()
        yield
        await lobby.close()
        await asyncio.to_thread(lab.close)
        pool.close()
        store.close()

    app = FastAPI(
        title="Kibitz",
        version=__version__,
        lifespan=lifespan,
        openapi_url="/api/openapi.json",
        docs_url=None,  # FastAPI's page loads scripts from another site; ours is static/api.html
        redoc_url=None,
    )
    app.state.lobby, app.state.live, app.state.lab = lobby, 0, lab
    app.exception_handler(BadInput)(_refuse)
    app.exception_handler(RequestValidationError)(_not_understood)
    _add_routes(app, lobby)
    app.include_router(review_router(lobby))
    app.include_router(study_router(lobby))
    app.include_router(lab_routes(lab))
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    guard = Guard(app, token, local)
    guard.state = app.state  # type: ignore[attr-defined]
    return guard


async def _refuse(request: Request, error: Exception) -> JSONResponse:
    return JSONResponse({"detail": str(error)}, 404 if isinstance(error, Unknown) else 409)


async def _not_understood(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"][1:])
    return JSONResponse({"detail": f"{place}: {first['msg']}" if place else first["msg"]}, 422)


def _add_routes(app: FastAPI, lobby: Lobby) -> None:
    @app.get("/", include_in_schema=False)
    async def page() -> FileResponse:
        return FileResponse(STATIC / "index.html")

    @app.get("/api/docs", include_in_schema=False)
    async def docs() -> FileResponse:
        return FileResponse(STATIC / "api.html")

    @app.get("/favicon.ico", include_in_schema=False)
    async def icon() -> FileResponse:
        return FileResponse(STATIC / "icon.svg")

    @app.get("/api/games")
    def games() -> list[GameInfo]:
        """The games, and who plays them at each strength."""
        return lobby.games

    @app.get(
        "/api/picture",
        response_class=Response,
        responses={200: {"content": {"image/svg+xml": {}}}, **{status: REFUSALS[status] for status in (404, 422)}},
    )
    def picture(game: Name, accept_encoding: Annotated[str, Header()] = "") -> Response:
        """A small picture of a game."""
        headers, content = {"vary": "accept-encoding", "cache-control": "max-age=3600"}, lobby.thumbnail(game)
        if "gzip" in accept_encoding:
            headers["content-encoding"] = "gzip"
        else:
            content = gzip.decompress(content)
        return Response(content, media_type="image/svg+xml", headers=headers)

    @app.post("/api/prepare", status_code=202, responses=REFUSALS)
    async def prepare(chosen: Chosen) -> None:
        """Have a player's kernels compiled or loaded while its opponent still thinks about seats and strengths."""
        lobby.prepare(chosen)

    @app.get("/api/players")
    def players() -> list[PlayerInfo]:
        """Players by name, for those who want more choice than three strengths."""
        return lobby.players

    @app.post("/api/tables", status_code=201, responses=REFUSALS)
    async def open_table(new: NewTable) -> Opened:
        """Open a table."""
        table = await lobby.open(new)
        return Opened(links=[SeatLink(seat=table.seat_of(each) + 1, key=key) for key, each in table.keys.items()])

    @app.get("/api/tables/{key}", responses=REFUSALS)
    async def table_view(key: Key, language: Language = "en") -> TableView:
        """The table as the seat of this key sees it."""
        return await lobby.message(*lobby.find(key), language)

    @app.post("/api/tables/{key}/moves", responses=REFUSALS)
    async def move(key: Key, move: Move, language: Language = "en") -> TableView:
        """Play a move."""
        table, participant = lobby.find(key)
        lobby.change(table, table.move, participant, move)
        return await lobby.message(table, participant, language)

    @app.post("/api/tables/{key}/undo", responses=REFUSALS)
    async def undo(key: Key, language: Language = "en") -> TableView:
        """Take back the last move, where that is fair."""
        table, participant = lobby.find(key)
        lobby.change(table, table.undo, participant)
        return await lobby.message(table, participant, language)

    @app.post("/api/tables/{key}/resign", responses=REFUSALS)
    async def resign(key: Key, language: Language = "en") -> TableView:
        """Give the game up as lost."""
        table, participant = lobby.find(key)
        lobby.change(table, table.resign, participant)
        return await lobby.message(table, participant, language)

    @app.post("/api/tables/{key}/rematch", responses=REFUSALS)
    async def rematch(key: Key, language: Language = "en", game: GameNumber | None = None) -> TableView:
        """Begin the next game, with everybody one seat further; after the last game of a session, a new session.

        With the number of the game before, two people who ask for it begin one game, not two.
        """
        table, participant = lobby.find(key)
        lobby.change(table, table.rematch, game)
        return await lobby.message(table, participant, language)

    @app.websocket("/api/tables/{key}/live")
    async def live(socket: WebSocket, key: str, language: str = "en") -> None:
        await socket.accept()  # a browser isn't told why a connection was refused, but why it was closed
        try:
            table, participant = lobby.find(key)
        except BadInput as error:
            await socket.close(1008, str(error)[:100])
            return
        if app.state.live >= MAX_LIVE:
            await socket.close(1013, "too many connections: try again later")
            return
        app.state.live += 1
        try:
            await Live(socket, lobby, table, participant, "de" if language == "de" else "en").run()
        finally:
            app.state.live -= 1
