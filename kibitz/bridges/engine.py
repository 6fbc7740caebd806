"""Programs of others as players: engines that speak UCI, GTP or the protocol of Gomocup."""

import os
from typing import Annotated, Any

import numpy as np

from ..core.names import PATH, BadInput, Interval, as_path
from ..core.programs import Lost, command_of
from ..core.trust import trust
from ..games import Game, legal_actions
from ..games.engine_notation import AUTO, DIALECTS, dialect_of
from ..play.players.player import Forfeit, player, same
from ..search.advice import Advice, fixed_advice
from .engine_dialects import Dialect, Piskvork, Uci
from .engine_gtp import Gtp

THINKING = Interval(0.001, 86400)
SPEAKERS: dict[str, type[Dialect]] = {"uci": Uci, "gtp": Gtp, "piskvork": Piskvork}


@player("engine")
class Engine:
    """A program on this machine that plays by UCI, GTP or Gomocup's protocol, such as Fairy-Stockfish."""

    plays = ", ".join(f"{game} ({', '.join(dialects)})" for game, dialects in DIALECTS.items())
    example = "fairy-stockfish,seconds=1"
    has_kernels = False
    advice: Advice | None = None

    def __init__(
        self,
        path: Annotated[str, "the program: its name or path, and its arguments, without commas"],
        dialect: Annotated[str, "what it speaks; auto: what is usual for the game", (AUTO, *SPEAKERS)] = AUTO,
        variant: Annotated[str, "what the engine calls the game (UCI_Variant of UCI, set_game of GTP)"] = "",
        seconds: Annotated[float, "seconds per move", THINKING] = 1.0,
        overtime: Annotated[float, "seconds beyond these after which it forfeits the game", THINKING] = 5.0,
        folder: Annotated[str, "where the program runs; none: in the current folder", PATH] = "",
    ) -> None:
        if not trust().allows_program(path):
            raise BadInput(
                f"the player engine:{path} was read from a file and would start that program: "
                "if you trust it, give --trust (in Python trust=True)"
            )
        if not variant.isprintable():
            raise BadInput(f"variant={variant!r} should be one line of text")
        self.folder = str(as_path(folder)) if folder else ""
        if folder and not os.path.isdir(self.folder):
            raise BadInput(f"folder={folder} is no folder")
        self.path, self.command = path, command_of(path)
        self.dialect, self.variant, self.seconds, self.overtime = dialect, variant, seconds, overtime
        self.engine: Dialect | None = None
        self.trouble = ""  # why an engine that has played couldn't be started again

    def begin(self, game: Game, seat: int, seed: int) -> None:
        """Begin a game. The seed is not used: engines have no common way to set one."""
        dialect = dialect_of(game, self.dialect)
        if self.engine is not None and not same(self.engine.game, game):
            self.close()
        has_played, self.trouble = hasattr(self, "game"), ""
        try:
            try:
                if self.engine is None:
                    raise Lost("isn't there")
                self.engine.getting_ready = True
                self.engine.new_game()
            except Lost:
                self.close()
                options = self.variant, self.seconds, self.overtime, self.folder
                self.engine = SPEAKERS[dialect](self.command, game, *options)
                self.engine.new_game()
        except Lost as lost:
            self.close()
            if not has_played:
                raise BadInput(f"{self.path} {lost}: does it speak {dialect}?") from None
            self.trouble = f"{self.path} {lost}"
        self.game, self.seat = game, seat

    def opened(self, actions: list[int]) -> None:
        """Hear the random moves with which a game begins, right after `begin`: a position may not tell them."""
        if self.engine is not None:
            self.engine.path = list(actions)

    def move(self, view: Any) -> int:
        if self.engine is None:
            raise Forfeit(self.trouble or f"{self.path} was ended")
        self.engine.seconds, self.engine.getting_ready = self.seconds, False
        try:
            action = self.engine.move(view, self.seat)
        except Lost as lost:
            self.close()
            self.trouble = f"{self.path} {lost}"
            raise Forfeit(self.trouble) from None
        self.advice = fixed_advice(self.game, view, (np.array(legal_actions(self.game, view)) == action).astype(float))
        return action

    def close(self) -> None:
        """End the program. The next game starts it again."""
        if self.engine is not None:
            self.engine.program.close()
        self.engine = None
