"""`kibitz convert`: recorded games from one format into another."""

from pathlib import Path
from typing import Annotated, Any

import typer

from ...core.files import read_text, write_atomically
from ...core.names import BadInput, choose, split
from ..ui.progress import err, out, reporting
from ..ui.words import Words
from .options import PlayedGame, Trust, file_to_write, path_to_read


def register(app: typer.Typer) -> None:
    app.command("convert")(convert)


def _list_formats(show: bool) -> None:
    if show:
        from ...games.record_files import FORMATS, JSON, JSON_ABOUT
        from ...play.players.listing import options_of
        from ..ui.tables import compact_table

        table = compact_table("format", "what it is")
        table.add_row(JSON, JSON_ABOUT)
        for name, cls in FORMATS.items():
            options = [f"\n  {name}:{each.name}={each.default}: {each.meaning}" for each in options_of(cls)]
            table.add_row(name, cls.about + ("" if cls.writes else " (read only)") + "".join(options))
        out.print(table, highlight=False)
        raise typer.Exit


def _refuse_form_option(parameter: typer.CallbackParam, value: Any) -> None:
    if value is not None:
        key = parameter.name
        raise BadInput(f"--{key} {value} is an option of its format now: --from or --to FORMAT:{key}={value}")


# An option of `convert` before it was one of the format.
FormOption = Annotated[str | None, typer.Option(hidden=True, callback=_refuse_form_option)]


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
            help="Format of FROM, with its options. Default: recognized by its content.",
            metavar="FORMAT",
        ),
    ] = None,
    write_as: Annotated[
        str | None,
        typer.Option(
            "--to",
            help="Format of TO, with its options: json, or one of --formats. Default: by the suffix of TO.",
            metavar="FORMAT",
        ),
    ] = None,
    number: Annotated[
        int | None, typer.Option("--game", help="Convert only this game of FROM, counted from 1.")
    ] = None,
    rules: PlayedGame = None,
    language: Annotated[
        str, typer.Option(help="Language of records as text and of messages: en or de; both are read.")
    ] = "en",
    formats: Annotated[
        bool, typer.Option("--formats", callback=_list_formats, is_eager=True, help="List the formats and exit.")
    ] = False,
    letters:
    # An option of `convert` before it was one of the format.
    FormOption = None,
    position:
    # An option of `convert` before it was one of the format.
    FormOption = None,
    hand:
    # An option of `convert` before it was one of the format.
    FormOption = None,
    marriage:
    # An option of `convert` before it was one of the format.
    FormOption = None,
    seat:
    # An option of `convert` before it was one of the format.
    FormOption = None,
    trust: Trust = False,
) -> None:
    """Convert recorded games into another format.

    A game that can't have been played is refused with the reason.

    Example: kibitz convert --formats

    Example: kibitz convert games.lines games.jsonl --from thesis:position=dealer
    """
    from ...games import load_stored
    from ...games.record_files import FORMATS, JSON, format_of, read_games
    from ...games.records import FILE
    from ..ui.arena_tables import print_line

    words = Words(language)
    path = source / FILE if source.is_dir() else source
    text = read_text(path, "file of games")
    if read_as not in (None, JSON):
        format_of(read_as)
    writable = [JSON, *(name for name, cls in FORMATS.items() if cls.writes)]
    if write_as is None and target is not None:
        suffixes = {"": "", ".jsonl": JSON} | {FORMATS[name].suffix: name for name in writable[1:]}
        write_as = suffixes.get(target.suffix)
    if not write_as:
        raise BadInput(f"--to is missing: the formats are {', '.join(writable)}")
    name = choose("format", split(write_as)[0], writable)
    form = None if name == JSON else format_of(write_as)
    written: list[str] = []
    lossy = 0
    try:
        with reporting(f"reading {path}") as report:
            games = read_games(text, read_as, rules, lambda reason: print_line(f"left out: {reason}", err))
            for count, (record, end) in enumerate(games, 1):
                if number in (None, count):
                    report.progress(len(written), note=words("{count} games", count=f"{len(written):,}"))
                    game = load_stored(record.game)
                    if form is not None and not form.plays(game):
                        raise BadInput(
                            f"game {record.number + 1} is of {record.game}, which can't be written as {name}"
                        )
                    written.append(form.write(game, record, end, language) if form else record.line())
                    lossy += form is not None and form.is_lossy(end)
    except BadInput as error:
        raise BadInput(f"{path}, {error}") from None
    if not written:
        raise BadInput(f"{path} holds no game" if number is None else f"{path} has no game {number}")
    if form and lossy:
        print_line(f"the format {name} has no {form.loses}: those of {lossy:,} games are left out", err)
    found = (form.between if form else "").join(written)
    if target is None:
        out.print(found, end="", soft_wrap=True, highlight=False, markup=False)
        return
    write_atomically(target, found.encode())
    print_line(words("{count} games: {file}", count=f"{len(written):,}", file=target))
