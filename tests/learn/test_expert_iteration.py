"""Runs of expert iteration: the same lines from the same seed, whoever plays, however often they are killed."""

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import zlib
from itertools import count
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
from tensorboard.backend.event_processing.event_file_loader import RawEventFileLoader
from tensorboard.compat.proto.event_pb2 import Event

from kibitz import games
from kibitz.core.names import BadInput
from kibitz.core.runs import Run
from kibitz.learn import expert_iteration, trainer
from kibitz.learn.expert_iteration import Journal, Progress, Schedule, cut, joined
from kibitz.learn.mlp import compiled, read_layers
from kibitz.learn.replay import Experience
from kibitz.learn.torch_mlp import Apprentice
from kibitz.search.best_response import evaluate_policy
from kibitz.search.sequence_form import unfold

ROOT = Path(__file__).parents[2]
TINY = {
    "iterations": 4, "games": 4, "simulations": 50, "hidden": "8", "steps": 4, "batch": 16, "evaluate_every": 1,
    "keep_every": 2, "seed": 3,
}  # fmt: skip


def begun(folder, game="leduc", **values):
    return trainer.new_run(folder, "exit-oos", trainer.configured("exit-oos", game, None, TINY | values))


def trained(folder, game="leduc", processes=1, **values):
    run = begun(folder, game, **values)
    trainer.train(run, processes)
    return run


def outcome(run):
    """All that must not depend on how a run went: its lines, its networks, and where learning would go on."""
    networks = [run.path("network.safetensors"), *sorted(run.folder.glob("networks/*.safetensors"))]
    folder = max(run.path("checkpoints").iterdir())
    experience = safetensors.numpy.load_file(folder / "experience.safetensors")
    return {
        "lines": run.path("metrics.jsonl").read_text(),
        "networks": {path.name: path.read_bytes() for path in networks},
        "iteration": folder.name,
        "apprentice": (folder / "apprentice.safetensors").read_bytes(),
        "experience": {key: array.tobytes() for key, array in experience.items()},
    }


def safe(run):
    """Iterations whose games are on disk: in the last checkpoint, or after it in the journal."""
    done = max((int(path.parent.name) for path in run.folder.glob("checkpoints/*/state.json")), default=0)
    while run.path(f"journal/{done + 1:06d}.safetensors").exists():
        done += 1
    return done


def measured(run):
    return max((line["iteration"] for line in run.read_lines()), default=0)


# ---------------------------------------------------------------- the loop alone


class Players:
    """A crew that plays in no time: three decisions a game, made of its number and of what is shared."""

    def __init__(self):
        self.shared, self.played = None, []

    def share(self, value):
        self.shared = zlib.crc32(b"".join(array.tobytes() for layer in value for array in layer))

    def do(self, tasks):
        for numbers in reversed(tasks):  # they come back in any order
            yield [(number, self.play(number)) for number in numbers]

    def play(self, number):
        self.played.append(number)
        generator = np.random.default_rng([number, self.shared])
        policies = generator.dirichlet(np.ones(2), 3).astype(np.float32)
        encodings = (generator.random((3, 9)) < 0.5).astype(np.float32)
        return {"encodings": encodings, "policies": policies, "legal": np.ones((3, 2), bool)}


def student():
    game = games.load("kuhn")
    return Apprentice(game, Experience(20, 9, 2), (4,), 1e-2, 8, 2, seed=1)


SCHEDULE = Schedule(iterations=4, games=3, tasks=2, keep_every=2, evaluate_every=2)


def loop(folder, schedule=SCHEDULE, watch=lambda progress: None, workers=None):
    folder.mkdir(exist_ok=True)
    run, workers = Run(folder), workers or Players()
    expert_iteration.expert_iteration(run, workers, student(), schedule, lambda layers: {"layers": len(layers)}, watch)
    return run, workers


def test_an_iteration_is_games_then_learning_then_a_line(tmp_path):
    seen = []
    run, workers = loop(tmp_path / "run", watch=seen.append)
    assert [(line["iteration"], line["games"], line.get("layers")) for line in run.read_lines()] == [
        (0, 0, 2), (1, 3, None), (2, 6, 2), (3, 9, None), (4, 12, 2)
    ]  # fmt: skip
    assert [list(line) for line in run.read_lines()][:2] == [
        ["iteration", "games", "layers"],
        ["iteration", "games", "loss", "rows"],
    ]
    assert [line["rows"] for line in run.read_lines()[1:]] == [9, 18, 20, 20]
    assert sorted(workers.played) == list(range(12))
    assert [(each.iteration, each.games) for each in seen] == [
        pair for done in range(4) for pair in [(done, 3 * done + 1), (done, 3 * done + 3), (done + 1, 3 * done + 3)]
    ]
    assert isinstance(seen[0], Progress)
    assert seen[-1].metrics == run.read_lines()[-1]
    assert [path.name for path in sorted(run.folder.glob("networks/*"))] == ["000002.safetensors", "000004.safetensors"]
    assert list(run.path("journal").iterdir()) == []
    assert [line["iteration"] for line in run.read_lines("times.jsonl")] == [1, 2, 3, 4]


