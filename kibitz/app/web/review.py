"""Review of finished games: where they are found, how they are shown move by move, and what each move cost.

A game comes as its record: from a table once its game is over, from a run folder, or from a file that the browser
sends. The server keeps nothing of it; a review is computed in a worker process and sent line by line.
"""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi import Path as InPath
from fastapi.responses import StreamingResponse
from pydantic import ValidationError

from ...core.files import read_lines
from ...core.names import BadInput
from ...games import CHANCE, OVER, Game, full_name, legal_actions, view_of
from ...games.display import display
from ...games.record_files import format_of, looks_like, read_games
from ...games.records import FILE, Record, read_line
from ...play.players.defaults import strengths
from .desk import Request
from .lobby import Lobby, Unknown
from .messages import Language, Name, Problem
from .review_messages import (
    FinishedGame,
    GameFile,
    GameList,
    GameRecord,
    Outline,
    OutlineRequest,
    Position,
    PositionRequest,
    ReviewCompiling,
    ReviewEnd,
    ReviewLine,
    ReviewProgress,
    ReviewRequest,
    ReviewStart,
    RunGames,
    Spelling,
    Turn,
)
from .tables import HUMAN, Refused, Table

RUNS = Path("runs")
MAX_RUNS, MAX_LISTED = 100, 100  # run folders, and games of one, in an answer
MAX_REVIEWS = 16  # at once, of all browsers
SEED = 1

Key = Annotated[str, InPath(max_length=64, pattern=r"^[\w-]+$", description="The key of a seat.")]
REFUSALS: dict[int | str, dict[str, Any]] = {
    400: {"model": Problem, "description": "The body is no JSON."},
    404: {"model": Problem, "description": "There is nothing of this name."},
    409: {"model": Problem, "description": "The game can't be reviewed."},
    422: {"model": Problem, "description": "The request isn't understood."},
}


class Lines(StreamingResponse):
    media_type = "application/x-ndjson"


# ---------------------------------------------------------------- games


def opened(lobby: Lobby, given: GameRecord) -> tuple[Game, Record]:
    """The game of a record, which can have been played, but may have ended early: somebody resigned."""
    game = lobby.game(given.game)
    record = read_line(given.model_dump_json(exclude_none=True), "this game")
    if len(record.players) != game.facts.seats:
        raise Refused(f"{given.game} has {game.facts.seats} seats, not {len(record.players)}")
    *_, (state, _) = record.replay()
    if game.turn(state) == OVER:
        record.verify()
    return game, record


def as_message(record: Record) -> GameRecord:
    """A record for a browser, which takes no game that is too large."""
    try:
        return GameRecord.model_validate_json(record.line())
    except ValidationError as error:
        first = error.errors()[0]
        raise Refused(f"game {record.number + 1}: {first['loc'][0]}: {first['msg']}") from None


def finished_game(table: Table, participant: int) -> FinishedGame:
    """The game of a table as a record. Its seed is left out: deals to come depend on it."""
    if table.turn != OVER:
        raise Refused("this game isn't over: it can be reviewed when it is")
    seats = range(len(table.players))
    if table.resigned is None:
        payoffs = [float(table.game.payoff(table.states[-1], seat)) for seat in seats]
    else:
        lost = table.seat_of(table.resigned)
        payoffs = [float(table.game.facts.payoffs[0 if seat == lost else 1]) for seat in seats]
    players = [table.player_at(seat) for seat in seats]
    record = Record(table.number, full_name(table.game), players, 0, list(table.actions), payoffs)
    return FinishedGame(record=as_message(record), seat=table.seat_of(participant) + 1)


