"""Expert iteration on Doppelkopf as a method of training: its presets, what it refuses."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ...core.names import BadInput
from ...games import Game, full_name, load
from ..method import Method
from ..model_files import network_file
from .card_evaluation import strength
from .card_iteration import CardIteration, self_play
from .card_network import CardNetwork, card_policy, check_rules, read_network

PRESETS = {"kibitz": "what we found to be good", "small": "a minute, to see that it works"}
VALUES: dict[str, dict[str, Any]] = {
    "kibitz": {},
    "small": {"iterations": 2, "games": 100, "steps": 10, "batch": 16, "keep_every": 1},
}
JUDGE_SEED = 10**6  # the same deals for all networks
GAME_BYTES = 2700  # in a checkpoint: its actions and what 48 cards were worth


def started(config: CardIteration) -> CardNetwork:
    network, about = read_network(network_file(config.start))
    if about.game != full_name(load(config.game)):
        raise BadInput(f"start={config.start} plays {about.game}, not {full_name(load(config.game))}")
    return network


def refuse(config: CardIteration, game: Game) -> None:
    check_rules(game)
    if not config.start:
        raise BadInput("--start is missing: a run of kibitz train cards, whose networks it begins with")
    started(config)
    if config.others:
        check_rules(game, read_network(network_file(config.others))[1])
    if not 0 < config.rate < 1:
        raise BadInput(f"rate={config.rate} should be above 0 and below 1")
    if not 0 <= config.entropy <= 100:
        raise BadInput(f"entropy={config.entropy} should be from 0 to 100")
    if config.device == "cuda":
        from ..torch_mlp import pick_device

        pick_device(config.device, large=True)


def learner(config: CardIteration, game: Game) -> Any:
    from .card_apprentice import CardApprentice

    return CardApprentice(config, game, started(config))


def evaluate(config: CardIteration, game: Game) -> Callable[[CardNetwork], dict[str, float]]:
    """Points a game against three who play as is usual, or against those that it learns to meet."""
    if not config.evaluate_every:
        return lambda network: {}

    others = card_policy(read_network(network_file(config.others))[0]) if config.others else None

    def measured(network: CardNetwork) -> dict[str, float]:
        found = strength(game, card_policy(network), config.judged, JUDGE_SEED, others)
        return {"points": found.points, "points_error": found.error}

    return measured


def probe(config: CardIteration) -> tuple[CardIteration, float]:
    steps = min(config.steps, 3)
    return replace(config, steps=steps), config.steps / steps


def size(config: CardIteration, game: Game, knowledge: CardNetwork, rows: Any) -> int:
    weights = sum(array.nbytes for layers in knowledge for layer in layers for array in layer)
    kept = config.iterations // config.keep_every + 2
    return kept * weights + 3 * weights + min(config.capacity, config.iterations * config.games) * GAME_BYTES


METHOD = Method(
    config=CardIteration,
    about="Expert iteration on Doppelkopf: looking ahead by networks plays, and the networks learn from it.",
    examples=("doppelkopf:thesis --start runs/doppelkopf-cards-001",),
    presets=PRESETS,
    preset=lambda game, name: VALUES[name],
    refuse=refuse,
    learner=learner,
    self_play=self_play,
    tasks=lambda config, game, workers: min(config.games, 8 * workers),
    evaluate=evaluate,
    probe=probe,
    size=size,
    player="doko",
)
