"""Seven defects of the program of Żarejko's thesis (2021), each of which a run can reproduce.

This file has all that concerns them, except a line for `flipped-signs` in the kernel `traversal.collect`, and what
only one game can have (`Traits.defects`).
"""

from typing import Any, NamedTuple

import numpy as np

from ...core.names import BadInput, choose
from ...games import full_name, offering
from ...jit import rules
from .traits import traits_of

DEFECTS = {
    "one-deal": "all traversals of an iteration get the same cards",
    "whole-pot": "the winner gets and the loser pays the whole pot, instead of what they put in",
    "flipped-signs": "values change sign at every move, as if the seats always alternated",
    "free-raises": "raises are small on all streets, and capped by the stack only",
    "newest-held-out": "the newest samples are the validation set, so that no network learns from them",
    "calls-unseen": "the encoding doesn't contain calls",
    "weight-by-step": "a sample is weighted by the number of its move in the hand, instead of its iteration",
}
OF_ONE_GAME = ("whole-pot", "free-raises", "calls-unseen")  # that has them among its `Traits.defects`


def parse(text: str) -> frozenset[str]:
    """Parse comma-separated names of defects."""
    return frozenset(choose("defect", name.strip(), DEFECTS) for name in text.split(",") if name.strip())


def joined(defects: Any) -> str:
    """Defects as the value of `--defects`, in the order of DEFECTS."""
    return ",".join(name for name in DEFECTS if name in defects)


def possible(game: Any) -> str:
    """All defects that a game can have."""
    return joined([name for name in DEFECTS if name not in OF_ONE_GAME or name in traits_of(game).defects])


def refuse(config: Any, game: Any) -> None:
    """Raise BadInput where a game or the other options don't allow a defect."""
    defects = parse(config.defects)
    for name in joined(defects).split(","):
        if name in OF_ONE_GAME:
            if name not in traits_of(game).defects:
                raise BadInput(f"the defect {name} is one of {offering('deep_cfr')}, not of {full_name(game)}")
            traits_of(game).check_defect(name)
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
    return traits_of(game).with_defect("free-raises") if "free-raises" in defects else game


def encoded_game(game: Any, defects: frozenset[str]) -> Any:
    """The game by whose rules views are encoded."""
    return traits_of(game).with_defect("calls-unseen") if "calls-unseen" in defects else game


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
