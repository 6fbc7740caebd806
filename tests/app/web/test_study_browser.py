"""The page of studies in a real browser: a walk by clicking, two advisers, reload, German, a phone's width."""

import pytest

from .test_browser import browser, expect, page, pytestmark, start  # noqa: F401 (fixtures)


def moves(page):  # noqa: F811
    return page.input_value("#study-text")


def click(page, name):  # noqa: F811
    """Choose a move or an outcome by its name."""
    before = moves(page)
    page.locator("#moves button", has_text=name).first.click()
    page.wait_for_selector(f'.study:not([data-moves="{before}"])')


def test_leduc_is_walked_by_clicking_and_two_advisers_are_compared(page):  # noqa: F811
    page.click("#tab-study")
    expect(page.locator("#status")).to_have_text("What is dealt next?")
    assert page.input_value("#study-game") == "leduc"
    click(page, "K")
    click(page, "unknown")
    expect(page.locator("#status")).to_have_text("Seat 1 is to move")
    assert moves(page) == "K ?"
    page.select_option("#study-a", ":named")
    page.fill("#study-name-a", "random")
    page.keyboard.press("Enter")
    page.select_option("#study-b", ":named")
    page.fill("#study-name-b", "oos:300")
    page.keyboard.press("Enter")
    for side in "ab":
        page.wait_for_selector(f"#study-advice-{side} .bars .move")
        assert page.locator(f"#study-advice-{side} .bars .move").count() == 2
    expect(page.locator("#study-compared")).to_contain_text("Probability in common")
    expect(page.locator("#study-compared tbody tr")).to_have_count(2)
    expect(page.locator("#study-advice-b")).to_contain_text("300 simulations")
    assert page.inner_text("#study-advice-b").count("search (oos)") == 1
    page.locator("#study-advice-a .move", has_text="raise").click()  # advice is clickable, too
    expect(page.locator("#status")).to_have_text("Seat 2 is to move")
    expect(page.locator("#study-advice-a")).to_contain_text("only seat 2 would be advised here")
    page.click(".look")
    expect(page.locator("#trouble")).to_contain_text("the 2nd move is visible to seat 2: name it")
    page.wrong.clear()  # browsers report every refusal
    click(page, "call")
    click(page, "Q")
    assert moves(page) == "K ? raise call Q"
    page.reload()
    expect(page.locator("#study-text")).to_have_value("K ? raise call Q")
    expect(page.locator("#study-compared")).to_be_visible()
    assert page.input_value("#study-name-b") == "oos:300"
    page.click("#study-back")
    expect(page.locator("#study-text")).to_have_value("K ? raise call")
    page.click('#study-steps [data-end="2"]')
    expect(page.locator("#study-text")).to_have_value("K ?")
    page.go_back()
    expect(page.locator("#study-text")).to_have_value("K ? raise call")
    page.click("#study-again")
    page.click("#study-deal")
    expect(page.locator("#status")).to_have_text("Seat 1 is to move")
    page.select_option("#study-b", "none")
    expect(page.locator("#study-compared")).to_be_hidden()


def test_a_pasted_command_in_german_on_a_phone(page, address):  # noqa: F811
    page.set_viewport_size({"width": 390, "height": 800})
    page.select_option("#language", "de")
    page.goto(f"{address}/#/study/kuhn?b=none&a=random")
    expect(page.locator("#status")).to_have_text("Was wird als Nächstes gegeben?")
    page.fill("#study-text", 'kibitz advise leduc "? K raise" --with oos:1000')
    page.keyboard.press("Enter")
    expect(page.locator("#status")).to_have_text("Platz 2 ist am Zug")
    assert page.input_value("#study-game") == "leduc"
    assert page.input_value("#study-seat") == "2"
    page.wait_for_selector("#study-advice-a .bars .move")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    expect(page.locator("h1")).to_have_text("Studieren")
    page.fill("#study-text", "? K xyz")
    page.keyboard.press("Enter")
    expect(page.locator("#trouble")).to_contain_text("the 3rd move, 'xyz', is not possible")
    page.wrong.clear()
    assert page.url.endswith("#/study/leduc?moves=%3F+K+raise&seat=2&a=random&b=none")


def test_a_position_of_a_table_is_studied(page):  # noqa: F811
    start(page, "tic_tac_toe")
    page.locator("#picture .legal").first.click()
    page.wait_for_selector('.table[data-turn="1"][data-phase=yours]')
    page.click("#study-this")
    page.wait_for_selector("#study-steps")
    expect(page.locator("#study-steps button")).to_have_count(3)
    assert moves(page).startswith("a1 ") or len(moves(page).split()) == 2
    page.locator("#picture .legal").first.click()
    expect(page.locator("#study-steps button")).to_have_count(4)


@pytest.mark.parametrize("address_end", ["#/study/no_such_game", "#/study/leduc?moves=nonsense"])
def test_an_address_that_cannot_be_shown_says_why(page, address, address_end):  # noqa: F811
    page.goto(f"{address}/{address_end}")
    expect(page.locator("#trouble")).not_to_be_empty()
    expect(page.locator("#status")).to_have_text("What is dealt next?")
    page.wrong.clear()
