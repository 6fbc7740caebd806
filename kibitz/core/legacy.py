"""Old names of players, options and configuration fields in run folders and records from before version 0.2.

They are translated when such a file is read, for one release; input from the command line is not translated.
"""

from typing import Any

# Player kinds; the parameters behind the colon are translated by OPTIONS.
PLAYERS = {"usual": "heuristic", "doko-rules": "heuristic"}
# Options of players, and their values.
OPTIONS = {"guesses": "worlds", "playouts=usual": "playouts=heuristic"}
# Fields of training configurations.
FIELDS = {
    "judge_every": "evaluate_every",
    "under_way": "in_flight",
    "shared_luck": "shared_chance",
    "same_luck": "shared_seed",
}


def current_player(text: str) -> str:
    """A player's present name: `usual` -> `heuristic`, `doko:RUN,guesses=50` -> `doko:RUN,worlds=50`."""
    name, colon, parameters = text.partition(":")
    parts = []
    for part in parameters.split(","):
        key, equals, value = part.partition("=")
        parts.append(OPTIONS.get(part) or OPTIONS.get(key, key) + equals + value)
    return PLAYERS.get(name, name) + colon + ",".join(parts)


def current_config(values: dict[str, Any]) -> dict[str, Any]:
    """A run's configuration with the present names of its fields and players."""
    found = {FIELDS.get(key, key): value for key, value in values.items()}
    if isinstance(found.get("players"), list):
        found["players"] = [current_player(each) if isinstance(each, str) else each for each in found["players"]]
    return found
