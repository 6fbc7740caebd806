"""The Lab over its JSON interface: run folders as they are, as they grow, and damaged; trainings."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from starlette.websockets import WebSocketDisconnect

from kibitz.app.web import curves, ratings, run_watch, study, trainings
from kibitz.app.web import lab as lab_module
from kibitz.core.names import BadInput
from kibitz.core.progress import SILENT
from kibitz.core.runs import Run
from kibitz.reproduce.study import Study
from kibitz.train import trainer

from ...faults import commands
from .conftest import LIVE, finished, opened

SAMPLES = Path(__file__).parents[1] / "runs_of_0_2"
TINY = {"simulations": 20, "games": 2, "steps": 2}
WAITS = [sys.executable, "-c", "import sys; print('waiting', flush=True); sys.stdin.read(); sys.exit(130)"]
FAILS = [sys.executable, "-c", "import sys; print('kibitz: no disk', file=sys.stderr); sys.exit(2)"]


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """A working folder of its own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def copied(*names):
    for name in names:
        shutil.copytree(SAMPLES / name, Path("runs") / name)


def runs(client):
    client.app.state.lab._listed = -1e9, None  # a fresh look
    answer = client.get("/api/lab/runs")
    assert answer.status_code == 200, answer.text
    return {run["name"]: run for run in answer.json()["runs"]}


def detail(client, name):
    answer = client.get("/api/lab/run", params={"name": name})
    assert answer.status_code == 200, answer.text
    return answer.json()


def until(client, name, fits, seconds=120):
    """The run once it is as it should be."""
    for _ in range(int(seconds / 0.05)):
        found = detail(client, name)
        if fits(found["run"]):
            return found
        assert found["run"]["state"] not in ("failed", "damaged"), found
        time.sleep(0.05)
    raise AssertionError(f"it never came: {found}")


def started(client, **options):
    body = {"learner": "exit-oos", "game": "kuhn", "options": options}
    answer = client.post("/api/lab/trainings", json=body)
    assert answer.status_code == 201, answer.text
    return answer.json()["run"]


# ---------------------------------------------------------------- run folders


def test_every_kind_of_run_is_listed(client):
    assert runs(client) == {}
    copied(*(each.name for each in SAMPLES.iterdir()))
    found = runs(client)
    assert {name: (run["command"], run["state"], run["done"], run["wanted"]) for name, run in found.items()} == {
        "cards": ("train", "finished", 1, 1),
        "deep-cfr": ("train", "finished", 2, 2),
        "exit-cards": ("train", "finished", 1, 1),
        "exit-oos": ("train", "finished", 2, 2),
        "match": ("match", "finished", 4, 4),
        "next-card": ("train", "finished", 1, 1),
        "record": ("record", "finished", 8, 8),
        "session": ("session", "finished", 4, 4),
        "solve": ("solve", "finished", 20, 20),
        "tournament": ("tournament", "finished", None, None),
        "tspg": ("train", "finished", 2, 2),
    }
    players = {name: run["player"].partition(",")[0] for name, run in found.items()}
    assert players["solve"] == "strategy:runs/solve"
    assert players["tspg"] == "features:runs/tspg"
    assert players["cards"] == "doko:runs/cards"
    assert players["deep-cfr"] == "net:runs/deep-cfr"
    assert found["match"]["payoff"] == {"mean": -0.25, "low": None, "high": None}
    assert found["exit-oos"]["figures"]["nash_conv"] == pytest.approx(1.0018942)
    assert not any(run["problem"] or run["can_stop"] or run["can_resume"] for run in found.values())


def test_what_was_learned_plays_and_advises(client):
    copied("exit-oos", "solve", "deep-cfr")
    for run in runs(client).values():
        (key,) = opened(client, run["game"], ["human", run["player"]])
        assert finished(client, key)["phase"] == "over"
        (key,) = opened(client, run["game"], ["human", "random"])
        with client.websocket_connect(f"{LIVE}/api/tables/{key}/live") as live:
            live.send_json({"on": True, "player": run["player"]})
            while (message := live.receive_json())["kind"] != "advice":
                pass
        assert message["trouble"] == ""
        assert sum(move["policy"] for move in message["moves"]) == pytest.approx(1)


