"""The Lab in a real browser: a training started, watched, stopped and played; results and ratings as tables."""

import os
import re
import shutil
from pathlib import Path

import pytest

pytest.importorskip("playwright.sync_api")

from .test_browser import CHROMIUM, MOVED, browser, expect, page  # noqa: F401

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs chromium")
SAMPLES = Path(__file__).parents[1] / "runs_of_0_2"


@pytest.fixture(scope="module")
def workplace(tmp_path_factory):
    """A working folder of its own, for the server and its processes."""
    before, folder = Path.cwd(), tmp_path_factory.mktemp("work")
    for name in ("tournament", "match", "solve"):
        shutil.copytree(SAMPLES / name, folder / "runs" / name)
    (folder / "runs/broken").mkdir()
    (folder / "runs/broken/config.json").write_text("{")
    os.chdir(folder)
    yield folder
    os.chdir(before)


@pytest.fixture(scope="module")
def address(workplace, address):
    return address


def lab(page):  # noqa: F811
    page.click("#tab-lab")
    page.wait_for_selector(".runs li")


def points(page, figure):  # noqa: F811
    """Points of the curve that is drawn."""
    return len(re.findall("[ML]", page.locator(f"figure[data-group$='/{figure}'] path.line").get_attribute("d")))


def test_a_training_is_started_watched_stopped_and_played(page):  # noqa: F811
    lab(page)
    page.click("#lab-new")
    page.click("#training summary")
    # As many iterations as the page allows: it must still be running when it is stopped, on a busy machine too.
    for name, value in {"iterations": 2000, "games": 2, "simulations": 20, "steps": 2}.items():
        page.fill(f"#training [name={name}]", str(value))
    page.fill("#training-name", "mine")
    page.click("#training-start")
    page.wait_for_selector("#lab-state[data-state=running]")
    page.wait_for_selector("figure[data-group$='/loss'] path.line")
    before = points(page, "loss")
    page.wait_for_function(
        "before => document.querySelector(\"figure[data-group$='/loss'] path.line\").getAttribute('d')"
        ".match(/[ML]/g).length > before + 5", arg=before,
    )  # fmt: skip
    page.wait_for_selector("#lab-play:visible")
    page.click("#lab-stop")
    page.wait_for_selector("#lab-state[data-state=stopped]")
    page.click("#lab-log summary")
    expect(page.locator("#lab-log pre")).to_contain_text("to resume: kibitz train --resume")

    loss = page.locator("figure[data-group$='/loss']")
    loss.locator("svg").focus()
    page.keyboard.press("Home")
    expect(loss.locator(".value")).to_contain_text("iteration 1Loss 0.")
    loss.locator("summary").click()
    assert loss.locator("tbody tr").count() > 5

    page.set_viewport_size({"width": 390, "height": 800})
    page.select_option("#language", "de")
    expect(page.locator("h1")).to_have_text("Labor")
    expect(page.locator("#lab-state")).to_have_text("angehalten")
    expect(page.locator("#lab-resume")).to_have_text("Fortsetzen")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.click("#lab-back")
    expect(page.locator("[data-run=mine]")).to_be_focused()
    page.click("[data-run=mine]")
    page.click("#lab-play")
    page.wait_for_selector(MOVED)
    expect(page.locator("#seats")).to_contain_text("net:runs/mine,iteration=")

    page.go_back()
    page.click("#lab-advise")
    page.wait_for_selector(".bars .move")
    assert page.is_checked("#kibitz")
    assert page.input_value("#adviser").startswith("net:runs/mine")
    page.goto(page.url.partition("#")[0])  # another game has no such adviser
    page.click('[data-game="tic_tac_toe"]')
    page.check("input[value=quick]")
    page.click("#start")
    page.wait_for_selector(MOVED)
    assert page.input_value("#adviser") == "solid"


def test_results_and_ratings_are_sorted_by_their_columns(page):  # noqa: F811
    lab(page)
    expect(page.locator("[data-run=broken]")).to_contain_text("config.json is damaged")
    page.click("[data-run=solve]")
    assert page.get_attribute("figure svg", "aria-label").startswith("NashConv by iteration, from 0.917 to 0.0202")
    page.click("[data-view=matches]")
    page.click("[data-run=tournament]")
    first = page.locator("#lab-result tbody th").first
    expect(first).to_have_text("1. style:loose-passive")
    page.click("#lab-result thead button >> nth=1")
    expect(first).to_have_text("3. random")
    assert page.get_attribute("#lab-result thead th >> nth=1", "aria-sort") == "ascending"
    page.click("[data-view=ratings]")
    expect(page.locator("#rated tbody tr")).to_have_count(3)
    page.click("#rated thead button >> nth=0")
    expect(page.locator("#rated tbody th").first).to_have_text("always:call")
    page.reload()
    page.wait_for_selector(".runs li")
