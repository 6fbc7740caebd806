"""`kibitz convert`: recorded games of Doppelkopf and hold'em from one format into another."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...core.files import read_text, write_atomically
from ...core.names import BadInput, choose
from ..ui.progress import err, out, reporting
from ..ui.words import Words
from .options import PlayedGame, Trust, file_to_write, path_to_read

if TYPE_CHECKING:
    from ...games.doppelkopf import thesis_lines
    from ...games.records import Record

FORMATS = {
    "json": "JSON lines, as matches write them",
    "text": "Doppelkopf as readable text, with card symbols",
    "thesis": "Doppelkopf in lines of 62 letters",
    "acpc": "hands of hold'em in the format of the Annual Computer Poker Competition",
}
READ_ONLY = {"pokerstars": "hand histories of PokerStars, heads-up limit hold'em"}
SUFFIXES = {".jsonl": "json", ".txt": "text", ".acpc": "acpc"}


def register(app: typer.Typer) -> None:
    app.command("convert")(convert)


def choices(options: dict[str, str]) -> str:
    return "; ".join(f"{key}: {text}" for key, text in options.items())


def convert(
    source: Annotated[
        Path,
        typer.Argument(help="File of games, or the run folder that holds it.", metavar="FROM", parser=path_to_read),
    ],
    target: Annotated[
        Path | None,
        typer.Argument(help="File to write. Default: the terminal.", metavar="[TO]", parser=file_to_write),
    ] = None,
    read_as: Annotated[
        str | None,
        typer.Option(
            "--from",
            help=f"Format of FROM: one of those of TO, or {choices(READ_ONLY)}. Default: recognized by its content.",
            metavar="FORMAT",
        ),
    ] = None,
    write_as: Annotated[
        str | None,
        typer.Option("--to", help=f"Format of TO. {choices(FORMATS)}. Default: by the suffix of TO.", metavar="FORMAT"),
    ] = None,
    number: Annotated[
        int | None, typer.Option("--game", help="Convert only this game of FROM, counted from 1.")
    ] = None,
    seat: Annotated[
        int | None,
        typer.Option(min=1, max=4, help="Format thesis: write only the line of this seat. Default: all four."),
    ] = None,
    rules: PlayedGame = None,
    letters: Annotated[
        str,
        typer.Option(
            help="Format thesis: the 24 cards from a to x, as '♣9 ♣J ♣Q ...'. Default: by suit, 9 J Q K 10 A."
        ),
    ] = "",
    position: Annotated[
        str,
        typer.Option(
            help="Format thesis: meaning of the digit. place: 0 leads the first trick, 3 is the dealer; dealer: 0 is "
            "the dealer, 1 leads the first trick; leader: number of seats from the player, to the left, to the leader "
            "of the first trick."
        ),
    ] = "place",
    hand: Annotated[
        str,
        typer.Option(
            help="Format thesis: order of the cards in a hand. letters: by letter; held: trumps first, as people "
            "sort them."
        ),
    ] = "letters",
    marriage: Annotated[
        str,
        typer.Option(
            help="Format thesis: announced: a player with both ♣Q announces a marriage; silent: nobody announces one."
        ),
    ] = "announced",
    language: Annotated[
        str, typer.Option(help="Language of records as text and of messages: en or de; both are read.")
    ] = "en",
    trust: Trust = False,
) -> None:
    """Convert recorded games of Doppelkopf or hold'em into another format.

    A game that can't have been played is refused with the reason.

    Example: kibitz convert runs/doppelkopf-match-001 --to text --game 3

    Example: kibitz convert games.lines games.jsonl --from thesis --position dealer

    Example: kibitz convert runs/holdem-match-001 hands.acpc

    Example: kibitz convert hands.acpc games.jsonl --rules holdem:stack=80

    Example: kibitz convert HH20090502.txt games.jsonl --from pokerstars
    """
    from ...games.doppelkopf import thesis_lines
    from ...games.doppelkopf.german import to_german
    from ...games.record_files import read_games
    from ...games.records import FILE
    from ..ui.arena_tables import print_line

    words = Words(language)
    form = thesis_lines.form(letters, position, hand, marriage)
    path = source / FILE if source.is_dir() else source
    text = read_text(path, "file of games")
    if read_as is not None:
        choose("format", read_as, FORMATS | READ_ONLY)
    if write_as is None and target is not None:
        write_as = SUFFIXES.get(target.suffix)
    if write_as is None:
        raise BadInput(f"--to is missing: the formats are {', '.join(FORMATS)}")
    choose("format", write_as, FORMATS)
    written: list[str] = []
    lossy = 0
    try:
        with reporting(f"reading {path}") as report:
            games = read_games(text, read_as, rules, form, lambda reason: print_line(f"left out: {reason}", err))
            for count, (record, end) in enumerate(games, 1):
                if number in (None, count):
                    report.progress(len(written), note=words("{count} games", count=f"{len(written):,}"))
                    written.append(_write(record, end, write_as, form, seat))
                    lossy += write_as == "thesis" and thesis_lines.is_lossy(end)
    except BadInput as error:
        raise BadInput(f"{path}, {error}") from None
    if not written:
        raise BadInput(f"{path} holds no game" if number is None else f"{path} has no game {number}")
    if lossy:
        why = "the format thesis has no announcements and silent marriages"
        print_line(f"{why}: those of {lossy:,} games are left out", err)
    if write_as == "text" and language == "de":
        written = [to_german(each) for each in written]
    found = ("\n" if write_as == "text" else "").join(written)
    if target is None:
        out.print(found, end="", soft_wrap=True, highlight=False, markup=False)
        return
    write_atomically(target, found.encode())
    print_line(words("{count} games: {file}", count=f"{len(written):,}", file=target))


def _write(record: "Record", end: Any, form_name: str, form: "thesis_lines.Form", seat: int | None) -> str:
    from ...games import load_stored
    from ...games.doppelkopf import notation, thesis_lines
    from ...games.holdem import Holdem, acpc

    if form_name == "json":
        return record.line()
    game = load_stored(record.game)
    if (form_name == "acpc") != isinstance(game, Holdem):
        raise BadInput(f"game {record.number + 1} is of {record.game}, which can't be written as {form_name}")
    if form_name == "acpc":
        return acpc.write(game, end, record.number, record.players) + "\n"
    if form_name == "text":
        return notation.write(record.number, record.game, record.players, record.seed, record.actions)
    seats = range(4) if seat is None else [seat - 1]
    try:
        return "".join(thesis_lines.write_line(game, record.actions, end, seat, form) for seat in seats)
    except BadInput as error:
        raise BadInput(f"game {record.number + 1}: {error}") from None