def test_curves_are_those_of_the_metrics(client):
    copied("solve", "deep-cfr")
    (curve,) = detail(client, "solve")["curves"]
    assert curve["name"] == "nash_conv"
    assert curve["points"][0] == [1, 0.9166666666666666]
    assert [x for x, _ in curve["points"]] == [1, 2, 3, 5, 7, 10, 15, 20]
    found = detail(client, "deep-cfr")
    assert [each["name"] for each in found["curves"]] == ["nash_conv", "loss_1", "loss_2"]
    assert found["settings"]["traversals"] == "20"


def test_results_are_tables(client):
    copied("match", "tournament", "session")
    table = detail(client, "tournament")["result"]
    assert [row["player"] for row in table["rows"]] == ["style:loose-passive", "always:call", "random"]
    assert table["rows"][0]["payoff"] == {
        "mean": 0.3125,
        "low": pytest.approx(-8.423016),
        "high": pytest.approx(9.048016),
    }
    assert table["cross"] == [[None, 0.0, 0.625], [0.0, None, -0.125], [-0.625, 0.125, None]]
    match = detail(client, "match")["result"]
    assert (match["wins"], match["draws"], match["losses"]) == (2, 0, 2)
    assert match["rows"][0]["player"] == "heuristic"
    assert detail(client, "tournament")["settings"]["players"] == "always:call, style:loose-passive, random"
    assert [row["player"] for row in detail(client, "session")["result"]["rows"]] == ["heuristic", "random"]


def test_a_long_curve_is_thinned_and_what_is_no_number_left_out(client):
    run = Run.create(Path("runs/long"), "", {"command": "train", "method": "exit-oos", "game": "kuhn", "iterations": 9})
    lines = [json.dumps({"iteration": i, "loss": 1 / (i + 1), "accuracy": float("nan")}) for i in range(5000)]
    run.write("metrics.jsonl", "\n".join(lines) + "\n")
    (curve,) = detail(client, "long")["curves"]
    points = curve["points"]
    assert curves.POINTS <= len(points) <= 2 * curves.POINTS + 1
    assert points[0] == [0, 1]
    assert points[-1] == [4999, 1 / 5000]
    assert points == sorted(points)


def test_only_the_newest_runs_are_listed(client, monkeypatch):
    monkeypatch.setattr(run_watch, "MAX_RUNS", 2)
    for number in range(4):
        run = Run.create(Path(f"runs/{number}"), "", {"command": "solve", "game": "kuhn"})
        os.utime(run.path("config.json"), (number, number))
    assert list(runs(client)) == ["3", "2"]
    assert client.get("/api/lab/runs").json()["left_out"] == 2
    assert detail(client, "0")["run"]["name"] == "0"


# ---------------------------------------------------------------- damage and distrust


def damage(name, file, content):
    path = Path("runs") / name / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"3", b"\xff\xfe\x00", b"{}", b'{"command": 3}', b'{"command": "match", "players": 3}',
     b'{"command": "train", "games": "many"}', b"[" * 100_000, b'{"command": "x", "big": ' + b"9" * 5000 + b"}",
     b" " * (2 << 20)],
)  # fmt: skip
def test_a_damaged_configuration_is_shown_as_such(client, content):
    damage("bad", "config.json", content)
    run = runs(client)["bad"]
    assert run["state"] == "damaged"
    assert run["problem"].startswith("config.json")
    assert [run["can_resume"], run["player"]] == [False, ""]
    assert detail(client, "bad")["run"] == run
    assert client.post("/api/lab/resume", json={"run": "bad"}).status_code == 409


@pytest.mark.parametrize(
    "content",
    [b"", b"nothing\n", b"{}\n", b"[1]\n", b'{"iteration": "x"}\n', b'{"iteration": NaN}\n', b"\x00\xff\n", b"{" * 9999,
     b'{"iteration": 1, "loss": "x", "nash_conv": null, "points": [1], "accuracy": true}\n', b"[" * 99_999 + b"\n"],
)  # fmt: skip
def test_damaged_metrics_are_told_and_the_rest_is_shown(client, content):
    copied("exit-oos")
    path = Path("runs/exit-oos/metrics.jsonl")
    path.write_bytes(content + path.read_bytes() if content.endswith(b"\n") else path.read_bytes() + content)
    found = detail(client, "exit-oos")
    assert [len(curve["points"]) for curve in found["curves"]] == [3, 2]
    is_told = "metrics.jsonl" in found["run"]["problem"]
    assert is_told == (content.endswith(b"\n") and b"loss" not in content)


