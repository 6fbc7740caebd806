"""A growing hash table from infosets to the numbers that a sampling search stores for each.

A kernel that finds no room returns; `grow` doubles what is full; the kernel is called again.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..core import memory
from ..core.names import BadInput
from ..jit import helper, kernel, record, wrapping
from .budget import never

SLOT = record(("key", "u8"), ("at", "u4"), ("width", "u2"))  # key 0: free
COPIED = 2**19  # cells or slots at a time, a millisecond or so, where copying may be stopped
TWO_WIDTHS = "infoset gives one key to two positions with different numbers of legal actions"


class Table(NamedTuple):
    slots: np.ndarray  # [capacity, a power of two] SLOT: infoset -> where its cells begin
    cells: np.ndarray  # [room] f8: `width` numbers per infoset, whose meaning is the search's own
    used: np.ndarray  # [2] i8: number of used slots and cells


def new_table(slots: int = 1024, cells: int = 8192) -> Table:
    return Table(np.zeros(slots, SLOT), np.zeros(cells), np.zeros(2, np.int64))


def size(table: Table) -> int:
    """Bytes that the table uses."""
    return sum(array.nbytes for array in table)


def grow(table: Table, infosets: int, cells: int, stopped: Callable[[], bool] = never) -> Table:
    """A table of the same contents with room for more infosets and cells; arrays are doubled until there is.

    Copying a large table takes a while: once `stopped`, the table is returned as it was.
    """
    slots, old = table.slots, table.cells
    capacity, room = len(slots), len(old)
    while not has_room(table.used[0], capacity, infosets):
        capacity *= 2
    while table.used[1] + cells > room:
        room *= 2
    if room > 2**32:
        raise MemoryError(f"the table would need {room:,} cells, more than its 32-bit offsets can address")
    more = (capacity > len(slots)) * capacity * SLOT.itemsize + (room > len(old)) * room * old.itemsize
    memory.check(
        size(table) + more, "the table of infosets", "choose a smaller game, or fewer iterations or simulations"
    )
    if capacity > len(slots):
        slots = np.zeros(capacity, SLOT)
        for first in range(0, len(table.slots), COPIED):
            if stopped():
                return table
            _rehash(table.slots[first : first + COPIED], slots)
    if room > len(old):
        old = np.zeros(room)
        for first in range(0, len(table.cells), COPIED):
            if stopped():
                return table
            old[first : min(first + COPIED, len(table.cells))] = table.cells[first : first + COPIED]
    return Table(slots, old, table.used)


@helper
def has_room(used, capacity, infosets):
    """Whether there is room for more infosets: at most half of the slots are used, so that probing is short."""
    return 2 * (used + infosets) <= capacity


@wrapping
def _spread(key):
    z = key * np.uint64(0xBF58476D1CE4E5B9)
    return z ^ z >> np.uint64(32)


@helper
def slot_of(slots, key):
    """The slot that holds a key, or the free one where it would go."""
    mask = np.uint64(len(slots) - 1)
    i = _spread(key) & mask
    while slots[i].key != key and slots[i].key != 0:
        i = i + np.uint64(1) & mask
    return i


def clear(table: Table) -> None:
    """Remove everything, but keep the memory."""
    table.slots[:] = 0
    table.cells[: table.used[1]] = 0
    table.used[:] = 0


@helper
def find(table, key, width):
    """Where the cells of an infoset begin; a new infoset is added with zeros; -1 if there is no room."""
    i = slot_of(table.slots, key)
    if table.slots[i].key == key:
        if table.slots[i].width != width:
            raise BadInput(TWO_WIDTHS)
        return np.int64(table.slots[i].at)
    if not has_room(table.used[0], len(table.slots), 1) or table.used[1] + width > len(table.cells):
        return -1
    at = table.used[1]
    table.slots[i].key = key
    table.slots[i].at = at
    table.slots[i].width = width
    table.used[0] += 1
    table.used[1] = at + width
    return at


@kernel
def _rehash(old, new):
    for i in range(len(old)):
        if old[i].key != 0:
            new[slot_of(new, old[i].key)] = old[i]
