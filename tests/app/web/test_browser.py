"""The page in a real browser: whole games by clicking, advice, reload, German, a phone's width, dark colours."""

import re
import shutil

import pytest

browsers = pytest.importorskip("playwright.sync_api")
expect = browsers.expect

CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs chromium")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
PATIENCE = 60_000  # milliseconds: kernels may have to be compiled
MOVED = ".table[data-phase=yours], .table[data-phase=over]"


@pytest.fixture(scope="module")
def browser():
    with browsers.sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield found
        found.close()


@pytest.fixture
def page(browser, address):
    """A page that must end without an error on the console and without a request to anywhere else."""
    tab, wrong, asked = browser.new_page(viewport={"width": 1200, "height": 900}), [], []
    tab.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    tab.on("pageerror", lambda error: wrong.append(str(error)))
    tab.on("request", lambda request: asked.append(request.url))
    tab.on("websocket", lambda socket: asked.append(socket.url))
    tab.set_default_timeout(PATIENCE)
    tab.goto(address)
    tab.wrong = wrong
    yield tab
    tab.close()
    assert wrong == []
    assert all(re.match(f"(http|ws)://{address.partition('//')[2]}/", url) for url in asked)


def start(page, game, strength="quick", parameters="", games=0):
    page.click(f'[data-game="{game}"]')
    page.check(f"input[value={strength}]")
    if game == "doppelkopf":
        page.select_option("#length", str(games))
    if parameters:
        page.click("#setup summary")
        page.fill("#parameters", parameters)
    page.click("#start")
    page.wait_for_selector(MOVED)


def turn(page):
    return int(page.get_attribute(".table", "data-turn"))


def click_move(page):
    """Play by a click on the picture where it has something to click on, else on a button."""
    before = turn(page)
    if page.locator("#picture .start").count():
        page.locator("#picture .start").first.click()
    legal = page.locator("#picture .legal")
    (legal if legal.count() else page.locator("#moves button")).last.click()
    if page.inner_text("#status") == "Which one?":
        page.locator("#moves button").first.click()
    page.wait_for_selector(f'.table:not([data-turn="{before}"])')
    page.wait_for_selector(MOVED)


def click_to_the_end(page, most=100):
    for _ in range(most):
        if page.get_attribute(".table", "data-phase") == "over":
            break
        click_move(page)
    expect(page.locator("#status")).to_have_text("Game over, everything revealed")
    expect(page.locator("#result")).to_be_visible()
    assert "after 1 game" in page.inner_text("#score")


@pytest.mark.parametrize(
    ("game", "parameters"),
    [
        ("leduc", ""),
        ("connect_four", ""),
        ("hex", "size=4"),
        ("breakthrough", "rows=5,columns=4"),
        ("holdem", ""),
        ("doppelkopf", ""),
    ],
)
def test_a_whole_game_by_clicking(page, game, parameters):
    start(page, game, parameters=parameters)
    click_to_the_end(page)
    page.click("#rematch")
    expect(page.locator("#result")).to_be_hidden()
    expect(page.locator("#seats li").nth(1)).to_contain_text("you")


def play_on(page, address):
    """Play the game at the table to its end, without clicking."""
    key = page.url.rpartition("/")[2]
    while (table := page.request.get(f"{address}/api/tables/{key}").json())["phase"] != "over":
        if table["phase"] == "yours":
            move = table["moves"][0]
            body = {"action": move["action"], "turn": table["turn"], "planned": move["planned"]}
            assert page.request.post(f"{address}/api/tables/{key}/moves", data=body).ok
        else:
            page.wait_for_timeout(20)


