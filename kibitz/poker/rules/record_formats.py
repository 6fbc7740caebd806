"""Hands of hold'em in the formats of the ACPC and of PokerStars."""

from collections.abc import Callable, Iterator
from typing import Any

from ...core.names import BadInput
from ...games import Game, full_name, record_files
from ...games.record_files import RecordFormat, record_format
from ...games.records import Record
from . import acpc, pokerstars
from .rules import Holdem


class _Hands(RecordFormat):
    rules = "holdem"

    def plays(self, game: Game) -> bool:
        return isinstance(game, Holdem)


@record_format("acpc")
class Acpc(_Hands):
    about = "hands of hold'em in the format of the Annual Computer Poker Competition"
    suffix = ".acpc"

    def recognizes(self, text: str) -> bool:
        return text.startswith(("STATE", *acpc.NO_HANDS))

    def read(self, text: str, game: Any, left_out: Callable[[str], None]) -> Iterator[tuple[Record, Any]]:
        for hand in acpc.read_acpc_log(game, text, text.count("\n") >= record_files.MANY):
            yield Record(hand.number, full_name(game), hand.names, 0, hand.actions, hand.payoffs), hand.end

    def write(self, game: Game, record: Record, end: Any, language: str) -> str:
        return acpc.write(game, end, record.number, record.players) + "\n"


@record_format("pokerstars")
class PokerStars(_Hands):
    about = "hand histories of PokerStars, heads-up limit hold'em"
    writes = False

    def recognizes(self, text: str) -> bool:
        return text.startswith(pokerstars.MARK)

    def read(self, text: str, game: Any, left_out: Callable[[str], None]) -> Iterator[tuple[Record, Any]]:
        refused: list[str] = []
        read = 0
        for place, lines in pokerstars.hands(text):
            try:
                hand = pokerstars.read(game, lines)
            except BadInput as error:
                refused.append(f"line {place}: {error}")
                continue
            read += 1
            yield Record(hand.number, full_name(game), hand.names, 0, hand.actions, hand.payoffs), hand.end
        if refused and not read:
            more = f" (and {len(refused) - 1:,} more hands)" if len(refused) > 1 else ""
            raise BadInput(f"{refused[0]}{more}")
        for reason in refused:
            left_out(reason)
