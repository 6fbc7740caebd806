"""Patterns in words."""

from typing import Any

from ...games.boards import SQUARE
from .patterns import ALL, ANCHORS, KINDS, Pattern, Place

NAMES = {"off": "off the board"}
COMPASS = {
    8: ("east", "north-east", "north", "north-west", "west", "south-west", "south", "south-east"),
    6: ("east", "north-east", "north-west", "west", "south-west", "south-east"),
}


def describe_pattern(pattern: Pattern, board: Any) -> str:
    """`to a cell: friend 1 east, not empty 2 north`; rotations and reflections are the same pattern."""
    parts = []
    for anchor in pattern.anchors:
        words = [
            f"{describe_kinds(allowed)} {describe_place(board, place)}"
            for at, place, allowed in pattern.elements
            if at == anchor
        ]
        words += [f"{mark.name} = {mark.value}" for mark in pattern.marks if mark.anchor == anchor]
        where = f"the cell {describe_place(board, pattern.start)}" if anchor and pattern.start else ""
        end = f"{ANCHORS[anchor]} {where or ('a cell' if words else 'any cell')}"
        parts.append(f"{end}: {', '.join(words)}" if words else end)
    return "; ".join(parts)


def describe_kinds(allowed: int) -> str:
    kinds = [NAMES.get(kind, kind) for bit, kind in enumerate(KINDS) if allowed >> bit & 1]
    if len(kinds) == 3:
        return f"not {describe_kinds(ALL ^ allowed)}"
    return " or ".join(kinds)


def describe_place(board: Any, place: Place) -> str:
    if place == (0, 0):
        return "there"
    steps, compass = board.directions, COMPASS[len(board.directions)]
    for step, name in zip(steps, compass, strict=True):
        n = max(map(abs, place)) // max(map(abs, step))
        if (n * step[0], n * step[1]) == place:
            return f"{n} {name}"
    if steps == SQUARE:  # a leap
        up, right = place
        return f"{abs(up)} {'north' if up > 0 else 'south'} {abs(right)} {'east' if right > 0 else 'west'}"
    between = {
        (one[0] + other[0], one[1] + other[1]): f"between {compass[k]} and {compass[(k + 1) % len(steps)]}"
        for k, (one, other) in enumerate(zip(steps, (*steps[1:], steps[0]), strict=True))
    }
    return between.get(place, f"at row {place[0]:+}, column {place[1]:+}")
