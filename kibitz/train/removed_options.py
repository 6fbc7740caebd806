"""Options that learners had once, with the value that is now part of the code: runs that have it still open."""

from typing import Any

from ..core.names import BadInput

EXIT: dict[str, Any] = {"replay": "exponential", "replay_decay": 2.0}
REMOVED: dict[str, dict[str, Any]] = {
    "alphazero": {
        "considered": 16, "c": 1.5, "c_scale": 0.3, "dirichlet": 0.5, "opening_share": 0.5, "weight_decay": 1e-4,
        "searched_value": 0.25, "symmetries": True,
    },
    "deep-cfr": {"regret_power": 1.0, "patience": 10},
    "distill": {"averaging": 0.01},
    "exit-oos": EXIT | {"epsilon": 0.4, "delta": 0.9, "gamma": 0.01, "target": "auto", "in_flight": 20},
    "exit-ismcts": EXIT | {"c": 0.7},
    "next-card": {"layers": 2},
    "ntuple": {"successors": 0.0, "samples": 2.0},
    "tspg": {
        "target": "visits", "momentum": 0.9, "decay": 0.9, "epsilon": 1e-8, "exploration": 2.5, "prove": False,
        "playout_plies": 200, "max_turns": 150, "keep_first": True,
    },
}  # fmt: skip


def without_removed(learner: str, values: dict[str, Any]) -> dict[str, Any]:
    """The values of a configuration but for options that the learner no longer has.

    Raises:
        BadInput: Such an option has another value than the one that is left.
    """
    removed = REMOVED.get(learner, {})
    for name, left in removed.items():
        if values.get(name, left) != left:
            raise BadInput(f"{name}={values[name]} is no option of {learner} any more: it is always {left}")
    return {name: value for name, value in values.items() if name not in removed}
