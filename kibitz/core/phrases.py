"""Texts in another language by a table of phrases, in which `{n}` stands for a number, `{w}` for a word, `{p}` for a
player and `{}` for anything."""

import re
from collections.abc import Mapping, Sequence

KINDS = {"{n}": r"(\d(?:[\d.,]*\d)?%?)", "{w}": r"(\w+)", "{p}": r"([^\s;]+)", "{}": "(.*?)"}
VALUE = re.compile(r"(\{\w?\})")


def pattern(phrase: str) -> str:
    """The regular expression of a phrase between other words, with a group for each value in it."""
    start = r"(?<!\w)" if re.match(r"[\w{]", phrase) else ""
    end = r"(?!\w)" if re.search(r"[\w}]$", phrase) else ""
    return start + "".join(KINDS.get(part) or re.escape(part) for part in VALUE.split(phrase)) + end


def values_in(text: str, phrase: str) -> list[str] | None:
    """The values of a text that is this phrase; None: it is another one."""
    found = re.fullmatch(pattern(phrase), text)
    return list(found.groups()) if found else None


def filled(phrase: str, values: Sequence[str]) -> str:
    """A phrase with these values."""
    given = iter(values)
    return VALUE.sub(lambda _: next(given), phrase)


class Phrases:
    """Replaces the phrases of a table, the longest first. Values that are in `words` are replaced, too."""

    def __init__(self, table: Mapping[str, str], words: Mapping[str, str] | None = None) -> None:
        self.words = words or {}
        self.table = [(phrase, table[phrase]) for phrase in sorted(table, key=len, reverse=True)]
        self.any = re.compile("|".join(f"(?P<p{i}>{pattern(phrase)})" for i, (phrase, _) in enumerate(self.table)))

    def __call__(self, text: str) -> str:
        return self.any.sub(self._replaced, text)

    def _replaced(self, match: re.Match[str]) -> str:
        name = str(match.lastgroup)  # the group around a phrase, which ends after those in it
        phrase, other = self.table[int(name[1:])]
        first = match.re.groupindex[name]
        values = match.groups()[first : first + len(VALUE.findall(phrase))]
        return filled(other, [self.words.get(value, value) for value in values])
