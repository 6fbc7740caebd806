"""One game: who has which seat, which random numbers chance draws from, and the loop from the start to the payoffs.

All of that follows from the seed and the number of the game, so that any process may play it. There are three loops:
`play_game` in plain Python, `play_recorded` with compiled rules, and `batched.play_block` for thousands of games side
by side.
"""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..core.names import BadInput
from ..core.pool import Places
from ..core.runs import Run
from ..core.workers import cores
from ..games import CHANCE, OVER, Game, chance_outcomes, full_name, legal_actions, load, positions, view_of
from ..games.protocol import SCRATCH, NoSeat, TooLong
from ..games.records import Forfeited, Record, forfeit_payoffs
from ..jit import generators, kernel
from .players import Forfeit, Player, absolute_label, in_any_process, label, make_for
from .players.player import action_of

OPENING = 1 << 20  # part of the seed of random openings
PLAYER_FIELDS = {"players", "player", "strategy"}  # of configurations
TRIES = 1000  # random openings before it is said that all games are over by then

# ---------------------------------------------------------------- seats and seeds


def player_at(seat: int, number: int, seats: int) -> int:
    """The player, counted in the order of the match, who has a seat in game `number`."""
    return (seat + number) % seats


def seat_of(player: Any, number: Any, seats: int) -> Any:
    """The seat of a player in game `number`; also for arrays."""
    return (player - number) % seats


def round_of(number: Any, seats: int) -> Any:
    """The round of a game. The games of one round (a pair, with two seats) have the same chance outcomes."""
    return number // seats


def chance_rng_of(seed: int, deal: int) -> np.random.Generator:
    """The generator that chance draws from. Games of the same `deal` share its numbers."""
    return np.random.default_rng([seed, deal])


def seed_of(seed: int, number: int, player: int) -> int:
    """The seed of one player in one game."""
    own = np.random.SeedSequence([seed, number, 1 + player])  # from 1: [a, b, 0] is the same seed as [a, b]
    return int(own.generate_state(1, np.uint64)[0])


# ---------------------------------------------------------------- players


class Lineup(NamedTuple):
    """A game and its players, in the order of the match."""

    game: Game
    players: list[Player]
    names: list[str]


def as_game(game: str | Game) -> Game:
    return load(game) if isinstance(game, str) else game


def labels(players: Sequence[Any]) -> list[str]:
    """Names for results and records, which mean the same in any folder.

    Objects of the same name are numbered: `MyPlayer`, `MyPlayer 2`.
    """
    found: list[str] = []
    for each in players:
        name, count = absolute_label(each), 1
        while not isinstance(each, str) and name in found:
            count += 1
            name = f"{label(each)} {count}"
        found.append(name)
    return found


def as_kept(folder: Path | None, config: dict[str, Any]) -> dict[str, Any]:
    """A configuration with its players named as the run in the folder names them: relatively before version 0.3."""
    if folder is not None and (folder / "config.json").is_file():
        before = Run(folder).config()
        for key in PLAYER_FIELDS & config.keys() & before.keys():
            if _absolute(before[key]) == config[key]:
                config = config | {key: before[key]}
    return config


def _absolute(players: Any) -> Any:
    return labels(players) if isinstance(players, list) else absolute_label(players)


def lineup(game: str | Game, players: Sequence[Any]) -> Lineup:
    """Make the players of a match, given by name or as objects; refuse what can't play the game."""
    rules = as_game(game)
    if len(players) != rules.facts.seats:
        raise BadInput(f"{full_name(rules)} is for {rules.facts.seats} players, not {len(players)}")
    objects = [id(each) for each in players if not isinstance(each, str)]
    if len(set(objects)) < len(objects):
        raise BadInput("a player object can have one seat only: give each seat an object of its own")
    return Lineup(rules, [make_for(each, rules) for each in players], labels(players))


def shared(game: Game, players: Sequence[Any], processes: Places | None) -> tuple[str | Game, Places]:
    """The game as workers get it, and where they are (by default a process per core).

    Only names cross the border between processes: where a player is an object, or the game or a player is defined in
    the main program, there is this process alone.
    """
    if all(map(in_any_process, players)) and _found_by_name(game):
        return full_name(game), processes or cores()
    return game, 1


def _found_by_name(game: Game) -> bool:
    try:
        return type(load(full_name(game))) is type(game)
    except BadInput:
        return False


# ---------------------------------------------------------------- games one by one


def begin(game: Game, players: Sequence[Player], order: Sequence[int], seed: int, number: int) -> None:
    """Begin a game for all players, each with a seed of its own."""
    for seat, each in enumerate(order):
        players[each].begin(game, seat, seed_of(seed, number, each))


