"""Holds the true state of an interactive game and reveals one seat's view of it, and everything once it is over.

What another seat did is described from the views before and after it alone, so nothing hidden can leak.
"""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ...games import CHANCE, OVER, Game, legal_actions, positions, view_of
from ...jit import generators
from ...jit.records import bits_used
from ...play.players import Player
from ...play.players.search import equal_records
from .words import ENGLISH, Words

WORLDS = 20  # worlds that are tried; an action that everybody sees shows in the first, the others rule out coincidence
CHANCE_WORLDS = 3  # the same for chance, whose outcomes are many
HURRY = 0.01  # seconds per past view that a player is shown again
MAX_WORLDS = 500  # tried until one allows what was done: few of the possible hands hold a particular card


def next_state(game: Game, state: Any, action: int) -> Any:
    """The state after an action; the given one is left unchanged."""
    state = state.copy()
    game.play(state, action)
    return state


equal = equal_records


def own_views(game: Game, states: list[Any], seat: int) -> list[Any]:
    """A seat's views of those states in which it is to move."""
    return [view_of(game, state, seat) for state in states if game.turn(state) == seat]


class Follower:
    """Shows a player the views of its seat in order, as in a match.

    When the past changes, because a move was taken back, the player starts over.
    """

    def __init__(self, player: Player, game: Game, seat: int, seed: int) -> None:
        self.player, self.game, self.seat, self.seed = player, game, seat, seed
        self.shown: list[Any] = []
        self.action = -1

    def move(self, views: list[Any]) -> int:
        """The player's action at the last view. It hardly thinks about those before that it hasn't seen."""
        if not self.shown or len(self.shown) > len(views) or not all(map(equal, self.shown, views)):
            self.player.begin(self.game, self.seat, self.seed)
            self.shown = []
        for view in views[len(self.shown) :]:
            with contextlib.nullcontext() if view is views[-1] else hurried(self.player):
                self.action = self.player.move(view.copy())
            self.shown.append(view)
        return self.action


@contextlib.contextmanager
def hurried(player: Any) -> Iterator[None]:
    """Let a player that thinks for seconds hardly think, while it is shown what is past."""
    seconds = getattr(player, "seconds", 0)
    if seconds:
        player.seconds = HURRY
    try:
        yield
    finally:
        if seconds:
            player.seconds = seconds


class Step(NamedTuple):
    """An action as one seat saw it."""

    turn: int  # the seat that acted, or CHANCE
    before: Any  # the observing seat's view before the action
    after: Any  # and after it


class Referee:
    """Runs one game for one seat: the other seats are played by players."""

    def __init__(self, game: Game, seat: int, others: list[Player], seed: int) -> None:
        self.game, self.seat, self.seed = game, seat, seed
        self._states = [positions(game)[0]]
        seats = [other for other in range(game.facts.seats) if other != seat]
        self._others = {
            at: Follower(other, game, at, derived_seed(seed, at)) for at, other in zip(seats, others, strict=True)
        }

    def view(self) -> Any:
        return view_of(self.game, self._states[-1], self.seat)

    def views(self) -> list[Any]:
        """The seat's views at each of its turns so far."""
        return own_views(self.game, self._states, self.seat)

    def play(self, action: int) -> Step:
        """Play the seat's own move."""
        state = self._states[-1]
        before = self.view()
        self._states.append(next_state(self.game, state, action))
        return Step(self.game.turn(state), before, self.view())

    def step(self) -> Step:
        """Play the move of another seat or of chance."""
        turn = self.game.turn(self._states[-1])
        if turn == CHANCE:
            return self.play(self._deal(len(self._states)))
        return self.play(self._others[turn].move(own_views(self.game, self._states, turn)))

    def undo(self, was_asked: Callable[[Any], bool] = lambda view: True) -> int | None:
        """Return to the seat's previous decision at which it was asked.

        Returns:
            The number of turns left in the game's history; None where there is no such decision.
        """
        own = [
            i
            for i, state in enumerate(self._states[:-1])
            if self.game.turn(state) == self.seat and was_asked(view_of(self.game, state, self.seat))
        ]
        if not own:
            return None
        del self._states[own[-1] + 1 :]
        return own[-1]

    def final_state(self) -> Any:
        """The true state, available only at the end."""
        if self.game.turn(self._states[-1]) != OVER:
            raise RuntimeError("the true state is revealed when the game is over")
        return self._states[-1].copy()

    def _deal(self, ply: int) -> int:
        """Sample a chance outcome that depends on the ply alone: taking back a move doesn't reshuffle the cards."""
        return int(self.game.sample_action(self._states[-1], generators(derived_seed(self.seed, -1, ply), 1)[0]))


