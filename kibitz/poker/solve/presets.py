"""Numbers of clusters by street, as text: a preset, or one number per street after the first."""

from typing import Any

from ...core import memory
from ...core.names import BadInput
from ...games import full_name
from .cards import Cards

PRESETS = {"small": 200, "medium": 1000, "large": 9000}  # clusters of each street
MAX_CLUSTERS = 10**6


def clusters(text: str, game: Any, cards: Cards) -> tuple[int, ...]:
    """The numbers of clusters of each street after the first, of `9000-9000-9000` or a preset; 0: no abstraction.

    Raises:
        BadInput: It is neither, or it isn't one number per street.
    """
    streets = cards.streets - 1
    if cards.hole == 1 or not streets:
        raise BadInput(f"{full_name(game)} needs no card abstraction: kibitz solve {full_name(game)} --with pcs")
    if text in PRESETS:
        return (PRESETS[text],) * streets
    parts = text.split("-")
    if not all(part.isdecimal() and len(part) < 8 for part in parts):
        raise BadInput(
            f"--buckets {text!r} should be {', '.join(PRESETS)} or a number per street such as "
            f"{'-'.join(['500'] * streets)}"
        )
    found = tuple(int(part) for part in parts)
    if len(found) != streets:
        raise BadInput(
            f"--buckets {text} names {len(found)} streets, and {full_name(game)} has {streets} after the first: "
            f"{'-'.join(['500'] * streets)}"
        )
    for count in found:
        if count == 1 or count > MAX_CLUSTERS:
            raise BadInput(f"--buckets {text}: {count} should be 0 (no abstraction) or 2 to {MAX_CLUSTERS:,}")
    if not any(found):
        raise BadInput(f"--buckets {text} abstracts nothing: at least one street should have clusters")
    return found


def check_memory(game: Any, cards: Cards, found: tuple[int, ...]) -> None:
    """Refuse an abstraction that needs more memory than the limit, as far as that is known before."""
    boards = len(cards.classes(cards.dealt[-1])[0])
    lossless = [street for street, count in enumerate(found, 1) if not count and cards.dealt[street] > 3]
    need = boards * len(cards.hands) * (6 + 24 * bool(lossless))
    memory.check(need, f"the abstraction of {full_name(game)}", "choose a smaller deck or fewer streets")