def games_in(lobby: Lobby, file: GameFile) -> GameList:
    """The games of a file that a browser sends; all of them can have been played.

    Raises:
        BadInput: One can't, with its line.
    """
    if not file.text.strip():
        raise Refused("there is no game in this file")
    kind = looks_like(file.text)
    if kind == "json":
        found = []
        for number, line in enumerate(file.text.splitlines(), 1):
            if not line.strip():
                continue
            try:
                found.append(as_message(read_line(line, "this")))
                opened(lobby, found[-1])
            except BadInput as error:
                raise type(error)(f"line {number}: {error}") from None
    else:
        form = format_of(kind)
        if file.rules:
            lobby.game(file.rules)
        if not form.rules and ".py" in file.text:  # it names the game
            raise Unknown("this file names a game in a file of code, which isn't run")
        try:
            found = [as_message(record) for record, _ in read_games(file.text, kind, file.rules or None)]
        except BadInput as error:
            raise Refused(f"read as {form.about}: {error}") from None
    if not found:
        raise Refused("there is no game in this file")
    return GameList(games=found, more=False)


def run_files() -> dict[str, Path]:
    """Files of games in run folders by the folder's name, the newest first."""
    found = [path for pattern in ("", "*/matches/") for path in RUNS.glob(f"{pattern}*/{FILE}") if path.is_file()]
    newest = sorted(found, key=_changed, reverse=True)[:MAX_RUNS]
    return {path.parent.relative_to(RUNS).as_posix(): path for path in newest}


