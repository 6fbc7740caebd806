"""The size of the package: a ceiling that only goes down, so that what is new makes something else simpler."""

from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "kibitz"
CEILING = 68_400  # lines of Python
LONGEST = 400  # lines of a file


def lengths():
    return {path.relative_to(PACKAGE).as_posix(): len(path.read_text().splitlines()) for path in PACKAGE.rglob("*.py")}


def test_the_package_is_no_larger_than_it_was():
    assert sum(lengths().values()) <= CEILING, "make something simpler, or say in the pull request why it can't be"


def test_no_file_is_too_long_to_read():
    assert {place: length for place, length in lengths().items() if length > LONGEST} == {}
