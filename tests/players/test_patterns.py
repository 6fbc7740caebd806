"""Patterns behind advice: they sum to the policy, and their drawings are well-formed."""

import json
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from kibitz import games
from kibitz.core.names import BadInput
from kibitz.nets.model_files import shipped
from kibitz.play.players import make
from kibitz.play.players.patterns import active_patterns

CONNECT_FOUR = games.load("connect_four")


def after(game, *actions):
    state = games.positions(game)[0]
    for action in actions:
        game.play(state, action)
    return state


def test_the_contributions_of_all_patterns_are_the_logits_and_the_policy_is_that_of_the_player():
    state = after(CONNECT_FOUR, 3, 3, 2)
    found = active_patterns("features:models/connect_four", CONNECT_FOUR, state, 1, most=10**6)
    player = make("features:models/connect_four")
    player.begin(CONNECT_FOUR, 1, 1)
    player.move(state)
    assert [move["action"] for move in found] == games.legal_actions(CONNECT_FOUR, state)
    assert [move["prob"] for move in found] == pytest.approx(player.advice.policy.tolist(), abs=1e-6)
    logits = np.array([move["logit"] for move in found])
    sums = [sum(part["contribution"] for part in move["patterns"]) for move in found]
    assert sums == pytest.approx((logits - logits.mean()).tolist(), abs=1e-9)


def test_the_strongest_come_first_and_a_search_is_explained_by_its_prior():
    state = after(CONNECT_FOUR, 3, 3, 2)
    prior, own = (
        active_patterns(name, CONNECT_FOUR, state, 1, most=4)
        for name in ("puct:100,policy=models/connect_four", "features:models/connect_four,policy=ce")
    )
    assert prior == own
    for move in prior:
        sizes = [abs(part["contribution"]) for part in move["patterns"]]
        assert len(sizes) == 4
        assert sizes == sorted(sizes, reverse=True)
    json.dumps(prior, allow_nan=False)


@pytest.mark.parametrize("name", ["connect_four", "hex-7", "breakthrough"])  # squares, hexagons, pieces that move
def test_each_pattern_is_drawn_and_its_cells_are_named(name):
    game = games.load(name.replace("-", ":"))
    state, drawn = after(game), 0
    for move in active_patterns(f"features:models/{name}", game, state, 0):
        for part in move["patterns"]:
            picture = ElementTree.fromstring(part["svg"])
            assert picture.tag.endswith("svg")
            assert picture[0].text == part["words"]
            assert float(picture.get("width")) > 0
            assert all(each["name"] == game.board().names[each["cell"]] for each in part["cells"])
            drawn += 1
    assert drawn > 5
    assert name in shipped()


def test_a_player_without_patterns_is_refused():
    for name in ("uct:10", "puct:10", "random"):
        with pytest.raises(BadInput, match="has no learned patterns"):
            active_patterns(name, CONNECT_FOUR, after(CONNECT_FOUR), 0)
