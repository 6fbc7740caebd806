"""A policy network for the whole game of Doppelkopf: learned from card networks on, and played by `doko` and `net`."""

import numpy as np
import pytest

from kibitz.core.names import BadInput
from kibitz.doppelkopf.learn.card_network import CardPolicy, WholePolicy, card_policy, read_policy
from kibitz.doppelkopf.policy_announcements import PolicyAnnouncements
from kibitz.doppelkopf.rules.cards import KINDS
from kibitz.doppelkopf.rules.state import ANNOUNCING, CARDS, RESERVING
from kibitz.games import CHANCE, legal_actions, load, positions, view_of
from kibitz.jit import generators
from kibitz.nets.mlp import action_probs, new_layers, save_layers
from kibitz.nets.model_files import network_file
from kibitz.play.players import make, make_for
from kibitz.search.policies import heuristic_action, weighed
from kibitz.train.mmd.learner import Mmd
from kibitz.train.trainer import configured

GAME = load("doppelkopf")
START = "models/doppelkopf"


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """An untrained network."""
    path = tmp_path_factory.mktemp("whole") / "network.safetensors"
    save_layers(path, GAME, new_layers([GAME.facts.encoding, 8, GAME.facts.num_actions], np.random.default_rng(1)))
    return path


def state_in(phase, seed=1):
    """A position of a phase in which there is a choice."""
    state, rng = positions(GAME)[0], generators(seed, 1)[0]
    while GAME.turn(state) == CHANCE or state.phase != phase or len(legal_actions(GAME, state)) == 1:
        GAME.play(state, GAME.heuristic(state, rng))
    return state


def test_the_warm_up_plays_the_card_network_and_the_heuristic():
    values = {"start": START, "warmup": 1, "hidden": "128-64", "games": 2, "critic": "own", "device": "cpu"}
    learner = Mmd(configured("mmd", "doppelkopf", None, values), GAME)
    batch = learner.play(1)
    policy = card_policy(read_policy(network_file(START), "")[0])
    rngs = np.random.SeedSequence([1, 2, 1]).generate_state(4, np.uint64).reshape(2, 2)
    state, seen = positions(GAME)[0], set()
    for row in np.flatnonzero(batch.games == 0):
        while GAME.turn(state) == CHANCE:
            GAME.play(state, GAME.sample_action(state, rngs[0]))
        legal, phase, action = legal_actions(GAME, state), int(state.phase), int(batch.actions[row])
        played = batch.log_probs[row].exp().numpy()[legal]
        if phase == CARDS:
            np.testing.assert_allclose(played, weighed(GAME, policy, state, len(legal)), atol=1e-5)
        else:
            chosen = heuristic_action(GAME, state, generators(1, 1)[0])
            assert played.tolist() == [each == chosen for each in legal]
        seen.add(phase)
        GAME.play(state, action)
    assert {RESERVING, CARDS, ANNOUNCING} <= seen
    assert learner.update(1, batch)["kl"] > 0
    assert learner.start.known == KINDS
    own, before = (learner.start.policy(layers) for layers in (learner.network(), learner.start.layers))
    assert isinstance(own, WholePolicy)
    assert isinstance(before, CardPolicy)


@pytest.mark.parametrize("phase", [RESERVING, CARDS, ANNOUNCING])
def test_doko_plays_the_policy_in_all_phases(file, phase):
    state = state_in(phase)
    seat = GAME.turn(state)
    view, player = view_of(GAME, state, seat), make_for(f"doko:{file},simulations=2,worlds=2", GAME)
    player.begin(GAME, seat, 1)
    advice = player.advise(view)
    assert advice.best in legal_actions(GAME, state)
    assert isinstance(player.search.announcements, PolicyAnnouncements)
    layers = read_policy(file, START)[0].policy
    views = positions(GAME)
    views[0] = view
    np.testing.assert_allclose(advice.prior, action_probs(GAME, layers, views)[0, : len(advice.prior)], atol=1e-5)


def test_card_networks_announce_by_the_distribution_of_scores():
    player = make_for(f"doko:{START},simulations=2", GAME)
    player.begin(GAME, 0, 1)
    assert player.search.announcements is not None
    assert not isinstance(player.search.announcements, PolicyAnnouncements)
    with pytest.raises(BadInput, match="the policy network of models/doppelkopf knows cards only"):
        make(f"doko:{START},announcements=policy")


def test_networks_of_other_games_are_refused():
    with pytest.raises(BadInput, match="is a network for leduc, not for Doppelkopf"):
        make("doko:models/leduc")
