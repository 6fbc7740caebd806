"""Writes the generated parts of `docs/games`: facts, options and playthroughs of the pages, the table, the replays.

    python docs/make_games.py          # by `python docs/make_reference.py`, too
    python docs/make_games.py --play   # first play the games of the playthroughs again

A generated part stands between the lines `<!-- generated: NAME -->` and `<!-- end -->`. The games that are shown are
records in `docs/games/playthroughs.jsonl`.
"""

import functools
import itertools
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from replay_svg import replay_svg

from kibitz.core import names
from kibitz.core.files import write_atomically
from kibitz.core.names import BadInput
from kibitz.games import CHANCE, GAMES, Game, full_name, is_shipped, legal_actions, load, view_of
from kibitz.games.display import display
from kibitz.games.records import Record, read_records
from kibitz.games.tree import estimated_leaves
from kibitz.play.players import default_player
from kibitz.search.search import SEARCHES
from kibitz.solve.sequence_form import MAX_LEAVES
from kibitz.train.learner import LEARNERS

FOLDER = Path(__file__).with_name("games")
RECORDS = FOLDER / "playthroughs.jsonl"
PART = re.compile(r"(<!-- generated: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
FEW = 24  # decisions up to which a playthrough shows what the seat to move sees at each
ESTIMATES = 3  # random games by which the size of a tree is estimated
FEW_MOVES = 8  # legal moves that are listed

# Page -> the game of its playthrough, the player in all seats, the number of the game in a match of seed 1. Small
# boards make short games.
SHOWN = {
    "breakthrough": ("breakthrough:rows=6,columns=6", "uct:3000", 2),
    "connect_four": ("connect_four", "uct:5000", 2),
    "doppelkopf": ("doppelkopf", "heuristic", 8),
    "fanorona": ("fanorona:columns=5", "uct:3000", 4),
    "gomoku": ("gomoku:size=9", "uct:20000", 7),
    "goofspiel": ("goofspiel:cards=6", "oos:20000", 5),
    "hex": ("hex:size=7", "uct:10000", 7),
    "holdem": ("holdem", "net:models/holdem", 12),
    "knightthrough": ("knightthrough:rows=6,columns=6", "uct:3000", 2),
    "kuhn": ("kuhn", "oos:10000", 4),
    "leduc": ("leduc", "oos:10000", 1),
    "liars_dice": ("liars_dice:dice=2", "net:models/liars_dice-2", 8),
    "othello": ("othello:size=6", "uct:5000", 3),
    "teeko": ("teeko", "uct:5000", 3),
    "tic_tac_toe": ("tic_tac_toe", "uct:1000", 0),
    "yavalath": ("yavalath", "uct:20000", 1),
}

# Page -> positions or infosets, where they are known; the pages name the sources.
SIZES = {
    "connect_four": "4,531,985,219,092 positions",
    "doppelkopf": "2.2 × 10²¹ deals",
    "fanorona": "about 10²¹ positions",
    "gomoku": "about 10¹⁰⁵ positions",
    "goofspiel": "162 infosets; 34,482 with 6 cards",
    "hex": "about 10⁵⁶ positions",
    "holdem": "3.19 × 10¹⁴ infosets",
    "kuhn": "12 infosets",
    "leduc": "288 infosets",
    "liars_dice": "24,576 infosets",
    "othello": "about 10²⁸ positions",
    "tic_tac_toe": "5,478 positions",
}


def shipped_games() -> dict[str, Any]:
    """The games that have a page: name -> class."""
    return {name: cls for name, cls in sorted(GAMES.items()) if is_shipped(cls)}


def pages() -> Iterator[tuple[Path, bytes]]:
    """All generated files with their contents: pages with their generated parts filled in, and the replays."""
    shown = {load(record.game).name: record for record in read_records(RECORDS)}
    for name in shipped_games():
        page, record = FOLDER / f"{name}.md", shown[name]
        parts = {"facts": functools.partial(facts, name), "playthrough": functools.partial(playthrough, record)}
        yield page, filled(page, parts).encode()
        yield FOLDER / f"{name}.svg", replay_svg(load(record.game), record.actions, record.players).encode()
    yield FOLDER / "README.md", filled(FOLDER / "README.md", {"games": overview}).encode()


def filled(page: Path, parts: Mapping[str, Callable[[], str]]) -> str:
    """The text of a page with each of its generated parts filled in."""
    return PART.sub(lambda found: f"{found[1]}{parts[found[2]]()}\n{found[3]}", page.read_text("utf-8"))


# ---------------------------------------------------------------- tables


def overview() -> str:
    """The table of all games."""
    lines = [
        "| game | seats | hidden | chance | size | exact solvers | searches | learners |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name in shipped_games():
        game = load(name)
        solves = game.facts.seats == 2 and game.facts.zero_sum and estimated_leaves(game, ESTIMATES) < MAX_LEAVES
        cells = [
            f"[`{name}`]({name}.md)",
            str(game.facts.seats),
            _yes(game.facts.hidden),
            _yes(game.facts.max_chance_outcomes > 0),
            SIZES.get(name, "unknown"),
            "yes" if solves else "too large" if game.facts.seats == 2 else "no",
            ", ".join(searches(game)),
            ", ".join(learners(game)),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def searches(game: Game) -> list[str]:
    """The searches that take the game; those for hidden information only where something is hidden."""
    found = []
    for name in SEARCHES:
        try:
            SEARCHES[name](game)
            found.append(name)
        except BadInput:
            continue
    return found if game.facts.hidden else [name for name in found if name in ("alphabeta", "puct", "uct")]


def learners(game: Game) -> list[str]:
    """The learners that are made for such a game."""
    if game.name == "doppelkopf":
        return [name for name in LEARNERS if name in ("next-card", "cards", "exit-rollouts")]
    made_for = ("exit-oos", "exit-ismcts", "mmd", "deep-cfr") if game.facts.hidden else ("tspg", "alphazero", "ntuple")
    return [name for name in LEARNERS if name in made_for or (name == "distill" and game.name == "holdem")]


def facts(name: str) -> str:
    """A game's facts, options and presets."""
    game = load(name)
    kind: Any = type(game)
    found = game.facts
    low, high = found.payoffs
    lines = [
        "| fact | value |",
        "|---|---|",
        f"| seats | {found.seats} |",
        f"| hidden information | {_yes(found.hidden)} |",
        f"| chance | {_yes(found.max_chance_outcomes > 0)} |",
        f"| actions | {found.num_actions:,} |",
        f"| longest game | {found.max_game_length:,} turns{', deals included' if found.max_chance_outcomes else ''} |",
        f"| payoffs | {low:g} to {high:g}{', zero-sum' if found.zero_sum else ''} |",
        f"| default player | `{default_player(game)}` |",
        "",
    ]
    options = names.hints(kind)
    if not options:
        return "\n".join([*lines, f"`{name}` has no options."])
    lines += ["| option | default | allowed | meaning |", "|---|---|---|---|"]
    for key, field in options.items():
        default = _text(kind._field_defaults[key])
        lines.append(f"| `{key}` | {default} | {names.span(*field)} | {field[1]} |")
    for preset, values in getattr(kind, "presets", {}).items():
        settings = ", ".join(f"`{key}={_text(value)}`" for key, value in values.items())
        lines += ["", f"`{name}:{preset}` is short for {settings}."]
    return "\n".join(lines)


def _yes(fact: bool) -> str:
    return "yes" if fact else "no"


def _text(value: Any) -> str:
    return _yes(value) if isinstance(value, bool) else str(value)


# ---------------------------------------------------------------- playthroughs

Step = tuple[Any, int | None]  # a position, and the action played there; None at the end


def playthrough(record: Record) -> str:
    """A game move by move, as a block of text: what the seat to move sees, or rounds of moves and some positions."""
    game, steps = load(record.game), list(record.replay())
    decisions = sum(game.turn(state) >= 0 for state, _ in steps)
    told = _by_rounds
    if game.facts.hidden:
        told = _by_views if decisions <= FEW else _by_tricks
    players = f"{record.players[0]} in all seats" if len(set(record.players)) == 1 else ", ".join(record.players)
    lines = [f"{record.game}, {players}", "", *told(game, steps)]
    lines += [f"seat {seat + 1} gets {payoff:+g}" for seat, payoff in enumerate(record.payoffs)]
    return "\n".join(["```text", *(line.rstrip() for line in lines), "```"])


def _by_views(game: Game, steps: Sequence[Step]) -> Iterator[str]:
    """What the seat to move sees at each decision, and what it plays."""
    for chance, group in itertools.groupby(steps[:-1], lambda step: game.turn(step[0]) == CHANCE):
        if chance:
            yield from (f"chance: {', '.join(_name(game, step) for step in group)}", "")
            continue
        for state, action in group:
            turn = int(game.turn(state))
            legal = [game.action_to_string(state, each) for each in legal_actions(game, state)]
            if len(legal) > FEW_MOVES:
                legal = [*legal[:2], "...", *legal[-2:]]
            yield f"seat {turn + 1} sees"
            yield from _indented(game.show(view_of(game, state, turn), turn))
            yield from (f"and may play {', '.join(legal)}: it plays {_name(game, (state, action))}", "")
    yield "the end, with everything visible"
    yield from (*_indented(game.show(steps[-1][0], -1)), "")


def _by_tricks(game: Game, steps: Sequence[Step]) -> Iterator[str]:
    """What each seat sees after the deal, then one line per trick, with the announcements before its cards."""
    words = display(game)
    dealt = sum(1 for _ in itertools.takewhile(lambda step: game.turn(step[0]) == CHANCE, steps))
    for seat in range(game.facts.seats):
        yield f"after the deal seat {seat + 1} sees"
        yield from (*_indented(game.show(view_of(game, steps[dealt][0], seat), seat)), "")
    line: list[str] = []
    cards = trick = 0
    for state, action in steps[dealt:-1]:
        card = not game.is_announcement(state)
        if line and card and cards == 0 and trick == 0:  # the reservations
            yield ", ".join(line)
            line = []
        if words.is_visible(state, action):
            line.append(f"seat {game.turn(state) + 1}: {_name(game, (state, action))}")
        cards += card
        if cards == game.facts.seats:
            trick += 1
            yield f"trick {trick}: {', '.join(line)}"
            line, cards = [], 0
    yield from ("", "the end")
    yield from (*_indented(game.show(steps[-1][0], -1)), "")


def _by_rounds(game: Game, steps: Sequence[Step]) -> Iterator[str]:
    """One line per round, with the position in the middle of the game and at its end."""
    found: list[tuple[list[list[str]], Any]] = []  # the moves of each seat in a round, and the position after it
    last = -1
    for step, (after, _) in itertools.pairwise(steps):
        turn = int(game.turn(step[0]))
        if turn == 0 and turn != last:
            found.append(([[] for _ in range(game.facts.seats)], None))
        moves = found[-1][0]
        moves[turn].append(_name(game, step))
        found[-1], last = (moves, after), turn
    wide = max(len(" ".join(moves[0])) for moves, _ in found)
    for number, (moves, after) in enumerate(found):
        yield f"{number + 1:>2}. " + "  ".join(f"{' '.join(each):<{wide}}" for each in moves)
        if number in (len(found) // 2 - 1, len(found) - 1):
            yield from ("", *_indented(game.show(after, -1)), "")


def _name(game: Game, step: Step) -> str:
    state, action = step
    assert action is not None  # only the last position has no action
    return game.action_to_string(state, action)


def _indented(text: str) -> list[str]:
    return [f"    {line}" for line in text.splitlines()]


# ---------------------------------------------------------------- writing


def played(name: str, player: str, number: int) -> Record:
    """Game `number` of a match of a player against itself with seed 1."""
    from kibitz.play.match import play_match

    game = load(name)
    (record,) = play_match(full_name(game), [player] * game.facts.seats, number + 1, 1, 1, done=range(number))
    return record


def play_again() -> None:
    """Play the games of the playthroughs and write their records, numbered as in the file."""
    records = [replace(played(*shown), number=i) for i, shown in enumerate(SHOWN.values())]
    write_atomically(RECORDS, "".join(record.line() for record in records).encode())


def write() -> None:
    """Write all pages and replays."""
    for path, content in pages():
        write_atomically(path, content)


if __name__ == "__main__":
    if "--play" in sys.argv[1:]:
        play_again()
    write()
