"""The page in a real browser: its size, a reload in the middle of a game, a server that comes back, a dead address."""

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
