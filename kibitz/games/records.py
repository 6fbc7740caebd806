"""Records of played games, one line of JSON per game.

    {"number": 3, "game": "leduc", "players": ["oos:1000", "random"], "seed": 1,
     "actions": [0, 2, 1, ...], "payoffs": [1.0, -1.0]}

`players` are in the order of seats. `actions` include chance outcomes, so that replaying them from the opening gives
every position. `record.schema.json` describes a line as a JSON schema, `docs/records.md` for people.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..core.files import parse_json, read_lines, reason
from ..core.names import BadInput, current
from . import OVER, Game, legal_actions, load_stored, positions

FILE = "games.jsonl"  # in a run folder
SCHEMA = Path(__file__).with_name("record.schema.json")
LARGEST = 2**63  # number in a record


class Forfeited(NamedTuple):
    """Who has lost a game without finishing it, and why."""

    seat: int
    reason: str


@dataclass(frozen=True, slots=True)
class Record:
    """A played game."""

    number: int  # of the game in its match, from 0; people are shown `number + 1`
    game: str
    players: list[str]  # by seat
    seed: int  # of the match
    actions: list[int]
    payoffs: list[float]  # by seat
    forfeit: Forfeited | None = None  # where a player couldn't go on; the actions end there

    def line(self) -> str:
        values = {name: getattr(self, name) for name in self.__slots__ if name != "forfeit"}
        return json.dumps(values | ({"forfeit": self.forfeit._asdict()} if self.forfeit else {})) + "\n"

    def replay(self) -> Iterator[tuple[Any, int | None]]:
        """Yield each position with the action played there, the last one with None; BadInput at an illegal action."""
        game = load_stored(self.game)
        state = positions(game)[0]
        for ply, action in enumerate(self.actions):
            if game.turn(state) == OVER or action not in legal_actions(game, state):
                raise BadInput(f"game {self.number + 1}: action {action} at ply {ply + 1} is illegal")
            yield np.array([state], game.state)[0], action
            game.play(state, action)
        yield state, None

    def verify(self) -> Any:
        """The last position; BadInput if an action is illegal, the game is unfinished or the payoffs are wrong."""
        *_, (state, _) = self.replay()
        game = load_stored(self.game)
        if self.forfeit and game.turn(state) != self.forfeit.seat:
            raise BadInput(f"game {self.number + 1} is forfeited by seat {self.forfeit.seat + 1}, which isn't to move")
        if not self.forfeit and game.turn(state) != OVER:
            raise BadInput(f"game {self.number + 1} breaks off after {len(self.actions)} actions")
        if self.forfeit:
            payoffs = forfeit_payoffs(game, self.forfeit.seat)
        else:
            payoffs = [game.payoff(state, seat) for seat in range(game.facts.seats)]
        if len(payoffs) != len(self.payoffs) or not np.allclose(payoffs, self.payoffs):
            raise BadInput(f"game {self.number + 1} pays {payoffs}, not {self.payoffs}")
        return state


def forfeit_payoffs(game: Game, seat: int) -> list[float]:
    """What a game for two pays when a seat forfeits it: the least that can be lost, or won, by its rules."""
    least, most = game.facts.payoffs
    return [float(least if each == seat else most) for each in range(game.facts.seats)]


def read_line(text: str | bytes, where: str) -> Record:
    """A record from its line; `where` names the line in errors."""
    try:
        try:
            values = json.loads(text)
        except ValueError:
            values = parse_json(text)  # slower, and it says what is wrong
        if isinstance(values, dict) and isinstance(values.get("game"), str):
            values["game"] = current(values["game"])
        if isinstance(values, dict) and values.get("forfeit") is not None:
            values["forfeit"] = Forfeited(**values["forfeit"])
        record = Record(**values)
    except (ValueError, TypeError, RecursionError) as error:
        raise BadInput(f"{where} is no record of a game: {reason(error)}") from None
    sound = (
        isinstance(record.game, str)
        and all(type(number) is int and 0 <= number < LARGEST for number in (record.number, record.seed))
        and all(isinstance(part, list) for part in (record.players, record.actions, record.payoffs))
        and all(isinstance(name, str) for name in record.players)
        and all(type(action) is int for action in record.actions)
        and -1 <= min(record.actions, default=0) <= max(record.actions, default=0) < LARGEST
        and all(type(payoff) in (int, float) and -LARGEST < payoff < LARGEST for payoff in record.payoffs)
        and len(record.players) == len(record.payoffs)
        and (record.forfeit is None or (type(record.forfeit.seat), type(record.forfeit.reason)) == (int, str))
        and (record.forfeit is None or 0 <= record.forfeit.seat < len(record.players))
    )
    if not sound:
        raise BadInput(f"{where} is no record of a game: a value has the wrong type")
    return record


def read_records(path: Path) -> list[Record]:
    """All records of a file. A last line that a kill has truncated is left out."""
    return [
        read_line(line, f"{path}, line {i + 1},")
        for i, line in enumerate(read_lines(path, "file of games"))
        if line.endswith(b"\n")
    ]
