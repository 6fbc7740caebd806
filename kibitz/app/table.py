"""A table to play at: asks a person for moves, tells what their seat sees, and what the kibitzer would do.

It knows the game through the views of the person's seat only (see `referee.py`), so it
can't give away more.
"""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass

from rich.columns import Columns
from rich.console import RenderableType
from rich.panel import Panel
from rich.table import Table as Grid
from rich.text import Text

from ..games import CHANCE, OVER, Game, full_name, legal_actions
from ..names import BadInput
from ..players import Player
from .progress import waiting
from .referee import Led, Referee, mixed
from .seen import told
from .words import advice_table, either, position, sentence

COMMANDS = {
    "advice": "what the kibitzer would do here (or: a)",
    "undo": "back to your previous move",
    "moves": "the game so far, as you saw it",
    "score": "who is ahead",
    "help": "this (or: ?)",
    "quit": "leave the table (or: q, Ctrl-D)",
}
SHORT = {"a": "advice", "?": "help", "q": "quit", "exit": "quit"}


class Left(Exception):
    """The person has left the table."""


@dataclass
class Score:
    total: float = 0.0
    won: int = 0
    lost: int = 0
    games: int = 0

    def add(self, payoff: float) -> None:
        self.total += payoff
        self.won += payoff > 0
        self.lost += payoff < 0
        self.games += 1

    def __str__(self) -> str:
        if not self.games:
            return "score: no game was finished yet"
        drawn = self.games - self.won - self.lost
        counts = [f"{self.won} won", f"{self.lost} lost", *([f"{drawn} drawn"] if drawn else [])]
        return f"score: {self.total:+g} after {self.games} game{'s'[: self.games > 1]} ({', '.join(counts)})"


