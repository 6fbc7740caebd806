"""Numbers of infosets and nodes, as published or counted by somebody else's code: see `facts.py`."""

import itertools

import numpy as np
import pytest

from kibitz import games
from kibitz.games import CHANCE, OVER

from .facts import ROWS
from .walks import tree

counted = [
    pytest.param(row, id=row.id, marks=[pytest.mark.heavy] * row.heavy) for row in ROWS if row.infosets or row.nodes
]


@pytest.mark.parametrize("row", counted)
def test_the_tree_has_the_numbers_of_infosets_and_nodes_of_the_source(row):
    found = tree(games.load(row.name))
    assert row.source
    if row.infosets:
        assert len(np.unique(found.keys[found.turns >= 0])) == row.infosets
    if row.nodes:
        kinds = np.sum(found.turns == CHANCE), np.sum(found.turns >= 0), np.sum(found.turns == OVER)
        assert kinds == row.nodes


@pytest.mark.parametrize("row", [row for row in ROWS if row.tree], ids=lambda row: row.id)
def test_chance_probabilities_sum_to_one_over_terminal_nodes(row):
    """For any way to play: here for the one that always takes the first action."""
    found = tree(games.load(row.name))
    first_child = {parent: node for node, parent in reversed(list(enumerate(found.parents)))}
    met = np.ones(len(found.turns), bool)
    for node, parent in list(enumerate(found.parents))[1:]:
        met[node] = met[parent] and (found.turns[parent] == CHANCE or node in (1, first_child[parent]))
    assert found.chances[met & (found.turns == OVER)].sum() == pytest.approx(1)


@pytest.mark.parametrize(
    ("cards", "play_last"),
    [(3, False), (3, True), (4, False), (4, True), pytest.param(5, False), pytest.param(5, True)]
    + [pytest.param(6, last, marks=pytest.mark.heavy) for last in (False, True)],
)
def test_goofspiel_has_the_infosets_that_pairs_of_permutations_have(cards, play_last):
    row = next(row for row in ROWS if games.load(row.name) == games.GAMES["goofspiel"](cards, play_last=play_last))
    assert row.infosets == 2 * goofspiel_infosets(cards, cards if play_last else cards - 1)


def goofspiel_infosets(cards: int, turns: int) -> int:
    """What a seat may know before each of its turns: its own bids, and whether each was higher, lower or a tie."""
    known = set()
    for mine, other in itertools.product(itertools.permutations(range(cards)), repeat=2):
        results = tuple((a > b) - (a < b) for a, b in zip(mine, other, strict=True))
        known.update((mine[:turn], results[:turn]) for turn in range(turns))
    return len(known)
