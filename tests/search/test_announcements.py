"""Announcements, chosen by the distribution of final scores when all seats play by the heuristic."""

import math
from functools import partial

import numpy as np
import pytest

from kibitz.games import OVER, legal_actions, positions, view_of
from kibitz.jit import generators
from kibitz.play.players import make_for
from kibitz.search.announcements import Announcements
from kibitz.search.ensemble_uct import EnsembleUct
from kibitz.search.ismcts import SingleUct

from .dare import CARDS, Dare

SILENT, DOUBLE = 0, 1
ENSEMBLE = "ensemble-uct:4x50,exact=0"


def view_with(card, said=None):
    """Seat 0 holds the card and may announce; or seat 1, after an announcement of seat 0."""
    state = positions(Dare())[0]
    for action in (card, (card + 1) % CARDS) if said is None else ((card + 1) % CARDS, card, said):
        Dare().play(state, action)
    return view_of(Dare(), state, 0 if said is None else 1)


@pytest.mark.parametrize("card", range(CARDS))
def test_doubling_has_twice_the_value_and_is_announced_when_that_is_significantly_more(card):
    advice = Announcements(Dare(), worlds=2000).advise(view_with(card), 0, generators(1, 1)[0])
    share = card / (CARDS - 1)  # of the others are lower; by the heuristic seat 1 is silent, and seat 0 shows
    value = 2 * share - 1
    assert advice.actions.tolist() == [SILENT, DOUBLE]
    error = 2 * math.sqrt(share * (1 - share) / 2000)
    np.testing.assert_allclose(advice.won, share, atol=4 * error / 2 + 1e-9)
    np.testing.assert_allclose(advice.value, [value, 2 * value], atol=8 * error + 1e-9)
    np.testing.assert_allclose(advice.error, [error, 2 * error], rtol=0.1, atol=1e-9)
    assert advice.value[DOUBLE] == 2 * advice.value[SILENT]  # in the same worlds
    if abs(value) > 0.2:  # four standard errors
        assert advice.best == (DOUBLE if value > 0 else SILENT)


def test_earlier_announcements_count():
    best = CARDS - 1
    for said, value in ((SILENT, 1.0), (DOUBLE, 2.0)):
        view = view_with(best, said)
        advice = Announcements(Dare()).advise(view, 1, generators(1, 1)[0])
        assert advice.value.tolist() == [value, 2 * value]
        assert advice.best == DOUBLE


def test_a_difference_within_noise_is_not_announced():
    """A hand of a value near 0, in ever new worlds."""
    announcements, rng = Announcements(Dare(), worlds=50), generators(2, 1)[0]
    said = [announcements.advise(view_with(4), 0, rng).best for _ in range(300)]  # its value is -1/9
    assert np.mean(said) < 0.05


@pytest.mark.parametrize("search", [partial(EnsembleUct, exact=0), SingleUct])
def test_searches_choose_announcements_by_scores_and_search_the_other_moves(search):
    game = Dare()
    found = search(game, 1, announcements="distribution")
    assert found.advise(view_with(8), 0, 100).won is not None
    assert found.advise(view_with(8), 0, 100).best == DOUBLE
    state = positions(game)[0]
    for action in (8, 3, DOUBLE, SILENT):
        game.play(state, action)
    advice = found.advise(view_of(game, state, 0), 0, 500)
    assert advice.won is None
    assert advice.best == 0  # show
    in_tree = search(game, 1, announcements="tree").advise(view_with(8), 0, 2000)
    assert in_tree.won is None
    assert in_tree.best == DOUBLE


@pytest.mark.parametrize("text", [ENSEMBLE, f"{ENSEMBLE},announcements=tree", "single-uct:200", "heuristic"])
def test_players_play_games_with_announcements_to_their_end(text):
    game = Dare()
    player = make_for(text, game)
    for seed in range(5):
        state, rng = positions(game)[0], generators(seed, 1)[0]
        player.begin(game, 0, seed)
        while game.turn(state) != OVER:
            mine = game.turn(state) == 0
            action = player.move(view_of(game, state, 0)) if mine else game.sample_action(state, rng)
            assert action in legal_actions(game, state)
            game.play(state, action)
