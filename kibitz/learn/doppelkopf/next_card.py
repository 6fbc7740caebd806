"""The next card of Doppelkopf as something to learn from recorded games: its numbers, its presets, what it refuses."""

from dataclasses import dataclass
from typing import Annotated, Any

from ...core.names import BadInput
from ...games import Game
from ...games.doppelkopf.thesis_lines import MARRIAGES, POSITIONS, form
from ..method import Lessons
from .lstm import check_rules
from .recorded_games import Games, check_training, read_games


@dataclass(frozen=True)
class NextCard:
    """Every number of the method; `kibitz train next-card --help` is made of this."""

    game: Annotated[str, "the game, with its parameters"]
    data: Annotated[str, "the games to learn from: a file of records or of lines, or a run folder"] = ""
    iterations: Annotated[int, "passes over the games (epochs)", range(1, 10**6)] = 10
    layers: Annotated[int, "of the LSTM", range(1, 10)] = 2
    nodes: Annotated[int, "of each layer", range(1, 10**4)] = 64
    batch: Annotated[int, "lines a step; a game gives four, one from each seat", range(1, 10**6)] = 25
    rate: Annotated[float, "learning rate of Adam"] = 0.002
    validation: Annotated[float, "share of the deals that aren't learned from"] = 0.02
    evaluation_size: Annotated[int, "games of these that accuracy is measured on, at most", range(1, 10**6)] = 500
    letters: Annotated[str, "of lines: the 24 cards from a to x, as '♣9 ♣J ...'; none: by suit"] = ""
    position: Annotated[str, "of lines: what its digit counts", tuple(POSITIONS)] = "place"
    marriage: Annotated[str, "of lines: whether one is announced", tuple(MARRIAGES)] = "announced"
    device: Annotated[str, "where torch computes", ("auto", "cpu", "cuda")] = "auto"
    seed: Annotated[int, "the same seed gives the same run", range(2**63)] = 1


PRESETS = {
    "thesis": "two layers of 64, as published",
    "thesis-128": "two of 128",
    "thesis-256": "two of 256",
}
VALUES: dict[str, dict[str, Any]] = {
    "thesis": {"nodes": 64, "batch": 25, "iterations": 10},
    "thesis-128": {"nodes": 128, "batch": 50, "iterations": 10},
    "thesis-256": {"nodes": 256, "batch": 50, "iterations": 5},
}


def data_of(config: NextCard) -> Games:
    return read_games(config.data, config.game, form(config.letters, config.position, marriage=config.marriage))


def refuse(config: NextCard, game: Game) -> None:
    check_rules(game)
    if not config.data:
        raise BadInput("--data is missing: a file of games, or a run folder, such as kibitz record makes")
    check_training(config, data_of(config))


def learner(config: NextCard, game: Game) -> Any:
    from .lstm_training import NextCardPupil

    return NextCardPupil(config, game, data_of(config))


METHOD = Lessons(
    config=NextCard,
    about="A network that reads a game of Doppelkopf card by card, and foretells the next one; learned from records.",
    examples=(
        "doppelkopf:thesis --preset thesis --data runs/doppelkopf-record-001",
        "doppelkopf:thesis --preset thesis-256 --data games.lines --position dealer --device cuda",
    ),
    presets=PRESETS,
    preset=lambda game, name: VALUES[name],
    refuse=refuse,
    learner=learner,
    player="lstm",
)
