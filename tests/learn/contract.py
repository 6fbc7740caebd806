"""The contract of learners: `check_learner("path/to/file.py:Class", game, values, folder)` checks one of them."""

import json
import math
from dataclasses import asdict, fields

import numpy as np
import pytest
import safetensors.numpy

from kibitz import games
from kibitz.core import names
from kibitz.core.progress import Reporter
from kibitz.core.runs import Run
from kibitz.games import CHANCE, OVER
from kibitz.play import players
from kibitz.train import trainer
from kibitz.train.learner import learner_class


class Killed(BaseException):
    """Raised in the middle of a run, as a kill would end it."""


class KillAfter(Reporter):
    """Kills a run with the n-th report of progress."""

    def __init__(self, count):
        self.left = count

    def progress(self, done, total=None, note=""):
        self.left -= 1
        if self.left < 0:
            raise Killed


def check_learner(name, game, values, folder):
    """Check a learner with a small configuration, which has at least two iterations."""
    check_configuration(name, game, values, folder / "configured")
    whole = trainer.new_run(folder / "whole" / "run", name, trainer.configured(name, game, None, values))
    trainer.train(whole, processes=1)
    check_metrics(whole)
    check_player(whole)
    check_resume(name, game, values, folder, outcome(whole))


def check_configuration(name, game, values, folder):
    """A configuration is the same after config.json, every field is documented, and presets have known fields."""
    cls, config = learner_class(name), trainer.configured(name, game, None, values)
    run = trainer.new_run(folder, name, config)
    assert trainer.config_of(Run(run.folder)) == config
    assert json.loads(run.path("config.json").read_text()) == {"command": "train", "method": name, **asdict(config)}
    hints = names.hints(cls.Config)
    assert {"game", "iterations", "seed"} <= hints.keys()
    assert all(meaning for _, meaning, _ in hints.values())
    assert cls.about.endswith(".")
    for preset in cls.presets:
        try:
            found = cls.preset(games.load(game), preset)
        except names.BadInput:
            continue  # a preset of other games
        assert found.keys() <= {field.name for field in fields(cls.Config)}


def check_metrics(run):
    """One line per iteration and one before the first; every number is finite."""
    config, lines = trainer.config_of(run), run.read_lines()
    assert [line["iteration"] for line in lines] == list(range(config.iterations + 1))
    assert all(math.isfinite(value) for line in lines for value in line.values())
    assert all(
        math.isfinite(value) for value in trainer.class_of(run)(config, games.load(config.game)).evaluate().values()
    )


def check_player(run):
    """The exported file is one of its player, who plays by the rules, and of its search, if it has one."""
    config = trainer.config_of(run)
    game = games.load(config.game)
    player, rng = players.make_for(f"{trainer.class_of(run).player}:{run.folder}", game), np.array([1, 2], np.uint64)
    state = games.positions(game)[0]
    if search := trainer.class_of(run).search:
        players.make_for(search.format(run.folder), game)
    player.begin(game, 0, 1)
    moves = 0
    while (turn := game.turn(state)) != OVER and moves < 5:
        action = game.sample_action(state, rng)
        if turn == 0 and turn != CHANCE:
            action, moves = player.move(games.view_of(game, state, 0)), moves + 1
            assert action in games.legal_actions(game, state)
        game.play(state, action)
    assert moves


def check_resume(name, game, values, folder, wanted):
    """A run that is killed at any report of progress and resumed equals one that never was, with any checkpoints."""
    for always in (False, True):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(trainer.Training, "save_seconds", -1.0 if always else 1e9)
            patch.setattr(trainer.Training, "save_share", 0.0)
            run = trainer.new_run(
                folder / f"resumed-{always}" / "run", name, trainer.configured(name, game, None, values)
            )
            kills = 0
            for count in (0, 1, 3, 5, 8):
                try:
                    trainer.train(Run(run.folder), processes=1, report=KillAfter(count))
                except Killed:
                    kills += 1
            assert kills
            trainer.train(Run(run.folder), processes=1)
        assert outcome(run) == wanted


def outcome(run):
    """Metrics, exported files, and the tensors of the last checkpoint."""
    last = max(run.path("checkpoints").iterdir())
    exported = [run.path("network.safetensors"), *sorted(run.folder.glob("networks/*"))]
    found = {path.name: path.read_bytes() for path in exported}
    for path in last.glob("*.safetensors"):
        found |= {(path.name, key): array.tobytes() for key, array in safetensors.numpy.load_file(path).items()}
    return found | {"metrics": run.path("metrics.jsonl").read_text(), "number": last.name}
