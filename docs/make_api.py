"""Writes `docs/api.md`, the reference of the public Python interface, from signatures, docstrings and comments.

The source is read, not imported, so that no optional package is needed.
"""

import ast
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

from kibitz import _PUBLIC

PACKAGE = Path(__file__).parents[1] / "kibitz"
FILE = Path(__file__).with_name("api.md")
INTRODUCTION = """\
# API reference

Everything that `import kibitz` offers; [Kibitz in Python](python.md) shows it at work. What is not listed here is \
private and may change. Each name is imported when it is first used. This page is generated from the docstrings by \
`python docs/make_reference.py`.
"""
SECTIONS = {
    "Functions": {
        f"kibitz.{name}": f"{module.replace('.', '/')}.py"
        for name, module in (*_PUBLIC.items(), ("search", "api.positions"))
        if module.startswith("api.") and name.islower()
    },
    "Results": {
        "kibitz.Solution": "api/solving.py",
        "kibitz.TrainingRun": "api/training.py",
        "kibitz.Advice": "search/advice.py",
        "kibitz.MatchResult": "play/match.py",
        "kibitz.Standings": "play/tournament.py",
        "kibitz.play.exploitability.Exploited": "play/exploitability.py",
        "kibitz.play.exploiters.bound.Bound": "play/exploiters/bound.py",
        "kibitz.solve.best_response.Exploitability": "solve/best_response.py",
        "kibitz.search.strategy.Strategy": "search/strategy.py",
        "kibitz.play.review.Review": "play/review.py",
        "kibitz.BadInput": "core/names.py",
    },
    "Games and states": {
        "kibitz.State": "games/state.py",
        "kibitz.games.protocol.Facts": "games/protocol.py",
        "kibitz.CHANCE": "games/protocol.py",
        "kibitz.OVER": "games/protocol.py",
    },
    "For authors": {
        "kibitz.game": "games/game.py",
        "kibitz.record": "jit/records.py",
        "kibitz.helper": "jit/compiler.py",
        "kibitz.player": "play/players/player.py",
        "kibitz.play.players.Player": "play/players/player.py",
        "kibitz.search.search.Search": "search/search.py",
        "kibitz.__version__": "core/version.py",
    },
    "Environments": {
        "kibitz.vector.make": "bridges/envs/vector.py",
        "kibitz.vector.VectorEnv": "bridges/envs/vector.py",
        "kibitz.vector.Step": "bridges/envs/vector.py",
        "kibitz.gym.make": "bridges/envs/gym.py",
        "kibitz.gym.register": "bridges/envs/gym.py",
        "kibitz.pettingzoo.env": "bridges/envs/pettingzoo.py",
        "kibitz.pettingzoo.parallel_env": "bridges/envs/pettingzoo.py",
    },
    "OpenSpiel": {
        "kibitz.openspiel.register": "bridges/openspiel_adapter.py",
        "kibitz.openspiel.game": "bridges/openspiel.py",
        "kibitz.openspiel.Bot": "bridges/openspiel.py",
        "kibitz.openspiel.BotPlayer": "bridges/openspiel_bots.py",
        "kibitz.openspiel.policy": "bridges/openspiel.py",
        "kibitz.openspiel.tabular_policy": "bridges/openspiel.py",
        "kibitz.openspiel.strategy": "bridges/openspiel.py",
    },
}
WIDTH = 100  # of a signature on one line
BAR = r"\|"  # in a cell of a table


def reference() -> str:
    """The reference in Markdown."""
    lines = [INTRODUCTION]
    for section, names in SECTIONS.items():
        lines += [f"## {section}", ""]
        for name, file in names.items():
            lines += [f"### {name}", "", *_entry(name, PACKAGE / file), ""]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip() + "\n"


def _entry(name: str, file: Path) -> Iterator[str]:
    source = file.read_text()
    node = _find(ast.parse(source), name.rpartition(".")[2])
    if isinstance(node, ast.Assign):
        yield from _code("text", f"{name} = {ast.unparse(node.value)}")
        yield _comment(node, source)
    elif isinstance(node, ast.FunctionDef):
        yield from _function(name, node)
    else:
        yield from _class(name, node, source)


def _find(tree: ast.Module, name: str) -> ast.FunctionDef | ast.ClassDef | ast.Assign:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name and not _is_overload(node):
            return node
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
            return node
    raise LookupError(name)