@pytest.mark.parametrize(
    "content",
    [b"{", b"[]", b'{"score": 3, "by_name": []}', b'{"score": {"mean": "x"}, "by_name": {"a": 3}, "cross": {}}',
     b'{"overall": {"a": {"mean": 1}, "b": {"mean": 2}}, "cross": [[1], 2]}', b'{"wins": "all", "score": null}'],
)  # fmt: skip
def test_damaged_results_break_nothing(client, content):
    copied("match")
    Path("runs/match/result.json").write_bytes(content)
    assert detail(client, "match")["run"]["done"] == 4


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_half_a_folder_is_shown_and_strange_files_are_not_read(client, here):
    damage("half", "metrics.jsonl", b'{"iteration": 1}\n')
    (here / "runs/half2/checkpoints").mkdir(parents=True)
    (here / "runs/other").mkdir()
    copied("exit-oos", "solve")
    secret = here / "secret.jsonl"
    secret.write_text('{"iteration": 1, "loss": 42}\n')
    for name, make in (("exit-oos", os.mkfifo), ("solve", lambda path: path.symlink_to(secret))):
        path = here / "runs" / name / "metrics.jsonl"
        path.unlink()
        make(path)
    found = runs(client)
    assert {name: run["problem"] for name, run in found.items() if run["state"] == "damaged"} == {
        "half": "config.json is missing",
        "half2": "config.json is missing",
    }
    assert "other" not in found
    assert detail(client, "exit-oos")["curves"] == detail(client, "solve")["curves"] == []


@pytest.mark.parametrize(
    "name",
    ["..", "../secret", "x/../../secret", "/etc", ".hidden", "linked", "a\\b", "", "x" * 300, "none", "exit-oos/",
     "./exit-oos", "exit-oos/config.json", "\x00", "exit-oos\n"],
)  # fmt: skip
def test_no_name_leads_out_of_the_folder_of_runs(client, here, name):
    copied("exit-oos")
    for place in (here / "secret", here / "runs" / ".hidden"):
        shutil.copytree(SAMPLES / "solve", place)
    (here / "runs/linked").symlink_to(here / "secret")
    assert client.get("/api/lab/run", params={"name": name}).status_code in (404, 422)
    for what in ("stop", "resume"):
        assert client.post(f"/api/lab/{what}", json={"run": name}).status_code in (404, 409, 422)
    assert list(runs(client)) == ["exit-oos"]


def test_a_run_that_names_code_is_shown_but_not_loaded(client, here):
    (here / "evil.py").write_text(f"open({str(here / 'ran')!r}, 'w')\nclass Evil: pass\n")
    for name, config in {
        "learner": {"command": "train", "method": "evil.py:Evil", "game": "kuhn", "iterations": 5},
        "game": {"command": "train", "method": "exit-oos", "game": "evil.py:Evil", "iterations": 5},
        "player": {"command": "match", "game": "kuhn", "players": ["evil.py:Evil", "random"], "games": 2},
        "evil.py:Evil": {"command": "train", "method": "exit-oos", "game": "kuhn", "iterations": 5},
    }.items():
        Run.create(Path("runs") / name, "", config)
        shutil.copy(SAMPLES / "exit-oos/network.safetensors", Path("runs") / name)
    found = runs(client)
    assert len(found) == 4
    for name, run in found.items():
        assert [run["can_resume"], run["player"]] == [False, ""], name
        assert client.post("/api/lab/resume", json={"run": name}).status_code == 409
    assert not (here / "ran").exists()


# ---------------------------------------------------------------- live


def heard(live, kind, fits=lambda message: True):
    while True:
        message = live.receive_json()
        if message["kind"] == kind and fits(message):
            return message


