"""The distributions: complete, small and pure; and what is installed from the wheel works far from the source."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import urllib.request
import zipfile
from pathlib import Path

import pytest

import kibitz
from kibitz.app import make_index

ROOT = Path(__file__).parents[1]
MAX_SIZE = 12_000_000  # bytes of the wheel
FOLDERS = {"benchmarks", "docs", "examples", "kibitz", "tests"}
MADE = {"PKG-INFO", "setup.cfg"}  # in an unpacked source distribution

# Several commands in one process, which imports everything once.
COMMANDS = """
import sys
from kibitz.__main__ import main

for line in sys.stdin.read().splitlines():
    sys.argv = ["kibitz", *line.split()]
    try:
        main()
    except SystemExit as ended:
        if ended.code:
            sys.exit(f"{line}: exit code {ended.code}")
"""
DEMO = """\
models
demo --iterations 1 --simulations 5 --games 2
match kuhn net:runs/trained random --games 4 --processes 1
"""
TRAINING = "train exit-oos kuhn --preset small --iterations 1 --simulations 5 --processes 1 --out runs/trained\n"


def run(*command, **arguments):
    """What a command prints. It sees neither the source tree nor the settings of the tests."""
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONHOME")}
    done = subprocess.run(
        [str(each) for each in command],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**environment, "PYTHONUTF8": "1", "COLUMNS": "100"},
        timeout=300,
        **arguments,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


def unpackaged(folder, names):
    """Names in a folder that are in no distribution: others may work in the root, too."""
    if Path(folder) != ROOT:
        return {"__pycache__"}
    files = {name for name in names if (ROOT / name).is_file() and (name[0] != "." or name == ".dockerignore")}
    return set(names) - FOLDERS - (files - MADE)


@pytest.fixture(scope="module")
def distributions(tmp_path_factory):
    """The copied source tree, the source distribution, and the wheel that is built from that."""
    folder = tmp_path_factory.mktemp("build")
    shutil.copytree(ROOT, folder / "source", ignore=unpackaged)
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, folder / "source")
    [sdist], [wheel] = folder.glob("*.tar.gz"), folder.glob("*.whl")
    return folder / "source", sdist, wheel


@pytest.fixture(scope="module")
def installed(distributions, tmp_path_factory):
    """The folder of programs of an empty environment with the wheel; it borrows the dependencies of this one."""
    folder = tmp_path_factory.mktemp("installed")
    run(sys.executable, "-m", "venv", "--without-pip", folder)
    scripts = folder / ("Scripts" if os.name == "nt" else "bin")
    python = scripts / "python"
    run(sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", distributions[2])
    packages = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    borrowed = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (packages / "borrowed.pth").write_text("\n".join(sorted(borrowed)) + "\n", encoding="utf-8")
    return scripts


def test_the_wheel_is_pure_and_small_and_has_all_files_of_the_package(distributions):
    source, _, wheel = distributions
    assert wheel.name == f"kibitz-{kibitz.__version__}-py3-none-any.whl"
    assert wheel.stat().st_size < MAX_SIZE
    with zipfile.ZipFile(wheel) as file:
        packed = {name for name in file.namelist() if ".dist-info/" not in name}
        index_made = json.loads(file.read("kibitz/app/index.json"))
    there = {path.relative_to(source).as_posix() for path in (source / "kibitz").rglob("*") if path.is_file()}
    assert packed == there | {"kibitz/app/index.json"}
    assert index_made == json.loads(json.dumps(make_index.written()))
    assert {"kibitz/models/leduc.safetensors", "kibitz/app/web/static/index.html"} <= packed


def test_the_source_distribution_is_complete(distributions):
    source, sdist, _ = distributions
    with tarfile.open(sdist) as file:
        packed = {name.partition("/")[2] for name in file.getnames()}
    there = {path.relative_to(source).as_posix() for path in source.rglob("*") if path.is_file()}
    assert {name for name in there - packed if not name.startswith("kibitz.egg-info/")} == set()
    assert {"docs/README.md", "tests/test_packaging.py", "examples/solve_and_plot.py", "Makefile"} <= packed


def test_the_metadata_says_what_an_index_asks_for(distributions):
    with zipfile.ZipFile(distributions[2]) as file:
        [name] = [name for name in file.namelist() if name.endswith(".dist-info/METADATA")]
        text = file.read(name).decode()
    for line in (
        f"Version: {kibitz.__version__}",
        "License-Expression: Apache-2.0",
        "License-File: LICENSE",
        "Description-Content-Type: text/markdown",
        "Requires-Python: >=3.11",
    ):
        assert f"\n{line}\n" in text
    extras = set(re.findall(r"^Provides-Extra: (\S+)$", text, re.MULTILINE))
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert extras == set(declared)


def test_what_is_installed_trains_plays_and_shows_its_models(installed, tmp_path):
    assert run(installed / "kibitz", "--version", cwd=tmp_path).strip() == f"kibitz {kibitz.__version__}"
    where = run(installed / "python", "-c", "import kibitz; print(kibitz.__file__)", cwd=tmp_path).strip()
    assert Path(where).is_relative_to(installed.parent)
    out = run(installed / "python", "-c", COMMANDS, input=TRAINING + DEMO, cwd=tmp_path)
    assert "play it: kibitz play kuhn --against net:runs/trained" in out.replace("\\", "/")
    assert "net:models/leduc" in out
    assert "against oos:1000" in out
    assert "4 games" in out
    assert (tmp_path / "runs" / "trained" / "network.safetensors").exists()


def test_the_installed_server_serves_its_page_and_its_interface(installed, tmp_path):
    command = [installed / "kibitz", "serve", "--no-open", "--port", "0", "--data", tmp_path / "data"]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | {"PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True) as server:
        try:
            address = re.search(r"http://127\.0\.0\.1:\d+/", server.stdout.readline())[0]

            def get(path):
                with urllib.request.urlopen(address + path, timeout=60) as answer:
                    return answer.read().decode()

            page = get("")
            scripts = re.findall(r'(?:src|href)="/?(static/[^"]+)"', page)
            assert scripts
            assert all(get(script) for script in scripts)
            assert {"leduc", "connect_four"} <= {game["name"] for game in json.loads(get("api/games"))}
        finally:
            server.terminate()
