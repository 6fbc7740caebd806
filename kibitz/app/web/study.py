"""Study: any position by moves and deals, as one seat sees it, and the advice of up to two players on it.

Nothing is kept between requests: a position is the text that `kibitz advise` reads.
"""

import asyncio
import contextlib
import itertools
import json
import re
import secrets
import shlex
import time
from collections.abc import Iterator
from typing import Annotated, Any

from fastapi import APIRouter, WebSocket, WebSocketDisconnect
from fastapi import Path as InPath
from pydantic import ValidationError

from ...core.names import BadInput
from ...games import CHANCE, OVER, Game, full_name, legal_actions, view_of
from ...games.display import display
from ...jit import generators
from ...play.players.labels import adviser_label
from ..ui.position_parser import UNKNOWN, Line, parse_line, spelled
from ..ui.position_views import CHECKED, deal, possible_actions, unseen, worlds
from ..ui.referee import own_views
from .desk import Request
from .live import SLOW, TOO_MUCH
from .lobby import Lobby
from .messages import Language, LegalMove, Message, Problem
from .study_messages import Moves, Position, Question, StudyAdvice, StudyMove, StudyProgress, StudyStep, StudyView
from .tables import HUMAN, Refused, Table
from .workers import Pool

MAX_SECONDS = 1.5  # of processor time for filling in what is unknown
MAX_FORCED = 8  # moves that nobody decides, one after the other
AT_ONCE = 2  # positions that are worked out at the same time: tables come first
MAX_STUDIES = 200  # live connections at once
SEED = 1  # of the advice: the same position gets the same advice
COMMAND = re.compile(r"[^\w?]*kibitz\s+advise\s+(.*)", re.DOTALL)

Key = Annotated[str, InPath(max_length=64, pattern=r"^[\w-]+$", description="The key of a seat.")]
Refusals = dict[int | str, dict[str, Any]]
REFUSALS: Refusals = {status: {"model": Problem, "description": "Refused, with the reason."} for status in (404, 409)}


# ---------------------------------------------------------------- positions


def pasted(text: str, game: str) -> tuple[str, str]:
    """Game and moves of a text, which may be a whole command line `kibitz advise GAME "MOVES" ...`."""
    command = COMMAND.fullmatch(text)
    if not command:
        return game, text
    try:
        found = iter(shlex.split(command[1]))
    except ValueError:
        raise Refused("the command isn't complete: a quotation mark is missing") from None
    values = []
    for word in found:
        if not word.startswith("--"):
            values.append(word)
        elif "=" not in word and word != "--trust":
            next(found, None)  # the value of the option
    if not values:
        raise Refused('the command names no game: kibitz advise leduc "? K raise"')
    return values[0], " ".join(values[1:])


def position(lobby: Lobby, asked: Position, language: Language) -> StudyView:
    """A position as one seat sees it, and what can happen next.

    Raises:
        BadInput: The game isn't known, a move is not possible, or the seat sees something that is unknown.
    """
    name, moves = pasted(asked.moves, asked.game)
    game = lobby.game(name)
    seat = _seat(game, asked.seat)
    line = parse_line(game, moves, seat, _for_a_while())
    if asked.fill == "forced":
        for _ in range(MAX_FORCED):
            if (word := _forced(game, line)) is None:
                break
            line = parse_line(game, " ".join([*line.words, word]), seat, _for_a_while())
    elif asked.fill and game.turn(line.states[-1]) == CHANCE:
        rng = generators(secrets.randbits(62), 1)[0] if asked.fill == "deal" else None
        dealt = deal(game, view_of(game, line.states[-1], line.seat), line.seat, rng)
        words = [UNKNOWN if outcome < 0 else spelled(game, world, outcome) for world, outcome in dealt]
        line = parse_line(game, " ".join([*line.words, *words]), line.seat, _for_a_while())
    return _view(game, line, language)


def _forced(game: Game, line: Line) -> str | None:
    """The move that the seat to move makes without being asked, whatever is unknown; None: it has to decide."""
    last, turn = line.states[-1], int(game.turn(line.states[-1]))
    if turn < 0:
        return None
    possible = [last] if line.whole else list(itertools.islice(worlds(game, last, line.seat), CHECKED))
    found = {int(display(game).forced_action(view_of(game, world, turn))) for world in possible}
    return spelled(game, possible[0], found.pop()) if len(found) == 1 and min(found) >= 0 else None


def _for_a_while() -> Iterator[None]:
    end = time.thread_time() + MAX_SECONDS
    while time.thread_time() < end:
        yield


