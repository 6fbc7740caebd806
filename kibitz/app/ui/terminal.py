"""Interactive games in the terminal: asks a person for moves, shows their seat's view, and the kibitzer's advice.

It sees the game only through the views of the person's seat (see `referee.py`), so it can't reveal anything else.
"""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from rich.columns import Columns
from rich.console import RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from ...core.names import BadInput, NoMove
from ...games import CHANCE, OVER, Game, full_name
from ...games.display import display
from ...games.records import forfeit_payoffs
from ...play.players import Forfeit, Player, explained
from ...search.advice import Advice
from .formatting import advice_table, compact_moves, position, unit_note, width_beside
from .progress import out, reporting
from .referee import Follower, Referee, derived_seed, describe_step
from .words import ENGLISH, Words

COMMANDS = {
    "advice": "show the kibitzer's advice (also: a)",
    "undo": "return to your previous move",
    "moves": "list the moves so far, as you saw them",
    "score": "show the score",
    "help": "show this help (also: ?)",
    "quit": "leave the game (also: q, Ctrl-D)",
}
AGAIN = {
    "yes": ("", "y", "yes", "j", "ja"),
    "no": ("n", "no", "nein", "q", "quit", "exit", "ende"),
    "same": ("s", "same", "g", "gleich"),
}
SHORT = {"a": "advice", "?": "help", "q": "quit", "exit": "quit"}
SCREEN = 24  # lines: the position stays on the screen above advice, moves and prompt
ADVICE_BESIDE = 9  # lines of a narrow box of advice without those of moves: border, header, the rest, notes
ADVICE_BELOW = 10  # lines below a position without those of advised moves: the other lines of a box, moves and prompt
MANY_MOVES = 30  # more are listed in a compact form


class Left(Exception):
    """The person has left the game."""


