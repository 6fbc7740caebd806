"""axe-core finds no serious fault on the main pages, in light and dark colours, on a large screen and on a phone."""

import pytest

from .test_browser import CHROMIUM, PATIENCE, browser, click_move, start  # noqa: F401

axe = pytest.importorskip("axe_playwright_python.sync_playwright")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs chromium")

SERIOUS = {"serious", "critical"}


def choose(page):
    page.wait_for_selector(".games button")


def set_up(page):
    page.click('[data-game="leduc"]')
    page.click("#setup summary")


def board_with_kibitzer(page):
    start(page, "tic_tac_toe")
    page.check("#kibitz")
    page.wait_for_selector(".bars .move")


def cards_with_kibitzer(page):
    start(page, "leduc")
    page.check("#kibitz")
    page.wait_for_selector(".bars .move")


def game_over(page):
    start(page, "tic_tac_toe")
    while page.get_attribute(".table", "data-phase") == "yours":
        click_move(page)
    page.wait_for_selector("#result:visible")


def interface(page):
    page.goto(f"{page.url.partition('#')[0]}api/docs")
    page.wait_for_selector("h2")


def study(page):
    page.goto(f"{page.url.partition('#')[0]}#/study/leduc?moves=K+%3F&a=random&b=always:call")
    page.wait_for_selector("#study-comparison li, #study-comparison tr, #study-comparison p")


def review_list(page):
    page.click("#tab-review")
    page.wait_for_selector("#file-form")


def review(page):
    game_over(page)
    page.click("#review-this")
    page.wait_for_selector("#move-list tbody tr")


def lab(page):
    page.click("#tab-lab")
    page.wait_for_selector("#lab-views")


def new_training(page):
    lab(page)
    page.click("#lab-new")
    page.wait_for_selector("#training-learners input")


# Functions that lead from the first page to the one that is tried.
PAGES = [choose, set_up, board_with_kibitzer, cards_with_kibitzer, game_over, interface]
PAGES += [study, review_list, review, lab, new_training]


def faults(page):
    """Serious faults, each with the elements that have it."""
    found = axe.Axe().run(page).response["violations"]
    return {
        each["id"]: [(node["html"][:120], node["failureSummary"][:300]) for node in each["nodes"]]
        for each in found
        if each["impact"] in SERIOUS
    }


@pytest.mark.parametrize("lead", PAGES, ids=lambda lead: lead.__name__)
def test_no_serious_fault(browser, address, lead):  # noqa: F811
    page = browser.new_page(viewport={"width": 1200, "height": 900}, reduced_motion="reduce")
    page.set_default_timeout(PATIENCE)
    page.goto(address)
    lead(page)
    for colours, width in (("light", 1200), ("dark", 390)):
        page.emulate_media(color_scheme=colours)
        page.set_viewport_size({"width": width, "height": 900})
        assert faults(page) == {}, (colours, width)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()


def test_faults_are_found(browser, address):  # noqa: F811
    page = browser.new_page()
    page.goto(address)
    page.wait_for_selector(".games button")
    page.evaluate("document.querySelector('main').innerHTML = '<button></button>'")
    assert set(faults(page)) == {"button-name"}
    page.close()
