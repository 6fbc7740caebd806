"""Players of Kibitz as engines for other programs: the game that the other program leads, and the time to think.

The protocols are in `gtp_server`, `uci_server` and `piskvork_server`. What can't be read is answered with an error, as
each protocol has it, and the position stays as it was.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import IO, Any, NamedTuple

from ..core.names import BadInput, at_least
from ..core.version import __version__
from ..games import OVER, Game, full_name, legal_actions, load, positions, view_of
from ..games.hex import owner
from ..players import make_for

NAME = "Kibitz"
VERSION = __version__
MAX_LINE = 65536  # bytes; the rest of a longer line is another line
LATE = 0.02  # seconds per move that are left for everything but thinking
LEAST = 0.005  # seconds to think, however short the time is
MOVES = 30  # that a game is taken to last where a time is for all the rest of it
FEW = 100  # simulations of the move that compiles


class Clock(NamedTuple):
    """The time of a seat. All is zero where there is no limit."""

    seconds: float = 0.0  # that are left
    moves: int = 0  # for which they are; 0: for the rest of the game
    more: float = 0.0  # seconds that are added per move

    def per_move(self) -> float:
        """Seconds for the next move; 0: no limit."""
        if self.seconds <= 0 and self.more <= 0:
            return 0.0
        share = self.seconds / (self.moves or MOVES) + self.more
        return max(min(share, self.seconds or share) - LATE, LEAST)


class EngineTable:
    """A game for two that another program leads, and the player that moves in it."""

    def __init__(self, game: Game, player: Any, seed: int = 1) -> None:
        """
        Args:
            game: What is played first.
            player: A name or an object.
            seed: Of the player; each game has one made of it and its number.

        Raises:
            BadInput: The player can't play the game.
        """
        at_least("seed", seed, 0)
        self.player, self.seed, self.number = player, seed, 0
        self.change(game)

    def change(self, game: Game) -> None:
        """Play another game from now on, such as one on a larger board; BadInput where the player can't."""
        made = make_for(self.player, game)
        self.game: Any = game
        self.made = made
        self.own_seconds = getattr(made, "seconds", None)
        self.clear()

    def resize(self, **sizes: int) -> None:
        """Begin a game with other parameters, such as the size of the board, if there is one."""
        if any(getattr(self.game, key) != size for key, size in sizes.items()):
            self.change(load(full_name(self.game._replace(**sizes))))  # type: ignore[attr-defined]
        else:
            self.clear()

    def clear(self, state: Any = None) -> None:
        """Begin a new game, or go on from a position."""
        self.states = [positions(self.game)[0] if state is None else state]
        self.begun = -1  # the seat for which the player has begun this game

    @property
    def state(self) -> Any:
        return self.states[-1]

    @property
    def is_over(self) -> bool:
        return int(self.game.turn(self.state)) == OVER

    def play(self, action: int) -> None:
        """Play a move, which must be legal."""
        state, seat = self.state.copy(), int(self.state.to_move)
        self.game.play(state, action)
        if self.game.name == "hex" and state.to_move != OVER and owner(self.game, state, 1 - seat) == seat:
            # The rules look for a chain only when stones placed by turns could form one.
            state.winner, state.to_move = seat, OVER
        self.states.append(state)

    def undo(self) -> None:
        if len(self.states) == 1:
            raise BadInput("there is no move to take back")
        self.states.pop()
        self.begun = -1

    def give_turn(self, seat: int) -> None:
        """Let a seat move, as GTP allows it where stones are only placed."""
        if self.is_over:
            raise BadInput("the game is over")
        if int(self.game.turn(self.state)) != seat:
            if self.game.name == "othello":
                raise BadInput("it is the other's turn")
            self.states[-1] = self.state.copy()
            self.state.to_move = seat

    def think(self, seconds: float = 0.0) -> int:
        """The player's move here.

        Args:
            seconds: To think; 0: as long as the player's name says. A limit of simulations holds beside it.
        """
        if self.is_over:
            raise BadInput("the game is over")
        seat = int(self.game.turn(self.state))
        if self.own_seconds is not None:
            self.made.seconds = seconds or self.own_seconds  # type: ignore[attr-defined]
        if self.begun != seat:
            self.number += 1
            self.made.begin(self.game, seat, (self.seed + self.number) % 2**63)
            self.begun = seat
        action = int(self.made.move(view_of(self.game, self.state, seat)))
        if action not in legal_actions(self.game, self.state):
            raise BadInput(f"the player's move {action} is illegal")
        return action

    def compile(self) -> None:
        """Load or compile the player's kernels by a short move, so that the first one of the game isn't late."""
        simulations = getattr(self.made, "simulations", None)
        if simulations:
            self.made.simulations = min(simulations, FEW)  # type: ignore[attr-defined]
        self.think(LEAST)
        if simulations:
            self.made.simulations = simulations  # type: ignore[attr-defined]
        self.clear()


class Server:
    """A protocol: answers lines until it is told to end."""

    def __init__(self, table: EngineTable) -> None:
        self.table, self.ended = table, False

    def answer(self, line: str) -> str:
        """What is written as an answer to a line; empty: nothing."""
        raise NotImplementedError


def serve(server: Server, lines: Iterable[str], write: Callable[[str], Any]) -> None:
    """Answer lines until the other program says that it is the end, or closes its output."""
    for line in lines:
        answer = server.answer(line)
        if answer:
            write(answer)
        if server.ended:
            break


def lines_of(stream: IO[Any]) -> Iterator[str]:
    """The lines of a stream of bytes, whatever they are, or of text."""
    while line := stream.readline(MAX_LINE):
        text = line if isinstance(line, str) else line.decode(errors="replace")
        yield "".join(letter if letter.isprintable() else " " for letter in text)