def test_experience_is_taken_in_the_order_of_the_games(tmp_path):
    """However many tasks an iteration is cut into, and in whatever order they come back."""
    found = [outcome(loop(tmp_path / str(tasks) / "run", Schedule(2, 5, tasks, 1, 0))[0]) for tasks in mkdirs(tmp_path)]
    assert found[0] == found[1] == found[2]


def mkdirs(folder):
    for tasks in (1, 2, 5):
        (folder / str(tasks)).mkdir()
        yield tasks


def test_games_are_cut_into_parts_of_nearly_the_same_size():
    assert cut(range(10, 17), 3) == [(10, 11, 12), (13, 14), (15, 16)]
    assert cut(range(2), 5) == [(0,), (1,)]
    assert all(type(number) is int for part in cut(range(4), 2) for number in part)


def test_a_journal_gives_back_exactly_what_was_played(tmp_path):
    rows = Players.play(type("", (), {"played": [], "shared": 1})(), 7) | {"odd": np.array([[0.5], [-0.0], [3e-45]])}
    journal = Journal(tmp_path / "journal")
    assert journal.read(12) is None
    journal.write(12, rows)
    found = journal.read(12)
    assert found.keys() == rows.keys()
    for key, array in rows.items():
        assert found[key].dtype == array.dtype
        assert found[key].tobytes() == array.tobytes()
    journal.write(13, rows)
    journal.forget(12)
    assert journal.read(12) is None
    assert journal.read(13) is not None
    assert len(joined([rows, rows])["legal"]) == 6


@pytest.mark.parametrize("content", [b"", b"mine", None])
def test_a_damaged_journal_is_told_and_can_be_deleted(tmp_path, content):
    journal = Journal(tmp_path / "journal")
    journal.write(1, {"legal": np.ones((3, 2), bool)})
    [path] = journal.folder.iterdir()
    path.write_bytes(path.read_bytes()[:-2] if content is None else content)
    with pytest.raises(
        BadInput, match=r"000001\.safetensors can't be read, it is damaged .*: delete it, and its games"
    ):
        journal.read(1)


# ---------------------------------------------------------------- killed at every moment


class Killed(BaseException):
    pass


