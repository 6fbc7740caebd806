"""The documentation site builds without a warning, and shows what GitHub shows."""

import runpy
import shutil
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs").rglob("*.md"))
BLOCKS = {"h1", "h2", "h3", "h4", "li", "tr", "th", "td", "pre", "code", "img", "blockquote", "strong", "em"}

pytest.importorskip("zensical")
build = runpy.run_path(str(ROOT / "docs" / "make_site.py"))["build"]


def project(folder, docs=None):
    """A project with the settings and files of ours; `docs` by path replace the pages."""
    shutil.copyfile(ROOT / "zensical.toml", folder / "zensical.toml")  # Zensical follows a link to our own project
    for each in ("README.md", "CHANGELOG.md", "LICENSE", "Dockerfile", "compose.yaml", "examples", "kibitz", "tests"):
        try:
            (folder / each).symlink_to(ROOT / each)
        except OSError:  # Windows
            pytest.skip("symbolic links need a privilege here")
    if docs is None:
        shutil.copytree(ROOT / "docs", folder / "docs")
    for name, text in (docs or {}).items():
        (folder / "docs" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "docs" / name).write_text(text)
    return folder


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    return build(project(tmp_path_factory.mktemp("project")))


class Read(HTMLParser):
    """How often a page has each kind of block, and the text of its code."""

    def __init__(self, html):
        super().__init__()
        self.blocks, self.code, self._open = Counter(), [], False
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.blocks.update({tag} & BLOCKS)
        if tag == "code":
            self._open = True
            self.code.append("")

    def handle_endtag(self, tag):
        self._open = self._open and tag != "code"

    def handle_data(self, data):
        if self._open:
            self.code[-1] += data


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_site_shows_what_github_shows(site, page):
    """The two read Markdown by different rules: a list or a block of code in one may be a paragraph in the other."""
    name = page.relative_to(ROOT / "docs").with_suffix(".html").as_posix().replace("README", "index")
    _, _, article = (site / name).read_text().partition("<article")
    github = Read(MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(page.read_text()))
    shown = Read(article.partition("</article")[0])
    assert shown.blocks == github.blocks
    assert [code.split() for code in shown.code] == [code.split() for code in github.code]


def test_files_outside_docs_come_along(site):
    assert (site / "source" / "examples" / "solve_and_plot.py").exists()
    assert not list(site.rglob("make_site.py"))
    assert 'href="source/examples/solve_and_plot.py"' in (site / "index.html").read_text()


HOME = "# Home\n\n## Part\n\n[other](other.md)\n"
NAVIGATION = "nav:\n  - README.md\n  - other.md\n"
ELSEWHERE = "https://example.org/a.png"


@pytest.mark.parametrize(
    ("pages", "wrongs"),
    [
        (
            {"other.md": "# Other\n\n[no](nowhere.md) [no](README.md#nowhere)\n"},
            ["page does not exist", "anchor does not exist"],
        ),
        (
            {
                "other.md": f"# Other\n\n[no](../nowhere.py) [no](nowhere.txt) ![no](a.png) ![no]({ELSEWHERE})\n",
                "games/lost.md": "# Lost\n",
            },
            [
                "other.html: no file ../nowhere.py",
                "other.html: no file nowhere.txt",
                "other.html: no file a.png",
                f"other.html: loads {ELSEWHERE}",
                "games/lost.md: not in the navigation",
            ],
        ),
        ({"README.md": "# Home\n"}, ["'other.md' doesn't match any files"]),
    ],
    ids=["Markdown", "pages", "navigation"],
)
def test_faults_are_errors(tmp_path, pages, wrongs):
    with pytest.raises(SystemExit) as raised:
        build(project(tmp_path, {"README.md": HOME, ".nav.yml": NAVIGATION, **pages}))
    assert [wrong for wrong in wrongs if wrong not in str(raised.value)] == []
    assert "\x1b" not in str(raised.value)


def test_a_small_site_is_built(tmp_path):
    """Pages outside docs become pages, too; games are listed by themselves."""
    other = "# Other\n\n[part](README.md#part) [notes](../NOTES.md#news)\n\n```python my_file.py\nx = 1\n```\n"
    (tmp_path / "NOTES.md").write_text("# Notes\n\n## News\n\n[home](docs/README.md)\n")
    navigation = (ROOT / "docs" / ".nav.yml").read_text()
    games = navigation[navigation.index("  - Games:") : navigation.index("      - doppelkopf.md")]
    pages = {"README.md": HOME, ".nav.yml": NAVIGATION + games, "other.md": other, "games/chess.md": "# Chess\n"}
    built = build(project(tmp_path, pages))
    page = (built / "other.html").read_text()
    assert 'href="index.html#part"' in page
    assert 'href="source/NOTES.html#news"' in page
    assert "my_file.py" in page
    assert 'href="./games/chess.html"' in page
