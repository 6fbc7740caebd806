"""Old names of players, options and configuration fields in run folders and records from before version 0.2.

They are translated when such a file is read, for one release; input from the command line is not translated. Fields
that were added later get the value that makes a run continue as it began.
"""

from typing import Any

from .names import absolute

# Player kinds; the parameters behind the colon are translated by OPTIONS.
PLAYERS = {"usual": "heuristic", "doko-rules": "heuristic"}
# Options of players, and their values.
OPTIONS = {
    "guesses": "worlds",
    "calls": "announcements",
    "urgency": "fpu",
    "playouts=usual": "playouts=heuristic",
    "part=view": "part=belief",
    "part=quick": "part=policy",
    "deals=weighted": "determinization=belief",
    "deals=even": "determinization=uniform",
    "value=open": "value=network",
    "prior": "prior_weight",
    "doubt": "confidence",
    "tree": "tree_simulations",
}
# Fields of training configurations: of all learners, then of each.
FIELDS = {
    "judge_every": "evaluate_every",
    "under_way": "in_flight",
    "shared_luck": "shared_chance",
    "same_luck": "shared_seed",
    "rate": "learning_rate",
    "batch": "batch_size",
}
LEARNER_FIELDS: dict[str, dict[str, str]] = {
    "exit-oos": {
        "explore": "exploration",
        "rule": "replay",
        "decay": "replay_decay",
        "linear": "linear_averaging",
    },
    "tspg": {
        "inside": "epsilon_inside",
        "shared": "divide_learning_rate",
        "fewest": "min_cases",
        "confident": "confidence_bound",
        "plies": "playout_plies",
        "turns": "max_turns",
        "grow": "new_patterns",
        "grow_from": "growth_positions",
    },
    "deep-cfr": {
        "net": "network",
        "skips": "skip_connections",
        "init": "init_scale",
        "scratch": "reinitialize",
        "strategy_batch": "strategy_batch_size",
        "rate_falls": "learning_rate_decay",
        "clip": "max_gradient_norm",
        "held_out": "validation",
        "memory": "replay",
        "merge": "merge_samples",
        "reads": "hand_categories",
        "suits_alike": "suit_isomorphism",
        "answers": "inference_device",
    },
    "next-card": {"judged": "evaluation_games"},
    "cards": {
        "judged": "evaluation_games",
        "view": "belief_hidden",
        "quick": "policy_hidden",
        "open": "value_hidden",
    },
    "exit-cards": {"judged": "evaluation_deals"},
}
# Fields that a learner got later, with the value that runs without them have.
NEW_FIELDS: dict[str, dict[str, Any]] = {
    "deep-cfr": {"balance_streets": False, "epochs": 0.0, "min_steps": 100, "weight_averaging": 0.0},
    "exit-oos": {"leaf": "playout", "prior_weight": 0.0, "value_hidden": "64-32", "value_games": 2000},
    "tspg": {"growth_wins": False},
}
# Fields that were yes or no, and what these are called now.
FLAGS: dict[str, dict[bool, str]] = {"learning_rate_decay": {True: "linear", False: "none"}}
# Tensors of the learners `cards` and `exit-cards`: parts of their names in files, checkpoints and journals.
CARD_TENSORS = {"view": "belief", "quick": "policy", "open": "value", "worth": "action_values"}
# Seven yes-or-no fields of deep-cfr, now names in its field `defects`.
DEFECTS = (
    "one_deal",
    "whole_pot",
    "flipped_signs",
    "free_raises",
    "newest_held_out",
    "calls_unseen",
    "weight_by_step",
)


def current_player(text: str) -> str:
    """A player's present name: `usual` -> `heuristic`, `doko:RUN,guesses=50` -> `doko:RUN,worlds=50`."""
    name, colon, parameters = text.partition(":")
    parts = []
    for part in parameters.split(","):
        key, equals, value = part.partition("=")
        parts.append(OPTIONS.get(part) or OPTIONS.get(key, key) + equals + value)
    return PLAYERS.get(name, name) + colon + ",".join(parts)


def current_config(values: dict[str, Any]) -> dict[str, Any]:
    """A run's configuration with the present fields, and the present names of its fields and players."""
    method = str(values.get("method")) if values.get("command") == "train" else ""
    fields = FIELDS | LEARNER_FIELDS.get(method, {})
    found = NEW_FIELDS.get(method, {}) | {fields.get(key, key): value for key, value in values.items()}
    for key, called in FLAGS.items():
        if isinstance(value := found.get(key), bool):
            found[key] = called[value]
    if DEFECTS[0] in found:
        flags = {name: found.pop(name) for name in DEFECTS if name in found}
        found["defects"] = ",".join(name.replace("_", "-") for name, flag in flags.items() if flag)
    for key in ("game", "method"):  # before version 0.3 as they were given
        if isinstance(found.get(key), str):
            found[key] = absolute(found[key])
    if isinstance(found.get("players"), list):
        found["players"] = [current_player(each) if isinstance(each, str) else each for each in found["players"]]
    return found


def current_card_tensor(name: str) -> str:
    """A tensor's name in a file of card networks: `quick.weights.0` -> `policy.weights.0`."""
    return ".".join(CARD_TENSORS.get(part, part) for part in name.split("."))
