"""No decision rests on the text of an error: what an error is, its type says, and its attributes."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "kibitz"
# They put errors of NumPy and Numba into an author's words. What those are about is in their texts only, and what
# follows is words again.
EXPLAIN = {"games/checks/compiled.py", "games/checks/faults.py"}

ASKS = {"startswith", "endswith", "partition", "rpartition", "find", "index", "count"}
SEARCHES = {"search", "match", "fullmatch", "findall", "finditer"}


def decisions(text):
    """The lines of a module in which the text of an exception is compared, searched or taken apart."""
    found = set()
    for function in ast.walk(ast.parse(text)):
        if isinstance(function, ast.ExceptHandler) and function.name:
            found |= _asked(function, {function.name})
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            every = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
            found |= _asked(function, {each.arg for each in every if each.annotation and _is_error(each.annotation)})
    return sorted(found)


def _is_error(annotation):
    return any(word in ast.unparse(annotation) for word in ("Exception", "Error", "BadInput", "TooLarge"))


def _asked(inside, errors):
    texts = set()  # names of variables that hold a text of one of the errors

    def is_text(node):
        """`str(error)`, `error.args[0]`, an f-string of it alone or a part of such a text."""
        if isinstance(node, ast.Name):
            return node.id in texts
        if isinstance(node, ast.Subscript):
            return is_text(node.value)
        if isinstance(node, ast.Attribute):
            return node.attr in ("args", "msg", "message") and _is_name(node.value)
        if isinstance(node, ast.JoinedStr):
            return any(isinstance(each, ast.FormattedValue) and _is_name(each.value) for each in node.values)
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name):
                return node.func.id in ("str", "repr") and any(map(_is_name, node.args))
            on_text = isinstance(node.func, ast.Attribute) and is_text(node.func.value)
            return on_text or any(map(is_text, node.args))
        return False

    def _is_name(node):
        return isinstance(node, ast.Name) and node.id in errors

    found = set()
    for _ in range(2):  # a loop may use a text before the line that makes it
        for node in ast.walk(inside):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    pairs = [(target, node.value)]
                    if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                        pairs = list(zip(target.elts, node.value.elts, strict=False))
                    texts |= {name.id for name, value in pairs if isinstance(name, ast.Name) and is_text(value)}
            asked = False
            if isinstance(node, ast.Compare):
                asked = any(map(is_text, [node.left, *node.comparators]))
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                asked = node.func.attr in ASKS and is_text(node.func.value)
                asked |= node.func.attr in SEARCHES and any(map(is_text, node.args))
            elif isinstance(node, ast.Match):
                asked = is_text(node.subject)
            if asked:
                found.add(node.lineno)
    return found


def test_no_module_decides_by_the_text_of_an_error():
    wrong = [
        f"{path.relative_to(PACKAGE)}:{line}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for line in decisions(path.read_text())
        if path.relative_to(PACKAGE).as_posix() not in EXPLAIN
    ]
    assert not wrong


def test_the_modules_that_explain_errors_still_do():
    for name in EXPLAIN:
        assert decisions((PACKAGE / name).read_text()), name


@pytest.mark.parametrize(
    ("handler", "is_wrong"),
    [
        ("if str(error) != NOT_BITS: raise", True),
        ("if 'NRT required' not in str(error): raise", True),
        ("fact = str(error).partition(' ')[0]", True),
        ("text = ' '.join(str(error).split())\n    if text.startswith('no'): raise", True),
        ("text, other = str(error), 1\n    found = re.search('x', text)", True),
        ("if error.args[0] == 'x': raise", True),
        ("return f'{error}' == 'x'", True),
        ("match str(error):\n        case 'x': raise", True),
        ("shown = str(error).removeprefix('a folder')", False),
        ("raise BadInput(f'line 1: {error}') from None", False),
        ("if error.errno == 2 or isinstance(error, KeyError): raise", False),
        ("print(str(error) or 'nothing', file=sys.stderr)", False),
        ("why = ' '.join(str(error).split())[:200]", False),
    ],
)
def test_a_planted_decision_is_found_and_nothing_else(handler, is_wrong):
    assert bool(decisions(f"try:\n    f()\nexcept ValueError as error:\n    {handler}\n")) == is_wrong
    asked = handler.replace("raise\n", "return 1\n")
    assert bool(decisions(f"def reason(error: Exception):\n    {asked}\n")) == is_wrong
