"""Model cards: what is known of a trained model, written into its file.

`kibitz models NAME` shows a card and `docs/models.md` has those of all models that ship. To change one:

    kibitz models leduc --json card.json                      # prints what is known; edit the fields of a Card
    python -m kibitz.nets.model_cards models/leduc card.json
    python docs/make_reference.py                             # the page
"""

import hashlib
import json
import struct
import sys
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from ..core.files import check_fits, parse_json, read_bytes, read_json, readable, write_atomically
from ..core.names import BadInput
from ..core.tensor_files import tensor_file_about
from ..games import OVER, Game, full_name, legal_actions, load_stored, positions
from .model_files import network_file

KEY = "card"  # in what a file says about its tensors
GAMES = 3  # in a stamp
MAX_FILE = 1 << 30
SCHEMA = {"rules": str, "command": str, "seed": str, "version": str, "date": str, "license": str, "scores": [str],
          "exploitability": str, "notes": [str], "page": str}  # fmt: skip


@dataclass(frozen=True)
class Card:
    """What is known of a model. What isn't known is said to be unknown."""

    rules: str  # stamp of the rules when the card was written
    command: str  # that trained it
    seed: str  # of the training
    version: str  # of Kibitz, that trained it
    date: str  # when it was added to the package
    license: str
    scores: list[str]  # measured strength, with 95% intervals and the number of games
    exploitability: str  # exact, a bound, or "not measured"
    notes: list[str]
    page: str  # of the documentation, with the measurements


def rules_stamp(game: Game) -> str:
    """A fingerprint of how a game behaves: turns, legal actions and payoffs in games of pseudo-random actions.

    It is the same on every machine, and changes with the rules, not with the code.
    """
    name, found = full_name(game), hashlib.sha256()
    for number in range(GAMES):
        (state,) = positions(game)
        ply = 0
        while (turn := game.turn(state)) != OVER:
            legal = [int(action) for action in legal_actions(game, state)]
            found.update(f"{turn}:{legal};".encode())
            drawn = hashlib.sha256(f"{name}/{number}/{ply}".encode()).digest()
            game.play(state, legal[int.from_bytes(drawn[:8], "little") % len(legal)])
            ply += 1
        payoffs = [round(float(game.payoff(state, seat)), 6) for seat in range(game.facts.seats)]
        found.update(f"{payoffs}\n".encode())
    return found.hexdigest()[:16]


def read_card(path: Path) -> Card | None:
    """The card in a model's file; None where it has none."""
    found = tensor_file_about(path).get(KEY)
    if found is None:
        return None
    with readable(path, "model card"):
        return as_card(found)


def as_card(values: Any) -> Card:
    """A card from the values of its fields; ValueError where one is missing or of another type."""
    check_fits(values, SCHEMA)
    return Card(**{field.name: values[field.name] for field in fields(Card)})


def write_card(path: Path, card: Card) -> None:
    """Write a card into a model's file. The bytes of its tensors, and their order, stay as they are.

    Raises:
        BadInput: It is no tensor file.
    """
    data = read_bytes(path, "model", MAX_FILE)
    with readable(path, "model"):
        length = int.from_bytes(data[:8], "little")
        header = parse_json(data[8 : 8 + length])
        about = tensor_file_about(path)
        if not about.get("format"):
            raise ValueError("it names no format")
        header["__metadata__"] = {"about": json.dumps(about | {KEY: asdict(card)})}
        text = json.dumps(header, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 8)  # tensors begin at a multiple of eight bytes
    write_atomically(path, struct.pack("<Q", len(text)) + text + data[8 + length :])


def main(arguments: list[str]) -> None:
    """Write the card in a JSON file into a model."""
    if len(arguments) != 2:
        raise BadInput("python -m kibitz.nets.model_cards MODEL CARD.json")
    path, source = network_file(arguments[0]), Path(arguments[1])
    given = read_json(source, "model card")
    values = given[0] if isinstance(given, list) and given else given  # as kibitz models --json writes it
    with readable(source, "model card"):
        card = as_card({"rules": rules_stamp(load_stored(tensor_file_about(path)["game"]))} | values)
    write_card(path, card)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except BadInput as error:
        sys.exit(f"kibitz: {error}")
