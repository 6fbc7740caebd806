"""Run folders from before version 0.3: their games and learners are named as they were given, relatively."""

from typing import Any

from .names import absolute


def current_config(values: dict[str, Any]) -> dict[str, Any]:
    """A run's configuration as the present version writes it."""
    named = {key: absolute(values[key]) for key in ("game", "method") if isinstance(values.get(key), str)}
    return values | named