def play_game(
    game: Game,
    players: Sequence[Player],
    names: Sequence[str],
    seed: int,
    number: int,
    order: Sequence[int] | None = None,
    deal: int | None = None,
    openings: int = 0,
) -> Record:
    """Play game `number` of a match in plain Python.

    Args:
        players, names: In the order of the match, not of seats.
        order: The player of each seat; by default the players move on by one seat per game.
        deal: Games of the same deal have the same chance outcomes; by default those of a round.
        openings: Number of random plies before the players begin, the same in all games of a round.
    """
    seats = game.facts.seats
    order = [player_at(seat, number, seats) for seat in range(seats)] if order is None else order
    chance_rng = chance_rng_of(seed, round_of(number, seats) if deal is None else deal)
    begin(game, players, order, seed, number)
    state, actions, forfeited = positions(game)[0], [], None
    if openings:
        actions = random_opening(game, openings, seed, round_of(number, seats))
        for action in actions:
            game.play(state, action)
        for each in players:
            if hear := getattr(each, "opened", None):
                hear(actions)
    while (turn := game.turn(state)) != OVER:
        if turn == CHANCE:
            outcomes, probs = zip(*chance_outcomes(game, state), strict=True)
            action = int(chance_rng.choice(outcomes, p=probs))
        else:
            try:
                chosen = players[order[turn]].move(view_of(game, state, turn))
            except Forfeit as forfeit:
                forfeited = Forfeited(turn, str(forfeit))
                break
            action = action_of(chosen, names[order[turn]])
            check_legal(names[order[turn]], action, legal_actions(game, state), number)
        actions.append(action)
        if len(actions) > game.facts.max_game_length:
            raise TooLong
        game.play(state, action)
    if forfeited:
        payoffs = forfeit_payoffs(game, forfeited.seat)
    else:
        payoffs = [float(game.payoff(state, seat)) for seat in range(seats)]
    return Record(number, full_name(game), [names[each] for each in order], seed, actions, payoffs, forfeited)


def random_opening(game: Game, plies: int, seed: int, number: int) -> list[int]:
    """Random moves after which the game goes on; the same ones for the same seed and number."""
    generator = np.random.default_rng([seed, number, OPENING])
    for _ in range(TRIES):
        state, actions = positions(game)[0], list[int]()
        while len(actions) < plies and game.turn(state) != OVER:
            if game.turn(state) == CHANCE:
                raise BadInput(f"{full_name(game)} has chance: random openings are for games without it")
            actions.append(int(generator.choice(legal_actions(game, state))))
            game.play(state, actions[-1])
        if game.turn(state) != OVER:
            return actions
    raise BadInput(f"openings={plies} is too many: games of {full_name(game)} are over by then")


def check_legal(name: str, action: int, legal: Any, number: int) -> None:
    if action not in legal:
        raise BadInput(f"{name} played {action} in game {number + 1}, which is illegal there")


def match_games(game: str | Game, players: Sequence[Any], seed: int, openings: int = 0) -> Callable[[int], Record]:
    """Return the function that plays a game of a match by its number: the part of each worker process."""
    found = lineup(game, players)
    if openings:
        random_opening(found.game, openings, seed, 0)  # refuses what can't be played
    return partial(play_game, *found, seed, openings=openings)


# ---------------------------------------------------------------- games one by one, with compiled rules


def play_recorded(game: Game, players: Sequence[Player], names: Sequence[str], seed: int, number: int) -> Record:
    """Play game `number` of a recording: compiled rules, chance outcomes of its own.

    Players that decide in microseconds would otherwise wait for the rules.
    """
    seats = game.facts.seats
    order = [player_at(seat, number, seats) for seat in range(seats)]
    begin(game, players, order, seed, number)
    chance_rng = generators(int(np.random.SeedSequence([seed, number]).generate_state(1, np.uint64)[0] >> 1), 1)[0]
    states, log, legal = positions(game), np.zeros(game.facts.max_game_length, np.int64), np.empty(SCRATCH, np.int64)
    done = 0
    while True:
        view = np.zeros(1, game.state)
        done, turn, n = to_next_seat(game, seats, states, chance_rng, log, done, view, legal)
        if n == 0:
            break
        action = int(players[order[turn]].move(view[0]))
        check_legal(names[order[turn]], action, legal[:n], number)
        play(game, states, action)
        if done == len(log):
            raise TooLong
        log[done] = action
        done += 1
    payoffs = [float(game.payoff(states[0], seat)) for seat in range(seats)]
    return Record(number, full_name(game), [names[each] for each in order], seed, log[:done].tolist(), payoffs)


@kernel
def to_next_seat(game, seats, states, chance_rng, log, done, view, legal):
    """Let chance play until a seat has the turn.

    Returns the number of actions logged, the seat, and the number of its legal actions: 0 when the game is over.
    """
    state = states[0]
    while game.turn(state) == CHANCE:
        if done == len(log):
            raise TooLong
        log[done] = game.sample_action(state, chance_rng)
        game.play(state, log[done])
        done += 1
    turn, n = game.turn(state), 0
    if turn >= seats:
        raise NoSeat
    if turn >= 0:
        game.look(state, turn, view[0])
        n = game.actions(state, legal)
    return done, turn, n


@kernel
def play(game, states, action):
    game.play(states[0], action)


def recorded_games(game: str | Game, players: Sequence[Any], seed: int) -> Callable[[int], Record]:
    """Return the function that plays a game of a recording by its number: the part of each worker process."""
    return partial(play_recorded, *lineup(game, players), seed)
