"""The worlds that a view allows, with their probabilities by Bayes' rule, and the values of a policy in them.

A world is a full position that looks to a seat like its view. Its probability is proportional to the probability of the
chance outcomes on the way there, times that of the other seats' moves if they are assumed to play a known policy. In
small games all histories are enumerated, turn by turn; equal positions are merged. In larger ones worlds are sampled by
the game's rule `determinize`.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...core.names import BadInput
from ...games import CHANCE, IST, OVER, Game, chance_outcomes, full_name, legal_actions, positions
from ...jit import generators
from ...search.determinization import sample_worlds
from .make import make_for
from .player import label

MAX_POSITIONS = 10_000  # enumerated at most: about a second
SAMPLES = 2000
FITS = "uniform over deals that fit"


class Worlds(NamedTuple):
    states: np.ndarray  # [n] records of the game
    probs: np.ndarray  # [n] f8; they sum to 1
    fits: np.ndarray  # [n] f8: the same without an assumption about the other seats
    basis: str  # what the probabilities rest on, in words
    exact: bool  # whether these are all worlds; else they are a sample


class Policy:
    """The assumed policy of seats, as factors of the probability of a history.

    A player that draws one of several strategies for each game (SD-CFR) has one column of factors per strategy. Column
    0 belongs to no assumption at all: its factors are 1.
    """

    def __init__(self, player: Any, game: Game) -> None:
        self.game, self.name = game, label(player) if player is not None else ""
        self.player: Any = None if player is None else policy_player(player, game)
        self.draws = np.asarray(getattr(self.player, "draw_weights", [1.0]), float)
        if len(self.draws) > 1 and game.facts.seats > 2:
            raise BadInput(f"{self.name} draws its strategy for each game, which is known for games of two seats only")

    def factors(self, states: list[Any], seat: int) -> np.ndarray:
        """[states, 1 + strategies, num_actions] f8, at turns of the seat; legal actions in their order."""
        found = np.ones((len(states), 1 + len(self.draws), self.game.facts.num_actions))
        if self.player is not None:
            views = np.zeros(len(states), self.game.state)
            for view, state in zip(views, states, strict=True):
                self.game.look(state, seat, view)
            self.player.begin(self.game, seat, 0)
            for k in range(len(self.draws)):
                drawn = (np.full(len(views), k),) if hasattr(self.player, "drawn") else ()
                found[:, 1 + k] = self.player.action_probs(views, *drawn)
        return found


def policy_player(player: Any, game: Game) -> Any:
    """Make a player whose probabilities are known at every view.

    Raises:
        BadInput: It searches, or it only moves.
    """
    made = make_for(player, game)
    if not hasattr(made, "action_probs"):
        raise BadInput(f"{label(player)} gives no probabilities for every hand: name a player that doesn't search")
    if hasattr(made, "drawn") and not hasattr(made, "draw_weights"):
        raise BadInput(f"{label(player)} has `drawn` without `draw_weights`")
    return made


def possible_worlds(game: Game, view: Any, seat: int, assumed: Any = None, most: int = MAX_POSITIONS) -> Worlds:
    """The worlds that a view of a seat allows.

    Args:
        game, view, seat: The view; it may be another seat's turn.
        assumed: The player, by name or as an object, that the other seats are assumed to be; None: nothing is assumed.
        most: Number of positions up to which histories are enumerated.

    Raises:
        BadInput: Nothing is hidden in the game, no world fits, or the player's probabilities aren't known.
    """
    if not game.facts.hidden:
        raise BadInput(f"nothing is hidden in {full_name(game)}")
    policy = Policy(assumed, game)
    found = _enumerated(game, view, seat, policy, most)
    if found is None:
        sampled = sample_worlds(game, np.array([view], game.state)[0], seat, SAMPLES, generators(1, 1)[0])
        states, weights = _merged(list(sampled), [np.ones(1)] * len(sampled))
        even = weights[:, 0] / weights.sum()
        why = f"; too many to weigh by {policy.name}" if policy.name else ""
        return Worlds(states, even, even, f"{len(sampled):,} samples, {FITS}{why}", exact=False)
    states, weights = found
    if not len(states):
        raise BadInput(f"no world of {full_name(game)} is consistent with the view of seat {seat + 1}")
    fits = weights[:, 0] / weights[:, 0].sum()
    if assumed is None:
        return Worlds(states, fits, fits, FITS, exact=True)
    reach = weights[:, 1:] @ policy.draws
    if not reach.sum() > 0:
        return Worlds(states, fits, fits, f"{FITS}; {policy.name} never plays like this", exact=True)
    opponents = "the opponent plays" if game.facts.seats == 2 else "the opponents play"
    return Worlds(states, reach / reach.sum(), fits, f"if {opponents} like {policy.name}", exact=True)


def policy_values(game: Game, worlds: Worlds, seat: int, player: Any, most: int = MAX_POSITIONS) -> np.ndarray | None:
    """[legal actions] f8: the seat's expected payoff after each action if then everybody follows the player.

    Returns:
        None where there are more than `most` positions to come, or the player draws one of several strategies.
    """
    policy, values = Policy(player, game), []
    if len(policy.draws) > 1:
        return None
    for action in legal_actions(game, worlds.states[0]):
        states = list(worlds.states.copy())
        for state in states:
            game.play(state, action)
        weights, total = [np.full(2, prob) for prob in worlds.probs], 0.0
        while states:
            over = [game.turn(state) == OVER for state in states]
            total += sum(
                weight[1] * game.payoff(state, seat)
                for state, weight, ended in zip(states, weights, over, strict=True)
                if ended
            )
            left = [i for i, ended in enumerate(over) if not ended]
            most -= len(left)
            if most < 0:
                return None
            following = _expand(game, [states[i] for i in left], [weights[i] for i in left], most, policy.factors)
            if following is None:
                return None
            states, weights = following
        values.append(total)
    return np.array(values)


# ---------------------------------------------------------------- histories

Factors = Callable[[list[Any], int], np.ndarray]


def _enumerated(game: Game, view: Any, seat: int, policy: Policy, most: int) -> tuple[np.ndarray, np.ndarray] | None:
    """All worlds with their weights [n, 1 + strategies]; None where there are too many positions on the way."""
    key, turn = game.infoset(view, seat), game.turn(view)

    def factors(states: list[Any], mover: int) -> np.ndarray:
        return np.ones((len(states), 1, game.facts.num_actions)) if mover == seat else policy.factors(states, mover)

    keep = np.ones(max(game.facts.num_actions, game.facts.max_chance_outcomes), np.bool_)

    def on_the_way(state: Any, actions: np.ndarray) -> np.ndarray:
        if "ist" in game.facts.targets:
            game.target(state, view, seat, IST, actions, len(actions), keep)
        return keep[: len(actions)]

    states, weights = list(positions(game)), [np.ones(1 + len(policy.draws))]
    worlds: list[Any] = []
    reached: list[np.ndarray] = []
    while states:
        there = [game.turn(state) == turn and game.infoset(state, seat) == key for state in states]
        worlds += [state for state, found in zip(states, there, strict=True) if found]
        reached += [weight for weight, found in zip(weights, there, strict=True) if found]
        left = [i for i, found in enumerate(there) if not found and game.turn(states[i]) != OVER]
        most -= len(left)
        if most < 0:
            return None
        following = _expand(game, [states[i] for i in left], [weights[i] for i in left], most, factors, on_the_way)
        if following is None:
            return None
        states, weights = following
    return _merged(worlds, reached)


def _expand(
    game: Game,
    states: list[Any],
    weights: list[np.ndarray],
    most: int,
    factors: Factors,
    on_the_way: Callable[[Any, np.ndarray], np.ndarray] | None = None,
) -> tuple[list[Any], list[np.ndarray]] | None:
    """The positions one turn later, with their weights, equal ones as one; None where there are more than `most`."""
    after: list[Any] = []
    reached: list[np.ndarray] = []
    turns = [int(game.turn(state)) for state in states]
    for turn in sorted(set(turns)):
        movers = [i for i, each in enumerate(turns) if each == turn]
        by_action = None if turn == CHANCE else factors([states[i] for i in movers], turn)
        for place, i in enumerate(movers):
            outcomes = chance_outcomes(game, states[i]) if turn == CHANCE else []
            actions = [action for action, _ in outcomes] if turn == CHANCE else legal_actions(game, states[i])
            keep = np.ones(len(actions), np.bool_)
            if on_the_way is not None:
                keep = on_the_way(states[i], np.array(actions))
            for j, action in enumerate(actions):
                weight = weights[i] * (outcomes[j][1] if by_action is None else by_action[place, :, j])
                if keep[j] and weight[0] > 0:
                    state = states[i].copy()
                    game.play(state, action)
                    after.append(state)
                    reached.append(weight)
            if len(after) > most:
                return None
    kept, merged = _merged(after, reached)
    return list(kept), list(merged)


def _merged(states: list[Any], weights: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Equal positions as one, with the sum of their weights."""
    places: dict[bytes, int] = {}
    kept: list[Any] = []
    sums: list[np.ndarray] = []
    for state, weight in zip(states, weights, strict=True):
        place = places.setdefault(state.tobytes(), len(kept))
        if place == len(kept):
            kept.append(state)
            sums.append(np.array(weight, float))
        else:
            sums[place] += weight
    if not kept:
        return np.zeros(0), np.zeros((0, 1))
    found = np.zeros(len(kept), kept[0].dtype)
    for i, state in enumerate(kept):
        found[i] = state
    return found, np.array(sums)
