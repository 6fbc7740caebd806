"""The contract of players: what matches and exploitability rely on, checked for any player on any game."""

from dataclasses import replace
from typing import Any

import numpy as np

from ...games import CHANCE, OVER, Game, legal_actions, load, positions
from ...search.advice import Advice
from .make import make_for
from .player import label

MAX_GAMES = 20  # per pair that is wanted; a random game may hold none


def check_player(player: Any, game: str | Game, games: int = 4, seed: int = 1) -> int:
    """Check that a player keeps the contract, in random games; return the number of views that it moved at.

    Args:
        player: A name or an object. A name is made twice, so that nothing is shared between the two.
        game: A name or a game that it can play.
        games: Number of random games; in each the player has the next seat.
        seed: Of the random games.

    Raises:
        AssertionError: A rule of the contract is broken; the message names it.
        BadInput: The player can't play the game.
    """
    rules = load(game) if isinstance(game, str) else game
    one, views = make_for(player, rules), 0
    two = make_for(player, rules) if isinstance(player, str) else one
    rng, generator = np.array([seed, 1], np.uint64), np.random.default_rng(seed)
    for number in range(games):
        seat = number % rules.facts.seats
        seen, worlds, _ = _views(rules, seat, rng, generator)
        path = [_advised(one, rules, seat, number, each) for each in (seen, seen)]
        for i, view in enumerate(seen):
            where = f"{label(player)}, game {number}, view {i}"
            action, advice = path[0][i]
            policy = None if advice is None else advice.policy
            legal = legal_actions(rules, view)
            assert action in legal, f"{where}: plays {action}, which is not legal"
            assert path[1][i][0] == action, f"{where}: the same seed gives another move"
            if policy is not None:
                assert len(policy) == len(legal), f"{where}: advises on {len(policy)} actions, not {len(legal)}"
                assert np.isclose(policy.sum(), 1), f"{where}: the policy sums to {policy.sum():g}, not 1"
                assert (policy >= 0).all(), f"{where}: a probability is negative"
                assert policy[legal.index(action)] > 0, f"{where}: plays an action of probability 0"
            if policy is not None and hasattr(one, "action_probs") and not hasattr(one, "drawn"):
                batch = np.array([view, view], rules.state)
                probs = np.asarray(one.action_probs(batch))[:, : len(legal)]
                assert np.allclose(probs, policy), f"{where}: action_probs(views) differs from the advice"
        _check_same(f"{label(player)}, game {number}", path[0], _advised(two, rules, seat, number, worlds))
        views += len(seen)
    return views


def check_no_peeking(player: Any, game: str | Game, pairs: int = 40, seed: int = 1) -> int:
    """Check that a player's moves and advice depend on its views alone.

    In random games, each state in which the seat moves is paired with another one of the same view and other hidden
    information. Two players, one for either, are led through the views of a game with the same seed.

    Args:
        player, game: As for `check_player`.
        pairs: Number of pairs to compare.
        seed: Of the random games.

    Returns:
        The number of pairs compared; 0 where nothing is hidden.

    Raises:
        AssertionError: The player moves or advises differently.
        BadInput: The player can't play the game.
    """
    rules = load(game) if isinstance(game, str) else game
    one = make_for(player, rules)
    two = make_for(player, rules) if isinstance(player, str) else one
    rng, generator, found = np.array([seed, 2], np.uint64), np.random.default_rng(seed), 0
    for number in range(MAX_GAMES * pairs if rules.facts.hidden else 0):
        seat = number % rules.facts.seats
        seen, worlds, hidden = _views(rules, seat, rng, generator)
        paths = [_advised(each, rules, seat, number, views) for each, views in ((one, seen), (two, worlds))]
        _check_same(f"{label(player)}, game {number}", *paths)
        found += hidden
        if found >= pairs:
            break
    return found


def _check_same(where: str, one: list[Any], two: list[Any]) -> None:
    """Check that two paths of moves and advice are equal."""
    for i, ((action, advice), (other_action, other)) in enumerate(zip(one, two, strict=True)):
        assert other_action == action, f"{where}, view {i}: the move depends on more than the view"
        assert (advice is None) == (other is None), f"{where}, view {i}: only one of two equal views has advice"
        if advice is not None:
            same = np.array_equal(advice.policy, other.policy) and np.array_equal(advice.value, other.value, True)
            assert same, f"{where}, view {i}: the advice depends on more than the view"


def _views(game: Game, seat: int, rng: np.ndarray, generator: np.random.Generator) -> tuple[list[Any], list[Any], int]:
    """The views of a seat in a random game; the same views, looked at in other worlds that they allow; and the number
    of those worlds that differ from the truth."""
    state, notes = positions(game)[0], np.zeros(game.facts.notes)
    seen, worlds, different = [], [], 0
    while (turn := game.turn(state)) != OVER:
        if turn == seat:
            seen.append(_look(game, state, seat))
            game.prepare(seen[-1], seat, notes)
            world = positions(game)[0]
            found = game.facts.hidden and game.determinize(seen[-1], seat, notes, rng, world)
            worlds.append(_look(game, world if found else state, seat))
            different += bool(found) and any(
                not np.array_equal(world[key], state[key]) for key in game.state.names or ()
            )
        chosen = game.sample_action(state, rng) if turn == CHANCE else generator.choice(legal_actions(game, state))
        game.play(state, int(chosen))
    return seen, worlds, different


def _look(game: Game, state: Any, seat: int) -> Any:
    """A view whose gaps between fields hold arbitrary bytes, as a match may leave them."""
    view = np.frombuffer(bytearray(b"\xa5" * game.state.itemsize), game.state)[0]
    game.look(state, seat, view)
    return view


def _advised(player: Any, game: Game, seat: int, seed: int, views: list[Any]) -> list[tuple[int, Advice | None]]:
    """The moves and the advice of a player that is led through views."""
    player.begin(game, seat, seed)
    found = []
    for view in views:
        before = view.copy()
        action = int(player.move(view))
        assert all(np.array_equal(view[key], before[key]) for key in game.state.names or ()), (
            f"{label(player)}: the view was changed"
        )
        advice = player.advice
        if advice is not None:  # a player may use its arrays again
            advice = replace(advice, policy=np.array(advice.policy), value=np.array(advice.value))
        found.append((action, advice))
    return found
