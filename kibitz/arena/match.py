"""Matches: players named as `oos:1000` or `random` play a game many times, each from every seat.

With two seats, games 2p and 2p + 1 are a pair: the same luck, seats swapped. With n seats the
players rotate through n games of the same luck. Every game has seeds of its own, made of the
match's seed and its number, so that any process may play it.
"""

from collections.abc import Callable, Collection, Generator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

from ..core.names import BadInput, at_least
from ..core.runs import Run
from ..core.workers import ALONE, cores, spread
from ..games import CHANCE, OVER, Game, chance_outcomes, full_name, legal_actions, load, positions, view_of
from ..games.records import FILE, Record, read_records
from ..players import Player, make_for
from .batched import MANY, all_batched, blocks, tables
from .play import chance_rng_of, player_at, round_of, seed_of


def play_game(game: Game, players: Sequence[Player], names: Sequence[str], seed: int, number: int) -> Record:
    """Game `number` of a match. `players` and `names` stand in the order of the match, not of seats."""
    seats = game.facts.seats
    order = [player_at(seat, number, seats) for seat in range(seats)]
    return play_seated(game, players, names, order, seed, number, round_of(number, seats))


def play_seated(
    game: Game, players: Sequence[Player], names: Sequence[str], order: Sequence[int], seed: int, number: int, deal: int
) -> Record:
    """A game in which player `order[seat]` has the seat. Games of the same `deal` share their luck."""
    luck = chance_rng_of(seed, deal)
    begin(game, players, order, seed, number)
    state, actions = positions(game)[0], []
    while (turn := game.turn(state)) != OVER:
        if turn == CHANCE:
            outcomes, probs = zip(*chance_outcomes(game, state), strict=True)
            action = int(luck.choice(outcomes, p=probs))
        else:
            action = int(players[order[turn]].move(view_of(game, state, turn)))
            if action not in legal_actions(game, state):
                raise BadInput(f"{names[order[turn]]} played {action} in game {number}, which is illegal there")
        actions.append(action)
        game.play(state, action)
    payoffs = [float(game.payoff(state, seat)) for seat in range(len(order))]
    return Record(number, full_name(game), [names[player] for player in order], seed, actions, payoffs)


def begin(game: Game, players: Sequence[Player], order: Sequence[int], seed: int, number: int) -> None:
    """Seat the players, each with a seed of its own."""
    for seat, player in enumerate(order):
        players[player].begin(game, seat, seed_of(seed, number, player))


def table(game_name: str, names: Sequence[str], seed: int) -> Callable[[int], Record]:
    """What a process needs to play games of a match: the function from number to record."""
    game = load(game_name)
    if len(names) != game.facts.seats:
        raise BadInput(f"{full_name(game)} is for {game.facts.seats} players, not {len(names)}")
    return partial(play_game, game, [make_for(name, game) for name in names], names, seed)


def play_match(
    game_name: str,
    names: Sequence[str],
    games: int,
    seed: int,
    processes: int | None = None,
    done: Collection[int] = (),
    tell: Callable[[str], None] = lambda text: None,
    alone: float = ALONE,
    make: Any = table,
) -> Generator[Record]:
    """The games of a match that aren't done yet, as they end. The same for any number of processes, but for order.

    Many games of players that can be asked at many views at once are played side by side: they too are the same.
    """
    todo = [number for number in range(games) if number not in done]
    arguments, processes = (game_name, list(names), seed), processes or cores()
    if make is table and len(todo) >= MANY and all_batched([make_for(name, load(game_name)) for name in names]):
        with closing(spread(tables, arguments, blocks(todo), processes, tell, alone)) as played:
            for records in played:
                yield from records
    else:
        yield from spread(make, arguments, todo, processes, tell, alone)


def open_match(folder: Path | None, game_name: str, names: Sequence[str], games: int, seed: int) -> Run:
    """A new run folder, or one that holds this match, of as many games or fewer. Refuses before it writes anything."""
    at_least("games", games, 1)
    at_least("seed", seed, 0)
    table(game_name, names, seed)
    game = load(game_name)
    config = {"command": "match", "game": full_name(game), "players": list(names), "games": games, "seed": seed}
    return Run.create_or_resume(folder, f"{game.name}-match", config, may_grow=("games",))


def play_into(
    run: Run,
    processes: int | None = None,
    on_record: Callable[[Record], None] = lambda record: None,
    tell: Callable[[str], None] = lambda text: None,
    alone: float = ALONE,
    make: Any = table,
) -> list[Record]:
    """Play what is missing of the match in a run folder. Each game is written as it ends, so a kill costs little.

    `make` is what plays: the table of a match, or of a recording.
    """
    config = run.config()
    game, names, games, seed = (config[key] for key in ("game", "players", "games", "seed"))
    with run.appending(FILE) as append:
        records = {record.number: record for record in _own_records(run)}
        for record in records.values():
            on_record(record)
        with closing(play_match(game, names, games, seed, processes, records.keys(), tell, alone, make)) as played:
            for record in played:
                append(record.line())
                records[record.number] = record
                on_record(record)
    ordered = [records[number] for number in sorted(records)]
    run.write(FILE, "".join(record.line() for record in ordered))
    return ordered


def _own_records(run: Run) -> list[Record]:
    """What is in the folder already, if it is of this match."""
    config, records = run.config(), read_records(run.path(FILE))
    seats = len(config["players"])
    seen: set[int] = set()
    for record in records:
        names = [config["players"][player_at(seat, record.number, seats)] for seat in range(seats)]
        expected = (config["game"], names, config["seed"])
        if (record.game, record.players, record.seed) != expected or not 0 <= record.number < config["games"]:
            raise BadInput(f"{run.path(FILE)}: game {record.number} is of another match")
        if record.number in seen:
            raise BadInput(f"{run.path(FILE)}: game {record.number} is there twice")
        seen.add(record.number)
    return records
