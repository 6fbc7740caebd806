"""Self-play in batches plays by the rules, in any threads, packed or not; and advantages are what they should be."""

from pathlib import Path

import numpy as np
import pytest
import torch

from kibitz.core.names import BadInput
from kibitz.games import CHANCE, OVER, legal_actions, load, positions
from kibitz.train.mmd.advantages import advantages
from kibitz.train.mmd.loss import log_policy
from kibitz.train.mmd.self_play import Part, joined
from kibitz.train.packing import to_bits


def streams(count, seed=1):
    return np.random.SeedSequence(seed).generate_state(2 * count, np.uint64).reshape(count, 2)


def uniform(encodings, legal):
    return log_policy(torch.zeros(legal.shape), legal)


def play(game, count, all_views=True, seed=1):
    return Part(game, count, all_views, torch.device("cpu")).play(streams(count, seed), uniform)


@pytest.mark.parametrize("name", ["kuhn", "leduc"])
def test_each_game_is_one_by_the_rules(name):
    """A slow twin plays the same actions with the same random streams, and sees the same."""
    game, count = load(name), 20
    batch, seeds = play(game, count), streams(count)
    width = game.facts.encoding
    for number in range(count):
        state, encoding = positions(game)[0], np.zeros(width, np.float32)
        for row in np.flatnonzero(batch.games == number):
            while game.turn(state) == CHANCE:
                game.play(state, game.sample_action(state, seeds[number]))
            turn = int(game.turn(state))
            assert turn == batch.seats[row]
            for view in range(2):
                game.observe(state, (turn + view) % 2, encoding)
                assert np.array_equal(encoding, batch.encodings[row, view * width : (view + 1) * width])
            assert batch.legal[row].nonzero()[:, 0].tolist() == sorted(legal_actions(game, state))
            assert batch.legal[row, batch.actions[row]]
            seeds_before = seeds[number].copy()
            game.play(state, int(batch.actions[row]))
            seeds[number] = after_one_draw(seeds_before)
        while game.turn(state) == CHANCE:
            game.play(state, game.sample_action(state, seeds[number]))
        assert game.turn(state) == OVER
        assert [game.payoff(state, seat) for seat in range(2)] == batch.payoffs[number].tolist()


def after_one_draw(rng):
    from kibitz.jit import uniform as draw

    draw(rng)
    return rng


def test_a_policy_is_followed():
    """Kuhn with a policy that bets three times of four: the frequencies are those."""
    game = load("kuhn")

    def mostly_bets(encodings, legal):
        return torch.log(torch.tensor([0.25, 0.75])).expand(len(legal), 2).float()

    batch = Part(game, 4000, False, torch.device("cpu")).play(streams(4000), mostly_bets)
    assert batch.encodings.shape[1] == game.facts.encoding
    assert batch.actions.float().mean().item() == pytest.approx(0.75, abs=0.02)


def test_parts_are_joined_as_if_they_were_one():
    game = load("kuhn")
    whole = joined([play(game, 5, seed=1), play(game, 3, seed=2)])
    assert sorted(set(whole.games.tolist())) == list(range(8))
    assert len(whole.payoffs) == 8
    assert all(len(getattr(whole, name)) == len(whole.games) for name in ("encodings", "legal", "actions", "seats"))
    assert np.array_equal(whole.payoffs[5:], play(game, 3, seed=2).payoffs)


def same_batches(one, other):
    arrays = [*zip(one[:7], other[:7], strict=True), *zip(one.trace or (), other.trace or (), strict=True)]
    return all(a.dtype == b.dtype and a.shape == b.shape and bool((a == b).all()) for a, b in arrays)


def by_view(encodings, legal):
    """A policy that depends on what is seen, in every place."""
    weights = torch.linspace(-1, 1, encodings.shape[1] * legal.shape[1]).reshape(encodings.shape[1], -1)
    return log_policy(encodings @ weights, legal)


@pytest.mark.parametrize("name", ["kuhn", "leduc", "goofspiel:5"])
@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("all_views", [False, True])
def test_packed_encodings_and_slices_give_the_same_batch(name, traced, all_views):
    game, explore = load(name), 0.25 * traced
    batches = [
        Part(game, 50, all_views, torch.device("cpu"), traced, explore, packed, slices).play(streams(50), by_view)
        for packed, slices in ((False, 1), (True, 1), (False, 3), (True, 4))
    ]
    assert (batches[0].encodings.dtype, batches[0].legal.dtype) == (torch.float32, torch.bool)
    assert all(same_batches(batches[0], other) for other in batches[1:])


@pytest.mark.parametrize("known", [0, 1])
def test_the_heuristic_plays_in_every_slice(known):
    one, many = (
        Part(load("kuhn"), 20, False, torch.device("cpu"), slices=slices).play(streams(20), uniform, known)
        for slices in (1, 3)
    )
    assert same_batches(one, many)


def test_other_numbers_are_not_packed_in_silence():
    """Nor is -0, which isn't 0 bit for bit."""
    for other in (0.5, 2, -1, -0.0, np.nan):
        numbers, out = np.array([0, 1, other], np.float32), np.zeros(3, np.uint8)
        assert to_bits(numbers[:2].view(np.uint32), out)
        assert out.tolist() == [0, 1, 0]
        assert not to_bits(numbers.view(np.uint32), out)
    rare = load(f"{Path(__file__).parents[1] / 'rare.py'}:RarePoker")  # 0.25, 7 or -0 for 3 cards of 250
    part = Part(rare, 3000, False, torch.device("cpu"), packed=True)
    with pytest.raises(BadInput, match="other numbers than 0 and 1"):
        part.play(streams(3000), uniform)
    part = Part(load("holdem"), 4, False, torch.device("cpu"), packed=True)
    with pytest.raises(BadInput, match="other numbers than 0 and 1"):
        part.play(streams(4), uniform)


def test_advantages_by_hand():
    """Two games of three seats; seat 0 decides twice in the first."""
    games, seats = np.array([0, 1, 0, 0], np.int32), np.array([0, 2, 1, 0], np.int8)
    values, payoffs = np.array([1.0, 2, 3, 4], np.float32), np.array([[10.0, 20, 30], [40, 50, 60]])
    assert advantages(games, seats, values, payoffs, 0.5).tolist() == [3 + 0.5 * 6, 58, 17, 6]
    assert advantages(games, seats, values, payoffs, 1.0).tolist() == [10 - 1, 58, 17, 6]
    assert advantages(games, seats, values, payoffs, 0.0).tolist() == [4 - 1, 58, 17, 6]
