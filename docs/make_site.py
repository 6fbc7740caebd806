"""Builds the documentation site: `make docs`.

    python docs/make_site.py [PROJECT]

Copies `docs`, and the files outside it that pages link to, into `build/docs`; runs Zensical in strict mode on them; and
reads every built page: each link and anchor must resolve, each page must be in the navigation, and nothing may be
loaded from another host. Nothing is fetched while building.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

STAGED = Path("build") / "docs"  # as in zensical.toml
SITE = Path("build") / "site"
LOADED = {"script": "src", "img": "src", "source": "src", "iframe": "src", "link": "href"}
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def build(project: Path) -> Path:
    """Build the site of a project and return its folder; SystemExit with the reasons where something is wrong."""
    _stage(project)
    command = [sys.executable, "-m", "zensical", "build", "--clean", "--strict"]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True)
    if done.returncode:
        said = COLOUR.sub("", done.stdout + done.stderr)
        raise SystemExit(said.partition("Traceback")[0].strip() or said)
    if wrong := list(faults(project)):
        raise SystemExit("\n".join(wrong))
    return project / SITE


def _stage(project: Path) -> None:
    """Copy the pages; files such as `../examples/solve_and_plot.py` come into the folder `source` of the site."""
    docs, staged = project / "docs", project / STAGED
    shutil.rmtree(staged, ignore_errors=True)
    shutil.rmtree(project / SITE, ignore_errors=True)
    shutil.copytree(docs, staged, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    pages = sorted(docs.rglob("*.md"))

    def place(file: Path) -> Path:
        if file.is_relative_to(docs):
            return staged / file.relative_to(docs)
        return staged / "source" / file.relative_to(project)

    for page in pages:  # grows: CHANGELOG.md may link to further files

        def link(found: re.Match[str], page: Path = page) -> str:
            file = Path(os.path.normpath(page.parent / found[0]))
            if not file.is_relative_to(project) or not file.is_file():
                return found[0]
            copy = place(file)
            if not copy.exists():
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, copy)
                pages.extend([file] if file.suffix == ".md" else [])
            return Path(os.path.relpath(copy, place(page).parent)).as_posix()

        place(page).write_text(_for_zensical(re.sub(r"(?<=\]\()[^)\s#]+", link, page.read_text())))


def _for_zensical(text: str) -> str:
    """Markdown of GitHub in Zensical's words: names of files of code, and bars in code in tables."""
    text = re.sub(r"^```python (\w+\.py)$", r'```python title="\1"', text, flags=re.MULTILINE)
    return re.sub(r"(?<=^\| ).*`.*$", lambda row: re.sub(r"`[^`]+`", _bare_bars, row[0]), text, flags=re.MULTILINE)


def _bare_bars(code: re.Match[str]) -> str:
    return code[0].replace("\\|", "|")


@dataclass
class Page(HTMLParser):
    """What a built page links to, loads and can be linked at."""

    file: Path
    links: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.file.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if LOADED.get(tag) in given:
            self.loaded.append(given[LOADED[tag]])


def faults(project: Path) -> Iterator[str]:
    """What is wrong in the built pages, one line each."""
    site = project / SITE
    pages = {file: Page(file) for file in sorted(site.rglob("*.html")) if file.name != "404.html"}
    for file, page in pages.items():
        name = file.relative_to(site).as_posix()
        yield from (f"{name}: loads {url}" for url in page.loaded if re.match(r"(https?:)?//", url))
        for url in page.links + page.loaded:
            if re.match(r"[a-z]+:|//", url):
                continue
            path, _, anchor = unquote(url).partition("#")
            there = Path(os.path.normpath(file.parent / path)) if path else file
            if not there.is_relative_to(site) or not there.is_file():
                yield f"{name}: no file {url}"
            elif anchor and there in pages and anchor not in pages[there].anchors:
                yield f"{name}: no anchor {url}"
    first = (site / "index.html").read_text()
    navigation = re.search(r'<nav class="md-nav md-nav--primary.*?(?=<div class="md-content)', first, re.DOTALL)
    listed = set(re.findall(r'href="(?:\./)?([^"#]+)"', navigation[0])) if navigation else set()
    for source in sorted((project / "docs").rglob("*.md")):
        page_name = source.relative_to(project / "docs")
        if page_name.with_suffix(".html").as_posix().replace("README", "index") not in listed:
            yield f"{page_name.as_posix()}: not in the navigation: add it to docs/.nav.yml"


if __name__ == "__main__":
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1]).absolute()
    print(f"{build(root)}: python -m http.server --directory {SITE} shows it, with the search")