def test_a_training_in_another_terminal_is_followed(client):
    config = {"command": "train", "method": "exit-oos", "game": "kuhn", "iterations": 3}
    with client.websocket_connect(f"{LIVE}/api/lab/live") as live:
        assert heard(live, "runs")["runs"] == []
        run = Run.create(Path("runs/mine"), "", config)
        assert [each["name"] for each in heard(live, "runs")["runs"]] == ["mine"]
        live.send_json({"run": "mine"})
        assert heard(live, "run")["run"]["state"] == "stopped"
        with run.lock():
            for iteration in (1, 2):
                run.log(iteration=iteration, loss=1 / iteration)
                found = heard(live, "run", lambda message, now=iteration: message["run"]["done"] == now)
                assert found["curves"][0]["points"][-1] == [iteration, 1 / iteration]
                assert found["run"]["state"] == "running"
                assert [found["run"]["can_stop"], found["run"]["can_resume"]] == [False, False]
            assert runs(client)["mine"]["state"] == "running"
            refused = client.post("/api/lab/resume", json={"run": "mine"})
            assert refused.status_code == 409
            assert "being trained already" in refused.json()["detail"]
            assert "stop it where it was started" in client.post("/api/lab/stop", json={"run": "mine"}).json()["detail"]
        assert heard(live, "run", lambda message: message["run"]["state"] == "stopped")["run"]["can_resume"]
        run.keep_metrics(lambda line: line["iteration"] <= 1)  # as a resumed training begins
        assert heard(live, "run", lambda message: message["run"]["done"] == 1)["curves"][0]["points"] == [[1, 1]]
        shutil.rmtree("runs/mine")
        assert "no run is called 'mine'" in heard(live, "gone")["detail"]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"run": 3}', '{"run": "' + "x" * 300 + '"}', '{"stop": "x"}'])
def test_a_message_that_is_not_understood_ends_its_connection(client, text):
    with client.websocket_connect(f"{LIVE}/api/lab/live") as live:
        live.send_text(text)
        with pytest.raises(WebSocketDisconnect):
            heard(live, "nothing")


def test_a_flood_of_messages_or_connections_is_refused(client, monkeypatch):
    with client.websocket_connect(f"{LIVE}/api/lab/live") as live:
        for _ in range(100):
            live.send_json({"run": None})
        with pytest.raises(WebSocketDisconnect):
            heard(live, "nothing")
    monkeypatch.setattr(lab_module, "MAX_LIVE", 0)
    monkeypatch.setattr(study, "MAX_STUDIES", 0)
    for where in ("lab", "study"):
        with client.websocket_connect(f"{LIVE}/api/{where}/live") as live:
            with pytest.raises(WebSocketDisconnect) as closed:
                live.receive_json()
            assert (closed.value.code, closed.value.reason) == (1013, "too many connections: try again later")


def test_the_lab_needs_the_token_too(server):
    client = server(token="a-token-of-tests", local=False)
    for path in ("runs", "learners", "ratings"):
        assert client.get(f"/api/lab/{path}").status_code == 401
    assert client.post("/api/lab/trainings", json={"learner": "exit-oos", "game": "kuhn"}).status_code == 401


# ---------------------------------------------------------------- ratings


def test_ratings_are_made_of_all_records_that_can_be_read(client, monkeypatch):
    assert client.get("/api/lab/ratings").json() == {"games": [], "game": "", "players": [], "problem": ""}
    copied("tournament", "match", "session")
    damage("bad", "games.jsonl", b"nothing\n")
    found = client.get("/api/lab/ratings").json()
    assert found["games"] == ["holdem"]
    assert {each["player"]: each["games"] for each in found["players"]} == {
        "always:call": 8, "random": 8, "style:loose-passive": 8,
    }  # fmt: skip
    assert all(each["low"] <= each["elo"] <= each["high"] for each in found["players"])
    assert "runs/bad/games.jsonl" in found["problem"]
    monkeypatch.setattr(ratings, "MAX_BYTES", 10)
    os.utime("runs/bad/games.jsonl")
    assert "left out" in client.get("/api/lab/ratings?game=holdem").json()["problem"]


# ---------------------------------------------------------------- trainings


def test_learners_are_offered_with_bounded_options(client):
    learners = {each["name"]: each for each in client.get("/api/lab/learners").json()}
    assert set(learners) == {"exit-oos", "exit-ismcts", "deep-cfr", "tspg"}
    for learner in learners.values():
        assert learner["options"][0]["name"] == "iterations"
        for game in learner["games"]:
            for option in learner["options"]:
                assert 0 < game["defaults"][option["name"]] <= option["most"]
                assert option["about"]