def derived_seed(seed: int, *numbers: int) -> int:
    """A seed for one use of several that share a seed."""
    return int(np.random.SeedSequence([seed, *(number + 1 for number in numbers)]).generate_state(1)[0])


def reveals(game: Game, seat: int, before: Any, action: int, after: Any) -> bool:
    """Whether a seat's own action showed it something hidden.

    So it is where in another world that fits the view before, the same action leads to another view.
    """
    rng, notes, world = generators(1, 1)[0], np.zeros(game.facts.notes), np.zeros(1, game.state)[0]
    game.prepare(before, seat, notes)
    seen = _content(after)
    return any(
        game.determinize(before, seat, notes, rng, world)
        and _content(view_of(game, next_state(game, world, action), seat)) != seen
        for _ in range(WORLDS)
    )


def observed_action(game: Game, seat: int, step: Step) -> int | None:
    """The action between two views of a seat, or None where the seat can't identify it.

    Samples worlds that fit the view before, and tries every action in each: the seat observes actions if all of them
    lead to different views, and identifies this one if exactly one ever leads to the view after.
    """
    after = _content(step.after)
    if step.turn == CHANCE and after == _content(step.before):
        return None
    rng, notes, world = generators(1, 1)[0], np.zeros(game.facts.notes), np.zeros(1, game.state)[0]
    game.prepare(step.before, seat, notes)
    found: set[int] = set()
    for tried in range(MAX_WORLDS if game.facts.hidden else 1):
        if tried >= (CHANCE_WORLDS if step.turn == CHANCE else WORLDS) and found:
            break
        if not game.determinize(step.before, seat, notes, rng, world):
            continue
        views = {
            action: _content(view_of(game, next_state(game, world, action), seat))
            for action in legal_actions(game, world)
        }
        if len(set(views.values())) < len(views):
            return None
        found |= {action for action, view in views.items() if view == after}
    return found.pop() if len(found) == 1 else None


def describe_step(game: Any, seat: int, step: Step, words: Words = ENGLISH) -> str:
    """A sentence about the action of another seat or of chance, empty where the seat saw nothing of it.

    An action that the seat can't identify is reported only where the view shows that the other's turn is over: a second
    sentence would reveal a try that failed in secret.

    Args:
        game: The game as `games.display.display` shows it.
    """
    most = max(game.facts.num_actions, game.facts.max_chance_outcomes)
    if not any(game.is_visible(step.before, action) for action in range(most)):  # a deal of many cards
        return ""
    action = observed_action(game, seat, step)
    if action is not None and not game.is_visible(step.before, action):
        return ""
    if step.turn == CHANCE:
        outcome = "" if action is None else game.action_to_string(step.before, action)
        return outcome and words("chance: {outcome}", outcome=outcome)
    number = step.turn + 1
    if action is None:
        return words("seat {seat} has moved", seat=number) if game.turn(step.after) != step.turn else ""
    description = game.describe_observed(step.before, action, step.after)
    return words.sentence(words("seat {seat}", seat=number), description, game.is_announcement(step.before))


def _content(view: Any) -> bytes:
    """The bytes of a record's fields, without the padding between them."""
    used = bits_used(view.dtype)
    return (np.frombuffer(view.tobytes().ljust(used.nbytes, b"\0"), np.uint64) & used).tobytes()
