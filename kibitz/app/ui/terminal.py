"""Interactive games in the terminal: asks a person for moves, shows their seat's view, and the kibitzer's advice.

It sees the game only through the views of the person's seat (see `referee.py`), so it can't reveal anything else.
"""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass

from rich.columns import Columns
from rich.console import RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from ...core.names import BadInput
from ...games import CHANCE, OVER, Game, full_name
from ...games.display import display
from ...players import Player
from .formatting import advice_table, either, position, sentence
from .progress import reporting
from .referee import Follower, Referee, derived_seed, describe_step

COMMANDS = {
    "advice": "show the kibitzer's advice (also: a)",
    "undo": "return to your previous move",
    "moves": "list the moves so far, as you saw them",
    "score": "show the score",
    "help": "show this help (also: ?)",
    "quit": "leave the game (also: q, Ctrl-D)",
}
AGAIN = {"yes": ("", "y", "yes"), "no": ("n", "no", "q", "quit", "exit"), "same": ("s", "same")}
SHORT = {"a": "advice", "?": "help", "q": "quit", "exit": "quit"}


class Left(Exception):
    """The person has left the game."""


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
            return "score: no game finished yet"
        drawn = self.games - self.won - self.lost
        counts = [f"{self.won} won", f"{self.lost} lost", *([f"{drawn} drawn"] if drawn else [])]
        return f"score: {self.total:+g} after {self.games} game{'s'[: self.games > 1]} ({', '.join(counts)})"


