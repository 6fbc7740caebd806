"""Where networks lie: in run folders, in files, and a few small ones in the package itself (`models/leduc`)."""

from pathlib import Path
from typing import NamedTuple

from ..core.files import tensor_file_format
from ..core.names import BadInput, choose
from ..games import full_name, load
from .deep_cfr.networks import is_model, read_model
from .doppelkopf import card_network, lstm
from .mlp import read_layers
from .tspg.store import game_of, is_features, read_features

SHIPPED = Path(__file__).parents[1] / "models"
PREFIX = "models/"
NETWORK = "network.safetensors"


def shipped() -> dict[str, Path]:
    """The networks of the package, by name."""
    return {path.stem: path for path in sorted(SHIPPED.glob("*.safetensors"))}


def kept_networks(folder: Path) -> dict[int, Path]:
    """Those that a run has kept on its way, by iteration."""
    return dict(sorted((int(path.stem), path) for path in folder.glob("networks/*.safetensors")))


def network_file(name: str, iteration: int = 0) -> Path:
    """The file of a run folder (0: its last network), of `models/NAME`, or the file itself."""
    path = Path(name)
    if name.startswith(PREFIX) and not path.exists():
        known = shipped()
        return known[choose("network of the package", name.removeprefix(PREFIX), known)]
    if not path.is_dir():
        if iteration:
            raise BadInput(f"{name} is no run folder, so it has no iteration {iteration}")
        return path
    if iteration:
        kept = kept_networks(path)
        if iteration not in kept:
            there = ", ".join(map(str, kept)) or "none yet"
            raise BadInput(f"{name} kept no network of iteration {iteration}; there are: {there}")
        return kept[iteration]
    if not (path / NETWORK).exists():
        why = "training has not reached its first checkpoint" if (path / "config.json").exists() else "it is no run"
        raise BadInput(f"{name} has no network: {why}")
    return path / NETWORK


class Described(NamedTuple):
    game: str
    made: str
    what: str  # sizes of layers, or how many patterns
    player: str  # kind of player that plays it
    bytes: int


def describe(path: Path) -> Described:
    """What a file holds, a network or features; refused if its game isn't there."""
    size = path.stat().st_size if path.exists() else 0
    if is_features(path):
        game = load(game_of(path))
        features, made = read_features(path, game)
        count = " + ".join(str(len(patterns)) for patterns in features.patterns)
        return Described(full_name(game), made, f"{count} patterns", "features", size)
    if tensor_file_format(path) == card_network.FORMAT:
        _, cards = card_network.read_card_network(path)
        what = ", ".join(f"{part} {'-'.join(map(str, sizes))}" for part, sizes in cards.sizes.items())
        return Described(cards.game, cards.made, what, "doko", size)
    if tensor_file_format(path) == lstm.FORMAT:
        _, known = lstm.read_lstm(path)
        return Described(known.game, known.made, "-".join(map(str, known.sizes)), "lstm", size)
    if is_model(path):
        model = read_model(path)
        what = f"{model.shape.kind} {'-'.join(map(str, model.shape.hidden))}"
        return Described(model.game, model.made, what, "net", size)
    _, about = read_layers(path)
    full_name(load(about.game))
    return Described(about.game, about.made, "-".join(map(str, about.sizes)), "net", size)
