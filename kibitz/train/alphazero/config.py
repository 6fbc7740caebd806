"""The configuration of AlphaZero, its presets, and what it refuses."""

from dataclasses import dataclass
from typing import Annotated, Any

from ...core import memory
from ...core.names import LEARNING_RATE, BadInput, Interval
from ...games import Game
from ...nets.boards.geometry import geometry_of
from ...nets.boards.networks import Shape
from ...search import batched_puct
from ..learner import ADVANCED

SHARE = Interval(0, 1)

PRESETS = {
    "small": "minutes on two cores: Tic-Tac-Toe, Connect Four on 5 x 6, Hex 5, any small board",
    "gpu": "for a GPU and many cores: thousands of games at the same time; it made the networks that ship",
}
SMALL: dict[str, Any] = {
    "games": 128, "parts": 2, "rounds": 128, "simulations": 16, "full_share": 1.0, "channels": 24, "blocks": 2,
    "steps": 32, "batch_size": 128, "capacity": 20_000, "iterations": 60, "learning_rate": 3e-3,
    "temperature_moves": 8, "keep_every": 20, "evaluate_every": 20,
}  # fmt: skip
GPU: dict[str, Any] = {
    "games": 8192, "parts": 8, "rounds": 512, "simulations": 32, "fast_simulations": 8, "channels": 48, "blocks": 5,
    "steps": 200, "batch_size": 2048, "capacity": 1_000_000, "iterations": 100, "learning_rate": 1e-3,
    "keep_every": 15, "evaluate_every": 10,
}  # fmt: skip
# Boards of 60 cells and more, and of 200 and more: games are longer and evaluations slower, so there are fewer games.
LARGE_BOARD: dict[str, Any] = {"games": 4096, "steps": 120, "capacity": 600_000}
GIANT_BOARD: dict[str, Any] = {"games": 2048, "steps": 80, "capacity": 300_000, "channels": 32, "blocks": 6}
PRESET_CELLS = ((200, GIANT_BOARD), (60, LARGE_BOARD))


@dataclass(frozen=True)
class AlphaZeroConfig:
    """The options of `kibitz train alphazero` are made of these fields."""

    game: Annotated[str, "the game, with its parameters"]
    iterations: Annotated[int, "iterations of self-play and learning", range(1, 10**7)] = 100
    games: Annotated[int, "games that are played at the same time", range(1, 10**6)] = 256
    parts: Annotated[
        int,
        "parts of these games, one process each: games / parts is the size of a batch; on a GPU two batches of half "
        "that size take turns",
        range(1, 512),
    ] = 8
    rounds: Annotated[int, "network evaluations per game and iteration", range(1, 10**6)] = 256
    simulations: Annotated[int, "simulations of a full search, which is learned from", range(2, 10**6)] = 32
    fast_simulations: Annotated[int, "simulations of the other searches", range(2, 10**6)] = 8
    full_share: Annotated[float, "share of full searches (playout-cap randomisation); 1: all", Interval(0.01, 1)] = 0.5
    selection: Annotated[
        str, "root selection: Gumbel with sequential halving, or PUCT with Dirichlet noise", ("gumbel", "puct")
    ] = "gumbel"
    temperature_moves: Annotated[
        int, "first moves of a game, drawn by chance; later ones are the search's best", range(10**4), ADVANCED
    ] = 12
    opening: Annotated[int, "random moves that some games begin with, at most; 0: none", range(10**4)] = 0
    resign: Annotated[
        float, "resign where three searches in a row are below minus this; 1: never", Interval(0.5, 1)
    ] = 0.95
    play_on: Annotated[float, "share of games in which nobody resigns", SHARE, ADVANCED] = 0.1
    channels: Annotated[int, "channels of the network", range(1, 1025)] = 32
    blocks: Annotated[int, "residual blocks", range(1, 101)] = 4
    steps: Annotated[int, "gradient steps per iteration", range(1, 10**6)] = 100
    batch_size: Annotated[int, "samples per minibatch", range(2, 10**6)] = 256
    learning_rate: Annotated[float, "learning rate of Adam", LEARNING_RATE] = 1e-3
    averaging: Annotated[
        float, "decay per iteration of the moving average of weights that plays and is exported; 0: the last weights",
        Interval(0, 0.999999), ADVANCED,
    ] = 0.75  # fmt: skip
    capacity: Annotated[int, "samples that the replay buffer holds", range(1, 10**9)] = 100_000
    device: Annotated[str, "device for torch", ("auto", "cpu", "cuda")] = "auto"
    evaluation_games: Annotated[int, "games of the network without search against uct", range(10**5), ADVANCED] = 40
    evaluation_simulations: Annotated[int, "simulations per move of that uct", range(1, 10**6), ADVANCED] = 100
    evaluate_every: Annotated[int, "iterations between evaluations; 0: never", range(10**7)] = 10
    keep_every: Annotated[int, "iterations between networks that are kept", range(1, 10**7)] = 50
    seed: Annotated[int, "random seed; equal seeds give equal runs", range(2**63)] = 1

    @property
    def shape(self) -> Shape:
        return Shape(self.channels, self.blocks)

    def part(self, number: int) -> range:
        """The numbers of the games of a part."""
        first, last = (number * self.games // self.parts, (number + 1) * self.games // self.parts)
        return range(first, last)

    def torch_device(self) -> str:
        from ...nets.torch_mlp import pick_device

        return pick_device(self.device, large=True)


def preset(game: Any, name: str) -> dict[str, Any]:
    if name == "small":
        return SMALL
    cells = len(game.board().places) if hasattr(game, "board") else 0
    return GPU | next((values for least, values in PRESET_CELLS if cells >= least), {})


def refuse(config: AlphaZeroConfig, game: Game) -> None:
    """Raise BadInput where the configuration can't be trained."""
    batched_puct.refuse(game)
    geometry_of(game)
    if config.parts > config.games:
        raise BadInput(f"parts={config.parts} should be at most games={config.games}")
    for name in ("simulations", "fast_simulations"):
        if config.rounds <= (simulations := getattr(config, name)):
            raise BadInput(
                f"rounds={config.rounds} should be above {name}={simulations}: searches that an iteration leaves "
                "unfinished are repeated with the next network, so none would ever be finished"
            )
    facts = game.facts
    sample = -(-facts.encoding // 8) + 2 * facts.num_actions + -(-facts.num_actions // 8) + 8
    memory.check(config.capacity * sample, f"a replay buffer of {config.capacity:,} samples", "lower capacity")
