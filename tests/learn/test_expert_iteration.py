"""The training loop with ExIt-OOS: the same run from the same seed, for any number of processes and kills."""

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import zlib
from dataclasses import replace
from itertools import count
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy

from kibitz import games
from kibitz.core.names import BadInput
from kibitz.core.progress import Reporter
from kibitz.core.runs import Run
from kibitz.nets.mlp import compiled, read_layers
from kibitz.solve.best_response import evaluate_policy
from kibitz.solve.sequence_form import unfold
from kibitz.train import trainer
from kibitz.train.checkpoints import Journal
from kibitz.train.exit_oos import ExItOos
from kibitz.train.exit_oos.config import ExItOosConfig
from kibitz.train.exit_oos.learner import empty_samples
from kibitz.train.expert_iteration import cut, joined
from kibitz.train.replay import ReplayBuffer

from ..tensorboard_events import shown
from .contract import Killed, outcome

ROOT = Path(__file__).parents[2]
TINY = {
    "iterations": 4, "games": 4, "simulations": 50, "hidden": "8", "steps": 4, "batch_size": 16, "evaluate_every": 1,
    "keep_every": 2, "seed": 3,
}  # fmt: skip


def begun(folder, game="leduc", **values):
    return trainer.new_run(folder, "exit-oos", trainer.configured("exit-oos", game, None, TINY | values))


def trained(folder, game="leduc", processes=1, **values):
    run = begun(folder, game, **values)
    trainer.train(run, processes)
    return run


def safe(run):
    """Iterations whose games are on disk: in the last checkpoint, or in the journal after it."""
    done = max((int(path.parent.name) for path in run.folder.glob("checkpoints/*/state.json")), default=0)
    while run.path(f"journal/{done + 1:06d}.safetensors").exists():
        done += 1
    return done


def measured(run):
    return max((line["iteration"] for line in run.read_lines()), default=0)


# ---------------------------------------------------------------- the loop alone


class Players:
    """Workers that play in no time: three decisions per game, made of its number and the shared value."""

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


class Small(ExItOos):
    """A tiny network with a buffer of 20 samples, in which evaluation is counting layers."""

    tasks = 2

    def __init__(self, config, game):
        super().__init__(config, game)
        self.replay = ReplayBuffer(20, empty_samples(game), "exponential")

    def evaluate(self):
        return {"layers": len(self.shared())}


CONFIG = ExItOosConfig(
    "kuhn", iterations=4, games=3, hidden="4", learning_rate=1e-2, batch_size=8, steps=2, keep_every=2, evaluate_every=2
)


class Seen(Reporter):
    """Keeps what was reported, and calls a function each time."""

    def __init__(self, look=lambda done, note: None):
        self.look, self.reports, self.messages = look, [], []

    def progress(self, done, total=None, note=""):
        self.reports.append((done, total, note))
        self.look(done, note)

    def message(self, text):
        self.messages.append(text)


def loop(folder, report=None, workers=None, tasks=2, **values):
    folder.mkdir(exist_ok=True)
    run, workers, config = Run(folder), workers or Players(), replace(CONFIG, **values)
    learner = Small(config, games.load("kuhn"))
    learner.__class__.tasks = tasks
    trainer.train_loop(run, learner, workers, report or Seen())
    return run, workers


def test_an_iteration_is_games_then_learning_then_a_line(tmp_path):
    seen = Seen()
    run, workers = loop(tmp_path / "run", seen)
    assert [(line["iteration"], line["games"], line.get("layers")) for line in run.read_lines()] == [
        (0, 0, 2), (1, 3, None), (2, 6, 2), (3, 9, None), (4, 12, 2)
    ]  # fmt: skip
    assert [list(line) for line in run.read_lines()][:2] == [
        ["iteration", "games", "layers"],
        ["iteration", "games", "loss", "rows"],
    ]
    assert [line["rows"] for line in run.read_lines()[1:]] == [9, 18, 20, 20]
    assert sorted(workers.played) == list(range(12))
    assert [(note.split("  ")[0], done) for done, _, note in seen.reports] == [
        (f"iteration {iteration}", 3 * before + games)
        for before in range(4)
        for iteration, games in ((before, 1), (before, 3), (before, 3), (before + 1, 3))
    ]
    assert seen.reports[-1] == (12, 12, f"iteration 4  loss {run.read_lines()[-1]['loss']:.3f}")
    assert [path.name for path in sorted(run.folder.glob("networks/*"))] == ["000002.safetensors", "000004.safetensors"]
    assert list(run.path("journal").iterdir()) == []
    assert [line["iteration"] for line in run.read_lines("times.jsonl")] == [1, 2, 3, 4]


