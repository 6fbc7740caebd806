"""The kibitzer in a real browser: beliefs, patterns, the best line and honest labels; hold'em by clicking."""

import re

import pytest

from . import test_browser as table

browsers = pytest.importorskip("playwright.sync_api")
expect, start, click_to_the_end = browsers.expect, table.start, table.click_to_the_end
pytestmark = table.pytestmark
browser, page = table.browser, table.page  # fixtures


def start_to_decide(page, game, **options):
    """Start games until one isn't over before the first decision, as where the opponent folds at once."""
    start(page, game, **options)
    while page.get_attribute(".table", "data-phase") == "over":
        page.click("#rematch")
        page.wait_for_selector("#result", state="hidden")
        page.wait_for_selector(table.MOVED)


def start_advised(page, game, strength):
    page.evaluate(f"localStorage.setItem('kibitz.adviser', '{strength}')")
    start_to_decide(page, game)
    page.check("#kibitz")
    page.wait_for_selector(".bars .move")


def test_a_whole_game_of_holdem_by_clicking(page):
    start_to_decide(page, "holdem", parameters="streets=2,ranks=5")
    assert re.search(r"call 5|check|call 10", page.inner_text("#moves"))
    assert re.search(r"pot \d", page.text_content("#picture"))
    click_to_the_end(page)
    assert re.search(r"wins \d+ chips|the pot is split", page.text_content("#picture"))
    assert "face down" not in page.text_content("#picture")
    assert re.search(r"you (win|lose) [\d.]+ bb|you break even", page.inner_text("#result"))


def test_ranges_of_holdem_are_grids_of_169_cells_whose_combos_are_listed(page):
    start_advised(page, "holdem", "strong")
    assert "a best response wins at least 72 mbb/g from it" in page.inner_text("#advice")
    page.wait_for_selector(".range")
    assert page.locator(".range").count() == 2
    for grid in page.locator(".range").all():
        assert grid.locator("td").count() == 169
    other = page.locator(".range").nth(1)
    assert [other.locator("td").nth(i).inner_text() for i in (0, 1, 13, 168)] == ["AA", "AKs", "AKo", "22"]
    other.locator("td", has_text="72o").click()
    expect(page.locator(".combos p")).to_contain_text("72o")
    assert 1 <= page.locator(".combos li").count() <= 12
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".combos p")).to_contain_text("82o")
    page.select_option("#language", "de")
    page.wait_for_selector(".range")
    expect(page.locator("#beliefs h2")).to_have_text("Was er vermutet")
    expect(page.locator("#beliefs .note").first).to_contain_text("spielt")


def test_beliefs_in_leduc_are_bars_and_go_with_the_game(page):
    start_advised(page, "leduc", "strong")
    page.wait_for_selector(".answers li")
    assert "card of seat 2" in page.inner_text("#beliefs")
    shares = [float(text.rstrip("%")) for text in page.locator(".answers .share").all_inner_texts()]
    assert sum(shares) == pytest.approx(100, abs=1)
    page.uncheck("#kibitz")
    expect(page.locator("#beliefs")).to_be_hidden()


def test_beliefs_in_doppelkopf_are_cards_by_seat_in_german(page):
    page.select_option("#language", "de")
    start_advised(page, "doppelkopf", "quick")
    page.wait_for_selector(".unseen")
    text = page.inner_text("#beliefs")
    assert "♣D" in text or "♠D" in text  # queens are Damen
    assert "Platz 4" in text
    assert page.locator(".unseen tbody tr").count() > 12
    assert "Faustregeln, keine Suche" in page.inner_text("#advice")


def test_patterns_are_drawn_below_a_move_and_the_best_line_is_told(page):
    start_advised(page, "connect_four", "solid")
    page.wait_for_selector(".why")
    expect(page.locator("#advice")).to_contain_text("Best line: ", timeout=table.PATIENCE)
    first = page.locator(".bars li").first
    first.locator(".why").click()
    expect(first.locator(".patterns")).to_be_visible()
    assert first.locator(".patterns svg").count() >= 1
    assert re.search(r"weight [+−]\d", first.locator(".patterns").inner_text())
    assert page.locator(".table").get_attribute("data-turn") == "0"  # unfolding plays nothing


def test_advice_keeps_the_focus_while_it_grows(page):
    start_advised(page, "tic_tac_toe", "solid")
    page.locator(".bars .move").nth(2).focus()
    chosen = page.evaluate("document.activeElement.dataset.advised")
    page.wait_for_selector("#advice:not(:has(.thinking))")  # finished
    assert page.evaluate("document.activeElement.dataset.advised") == chosen
