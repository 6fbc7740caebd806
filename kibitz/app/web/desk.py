"""What runs in a worker process: the players that answer requests to move, to advise and to review."""

import contextlib
import os
import signal
import traceback
from collections import OrderedDict
from collections.abc import Iterator
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

import numpy as np

from ...core import progress
from ...core.names import BadInput
from ...core.trust import Trust, use_trust
from ...games import CHANCE, Game, legal_actions, load, positions, view_of
from ...jit import generators
from ...play.players import Player, make_for
from ...play.players.search import SearchPlayer
from ...play.players.thinking import growing_advice
from ..ui.referee import Follower, hurried
from .insight import MOVES, advised, adviser_said, believed, patterns_behind
from .reviewing import review_lines

FOLLOWERS = 500  # players in a game that a process remembers; a forgotten one is shown its views again
FOLLOWED = 8_000_000  # simulations per move of all of them together: their trees take about 100 bytes for each
PER_SECOND = 1_000_000  # simulations that a player with a limit of time is taken to do
ADVISERS = 16
GAMES = 16
PREPARED = 100  # players in games
MAX_SECONDS, MAX_SIMULATIONS = 10.0, 1_000_000  # per move
FEW = 1000  # simulations of a move that only prepares
ADVICE_SECONDS = 3.0  # of thinking about one position


class Request(NamedTuple):
    """A view to move at, or to advise on; or a player whose kernels are wanted soon."""

    kind: str  # "move", "prepare", "advise", "review", or "study": advice by a process of low priority
    table: str  # names a game at a table: a player remembers what it has seen there
    game: str
    player: str
    seat: int
    seed: int
    views: list[bytes]  # the seat's views at each of its turns so far
    language: str = "en"
    record: str = ""  # a finished game to review


