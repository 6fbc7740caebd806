"""What a method of training is to `training`: a configuration, and the functions that it is made of."""

from collections.abc import Callable
from typing import Any, NamedTuple


class Method(NamedTuple):
    config: type  # a dataclass: game, iterations, games, simulations, keep_every, seed, and its own
    about: str  # for people: what it does
    examples: tuple[str, ...]  # of arguments
    presets: dict[str, str]  # name -> what it is
    preset: Callable[[Any, str], dict[str, Any]]  # game, name -> values
    refuse: Callable[[Any, Any], None]  # config, game: what can't be trained, before anything is written
    learner: Callable[[Any, Any], Any]  # config, game -> the learner of the loop
    self_play: Callable[[Any], Any]  # config -> what workers do
    tasks: Callable[[Any, Any, int], int]  # config, game, workers -> parts that an iteration's games are cut into
    evaluate: Callable[[Any, Any], Callable[[Any], dict[str, float]]]  # config, game -> what is measured of knowledge
    probe: Callable[[Any], tuple[Any, float]]  # config -> one that learns less, and how much less
    size: Callable[[Any, Any, Any, Any], int]  # config, game, knowledge, rows of a game -> bytes on disk at the end
    player: str  # kind of player that plays what was learned


class Lessons(NamedTuple):
    """The same of one that learns from recorded games, and plays none."""

    config: type  # a dataclass: game, iterations (passes over the games), seed, and its own
    about: str
    examples: tuple[str, ...]
    presets: dict[str, str]
    preset: Callable[[Any, str], dict[str, Any]]
    refuse: Callable[[Any, Any], None]
    learner: Callable[[Any, Any], Any]  # config, game -> the pupil of the loop
    player: str


class Solving(NamedTuple):
    """The same of one that has a loop of its own, in which workers do parts of an iteration."""

    config: type  # a dataclass: game, iterations, seed, and its own
    about: str
    examples: tuple[str, ...]
    presets: dict[str, str]
    preset: Callable[[Any, str], dict[str, Any]]
    refuse: Callable[[Any, Any], None]
    worker: Callable[[Any], Any]  # config -> what workers do
    parts: Callable[[Any], int]  # config -> how many of them can work at once
    solve: Callable[[Any, Any, Any, Callable[[Any], None]], None]  # run, config, crew, watch
    estimate: Callable[[Any, Any, int, int], tuple[float, int]]  # config, game, processes, done -> seconds, bytes
    player: str
