"""Memory: how much is free, how much of it a command may use, and the refusal of what needs more.

The limit is 80% of what is free when the process starts, or what `--memory` says. It is kept in an environment
variable, so that worker processes have it too; they share it evenly.
"""

import functools
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .names import BadInput, TooLarge

VARIABLE = "KIBITZ_MEMORY"
DEFAULT = "80%"
UNITS = {"": 1e9, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
UNKNOWN = 4e9  # bytes that are taken to be free where the system doesn't say
CGROUP = Path("/sys/fs/cgroup")
MEMINFO = Path("/proc/meminfo")
# Limit and use of a control group, version 2 and version 1.
GROUPS = (("memory.max", "memory.current"), ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"))


def free() -> float:
    """Bytes that are free: of the machine, or of the control group (container) of this process if that is less."""
    return min(_free_of_machine(), _free_of_group())


def _free_of_machine() -> float:
    try:
        found = re.search(r"^MemAvailable:\s+(\d+) kB", MEMINFO.read_text(), re.MULTILINE)
        if found:
            return 1024.0 * int(found[1])
    except OSError:
        pass
    try:  # macOS: half of the machine's memory
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2
    except (AttributeError, ValueError, OSError):
        return UNKNOWN


def _free_of_group() -> float:
    for limit, used in GROUPS:
        try:
            return max(0.0, float((CGROUP / limit).read_text()) - float((CGROUP / used).read_text()))
        except (OSError, ValueError):  # no such group, or "max"
            continue
    return float("inf")


def parse(text: str) -> float:
    """Bytes of `8` (gigabytes), `8G`, `500M`, or `50%` of what is free."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*(%|[KMGT]?)B?\s*", text, re.IGNORECASE)
    size = 0.0
    if found:
        number, unit = float(found[1]), found[2].upper()
        size = (number / 100 * free() if number <= 100 else 0.0) if unit == "%" else number * UNITS[unit]
    if not 0 < size < 1e18:
        raise BadInput(f"memory {text!r} should be gigabytes (8), 8G, 500M, or 1% to 100% of what is free")
    return size


def set_limit(text: str) -> None:
    """Set the limit of this process and those that it starts."""
    os.environ[VARIABLE] = f"{parse(text) / 1e6:f}M"


@functools.cache
def _parsed(text: str) -> float:
    return parse(text)


def limit() -> float:
    """Bytes that this process may use; a percentage is of what was free at the first call."""
    return _parsed(os.environ.get(VARIABLE) or DEFAULT)


@contextmanager
def shared(processes: int) -> Iterator[None]:
    """Processes that are started in this block have an even share of the limit."""
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = f"{limit() / 1e6 / max(processes, 1):f}M"
    try:
        yield
    finally:
        if before is None:
            del os.environ[VARIABLE]
        else:
            os.environ[VARIABLE] = before


def spelled(size: float) -> str:
    """Bytes as `3.21 GB` or `12.3 MB`."""
    return f"{size / 1e9:,.2f} GB" if size >= 1e9 else f"{size / 1e6:,.1f} MB"


def check(need: float, what: str, lower: str) -> None:
    """Refuse what needs more memory than the limit, as TooLarge.

    Args:
        need: Bytes.
        what: Needs them, such as "the game tree of leduc".
        lower: What to do about it, such as "choose a smaller game".
    """
    if need > limit():
        raise TooLarge(
            f"{what} needs {spelled(need)} of memory or more, and the limit is {spelled(limit())}: "
            f"{lower}, or raise the limit with --memory"
        )
