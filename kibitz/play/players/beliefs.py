"""What a seat may believe about hidden information, as data for people: tables of probabilities in words.

Every result says what it rests on (`basis`), depends on the view alone, and has `as_json()`. A game may have tables of
its own (the hook `beliefs`); in others the worlds that fit the view (`worlds.py`) answer questions such as "the card of
seat 2".
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ...core.names import BadInput
from ...games import Game, view_of
from ...games import goofspiel as _goofspiel
from ...games import kuhn as _kuhn
from ...games import leduc as _leduc
from ...games.goofspiel import Goofspiel
from ...games.kuhn import Kuhn
from ...games.leduc import Leduc
from ...games.liars_dice import LiarsDice
from .defaults import default_player
from .german import said_in
from .worlds import MAX_POSITIONS, Worlds, possible_worlds

MAX_VALUES = 50  # of a field; one with more, such as a hash, is left out

# A question in words, whether exactly one of its answers is true, and the answers that are true in a world, each with
# a key by which answers are sorted.
Answers = tuple[str, bool, list[tuple[Any, str]]]


class Believed(Protocol):
    """What a seat may believe, as a game or `Beliefs` has it."""

    @property
    def basis(self) -> str:
        """What the probabilities rest on, in words."""

    def as_json(self, language: str = "en") -> dict[str, Any]:
        """Everything, as values for JSON, with its `kind`."""

    def text(self, language: str = "en") -> str:
        """Everything, for a terminal."""


@dataclass(frozen=True)
class Distribution:
    """Probabilities of the answers to one question about hidden information."""

    about: str  # "card of seat 2"
    probs: dict[str, float]  # answer -> probability, in the order of the game
    fits: dict[str, float]  # the same without an assumption about the other seats
    one: bool  # whether exactly one answer is true, so that they sum to 1; else each is true or not by itself

    def as_json(self, language: str = "en") -> dict[str, Any]:
        answers = [{"answer": key, "prob": prob, "fits": self.fits[key]} for key, prob in self.probs.items()]
        return {"about": said_in(language, self.about), "one": self.one, "answers": answers}


@dataclass(frozen=True)
class Beliefs:
    """What a seat may believe, one distribution per question."""

    basis: str  # what the probabilities rest on, in words
    exact: bool  # whether they are computed exactly; else from samples
    worlds: int  # number of worlds
    distributions: tuple[Distribution, ...]

    def as_json(self, language: str = "en") -> dict[str, Any]:
        """Everything, as values for JSON, in words of a language (`en`, `de`)."""
        basis, found = said_in(language, self.basis), [each.as_json(language) for each in self.distributions]
        return {"kind": "worlds", "basis": basis, "exact": self.exact, "worlds": self.worlds, "tables": found}

    def text(self, language: str = "en") -> str:
        """One line per distribution, in a language (`en`, `de`)."""
        lines = [self.basis]
        for each in self.distributions:
            shown = ", ".join(f"{answer} {prob:.1%}" for answer, prob in each.probs.items())
            lines.append(f"{each.about}: {shown}")
        return "\n".join(said_in(language, line) for line in lines)

    def __str__(self) -> str:
        return self.text()


def beliefs(
    game: Game, view: Any, seat: int, assumed: Any = None, own: Any = None, most: int = MAX_POSITIONS
) -> Believed:
    """What a seat may believe about what its view hides.

    Args:
        game, view, seat: The view; it may be another seat's turn.
        assumed: The player that the other seats are assumed to be, by name or as an object, such as `net:models/leduc`,
            or one with a belief network. None: all deals that fit are equally likely.
        own: The player whose strategy with all own hands is shown beside it, where the game has that; by default
            `assumed`.
        most: Number of positions up to which all worlds are found; beyond it worlds are sampled.

    Raises:
        BadInput: Nothing is hidden, or the player's probabilities aren't known at every view.
    """
    if (tables := getattr(game, "beliefs", None)) is not None:
        found: Believed = tables(view, seat, assumed, own)
        return found
    worlds = possible_worlds(game, view, seat, assumed, most)
    return Beliefs(worlds.basis, worlds.exact, len(worlds.states), tuple(_distributions(game, worlds, seat)))


def adviser_beliefs(game: Game, view: Any, seat: int, player: Any, most: int = MAX_POSITIONS) -> Believed | None:
    """What an adviser's seat may believe about hidden information; None: nothing is known.

    The others are assumed to play like the adviser where its probabilities are known for every hand, else like the
    game's default player where its are; else all deals that fit are equally likely.
    """
    if not game.facts.hidden:
        return None
    for assumed in (player, default_player(game), None):
        try:
            return beliefs(game, view, seat, assumed, most=most)
        except BadInput:
            continue
    return None


def _distributions(game: Game, worlds: Worlds, seat: int) -> Iterator[Distribution]:
    ask = QUESTIONS.get(type(game), _fields(game, worlds, seat))
    kinds: dict[str, bool] = {}
    totals: dict[str, dict[tuple[Any, str], np.ndarray]] = {}
    for state, *probs in zip(worlds.states, worlds.probs, worlds.fits, strict=True):
        for about, one, answers in ask(game, state, 1 - seat):
            kinds[about] = one
            sums = totals.setdefault(about, {})
            for answer in answers:
                sums[answer] = sums.get(answer, 0) + np.array(probs)
    for about, sums in totals.items():
        ordered = sorted(sums)
        by_answer, fits = ({text: float(sums[order, text][i]) for order, text in ordered} for i in range(2))
        yield Distribution(about, by_answer, fits, kinds[about])


# ---------------------------------------------------------------- questions about the seat `other`


def kuhn(game: Any, world: Any, other: int) -> Iterable[Answers]:
    card = int(world.cards[other])
    if card >= 0:
        yield f"card of seat {other + 1}", True, [(card, str(_kuhn.card_name(card)))]


def leduc(game: Any, world: Any, other: int) -> Iterable[Answers]:
    card = int(world.cards[other])
    if card >= 0:
        yield f"card of seat {other + 1}", True, [(card, _leduc.card_name(game, card))]


def liars_dice(game: Any, world: Any, other: int) -> Iterable[Answers]:
    dice = [int(die) + 1 for die in world.dice[other, : game.dice] if die >= 0]
    if dice:
        yield f"dice of seat {other + 1}", True, [(tuple(dice), " ".join(map(str, dice)))]
    if len(dice) > 1:
        yield f"faces among the dice of seat {other + 1}", False, [(face, str(face)) for face in sorted(set(dice))]


def goofspiel(game: Any, world: Any, other: int) -> Iterable[Answers]:
    left = [(card, str(card + 1)) for card in range(game.cards) if int(world.hand[other]) >> card & 1]
    yield f"cards in the hand of seat {other + 1}", False, left
    for round in range(game.cards):
        bid = int(world.bids[other, round])
        if bid != _goofspiel.HIDDEN:
            yield f"bid of seat {other + 1} in round {round + 1}", True, [(bid, str(bid + 1))]


Questions = Callable[[Any, Any, int], Iterable[Answers]]
QUESTIONS: dict[type, Questions] = {Kuhn: kuhn, Leduc: leduc, LiarsDice: liars_dice, Goofspiel: goofspiel}


def _fields(game: Game, worlds: Worlds, seat: int) -> Questions:
    """Questions about any other game: the values of those fields of its record that the view doesn't show."""
    view = view_of(game, worlds.states[0], seat)
    hidden = []
    for field in game.state.names or ():
        shown = np.asarray(view[field])
        for place in np.ndindex(shown.shape):
            values = worlds.states[field][(slice(None), *place)]
            if (values != shown[place]).any() and len(np.unique(values)) <= MAX_VALUES:
                hidden.append((field + "".join(f"[{i}]" for i in place), field, place))

    def ask(game: Any, world: Any, other: int) -> Iterable[Answers]:
        for name, field, place in hidden:
            value = np.asarray(world[field])[place].item()
            yield name, True, [(value, str(value))]

    return ask
