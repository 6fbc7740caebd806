"""A console that shows control characters instead of obeying them: names may come from files of strangers."""

import re
from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.segment import Segment

# Control characters except tab and newline, marks that reverse the direction of text, and halves of surrogate pairs.
UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


class SafeConsole(Console):
    """Prints `\\x1b` for an escape character in a text; the console's own colours are not affected."""

    used = False  # whether any console has printed

    def print(self, *objects: Any, **options: Any) -> None:
        SafeConsole.used = True
        super().print(*objects, **options)

    def render(self, renderable: Any, options: Any = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            if segment.control or not UNSAFE.search(segment.text):
                yield segment
            else:
                yield Segment(UNSAFE.sub(lambda found: ascii(found[0])[1:-1], segment.text), segment.style)
