"""A live connection of one browser to one seat: sends the newest view and the kibitzer's advice, never a backlog."""

import asyncio
import contextlib
import json
from typing import Any

from fastapi import WebSocket, WebSocketDisconnect
from pydantic import ValidationError

from ...core.names import BadInput
from ...games import OVER
from .lobby import Lobby
from .messages import AdviceView, Insight, Kibitz, Language, Progress
from .tables import Table

SLOW = 15.0  # seconds that a browser may take to read a message
CLOSING = 1.0  # seconds that the message of the end may take
TOO_MUCH = 40  # messages from a browser within ten seconds


class Live:
    """Everything is sent by one task, which sends only what has changed since it last sent."""

    def __init__(self, socket: WebSocket, lobby: Lobby, table: Table, participant: int, language: Language) -> None:
        self.socket, self.lobby, self.table, self.participant = socket, lobby, table, participant
        self.language = language
        self._wake = asyncio.Event()
        self._progress, self._advice, self._insight = "", "", ""  # the newest, not yet sent
        self._busy = False  # whether the last progress that was sent is still true
        self._sent = ""  # the last table
        self._kibitzer: str | None = None
        self._advising: tuple[Any, asyncio.Task] | None = None  # the position, and who thinks about it
        self._received: list[float] = []

    async def run(self) -> None:
        """Serve until the browser leaves."""
        with self.lobby.watching(self.table, self._told):
            self._wake.set()
            tasks = [asyncio.create_task(self._send()), asyncio.create_task(self._receive())]
            try:
                await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            finally:
                self._stop_advice()
                for task in tasks:
                    task.cancel()
                await asyncio.wait(tasks)
        errors = [task.exception() for task in tasks if not task.cancelled()]
        with contextlib.suppress(RuntimeError, WebSocketDisconnect, TimeoutError):
            async with asyncio.timeout(CLOSING):
                await self.socket.close(1008 if any(isinstance(error, TimeoutError) for error in errors) else 1000)

    def _told(self, part: int, kibitzer: bool = False) -> None:
        if part:
            self._progress = Progress(part=part, kibitzer=kibitzer).model_dump_json()
        self._wake.set()

    # ---------------------------------------------------------------- to the browser

    async def _send(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            view = await self.lobby.message(self.table, self.participant, self.language)
            text = view.model_dump_json()
            if text != self._sent:
                part = self.lobby.parts.get(self.table.id, 0)  # what an earlier one compiled is over
                self._progress, self._busy = Progress(part=part).model_dump_json() if part else "", False
                await self._say(text)
                self._sent = text
            if self._progress or self._busy:
                progress, self._progress = self._progress, ""
                await self._say(progress or Progress(part=0).model_dump_json())
                self._busy = bool(progress)
            self._ask_kibitzer()
            if self._advice:
                text, self._advice = self._advice, ""
                await self._say(text)
            if self._insight:
                text, self._insight = self._insight, ""
                await self._say(text)

    async def _say(self, text: str) -> None:
        async with asyncio.timeout(SLOW):
            await self.socket.send_text(text)

    # ---------------------------------------------------------------- from the browser

    async def _receive(self) -> None:
        loop = asyncio.get_running_loop()
        with contextlib.suppress(WebSocketDisconnect):
            while True:
                text = await self.socket.receive_text()
                self._received = [*(at for at in self._received if at > loop.time() - 10), loop.time()]
                if len(self._received) > TOO_MUCH:
                    return
                try:
                    wanted = Kibitz.model_validate(json.loads(text))
                    player = await asyncio.to_thread(self.lobby.player, wanted.player, self.table.game)
                except (ValidationError, BadInput, ValueError, RecursionError) as error:
                    self._tell_trouble(str(error) if isinstance(error, BadInput) else "this message isn't understood")
                    continue
                self._stop_advice()
                self._kibitzer = player if wanted.on else None
                self._wake.set()

    # ---------------------------------------------------------------- the kibitzer

    def _ask_kibitzer(self) -> None:
        """Let the kibitzer think about the present position, if it is the person's turn and it isn't doing so."""
        table, seat = self.table, self.table.seat_of(self.participant)
        if self._kibitzer is None or table.turn == OVER or table.turn != seat:
            self._stop_advice()
            return
        where = table.number + 1, table.own_moves(seat), self._kibitzer
        if self._advising is None or self._advising[0] != where:
            self._stop_advice()
            self._advising = where, asyncio.create_task(self._advise(*where))

    async def _advise(self, number: int, turn: int, player: str) -> None:
        seat = self.table.seat_of(self.participant)
        request = self.lobby.request(self.table, "advise", player, seat, self.language)
        try:
            async with contextlib.aclosing(self.lobby.pool.answers(request)) as answers:
                async for kind, value in answers:
                    if kind == "compiling":
                        self._told(value, kibitzer=True)
                    elif kind == "advice":
                        self._advice = AdviceView(turn=turn, number=number, player=player, **value).model_dump_json()
                        self._wake.set()
                    elif kind == "insight":
                        self._insight = Insight(turn=turn, number=number, **value).model_dump_json()
                        self._wake.set()
        except BadInput as error:
            self._tell_trouble(str(error))

    def _tell_trouble(self, text: str) -> None:
        self._advice = AdviceView(
            turn=self.table.own_moves(self.table.seat_of(self.participant)),
            number=self.table.number + 1,
            player=self._kibitzer or "",
            moves=[],
            notes=[],
            finished=True,
            trouble=text,
        ).model_dump_json()
        self._wake.set()

    def _stop_advice(self) -> None:
        if self._advising is not None:
            self._advising[1].cancel()
            self._advising, self._advice, self._insight = None, "", ""