@dataclass
class Score:
    total: float = 0.0
    won: int = 0
    lost: int = 0
    games: int = 0
    unit: str = ""  # behind the total

    def add(self, payoff: float) -> None:
        self.total += payoff
        self.won += payoff > 0
        self.lost += payoff < 0
        self.games += 1

    def text(self, words: Words = ENGLISH) -> str:
        if not self.games:
            return words("score: no game finished yet")
        drawn = self.games - self.won - self.lost
        counts = [words("{count} won", count=self.won), words("{count} lost", count=self.lost)]
        counts += [words("{count} drawn", count=drawn)] if drawn else []
        text = f"score: {{total}} after {{games}} game{'s'[: self.games > 1]} ({{counts}})"
        total = f"{words.number(f'{self.total:+g}')} {self.unit}".strip()
        return words(text, total=total, games=self.games, counts=", ".join(counts))


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
        against: str = "",
        language: str = "en",
        ranges: bool = False,  # whether to show the game's `insight` above advice; `name` is then a player's name
    ) -> None:
        self.ranges, self.explained = ranges, False  # whether the legend of the ranges was shown
        self.game, self.others, self.kibitzer, self.ask, self.show = game, others, kibitzer, ask, show
        self.seat, self.seed, self.advice, self.name, self.against = seat, seed, advice, name, against or name
        self.display, self.words = display(game, language), Words(language)
        self.commands = {command: command for command in COMMANDS} | SHORT
        self.commands |= {self.words(command): command for command in COMMANDS}
        self.score, self.number = Score(unit=self.display.symbol), 1

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
            self.say(self.words("you left the game"), "dim")
            self.show_score()

    def play(self) -> None:
        """Play one game."""
        seed = derived_seed(self.seed, self.number)
        self.referee = Referee(self.game, self.seat, self.others, seed)
        self.adviser = Follower(self.kibitzer, self.game, self.seat, derived_seed(seed, self.seat))
        self.events: list[str] = []  # one sentence per turn, empty where the seat saw nothing
        self.planned = ""  # a move that was entered one decision early
        self.last: tuple[Any, int] | None = None  # the last decision: view and action
        text = "game {number} of {game}: you are seat {seat}, against {others} (? for help)"
        asked = {"number": self.number, "game": full_name(self.game), "seat": self.seat + 1, "others": self.against}
        self.say("\n" + self.words(text, **asked), "bold")
        if self.number == 1 and (note := unit_note(self.display, self.words)):
            self.say(note, "dim")
        while (turn := self.game.turn(self.referee.view())) != OVER:
            if turn == self.seat and (action := self.display.forced_action(self.referee.view())) >= 0:
                self.move(action)
            elif turn == self.seat:
                self.decide()
            else:
                try:
                    self.wait(turn)
                except Forfeit as forfeit:
                    self.say(self.words("seat {seat} forfeits: {reason}", seat=turn + 1, reason=forfeit), "red")
                    self.result(forfeit_payoffs(self.game, turn)[self.seat])
                    return
        self.end()

    def wait(self, turn: int) -> None:
        """Let another seat or chance move, and describe it."""
        thinking = self.words("seat {seat} is thinking", seat=turn + 1)
        with nullcontext() if turn == CHANCE else reporting(thinking):
            step = self.referee.step()
            self.events.append(describe_step(self.display, self.seat, step, self.words))
        if self.events[-1]:
            self.say(self.events[-1], "yellow")

    def decide(self) -> None:
        """Ask until a move is made or taken back."""
        view, planned, self.planned = self.referee.view(), self.planned, ""
        if planned and not self.game.is_announcement(view):
            self.move(self.parse_move(planned))
            return
        board = position(self.display, view, self.seat, self.game.name)
        if self.advice:
            self.advise(board)
        else:
            self.show(board)
        self.show(self.choices())
        while True:
            text = self.ask(self.words("your move> ")).strip()
            command = self.commands.get(text.lower())
            if command and not self.is_move(text):
                if self.execute(command):
                    return
            elif text or "" in self.display.keys(view):
                try:
                    action = self.parse_move(text)
                except BadInput as error:
                    if self.add_to_last_move(text):
                        return
                    action, self.planned = self.display.parse_planned(view, text), text
                    if action < 0:
                        self.planned = ""
                        self.say(str(error), "red")
                        continue
                self.last = view, action
                self.move(action)
                return

    def move(self, action: int) -> None:
        view = self.referee.view()
        self.referee.play(action)
        if not self.display.is_visible(view, action):
            self.events.append("")
            return
        self.say("")
        name = self.display.action_to_string(view, action)
        self.events.append(self.words.sentence(self.words("you"), name, self.game.is_announcement(view)))

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
        names = self.moves()
        few = len(names) <= MANY_MOVES
        return few and not self.display.keys(self.referee.view()) and not any(name.isdigit() for name in names)

    def choices(self) -> RenderableType:
        moves, keys = self.moves(), list(self.display.keys(self.referee.view()))
        if not keys and len(moves) > MANY_MOVES:
            return Text.assemble(self.words("moves: "), (self.listed(), "bold"))
        if not keys and not self.numbered():
            return Text.assemble(self.words("moves: "), *((f"{name} ", "bold") for name in moves))
        marks = [key or self.words("Enter") for key in keys] or [str(i + 1) for i in range(len(moves))]
        named = zip(marks, moves, strict=True)
        return Columns([Text.assemble((f"{mark} ", "dim"), (name, "bold")) for mark, name in named], (0, 3))

    def listed(self) -> str:
        """The names of all moves; of many in a compact form."""
        moves = list(self.moves())
        if len(moves) <= MANY_MOVES:
            return ", ".join(moves)
        return self.words("{moves} ({count} moves)", moves=compact_moves(moves), count=len(moves))

    def is_move(self, text: str) -> bool:
        return text.lower() in (name.lower() for name in self.moves())

    def parse_move(self, text: str) -> int:
        """Parse a move given by its name, its number or key, or the start of its name."""
        view, moves = self.referee.view(), self.moves()
        keys = self.display.keys(view)
        if text.lower() in keys:
            return keys[text.lower()]
        if not self.is_move(text):
            if self.numbered() and text.isdecimal() and len(text) < 6 and 1 <= int(text) <= len(moves):
                return list(moves.values())[int(text) - 1]
            matches = [name for name in moves if name.lower().startswith(text.lower())]
            if len(matches) > 1:
                options = self.words.examples(matches)
                raise BadInput(self.words("{text} is ambiguous: {moves}", text=repr(text), moves=options))
            text = matches[0] if matches else text
        try:
            return int(self.display.parse_action(view, text))
        except NoMove:
            short = text if len(text) <= 40 else f"{text[:40]}..."
            what = self.words("{text} is no move here: {moves}", text=repr(short), moves=self.listed())
            raise BadInput(what) from None

    def add_to_last_move(self, text: str) -> bool:
        """Replace the last move if the text adds to it, such as a second announcement before the next card."""
        if self.last is None:
            return False
        before, action = self.last
        both = self.display.parse_addition(before, action, text)
        if both < 0:
            return False
        self.take_back()
        self.last = before, both
        self.move(both)
        return True

    # ---------------------------------------------------------------- commands

    def advise(self, board: Panel | None = None) -> None:
        """Show advice, with the position `board` where that isn't shown yet: beside it if there is room."""
        with reporting(self.words("the kibitzer is thinking")):
            self.adviser.move(self.referee.views())
            advice = explained(self.kibitzer, self.referee.view())
        if advice is None:
            if board:
                self.show(board)
            self.say(self.words("{name} gives no advice", name=self.name), "red")
            return
        if self.ranges:
            self.show_insight()
        lines = len(self.display.show(self.referee.view(), self.seat).splitlines()) + 2
        if board and (width := width_beside(board, out)):
            both = Table.grid()
            both.add_row(board, self.advice_box(advice, lines - ADVICE_BESIDE, 0, width))
            self.show(both)
            return
        if board:
            self.show(board)
        self.show(self.advice_box(advice, SCREEN - lines - ADVICE_BELOW))

    def show_insight(self) -> None:
        """Show what lies behind the kibitzer's advice, where the game has that: such as ranges of hands."""
        find = getattr(self.game, "insight", None)
        if find is None:
            return
        with reporting(self.words("the kibitzer is thinking")):
            insight = find(self.referee.view(), self.seat, self.name)
        if insight is not None:
            self.show(insight.shown(out.width, self.words, legend=not self.explained))
            self.explained = True

    def advice_box(self, advice: Advice, rows: int, bars: int = 20, width: int | None = None) -> Panel:
        """Advice in a box: the best of the moves, at least three."""
        table = advice_table(self.display, self.referee.view(), advice, self.words, max(rows, 3), bars)
        title = Text(self.words("{name} would play", name=self.name))
        return Panel(table, title=title, title_align="left", border_style="green", expand=False, width=width)

    def take_back(self) -> bool:
        """Return to the last move that was asked for; False where there is none."""
        turns_left = self.referee.undo(lambda view: self.display.forced_action(view) < 0)
        if turns_left is None:
            return False
        del self.events[turns_left:]
        self.planned, self.last = "", None
        return True

    def undo(self) -> bool:
        if not self.take_back():
            self.say(self.words("nothing to take back: this is your first move"), "red")
            return False
        self.say(self.words("move taken back"), "yellow")
        return True

    def show_moves(self) -> None:
        self.say("; ".join(filter(None, self.events)) or self.words("no moves yet"))

    def show_score(self) -> None:
        self.say(self.score.text(self.words), "bold")

    def help(self) -> None:
        keyed = bool(self.display.keys(self.referee.view()))
        how = "its key, its name" if keyed else "its number, its name" if self.numbered() else "its name"
        self.say(self.words(f"Enter a move by {how} or the start of its name, or a command:"))
        grid = Table.grid(padding=(0, 2))
        for command, meaning in COMMANDS.items():
            grid.add_row(Text(f"  {self.words(command)}", "bold"), Text(self.words(meaning)))
        self.show(grid)

    # ---------------------------------------------------------------- the end of a game

    def end(self) -> None:
        state = self.referee.final_state()
        title = self.words("game over, everything revealed (you are seat {seat})", seat=self.seat + 1)
        self.show(position(self.display, state, -1, title))
        self.result(float(self.game.payoff(state, self.seat)))

    def result(self, payoff: float) -> None:
        """Show what the person gets, and the score."""
        self.score.add(payoff)
        result = "you win {points}" if payoff > 0 else "you lose {points}" if payoff < 0 else "you break even"
        style = "bold green" if payoff > 0 else "bold red" if payoff < 0 else "bold"
        points = f"{self.words.number(f'{abs(payoff):g}')} {self.display.symbol}".strip()
        self.say(self.words(result, points=points), style)
        self.show_score()

    def ask_again(self) -> str:
        """Ask whether to play on: `yes`, `no`, or `same` to replay the same deal."""
        while True:
            text = self.ask(self.words("play again? [Y/n/same] ")).strip().lower()
            for answer, words in AGAIN.items():
                if text in words:
                    return answer
            self.say(self.words("answer y for another game, n to leave, or same to replay this deal"), "red")

    def say(self, text: str, style: str = "") -> None:
        self.show(Text(text, style))