def _class(name: str, node: ast.ClassDef, source: str) -> Iterator[str]:
    methods = {each.name: each for each in node.body if isinstance(each, ast.FunctionDef)}
    maker = methods.get("__init__")
    if maker and maker.args.args[1:] and ast.get_docstring(maker):
        yield from _code("text", _signature(name, maker, method=True))
    yield from _text(ast.get_docstring(node) or "")
    if maker and (told := ast.get_docstring(maker)):
        yield from ("", *_text(told))
    fields = [each for each in node.body if isinstance(each, ast.AnnAssign) and not _private(ast.unparse(each.target))]
    rows = [(ast.unparse(each.target), _type(each.annotation), _comment(each, source)) for each in fields]
    shown = [each for each in methods.values() if not _private(each.name) and ast.get_docstring(each)]
    for each in shown:
        if _is_property(each):
            rows.append((each.name, _type(each.returns), " ".join(next(_text(ast.get_docstring(each) or "")).split())))
    if rows:
        yield from ("", "| attribute | type | |", "|---|---|---|")
        yield from (_row(f"`{attribute}`", f"`{kind}`", told) for attribute, kind, told in rows)
    for each in shown:
        if not _is_property(each):
            yield from ("", f"#### {name.rpartition('.')[2]}.{each.name}", "")
            yield from _function(each.name, each, method=True)


def _function(name: str, node: ast.FunctionDef, method: bool = False) -> Iterator[str]:
    yield from _code("text", _signature(name, node, method))
    yield from _text(ast.get_docstring(node) or "")


def _signature(name: str, node: ast.FunctionDef, method: bool) -> str:
    given = node.args
    plain = [*given.posonlyargs, *given.args]
    defaults: list[ast.expr | None] = [None] * (len(plain) - len(given.defaults)) + list(given.defaults)
    parameters = [_parameter(each, default) for each, default in zip(plain, defaults, strict=True)][method:]
    if given.vararg:
        parameters.append("*" + _parameter(given.vararg, None))
    elif given.kwonlyargs:
        parameters.append("*")
    parameters += [_parameter(each, value) for each, value in zip(given.kwonlyargs, given.kw_defaults, strict=True)]
    if given.kwarg:
        parameters.append("**" + _parameter(given.kwarg, None))
    returns = f" -> {_type(node.returns)}" if node.returns and node.name != "__init__" else ""
    line = f"{name}({', '.join(parameters)}){returns}"
    if len(line) > WIDTH:
        line = "\n".join([f"{name}(", *(f"    {each}," for each in parameters), f"){returns}"])
    return line


def _parameter(argument: ast.arg, default: ast.expr | None) -> str:
    kind = f": {_type(argument.annotation)}" if argument.annotation else ""
    value = "" if default is None else f"{' = ' if kind else '='}{ast.unparse(default)}"
    return f"{argument.arg}{kind}{value}"


def _text(docstring: str) -> Iterator[str]:
    """A docstring as Markdown: its text, then arguments, results, errors and examples."""
    text, *parts = re.split(r"^(Args|Returns|Yields|Raises|Example|Examples):\n", docstring, flags=re.MULTILINE)
    yield text.strip()
    for title, part in zip(parts[::2], parts[1::2], strict=True):
        inner = textwrap.dedent(part).strip("\n")
        if title == "Args":
            yield from ("", "| argument | |", "|---|---|")
            for item in re.split(r"\n(?=\S)", inner):
                name, _, told = item.partition(":")
                yield _row(f"`{name}`", " ".join(told.split()))
        elif title in ("Example", "Examples"):
            yield from ("", *_code("pycon", inner.strip()))
        else:
            yield from ("", f"{title}: {' '.join(inner.split())}")


def _code(language: str, text: str) -> Iterator[str]:
    yield from (f"```{language}", text, "```", "")


def _row(*cells: str) -> str:
    """A row of a table, in which `int | None` stays one cell."""
    return f"| {' | '.join(cell.replace('|', BAR) for cell in cells)} |"


def _type(annotation: ast.expr | None) -> str:
    return ast.unparse(annotation).strip("'\"") if annotation else ""


def _comment(node: ast.AnnAssign | ast.Assign, source: str) -> str:
    """What the comment at the end of a line says."""
    lines = source.splitlines()[node.lineno - 1 : node.end_lineno]
    return next((line.partition("  # ")[2] for line in lines if "  # " in line), "")


def _is_overload(node: ast.FunctionDef | ast.ClassDef) -> bool:
    return any(ast.unparse(each) == "overload" for each in node.decorator_list)


def _is_property(node: ast.FunctionDef) -> bool:
    return any(ast.unparse(each).endswith("property") for each in node.decorator_list)


def _private(name: str) -> bool:
    return name.startswith("_")
