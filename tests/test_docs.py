"""The pages of the documentation: every link leads somewhere, every command exists."""

import re
from pathlib import Path

import pytest
import typer

from kibitz.app import cli
from kibitz.app.cli_reference import subcommands

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
    known = {name for names in cli.PANELS.values() for name in names}
    named = set(re.findall(r"(?:^|`)kibitz ([a-z]+)\b", page.read_text(), re.MULTILINE))
    if page.name == "CHANGELOG.md":
        named -= {"warm"}
    assert named <= known, named - known


def test_the_index_names_every_page():
    index = (ROOT / "docs" / "README.md").read_text()
    assert [page.name for page in PAGES[2:] if page.name != "README.md" and f"({page.name})" not in index] == []


@pytest.fixture(scope="module")
def commands():
    """Words of a command -> its options, such as ("train", "tspg") -> {"--preset", ...}."""
    found = {}

    def add(words, command):
        found[words] = {option for each in command.params for option in (*each.opts, *each.secondary_opts)} | {"--help"}
        for name, inner in subcommands(command):
            add((*words, name), inner)

    add((), typer.main.get_command(cli.build()))
    return found


@pytest.mark.parametrize("page", PAGES[:1] + PAGES[2:], ids=lambda page: page.name)
def test_every_option_exists(page, commands):
    wrong = []
    for line in re.findall(r"(?:^|`)(kibitz [^`\n#]*)", page.read_text(), re.MULTILINE):
        words = line.split()[1:]
        known = commands.get(tuple(words[:2])) or commands.get(tuple(words[:1])) or commands[()]
        wrong += [line for option in re.findall(r"(?<= )--[a-z][a-z-]*", line) if option not in known]
    assert wrong == []
