"""All tables of a server: opened, found again, moved on by their players, saved and watched."""

import asyncio
import contextlib
import functools
import gzip
import re
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable
from typing import Any

from ...core import names
from ...core.names import BadInput
from ...core.trust import only_named
from ...games import GAMES, OVER, Game, full_name, load
from ...games.game import is_shipped
from ...play.players import PLAYERS
from ...play.players.defaults import strengths
from ...play.players.listing import player_info
from ..index import summary
from ..ui.referee import derived_seed
from .desk import Request, checked
from .messages import Chosen, GameInfo, NewTable, PlayerInfo, TableView
from .session import has_sessions
from .store import Store
from .tables import HUMAN, Refused, Table
from .thumbnails import thumbnail
from .workers import AHEAD, Pool

IN_MEMORY = 2000  # tables; others are found again on disk
MAX_PREPARED = 100  # games and strengths that are prepared before a table is opened
PROGRAM = "engine"  # the player that is a program of this machine, which no browser may start
PAUSE = 0.45  # seconds between the moves of several players in a row, so that a person can follow
FILES = re.compile(r"(models|runs)/[\w./-]+")  # that a browser may name


class Unknown(BadInput):
    """Nothing has this name or key."""


class Lobby:
    def __init__(self, store: Store, pool: Pool, extra: list[Game], pause: float = PAUSE) -> None:
        """
        Args:
            store: Keeps the tables.
            pool: Lets players move.
            extra: Games beside the registered ones.
            pause: Seconds between moves of players where there are more than two seats.
        """
        self.store, self.pool, self.pause = store, pool, pause
        self.extra = {full_name(game): game for game in extra}
        self._tables: OrderedDict[str, Table] = OrderedDict()  # by key; the least recently used first
        self._running: dict[str, asyncio.Task] = {}  # by table: its players are moving
        self._prepared: dict[tuple[str, str], asyncio.Task] = {}  # by game and player: asked for before a table was
        self._watchers: dict[str, set[Callable[[int], None]]] = {}  # by table: told of progress, 0 for a change
        self.parts: dict[str, int] = {}  # by table: which part of its game is compiled now

    # ---------------------------------------------------------------- games and players

    @functools.cached_property
    def games(self) -> list[GameInfo]:
        """The registered games and those that were named when the server was started."""
        found = []
        for game in [*self.extra.values(), *(load(name) for name, kind in GAMES.items() if is_shipped(kind))]:
            parameters, about = summary(type(game))
            found.append(
                GameInfo(
                    name=full_name(game),
                    about=about or "",
                    parameters=parameters,
                    seats=game.facts.seats,
                    hidden=game.facts.hidden,
                    sessions=has_sessions(game),
                    strengths=strengths(game),
                )
            )
        return found

    @functools.cache  # noqa: B019  (there is one lobby, and few games)
    def thumbnail(self, name: str) -> bytes:
        """The picture of an offered game as compressed SVG."""
        if name not in {game.name for game in self.games}:
            raise Unknown(f"no game is called {name!r}")
        return gzip.compress(thumbnail(self.game(name)).encode())

    @functools.cached_property
    def players(self) -> list[PlayerInfo]:
        known = [player_info(name) for name in PLAYERS if name not in (HUMAN, PROGRAM)]
        return [PlayerInfo(name=each.name, about=each.about, example=each.example) for each in known]

    def game(self, name: str) -> Game:
        """A game by name. Code in files runs only where the person at the server has named the file."""
        if name in self.extra:
            return self.extra[name]
        kind = names.split(name)[0]
        if ".py" in name or kind not in GAMES or not is_shipped(GAMES[kind]):
            raise Unknown(f"no game is called {name!r}")
        with only_named():
            return load(name)

    def player(self, name: str, game: Game) -> str:
        """The name of a player by its name or strength, if a browser may name it."""
        by_strength = strengths(game)
        if name in by_strength:
            return by_strength[name]
        kind, options = names.split(name)
        if kind in (HUMAN, PROGRAM) or ".py" in name or kind not in PLAYERS:
            raise Unknown(
                f"no player is called {name!r}; {', '.join(by_strength)} or the name of a player would be right"
            )
        if re.search(r"[/\\~]|\.\.", FILES.sub("", options)) or ".." in options:
            raise Refused(f"{name}: only files in models/ and runs/ can be named here")
        with only_named():
            checked(name, game)
        return name

    def prepare(self, chosen: Chosen) -> None:
        """Have the kernels of a player compiled or loaded before its table is opened, once per game and strength."""
        game = self.game(chosen.game)
        player, name = strengths(game)[chosen.strength], full_name(game)
        if (name, player) not in self._prepared and len(self._prepared) < MAX_PREPARED:
            task = asyncio.get_running_loop().create_task(self._prepared_for(name, player))
            self._prepared[name, player] = task

    async def _prepared_for(self, game: str, player: str) -> None:
        with contextlib.suppress(BadInput):  # it will be told at the table
            async for _ in self.pool.answers(Request("prepare", AHEAD, game, player, 0, 0, [])):
                pass

    # ---------------------------------------------------------------- tables

    async def open(self, new: NewTable) -> Table:
        """Open a table.

        Raises:
            BadInput: The game or a player isn't known, or they don't go together.
        """
        return self.add(await asyncio.to_thread(self._new, new))

    def _new(self, new: NewTable) -> Table:
        game = self.game(new.game)
        if len(new.seats) != game.facts.seats:
            raise Refused(f"{new.game} has {game.facts.seats} seats, not {len(new.seats)}")
        if HUMAN not in new.seats:
            raise Refused("nobody would see the game: one of the seats should be human")
        players = [HUMAN if each == HUMAN else self.player(each, game) for each in new.seats]
        words = [each if each in strengths(game) else "" for each in new.seats]
        return Table(game, players, words, games=new.games)

    def add(self, table: Table) -> Table:
        """Take in a new table and let it begin."""
        self._remember(table)
        self.changed(table)
        return table

    def _remember(self, table: Table) -> None:
        for key in table.keys:
            self._tables[key] = table
        while len(self._tables) > IN_MEMORY:
            key, old = next(iter(self._tables.items()))
            if old.id in self._running or old.id in self._watchers:
                self._tables.move_to_end(key)
                break
            for each in old.keys:  # all of them: else people at one table would have two
                self._tables.pop(each, None)

    def find(self, key: str) -> tuple[Table, int]:
        """The table and the participant of a key.

        Raises:
            Unknown: There is no such table.
            BadInput: It can't be read, or a browser may not name its game or players.
        """
        if key not in self._tables:
            content = self.store.find(key)
            if content is None:
                raise Unknown("there is no such table")
            game = self.game(content["game"])
            for player in content["players"]:
                if player != HUMAN:
                    self.player(player, game)
            table = Table.restored(game, content)
            self._remember(table)
            self._advance(table)
        table = self._tables[key]
        for each in table.keys:
            self._tables.move_to_end(each)
        return table, table.keys[key]

    async def message(self, table: Table, participant: int, language: Any) -> TableView:
        """The table as a person sees it, described in another thread where that may take long."""
        if table.game.facts.hidden:
            await asyncio.to_thread(table.describe, participant, language)
        return table.message(participant, language)

    def change(self, table: Table, do: Callable[..., None], *arguments: Any) -> None:
        """Change a table by one of its methods. Players that are thinking about the old position are forgotten."""
        do(*arguments)
        running = self._running.pop(table.id, None)
        if running is not None:
            running.cancel()
        self.changed(table)

    def changed(self, table: Table) -> None:
        """Save a table, tell who watches it, and let its players move."""
        self._saved(table)
        self._advance(table)

    def _saved(self, table: Table) -> None:
        wrong = self.store.save(table.id, list(table.keys), table.content())
        table.unsaved = f"this game is not saved: {wrong}" if wrong else ""
        self._tell(table, 0)

    # ---------------------------------------------------------------- watching

    @contextlib.contextmanager
    def watching(self, table: Table, tell: Callable[[int], None]) -> Any:
        """Call `tell` with the number of the part that is compiled, and with 0 whenever the table has changed."""
        self._watchers.setdefault(table.id, set()).add(tell)
        try:
            yield
        finally:
            self._watchers[table.id].discard(tell)
            if not self._watchers[table.id]:
                del self._watchers[table.id]

    def _tell(self, table: Table, part: int) -> None:
        for tell in tuple(self._watchers.get(table.id, ())):
            tell(part)

    async def _answers(self, table: Table, request: Request) -> AsyncGenerator[tuple[str, Any], None]:
        """Answers to a request, except that a part of the game is compiled: that is told to those who watch."""
        try:
            async for kind, value in self.pool.answers(request):
                if kind == "compiling":
                    self.parts[table.id] = value
                    self._tell(table, value)
                else:
                    yield kind, value
        finally:
            self.parts.pop(table.id, None)

    # ---------------------------------------------------------------- players

    def _advance(self, table: Table) -> None:
        if table.id not in self._running and table.turn != OVER and not table.trouble:
            task = asyncio.get_running_loop().create_task(self._moves(table))
            self._running[table.id] = task
            task.add_done_callback(functools.partial(self._ended, table))

    def _ended(self, table: Table, task: asyncio.Task) -> None:
        if self._running.get(table.id) is task:
            del self._running[table.id]
        if not task.cancelled() and (error := task.exception()):
            table.trouble = str(error) or type(error).__name__
            self._tell(table, 0)

    async def _moves(self, table: Table) -> None:
        """Play everything that no person decides, until a person is to move."""
        while (turn := table.turn) != OVER:
            action = table.automatic_action()
            if action is None and table.player_at(turn) == HUMAN:
                await self._prepare(table)
                return
            if action is None:
                action = await self._player_move(table, turn)
                table.play(action)
                self._saved(table)
                if table.game.facts.seats > 2 and not table.game.is_announcement(table.states[-2]):
                    await asyncio.sleep(self.pause)
                continue
            table.play(action)
            following = table.turn
            if following == OVER or (following >= 0 and table.player_at(following) == HUMAN):
                self._saved(table)
            await asyncio.sleep(0)

    async def _prepare(self, table: Table) -> None:
        """Have the kernels of a table's players compiled or loaded while a person thinks."""
        players, table.prepared = [] if table.prepared else sorted(set(table.players) - {HUMAN}), True
        for player in players:
            request = self.request(table, "prepare", player, table.turn)._replace(views=[])
            with contextlib.suppress(BadInput):  # it will be told when the player is to move
                async for _ in self._answers(table, request):
                    pass

    async def _player_move(self, table: Table, seat: int) -> int:
        request = self.request(table, "move", table.player_at(seat), seat)
        async with contextlib.aclosing(self._answers(table, request)) as answers:
            async for kind, value in answers:
                if kind == "move":
                    return int(value)
        raise BadInput(f"{request.player} gave no move")

    def request(self, table: Table, kind: str, player: str, seat: int, language: str = "en") -> Request:
        """A request to a worker process about the present position, which holds the seat's views and nothing else."""
        return Request(
            kind=kind,
            table=f"{table.id}/{table.number}",
            game=full_name(table.game),
            player=player,
            seat=seat,
            seed=derived_seed(table.seed, table.number, seat),
            views=[view.tobytes() for view in table.views(seat)],
            language=language,
        )

    async def close(self) -> None:
        tasks = [*self._running.values(), *self._prepared.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