def test_samples_are_learned_in_the_order_of_the_games(tmp_path):
    """For any number of tasks per iteration, and any order in which they finish."""
    found = [
        outcome(loop(tmp_path / str(tasks) / "run", tasks=tasks, iterations=2, games=5)[0])
        for tasks in mkdirs(tmp_path)
    ]
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
def test_a_damaged_journal_is_reported_and_can_be_deleted(tmp_path, content):
    journal = Journal(tmp_path / "journal")
    journal.write(1, {"legal": np.ones((3, 2), bool)})
    [path] = journal.folder.iterdir()
    path.write_bytes(path.read_bytes()[:-2] if content is None else content)
    with pytest.raises(BadInput, match=r"000001\.safetensors can't be read as journal, it is damaged .*; delete it"):
        journal.read(1)


# ---------------------------------------------------------------- killed at every moment


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


def keep_checkpoints(monkeypatch, always):
    monkeypatch.setattr(trainer.Training, "save_seconds", -1.0 if always else 1e9)
    monkeypatch.setattr(trainer.Training, "save_share", 0.0)


@pytest.fixture(params=["journal", "checkpoints"])
def kept_by(request, monkeypatch):
    """What a run resumes from: the journal, with a checkpoint at the end only, or a checkpoint per iteration."""
    keep_checkpoints(monkeypatch, always=request.param == "checkpoints")
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
            assert sorted(workers.played) == list(range(3 * before, 12))  # nothing on disk is played again
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
    keep_checkpoints(monkeypatch, always=True)
    seen = []

    def look(done, note):
        folder = tmp_path / "run"
        seen.append(
            tuple(sorted(path.name[:6] for path in folder.glob(f"{name}/*")) for name in ("checkpoints", "journal"))
        )

    loop(tmp_path / "run", Seen(look))
    assert seen[3::4] == [(["000001"], []), (["000002"], []), (["000003"], []), (["000004"], [])]


def test_the_last_of_several_checkpoints_counts(tmp_path):
    """A kill may leave part of an older one."""
    (tmp_path / "whole").mkdir()
    loop(tmp_path / "run")
    for number in ("000001", "000003"):
        (tmp_path / "run" / "checkpoints" / number).mkdir()
        (tmp_path / "run" / "checkpoints" / number / "state.json").write_text("{}")
    longer = [outcome(loop(tmp_path / name, iterations=6)[0]) for name in ("run", "whole/run")]
    assert longer[0] == longer[1]


# ---------------------------------------------------------------- whole runs


def test_metrics_contain_no_times(tmp_path):
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


def test_the_network_is_evaluated_every_few_iterations_and_at_the_end(tmp_path):
    found = trained(tmp_path / "a", "kuhn", evaluate_every=3).read_lines()
    assert [line["iteration"] for line in found if "nash_conv" in line] == [0, 3, 4]
    assert not any("nash_conv" in line for line in trained(tmp_path / "b", "kuhn", evaluate_every=0).read_lines())


@pytest.mark.parametrize("playouts", ["compiled", "batched"])
def test_the_same_seed_gives_the_same_run_and_another_does_not(tmp_path, playouts):
    one, same, other = (
        outcome(trained(tmp_path / name / "run", seed=seed, playouts=playouts))
        for name, seed in (("a", 3), ("b", 3), ("c", 4))
    )
    assert one == same
    assert one["metrics"] != other["metrics"]


def test_two_processes_give_the_same_run_as_one(tmp_path):
    one, two = (outcome(trained(tmp_path / str(processes) / "run", processes=processes)) for processes in (1, 2))
    assert one == two
    assert not multiprocessing.active_children()


def test_a_run_resumed_to_more_iterations_equals_one_started_with_them(tmp_path):
    trained(tmp_path / "a" / "run", iterations=2)
    config = Run(tmp_path / "a" / "run").config() | {"iterations": 5}
    run = Run.create_or_resume(tmp_path / "a" / "run", "", config, may_grow=("iterations",))
    trainer.train(run, 1)
    found, expected = outcome(run), outcome(trained(tmp_path / "b" / "run", iterations=5))
    assert found == expected


def test_a_finished_run_does_not_change(tmp_path):
    run = trained(tmp_path / "run", "kuhn")
    before = outcome(run)
    trainer.train(Run(run.folder), 1)
    assert outcome(run) == before


@pytest.mark.parametrize(("game", "below"), [("kuhn", 0.35), ("leduc", 3.3)])
def test_nash_conv_falls(tmp_path, game, below):
    """NashConv: 0.8 untrained on Kuhn, 5.1 on Leduc."""
    values = {
        "iterations": 12,
        "games": 16,
        "simulations": 400,
        "hidden": "32",
        "steps": 64,
        "batch_size": 64,
        "seed": 1,
    }
    run = trained(tmp_path / "run", game, **values, learning_rate=1e-2, evaluate_every=12, keep_every=12)
    first, last = [line["nash_conv"] for line in run.read_lines() if "nash_conv" in line]
    assert last < below < 0.7 * first


# ---------------------------------------------------------------- TensorBoard