def test_a_session_of_doppelkopf(page, address, monkeypatch):
    monkeypatch.setattr(address.state.lobby, "pause", 0)
    start(page, "doppelkopf", games=4)
    expect(page.locator("#session-note")).to_have_text(
        "Session: game 1 of 4 · Seat 4 deals · you must play your compulsory solo now"
    )
    assert page.locator("#owes td").all_inner_texts() == ["yes"] * 4
    play_on(page, address)
    page.wait_for_selector(".table[data-phase=over]")
    assert page.locator("#owes td").all_inner_texts() == ["no", "yes", "yes", "yes"]
    expect(page.locator("#session tbody td").first).to_contain_text("solo")
    sheet = page.inner_text("#session")
    page.reload()
    page.wait_for_selector(MOVED)
    assert page.inner_text("#session") == sheet
    expect(page.locator("#rematch")).to_have_text("Next game")
    page.click("#rematch")
    expect(page.locator("#session-note")).to_contain_text("game 2 of 4 · Seat 4 deals · Seat 2 must play")
    address.state.lobby.find(page.url.rpartition("/")[2])[0].session.games = 2  # so this is the last one
    play_on(page, address)
    page.wait_for_selector(".table[data-phase=over]")
    expect(page.locator("#session-note")).to_have_text("Session over after 2 games")
    assert "1." in page.locator("#places td").all_inner_texts()
    assert page.locator("#session tbody tr").count() == 2
    expect(page.locator("#rematch")).to_have_text("New session")


def test_advice_appears_and_grows_and_a_reload_resumes(page):
    start(page, "leduc")
    page.check("#kibitz")
    page.wait_for_selector(".bars .move")
    assert page.locator(".bars .move").count() == page.locator("#moves button").count()
    first = page.inner_text(".bars")
    expect(page.locator(".bars")).not_to_have_text(first, timeout=PATIENCE)
    text, events = page.text_content("#text"), page.inner_text("#events")
    page.reload()
    page.wait_for_selector(MOVED)
    assert page.text_content("#text") == text
    assert page.inner_text("#events") == events
    page.wait_for_selector(".bars .move")  # the kibitzer is still switched on
    page.locator(".bars .move").first.click()  # plays the move
    page.wait_for_selector('.table:not([data-turn="0"])')


def test_a_move_is_taken_back_and_the_keyboard_plays(page):
    start(page, "tic_tac_toe")
    page.locator("#picture .legal").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.wait_for_selector('.table[data-turn="1"]')
    page.wait_for_selector(MOVED)
    assert page.inner_text("#events").startswith("you play b1")
    page.click("#undo")
    page.wait_for_selector('.table[data-turn="0"]')
    assert page.inner_text("#events") == ""


def test_german_on_a_phone_in_the_dark(page):
    page.set_viewport_size({"width": 390, "height": 800})
    page.emulate_media(color_scheme="dark")
    page.select_option("#language", "de")
    expect(page.locator("h1")).to_have_text("Was spielen wir?")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.evaluate("document.documentElement.lang") == "de"
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    start(page, "doppelkopf", games=24)
    expect(page.locator("#status")).to_have_text("Du bist dran")
    expect(page.locator("#session-note")).to_have_text("Sitzung: Spiel 1 von 24 · Platz 4 gibt")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    sizes = page.evaluate("[...document.querySelectorAll('.hand svg')].map((card) => card.getBoundingClientRect())")
    assert len(sizes) == 12
    assert all(size["width"] >= 44 and size["height"] >= 44 for size in sizes)
    click_move(page)
    assert page.locator("#events li").count() > 0
    page.emulate_media(color_scheme="light")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != dark
    page.click("#theme")  # light
    page.click("#theme")  # dark
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == dark


def test_the_first_page_is_small_and_the_interface_is_described(page, address):
    loaded = page.evaluate("performance.getEntries().reduce((sum, each) => sum + (each.transferSize || 0), 0)")
    assert 10_000 < loaded < 300_000
    page.goto(f"{address}/api/docs")
    expect(page.locator("h2").first).to_have_text("GET /api/games")


def test_a_mistake_is_told_in_the_dialog(page):
    page.click('[data-game="hex"]')
    page.click("#setup summary")
    page.fill("#parameters", "size=4000")
    with page.expect_response("**/api/tables"):
        page.click("#start")
    expect(page.locator("#setup .error")).to_contain_text("size=4000")
    assert ["409" in text for text in page.wrong] == [True]  # browsers report every refusal
    page.wrong.clear()
