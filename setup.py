"""Puts the index of what ships (`kibitz/app/index.json`) into the wheel; everything else is in `pyproject.toml`.

The index is made by Kibitz itself. Where its dependencies are missing, as in an isolated build, the wheel is built
without it, and it is made on first use.
"""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

NEEDED = ("numpy", "numba", "scipy", "safetensors", "typer", "rich")


class BuildWithIndex(build_py):
    def run(self):
        super().run()
        if self.editable_mode or not all(map(find_spec, NEEDED)):
            return
        target = Path(self.build_lib, "kibitz", "app", "index.json").resolve()
        subprocess.run(
            [sys.executable, "-m", "kibitz.app.make_index", str(target)],
            check=True,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parent), "PYTHONDONTWRITEBYTECODE": "1"},
        )


setup(cmdclass={"build_py": BuildWithIndex})