def _seat(game: Game, number: int) -> int | None:
    if number > game.facts.seats:
        raise Refused(f"there is no seat {number}: {game.name} has {game.facts.seats} seats")
    return number - 1 if number else None


def _view(game: Game, line: Line, language: Language) -> StudyView:
    shown, last, turn = display(game, language), line.states[-1], int(game.turn(line.states[-1]))
    known = -1 not in line.actions
    everything = not game.facts.hidden or (turn == OVER and known)
    state, viewer = (last, -1) if everything else (view_of(game, last, line.seat), line.seat)
    table = Table(game, [HUMAN] * game.facts.seats, [""] * game.facts.seats, seed=0)
    table.states, table.actions = line.states, line.actions
    return StudyView(
        game=full_name(game),
        seats=game.facts.seats,
        hidden=game.facts.hidden,
        moves=" ".join(line.words),
        steps=[
            StudyStep(
                seat=max(int(game.turn(world)) + 1, 0),
                name=UNKNOWN if action < 0 else shown.action_to_string(world, action),
                word=word,
                told=action < 0 or game.turn(world) == CHANCE or bool(shown.is_visible(world, action)),
            )
            for word, action, world in zip(line.words, line.actions, line.worlds, strict=True)
        ],
        seat=line.seat + 1,
        turn=-1 if turn == OVER else turn + 1,
        picture=table.picture(state, viewer, shown, over=False),
        text=shown.show(state, viewer),
        options=_options(table, line, shown),
        unknown=_unknown(game, line),
        payoffs=[float(game.payoff(last, each)) for each in range(game.facts.seats)]
        if turn == OVER and known
        else None,
    )


def _options(table: Table, line: Line, shown: Any) -> list[StudyMove]:
    """What can happen next. Where something is unknown that matters for it, everything that the seat can't rule out."""
    game, last, turn = table.game, line.states[-1], int(table.game.turn(line.states[-1]))
    if turn == OVER:
        return []
    if turn == line.seat or -1 not in line.actions:
        state = view_of(game, last, turn) if turn == line.seat else last
        found = {action: state for action in map(int, shown.moves(state))}
    else:
        found = _possible(game, line)
    moves: dict[int, dict[int, LegalMove]] = {}  # by world and action
    options = []
    for action, world in found.items():
        if id(world) not in moves:
            moves[id(world)] = {move.action: move for move in table.legal_moves(world, shown) if not move.planned}
        options.append(StudyMove(**moves[id(world)][action].model_dump(), word=spelled(game, world, action)))
    return options


def _possible(game: Game, line: Line) -> dict[int, Any]:
    """Actions of another seat or of chance that fit the line, each with a state in which it is legal."""
    last, tried = line.states[-1], possible_actions(game, view_of(game, line.states[-1], line.seat), line.seat)
    if not line.whole:
        return dict(sorted(tried.items()))
    legal = set(legal_actions(game, last))
    found = {action: last for action in legal}
    for action in tried.keys() - legal:  # not in the deal that stands for what is unknown, but perhaps in another
        with contextlib.suppress(BadInput):
            words = " ".join([*line.words, spelled(game, tried[action], action)])
            parse_line(game, words, line.seat, _for_a_while())
            found[action] = tried[action]
    return dict(sorted(found.items()))


def _unknown(game: Game, line: Line) -> int:
    view, turn = view_of(game, line.states[-1], line.seat), int(game.turn(line.states[-1]))
    if turn == CHANCE:
        return len(deal(game, view, line.seat))
    return int(turn not in (OVER, line.seat) and unseen(game, view, line.seat) is not None)


def of_table(table: Table, participant: int) -> Moves:
    """The position of a table: where nothing is hidden, or once everything is revealed."""
    if table.turn != OVER and table.game.facts.hidden:
        raise Refused("a game with hidden information can be studied when it is over")
    words = [spelled(table.game, *at) for at in zip(table.states, table.actions, strict=False)]
    return Moves(game=full_name(table.game), moves=" ".join(words), seat=table.seat_of(participant) + 1)


# ---------------------------------------------------------------- advice


