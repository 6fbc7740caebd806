"""Figures of one row: the numbers that its commands report and log, and digests and norms of what they learned."""

import contextlib
import hashlib
import io
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file

from kibitz.__main__ import main

Figures = dict[str, float | str]
TIMES = ("second", "time", "rate", "duration")  # in names of figures that no seed determines
LEARNED = ("strategy.safetensors", "network.safetensors", "abstraction.safetensors")


def run(name: str, commands: tuple[Any, ...], folder: Path) -> Figures:
    """Run a row's commands in `folder`, the current one, and collect all figures."""
    found: Figures = {}
    for number, command in enumerate(commands, 1):
        if callable(command):
            found |= command(folder)
            continue
        arguments = command.split()
        if arguments[0] == "solve":
            arguments += ["--out", name]
        file = folder / f"{name}-{number}.json"
        _call([*arguments, "--json", str(file)])
        reported = json.loads(file.read_text().replace(f"{folder}/", ""))
        found |= _numbers(f"{number} {arguments[0]}", _without_options(reported, arguments, folder))
    for path in sorted(folder.glob(f"{name}/metrics.jsonl")):
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        found |= _numbers("metrics", lines)
    for path in sorted(folder.glob(f"{name}*/games.jsonl")):
        played = [json.loads(line)["actions"] for line in path.read_text().splitlines()]
        found[f"{path.parent.name} games sha256"] = hashlib.sha256(json.dumps(played).encode()).hexdigest()
    for path in (folder / name / file for file in LEARNED):
        if path.exists():
            found |= of_arrays(path.stem, list(load_file(path).values()))
    return found


def _without_options(reported: Any, arguments: list[str], folder: Path) -> Any:
    """A report without the options that it repeats from its run folder."""
    if "--out" not in arguments:
        return reported
    options = json.loads((folder / arguments[arguments.index("--out") + 1] / "config.json").read_text())
    return {key: value for key, value in reported.items() if key not in options}


def _call(arguments: list[str]) -> None:
    shown, before = io.StringIO(), sys.argv
    sys.argv = ["kibitz", *arguments]
    try:
        with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(shown):
            main()
    except SystemExit as ended:
        if ended.code:
            raise AssertionError(f"kibitz {' '.join(arguments)}\n{shown.getvalue()}") from None
    finally:
        sys.argv = before


def _numbers(name: str, value: Any) -> Figures:
    """The numbers in JSON, by their path in it."""
    if isinstance(value, dict):
        items = [(key, each) for key, each in value.items() if not any(time in key for time in TIMES)]
    elif isinstance(value, list):
        items = list(enumerate(value, 1))
    else:
        return {name: value} if isinstance(value, int | float) and not isinstance(value, bool) else {}
    return {key: number for part, each in items for key, number in _numbers(f"{name} {part}", each).items()}


def of_arrays(name: str, arrays: list[np.ndarray]) -> Figures:
    """A digest of their bytes, and the sum and the norm of their numbers but for keys; the order doesn't matter."""
    digests = sorted(hashlib.sha256(np.ascontiguousarray(each).tobytes()).digest() for each in arrays)
    numbers = [each.astype(float).ravel() for each in arrays if each.dtype.kind == "f" or each.itemsize <= 2]
    return {
        f"{name} sha256": hashlib.sha256(b"".join(digests)).hexdigest(),
        f"{name} sum": sum(float(np.sum(each)) for each in numbers),
        f"{name} norm": sum(float(np.sum(each**2)) for each in numbers) ** 0.5,
    }


def of_exploitability(found: Any) -> Figures:
    return {"nash_conv": found.nash_conv, "value": found.value, "best 1": found.best[0], "best 2": found.best[1]}
