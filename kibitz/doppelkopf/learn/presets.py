"""Settings of general learners for Doppelkopf: learner -> game -> values of its preset `best`."""

from typing import Any

MMD: dict[str, dict[str, Any]] = {
    # 2.5 million games. The start plays well, so that a low entropy bonus is enough.
    "doppelkopf": {
        "start": "models/doppelkopf",
        "hidden": "256-64",
        "iterations": 1220,
        "games": 2048,
        "warmup": 80,
        "magnet": 0.16,
        "magnet_every": 200,
        "learning_rate": 1e-3,
        "entropy": 0.04,
        "final_entropy": 0.2,
        "kl": 4.0,
        "epochs": 2,
        "minibatches": 8,
        "evaluation_deals": 2000,
        "keep_every": 100,
    },
}
TRAINING = {"mmd": MMD}
