"""One honest sentence about an adviser: what it is, how long it thinks, and its weakness where one was measured."""

import inspect
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...core import names
from ...core.names import BadInput, as_path
from ...core.runs import Run
from ...games import Game, load
from ...search.search import Search
from .german import said_in
from .measured import Fact, facts
from .player import PLAYERS, label, same
from .search import SearchPlayer, player_class

BUDGETS = ("simulations", "seconds", "budget", "nodes", "depth")
WHAT = {
    "net": "network without search",
    "features": "learned patterns without search",
    "ntuple": "learned evaluation, few plies ahead",
    "strategy": "saved strategy",
    "resolve": "saved strategy, the last streets solved while playing",
    "cards": "network without search",
    "lstm": "network without search",
    "heuristic": "rules of thumb, no search",
    "style": "rules of thumb, no search",
    "random": "random moves",
    "always": "one fixed move",
    "engine": "another program",
}
UNKNOWN = "its weakness was not measured"


@dataclass(frozen=True)
class AdviserLabel:
    what: str  # "network without search"
    time: str  # per move: "12 ms"; empty: unknown
    weakness: str  # what was measured, or that nothing was
    source: str  # the page of docs, or the file, that the weakness is from; empty: none

    def __str__(self) -> str:
        return f"{', '.join(filter(None, [self.what, self.time]))}; {self.weakness}"

    def as_json(self, language: str = "en") -> dict[str, str]:
        """Everything, as values for JSON, in words of a language (`en`, `de`)."""
        said = {"what": self.what, "time": self.time, "weakness": self.weakness, "text": str(self)}
        return {key: said_in(language, text) for key, text in said.items()} | {"source": self.source}


def adviser_label(player: Any, game: Game, seconds: float = 0.0, thinks: float = 0.0) -> AdviserLabel:
    """Describe an adviser of a game.

    Args:
        player: A name, or a player, of which only its class is known.
        seconds: What a move was measured to take, such as `Advice.seconds`; 0: what its name or the docs say.
        thinks: Seconds that a search thinks here, whatever its name says; 0: what its name says.
    """
    time = _duration(seconds) if seconds else ""
    if not isinstance(player, str) or ".py:" in player:
        return AdviserLabel(label(player), time, UNKNOWN, "")
    name, values = _parsed(player)
    if thinks:
        values = {key: value for key, value in values.items() if key not in BUDGETS} | {"seconds": thinks}
    fact = next((fact for fact in facts() if _is_about(fact, name, values, game)), None)
    what, budget = _what(name, values)
    weakness, source = (fact.weakness, f"docs/{fact.page}") if fact else _stored(name, values)
    return AdviserLabel(what, time or budget or (fact.time if fact else ""), weakness, source)


def _parsed(player: str) -> tuple[str, dict[str, Any]]:
    """The kind of a player by name, and those of its options that differ from their defaults."""
    name, text = names.split(player)
    kind = PLAYERS[name]
    source = getattr(kind, "Options", kind)
    defaults = {key: each.default for key, each in inspect.signature(source).parameters.items()}
    values = names.parameters(name, source, text)
    return name, {key: value for key, value in values.items() if value != defaults.get(key)}


def _is_about(fact: Fact, name: str, values: dict[str, Any], game: Game) -> bool:
    if names.split(fact.player)[0] != name or not same(load(fact.game), game):
        return False
    known = _parsed(fact.player)[1]
    ignored = BUDGETS if len(known) > 1 or not set(known) & set(BUDGETS) else ()  # a policy, not a budget, was measured
    return {key: known[key] for key in known if key not in ignored} == {
        key: values[key] for key in values if key not in ignored
    }


def _what(name: str, values: dict[str, Any]) -> tuple[str, str]:
    """What a player is, and its budget per move in words."""
    kind = PLAYERS[name]
    if issubclass(kind, Search):
        kind = player_class(kind)
    if not issubclass(kind, SearchPlayer) or name in WHAT:
        return WHAT.get(name, name), ""
    guide = values.get("policy") or values.get("net") or values.get("network") or values.get("eval")
    what = f"search ({name}{f', guided by {guide}' if guide else ''})"
    if "seconds" in values:
        return what, f"{values['seconds']:g} s"
    if "budget" in values:
        worlds, _, each = values["budget"].partition("x")
        return f"{what}, {worlds} worlds of {int(each):,} simulations", ""
    for unit, text in (("simulations", "simulations"), ("nodes", "positions"), ("depth", "plies")):
        if unit in values:
            return f"{what}, {values[unit]:,} {text}", ""
    return what, ""


def _stored(name: str, values: dict[str, Any]) -> tuple[str, str]:
    """What a run folder knows of its network or strategy, and the file that says so."""
    given = values.get("network", values.get("file"))
    folder = as_path(given) if isinstance(given, str) else Path()
    if name not in ("net", "strategy") or not folder.is_dir() or not (folder / "metrics.jsonl").exists():
        return UNKNOWN, ""
    try:
        lines = Run(folder).read_lines(step="iteration" if name == "net" else "iterations")
    except BadInput:
        return UNKNOWN, ""
    known = [
        (line["nash_conv"], line.get("iteration", 0))
        for line in lines
        if "nash_conv" in line and values.get("iteration", 0) in (0, line.get("iteration"))
    ]
    if not known:
        return UNKNOWN, ""
    where = f" at iteration {known[-1][1]}" if name == "net" else ""
    text = f"a best response wins {known[-1][0] / 2:.3g} per game from it on average{where}"
    return text, str(folder / "metrics.jsonl")


def _duration(seconds: float) -> str:
    if seconds >= 1:
        return f"{seconds:.1f} s"
    return f"{1000 * seconds:.0f} ms" if seconds >= 0.001 else f"{1000 * seconds:.1g} ms"