class TerminalGame:
    """A series of games of one person against players; the person moves on one seat per game."""

    def __init__(
        self,
        game: Game,
        others: list[Player],
        kibitzer: Player,
        ask: Callable[[str], str],  # shows a prompt and returns the answer; raises EOFError at the end of the input
        show: Callable[[RenderableType], None],
        *,
        seat: int = 0,
        seed: int = 1,
        advice: bool = False,  # whether to show advice before each move
        name: str = "the kibitzer",
        language: str = "en",
    ) -> None:
        self.game, self.others, self.kibitzer, self.ask, self.show = game, others, kibitzer, ask, show
        self.seat, self.seed, self.advice, self.name = seat, seed, advice, name
        self.display = display(game, language)
        self.score, self.number = Score(), 1

    def run(self) -> None:
        """Play games until the person leaves."""
        try:
            while True:
                self.play()
                answer = self.ask_again()
                if answer == "no":
                    break
                if answer == "yes":
                    self.number += 1
                    self.seat = (self.seat + 1) % self.game.facts.seats
        except (EOFError, Left):
            self.say("you left the game", "dim")
            self.show_score()

    def play(self) -> None:
        """Play one game."""
        seed = derived_seed(self.seed, self.number)
        self.referee = Referee(self.game, self.seat, self.others, seed)
        self.adviser = Follower(self.kibitzer, self.game, self.seat, derived_seed(seed, self.seat))
        self.events: list[str] = []  # one sentence per turn, empty where the seat saw nothing
        self.planned = ""  # a move that was entered one decision early
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
        """Let another seat or chance move, and describe it."""
        with nullcontext() if turn == CHANCE else reporting(f"seat {turn + 1} is thinking"):
            step = self.referee.step()
        self.events.append(describe_step(self.display, self.seat, step))
        if self.events[-1]:
            self.say(self.events[-1], "yellow")

    def decide(self) -> None:
        """Ask until a move is made or taken back."""
        view, planned, self.planned = self.referee.view(), self.planned, ""
        if planned and not self.game.is_announcement(view):
            self.move(self.parse_move(planned))
            return
        self.show(position(self.display, view, self.seat, self.game.name))
        if self.advice:
            self.advise()
        self.show(self.choices())
        while True:
            text = self.ask("your move> ").strip()
            command = SHORT.get(text.lower(), text.lower())
            if command in COMMANDS and not self.is_move(text):
                if self.execute(command):
                    return
            elif text or "" in self.display.keys(view):
                try:
                    action = self.parse_move(text)
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
        if not self.display.tells(view, action):
            self.events.append("")
            return
        self.say("")
        name = self.display.action_to_string(view, action)
        self.events.append(sentence("you", name, self.game.is_announcement(view)))

    def execute(self, command: str) -> bool:
        """Execute a command; return whether the present decision is void, because a move was taken back."""
        if command == "quit":
            raise Left
        if command == "undo":
            return self.undo()
        {"advice": self.advise, "moves": self.show_moves, "score": self.show_score, "help": self.help}[command]()
        return False

    # ---------------------------------------------------------------- moves

    def moves(self) -> dict[str, int]:
        """Legal moves by name."""
        view = self.referee.view()
        return {self.display.action_to_string(view, action): action for action in self.display.moves(view)}

    def numbered(self) -> bool:
        """Whether moves are numbered: they have no keys, and their names are no numbers themselves."""
        return not self.display.keys(self.referee.view()) and not any(name.isdigit() for name in self.moves())

    def choices(self) -> RenderableType:
        moves, keys = self.moves(), list(self.display.keys(self.referee.view()))
        if not keys and not self.numbered():
            return Text.assemble("moves: ", *((f"{name} ", "bold") for name in moves))
        marks = [key or "Enter" for key in keys] or [str(i + 1) for i in range(len(moves))]
        named = zip(marks, moves, strict=True)
        return Columns([Text.assemble((f"{mark} ", "dim"), (name, "bold")) for mark, name in named], (0, 3))

    def is_move(self, text: str) -> bool:
        return text.lower() in (name.lower() for name in self.moves())

    def parse_move(self, text: str) -> int:
        """Parse a move given by its name, its number or key, or the start of its name."""
        view, moves = self.referee.view(), self.moves()
        keys = self.display.keys(view)
        if text.lower() in keys:
            return keys[text.lower()]
        if not self.is_move(text):
            if self.numbered() and text.isdecimal() and 1 <= int(text) <= len(moves):
                return list(moves.values())[int(text) - 1]
            matches = [name for name in moves if name.lower().startswith(text.lower())]
            if len(matches) > 1:
                raise BadInput(f"{text!r} is ambiguous: {either(matches)}")
            text = matches[0] if matches else text
        return self.display.parse_action(view, text)

    # ---------------------------------------------------------------- commands

    def advise(self) -> None:
        with reporting("the kibitzer is thinking"):
            self.adviser.move(self.referee.views())
        if self.kibitzer.advice is None:
            self.say(f"{self.name} gives no advice", "red")
            return
        table = advice_table(self.display, self.referee.view(), self.kibitzer.advice)
        title = Text(f"{self.name} would play")
        self.show(Panel(table, title=title, title_align="left", border_style="green", expand=False))

    def undo(self) -> bool:
        turns_left = self.referee.undo(lambda view: self.display.unasked(view) < 0)
        if turns_left is None:
            self.say("nothing to take back: this is your first move", "red")
            return False
        del self.events[turns_left:]
        self.planned = ""
        self.say("move taken back", "yellow")
        return True

    def show_moves(self) -> None:
        self.say("; ".join(filter(None, self.events)) or "no moves yet")

    def show_score(self) -> None:
        self.say(str(self.score), "bold")

    def help(self) -> None:
        keyed = bool(self.display.keys(self.referee.view()))
        how = "by its key, its name" if keyed else "by its number, its name" if self.numbered() else "by its name"
        self.say(f"Enter a move {how} or the start of its name, or a command:")
        grid = Table.grid(padding=(0, 2))
        for command, meaning in COMMANDS.items():
            grid.add_row(Text(f"  {command}", "bold"), Text(meaning))
        self.show(grid)

    # ---------------------------------------------------------------- the end of a game

    def end(self) -> None:
        state = self.referee.final_state()
        payoff = float(self.game.payoff(state, self.seat))
        self.score.add(payoff)
        self.show(position(self.display, state, -1, f"game over, everything revealed (you are seat {self.seat + 1})"))
        result = f"you win {payoff:g}" if payoff > 0 else f"you lose {-payoff:g}" if payoff < 0 else "you break even"
        self.say(result, "bold green" if payoff > 0 else "bold red" if payoff < 0 else "bold")
        self.show_score()

    def ask_again(self) -> str:
        """Ask whether to play on: `yes`, `no`, or `same` to replay the same deal."""
        while True:
            text = self.ask("play again? [Y/n/same] ").strip().lower()
            for answer, words in AGAIN.items():
                if text in words:
                    return answer
            self.say("answer y for another game, n to leave, or same to replay this deal", "red")

    def say(self, text: str, style: str = "") -> None:
        self.show(Text(text, style))
