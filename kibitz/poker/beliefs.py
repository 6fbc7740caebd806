"""Ranges in hold'em as people look at them: by hand class in a grid, each class split by action.

The grid of 13 x 13 classes begins with aces; pairs are on the diagonal, suited hands above it, offsuit hands below.
"""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.names import BadInput
from ..games import CHANCE, OVER, full_name, legal_actions, positions
from ..games.public_cards import masks
from ..play.players.german import said_in
from ..play.players.player import label
from ..play.players.worlds import FITS, policy_player
from .ranges import HandRange
from .rules.display import RANKS, card_name
from .rules.state import HIDDEN, HOLE, first_to_move


@dataclass(frozen=True)
class Hands:
    """The hands that a seat may hold, with their probabilities and what the seat does with each."""

    seat: int
    basis: str  # what the probabilities rest on, in words
    hands: np.ndarray  # [n, 2] i8: all hands of the deck, the higher card first
    probs: np.ndarray  # [n] f8: they sum to 1; 0: impossible
    actions: tuple[str, ...]  # the moves at the turn that `policy` is about; none where there is no such turn
    policy: np.ndarray  # [n, actions] f8: of the possible hands; 0 for the others
    played: str  # the move that was made at that turn; empty: the seat is to move

    def grid(self) -> list[list[dict[str, Any]]]:
        """Rows of hand classes, both from the highest rank: name, combos, probability and mean policy."""
        ranks = sorted({int(card) // 4 for card in self.hands.ravel()}, reverse=True)
        place = {rank: i for i, rank in enumerate(ranks)}
        cells: list[list[list[int]]] = [[[] for _ in ranks] for _ in ranks]
        for i, (high, low) in enumerate(self.hands.tolist()):
            row, column = place[high // 4], place[low // 4]
            if high % 4 != low % 4:
                row, column = column, row
            cells[row][column].append(i)
        return [[self._cell(ranks[r], ranks[c], r - c, cells[r][c]) for c in range(len(ranks))] for r in place.values()]

    def _cell(self, row: int, column: int, below: int, members: list[int]) -> dict[str, Any]:
        name = _class_name(max(row, column), min(row, column), below < 0)
        possible = [i for i in members if self.policy[i].any() or self.probs[i] > 0]
        probs = self.probs[possible]
        weights = probs if probs.sum() > 0 else np.ones(len(possible))
        mean = np.average(self.policy[possible], axis=0, weights=weights) if possible else np.zeros(len(self.actions))
        combos = [
            {
                "hand": " ".join(card_name(int(card)) for card in self.hands[i]),
                "prob": float(self.probs[i]),
                "policy": self.policy[i].tolist(),
            }
            for i in possible
        ]
        return {"name": name, "prob": float(probs.sum()), "policy": mean.tolist(), "combos": combos}

    def weights(self) -> list[list[float]]:
        """The grid's probabilities per combo, as shares of the likeliest class's: 0 (impossible) to 1."""
        per_combo = [[cell["prob"] / max(len(cell["combos"]), 1) for cell in row] for row in self.grid()]
        most = max(max(row) for row in per_combo)
        return [[each / most for each in row] for row in per_combo]

    def mean_policy(self) -> np.ndarray:
        """[actions] f8: how often the seat makes each move with its whole range."""
        return self.probs @ self.policy

    def as_json(self, language: str = "en") -> dict[str, Any]:
        """Everything, as values for JSON, rounded to five decimals, in words of a language (`en`, `de`)."""
        return {
            "seat": self.seat + 1,
            "basis": said_in(language, self.basis),
            "actions": list(self.actions),
            "played": self.played,
            "grid": _rounded(self.grid()),
        }


@dataclass(frozen=True)
class RangeBeliefs:
    """The range of the other seat, and beside it what the own seat does with every hand that it might hold."""

    other: Hands
    own: Hands
    exact: bool = True

    @property
    def basis(self) -> str:
        return self.other.basis

    def as_json(self, language: str = "en") -> dict[str, Any]:
        """Everything, as values for JSON, in words of a language (`en`, `de`)."""
        found = {"other": self.other.as_json(language), "own": self.own.as_json(language)}
        return {"kind": "ranges", "basis": said_in(language, self.basis), "exact": self.exact, **found}

    def text(self, language: str = "en") -> str:
        """The likeliest classes of hands, in a language (`en`, `de`)."""
        cells = sorted((cell for row in self.other.grid() for cell in row), key=lambda cell: -cell["prob"])
        shown = ", ".join(f"{cell['name']} {cell['prob']:.1%}" for cell in cells[:12])
        lines = [self.basis, f"seat {self.other.seat + 1} holds: {shown}, ..."]
        return "\n".join(said_in(language, line) for line in lines)

    def __str__(self) -> str:
        return self.text()


def hand_class(hand: Any) -> str:
    """The class of a hand of two cards, the higher one first: `AA`, `AKs` (suited), `AKo` (offsuit)."""
    high, low = (int(card) for card in hand)
    return _class_name(high // 4, low // 4, high % 4 == low % 4)


def _class_name(high: int, low: int, suited: bool) -> str:
    return RANKS[high] + RANKS[low] + ("" if high == low else "s" if suited else "o")


def _rounded(value: Any) -> Any:
    if isinstance(value, list):
        return [_rounded(each) for each in value]
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    return round(value, 5) if isinstance(value, float) else value


def range_beliefs(game: Any, view: Any, seat: int, assumed: Any = None, own: Any = None) -> RangeBeliefs:
    """The ranges of both seats at a view.

    Args:
        assumed: The player that the other seat is assumed to be; None: all hands that fit are equally likely.
        own: The player whose strategy is shown for the own seat: its range is what an opponent who knew the player
            would believe, so it doesn't depend on the own cards. None: no strategy.
    """
    if int(view.dealt) < HOLE:
        raise BadInput(f"the hands of {full_name(game)} aren't dealt yet")
    board = view.board[: int(view.dealt) - HOLE].astype(np.int64)
    held = masks(view.hole[seat].astype(np.int64))
    return RangeBeliefs(
        _hands(game, view, 1 - seat, assumed, int(held | masks(board))),
        _hands(game, view, seat, own, int(masks(board))),
    )


def weighted_worlds(game: Any, view: Any, seat: int, player: Any) -> tuple[np.ndarray, np.ndarray]:
    """The worlds in which the other seat may be, one for each of its hands, and their probabilities."""
    other = range_beliefs(game, view, seat, player).other
    probs = other.probs[other.probs > 0]
    worlds = np.tile(np.array([view], game.state), len(probs))
    worlds["hole"][:, 1 - seat] = other.hands[other.probs > 0]
    return worlds, probs


def public_position(game: Any, line: str) -> Any:
    """The position after moves and cards of the board, with all hole cards hidden; a seat is to move.

    Args:
        line: Such as `raise call 2c 7d Ts check`; cards may be written together. Empty: the first decision.

    Raises:
        BadInput: A move or a card isn't possible, or the board isn't complete, or the hand is over.
    """
    state = positions(game)[0]
    state.dealt, state.to_move = HOLE, first_to_move(0)
    for word in re.split(r"[\s,/]+", line.strip()):
        cards = re.findall(r"(?:10|\w)[cdhs♣♦♥♠]", word) if game.turn(state) == CHANCE else [word]
        for each in cards if "".join(cards) == word else [word]:
            if each and game.turn(state) == OVER:
                raise BadInput(f"{each!r} comes after the end of the hand")
            if each:
                game.play(state, game.parse_action(state, each))
    if game.turn(state) < 0:
        over = game.turn(state) == OVER
        raise BadInput(f"{line!r}: {'the hand is over' if over else 'the next cards of the board are missing'}")
    return state


def public_strategy(game: Any, state: Any, player: Any) -> Hands:
    """What a player does with every hand at a position without hole cards, as the seat to move.

    The range is what an opponent who knew the player would believe.
    """
    board = state.board[: int(state.dealt) - HOLE].astype(np.int64)
    return _hands(game, state, int(game.turn(state)), player, int(masks(board)))


def distance(one: Hands, other: Hands) -> float:
    """How far two policies are apart, 0 to 1: the total variation distance, as a mean over all hands that fit."""
    possible = one.policy.any(axis=1)
    return float(0.5 * np.abs(one.policy - other.policy)[possible].sum(axis=1).mean())


def differences(one: Hands, other: Hands) -> list[tuple[str, list[float], list[float]]]:
    """Classes whose mean policies differ, with both policies: the largest difference times combos first."""
    pairs = [
        (len(a["combos"]) * sum(abs(x - y) for x, y in zip(a["policy"], b["policy"], strict=True)), a, b)
        for row, beside in zip(one.grid(), other.grid(), strict=True)
        for a, b in zip(row, beside, strict=True)
    ]
    pairs.sort(key=lambda each: -each[0])
    return [(a["name"], a["policy"], b["policy"]) for apart, a, b in pairs if apart > 0]


def _hands(game: Any, view: Any, seat: int, player: Any, known: int) -> Hands:
    """What is known of the hand of a seat that plays like the player and can't hold the known cards."""
    made = None if player is None else policy_player(player, game)
    found = HandRange(game, made)
    found.begin(seat)
    found.look(view, known)
    basis = FITS
    if made is not None:
        who = f"seat {seat + 1} plays like {label(player)}"
        basis = f"if {who}; it never does so here: all hands are possible" if found.surprised else f"if {who}"
    actions, policy, played = (), np.zeros((len(found.hands), 0)), ""
    if made is not None and game.turn(view) == seat:
        now = view.copy()
        now.hole[:] = HIDDEN
        reach, probs = found.reach, found.ask(now, np.tile(found.free, (len(found.weights), 1)))
        actions, policy = _mean(game, now, found, reach, probs)
    elif found.last is not None:
        now = found.last.state
        actions, policy = _mean(game, now, found, found.last.reach, found.last.probs)
        played = game.action_to_string(now, found.last.action)
    return Hands(seat, basis, found.hands, found.range / found.range.sum(), actions, policy, played)


def _mean(game: Any, state: Any, found: HandRange, reach: np.ndarray, probs: np.ndarray) -> tuple[Any, np.ndarray]:
    """The names of the moves at a turn, and [hands, moves] f8: the policy of the mixture of strategies."""
    legal = legal_actions(game, state)
    weights = np.where(reach.sum(axis=0) > 0, reach, found.weights[:, None])
    policy = np.einsum("sh,sha->ha", weights, probs[:, :, legal]) / weights.sum(axis=0)[:, None]
    return tuple(game.action_to_string(state, action) for action in legal), policy
