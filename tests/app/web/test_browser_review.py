"""The review pages in a real browser: a game that was played, a file, trying again, files to keep, German, a phone."""

import json

from kibitz.games.record_files import read_game

from . import test_browser
from .test_browser import click_to_the_end, expect, pytestmark, start  # noqa: F401
from .test_review import EXACT, LOST

browser, page = test_browser.browser, test_browser.page  # the fixtures
DONE = ".review[data-review=complete]"


def pasted(page, address, text):
    page.goto(f"{address}/#/review")
    page.fill("#game-text", text)
    page.click("#file-form button[type=submit]")


def test_a_played_game_is_reviewed(page, address):
    start(page, "tic_tac_toe")
    click_to_the_end(page)
    page.click("#review-this")
    page.wait_for_selector(DONE)
    moves = page.locator("#move-list tbody tr")
    points = page.locator("#graph .point")
    assert moves.count() >= 5
    assert points.count() >= moves.count() - 1  # the last move was the only one, perhaps
    assert page.get_attribute("#graph svg", "aria-label").startswith("Value over the moves for seat 1")
    page.locator("h1").click()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#status")).to_contain_text("Move 2: seat 2 plays")
    expect(page.locator("#move-list tr[aria-current=true]")).to_have_count(1)
    page.locator("#graph svg").click(position={"x": 55, "y": 100})
    expect(page.locator("#status")).to_contain_text("Move 1: seat 1 plays")
    page.wait_for_selector(".bars .move.played")
    page.reload()  # the review is still there
    page.wait_for_selector(DONE)
    page.click("#tab-review")
    page.wait_for_selector("#own-games a")
    assert page.locator("#own-games li").count() == 1


def test_mistakes_are_tried_again_and_files_are_opened_again(page, address, tmp_path):
    page.evaluate("localStorage.setItem('kibitz.adviser', 'quick')")
    pasted(page, address, json.dumps(LOST))
    page.wait_for_selector(DONE)
    page.click(".review aside summary")
    page.fill("#named-reviewer", EXACT)
    page.click("#start-review")
    expect(page.locator("#review-note")).to_have_text(f"All 7 moves reviewed by {EXACT}.")
    row = page.locator("#move-list tr.blunder")
    expect(row).to_contain_text("?? blunder")
    assert page.locator("#graph .glyph").all_text_contents() == ["??"]
    row.locator("button").click()
    expect(page.locator("#status")).to_contain_text("blunder. It costs 1.00; better was")

    page.select_option("#seen-from", "1")
    page.click("#learn")
    expect(page.locator("#status")).to_have_text("Seat 1 made no costly move.")
    page.select_option("#seen-from", "2")
    page.click("#learn")
    expect(page.locator("#status")).to_contain_text("1 of 1: b1 was played here (blunder)")
    assert page.locator(".bars").count() == 0  # no advice yet
    expect(row.locator("td").last).to_be_hidden()  # the better move
    for cell, said in ((1, "is what was played"), (3, "Not a2. Try again"), (0, "Right: a1")):
        page.locator(f"#picture [data-cell='{cell}'].legal").click()
        expect(page.locator("#status")).to_contain_text(said)
    page.wait_for_selector(".bars .move")
    page.click("#leave-learning")
    expect(row.locator("td").last).to_be_visible()

    kept = {}
    for button in ("save-game", "save-review", "save-page"):
        with page.expect_download() as download:
            page.click(f"#{button}")
        kept[button] = tmp_path / download.value.suggested_filename
        download.value.save_as(kept[button])
    assert read_game(kept["save-game"]).actions == LOST["actions"]
    text = kept["save-page"].read_text()
    assert "<svg" in text
    assert "http" not in text.replace("http://www.w3.org/", "")  # it needs nothing from elsewhere

    asked = []
    page.on("request", lambda request: asked.append(request.url))
    for button in ("save-review", "save-page"):
        page.goto(f"{address}/#/review")
        page.set_input_files("#game-file", kept[button])
        page.click("#file-form button[type=submit]")
        page.wait_for_selector(DONE)
        expect(page.locator("#move-list tr.blunder")).to_contain_text("?? blunder")
    assert not any("/api/reviews?" in url for url in asked)  # nothing was reviewed again
    elsewhere = page.context.browser.new_page()  # without a server
    elsewhere.goto(kept["save-page"].as_uri())
    expect(elsewhere.locator("td.blunder").first).to_be_visible()
    elsewhere.close()


def test_damaged_files_are_told_in_the_page(page, address):
    for text, why in (('{"format": 1}', "no review that was saved here"), ("{", "no record of a game")):
        pasted(page, address, text)
        expect(page.locator("#file-form .error")).to_contain_text(why)
    assert ["409" in text for text in page.wrong] == [True]  # browsers report every refusal
    page.wrong.clear()


def test_german_on_a_phone_and_a_review_that_is_stopped(page, address):
    page.set_viewport_size({"width": 390, "height": 800})
    page.select_option("#language", "de")
    page.evaluate("localStorage.setItem('kibitz.adviser', 'strong')")
    pasted(page, address, json.dumps(LOST))
    page.wait_for_selector("#graph svg")
    if not page.locator("#stop-review").is_visible():  # it was over before the test looked
        page.click("#start-review")
    page.evaluate("document.querySelector('#stop-review').click()")
    page.wait_for_selector(".review[data-review=stopped]")
    expect(page.locator("#review-note")).to_contain_text("angehalten")
    expect(page.locator("#learn")).to_have_text("Aus Fehlern lernen")
    page.select_option("#reviewer", "quick")
    page.click("#start-review")
    page.wait_for_selector(DONE)
    expect(page.locator("#move-list tr.blunder").first).to_contain_text("Patzer")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.goto(f"{address}/#/review")
    page.wait_for_selector("#own-games a")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
