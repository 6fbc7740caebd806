"""Files for contributors and machines beside the package: they parse, agree with each other, and lead somewhere."""

import re
from pathlib import Path

import pytest
import yaml

import kibitz

from . import systems, test_docs

ROOT = Path(__file__).parents[1]
PAGES = ["CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md", "RELEASING.md"]
FORMS = sorted(path for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml") if path.stem != "config")


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", PAGES)
def test_every_link_leads_somewhere(name):
    text = re.sub(r"\[([^]]+)\]\(https://[^)]+\)", r"\1", read(name))
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        file, _, anchor = target.partition("#")
        assert (ROOT / file).exists(), target
        assert not anchor or anchor in test_docs.anchors(ROOT / file), target


@pytest.mark.parametrize("name", PAGES)
def test_every_file_and_module_that_is_named_exists(name):
    for path in re.findall(r"`((?:kibitz|tests|docs)/[\w./-]+|\w+\.(?:md|yaml|yml|cff|txt))`", read(name)):
        assert "NAME" in path or (ROOT / path).exists() or (ROOT / ".github" / "workflows" / path).exists(), path
    for module in re.findall(r"python -m (kibitz[\w.]*)", read(name)):
        assert (ROOT / f"{module.replace('.', '/')}.py").exists(), module


def test_the_version_is_the_same_everywhere():
    [version] = re.findall(r"^## (\d+\.\d+\.\d+)", read("CHANGELOG.md"), re.MULTILINE)[:1]
    assert version == kibitz.__version__
    citation = yaml.safe_load(read("CITATION.cff"))
    assert citation["version"] == kibitz.__version__
    assert citation["license"] == "Apache-2.0"


def test_rooms_are_those_of_the_package():
    named = set(re.findall(r"`kibitz/(\w+)", read("CONTRIBUTING.md").partition("## Add")[0]))
    rooms = {path.parent.name for path in (ROOT / "kibitz").glob("*/__init__.py")}
    assert rooms <= named


# ---------------------------------------------------------------- systems


def test_what_a_system_lacks_is_said_of_tests_that_exist():
    for name in systems.UNREADABLE_ON_WINDOWS:
        assert (ROOT / "tests" / name).is_file(), name
    for key in (*systems.NOT_ON_WINDOWS, *systems.ONLY_ON_LINUX):
        file, _, test = key.partition("::")
        assert (ROOT / "tests" / file).exists(), key
        assert not test or f"\ndef {test.partition('[')[0]}" in read(f"tests/{file}"), key


def test_on_linux_no_test_is_left_out():
    place = "core/test_files.py::test_a_pipe_or_device_is_written_to_and_not_replaced"
    assert [systems.lacking(place, each) for each in ("linux", "darwin", "win32")] == ["", "", "named pipes"]
    fuzz = "fuzz/test_files.py::test_x"
    assert [bool(systems.lacking(fuzz, each)) for each in ("linux", "darwin")] == [False, True]


# ---------------------------------------------------------------- workflows


@pytest.fixture(params=["test.yml", "release.yml"])
def workflow(request):
    return yaml.safe_load(read(f".github/workflows/{request.param}"))


def steps(workflow):
    return [step for job in workflow["jobs"].values() for step in job.get("steps", [])]


def test_jobs_need_only_what_they_are_allowed(workflow):
    assert workflow["permissions"] == {"contents": "read"}
    for name, job in workflow["jobs"].items():
        if "steps" in job:
            assert job["timeout-minutes"] <= 120
            assert job.get("permissions", {}) == ({"id-token": "write"} if name == "publish" else {})
    for action in [step["uses"] for step in steps(workflow) if "uses" in step]:
        assert re.fullmatch(r"actions/[a-z-]+@v\d+|pypa/gh-action-pypi-publish@release/v1", action)


def test_the_test_workflow_runs_the_tests_of_the_readme_on_three_systems():
    test = yaml.safe_load(read(".github/workflows/test.yml"))["jobs"]["test"]
    assert set(test["strategy"]["matrix"]["os"]) == {"ubuntu-latest", "macos-latest", "windows-latest"}
    assert "\nmake test " in read("README.md")
    assert test["steps"][-1]["run"].split()[:2] == ["make", "test"]
    [kernels] = [step["with"]["path"] for step in test["steps"] if "cache@" in step.get("uses", "")]
    assert f"NUMBA_CACHE_DIR=$(CURDIR)/{kernels} " in read("Makefile")


def test_only_a_tag_is_published_and_only_after_the_tests():
    text = read(".github/workflows/release.yml")
    release = yaml.safe_load(text)
    assert release[True] == {"push": {"tags": ["v[0-9]+.[0-9]+.[0-9]+"]}}  # YAML reads `on` as true
    assert set(release["jobs"]["publish"]["needs"]) == {"test", "build"}
    assert "secrets." not in text
    [check] = [step["run"] for step in steps(release) if step.get("name") == "The tag is the version"]
    [pattern] = re.findall(r"s/(\^.*?\$)/", check)
    pattern = pattern.replace(r"\(", "(").replace(r"\)", ")")  # of sed -> of Python
    assert re.findall(pattern, read("kibitz/core/version.py"), re.MULTILINE) == [kibitz.__version__]


# ---------------------------------------------------------------- issues and containers


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.stem)
def test_issue_forms_ask_something(form):
    found = yaml.safe_load(form.read_text(encoding="utf-8"))
    assert {"name", "description", "body"} <= set(found)
    fields = [part for part in found["body"] if part["type"] != "markdown"]
    ids = [part["id"] for part in fields]
    assert len(ids) == len(set(ids)) > 0
    assert all(part["attributes"]["label"] for part in fields)
    assert any(part.get("validations", {}).get("required") for part in fields)


def test_the_image_has_what_the_package_is_built_from_and_runs_as_nobody_special():
    docker, ignored = read("Dockerfile"), read(".dockerignore").splitlines()
    kept = {line[1:] for line in ignored if line.startswith("!")}
    assert "*" in ignored
    assert kept == {"LICENSE", "README.md", "constraints.txt", "kibitz", "pyproject.toml", "setup.py"}
    lines = re.sub(r"\\\n", "", docker).splitlines()
    orders = [line.split()[0] for line in lines if line and not line.startswith("#")]
    assert orders.index("USER") < orders.index("ENTRYPOINT")
    assert "\nUSER kibitz\n" in docker


def test_the_cluster_publishes_no_port_and_all_nodes_have_the_same_home():
    found = yaml.safe_load(read("compose.yaml"))
    head, worker = found["services"]["head"], found["services"]["worker"]
    for node in (head, worker):
        assert "ports" not in node
        assert node["volumes"] == ["home:/home/kibitz"]
        assert [found["networks"][each] for each in node["networks"]] == [{"internal": True}]
        assert f"--num-cpus={node['cpus']}" in node["entrypoint"]
    assert "--port=6379" in head["entrypoint"]
    assert "--address=head:6379" in worker["entrypoint"]
