"""Draws the rooms of the package and the imports between them: `python docs/draw_rooms.py` writes `images/rooms.svg`.

Rooms stand in the order of `tests/test_rooms.py`; each imports only from those above it, and nothing imports a guest.
An arc's width is the number of files that import.
"""

import ast
import math
import re
import textwrap
from collections import Counter
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).parents[1]
FILE = Path(__file__).parent / "images" / "rooms.svg"
GUESTS = ("poker", "doppelkopf")
WIDTH, ROW, BOX, LEFT = 980, 46, 560, 20
COLOURS = {"room": "#eef2f7", "guest": "#fdf1dc", "line": "#4a6078", "arc": "#7a93ad", "text": "#1d2733"}


def rooms() -> list[str]:
    """The rooms in their order, the guests before the commands."""
    import sys

    sys.path.insert(0, str(ROOT))
    from tests.test_rooms import ROOMS

    return [*ROOMS[:-2], *GUESTS, *ROOMS[-2:]]


def about(room: str) -> str:
    """What a room says of itself, without what it imports."""
    text = ast.get_docstring(ast.parse((ROOT / "kibitz" / room / "__init__.py").read_text())) or ""
    said = re.split(r"[.;]\s|[:;] (?:it )?imports|: a new file", " ".join(text.split()))[0].strip(".`")
    return textwrap.shorten(said.replace("`", ""), 66, placeholder=" ...")


def imported(path: Path, room: str, names: list[str]) -> set[str]:
    """The other rooms that a file imports from."""
    parts, found = ("kibitz", *path.relative_to(ROOT / "kibitz").with_suffix("").parts), set()
    for node in ast.walk(ast.parse(path.read_text())):
        modules: list[tuple[str, ...]] = []
        if isinstance(node, ast.Import):
            modules = [tuple(alias.name.split(".")) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = parts[: len(parts) - node.level] if node.level else ()
            base += tuple((node.module or "").split(".")) if node.module else ()
            modules = [(*base, alias.name) for alias in node.names]
        found |= {each[1] for each in modules if len(each) > 1 and each[0] == "kibitz" and each[1] in names}
    return found - {room}


def drawing() -> str:
    """The SVG."""
    names = rooms()
    arrows: Counter[tuple[str, str]] = Counter()
    lines, files = Counter[str](), Counter[str]()
    for room in names:
        for path in sorted((ROOT / "kibitz" / room).rglob("*.py")):
            lines[room] += len(path.read_text().splitlines())
            files[room] += 1
            arrows.update((room, other) for other in imported(path, room, names))
    height = ROW * len(names) + 40
    font = 'font-family="system-ui, sans-serif"'
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">',
        "<title>The rooms of the package, in the order in which they may import each other</title>",
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
    ]
    middle = {room: 20 + ROW * i + ROW / 2 - 3 for i, room in enumerate(names)}
    edge = LEFT + BOX
    for (room, other), count in sorted(arrows.items(), key=lambda item: item[1]):
        low, high = middle[room], middle[other]
        reach = edge + 30 + 24 * abs(names.index(room) - names.index(other))
        out.append(
            f'<path d="M{edge} {low - 4} C{reach} {low - 4} {reach} {high + 4} {edge} {high + 4}" fill="none" '
            f'stroke="{COLOURS["arc"]}" stroke-opacity="0.55" stroke-width="{0.6 + math.sqrt(count) / 1.6:.1f}">'
            f"<title>{room} imports {other}: {count} files</title></path>"
        )
    for room in names:
        top, kind = middle[room] - ROW / 2 + 5, "guest" if room in GUESTS else "room"
        out += [
            f'<rect x="{LEFT}" y="{top:.0f}" width="{BOX}" height="{ROW - 8}" rx="7" fill="{COLOURS[kind]}" '
            f'stroke="{COLOURS["line"]}"/>',
            f'<text x="{LEFT + 12}" y="{middle[room] + 6:.0f}" {font} font-size="15" font-weight="600" '
            f'fill="{COLOURS["text"]}">{room}</text>',
            f'<text x="{LEFT + 112}" y="{middle[room] + 5:.0f}" {font} font-size="11.5" fill="{COLOURS["text"]}">'
            f"{escape(about(room))}</text>",
            f'<text x="{edge - 10}" y="{middle[room] + 5:.0f}" {font} font-size="11" text-anchor="end" '
            f'fill="{COLOURS["line"]}">{round(lines[room], -2) / 1000:.1f}k</text>',
        ]
    return "\n".join([*out, "</svg>"]) + "\n"


if __name__ == "__main__":
    FILE.write_text(drawing())