class Table:
    """Games one after the other, from the next seat each time."""

    def __init__(
        self,
        game: Game,
        others: list[Player],
        kibitzer: Player,
        ask: Callable[[str], str],  # raises EOFError when nobody answers any more
        tell: Callable[[RenderableType], None],
        *,
        seat: int = 0,
        seed: int = 1,
        advice: bool = False,
        name: str = "the kibitzer",
    ) -> None:
        self.game, self.others, self.kibitzer, self.ask, self.tell = game, others, kibitzer, ask, tell
        self.seat, self.seed, self.advice, self.name = seat, seed, advice, name
        self.score = Score()

    def sit(self) -> None:
        """Play until the person has had enough."""
        try:
            while True:
                self.play()
                if not self.again():
                    break
                self.seat = (self.seat + 1) % self.game.facts.seats
        except (EOFError, Left):
            self.say("you left the table", "dim")
            self.standing()

    def play(self) -> None:
        """One game."""
        number = self.score.games + 1
        seed = mixed(self.seed, number)
        self.referee = Referee(self.game, self.seat, self.others, seed)
        self.adviser = Led(self.kibitzer, self.game, self.seat, mixed(seed, self.seat))
        self.events: list[str] = []  # a sentence a turn, empty where nothing was seen
        self.say(f"\ngame {number} of {full_name(self.game)}: you are seat {self.seat + 1} (? for help)", "bold")
        while (turn := self.game.turn(self.referee.view())) != OVER:
            if turn == self.seat:
                self.decide()
            else:
                self.wait(turn)
        self.end()

    def wait(self, turn: int) -> None:
        """Another seat moves, or chance."""
        with nullcontext() if turn == CHANCE else waiting(f"seat {turn + 1} thinks"):
            step = self.referee.step()
        self.events.append(told(self.game, self.seat, step))
        if self.events[-1]:
            self.say(self.events[-1], "yellow")

    def decide(self) -> None:
        """Ask until there is a move, or one is taken back."""
        view = self.referee.view()
        self.tell(position(self.game, view, self.seat, self.game.name))
        if self.advice:
            self.advise()
        self.tell(self.choices())
        while True:
            text = self.ask("your move> ").strip()
            command = SHORT.get(text.lower(), text.lower())
            if command in COMMANDS and not self.exact(text):
                if self.obey(command):
                    return
            elif text:
                try:
                    action = self.read(text)
                except BadInput as error:
                    self.say(str(error), "red")
                    continue
                self.referee.play(action)
                self.say("")
                self.events.append(sentence("you", self.game.spell(view, action)))
                return

    def obey(self, command: str) -> bool:
        """Whether this decision is off, because a move was taken back."""
        if command == "quit":
            raise Left
        if command == "undo":
            return self.undo()
        {"advice": self.advise, "moves": self.history, "score": self.standing, "help": self.help}[command]()
        return False

    # ---------------------------------------------------------------- moves

    def words(self) -> dict[str, int]:
        view = self.referee.view()
        return {self.game.spell(view, action): action for action in legal_actions(self.game, view)}

    def numbered(self) -> bool:
        """Moves have numbers, unless their names are numbers themselves."""
        return not any(word.isdigit() for word in self.words())

    def choices(self) -> RenderableType:
        words = self.words()
        if not self.numbered():
            return Text.assemble("moves: ", *((f"{word} ", "bold") for word in words))
        return Columns([Text.assemble((f"{i + 1} ", "dim"), (word, "bold")) for i, word in enumerate(words)], (0, 3))

    def exact(self, text: str) -> bool:
        return text.lower() in (word.lower() for word in self.words())

    def read(self, text: str) -> int:
        """A move by its name, its number, or the beginning of its name."""
        words = self.words()
        if not self.exact(text):
            if self.numbered() and text.isdecimal() and 1 <= int(text) <= len(words):
                return list(words.values())[int(text) - 1]
            fits = [word for word in words if word.lower().startswith(text.lower())]
            if len(fits) > 1:
                raise BadInput(f"{text!r} could be {either(fits)}")
            text = fits[0] if fits else text
        return self.game.read(self.referee.view(), text)

    # ---------------------------------------------------------------- commands

    def advise(self) -> None:
        with waiting("the kibitzer thinks"):
            self.adviser.move(self.referee.views())
        if self.kibitzer.advice is None:
            self.say(f"{self.name} gives no advice", "red")
            return
        table = advice_table(self.game, self.referee.view(), self.kibitzer.advice)
        title = Text(f"{self.name} would play")
        self.tell(Panel(table, title=title, title_align="left", border_style="green", expand=False))

    def undo(self) -> bool:
        left = self.referee.back()
        if left is None:
            self.say("nothing to take back: this is your first move", "red")
            return False
        del self.events[left:]
        self.say("taken back", "yellow")
        return True

    def history(self) -> None:
        self.say("; ".join(filter(None, self.events)) or "nothing has happened yet")

    def standing(self) -> None:
        self.say(str(self.score), "bold")

    def help(self) -> None:
        how = "by its name" if not self.numbered() else "by its number, its name"
        self.say(f"Give a move {how} or the beginning of its name. Or:")
        grid = Grid.grid(padding=(0, 2))
        for command, meaning in COMMANDS.items():
            grid.add_row(Text(f"  {command}", "bold"), Text(meaning))
        self.tell(grid)

    # ---------------------------------------------------------------- the end of a game

    def end(self) -> None:
        truth = self.referee.truth()
        payoff = float(self.game.payoff(truth, self.seat))
        self.score.add(payoff)
        title = f"the end, all cards open (you are seat {self.seat + 1})"
        self.tell(position(self.game, truth, -1, title))
        won = f"you win {payoff:g}" if payoff > 0 else f"you lose {-payoff:g}" if payoff < 0 else "nobody wins"
        self.say(won, "bold green" if payoff > 0 else "bold red" if payoff < 0 else "bold")
        self.standing()

    def again(self) -> bool:
        while True:
            text = self.ask("play again? [Y/n] ").strip().lower()
            if text in ("", "y", "yes"):
                return True
            if text in ("n", "no", "q", "quit", "exit"):
                return False
            self.say("y for another game, n to leave", "red")

    def say(self, text: str, style: str = "") -> None:
        self.tell(Text(text, style))
