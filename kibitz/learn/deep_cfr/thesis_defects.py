"""Seven defects of the program of Żarejko's thesis on hold'em (2021), each of which a run can reproduce.

`kibitz train deep-cfr holdem:thesis --preset thesis --defects one-deal,whole-pot` trains with two of them. This file
has all that concerns them, except a line for `flipped-signs` in the kernel `traversal.collect`.
"""

from typing import Any, NamedTuple

import numpy as np

from ...core.names import BadInput, choose
from ...games import full_name
from ...games.holdem.encoding import CALLS_UNSEEN
from ...jit import rules

DEFECTS = {
    "one-deal": "all traversals of an iteration get the same cards",
    "whole-pot": "the winner gets and the loser pays the whole pot, instead of what they put in",
    "flipped-signs": "values change sign at every move, as if the seats always alternated",
    "free-raises": "raises are small on all streets, and capped by the stack only",
    "newest-held-out": "the newest samples are the validation set, so that no network learns from them",
    "calls-unseen": "the encoding doesn't contain calls",
    "weight-by-step": "a sample is weighted by the number of its move in the hand, instead of its iteration",
}
HOLDEM_ONLY = ("whole-pot", "free-raises", "calls-unseen")
MAX_RAISES = 5  # per street: the maximum of the rules of hold'em


def parse(text: str) -> frozenset[str]:
    """Parse comma-separated names of defects."""
    return frozenset(choose("defect", name.strip(), DEFECTS) for name in text.split(",") if name.strip())


def joined(defects: Any) -> str:
    """Defects as the value of `--defects`, in the order of DEFECTS."""
    return ",".join(name for name in DEFECTS if name in defects)


def possible(game: Any) -> str:
    """All defects that a game can have."""
    return joined([name for name in DEFECTS if game.name == "holdem" or name not in HOLDEM_ONLY])


def refuse(config: Any, game: Any) -> None:
    """Raise BadInput where a game or the other options don't allow a defect."""
    defects = parse(config.defects)
    for name in joined(defects).split(","):
        if name in HOLDEM_ONLY and game.name != "holdem":
            raise BadInput(f"the defect {name} is one of holdem, not of {full_name(game)}")
        if name in ("free-raises", "calls-unseen") and game.inputs == 0:
            raise BadInput(f"the defect {name} needs the thesis' encoding, holdem with inputs=1, not inputs=0")
    if "one-deal" in defects and not config.shared_chance:
        raise BadInput("the defect one-deal shares all chance outcomes: it doesn't work with shared_chance=no")
    if "newest-held-out" in defects and (config.replay != "latest" or not config.validation or config.merge_samples):
        raise BadInput(
            "the defect newest-held-out needs samples in order of age: replay=latest, validation above 0, and "
            "merge_samples=no"
        )


# ---------------------------------------------------------------- how they are applied


def traversed_game(game: Any, defects: frozenset[str]) -> Any:
    """The game whose tree is traversed."""
    if "free-raises" in defects:
        return game._replace(big_bet=game.small_bet, preflop_raises=MAX_RAISES, raises=MAX_RAISES)
    return game


def encoded_game(game: Any, defects: frozenset[str]) -> Any:
    """The game by whose rules views are encoded."""
    return game._replace(inputs=CALLS_UNSEEN) if "calls-unseen" in defects else game


RULES = {"payout": "self, game, state, seat"}


@rules(RULES)
class Payoff(NamedTuple):
    """Values a finished game by the rules' payoff."""

    def payout(self, game, state, seat):
        return game.payoff(state, seat)


@rules(RULES)
class WholePot(NamedTuple):
    """Values a finished game as plus or minus the whole pot."""

    def payout(self, game, state, seat):
        won = game.payoff(state, seat)
        pot = (int(state.paid[0]) + int(state.paid[1])) / game.big_blind
        return pot * ((won > 0) - (won < 0))


def final_value(defects: frozenset[str]) -> Any:
    """The rule that values finished games."""
    return WholePot() if "whole-pot" in defects else Payoff()


def sample_weights(steps: np.ndarray, weight: float, defects: frozenset[str]) -> np.ndarray:
    """Weights of the samples of an iteration: `weight`, or the number of the move in the hand."""
    return steps.astype(np.float32) if "weight-by-step" in defects else np.full(len(steps), weight, np.float32)