class Study:
    """A live connection: the newest advice of up to two advisers on the newest position, never a backlog."""

    def __init__(self, socket: WebSocket, lobby: Lobby, language: Language) -> None:
        self.socket, self.lobby, self.language = socket, lobby, language
        self._wake = asyncio.Event()
        self._news: dict[tuple[int, str], str] = {}  # by side and kind: the newest, not yet sent
        self._advising: list[asyncio.Task] = []

    async def run(self) -> None:
        """Serve until the browser leaves."""
        tasks = [asyncio.create_task(self._send()), asyncio.create_task(self._receive())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._stop()
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
        with contextlib.suppress(RuntimeError, WebSocketDisconnect):
            await self.socket.close(1000)

    async def _send(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._news:
                text = self._news.pop(next(iter(self._news)))
                async with asyncio.timeout(SLOW):
                    await self.socket.send_text(text)

    async def _receive(self) -> None:
        loop, received = asyncio.get_running_loop(), list[float]()
        with contextlib.suppress(WebSocketDisconnect):
            while True:
                text = await self.socket.receive_text()
                received = [*(at for at in received if at > loop.time() - 10), loop.time()]
                if len(received) > TOO_MUCH:
                    return
                self._stop()
                try:
                    asked = Question.model_validate(json.loads(text))
                except (ValidationError, ValueError, RecursionError):
                    self._tell_advice(0, 0, "", trouble="this message isn't understood")
                    continue
                for side, player in enumerate(asked.players):
                    self._advising.append(asyncio.create_task(self._advise(asked, side, player)))

    def _stop(self) -> None:
        for task in self._advising:
            task.cancel()
        self._advising, self._news = [], {}

    async def _advise(self, asked: Question, side: int, player: str) -> None:
        try:
            request, label = await asyncio.to_thread(self._request, asked, side, player)
            async with contextlib.aclosing(self.lobby.pool.answers(request)) as answers:
                async for kind, value in answers:
                    if kind == "compiling" and value:
                        self._tell(side, kind, StudyProgress(side=side, part=value))
                    elif kind == "advice":
                        self._tell_advice(side, asked.number, request.player, label=label, **value)
        except BadInput as error:
            self._tell_advice(side, asked.number, player, trouble=str(error))

    def _request(self, asked: Question, side: int, name: str) -> tuple[Request, str]:
        """The request to a worker process, which holds the seat's views and nothing else; and the adviser's label."""
        game = self.lobby.game(asked.game)
        seat = _seat(game, asked.seat)
        line = parse_line(game, asked.moves, seat, _for_a_while())
        turn = int(game.turn(line.states[-1]))
        if turn != seat:
            who = {OVER: "the game is over", CHANCE: "chance is next"}.get(turn, f"seat {turn + 1} is to move")
            raise Refused(f"there is no advice for seat {asked.seat}: {who}")
        player = self.lobby.player(name, game)
        views = [view.tobytes() for view in own_views(game, line.states, line.seat)]
        request = Request("study", f"study/{side}", full_name(game), player, line.seat, SEED, views, self.language)
        return request, adviser_label(player, game).as_json(self.language)["text"]

    def _tell_advice(self, side: int, number: int, player: str, **values: Any) -> None:
        missing: dict[str, Any] = {"moves": [], "notes": [], "finished": True, "label": ""}
        self._tell(side, "advice", StudyAdvice(side=side, number=number, turn=0, player=player, **missing | values))

    def _tell(self, side: int, kind: str, message: Message) -> None:
        self._news[side, kind] = message.model_dump_json()
        self._wake.set()


# ---------------------------------------------------------------- routes


def router(lobby: Lobby) -> APIRouter:
    """Everything that the page of studies asks for."""
    routes, working, live = APIRouter(prefix="/api"), asyncio.Semaphore(AT_ONCE), [0]

    @routes.post("/study", responses=REFUSALS)
    async def study(asked: Position, language: Language = "en") -> StudyView:
        """A position by its moves, as one seat sees it, and what can happen next."""
        async with working:
            return await asyncio.to_thread(position, lobby, asked, language)

    @routes.get("/tables/{key}/study", responses=REFUSALS)
    async def table_position(key: Key) -> Moves:
        """The position of a table to study: of any game without hidden information, of others when they are over."""
        return of_table(*lobby.find(key))

    @routes.websocket("/study/live")
    async def study_live(socket: WebSocket, language: str = "en") -> None:
        await socket.accept()  # else the browser isn't told why it was closed
        if live[0] >= MAX_STUDIES:
            await socket.close(1013, "too many connections: try again later")
            return
        if isinstance(lobby.pool, Pool):
            lobby.pool.warm_studies()
        live[0] += 1
        try:
            await Study(socket, lobby, "de" if language == "de" else "en").run()
        finally:
            live[0] -= 1

    return routes
