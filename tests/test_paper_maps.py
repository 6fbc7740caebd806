"""The maps from papers to code in the documentation: every file, function and test that they name exists.

A map names code as a link to a file, a colon and names in backticks: [oos.py](../kibitz/search/oos.py): `descend`.
"""

import ast
import functools
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs").glob("*.md"))
SECTIONS = ("From the paper to the code", "Where published code or text is wrong")
PAPERS = ("exit-oos.md", "tspg.md", "doppelkopf-networks.md", "deep-cfr.md")
MAPPED = (
    *PAPERS,
    "online-outcome-sampling.md",
    "tree-search.md",
    "solving.md",
    "public-tree.md",
)  # these have the first section
LINK = re.compile(r"\[[^\]]*\]\((\.\./[^)#]+\.py)\)((?::(?: `[\w.]+`,?)+)?)")


def section(text, title):
    """The text below a heading of level 2, up to the next one; empty if there is none."""
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    return found[1] if found else ""


def named(text):
    """(file, name) for every name that follows a link to a Python file."""
    return [(file, name) for file, names in LINK.findall(text) for name in re.findall(r"`([\w.]+)`", names)]


@functools.cache
def defined(path):
    """The functions, classes, methods (Class.method), fields and constants that a file defines."""

    def names(body, before=""):
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                yield before + node.name
            if isinstance(node, ast.ClassDef):
                yield from names(node.body, f"{before}{node.name}.")
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            for target in targets:
                for part in target.elts if isinstance(target, ast.Tuple) else [target]:
                    if isinstance(part, ast.Name):
                        yield before + part.id

    return set(names(ast.parse(path.read_text()).body))


def rows(text):
    """The rows of all tables as lists of cells, without heads."""
    lines = [line.strip().strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
    rules = [i for i, cells in enumerate(lines) if set("".join(cells)) <= set("-: ")]
    heads = {*rules, *(i - 1 for i in rules)}
    return [[cell.strip() for cell in cells] for i, cells in enumerate(lines) if i not in heads]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_name_after_a_link_is_defined_in_the_file(page):
    wrong = []
    for file, name in named(page.read_text()):
        path = (page.parent / file).resolve()
        if not path.exists() or name not in defined(path):
            wrong.append((file, name))
    assert wrong == []


@pytest.mark.parametrize("name", MAPPED)
def test_every_row_of_a_map_names_code_and_a_test(name):
    found = rows(section((ROOT / "docs" / name).read_text(), SECTIONS[0]))
    assert len(found) >= 5
    for cells in found:
        assert len(cells) == 4, cells
        code, test = named(cells[2]), named(cells[3])
        assert code, cells
        assert all("/kibitz/" in file for file, _ in code), cells
        assert test, cells
        assert all("/tests/" in file and name.startswith("test_") for file, name in test), cells


@pytest.mark.parametrize("name", MAPPED)
def test_every_link_to_code_in_a_map_has_names(name):
    text = (ROOT / "docs" / name).read_text()
    without = [file for title in SECTIONS for file, names in LINK.findall(section(text, title)) if not names]
    assert without == []


@pytest.mark.parametrize("name", PAPERS)
def test_every_paper_has_a_section_on_what_is_wrong_in_it_with_tests(name):
    found = named(section((ROOT / "docs" / name).read_text(), SECTIONS[1]))
    assert [each for file, each in found if "/tests/" in file]


def test_a_name_that_is_not_there_is_found():
    text = "| [x.py](../kibitz/search/oos_simulation.py): `descend`, `ascend`, `DECAY`, `Settings.prior` | x |"
    known = defined(ROOT / "kibitz" / "search" / "oos_simulation.py")
    assert [name for _, name in named(text) if name not in known] == ["ascend"]
    assert rows("| a | b |\n|---|---|\n| 1 | 2 |\n") == [["1", "2"]]