def test_a_training_is_started_watched_stopped_resumed_and_played(client, server, here):
    name = started(client, iterations=400, **TINY)
    assert name == "kuhn-exit-oos-001"
    assert runs(client)[name]["state"] in ("starting", "running")
    found = until(client, name, lambda run: (run["done"] or 0) >= 2 and run["figures"])
    assert "kuhn into runs/" in found["log"]
    assert found["run"]["can_stop"]
    other = server(folder=here / "other")  # another server on the same folder
    seen = runs(other)[name]
    assert (seen["state"], seen["can_stop"], seen["can_resume"]) == ("running", False, False)
    assert other.post("/api/lab/stop", json={"run": name}).status_code == 409
    assert other.post("/api/lab/resume", json={"run": name}).status_code == 409
    again = client.post("/api/lab/trainings", json={"learner": "exit-oos", "game": "kuhn", "name": name})
    assert (again.status_code, "choose another name" in again.json()["detail"]) == (409, True)

    assert client.post("/api/lab/stop", json={"run": name}).status_code == 200
    stopped = until(client, name, lambda run: run["state"] == "stopped")
    assert "to resume: kibitz train --resume" in stopped["log"]
    before = stopped["run"]["done"]
    losses = next(each["points"] for each in stopped["curves"] if each["name"] == "loss")
    assert len(losses) == before
    assert client.post("/api/lab/resume", json={"run": name}).status_code == 200
    until(client, name, lambda run: run["state"] == "running" and run["done"] > before and run["player"])
    client.post("/api/lab/stop", json={"run": name})
    resumed = until(client, name, lambda run: run["state"] == "stopped")

    again = next(each["points"] for each in resumed["curves"] if each["name"] == "loss")
    assert again[: len(losses)] == losses

    assert resumed["run"]["player"].startswith(f"net:runs/{name},iteration=")
    (key,) = opened(client, "kuhn", ["human", resumed["run"]["player"]])
    assert finished(client, key)["phase"] == "over"


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGTERM")
def test_a_training_that_compiles_is_running_and_no_other_process_gets_at_it(client, here):
    """Nothing is compiled yet, so it hasn't written a line when it is asked for."""
    command = [sys.executable, "-m", "kibitz", "train", "exit-oos", "kuhn", "--preset", "small", "--out", "runs/mine"]
    environment = dict(os.environ, NUMBA_CACHE_DIR=str(here / "cold"))
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        try:
            while not Path("runs/mine/config.json").exists():
                assert process.poll() is None
                time.sleep(0.05)
            for _ in range(100):  # between the configuration and the lock lie milliseconds
                if (found := runs(client)["mine"])["state"] == "running":
                    break
                time.sleep(0.05)
            assert not Path("runs/mine/metrics.jsonl").exists()
            assert (found["state"], found["can_stop"], found["can_resume"]) == ("running", False, False)
            who = f"is being written by another process ({process.pid} on "
            refused = client.post("/api/lab/resume", json={"run": "mine"})
            assert (refused.status_code, "is being trained already" in refused.json()["detail"]) == (409, True)
            code, said = commands.run(["train", "--resume", "runs/mine"])
            assert (code, who in said) == (2, True)
            for train in (trainer.train, lambda mine: Study.train(study_of_nothing, mine, 1)):
                with pytest.raises(BadInput) as error:
                    train(Run(Path("runs/mine")))
                assert who in str(error.value)
            assert (
                f"process {process.pid} on "
                in subprocess.run(
                    [sys.executable, "-m", "kibitz", "runs", "show", "runs/mine"], capture_output=True, text=True
                ).stdout
            )
            assert process.poll() is None
        finally:
            process.terminate()
        assert "to resume: kibitz train --resume" in process.stderr.read()
        assert process.wait(60) == 143
    found = runs(client)["mine"]
    assert (found["state"], found["can_resume"], found["problem"]) == ("stopped", True, "")


class study_of_nothing:
    places = None
    processes, report = 1, SILENT
    is_trained = staticmethod(lambda run: False)


def test_a_training_that_another_process_was_faster_to_resume_has_not_failed(client):
    config = {"command": "train", "method": "exit-oos", "game": "kuhn", "iterations": 3}
    mine = Run.create(Path("runs/mine"), "", config)
    with mine.lock():
        client.app.state.lab.trainings._begin("mine", ["--resume", "runs/mine"], "wb")
        child = client.app.state.lab.trainings.find("mine")
        assert child.process.wait(120) == 2
        found = runs(client)["mine"]
        assert [found[key] for key in ("state", "can_stop", "can_resume")] == ["running", False, False]
    found = runs(client)["mine"]
    assert (found["state"], found["can_resume"]) == ("stopped", True)


