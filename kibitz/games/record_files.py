"""Reads recorded games of any format that Kibitz knows, and recognizes the format."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ..core.files import read_text
from ..core.names import BadInput, located
from . import Game, full_name, load, load_stored, positions
from .doppelkopf import notation, thesis_lines
from .game import SCRATCH
from .holdem import Holdem, acpc, pokerstars
from .records import FILE, Record, read_line, read_records

MANY = 1000  # games for which it pays to compile the rules
UNKNOWN = "unknown"  # the player of a format without names
RULES = {"thesis": "doppelkopf:thesis", "acpc": "holdem", "pokerstars": "holdem"}  # the game where none is named


def looks_like(text: str) -> str:
    """The format of recorded games: json, text, thesis, acpc or pokerstars."""
    first = text.lstrip()
    if first.startswith(("STATE", *acpc.NO_HANDS)):
        return "acpc"
    if first.lstrip("\ufeff").startswith(pokerstars.MARK):
        return "pokerstars"
    return "json" if first.startswith("{") else "text" if first.startswith(("game ", "Spiel ")) else "thesis"


def read_games(
    text: str,
    read_as: str | None = None,
    rules: str | None = None,
    form: thesis_lines.Form | None = None,
    left_out: Callable[[str], None] = lambda reason: None,
) -> Iterator[tuple[Record, Any]]:
    """Yield each recorded game of Doppelkopf or hold'em with its last position.

    Args:
        text: The content of a file.
        read_as: Its format; None: as `looks_like` says.
        rules: The game that was played, for the formats of `RULES`.
        form: The form of the format thesis; None: the default.
        left_out: Receives the reason for each hand of PokerStars that is no whole game.

    Raises:
        BadInput: A game can't have been played.
    """
    read_as = looks_like(text) if read_as is None else read_as
    rules = RULES.get(read_as, "") if rules is None else rules
    if read_as == "json":
        yield from _from_json(text)
    elif read_as == "text":
        yield from _from_text(text)
    elif read_as == "thesis":
        yield from _from_lines(text, rules, thesis_lines.form() if form is None else form)
    elif read_as == "acpc":
        yield from _from_hands(text, rules)
    else:
        yield from _from_pokerstars(text, rules, left_out)


def read_game(path: Path, number: int = 1, read_as: str | None = None, rules: str | None = None) -> Record:
    """One game, of any rules, of a file of any format or of the run folder that holds one, by its number from 1.

    Games of a match are found by their own numbers, others by their places in the file.
    """
    path = path / FILE if path.is_dir() else path
    text = read_text(path, "file of games")
    read_as = looks_like(text) if read_as is None else read_as
    if read_as == "json":
        records = {record.number + 1: record for record in read_records(path)}
    with located(path):
        if read_as != "json":
            records = {place: record for place, (record, _) in enumerate(read_games(text, read_as, rules), 1)}
        if number not in records:
            held = f"its games are {min(records)} to {max(records)}" if records else "it is empty"
            raise BadInput(f"it has no game {number}: {held}")
        records[number].verify()
    return records[number]


def _payoffs(end: Any) -> list[float]:
    return [float(score) for score in end.scores]


def _from_json(text: str) -> Iterator[tuple[Record, Any]]:
    many = text.count("\n") >= MANY
    for number, line in enumerate(text.splitlines()):
        where = f"line {number + 1}"
        record = read_line(line, f"{where},")
        with located(where):
            end = _end_of(record, many)
        yield record, end


def _end_of(record: Record, many: bool) -> Any:
    """Return the last position of a game; refuse one that can't have been played."""
    place = f"game {record.number + 1}"
    with located(place):
        game = load_stored(record.game)
    if isinstance(game, Holdem):
        end = positions(game)[0]
        known = many and notation.play_all(game, np.array(record.actions, np.int64), end, np.empty(SCRATCH, np.int64))
        return end if known and record.payoffs == [game.payoff(end, seat) for seat in range(2)] else record.verify()
    with located(place):
        if not isinstance(game, notation.Doppelkopf):
            raise BadInput(
                f"games of {record.game} have no form but Kibitz's own: only holdem and doppelkopf are converted"
            )
        end = notation.replay(game, record.actions, many)
        if _payoffs(end) != record.payoffs:
            raise BadInput(f"it pays {_payoffs(end)}, not {record.payoffs}")
    return end


def _from_text(text: str) -> Iterator[tuple[Record, Any]]:
    for found in notation.read(text):
        yield Record(*found[:5], _payoffs(found.end)), found.end


def _from_lines(text: str, rules_name: str, form: thesis_lines.Form) -> Iterator[tuple[Record, Any]]:
    rules = notation.check_game(load(rules_name))
    many = text.count("\n") >= MANY
    for count, (actions, end) in enumerate(thesis_lines.read_games(rules, text, form, many)):
        yield Record(count, full_name(rules), [UNKNOWN] * 4, 0, actions, _payoffs(end)), end


def _holdem(rules_name: str, form_name: str) -> Game:
    rules = load(rules_name)
    if not isinstance(rules, Holdem):
        raise BadInput(f"--rules {rules_name}: the format {form_name} is for holdem")
    return rules


def _from_pokerstars(text: str, rules_name: str, left_out: Callable[[str], None]) -> Iterator[tuple[Record, Any]]:
    """The hands that are whole games; the reason is reported for each other one."""
    rules = _holdem(rules_name, "pokerstars")
    refused: list[str] = []
    read = 0
    for place, lines in pokerstars.hands(text):
        try:
            hand = pokerstars.read(rules, lines)
        except BadInput as error:
            refused.append(f"line {place}: {error}")
            continue
        read += 1
        yield Record(hand.number, full_name(rules), hand.names, 0, hand.actions, hand.payoffs), hand.end
    if refused and not read:
        more = f" (and {len(refused) - 1:,} more hands)" if len(refused) > 1 else ""
        raise BadInput(f"{refused[0]}{more}")
    for reason in refused:
        left_out(reason)


def _from_hands(text: str, rules_name: str) -> Iterator[tuple[Record, Any]]:
    rules = _holdem(rules_name, "acpc")
    for hand in acpc.read_acpc_log(rules, text, text.count("\n") >= MANY):
        yield Record(hand.number, full_name(rules), hand.names, 0, hand.actions, hand.payoffs), hand.end
