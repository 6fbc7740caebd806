"""Record the figures of all rows, or of some: `python -m tests.golden.record [ROW ...]`.

Only a change that is meant to give other figures may record them again; its commit names the rows and says why.
"""

import os

os.environ["OMP_NUM_THREADS"] = "1"  # as the tests do

import contextlib
import json
import sys
import tempfile
import time
from pathlib import Path

from .arithmetic import arithmetic
from .figures import run
from .rows import GROUPS, ROWS

RECORDED = Path(__file__).parent / "recorded"


def main(names: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        done: dict[str, dict[str, float | str]] = {}

        def figures(name: str) -> dict[str, float | str]:
            if name not in done:
                for other in ROWS[name].after:
                    figures(other)
                began = time.process_time()
                done[name] = run(name, ROWS[name].commands, Path(folder))
                print(f"{name}: {len(done[name])} figures, {time.process_time() - began:.1f} s", flush=True)
            return done[name]

        for group, rows in GROUPS.items():
            path = RECORDED / f"{group}.json"
            before = json.loads(path.read_text()) if path.exists() else {}
            now = {name: figures(name) if name in names or not names else before.get(name) for name in rows}
            path.write_text(json.dumps(now, indent=1) + "\n")
        (RECORDED / "arithmetic.json").write_text(json.dumps(arithmetic()) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
