"""Networks that play Doppelkopf as something to learn from recorded games: numbers, presets, what is refused."""

from dataclasses import dataclass
from typing import Annotated, Any

from ...core.names import BadInput
from ...games import Game
from ..method import Lessons
from .card_network import CardNetwork, check_rules
from .recorded_games import Games, check_training, read_games

MAX_HIDDEN = 10_000


@dataclass(frozen=True)
class Cards:
    """Every number of the method; `kibitz train cards --help` is made of this."""

    game: Annotated[str, "the game, with its parameters"]
    data: Annotated[str, "the games to learn from: a file of records, or a run folder"] = ""
    iterations: Annotated[int, "passes over the games (epochs)", range(1, 10**6)] = 10
    belief_hidden: Annotated[str, "hidden layers of the network that sees what a seat sees"] = "384-384"
    policy_hidden: Annotated[str, "of the small one that plays in trees and playouts"] = "128-64"
    value_hidden: Annotated[str, "of the small one that judges guesses"] = "128-64"
    batch: Annotated[int, "games a step", range(1, 10**6)] = 256
    positions: Annotated[int, "of each game, a step", range(1, 49)] = 8
    rate: Annotated[float, "learning rate of Adam at first; it falls to nearly nothing"] = 0.001
    validation: Annotated[float, "share of the deals that aren't learned from"] = 0.02
    evaluation_size: Annotated[int, "games of these that are measured, at most", range(1, 10**6)] = 500
    device: Annotated[str, "where torch computes", ("auto", "cpu", "cuda")] = "auto"
    seed: Annotated[int, "the same seed gives the same run", range(2**63)] = 1

    @property
    def hidden_sizes(self) -> tuple[tuple[int, ...], ...]:
        return tuple(sizes(f"{name}_hidden", getattr(self, f"{name}_hidden")) for name in CardNetwork._fields)


def sizes(name: str, text: str) -> tuple[int, ...]:
    try:
        found = tuple(int(size) for size in text.split("-"))
    except ValueError:
        found = (0,)
    if not 1 <= min(found) <= max(found) <= MAX_HIDDEN:
        raise BadInput(f"{name}={text} should be sizes of layers, such as 128 or 128-64")
    return found


PRESETS = {"kibitz": "what we found to be good", "small": "a minute, to see that it works"}
VALUES: dict[str, dict[str, Any]] = {
    "kibitz": {},
    "small": {"iterations": 2, "belief_hidden": "64", "policy_hidden": "32", "value_hidden": "32", "batch": 64},
}


def data_of(config: Any) -> Games:
    return read_games(config.data, config.game)


def refuse(config: Cards, game: Game) -> None:
    check_rules(game)
    if not config.data:
        raise BadInput("--data is missing: a file of games, or a run folder, such as kibitz record makes")
    config.hidden_sizes  # noqa: B018
    check_training(config, data_of(config))


def learner(config: Cards, game: Game) -> Any:
    from .card_training import CardPupil

    return CardPupil(config, game, data_of(config))


METHOD = Lessons(
    config=Cards,
    about="Networks that play Doppelkopf by what a seat sees: cards, worth, and who holds what; learned from records.",
    examples=("doppelkopf:thesis --data runs/doppelkopf-record-001",),
    presets=PRESETS,
    preset=lambda game, name: VALUES[name],
    refuse=refuse,
    learner=learner,
    player="doko",
)
