"""Games of Cuckoo as text, a line each: `cuckoo 1 ann 4>11 bob 9`: ann was dealt a 4 and drew an 11, bob kept a 9."""

import re
from collections.abc import Callable, Iterator
from typing import Any

from kibitz import BadInput
from kibitz.games import Game, full_name
from kibitz.games.record_files import RecordFormat, record_format
from kibitz.games.records import Record

from .rules import KEEP, SWAP, Cuckoo

LINE = re.compile(r"cuckoo (\d{1,9}) (\S+) (\d{1,2})(?:>(\d{1,2}))? (\S+) (\d{1,2})(?:>(\d{1,2}))?")


@record_format("cuckoo")
class CuckooLines(RecordFormat):
    about = "games of Cuckoo, a line each"
    suffix = ".cuckoo"
    rules = "cuckoo"

    def recognizes(self, text: str) -> bool:
        return text.startswith("cuckoo ")

    def plays(self, game: Game) -> bool:
        return isinstance(game, Cuckoo)

    def read(self, text: str, game: Any, left_out: Callable[[str], None]) -> Iterator[tuple[Record, Any]]:
        for place, line in enumerate(text.splitlines(), 1):
            found = LINE.fullmatch(line.strip())
            if not found:
                raise BadInput(f"line {place}: {line[:40]!r} should read: cuckoo 1 ann 4>11 bob 9")
            number, ann, first, drawn, bob, second, drawn_too = found.groups()
            actions = [int(first) - 1, int(second) - 1]
            for card in (drawn, drawn_too):
                actions += [KEEP] if card is None else [SWAP, int(card) - 1]
            held = [int(drawn or first), int(drawn_too or second)]
            payoffs = [1.0, -1.0] if held[0] > held[1] else [-1.0, 1.0]
            record = Record(int(number) - 1, full_name(game), [ann, bob], 0, actions, payoffs)
            yield record, record.verify()

    def write(self, game: Game, record: Record, end: Any, language: str) -> str:
        words = [f"cuckoo {record.number + 1}"]
        for seat, name in enumerate(record.players):
            dealt, held = int(end.dealt[seat]) + 1, int(end.held[seat]) + 1
            words += [name.replace(" ", "_"), f"{dealt}>{held}" if end.swapped[seat] else str(dealt)]
        return " ".join(words) + "\n"
