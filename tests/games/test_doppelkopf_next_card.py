"""Possible next cards from a seat's view, compared with an enumeration of all deals."""

from itertools import combinations

import numpy as np
import pytest

from kibitz.doppelkopf.rules.cards import CLASS, CLUB_QUEEN, KINDS
from kibitz.doppelkopf.rules.next_card import possible_next_cards
from kibitz.doppelkopf.rules.rules import playable
from kibitz.doppelkopf.rules.state import CARDS
from kibitz.games import load, positions
from kibitz.jit import generators

GAME = load("doppelkopf:thesis")
LATE = 36  # cards played, from where on all deals can be enumerated
DEALS = 4000
WHICH = CLASS[0].tolist()


def random_game(seed):
    """The actions of a random game."""
    rng, state, actions = generators(seed, 1)[0], positions(GAME)[0], []
    while GAME.turn(state) != -2:
        actions.append(int(GAME.sample_action(state, rng)))
        GAME.play(state, actions[-1])
    return actions


@pytest.fixture(scope="module")
def games():
    found = [random_game(seed) for seed in range(1, 5)]
    actions = np.full((len(found), GAME.facts.max_game_length), 255, np.uint8)
    for row, each in zip(actions, found, strict=True):
        row[: len(each)] = each
    return actions, np.array([len(each) for each in found])


@pytest.fixture(scope="module")
def found(games):
    return possible_next_cards(GAME, *games, DEALS, seed=1)


def cards_of(hand):
    return [kind for kind in range(KINDS) for _ in range(int(hand) >> 2 * kind & 3)]


def hands_that_fit(state, seat):
    """The mover's hand in each consistent deal of physical cards, from the view of a seat."""
    mover, others = int(state.to_move), [other for other in range(4) if other != seat]
    lacking = {other: set() for other in others}
    for i in range(int(state.count)):
        led, card = (int(CLASS[0, int(state.played[j])]) for j in (i & ~3, i))
        if card != led and (int(state.leaders[i >> 2]) + i & 3) != seat:
            lacking[int(state.leaders[i >> 2]) + i & 3].add(led)
    unseen = [kind for other in others for kind in cards_of(state.hands[other])]
    sizes = {other: len(cards_of(state.hands[other])) for other in others}

    def dealt(left, who):
        if not who:
            yield {}
            return
        for chosen in combinations(left, sizes[who[0]]):
            if not any(WHICH[unseen[card]] in lacking[who[0]] for card in chosen):
                for rest in dealt([card for card in left if card not in chosen], who[1:]):
                    yield {who[0]: [unseen[card] for card in chosen], **rest}

    return [deal[mover] for deal in dealt(list(range(len(unseen))), others)]


def turns(actions, length):
    """(position, card) for each card of a game."""
    state = positions(GAME)[0]
    for action in actions[:length].tolist():
        if state.phase == CARDS:
            yield state, action
        GAME.play(state, action)


def kinds_of(bits):
    return {kind for kind in range(KINDS) if int(bits) >> kind & 1}


def test_late_in_a_game_it_equals_the_enumeration_of_all_deals(games, found):
    checked = 0
    for i, (actions, length) in enumerate(zip(*games, strict=True)):
        for state, card in turns(actions, length):
            for seat in {0, 1, 2, 3} - {int(state.to_move)}:
                if state.count < LATE or len(cards_of(state.hands[seat])) > 3:
                    continue
                led = int(CLASS[0, int(state.played[int(state.count) & ~3])]) if state.count & 3 else None
                legal = []
                for hand in hands_that_fit(state, seat):
                    follows = {kind for kind in hand if WHICH[kind] == led}
                    legal.append(follows or set(hand))
                at = i, seat, int(state.count)
                assert kinds_of(found.possible[at]) == set.union(*legal)
                chances = [(card in each) / len(each) for each in legal]
                wrong = 5 * np.std(chances) / np.sqrt(DEALS) + 1e-6
                assert abs(found.random_accuracy[at] - np.mean(chances)) <= wrong
                checked += 1
    assert checked > 100


def test_for_its_own_cards_a_seat_knows_the_legal_ones(games, found):
    for i, (actions, length) in enumerate(zip(*games, strict=True)):
        for state, _ in turns(actions, length):
            seat, count = int(state.to_move), int(state.count)
            kinds = {kind for kind in range(KINDS) if playable(state, seat) >> 2 * kind & 1}
            assert kinds_of(found.possible[i, seat, count]) == kinds
            assert found.random_accuracy[i, seat, count] == pytest.approx(1 / len(kinds))


def test_the_card_that_was_played_is_always_possible(games, found):
    for i, (actions, length) in enumerate(zip(*games, strict=True)):
        for state, card in turns(actions, length):
            assert (found.possible[i, :, int(state.count)] >> card & 1).all()


def test_announced_marriages_are_evidence_only_if_asked_for():
    seed, actions = next((seed, each) for seed in range(1, 100) if 34 in (each := random_game(seed)))
    rows = np.array([actions], np.uint8)
    unknown, known = (
        possible_next_cards(GAME, rows, np.array([len(actions)]), 1, 1, marriages) for marriages in (False, True)
    )
    state, _ = next(turns(rows[0], len(actions)))
    bride, leader = int(state.bride), int(state.to_move)
    seat = next(seat for seat in range(4) if seat not in (bride, leader))
    assert CLUB_QUEEN in kinds_of(unknown.possible[0, seat, 0]), seed
    assert (CLUB_QUEEN in kinds_of(known.possible[0, seat, 0])) == (bride == leader)