def _changed(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:  # it was removed just now
        return 0.0


def run_list() -> list[RunGames]:
    """The run folders with games; those that can't be read are left out."""
    found = []
    for name, path in run_files().items():
        try:
            first = read_line(next(read_lines(path, "file of games"), b""), str(path))
            found.append(RunGames(name=name, game=first.game, players=first.players, changed=_changed(path)))
        except BadInput:
            continue
    return found


def run_games(name: str, first: int) -> GameList:
    """Games of a run folder from one place on."""
    path = run_files().get(name)
    if path is None:
        raise Unknown(f"no folder runs/{name} has games")
    found: list[GameRecord] = []
    last = first + MAX_LISTED - 1
    for place, line in enumerate(read_lines(path, "file of games"), 1):
        if place > last:
            return GameList(games=found, more=True)
        if place >= first and line.endswith(b"\n"):
            found.append(as_message(read_line(line, f"{path}, line {place},")))
    return GameList(games=found, more=False)


# ---------------------------------------------------------------- move by move


def outline(lobby: Lobby, asked: OutlineRequest, language: Language) -> Outline:
    game, record = opened(lobby, asked.record)
    shown = display(game, language)
    states = [state for state, _ in record.replay()]
    turns = []
    for turn, (state, action) in enumerate(zip(states, record.actions, strict=False), 1):
        seat = int(game.turn(state))
        told = seat == CHANCE or bool(shown.is_visible(state, action))
        turns.append(
            Turn(turn=turn, seat=seat + 1, action=action, name=shown.action_to_string(state, action), told=told)
        )
    return Outline(
        turns=turns,
        names=[spelled(game, shown, states, each) for each in asked.spell],
        over=int(game.turn(states[-1])) == OVER,
        hidden=game.facts.hidden,
        strengths=strengths(game),
    )


def spelled(game: Game, shown: Any, states: list[Any], each: Spelling) -> str:
    if each.turn > len(states) or each.action not in legal_actions(game, states[each.turn - 1]):
        raise Refused(f"the action {each.action} is not legal at turn {each.turn}")
    return str(shown.action_to_string(states[each.turn - 1], each.action))


def position(lobby: Lobby, asked: PositionRequest, language: Language) -> Position:
    """The position before a turn as a table shows it to the seat to move, or with everything revealed."""
    game, record = opened(lobby, asked.record)
    if asked.turn > len(record.actions) + 1:
        raise Refused(f"turn {asked.turn} should be 1 to {len(record.actions) + 1}")
    table = Table(game, [HUMAN] * game.facts.seats, [""] * game.facts.seats, seed=0)
    for action in record.actions[: asked.turn - 1]:
        table.play(action)
    seat, shown, state = int(game.turn(table.states[-1])), display(game, language), table.states[-1]
    viewer = -1 if asked.revealed or seat < 0 else seat
    seen = state if viewer < 0 else view_of(game, state, seat)
    return Position(
        seat=max(seat + 1, 0),
        picture=table.picture(seen, viewer, shown, over=False),
        text=shown.show(seen, viewer),
        moves=[move for move in table.legal_moves(view_of(game, state, seat), shown) if not move.planned]
        if seat >= 0
        else [],
    )


# ---------------------------------------------------------------- reviews


class Reviews:
    """The reviews under way, at most one per browser."""

    def __init__(self, lobby: Lobby) -> None:
        self.lobby = lobby
        self._running: dict[str, asyncio.Task] = {}  # by browser

    async def begin(self, asked: ReviewRequest, language: Language) -> AsyncIterator[str]:
        """Start a review and return its lines.

        Raises:
            BadInput: The game or the player is refused, or too many reviews are under way.
        """
        game, record, player = await asyncio.to_thread(self._checked, asked)
        self.stop(asked.browser)
        if len(self._running) >= MAX_REVIEWS:
            raise Refused("too many reviews at once: try again in a minute")
        request = Request("review", "", full_name(game), player, -1, SEED, [], language, record.line())
        lines: asyncio.Queue[str] = asyncio.Queue()
        task = asyncio.create_task(self._collect(request, lines))
        self._running[asked.browser] = task
        task.add_done_callback(lambda _: self._forget(asked.browser, task))
        return self._lines(lines, task)

    def stop(self, browser: str) -> None:
        if browser in self._running:
            self._running.pop(browser).cancel()

    def _forget(self, browser: str, task: asyncio.Task) -> None:
        if self._running.get(browser) is task:
            del self._running[browser]

    def _checked(self, asked: ReviewRequest) -> tuple[Game, Record, str]:
        game, record = opened(self.lobby, asked.record)
        return game, record, self.lobby.player(asked.player, game)

    async def _collect(self, request: Request, lines: asyncio.Queue[str]) -> None:
        """Put what a worker process finds into a queue; the last line is a `ReviewEnd`, also of a stopped review."""
        end = ReviewEnd(complete=False, trouble="").model_dump_json()
        try:
            async for kind, value in self.lobby.pool.answers(request):
                if kind == "end":
                    end = value
                else:
                    lines.put_nowait(ReviewCompiling(part=value).model_dump_json() if kind == "compiling" else value)
        except BadInput as error:
            end = ReviewEnd(complete=False, trouble=str(error)).model_dump_json()
        finally:
            lines.put_nowait(end)

    async def _lines(self, lines: asyncio.Queue[str], task: asyncio.Task) -> AsyncIterator[str]:
        try:
            line = ""
            while not line.startswith('{"kind":"end"'):
                line = await lines.get()
                yield line + "\n"
        finally:  # also where the browser has left
            task.cancel()


def router(lobby: Lobby) -> APIRouter:
    """The routes below `/api/reviews`."""
    routes, reviews = APIRouter(prefix="/api/reviews", responses=REFUSALS), Reviews(lobby)

    @routes.get("/runs")
    def runs() -> list[RunGames]:
        """Matches and other runs on this machine that have recorded games, the newest first."""
        return run_list()

    @routes.get("/games")
    def games(run: Annotated[Name, Query()], first: Annotated[int, Query(ge=1, le=10**7)] = 1) -> GameList:
        """Games of a run folder, a hundred at most."""
        return run_games(run, first)

    @routes.get("/tables/{key}")
    async def finished(key: Key) -> FinishedGame:
        """The game of a table, once it is over."""
        return finished_game(*lobby.find(key))

    @routes.post("/files")
    def file(file: GameFile) -> GameList:
        """Read games from a file of any format (`kibitz convert --formats`)."""
        return games_in(lobby, file)

    @routes.post("/outline")
    def game_outline(asked: OutlineRequest, language: Language = "en") -> Outline:
        """A game move by move."""
        return outline(lobby, asked, language)

    @routes.post("/position")
    def game_position(asked: PositionRequest, language: Language = "en") -> Position:
        """A position of a game."""
        return position(lobby, asked, language)

    @routes.post(
        "",
        response_class=Lines,
        responses={200: {"model": ReviewStart | ReviewCompiling | ReviewLine | ReviewProgress | ReviewEnd}},
    )
    async def review(asked: ReviewRequest, language: Language = "en") -> Lines:
        """Review a game: one line of JSON per message, while the adviser goes through the moves."""
        return Lines(await reviews.begin(asked, language))

    return routes
