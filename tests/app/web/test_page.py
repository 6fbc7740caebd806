"""The page in a real browser: its size, a reload in the middle of a game, a server that comes back, a dead address."""

import asyncio
import contextlib
import threading
import time

import pytest

from kibitz.app.commands.serve import _listen, _server

from .test_browser import CHROMIUM, MOVED, PATIENCE, browser, click_move, expect, page, start  # noqa: F401

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs chromium")

BUDGET = 300_000  # bytes of the first page


def test_the_first_page_is_small(browser, address):  # noqa: F811
    tab, sizes = browser.new_page(), {}

    def count(request):
        found = request.sizes()
        sizes[request.url] = found["responseBodySize"] + found["responseHeadersSize"]

    tab.on("requestfinished", count)
    tab.goto(address)
    tab.wait_for_selector(".games button")
    tab.wait_for_load_state("networkidle")
    pictures = tab.evaluate(
        "[...document.querySelectorAll('.games img')].map((each) => each.complete && each.naturalWidth)"
    )
    tab.close()
    assert all(width > 0 for width in pictures[:3])  # others are loaded when they come into sight
    assert {"/", "/static/app.js", "/static/style.css", "/api/games"} <= {url[len(address) :] for url in sizes}
    assert 10_000 < sum(sizes.values()) < BUDGET, sizes


def test_a_reload_in_the_middle_of_a_game_resumes(page):  # noqa: F811
    start(page, "tic_tac_toe")
    click_move(page)
    shown = [page.inner_html("#picture svg"), page.inner_text("#events"), page.inner_text("#score")]
    key = page.url.rpartition("/")[2]
    page.reload()
    page.wait_for_selector(MOVED)
    assert [page.inner_html("#picture svg"), page.inner_text("#events"), page.inner_text("#score")] == shown
    page.click("header .brand")  # the first page lists the table
    page.click(f'.tables a[href="#/table/{key}"]')
    page.wait_for_selector(MOVED)
    assert page.inner_text("#events") == shown[1]
    click_move(page)
    assert page.inner_text("#events").startswith(shown[1])


@contextlib.contextmanager
def running(folder, port):
    """A server on a port of this machine."""
    listening = _listen("127.0.0.1", port)
    server = _server(folder, [], "", True)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    while not server.started:
        time.sleep(0.02)
    try:
        yield listening.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(20)
        listening.close()
        assert not thread.is_alive()


def test_a_page_goes_on_when_the_server_comes_back(browser, tmp_path):  # noqa: F811
    tab = browser.new_page()
    tab.set_default_timeout(PATIENCE)
    with running(tmp_path, 0) as port:
        tab.goto(f"http://127.0.0.1:{port}")
        start(tab, "tic_tac_toe")
        click_move(tab)
        events = tab.inner_text("#events")
    expect(tab.locator("#notice")).to_contain_text("connection is lost", timeout=PATIENCE)
    with running(tmp_path, port):
        expect(tab.locator("#notice")).to_be_empty(timeout=PATIENCE)
        tab.wait_for_selector(MOVED)
        assert tab.inner_text("#events") == events
        click_move(tab)
        assert tab.inner_text("#events").startswith(events)
        tab.close()


def test_an_address_of_no_table_says_so(page, address):  # noqa: F811
    page.goto(f"{address}/#/table/nothing-is-here")
    expect(page.locator("#notice")).to_have_text("there is no such table", timeout=PATIENCE)
    page.click("header .brand")
    page.wait_for_selector(".games button")


# ---------------------------------------------------------------- the focus of the keyboard

FOCUSED = """() => {
  const now = document.activeElement;
  return [now.dataset.name || now.dataset.move || now.tagName, Boolean(now.closest("#picture, #moves"))];
}"""


def test_the_focus_stays_on_the_board_when_it_is_drawn_anew(page):  # noqa: F811
    start(page, "hex", parameters="size=4")
    for turn in range(2):
        page.locator("#picture .legal").nth(3).focus()
        before = page.evaluate(FOCUSED)[0]
        page.keyboard.press("Enter")
        page.wait_for_selector(f'.table[data-turn="{turn + 1}"][data-phase=yours]')
        now, inside = page.evaluate(FOCUSED)
        assert inside, now
        assert now != before  # it is occupied; the nearest cell has the focus
        assert abs(ord(now[0]) - ord(before[0])) <= 1
        assert abs(int(now[1:]) - int(before[1:])) <= 1


def test_the_focus_stays_among_the_buttons_and_elsewhere_nobody_takes_it(page):  # noqa: F811
    start(page, "goofspiel", parameters="5")
    page.locator("#moves button").last.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector('.table[data-turn="1"][data-phase=yours]')
    assert page.evaluate(FOCUSED)[1]
    page.locator("#language").focus()
    key = page.url.rpartition("/")[2]
    origin = page.url.partition("/#")[0]
    table = page.request.get(f"{origin}/api/tables/{key}").json()
    move = {"action": table["moves"][0]["action"], "turn": table["turn"]}
    assert page.request.post(f"{origin}/api/tables/{key}/moves", data=move).ok
    page.wait_for_selector('.table[data-turn="2"][data-phase=yours]')
    assert page.evaluate("document.activeElement.id") == "language"


# ---------------------------------------------------------------- words


@pytest.mark.parametrize(
    ("language", "turn", "said"),
    [
        ("en", "Your turn", "Preparing Othello, the first time only: step 3 …"),
        ("de", "Du bist dran", "Othello wird vorbereitet, nur beim ersten Mal: Schritt 3 …"),
    ],
)
def test_while_a_game_is_compiled_the_page_says_that_it_is_prepared(page, address, monkeypatch, language, turn, said):  # noqa: F811
    async def compiling(request):
        yield "compiling", 3
        await asyncio.Event().wait()

    monkeypatch.setattr(address.state.lobby.pool, "answers", compiling)
    page.select_option("#language", language)
    for seat, shown in (("1", f"{turn} ({said})"), ("2", said)):  # who moves first
        page.goto(address)
        page.click('[data-game="othello"]')
        page.select_option("#seat", label=seat)
        page.click("#start")
        expect(page.locator("#status")).to_have_text(shown)
    page.reload()  # a browser that comes later is told, too
    expect(page.locator("#status")).to_have_text(said)


@pytest.mark.parametrize(
    ("language", "answer", "said"),
    [
        (
            "en",
            {"status": 502, "content_type": "text/html", "body": "<h1>Bad gateway</h1>"},
            "(status 502). Try again.",
        ),
        ("de", {"status": 200, "content_type": "application/json", "body": "{"}, "nicht lesbar (Status 200)"),
        ("en", None, "The server can't be reached: is kibitz serve still running?"),
    ],
)
def test_an_answer_that_is_no_json_is_told_in_plain_words(page, language, answer, said):  # noqa: F811
    page.select_option("#language", language)
    page.route("**/api/tables", lambda route: route.fulfill(**answer) if answer else route.abort())
    page.click('[data-game="kuhn"]')
    page.click("#start")
    expect(page.locator("#setup .error")).to_contain_text(said)
    page.wrong.clear()  # browsers report every refusal
