"""The hand evaluator: known counts of all hands, the order of phevaluator, and the best five of seven cards."""

import itertools

import numpy as np
import phevaluator
import pytest

from kibitz.jit import kernel
from kibitz.poker.rules.display import card_name, card_of, hand_name
from kibitz.poker.rules.evaluator import CATEGORY, KEYS, evaluate, value

# High card, pair, two pair, three, straight, flush, full house, four, straight flush; Wikipedia: Poker probability.
FIVE = [1_302_540, 1_098_240, 123_552, 54_912, 10_200, 5_108, 3_744, 624, 40]
SEVEN = [23_294_460, 58_627_800, 31_433_400, 6_461_620, 6_180_020, 4_047_644, 3_473_184, 224_848, 41_584]


def deals(count, cards, seed):
    """[cards, count]: random hands of different cards."""
    rng = np.random.default_rng(seed)
    return np.ascontiguousarray(rng.random((count, 52)).argpartition(cards)[:, :cards].T)


def values(cards):
    out = np.zeros(cards.shape[1], np.int64)
    evaluate(cards, out)
    return out


def test_all_hands_of_five_cards_have_the_known_category_counts():
    found = np.zeros(sum(FIVE), np.int64)
    assert all_fives(found) == len(found)
    assert np.bincount(found >> CATEGORY).tolist() == FIVE
    assert len(np.unique(found)) == 7462


def test_all_hands_of_seven_cards_have_the_known_category_counts():
    counts = np.zeros(9, np.int64)
    count_sevens(counts)
    assert counts.tolist() == SEVEN


@kernel
def all_fives(out):
    """Write the values of all hands of five cards; returns their number."""
    n = 0
    for a in range(52):
        for b in range(a):
            for c in range(b):
                for d in range(c):
                    for e in range(d):
                        out[n] = value(KEYS[a] + KEYS[b] + KEYS[c] + KEYS[d] + KEYS[e])
                        n += 1
    return n


@kernel
def count_sevens(counts):
    for a in range(52):
        for b in range(a):
            for c in range(b):
                for d in range(c):
                    for e in range(d):
                        five = KEYS[a] + KEYS[b] + KEYS[c] + KEYS[d] + KEYS[e]
                        for f in range(e):
                            for g in range(f):
                                counts[value(five + KEYS[f] + KEYS[g]) >> CATEGORY] += 1


@pytest.mark.parametrize(("cards", "count"), [(5, 10_000), (6, 10_000), (7, 200_000)])
def test_the_order_is_that_of_phevaluator(cards, count):
    """Compared in pairs, 100,000 of seven cards."""
    hands = deals(count, cards, cards)
    theirs = np.array([phevaluator.evaluate_cards(*hand) for hand in hands.T.tolist()])  # same numbers of cards
    ours = values(hands)
    assert np.array_equal(np.sign(ours[::2] - ours[1::2]), np.sign(theirs[1::2] - theirs[::2]))
    assert len(np.unique(ours)) == len(np.unique(theirs)) == len(np.unique(ours * 10_000 + theirs))


@pytest.mark.parametrize("cards", [6, 7])
def test_the_value_of_a_hand_is_that_of_its_best_five_cards(cards):
    hands = deals(5_000, cards, 3)
    fives = [values(hands[list(chosen)]) for chosen in itertools.combinations(range(cards), 5)]
    assert np.array_equal(values(hands), np.max(fives, axis=0))


@pytest.mark.parametrize("cards", [2, 5, 6, 7])
def test_compiled_values_equal_those_of_plain_python(cards):
    hands = deals(2_000, cards, 4)
    plain = [value(np.uint64(sum(int(KEYS[card]) for card in hand))) for hand in hands.T]
    assert values(hands).tolist() == plain


@pytest.mark.parametrize(
    ("cards", "name"),
    [
        ("Ah Kd", "ace high"),
        ("Ah Ad", "pair of aces"),
        ("Ah Kd 9c 7s 4h 3d 2c", "ace high"),
        ("6h 6d 9c 7s 4h Kd 2c", "pair of sixes"),
        ("6h 6d 9c 9s 4h 4d 2c", "two pair, nines and sixes"),
        ("6h 6d 6c 9s 4h Kd 2c", "three sixes"),
        ("Ah 2d 3c 4s 5h Kd Kc", "straight to the five"),
        ("Ah Td Jc Qs Kh 9d 8c", "straight to the ace"),
        ("Ah Td Jc 9s 8h 7d 6c", "straight to the jack"),
        ("Kh 2h 3h 4h 6h Kd Kc", "flush, king high"),
        ("Kh Kd Ks 6c 6h 2d 2c", "full house, kings over sixes"),
        ("Kh Kd Ks 6c 6h 6d 2c", "full house, kings over sixes"),
        ("Kh Kd Ks Kc 6h 6d 6c", "four kings"),
        ("Ah 2h 3h 4h 5h 6d 7c", "straight flush to the five"),
        ("9s Ts Js Qs Ks As Ad", "straight flush to the ace"),
        ("7c 6c 5c 4c 3c Ac Kc", "straight flush to the seven"),
    ],
)
def test_a_hand_has_its_name(cards, name):
    hand = np.array([[card_of(card)] for card in cards.split()])
    assert hand_name(int(values(hand)[0])) == name


def test_card_names_are_parsed_back():
    assert [card_of(card_name(card)) for card in range(52)] == list(range(52))
    assert [card_of(name) for name in ("2c", " aS ", "10h", "K♦")] == [0, 51, 34, 45]
    assert [card_of(name) for name in ("", "A", "Ahh", "1h", "Ax", "hA", "100h")] == [-1] * 7
