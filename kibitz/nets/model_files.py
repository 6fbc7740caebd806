"""Files of trained networks: in run folders, by path, and those of the package (`models/leduc`); their formats."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ..core.names import BadInput, as_path, choose
from ..core.registry import Registry
from ..core.tensor_files import Format

# Networks of several parts, whose policy a learner may start from: format of a file -> class(path), with the `game`,
# the policy's `layers`, and `policy(layers)`, which makes a policy for kernels of layers in their place.
NETWORKS = network_kind = Registry("network kind")
SHIPPED = Path(__file__).parents[1] / "models"
PREFIX = "models/"
NETWORK = "network.safetensors"


def shipped() -> dict[str, Path]:
    """The networks that ship with the package, by name."""
    return {path.stem: path for path in sorted(SHIPPED.glob("*.safetensors"), key=lambda path: path.stem)}


def kept_networks(folder: Path) -> dict[int, Path]:
    """The networks that a run has kept, by iteration."""
    found = [path for path in folder.glob("networks/*.safetensors") if path.stem.isdecimal()]
    return dict(sorted((int(path.stem), path) for path in found))


def network_file(name: str, iteration: int = 0) -> Path:
    """The network file of a run folder (iteration 0: the last), of `models/NAME`, or the file itself."""
    path = as_path(name)
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


class Description(NamedTuple):
    """What `kibitz models` shows of a file."""

    game: str
    made: str
    what: str  # sizes of layers, number of patterns
    player: str  # kind of player that plays it
    search: str = ""  # a player that searches with it, {} for its name: stronger
    bytes: int = 0

    def strongest(self, name: str) -> str:
        """The name of the strongest player of the model or run `name`."""
        return self.search.format(name) if self.search else f"{self.player}:{name}"


@dataclass(frozen=True)
class ModelFormat(Format):
    """A format of files that players read, each of which says for which `game` it is and how it was `made`."""

    player: str = ""
    search: str = ""

    def described(self, what: Callable[[Path], str]) -> Callable[[Path], str]:
        """Register the function that reads a file of this format and says what is in it, such as sizes of layers."""
        FORMATS[self.name] = self, what
        return what


MADE = {"game": str, "made": str}  # in every model
FORMATS: dict[str, tuple[ModelFormat, Callable[[Path], str]]] = {}