def test_trainings_end_with_the_server(server, here, monkeypatch):
    monkeypatch.setattr(trainings, "COMMAND", WAITS)
    client = server()
    name = started(client)
    process = client.app.state.lab.trainings.find(name).process
    assert process.poll() is None
    client.__exit__(None, None, None)
    assert process.poll() == 130
    client.__enter__()


def test_too_many_trainings_are_refused(client, monkeypatch):
    monkeypatch.setattr(trainings, "COMMAND", WAITS)
    names = [started(client), started(client)]
    assert names == ["kuhn-exit-oos-001", "kuhn-exit-oos-002"]
    body = {"learner": "exit-oos", "game": "kuhn"}
    refused = client.post("/api/lab/trainings", json=body)
    assert (refused.status_code, "2 trainings are running" in refused.json()["detail"]) == (409, True)
    client.post("/api/lab/stop", json={"run": names[0]})
    until(client, names[1], lambda run: run["state"] == "starting")
    monkeypatch.setattr(trainings, "STARTS", 2)
    monkeypatch.setattr(trainings, "AT_ONCE", 9)
    assert "within the last minute" in client.post("/api/lab/trainings", json=body).json()["detail"]


def test_a_training_that_fails_says_why(client, monkeypatch):
    monkeypatch.setattr(trainings, "COMMAND", FAILS)
    name = started(client)
    for _ in range(200):
        if (run := runs(client)[name])["state"] == "failed":
            break
        time.sleep(0.05)
    assert (run["state"], run["problem"], run["can_stop"]) == ("failed", "no disk", False)
    assert detail(client, name)["log"] == "kibitz: no disk\n"


@pytest.mark.parametrize(
    ("change", "status", "words"),
    [
        ({"learner": "cards"}, 404, "no learner here is called 'cards'"),
        ({"learner": "evil.py:Evil"}, 404, "no learner"),
        ({"game": "holdem"}, 404, "isn't offered here for 'holdem'"),
        ({"game": "evil.py:Evil"}, 404, "isn't offered"),
        ({"options": {"iterations": 10**6}}, 409, "at most 2,000"),
        ({"options": {"iterations": 0}}, 409, "iterations=0"),
        ({"options": {"capacity": 5}}, 409, "no option is called 'capacity'"),
        ({"options": {"--out": 5}}, 409, "no option"),
        ({"options": {"iterations": "5; rm"}}, 422, "options"),
        ({"name": "../out"}, 422, "name"),
        ({"name": "a.py"}, 422, "name"),
        ({"name": "-x"}, 422, "name"),
        ({"name": "x" * 60}, 422, "name"),
        ({"more": 1}, 422, "more"),
    ],
)
def test_what_a_browser_may_not_start(client, here, change, status, words):
    answer = client.post("/api/lab/trainings", json={"learner": "exit-oos", "game": "kuhn"} | change)
    assert answer.status_code == status, answer.text
    assert words in answer.json()["detail"]
    assert not (here / "runs").exists()


def test_a_child_whose_server_was_killed_ends_itself(here):
    """The server's end of its standard input closes whatever ends the server."""
    command = [sys.executable, "-m", "kibitz.app.web.training_child", "train", "exit-oos", "kuhn", "--preset", "small"]
    child = subprocess.Popen([*command, "--out", "runs/x"], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
    child.stdin.close()
    assert child.wait(60) == 130


def test_a_run_of_a_learner_without_worker_processes_is_resumed(tmp_path):
    values = {"iterations": 1, "games": 4, "hidden": "4", "evaluate_every": 0, "device": "cpu"}
    config = trainer.configured("mmd", "kuhn", None, values)
    run = trainer.new_run(tmp_path / "runs" / "mine", "mmd", config)
    trainer.train(run, 1)
    run.write("config.json", json.dumps(run.config() | {"iterations": 2}))
    begun = trainings.Trainings(tmp_path / "runs", tmp_path / "logs")
    begun.resume("mine")
    training = begun.find("mine")
    assert training.process.wait(120) == 0, training.log.read_text()
    assert not training.running
    assert run.read_lines()[-1]["iteration"] == 2
