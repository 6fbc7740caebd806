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

from ...core.names import BadInput
from ...games import CHANCE, OVER, Game, full_name
from ...games.display import display
from ...players import Player
from .formatting import advice_table, either, position, sentence
from .progress import waiting
from .referee import Led, Referee, mixed
from .seen import told

COMMANDS = {
    "advice": "what the kibitzer would do here (or: a)",
    "undo": "back to your previous move",
    "moves": "the game so far, as you saw it",
    "score": "who is ahead",
    "help": "this (or: ?)",
    "quit": "leave the table (or: q, Ctrl-D)",
}
AGAIN = {"yes": ("", "y", "yes"), "no": ("n", "no", "q", "quit", "exit"), "same": ("s", "same")}
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
        language: str = "en",
    ) -> None:
        self.game, self.others, self.kibitzer, self.ask, self.tell = game, others, kibitzer, ask, tell
        self.seat, self.seed, self.advice, self.name = seat, seed, advice, name
        self.display = display(game, language)
        self.score, self.number = Score(), 1

    def sit(self) -> None:
        """Play until the person has had enough."""
        try:
            while True:
                self.play()
                answer = self.again()
                if answer == "no":
                    break
                if answer == "yes":
                    self.number += 1
                    self.seat = (self.seat + 1) % self.game.facts.seats
        except (EOFError, Left):
            self.say("you left the table", "dim")
            self.standing()

    def play(self) -> None:
        """One game."""
        seed = mixed(self.seed, self.number)
        self.referee = Referee(self.game, self.seat, self.others, seed)
        self.adviser = Led(self.kibitzer, self.game, self.seat, mixed(seed, self.seat))
        self.events: list[str] = []  # a sentence a turn, empty where nothing was seen
        self.planned = ""  # said at the turn before
        self.say(f"\ngame {self.number} of {full_name(self.game)}: you are seat {self.seat + 1} (? for help)", "bold")
        while (turn := self.game.turn(self.referee.view())) != OVER:
            if turn == self.seat and (action := self.display.unasked(self.referee.view())) >= 0:
                self.move(action)
            elif turn == self.seat:
                self.decide()
            else:
                self.wait(turn)
        self.end()

    def wait(self, turn: int) -> None:
        """Another seat moves, or chance."""
        with nullcontext() if turn == CHANCE else waiting(f"seat {turn + 1} thinks"):
            step = self.referee.step()
        self.events.append(told(self.display, self.seat, step))
        if self.events[-1]:
            self.say(self.events[-1], "yellow")

    def decide(self) -> None:
        """Ask until there is a move, or one is taken back."""
        view, planned, self.planned = self.referee.view(), self.planned, ""
        if planned and not self.game.is_announcement(view):
            self.move(self.read(planned))
            return
        self.tell(position(self.display, view, self.seat, self.game.name))
        if self.advice:
            self.advise()
        self.tell(self.choices())
        while True:
            text = self.ask("your move> ").strip()
            command = SHORT.get(text.lower(), text.lower())
            if command in COMMANDS and not self.exact(text):
                if self.obey(command):
                    return
            elif text or "" in self.display.keys(view):
                try:
                    action = self.read(text)
                except BadInput as error:
                    action, self.planned = self.display.ahead(view, text), text
                    if action < 0:
                        self.planned = ""
                        self.say(str(error), "red")
                        continue
                self.move(action)
                return

    def move(self, action: int) -> None:
        view = self.referee.view()
        self.referee.play(action)
        if self.display.tells(view, action):
            self.say("")
        told = sentence("you", self.display.action_to_string(view, action), self.game.is_announcement(view))
        self.events.append(told if self.display.tells(view, action) else "")

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
        return {self.display.action_to_string(view, action): action for action in self.display.moves(view)}

    def numbered(self) -> bool:
        """Moves have numbers, unless they have keys or their names are numbers themselves."""
        return not self.display.keys(self.referee.view()) and not any(word.isdigit() for word in self.words())

    def choices(self) -> RenderableType:
        words, keys = self.words(), list(self.display.keys(self.referee.view()))
        if not keys and not self.numbered():
            return Text.assemble("moves: ", *((f"{word} ", "bold") for word in words))
        marks = [key or "Enter" for key in keys] or [str(i + 1) for i in range(len(words))]
        named = zip(marks, words, strict=True)
        return Columns([Text.assemble((f"{mark} ", "dim"), (word, "bold")) for mark, word in named], (0, 3))

    def exact(self, text: str) -> bool:
        return text.lower() in (word.lower() for word in self.words())

    def read(self, text: str) -> int:
        """A move by its name, its number or key, or the beginning of its name."""
        view, words = self.referee.view(), self.words()
        keys = self.display.keys(view)
        if text.lower() in keys:
            return keys[text.lower()]
        if not self.exact(text):
            if self.numbered() and text.isdecimal() and 1 <= int(text) <= len(words):
                return list(words.values())[int(text) - 1]
            fits = [word for word in words if word.lower().startswith(text.lower())]
            if len(fits) > 1:
                raise BadInput(f"{text!r} could be {either(fits)}")
            text = fits[0] if fits else text
        return self.display.parse_action(view, text)

    # ---------------------------------------------------------------- commands

    def advise(self) -> None:
        with waiting("the kibitzer thinks"):
            self.adviser.move(self.referee.views())
        if self.kibitzer.advice is None:
            self.say(f"{self.name} gives no advice", "red")
            return
        table = advice_table(self.display, self.referee.view(), self.kibitzer.advice)
        title = Text(f"{self.name} would play")
        self.tell(Panel(table, title=title, title_align="left", border_style="green", expand=False))

    def undo(self) -> bool:
        left = self.referee.back(lambda view: self.display.unasked(view) < 0)
        if left is None:
            self.say("nothing to take back: this is your first move", "red")
            return False
        del self.events[left:]
        self.planned = ""
        self.say("taken back", "yellow")
        return True

    def history(self) -> None:
        self.say("; ".join(filter(None, self.events)) or "nothing has happened yet")

    def standing(self) -> None:
        self.say(str(self.score), "bold")

    def help(self) -> None:
        keyed = bool(self.display.keys(self.referee.view()))
        how = "by its key, its name" if keyed else "by its number, its name" if self.numbered() else "by its name"
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
        self.tell(position(self.display, truth, -1, title))
        won = f"you win {payoff:g}" if payoff > 0 else f"you lose {-payoff:g}" if payoff < 0 else "nobody wins"
        self.say(won, "bold green" if payoff > 0 else "bold red" if payoff < 0 else "bold")
        self.standing()

    def again(self) -> str:
        """yes, no, or the same: these cards once more."""
        while True:
            text = self.ask("play again? [Y/n/same] ").strip().lower()
            for answer, words in AGAIN.items():
                if text in words:
                    return answer
            self.say("y for another game, n to leave, same for these cards once more", "red")

    def say(self, text: str, style: str = "") -> None:
        self.tell(Text(text, style))