class killed_before:
    """The process dies before its n-th change of the disk, or half through where that writes a file.

    What would tidy up on the way out changes nothing any more.
    """

    def __init__(self, last):
        self.left, self.patch = last, pytest.MonkeyPatch()

    def guard(self, function, half=None):
        def guarded(*arguments, **options):
            self.left -= 1
            if self.left == -1 and half:
                half(*arguments)
            if self.left < 0:
                raise Killed
            return function(*arguments, **options)

        return guarded

    def __enter__(self):
        for name in ("replace", "unlink", "mkdir", "rmdir"):
            self.patch.setattr(os, name, self.guard(getattr(os, name)))
        write, opened = Path.write_bytes, Path.open
        self.patch.setattr(Path, "open", self.guard(opened))
        self.patch.setattr(Path, "write_bytes", self.guard(write, lambda path, data: torn(path, data)))

        def torn(path, data):
            with open(path, "wb") as file:
                file.write(data[: len(data) // 2])

    def __exit__(self, *error):
        self.patch.undo()


@pytest.fixture(params=["journal", "checkpoints"])
def kept_by(request, monkeypatch):
    """What a run goes on from: the journal, as here no checkpoint is made but the last, or a checkpoint each time."""
    monkeypatch.setattr(expert_iteration, "CHECKPOINT_SECONDS", 1e9 if request.param == "journal" else 0.0)
    return request.param


def test_a_run_may_be_killed_before_and_within_any_write(tmp_path, kept_by):
    (tmp_path / "whole").mkdir()
    whole = outcome(loop(tmp_path / "whole" / "run")[0])
    for last in count():
        folder = tmp_path / str(last) / "run"
        folder.mkdir(parents=True)
        try:
            with killed_before(last):
                loop(folder)
        except Killed:
            before = safe(Run(folder))
            assert measured(Run(folder)) <= before
            _, workers = loop(folder)
            assert sorted(workers.played) == list(range(3 * before, 12))  # what is on disk isn't played again
            assert outcome(Run(folder)) == whole
        else:
            break
    assert last > (50 if kept_by == "checkpoints" else 30)


def test_a_run_may_be_killed_again_and_again(tmp_path, kept_by):
    (tmp_path / "whole").mkdir()
    whole = outcome(loop(tmp_path / "whole" / "run")[0])
    folder, before = tmp_path / "run", 0
    for last in count():
        try:
            with killed_before(last):
                loop(folder)
        except Killed:
            assert safe(Run(folder)) >= before
            before = safe(Run(folder))
        else:
            break
    assert last > 10
    assert outcome(Run(folder)) == whole


def test_a_checkpoint_replaces_the_one_before_and_its_journal(tmp_path, monkeypatch):
    monkeypatch.setattr(expert_iteration, "CHECKPOINT_SECONDS", 0.0)
    seen = []

    def look(progress):
        folder = tmp_path / "run"
        seen.append(
            tuple(sorted(path.name[:6] for path in folder.glob(f"{name}/*")) for name in ("checkpoints", "journal"))
        )

    loop(tmp_path / "run", watch=look)
    assert seen[2::3] == [(["000001"], []), (["000002"], []), (["000003"], []), (["000004"], [])]


def test_of_several_checkpoints_the_last_counts(tmp_path):
    """A kill may leave part of an older one."""
    (tmp_path / "whole").mkdir()
    loop(tmp_path / "run")
    for number in ("000001", "000003"):
        (tmp_path / "run" / "checkpoints" / number).mkdir()
        (tmp_path / "run" / "checkpoints" / number / "state.json").write_text("{}")
    longer = Schedule(6, 3, 2, 2, 2)
    assert outcome(loop(tmp_path / "run", longer)[0]) == outcome(loop(tmp_path / "whole" / "run", longer)[0])


# ---------------------------------------------------------------- whole runs


def test_lines_say_what_was_reached_and_no_times(tmp_path):
    run = trained(tmp_path / "run")
    lines = run.read_lines()
    assert [list(line) for line in lines] == [
        ["iteration", "games", "nash_conv"],
        *[["iteration", "games", "loss", "rows", "nash_conv"]] * 4,
    ]
    assert [(line["iteration"], line["games"]) for line in lines] == [(i, 4 * i) for i in range(5)]
    assert all(0 < line["loss"] < 5 for line in lines[1:])
    assert all(0 < line["nash_conv"] < 10 for line in lines)
    assert 4 * 4 * 2 <= lines[-1]["rows"] <= 4 * 4 * 8
    layers, about = read_layers(run.path("network.safetensors"), games.load("leduc"))
    form = unfold(games.load("leduc"))
    assert evaluate_policy(form, compiled(layers)).nash_conv == lines[-1]["nash_conv"]
    assert about.made == "run, iteration 4"
    for iteration in (2, 4):
        kept, _ = read_layers(run.path(f"networks/{iteration:06d}.safetensors"))
        assert evaluate_policy(form, compiled(kept)).nash_conv == lines[iteration]["nash_conv"]


def test_the_network_is_judged_now_and_then_and_at_the_end(tmp_path):
    found = trained(tmp_path / "a", "kuhn", evaluate_every=3).lines()
    assert [line["iteration"] for line in found if "nash_conv" in line] == [0, 3, 4]
    assert not any("nash_conv" in line for line in trained(tmp_path / "b", "kuhn", evaluate_every=0).lines())


@pytest.mark.parametrize("playouts", ["compiled", "batched"])
def test_the_same_seed_gives_the_same_run_and_another_does_not(tmp_path, playouts):
    one, same, other = (
        outcome(trained(tmp_path / name / "run", seed=seed, playouts=playouts))
        for name, seed in (("a", 3), ("b", 3), ("c", 4))
    )
    assert one == same
    assert one["lines"] != other["lines"]


def test_two_processes_give_the_same_run_as_one(tmp_path):
    one, two = (outcome(trained(tmp_path / str(processes) / "run", processes=processes)) for processes in (1, 2))
    assert one == two
    assert not multiprocessing.active_children()


def test_a_run_that_goes_on_further_ends_as_one_begun_so_long(tmp_path):
    trained(tmp_path / "a" / "run", iterations=2)
    config = Run(tmp_path / "a" / "run").config() | {"iterations": 5}
    run = Run.create_or_resume(tmp_path / "a" / "run", "", config, may_grow=("iterations",))
    trainer.train(run, 1)
    found, expected = outcome(run), outcome(trained(tmp_path / "b" / "run", iterations=5))
    assert found == expected


def test_a_finished_run_is_left_as_it_is(tmp_path):
    run = trained(tmp_path / "run", "kuhn")
    before = outcome(run)
    trainer.train(Run(run.folder), 1)
    assert outcome(run) == before


@pytest.mark.parametrize(("game", "below"), [("kuhn", 0.35), ("leduc", 3.3)])
def test_what_is_learned_is_worth_something(tmp_path, game, below):
    """NashConv: 0.8 untrained on Kuhn, 5.1 on Leduc."""
    values = {"iterations": 12, "games": 16, "simulations": 400, "hidden": "32", "steps": 64, "batch": 64, "seed": 1}
    run = trained(tmp_path / "run", game, **values, rate=1e-2, evaluate_every=12, keep_every=12)
    first, last = [line["nash_conv"] for line in run.read_lines() if "nash_conv" in line]
    assert last < below < 0.7 * first


# ---------------------------------------------------------------- TensorBoard


def shown(run):
    """(iteration, measure, value), of all event files."""
    found = []
    for path in sorted(run.folder.glob("events.out.tfevents.*")):
        for raw in RawEventFileLoader(str(path)).Load():
            event = Event.FromString(raw)
            found += [(event.step, value.tag, value.simple_value) for value in event.summary.value]
    return found


def expected_to_be_shown(run):
    return [
        (line["iteration"], key, pytest.approx(value, rel=1e-6))
        for line in run.read_lines()
        for key, value in line.items()
        if key != "iteration"
    ]


def test_tensorboard_shows_the_lines_also_after_a_kill(tmp_path):
    run = begun(tmp_path / "run", "kuhn")

    def kill(progress):
        if progress.iteration == 3:
            raise Killed

    with pytest.raises(Killed):
        trainer.train(run, 1, watch=kill)
    assert shown(run) == expected_to_be_shown(run)
    assert measured(run) == 3
    resumed = Run(run.folder)
    trainer.train(resumed, 1)
    assert shown(resumed) == expected_to_be_shown(resumed)
    assert [step for step, tag, _ in shown(resumed) if tag == "games"] == [0, 1, 2, 3, 4]


# ---------------------------------------------------------------- what is refused


def damaged(path):
    path.write_bytes(path.read_bytes()[:-7])


def foreign(path):
    path.write_bytes(safetensors.numpy.save({"x": np.zeros(3)}))


@pytest.mark.parametrize("name", ["apprentice.safetensors", "experience.safetensors"])
@pytest.mark.parametrize("spoil", [damaged, foreign, Path.unlink])
def test_a_spoilt_checkpoint_is_told_in_one_line(tmp_path, spoil, name):
    run = trained(tmp_path / "run", "kuhn", iterations=1)
    spoil(run.path(f"checkpoints/000001/{name}"))
    before = run.path("metrics.jsonl").read_text()
    with pytest.raises(BadInput, match="checkpoints/000001 can't be read, it is damaged: ") as caught:
        trainer.train(Run(run.folder), 1)
    assert "\n" not in str(caught.value)
    assert run.path("metrics.jsonl").read_text() == before


@pytest.mark.parametrize("spoil", [damaged, foreign])
def test_a_spoilt_journal_is_told_and_without_it_the_run_goes_on(tmp_path, spoil):
    (tmp_path / "a").mkdir()
    whole = outcome(trained(tmp_path / "a" / "run", "kuhn"))
    run = begun(tmp_path / "run", "kuhn")

    def kill(progress):
        if progress.iteration == 3:
            raise Killed

    with pytest.raises(Killed):
        trainer.train(run, 1, watch=kill)
    spoil(run.path("journal/000002.safetensors"))
    with pytest.raises(BadInput, match=r"journal/000002\.safetensors can't be read, it is damaged .*: delete it"):
        trainer.train(Run(run.folder), 1)
    run.path("journal/000002.safetensors").unlink()
    trainer.train(Run(run.folder), 1)
    assert outcome(run) == whole


def test_a_run_that_another_works_on_is_refused(tmp_path):
    pytest.importorskip("fcntl")
    run = begun(tmp_path / "run", "kuhn", iterations=1)
    with run.lock(), pytest.raises(BadInput, match="is being written by another process"):
        trainer.train(Run(run.folder), 1)
    trainer.train(Run(run.folder), 1)
    assert measured(run) == 1


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"command": "match"}, "is no training run: it was made by 'match'"),
        ({"method": "exit-mcts"}, "no method is called 'exit-mcts'"),
        ({"colour": "red"}, "colour missing or unknown"),
        ({"games": "many"}, "games"),
    ],
)
def test_a_configuration_that_is_none_is_refused(tmp_path, change, text):
    run = begun(tmp_path / "run", "kuhn")
    run.write("config.json", json.dumps(run.config() | change))
    with pytest.raises(BadInput, match=text):
        trainer.train(Run(run.folder), 1)


