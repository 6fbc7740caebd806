"""The pages of the documentation: every link leads somewhere, every command exists."""

import re
from pathlib import Path

import pytest

from kibitz.app import cli
from kibitz.core.names import FORMER

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]


def anchors(page):
    """The names of a page's headings, as GitHub makes them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page):
    wrong = []
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        file, _, anchor = target.partition("#")
        there = (page.parent / file).resolve() if file else page
        if not there.exists() or (anchor and anchor not in anchors(there)):
            wrong.append(target)
    assert wrong == []


def test_a_link_leads_to_every_page():
    """From the index, by any number of links."""
    reached, found = set(), [ROOT / "docs" / "README.md"]
    while found:
        page = found.pop()
        if page not in reached and page.suffix == ".md":
            reached.add(page)
            found += [(page.parent / file).resolve() for file in re.findall(r"\]\(([^)\s#:]+)", page.read_text())]
    assert [page.name for page in PAGES[2:] if page not in reached] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_exists(page):
    known = {name for names in cli.panels().values() for name in names}
    named = set(re.findall(r"(?:^|`)kibitz ([a-z]+)\b", page.read_text(), re.MULTILINE))
    if page.name == "CHANGELOG.md":
        named -= {"warm", *FORMER["command"]}
    assert named <= known, named - known


def test_the_index_names_every_page():
    """That of its folder; the folders are named by the first index."""
    for page in PAGES[2:]:
        index = page.parent / "README.md" if page.name != "README.md" else ROOT / "docs" / "README.md"
        assert page == index or f"({page.relative_to(index.parent)})" in index.read_text(), page


def test_all_pages_install_the_table_in_the_browser_as_the_readme_does():
    pages = [ROOT / "README.md", *(ROOT / "docs" / name for name in ("browser.md", "getting-started.md"))]
    for page in pages:
        assert ".venv/bin/pip install '.[web]'" in page.read_text(), page
        assert "pip install 'kibitz[web]'" not in page.read_text(), page