def serve(pipe: Connection, trusted: Trust, nice: int = 0) -> None:
    """Main function of a worker process: answer requests until the parent closes the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if nice and hasattr(os, "nice"):
        os.nice(nice)
    use_trust(trusted)
    parts = 0  # compiled for the present request

    def compiling(name: str | None) -> None:
        nonlocal parts
        parts += name is not None
        pipe.send(("compiling", parts if name is not None else 0))

    progress.on_compile = compiling
    desk = Desk()
    with contextlib.suppress(EOFError, ConnectionError):
        while True:
            request = pipe.recv()
            if request is None:  # a cancellation that came too late
                continue
            parts = 0
            try:
                for answer in desk.answers(request):
                    pipe.send(answer)
                    if pipe.poll():
                        pipe.recv()
                        break
                pipe.send(("done", None))
            except BadInput as error:
                pipe.send(("refused", str(error)))
            except Exception:
                pipe.send(("failed", traceback.format_exc().strip().rpartition("\n")[2]))


class Desk:
    """The players of one worker process."""

    def __init__(self) -> None:
        self._games: OrderedDict[tuple, Game] = OrderedDict()  # by name
        self._followers: OrderedDict[tuple, Follower] = OrderedDict()  # by game at a table, seat and player
        self._advisers: OrderedDict[tuple, Player] = OrderedDict()
        self._prepared: OrderedDict[tuple, None] = OrderedDict()  # games and players whose kernels are loaded

    def answers(self, request: Request) -> Iterator[tuple[str, Any]]:
        game: Game = recalled(self._games, (request.game,), lambda: load(request.game), GAMES)
        if request.kind == "review":
            yield from review_lines(game, request.record, request.player, request.seed, request.language)
            return
        views = [np.frombuffer(view, game.state)[0].copy() for view in request.views]
        if request.kind == "prepare":
            recalled(self._prepared, (request.game, request.player), lambda: prepare(request.player, game), PREPARED)
            return
        if request.kind == "move":
            yield "move", int(self._follower(game, request).move(views))
            return
        yield from self._advice(game, views[-1], request)

    def _advice(self, game: Game, view: Any, request: Request) -> Iterator[tuple[str, Any]]:
        """Advice that grows. What lies behind it follows its first form, and its last where that lists other moves."""
        player, seat, language, study = request.player, request.seat, request.language, request.kind == "study"
        adviser = recalled(self._advisers, (request.game, player), lambda: checked(player, game), ADVISERS)
        budget = 0, ADVICE_SECONDS
        if study:  # as much as the name of the adviser says
            budget = getattr(adviser, "simulations", 0) or 0, getattr(adviser, "seconds", 0) or MAX_SECONDS
        seconds = ADVICE_SECONDS if isinstance(adviser, SearchPlayer) else 0.0  # others need no time
        said: Any = {} if study else {"label": adviser_said(player, game, language, seconds)}
        found: dict[str, Any] = {}
        shown: list[Any] | None = [] if study else None
        for advice in growing_advice(adviser, game, view, seat, *budget, seed=request.seed):
            found = said | advised(game, view, advice, language)
            yield "advice", found | {"finished": False}
            if shown is None:
                shown = patterns_behind(player, game, view, seat, advice, language) or []
                yield "insight", {"beliefs": believed(player, game, view, seat, language), "patterns": shown}
        yield "advice", found | {"finished": True}
        if shown and {move["action"] for move in shown} != {move["action"] for move in found["moves"][:MOVES]}:
            yield "insight", {"beliefs": None, "patterns": patterns_behind(player, game, view, seat, advice, language)}

    def _follower(self, game: Game, request: Request) -> Follower:
        """The player of a seat, which has followed the game. Those of earlier games at the table are forgotten."""
        known, key = self._followers, (request.table, request.seat, request.player)
        if key not in known:
            table = request.table.partition("/")[0] + "/"
            for old in [each for each in known if each[0].startswith(table) and each[0] != request.table]:
                del known[old]

        def new() -> Follower:
            return Follower(checked(request.player, game), game, request.seat, request.seed)

        found: Follower = recalled(known, key, new, FOLLOWERS)
        while len(known) > 1 and sum(effort(each.player) for each in known.values()) > FOLLOWED:
            known.popitem(last=False)
        return found


def effort(player: Any) -> float:
    """Simulations that a player does per move, roughly."""
    seconds, simulations = (getattr(player, key, 0) or 0 for key in ("seconds", "simulations"))
    return simulations or PER_SECOND * seconds


def recalled(known: OrderedDict, key: tuple, new: Any, most: int) -> Any:
    """The cached value of a key, computed if it is missing; the least recently used ones are dropped."""
    if key not in known:
        known[key] = new()
        while len(known) > most:
            known.popitem(last=False)
    known.move_to_end(key)
    return known[key]


def prepare(name: str, game: Game) -> None:
    """Let a player make one move in a game of its own: that compiles its kernels, or loads them."""
    state, rng = positions(game)[0], generators(1, 1)[0]
    while (turn := int(game.turn(state))) == CHANCE or (turn >= 0 and game.is_announcement(state)):
        game.play(state, int(game.sample_action(state, rng)) if turn == CHANCE else legal_actions(game, state)[0])
    if turn >= 0:
        player: Any = checked(name, game)
        if getattr(player, "simulations", 0) > FEW:
            player.simulations = FEW
        player.begin(game, turn, 1)
        with hurried(player):
            player.move(view_of(game, state, turn))


def checked(name: str, game: Game) -> Player:
    """Make a player whose budget lets others play, too."""
    player = make_for(name, game)
    seconds, simulations = (getattr(player, key, 0) or 0 for key in ("seconds", "simulations"))
    if seconds > MAX_SECONDS or simulations > MAX_SIMULATIONS:
        most = f"at most {MAX_SECONDS:g} seconds or {MAX_SIMULATIONS:,} simulations per move"
        raise BadInput(f"{name} thinks too long for this table: give it {most}")
    return player
