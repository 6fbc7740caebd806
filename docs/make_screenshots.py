"""Screenshots of the table in the browser, for the README and this documentation.

    python docs/make_screenshots.py [SCENE ...]

Starts a server, plays games with fixed seeds in Chromium (`apt install chromium`), and writes `web-SCENE.png` in light
and `web-SCENE-dark.png` in dark colours to `docs/images`. Advice depends on the time, so its numbers differ a little
from run to run. A new scene is a function of a page in `SCENES`.
"""

import contextlib
import io
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from kibitz.app.commands.serve import _listen, _server

IMAGES = Path(__file__).parent.absolute() / "images"
SEED = 7  # of the deals and players of all tables
WIDE, TALL, PHONE = (1180, 860), (1180, 1240), (390, 820)
PATIENCE = 400_000  # milliseconds: kernels may have to be compiled
STEADY = 1.5  # seconds without a change, after which advice is finished
ASKED = ".table[data-phase=yours], .table[data-phase=over]"


# ---------------------------------------------------------------- what a person does


def start(page: Page, game: str, player: str, parameters: str = "", seat: int = 1) -> None:
    """Open a table against players of one name."""
    page.click(f'[data-game="{game}"]')
    page.click("#setup summary")
    page.fill("#parameters", parameters)
    page.fill("#named", player)
    page.select_option("#seat", index=seat - 1)
    page.click("#start")
    page.wait_for_selector(ASKED)


def play(page: Page, *moves: str) -> None:
    """Play moves: names of cells or cards in the picture, or of buttons; "" for the first button."""
    for move in moves:
        turn = page.get_attribute(".table", "data-turn")
        buttons = page.locator("#moves button")
        cell = page.locator(f'#picture [data-name="{move}"]')
        if move and cell.count():
            cell.click()
        elif move:
            buttons.get_by_text(move, exact=True).click()
        else:
            buttons.first.click()
        page.wait_for_selector(f'.table:not([data-turn="{turn}"])')
        page.wait_for_selector(ASKED)


def ask_kibitzer(page: Page) -> None:
    """Switch the kibitzer on, and wait until its advice stays as it is."""
    page.check("#kibitz")
    page.wait_for_selector("#advice .move")
    page.wait_for_selector("#advice .thinking", state="detached")
    steady(page, "#advice")


def steady(page: Page, place: str) -> None:
    """Wait until a part of the page stays as it is."""
    before, since = "", time.monotonic()
    while time.monotonic() < since + STEADY:
        time.sleep(0.1)
        text = page.inner_text(place)
        if text != before:
            before, since = text, time.monotonic()


# ---------------------------------------------------------------- scenes


def games(page: Page) -> None:
    page.wait_for_selector(".games button")


def setup(page: Page) -> None:
    page.click('[data-game="doppelkopf"]')


def connect_four(page: Page) -> None:
    start(page, "connect_four", "uct:2000")
    play(page, "d1", "d3", "c1")
    ask_kibitzer(page)


def hex_board(page: Page) -> None:
    start(page, "hex", "uct:2000", "size=7")
    play(page, "d4", "e3")
    ask_kibitzer(page)


def holdem(page: Page) -> None:
    start(page, "holdem", "always:call")
    play(page, "", "")
    ask_kibitzer(page)


def doppelkopf(page: Page) -> None:
    start(page, "doppelkopf", "heuristic", seat=2)
    play(page, *[""] * 3)
    ask_kibitzer(page)


def phone(page: Page) -> None:
    page.select_option("#language", "de")
    doppelkopf(page)


def study(page: Page) -> None:
    page.goto(f"{page.url.partition('#')[0]}#/study/leduc?moves=%3F+K+raise&seat=2&a=oos:20000&b=net:models/leduc")
    page.wait_for_selector("#study-comparison :is(li, tr)")
    steady(page, "#study-comparison")


def review(page: Page) -> None:
    start(page, "connect_four", "uct:2000")
    while page.get_attribute(".table", "data-phase") == "yours":
        turn = page.get_attribute(".table", "data-turn")
        page.locator("#picture .legal").first.click()
        page.wait_for_selector(f'.table:not([data-turn="{turn}"]), .table[data-phase=over]')
        page.wait_for_selector(ASKED)
    page.click("#review-this")
    page.wait_for_selector("#learn:enabled")
    page.wait_for_selector("#stop-review", state="hidden")
    page.click("#last-move")
    for _ in range(4):
        page.click("#previous-move")


def lab(page: Page) -> None:
    page.click("#tab-lab")
    page.click("#lab-new")
    page.click("#training-start")
    page.wait_for_selector("#lab-curves svg")
    page.wait_for_selector("#lab-state:text-is('finished')")


# By the name of the image: what leads to it from the first page, and the size of the screen.
SCENES: dict[str, tuple[Callable[[Page], None], tuple[int, int]]] = {
    "games": (games, WIDE),
    "setup": (setup, WIDE),
    "connect-four": (connect_four, WIDE),
    "hex": (hex_board, WIDE),
    "holdem": (holdem, WIDE),
    "doppelkopf": (doppelkopf, WIDE),
    "phone": (phone, PHONE),
    "study": (study, WIDE),
    "review": (review, TALL),
    "lab": (lab, WIDE),
}


# ---------------------------------------------------------------- server and files


@contextlib.contextmanager
def running() -> Iterator[str]:
    """The address of a server on a free port, whose tables have a fixed seed."""
    with tempfile.TemporaryDirectory() as folder, mock.patch("secrets.randbits", return_value=SEED):
        listening = _listen("127.0.0.1", 0)
        server = _server(Path(folder), [], "", True)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        while not server.started:
            time.sleep(0.02)
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()
            listening.close()


def save(picture: bytes, path: Path) -> None:
    """Write a picture with 256 colours, which a page of few colours doesn't miss."""
    image = Image.open(io.BytesIO(picture)).convert("RGB").quantize(256, dither=Image.Dither.NONE)
    image.save(path, optimize=True)
    print(f"{path}: {path.stat().st_size / 1000:.0f} kB", flush=True)


def shoot(browser: Any, address: str, name: str) -> None:
    """Play a scene and write its images."""
    lead, (width, height) = SCENES[name]
    page = browser.new_page(viewport={"width": width, "height": height}, reduced_motion="reduce", locale="en-GB")
    page.set_default_timeout(PATIENCE)
    page.goto(address)
    lead(page)
    page.mouse.move(0, 0)
    page.evaluate("scrollTo(0, 0)")
    for colours, suffix in (("light", ""), ("dark", "-dark")):
        page.emulate_media(color_scheme=colours)
        save(page.screenshot(), IMAGES / f"web-{name}{suffix}.png")
    page.close()


def main(names: list[str]) -> None:
    unknown = sorted(set(names) - set(SCENES))
    if unknown:
        sys.exit(f"no scene is called {', '.join(unknown)}; there are {', '.join(SCENES)}")
    with (
        tempfile.TemporaryDirectory() as here,
        contextlib.chdir(here),
        running() as address,
        sync_playwright() as playwright,
    ):
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=arguments)
        for name in names or SCENES:
            shoot(browser, address, name)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