def expected_to_be_shown(run):
    return [
        (line["iteration"], key, pytest.approx(value, rel=1e-6))
        for line in run.read_lines()
        for key, value in line.items()
        if key != "iteration"
    ]


def test_tensorboard_shows_the_lines_also_after_a_kill(tmp_path):
    run = begun(tmp_path / "run", "kuhn")

    def kill(done, note):
        if measured(run) == 3:
            raise Killed

    with pytest.raises(Killed):
        trainer.train(run, 1, report=Seen(kill))
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
def test_a_damaged_checkpoint_is_reported_in_one_line(tmp_path, spoil, name):
    run = trained(tmp_path / "run", "kuhn", iterations=1)
    spoil(run.path(f"checkpoints/000001/{name}"))
    before = run.path("metrics.jsonl").read_text()
    with pytest.raises(BadInput, match="checkpoints/000001 can't be read, it is damaged: ") as caught:
        trainer.train(Run(run.folder), 1)
    assert "\n" not in str(caught.value)
    assert run.path("metrics.jsonl").read_text() == before


@pytest.mark.parametrize("spoil", [damaged, foreign])
def test_a_run_resumes_without_a_damaged_journal(tmp_path, spoil):
    (tmp_path / "a").mkdir()
    whole = outcome(trained(tmp_path / "a" / "run", "kuhn"))
    run = begun(tmp_path / "run", "kuhn")

    def kill(done, note):
        if measured(run) == 3:
            raise Killed

    with pytest.raises(Killed):
        trainer.train(run, 1, report=Seen(kill))
    spoil(run.path("journal/000002.safetensors"))
    with pytest.raises(BadInput, match=r"journal/000002\.safetensors (can't be read as|is no) journal.*; delete it"):
        trainer.train(Run(run.folder), 1)
    run.path("journal/000002.safetensors").unlink()
    trainer.train(Run(run.folder), 1)
    assert outcome(run) == whole


def test_a_run_of_another_process_is_refused(tmp_path):
    run = begun(tmp_path / "run", "kuhn", iterations=1)
    with run.lock(), pytest.raises(BadInput, match="is being written by another process"):
        trainer.train(Run(run.folder), 1)
    trainer.train(Run(run.folder), 1)
    assert measured(run) == 1


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"command": "match"}, "is no training run: it was made by 'match'"),
        ({"method": "exit-mcts"}, "no learner is called 'exit-mcts'"),
        ({"colour": "red"}, "colour missing or unknown"),
        ({"games": "many"}, "games"),
    ],
)
def test_a_wrong_configuration_is_refused(tmp_path, change, text):
    run = begun(tmp_path / "run", "kuhn")
    run.write("config.json", json.dumps(run.config() | change))
    with pytest.raises(BadInput, match=text):
        trainer.train(Run(run.folder), 1)


# ---------------------------------------------------------------- real kills

# For each run folder: forks a child that trains, kills it at a random moment, and repeats; the last one lives.
# Prints for each what was on disk before and after, and the iteration at which it began to play.
NURSERY = """
import json, os, random, signal, sys, time
from pathlib import Path
from kibitz.train import trainer
from kibitz.core.runs import Run
from tests.learn.test_expert_iteration import Seen, measured, safe

def look(done, note):
    if "simulations/s" in note and not noted.exists():  # it plays
        noted.write_text(note.split()[1])

warm, *runs = json.loads(sys.argv[1])
run = Run(Path(warm))
run.show_in_tensorboard = lambda: None  # it would leave a thread behind
trainer.train(run, 1)
seconds = trainer.Training.save_seconds
for folder, processes, kills, every_time in runs:
    dice = random.Random(Path(folder).parent.name)
    trainer.Training.save_seconds, trainer.Training.save_share = -1.0 if every_time else seconds, 0.0
    run, before, noted = Run(Path(folder)), 0, Path(folder) / "noted"
    for attempt in range(kills + 1):
        child = os.fork()
        if child == 0:
            trainer.train(Run(run.folder), processes, report=Seen(look))
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
def test_a_run_killed_at_random_moments_equals_an_undisturbed_one(tmp_path):
    """With a checkpoint each time; with the journal only; with the journal only and two processes."""
    values, kills = {"iterations": 12, "simulations": 200}, {"checkpoints": 3, "journal": 3, "two": 2}
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
def test_a_killed_worker_is_reported_and_changes_nothing(tmp_path):
    whole = outcome(trained(tmp_path / "whole" / "run"))
    run, killed = begun(tmp_path / "killed" / "run"), []

    def kill(done, note):
        children = multiprocessing.active_children()
        if measured(run) >= 1 and children and not killed:
            killed.append(children[0].pid)
            os.kill(children[0].pid, signal.SIGKILL)

    seen = Seen(kill)
    trainer.train(run, 2, report=seen)
    assert len(killed) == len(seen.messages) == 1
    assert seen.messages[0].startswith("a worker process died (exit code -9)")
    assert outcome(run) == whole
    assert not multiprocessing.active_children()
