"""Cards of models: written into a file without touching its tensors, read back, and true."""

import json
import re
import struct
from dataclasses import asdict, fields, replace
from pathlib import Path

import make_models
import numpy as np
import pytest
import safetensors.numpy

from kibitz import games
from kibitz.core.names import BadInput
from kibitz.core.tensor_files import tensor_file_about
from kibitz.nets.mlp import new_layers, read_layers, save_layers, sizes_of
from kibitz.nets.model_cards import SCHEMA, Card, main, read_card, rules_stamp, write_card
from kibitz.nets.model_files import shipped
from kibitz.train.descriptions import describe

DOCS = Path(__file__).parents[2] / "docs"
CARD = Card(
    "12ab", "kibitz train", "1", "0.2.0", "2026-11-17", "Apache-2.0", ["5%"], "not measured", ["a note"], "x.md"
)


@pytest.fixture
def network(tmp_path):
    path, game = tmp_path / "network.safetensors", games.load("kuhn")
    save_layers(path, game, new_layers(sizes_of(game, [5]), np.random.default_rng(1)), "by hand")
    return path


def tensors_of(path):
    """The bytes after the header, and where in them each tensor is."""
    data = path.read_bytes()
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8 : 8 + length])
    header.pop("__metadata__")
    return data[8 + length :], header


def test_a_card_changes_no_tensor(network):
    before, layers = tensors_of(network), read_layers(network)
    assert read_card(network) is None
    write_card(network, CARD)
    assert read_card(network) == CARD
    assert tensors_of(network) == before
    for (weights, biases), (old_weights, old_biases) in zip(read_layers(network)[0], layers[0], strict=True):
        assert weights.tobytes() == old_weights.tobytes()
        assert biases.tobytes() == old_biases.tobytes()
    assert read_layers(network)[1] == layers[1]
    assert len(network.read_bytes()) % 4 == 0
    (length,) = struct.unpack_from("<Q", network.read_bytes())
    assert length % 8 == 0
    changed = replace(CARD, seed="2")
    write_card(network, changed)
    assert read_card(network) == changed
    assert tensors_of(network) == before


@pytest.mark.parametrize("name", shipped())
def test_writing_the_card_of_a_model_again_changes_nothing(name, tmp_path):
    path = tmp_path / "copy.safetensors"
    path.write_bytes(shipped()[name].read_bytes())
    before = path.read_bytes()
    write_card(path, read_card(path))
    assert path.read_bytes() == before


def test_what_is_no_model_gets_no_card(tmp_path):
    path = tmp_path / "x.safetensors"
    for data in (b"", b"noise", struct.pack("<Q", 2**60) + b"{}", safetensors.numpy.save({"x": np.zeros(3)})):
        path.write_bytes(data)
        with pytest.raises(BadInput) as raised:
            write_card(path, CARD)
        assert "\n" not in str(raised.value)
        assert path.read_bytes() == data


def test_a_damaged_card_is_refused(network):
    tensors, about = safetensors.numpy.load_file(network), tensor_file_about(network)
    for wrong in ({}, asdict(CARD) | {"scores": "5%"}, asdict(CARD) | {"seed": 1}, [], "x"):
        network.write_bytes(safetensors.numpy.save(tensors, {"about": json.dumps(about | {"card": wrong})}))
        with pytest.raises(BadInput, match="can't be read as model card"):
            read_card(network)


def test_a_card_is_written_from_a_json_file(network, tmp_path):
    values = asdict(CARD)
    del values["rules"]
    (tmp_path / "card.json").write_text(json.dumps(values))
    main([str(network), str(tmp_path / "card.json")])
    assert read_card(network) == replace(CARD, rules=rules_stamp(games.load("kuhn")))
    (tmp_path / "card.json").write_text(json.dumps([asdict(CARD) | {"bytes": 3}]))  # as kibitz models --json has it
    main([str(network), str(tmp_path / "card.json")])
    assert read_card(network) == CARD
    (tmp_path / "card.json").write_text("{}")
    with pytest.raises(BadInput, match=r"card.json can't be read as model card.*command is missing"):
        main([str(network), str(tmp_path / "card.json")])
    with pytest.raises(BadInput, match=r"python -m kibitz.nets.model_cards MODEL CARD.json"):
        main([])


def test_the_schema_has_all_fields():
    assert set(SCHEMA) == {field.name for field in fields(Card)}


def test_a_stamp_tells_rules_apart():
    stamps = [rules_stamp(games.load(name)) for name in ("kuhn", "leduc", "leduc:raises=1", "leduc:ante=2")]
    assert len(set(stamps)) == 4
    assert rules_stamp(games.load("kuhn")) == stamps[0] == "a55a061bfbb5f84d"


# ---------------------------------------------------------------- those that ship


@pytest.mark.parametrize("name", shipped())
def test_the_card_of_a_model_that_ships_is_whole_and_true(name):
    path = shipped()[name]
    card = read_card(path)
    assert card is not None
    assert card.rules == rules_stamp(games.load(describe(path).game)), "the rules have changed"
    assert card.license == "Apache-2.0"
    assert card.scores
    assert all(re.search(r", [\d,]+ games$", score) for score in card.scores)
    assert card.exploitability.startswith(("exact: NashConv ", "lower bound by ", "not measured"))
    # Every figure is from the pages, where it stands with the command that measured it.
    text = "".join((DOCS / page).read_text() for page in (card.page, "default-players.md"))
    for figure in re.findall(r"[+-]?\d[\d,.]*%? \([^)]*\d\)", " ".join([*card.scores, card.exploitability])):
        mean, span = figure.split(" ", 1)
        assert span.strip("()") in text, figure
        assert mean.rstrip("%") in text, figure
    for figure in re.findall(r"NashConv (\d\.\d+)", card.exploitability):
        assert figure in text


def test_the_page_is_that_of_the_files():
    assert make_models.FILE.read_text() == make_models.page(), "run python docs/make_reference.py"
    for name in shipped():
        assert f"\n## models/{name}\n" in make_models.page()