# ---------------------------------------------------------------- real kills

# For each run folder: forks a child that trains, kills it at some moment, and so on; the last one is left alone. Tells
# of each what was on disk before and after, and at which iteration it began to play.
NURSERY = """
import json, os, random, signal, sys, time
from pathlib import Path
from kibitz.learn import expert_iteration, training
from kibitz.core.runs import Run
from tests.learn.test_expert_iteration import measured, safe

def note(progress):
    if progress.decisions and not noted.exists():
        noted.write_text(str(progress.iteration))

warm, *runs = json.loads(sys.argv[1])
run = Run(Path(warm))
run.show_in_tensorboard = lambda: None  # it would leave a thread behind
trainer.train(run, 1)
seconds = expert_iteration.CHECKPOINT_SECONDS
for folder, processes, kills, every_time in runs:
    dice = random.Random(Path(folder).parent.name)
    expert_iteration.CHECKPOINT_SECONDS = 0.0 if every_time else seconds
    run, before, noted = Run(Path(folder)), 0, Path(folder) / "noted"
    for attempt in range(kills + 1):
        child = os.fork()
        if child == 0:
            trainer.train(Run(run.folder), processes, watch=note)
            os._exit(0)
        ended, moment, until = 0, dice.randint(max(before - 2, 0), min(before + 3, 10)), None
        while not ended and (until is None or time.perf_counter() < until or attempt == kills):
            time.sleep(0.001)
            ended, status = os.waitpid(child, os.WNOHANG)
            if until is None and measured(run) >= moment:
                until = time.perf_counter() + dice.uniform(0, 0.05)
        if not ended:
            os.kill(child, signal.SIGKILL)
            status = os.waitpid(child, 0)[1]
        played = int(noted.read_text() or 0) if noted.exists() else None
        noted.unlink(missing_ok=True)
        print(json.dumps([run.folder.parent.name, status, before, safe(run), measured(run), played]), flush=True)
        before = safe(run)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")
def test_a_run_that_is_killed_at_random_moments_ends_as_one_that_never_was(tmp_path):
    """With a checkpoint each time; with the journal only; with the journal only and two processes."""
    values, kills = {"iterations": 12, "simulations": 200}, {"checkpoints": 6, "journal": 6, "two": 2}
    runs = {name: begun(tmp_path / name / "run", **values) for name in kills}
    whole, precompile = (begun(tmp_path / name / "run", **values) for name in ("whole", "warm"))
    tasks = [(str(runs[name].folder), 2 if name == "two" else 1, kills[name], name == "checkpoints") for name in runs]
    done = subprocess.run(
        [sys.executable, "-c", NURSERY, json.dumps([str(precompile.folder), *tasks])],
        cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = [json.loads(line) for line in done.stdout.splitlines()]
    trainer.train(whole, 1)
    for name, run in runs.items():
        attempts = [attempt for attempt in told if attempt[0] == name]
        statuses = [status for _, status, *_ in attempts]
        assert statuses.count(signal.SIGKILL) >= 2
        assert statuses[-1] == 0
        for _, _, before, after, lines, played in attempts:
            assert after >= before  # nothing that was on disk is lost,
            assert played is None or played >= before  # or played again;
            assert lines <= after  # and all that counts is on disk
        assert any(0 < before < 12 for _, _, before, *_ in attempts)
        assert outcome(run) == outcome(whole)
        assert shown(run) == expected_to_be_shown(run)


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_a_worker_that_is_killed_costs_nothing_but_is_told(tmp_path):
    whole = outcome(trained(tmp_path / "whole" / "run"))
    run, told, killed = begun(tmp_path / "killed" / "run"), [], []

    def kill(progress):
        children = multiprocessing.active_children()
        if progress.iteration >= 1 and children and not killed:
            killed.append(children[0].pid)
            os.kill(children[0].pid, signal.SIGKILL)

    trainer.train(run, 2, watch=kill, tell=told.append)
    assert len(killed) == len(told) == 1
    assert told[0].startswith("a worker process died (exit code -9)")
    assert outcome(run) == whole
    assert not multiprocessing.active_children()
