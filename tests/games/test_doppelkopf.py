"""Doppelkopf: comparison with a slow twin, invariants, scores, determinizations and hidden information."""

import itertools
import math
from collections import Counter
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.stats import chisquare

from kibitz import games, jit
from kibitz.doppelkopf.rules import Doppelkopf, deals, scoring
from kibitz.doppelkopf.rules.state import CARDS as CARD_PHASE
from kibitz.games import CHANCE, OVER

from . import doppelkopf_twin as twin
from .doppelkopf_twin import CARDS, KONTRA, MOVES, NUMBER, RE, Count, Rules
from .walks import same, view_of

RARE = 1e-4
SILENT, HIGHEST = NUMBER["silent"], len(MOVES)
SAVED = np.array([card in ("♥10", "♣J", "♣Q") for card in CARDS])  # kept for the last trick, in every other game
OFTEN = np.zeros((2, HIGHEST))  # [solos, move]: probability of this move where it is legal; else a random one
OFTEN[:, NUMBER["healthy"]] = 0.3, 0.8
OFTEN[:, NUMBER["marriage"]] = 0.7

TABLES = {  # rules by name
    "tournament": Doppelkopf(),
    "thesis": games.load("doppelkopf:thesis"),
    "thesis, with calls": games.load("doppelkopf:thesis")._replace(calls=2),
    "calls at one's turn": Doppelkopf(calls=1),
    "no calls": Doppelkopf(calls=0),
    "without nines": Doppelkopf(nines=False),
    "second ten": Doppelkopf(second_ten=1),
    "second ten, but the last trick": Doppelkopf(second_ten=2, nines=False, calls=1),
    "charlie caught": Doppelkopf(charlie_caught=True, solos=False),
    "without (e)": Doppelkopf(against=False),
    "pigs": Doppelkopf(pigs=True, calls=1),
    "pigs, second ten": Doppelkopf(pigs=True, second_ten=1, nines=False, solos=False),
    "compulsory solos": Doppelkopf(owed=0b0110),
    "a forced solo": Doppelkopf(owed=0b1101, forced=2),
}
every_table = pytest.mark.parametrize("game", [pytest.param(game, id=name) for name, game in TABLES.items()])


def rules_of(game: Any) -> Rules:
    return Rules(**{key: getattr(game, key) for key in Rules._fields})


def names_in(hand: int) -> list[str]:
    """The cards of a hand with two bits per kind."""
    return [CARDS[kind] for kind in range(24) for _ in range(hand >> 2 * kind & 3)]


# ---------------------------------------------------------------- random games


class Log(NamedTuple):
    """Many games, turn by turn: [game, turn]."""

    hands: np.ndarray  # [game, seat], as dealt
    seats: np.ndarray
    legal: np.ndarray  # bit a: action a is legal
    actions: np.ndarray
    turns: np.ndarray  # [game]: number of turns
    ends: np.ndarray  # [game]: the last position
    payoffs: np.ndarray  # [game, seat]
    rewards: np.ndarray


def random_games(game: Any, count: int, seed: int) -> Log:
    """Random games, but mostly silent and healthy: else everything would be announced before the first card."""
    room = game.facts.max_game_length
    log = Log(
        np.zeros((count, 4), np.uint64),
        np.zeros((count, room), np.int8),
        np.zeros((count, room), np.uint64),
        np.zeros((count, room), np.int8),
        np.zeros(count, np.int64),
        np.zeros(count, game.state),
        np.zeros((count, 4)),
        np.zeros((count, 4)),
    )
    play_at_random(game, jit.generators(seed, 1)[0], np.zeros(64, np.int64), *log)
    return log


@jit.kernel
def play_at_random(game, rng, out, hands, seats, legal, actions, turns, ends, payoffs, rewards):
    for number in range(len(ends)):
        state = ends[number]
        game.start(state)
        while game.turn(state) == CHANCE:
            game.play(state, game.sample_action(state, rng))
        for seat in range(4):
            hands[number, seat] = state.hands[seat]
        calm = (0.5, 0.8, 0.95, 0.99)[jit.below(rng, 4)]
        turn = 0
        while game.turn(state) != OVER:
            n = game.actions(state, out)
            action = out[jit.below(rng, n)]
            while number % 2 and action < len(SAVED) and SAVED[action] and jit.uniform(rng) < 0.9:
                action = out[jit.below(rng, n)]
            if action > SILENT and jit.uniform(rng) < 0.6:
                action = next_call(out, n)
            for i in range(n):
                legal[number, turn] |= np.uint64(1) << np.uint64(out[i])
                if jit.uniform(rng) < (calm if out[i] == SILENT else OFTEN[int(game.solos), out[i]]):
                    action = out[i]
            seats[number, turn] = game.turn(state)
            actions[number, turn] = action
            turn += 1
            game.play(state, action)
        turns[number] = turn
        for seat in range(4):
            payoffs[number, seat] = game.payoff(state, seat)
            rewards[number, seat] = game.reward(state, seat)


@jit.helper
def next_call(out, n):
    """The lowest legal announcement."""
    action = np.int64(HIGHEST)
    for i in range(n):
        if SILENT < out[i] < action:
            action = out[i]
    return action


def moves_of(log: Log, number: int) -> list[tuple[int, str]]:
    turns = log.turns[number]
    said = (MOVES[action] for action in log.actions[number, :turns].tolist())
    return list(zip(log.seats[number, :turns].tolist(), said, strict=True))


def follow_with_the_twin(game: Any, log: Log, seen: Counter) -> None:
    """Compare every game with the twin, move by move: mover, legal moves, winners of tricks, scores."""
    rules = rules_of(game)
    hands, seats, legal, actions = (column.tolist() for column in log[:4])
    leaders, tricks, points = (log.ends[field].tolist() for field in ("leaders", "tricks", "points"))
    bits = {move: 1 << number for move, number in NUMBER.items()}
    for number, turns in enumerate(log.turns.tolist()):
        other = twin.Game(rules, [names_in(hand) for hand in hands[number]])
        for turn in range(turns):
            where = f"game {number}, turn {turn}"
            assert seats[number][turn] == other.mover, where
            allowed = sum(bits[move] for move in other.options)
            assert legal[number][turn] == allowed, f"{where}: {other.options}"
            other.move(MOVES[actions[number][turn]])
        assert other.mover is None
        assert leaders[number][1 : len(other.tricks)] == [trick.winner for trick in other.tricks[:-1]]
        assert tricks[number] == [sum(trick.winner == seat for trick in other.tricks) for seat in range(4)]
        assert points[number] == [
            sum(twin.POINTS[card] for trick in other.tricks if trick.winner == seat for _, card in trick.cards)
            for seat in range(4)
        ]
        scores, counted = other.scores(), other.count()
        assert log.payoffs[number].tolist() == scores, f"game {number}: {twin.score_sheet(counted, rules)}"
        assert log.rewards[number].tolist() == [
            score + (counted.points[other.party(seat)] - 120) / 500 for seat, score in enumerate(scores)
        ]
        seen.update(kinds_of(other))


def kinds_of(game: twin.Game) -> list[str]:
    """Features of a game, for a test that all of them occur."""
    kind = "solo" if game.solo else "marriage" if game.bride is not None else "normal"
    found = [f"{kind}, alone" if game.alone else kind, f"settled {game.settled}"]
    found += [f"{party} {game.level[party]}" for party in (RE, KONTRA)]
    found += [f"late {party}" for party in (RE, KONTRA) if game.late[party]]
    found += [name for name, _ in game.extras()]
    found += ["pigs"] if game.pigs is not None else []
    if not any(twin.wins(party, game.count()) for party in (RE, KONTRA)):
        found.append("nobody wins")
    return found


@every_table
def test_random_games_agree_with_the_twin(game):
    preset = game in (TABLES["tournament"], TABLES["thesis"], TABLES["thesis, with calls"])
    follow_with_the_twin(game, random_games(game, 2000 if preset else 170, seed=1), Counter())


@pytest.mark.heavy
@every_table
def test_many_random_games_agree_with_the_twin(game):
    for seed in range(17):
        follow_with_the_twin(game, random_games(game, 500, seed=100 + seed), Counter())  # 119,000 in all


def test_random_games_cover_all_features():
    seen = Counter()
    for game in (Doppelkopf(charlie_caught=True), Doppelkopf(charlie_caught=True, solos=False, pigs=True)):
        follow_with_the_twin(game, random_games(game, 800, seed=2), seen)
    wanted = ["normal", "normal, alone", "marriage", "marriage, alone", "solo, alone", "nobody wins", "late Re"]
    wanted += ["late Kontra", "a fox caught", "a trick of 40", "♣J takes the last trick", "♣J caught in the last trick"]
    wanted += [f"{party} {level}" for party in (RE, KONTRA) for level in range(-1, 5)]
    wanted += [f"settled {trick}" for trick in (1, 2, 3)]
    wanted += ["pigs"]
    assert [kind for kind in wanted if not seen[kind]] == []


def side_by_side(game: Any, hands: list[list[str]], *moves: str) -> twin.Game:
    """The twin after these moves; before each, mover and legal moves of the game are the same."""
    other, state = twin.Game(rules_of(game), hands), dealt(game, hands)
    for move in [*moves, ""]:
        assert game.turn(state) == other.mover
        assert sorted(games.legal_actions(game, state)) == sorted(NUMBER[option] for option in other.options)
        if move:
            other.move(move)
            game.play(state, NUMBER[move])
    return other


THREE_TRICKS = ["♥10", "♦10", "♦K", "♥J", "♥10", "♦9", "♠J", "♥Q", "♣Q", "♦9", "♠Q", "♥Q"]


@pytest.mark.parametrize("taken", range(4))
def test_a_marriage_is_settled_by_the_first_trick_of_another_or_after_three(taken):
    """The bride wins `taken` tricks, then another seat wins one: announcements begin, with later deadlines."""
    hands = some_hands("♣Q ♣Q ♥10 ♥10 ♦J ♦J", "♦9 ♦9 ♦10", "♠Q ♠J ♦K ♠J", "♥Q ♥Q ♥J ♥J")
    married = ["reservation", "healthy", "healthy", "healthy", "marriage"]
    lost = [["♦J", "♦10", "♠Q", "♥J"], ["♦J", "♦9", "♠Q", "♥Q"], ["♦J", "♦9", "♠Q", "♥J"]]
    cards = THREE_TRICKS[: 4 * taken] + (lost[taken] if taken < 3 else [])
    other = side_by_side(Doppelkopf(), hands, *married, *cards)
    assert other.settled == min(taken + 1, 3)
    assert other.alone == (taken == 3)
    assert other.options[:2] == ["silent", "Re/Kontra"]
    assert len(other.hands[0]) == 12 - other.settled
    side_by_side(Doppelkopf(), hands, *married, *cards, "Re/Kontra", "silent", "silent")


# ---------------------------------------------------------------- scores

CHECKS = [  # Re's points and tricks, level of Re and of Kontra (-1 none, 0 Re/Kontra, 1-4 no 90 to black), score for Re
    (121, 6, -1, -1, 1),
    (120, 6, -1, -1, -2),
    (120, 6, -1, 0, 3),
    (119, 6, -1, 0, -4),
    (120, 6, 0, -1, -4),
    (120, 6, 0, 0, -6),
    (121, 6, 0, 0, 5),
    (151, 6, 1, -1, 5),
    (150, 6, 1, -1, -5),
    (120, 6, 1, -1, -6),
    (170, 6, 2, -1, -6),
    (150, 6, 2, -1, -7),
    (0, 0, -1, -1, -6),
    (90, 6, -1, 1, 4),
    (95, 6, -1, 1, 4),
    (120, 6, -1, 1, 5),
    (89, 6, -1, 1, -6),
    (125, 6, 0, 1, 7),
    (120, 6, 1, 1, 0),
    (130, 6, 1, 1, 1),
    (100, 6, 1, 2, 0),
    (211, 6, 3, -1, 9),
    (240, 12, 4, -1, 11),
    (240, 11, 4, -1, -8),
    (240, 12, -1, -1, 5),
    (240, 11, -1, -1, 4),
]
NAMES_OF_EXTRAS = ("a trick of 40", "a fox caught", "♣J takes the last trick", "♣J caught in the last trick")


def counted(points, tricks, re, kontra, alone=False, extras=()) -> Count:
    return Count(
        {RE: points, KONTRA: 240 - points}, {RE: tricks, KONTRA: 12 - tricks}, {RE: re, KONTRA: kontra}, alone, extras
    )


def for_the_game(count: Count, rules: Rules) -> tuple:
    """The arguments of the game's `scoring.value`."""
    extras = sum(1 << 4 * (2 * NAMES_OF_EXTRAS.index(name) + (party == KONTRA)) for name, party in count.extras)
    return (
        count.points[RE], count.tricks[RE], count.tricks[KONTRA], count.level[RE], count.level[KONTRA],
        count.alone, rules.against, extras,
    )  # fmt: skip


def value_of(count: Count, rules: Rules = Rules()) -> int:  # noqa: B008
    """The score of each player of Re; the twin, the game and its score sheet agree."""
    value = twin.value_for_re(count, rules)
    assert scoring.value(*for_the_game(count, rules)) == value
    assert sum(points for _, points in scoring.sheet(*for_the_game(count, rules))) == value
    return value


@pytest.mark.parametrize(("points", "tricks", "re", "kontra", "value"), CHECKS)
def test_scores_of_the_reference_table(points, tricks, re, kontra, value):
    assert value_of(counted(points, tricks, re, kontra)) == value


def test_a_fox_and_a_trick_of_forty_outweigh_a_won_game():
    extras = (("a fox caught", KONTRA), ("a trick of 40", KONTRA))
    assert value_of(counted(130, 6, -1, -1, extras=extras)) == -1
    assert (
        value_of(counted(130, 6, -1, -1, alone=True, extras=extras)) == 1
    )  # extra points don't count against a player who is alone


@pytest.mark.parametrize(("points", "re", "kontra", "value"), [(121, 0, -1, 3), (85, -1, -1, -2), (120, -1, 0, 3)])
def test_scores_of_solos(points, re, kontra, value):
    """The soloist gets three times as much: +9 and -3, -6 and +2, +9 and -3."""
    assert value_of(counted(points, 6, re, kontra, alone=True)) == value


def test_all_scores_agree_with_the_twin():
    """All points and announcements, one against three or not, with (e) or without."""
    cases, expected = [], []
    extras = [(), (("a fox caught", KONTRA),), (("a trick of 40", RE),) * 3, (("♣J takes the last trick", RE),)]
    for points, re, kontra, alone, against in itertools.product(
        range(241), range(-1, 5), range(-1, 5), (False, True), (False, True)
    ):
        for tricks in {0: (0, 1), 240: (11, 12)}.get(points, (6,)):
            count = counted(points, tricks, re, kontra, alone, extras[(points + re) % 4])
            rules = Rules(against=against)
            cases.append(for_the_game(count, rules))
            expected.append(twin.value_for_re(count, rules))
    values = np.zeros(len(cases), np.int64)
    add_up(np.array(cases, np.int64), values)
    assert values.tolist() == expected


@jit.kernel
def add_up(cases, values):
    for i in range(len(cases)):
        points, re_tricks, kontra_tricks, re, kontra, alone, against, extras = cases[i]
        values[i] = scoring.value(points, re_tricks, kontra_tricks, re, kontra, alone != 0, against != 0, extras)


# ---------------------------------------------------------------- invariants


@every_table
def test_every_game_keeps_the_invariants(game):
    log = random_games(game, 1_000, seed=3)
    scores, ends = log.payoffs, log.ends
    tricks = 12 if game.nines else 10
    assert (scores.sum(axis=1) == 0).all()
    assert (ends["points"].sum(axis=1) == 240).all()
    assert (ends["tricks"].sum(axis=1) == tricks).all()
    deck = [0 if CARDS[kind][1:] == "9" and not game.nines else 2 for kind in range(24)]
    for played in ends["played"]:
        assert np.bincount(played[: 4 * tricks], minlength=24).tolist() == deck
    assert not ends["hands"].any()
    sizes = np.sort(np.abs(scores), axis=1)
    together = sizes[:, 0] == sizes[:, 3]  # partners have the same score
    alone = sizes[:, 3] == 3 * sizes[:, 0]  # a player who is alone wins or loses three times that
    assert (together | alone).all()
    assert together.any() or game.forced >= 0
    assert alone.any()
    for row in scores[together & ~alone]:
        assert sorted(np.sign(row)) == [-1, -1, 1, 1]
    for row in scores[alone & ~together]:
        assert row.max() == -3 * row.min() or row.min() == -3 * row.max()
    assert (scores % 2 == scores[:, :1] % 2).all()  # parity: all four are odd, or all are even
    low, high = game.facts.payoffs
    assert low <= scores.min()
    assert scores.max() <= high


def test_rewards_are_scores_and_then_points():
    log = random_games(Doppelkopf(), 200, seed=4)
    points = 500 * (log.rewards - log.payoffs) + 120
    assert ((points > -0.01) & (points < 240.01)).all()
    as_published = [(500 * reward + 120 + 4000) / 8240 for reward in Doppelkopf().facts.rewards]  # 500 * score + points
    assert as_published == pytest.approx([0, 1])


def test_the_highest_payoff_is_what_the_rules_allow():
    """A soloist with all tricks: won, four grades, all announcements of both parties, points against the others."""
    for calls, against, score in ((0, True, 5), (0, False, 5), (1, False, 17), (2, True, 21)):
        level = 4 if calls else -1
        assert scoring.value(240, 12, 0, level, level, True, against, 0) == score
        assert Doppelkopf(calls=calls, against=against).facts.payoffs == (-3.0 * score, 3.0 * score)


def test_rotating_the_seats_rotates_the_scores():
    """All hands move on by one seat, as does the forced solo: nothing else changes."""
    for forced in range(4):
        game = Doppelkopf(calls=1, owed=1 << forced, forced=forced)
        turned = game._replace(owed=1 << (forced + 1) % 4, forced=(forced + 1) % 4)
        log = random_games(game, 10, seed=5)
        for number in range(10):
            hands = [names_in(hand) for hand in log.hands[number].tolist()]
            state = dealt(turned, hands[3:] + hands[:3])
            for seat, move in moves_of(log, number):
                assert turned.turn(state) == (seat + 1) % 4
                turned.play(state, NUMBER[move])
            assert [turned.payoff(state, (seat + 1) % 4) for seat in range(4)] == log.payoffs[number].tolist()


def test_suits_are_interchangeable_where_nothing_is_trump():
    game = Doppelkopf(owed=1, forced=0)
    log = random_games(game, 200, seed=6)
    follow = [number for number in range(200) if log.actions[number, 0] == NUMBER["fleischlos"]]
    assert len(follow) > 10
    for number in follow:
        change = str.maketrans("♣♠♥♦", "♥♦♠♣")
        state = dealt(
            game, [[card.translate(change) for card in names_in(hand)] for hand in log.hands[number].tolist()]
        )
        for _, move in moves_of(log, number):
            action = NUMBER[move.translate(change) if move in CARDS else move]
            assert action in games.legal_actions(game, state)
            game.play(state, action)
        assert [game.payoff(state, seat) for seat in range(4)] == log.payoffs[number].tolist()


def broken(game, seed, count):
    scratch = np.zeros(1, game.state), np.zeros(24, np.int64)
    return count_broken(game, jit.generators(seed, 1)[0], count, game.facts.max_game_length, *scratch)


@jit.kernel
def count_broken(game, rng, count, max_game_length, states, played):
    """The number of random games with something impossible: a card that isn't held, no end, a wrong sum."""
    state, broken = states[0], 0
    for _ in range(count):
        game.start(state)
        played[:] = 0
        turns, fine = 0, True
        while game.turn(state) != OVER and turns <= max_game_length:
            seat, action = game.turn(state), game.sample_action(state, rng)
            if state.phase == CARD_PHASE:
                fine &= action < 24 and int(state.hands[seat]) >> 2 * action & 3 > 0
                played[action] += 1
            game.play(state, action)
            turns += 1
        points, tricks, left, scores = 0, 0, 0, 0
        for seat in range(4):
            points += state.points[seat]
            tricks += state.tricks[seat]
            left |= state.hands[seat]
            scores += state.scores[seat]
        for kind in range(24):
            fine &= played[kind] == (2 if game.nines or kind % 6 else 0)
        fine &= turns <= max_game_length and points == 240 and 4 * tricks == state.count and left == 0 and scores == 0
        broken += not fine
    return broken


@pytest.mark.heavy
@every_table
def test_ten_million_random_games_are_consistent(game):
    count = -(-10_000_000 // len(TABLES))
    assert broken(game, 17, count) == 0


@every_table
def test_random_games_are_consistent(game):
    assert broken(game, 18, 2000) == 0


# ---------------------------------------------------------------- deals


def dealt(game: Any, hands: list[list[str]]) -> Any:
    """The position after chance has dealt these hands."""
    (state,) = games.positions(game)
    left = [list(hand) for hand in hands]
    while game.turn(state) == CHANCE:
        probe = state.copy()
        game.play(probe, games.legal_actions(game, probe)[0])
        (seat,) = np.flatnonzero(probe.hands != state.hands)
        game.play(state, NUMBER[left[seat].pop()])
    assert [sorted(names_in(int(hand))) for hand in state.hands] == [sorted(hand) for hand in hands]
    return state


def after(game: Any, hands: list[list[str]], *moves: str) -> Any:
    state = dealt(game, hands)
    for move in moves:
        assert NUMBER[move] in games.legal_actions(game, state)
        game.play(state, NUMBER[move])
    return state


def some_hands(*wanted: str, seed: int = 1) -> list[list[str]]:
    """Hands with the wanted cards of each seat, filled up at random, but with no more ♣Q or ♥10 for seat 0."""
    deck = 2 * CARDS
    hands = [text.split() for text in wanted] + [[] for _ in range(4 - len(wanted))]
    for card in itertools.chain(*hands):
        deck.remove(card)
    np.random.default_rng(seed).shuffle(deck)
    deck.sort(key=lambda card: card in ("♣Q", "♥10"))
    for hand in hands:
        missing = 12 - len(hand)
        hand += deck[:missing]
        del deck[:missing]
    return hands


def draw(game: Any, view: Any, seat: int, count: int, seed: int) -> np.ndarray:
    """[draw, seat]: hands of determinizations."""
    notes, world, hands = np.zeros(game.facts.notes), np.zeros(1, game.state), np.zeros((count, 4), np.int64)
    views = np.zeros(1, game.state)
    views[0] = view
    assert draw_hands(game, views, seat, notes, jit.generators(seed, 1)[0], world, hands) == count
    return hands


@jit.kernel
def draw_hands(game, views, seat, notes, rng, world, hands):
    game.prepare(views[0], seat, notes)
    for i in range(len(hands)):
        if not game.determinize(views[0], seat, notes, rng, world[0]):
            return i
        for other in range(4):
            hands[i, other] = world[0].hands[other]
    return len(hands)


def copies(hands: np.ndarray, card: str) -> np.ndarray:
    """[draw, seat]: number of copies of a card."""
    return hands >> 2 * CARDS.index(card) & 3


def agrees(share: float, expected: float, draws: int) -> bool:
    return abs(share - expected) < 4 * math.sqrt(expected * (1 - expected) / draws)


DRAWS = 40_000
ALL_HEALTHY = ["healthy"] * 4
NO_CALLS = Doppelkopf(calls=0)


def test_chance_deals_both_queens_of_clubs_to_one_hand_in_11_of_47_games():
    hands = random_games(NO_CALLS, DRAWS // 2, seed=7).hands.astype(np.int64)
    for card in ("♣Q", "♥10", "♠9"):
        assert agrees((copies(hands, card) == 2).any(axis=1).mean(), 11 / 47, len(hands))


def test_probability_of_both_unseen_copies_in_one_hand():
    """3 * 66 of 630 pairs of places, 0.3143, for any kind of which the seat holds none."""
    state = after(NO_CALLS, some_hands(), *ALL_HEALTHY)
    hands = draw(NO_CALLS, view_of(NO_CALLS, state, 0), 0, DRAWS, 8)
    assert (hands[:, 0] == int(state.hands[0])).all()
    for card in ("♥10", "♣Q"):
        assert agrees((copies(hands, card) == 2).any(axis=1).mean(), 198 / 630, DRAWS)


def ways_of(game: Any, view: Any, seat: int) -> int:
    notes = np.zeros(game.facts.notes)
    game.prepare(view, seat, notes)
    return int(notes[deals.WAYS])


def test_number_of_deals_at_the_opening():
    state = after(NO_CALLS, some_hands(), *ALL_HEALTHY)
    for seat in range(4):
        ways = ways_of(NO_CALLS, view_of(NO_CALLS, state, seat), seat)
        assert ways == math.factorial(36) // math.factorial(12) ** 3 == 3_384_731_762_521_200


def test_a_seat_that_announced_re_holds_a_queen_of_clubs():
    """At least one of both is in the announcer's 12 of 36 places: both are in 66 of 630 - 276 cases."""
    game = Doppelkopf()
    state = after(game, some_hands("", "♣Q", "♣Q"), *ALL_HEALTHY, "silent", "Re/Kontra")
    hands = draw(game, view_of(game, state, 0), 0, DRAWS, 9)
    queens = copies(hands, "♣Q")
    assert (queens[:, 1] >= 1).all()
    assert agrees((queens[:, 1] == 2).mean(), 66 / 354, DRAWS)
    assert agrees((queens[:, 2] == 1).mean(), 144 / 354, DRAWS)


def test_a_seat_that_announced_kontra_holds_no_queen_of_clubs():
    game = Doppelkopf()
    state = after(game, some_hands("", "", "♣Q", "♣Q"), *ALL_HEALTHY, "silent", "Re/Kontra")
    queens = copies(draw(game, view_of(game, state, 0), 0, DRAWS, 10), "♣Q")
    assert not queens[:, 1].any()
    assert agrees((queens[:, 2] == 1).mean(), 144 / 276, DRAWS)


def test_a_seat_that_named_a_marriage_holds_both_even_if_a_solo_is_played():
    hands = some_hands("", "♣Q ♣Q")
    said = ["healthy", "reservation", "healthy"]
    for moves in ([*said, "healthy", "marriage"], [*said, "reservation", "marriage", "jacks"]):
        state = after(NO_CALLS, hands, *moves)
        assert (copies(draw(NO_CALLS, view_of(NO_CALLS, state, 0), 0, 1_000, 11), "♣Q")[:, 1] == 2).all()
    state = after(NO_CALLS, hands, *said, "reservation")  # not named yet: with solos it is no evidence
    assert agrees(
        (copies(draw(NO_CALLS, view_of(NO_CALLS, state, 0), 0, DRAWS, 12), "♣Q")[:, 1] == 2).mean(), 66 / 630, DRAWS
    )


def test_without_solos_a_reservation_is_a_marriage():
    game = games.load("doppelkopf:thesis")
    state = after(game, some_hands("", "♣Q ♣Q"), "healthy", "reservation")
    assert (copies(draw(game, view_of(game, state, 0), 0, 1_000, 13), "♣Q")[:, 1] == 2).all()


def could_determinize(game: Any, view: Any, seat: int) -> bool:
    notes, world = np.zeros(game.facts.notes), np.zeros(1, game.state)[0]
    game.prepare(view, seat, notes)
    return bool(game.determinize(view, seat, notes, jit.generators(1, 1)[0], world))


def exchange(hand: int, away: str, here: str) -> int:
    return hand - (1 << 2 * CARDS.index(away)) + (1 << 2 * CARDS.index(here))


def test_contradictory_evidence_has_no_deal():
    game = Doppelkopf()
    state = after(game, some_hands("", "♣Q", "♣Q"), *ALL_HEALTHY, "silent", "Re/Kontra")
    view = view_of(game, state, 0)
    assert could_determinize(game, view, 0)
    first, second = list(dict.fromkeys(names_in(int(view.hands[0]))))[:2]
    view.hands[0] = exchange(exchange(int(view.hands[0]), first, "♣Q"), second, "♣Q")
    assert not could_determinize(game, view, 0)  # both queens are here, and seat 1 called Re


def test_voids_that_leave_no_room_have_no_deal():
    """All others are void in ♠, and yet not all ♠ are seen."""
    spades = [card for card in 2 * CARDS if twin.SUIT["normal"][card] == "♠"]
    trumps = [card for card in 2 * CARDS if twin.SUIT["normal"][card] == "trump"]
    rest = [card for card in 2 * CARDS if twin.SUIT["normal"][card] in "♣♥"]
    hands = [spades + rest[:4], trumps[:12], trumps[12:24], trumps[24:] + rest[4:]]
    state = after(NO_CALLS, hands, *ALL_HEALTHY, "♠A", hands[1][0], hands[2][0], hands[3][-1])
    view = view_of(NO_CALLS, state, 0)
    assert could_determinize(NO_CALLS, view, 0)
    view.hands[0] = exchange(int(view.hands[0]), "♠K", "♥K")
    assert not could_determinize(NO_CALLS, view, 0)


# ---------------------------------------------------------------- deals compared with brute force


def splits(kinds: list[tuple[str, int]], room: dict[int, int]) -> Any:
    """Every way to deal unseen cards into hands with these free places, with its number of physical deals."""
    if not kinds:
        yield {seat: [] for seat in room}, 1
        return
    (card, n), *rest = kinds
    for counts in itertools.product(*(range(min(n, space) + 1) for space in room.values())):
        if sum(counts) == n:
            ways = math.factorial(n) // math.prod(map(math.factorial, counts))
            less = {seat: room[seat] - count for seat, count in zip(room, counts, strict=True)}
            for hands, weight in splits(rest, less):
                given = {seat: hands[seat] + [card] * count for seat, count in zip(room, counts, strict=True)}
                yield given, ways * weight


class Place(NamedTuple):
    """A stage of a recorded game."""

    game: Any
    hands: list[list[str]]  # as dealt
    moves: list[tuple[int, str]]
    seat: int  # the viewer

    @property
    def played(self) -> list[list[str]]:
        return [[move for seat, move in self.moves if seat == who and move in CARDS] for who in range(4)]

    @property
    def steps(self) -> list[twin.Step]:
        return twin.story(rules_of(self.game), self.hands, self.moves)

    @property
    def state(self) -> Any:
        return after(self.game, self.hands, *(move for _, move in self.moves))

    def deals(self) -> dict[tuple[int, ...], int]:
        """Possible hands of the others -> number of deals; each is checked against the whole history by the twin."""
        played, steps = self.played, self.steps
        others = [seat for seat in range(4) if seat != self.seat]
        unseen = Counter(itertools.chain(*(self.hands[seat] for seat in others)))
        unseen -= Counter(itertools.chain(*(played[seat] for seat in others)))
        found = {}
        for given, ways in splits(list(unseen.items()), {seat: 12 - len(played[seat]) for seat in others}):
            hands = [self.hands[seat] if seat == self.seat else given[seat] + played[seat] for seat in range(4)]
            if twin.could_be(rules_of(self.game), hands, steps):
                found[tuple(as_number(given[seat]) for seat in others)] = ways
        return found


def as_number(cards: list[str]) -> int:
    return sum(1 << 2 * CARDS.index(card) for card in cards)


def places(game: Any, seed: int, count: int, unseen: range, wanted: Any = lambda place: True) -> list[Place]:
    """Stages with a number of unseen cards in `unseen`, one per game."""
    log, found = random_games(game, 100 * count, seed), []
    draw = np.random.default_rng(seed)
    for number in range(100 * count):
        moves, seat = moves_of(log, number), int(draw.integers(4))
        hands = [names_in(hand) for hand in log.hands[number].tolist()]
        at = [
            turn
            for turn in range(4, len(moves))
            if 36 - sum(who != seat and move in CARDS for who, move in moves[:turn]) in unseen
        ]
        place = Place(game, hands, moves[: draw.choice(at)], seat)
        if wanted(place):
            found.append(place)
        if len(found) == count:
            return found
    raise AssertionError(f"only {len(found)} of {count}")


def queens_are_hidden(place: Place) -> bool:
    """Something was announced, and a ♣Q that the seat doesn't hold hasn't been played yet."""
    calls = any(move in twin.CALLS for _, move in place.moves)
    gone = sum(cards.count("♣Q") for cards in place.played) + (
        place.hands[place.seat].count("♣Q") - place.played[place.seat].count("♣Q")
    )
    return calls and gone < 2


def foxes_are_hidden(place: Place) -> bool:
    """One ♦A was played, the other is unseen."""
    seen = sum(cards.count("♦A") for cards in place.played)
    return seen == 1 and place.hands[place.seat].count("♦A") == place.played[place.seat].count("♦A")


def pigs_are_shown(place: Place) -> bool:
    return foxes_are_hidden(place) and place.steps[-1].pigs is not None


WITH_PIGS = Doppelkopf(pigs=True, solos=False, calls=0)
BRUTE = [
    ("pigs", WITH_PIGS, pigs_are_shown),
    ("no pigs", WITH_PIGS, lambda place: foxes_are_hidden(place) and place.steps[-1].pigs is None),
    ("any", Doppelkopf(), lambda place: True),
    ("called", Doppelkopf(), queens_are_hidden),
    ("thesis", games.load("doppelkopf:thesis"), lambda place: True),
    ("solo", Doppelkopf(calls=1), lambda place: any(move in twin.SOLOS for _, move in place.moves)),
    ("marriage", Doppelkopf(solos=False), lambda place: any(move == "marriage" for _, move in place.moves)),
]


@pytest.mark.parametrize(("game", "wanted"), [pytest.param(*case[1:], id=case[0]) for case in BRUTE])
def test_determinizations_are_uniform_over_all_consistent_deals(game, wanted):
    for number, place in enumerate(places(game, 14, 6, range(4, 8), wanted)):
        fit, view = place.deals(), view_of(game, place.state, place.seat)
        assert ways_of(game, view, place.seat) == sum(fit.values())
        hands = draw(game, view, place.seat, DRAWS, number)
        follows(np.delete(hands, place.seat, axis=1), fit)


def follows(hands: np.ndarray, law: dict[tuple[int, ...], float]) -> None:
    """Assert that hands of the others are distributed in proportion to `law`."""
    drawn = Counter(map(tuple, hands.tolist()))
    assert set(drawn) <= set(law)
    expected = np.array(list(law.values())) / sum(law.values()) * len(hands)
    seen = np.array([drawn[deal] for deal in law])
    rare = expected < 5  # too rare for the test one by one
    if rare.any():
        expected, seen = (np.append(column[~rare], column[rare].sum()) for column in (expected, seen))
    if len(seen) > 1:
        assert chisquare(seen, expected).pvalue > RARE


def test_weighted_deals_follow_their_weights():
    """The weight of a deal is the product of its cards' weights; a pair can be parted in two ways."""
    random = np.random.default_rng(17)
    hidden = places(Doppelkopf(), 18, 5, range(4, 8), queens_are_hidden)
    hidden += places(WITH_PIGS, 19, 3, range(4, 8), pigs_are_shown)
    for number, place in enumerate(hidden):
        game = place.game
        view, others = np.zeros(1, game.state), [(place.seat + step) % 4 for step in (1, 2, 3)]
        view[0] = view_of(game, place.state, place.seat)
        weights = random.uniform(0.2, 3, (24, 3))
        law = {}
        for deal, ways in place.deals().items():
            hand = dict(zip([seat for seat in range(4) if seat != place.seat], deal, strict=True))
            law[deal] = float(ways)
            for kind, (which, other) in itertools.product(range(24), enumerate(others)):
                law[deal] *= weights[kind, which] ** (hand[other] >> 2 * kind & 3)
        hands = np.zeros((DRAWS, 4), np.int64)
        notes = np.zeros(deals.WEIGHTED + 4)
        rng = jit.generators(number, 1)[0]
        total = draw_by_weight(game, view, place.seat, weights.copy(), notes, rng, hands)
        assert total == pytest.approx(sum(law.values()))
        follows(np.delete(hands, place.seat, axis=1), law)


@jit.kernel
def draw_by_weight(game, views, seat, weights, notes, rng, hands):
    total = deals.count_weighted(game, views[0], seat, weights, notes)
    for i in range(len(hands)):
        deals.draw_weighted(game, views[0], seat, weights, notes, rng, hands[i])
    return total


# ---------------------------------------------------------------- hidden information


@every_table
def test_a_determinization_fits_its_view(game):
    """At any stage: in the sampled deal the whole history is legal, the same seats were asked at every turn, and the
    viewer has seen the same. The sampled position is the one to which those moves lead."""
    rng = jit.generators(15, 1)[0]
    log = random_games(game, 12, seed=15)
    for number in range(12):
        hands = [names_in(hand) for hand in log.hands[number].tolist()]
        moves = moves_of(log, number)
        stage = number if number < 5 else number * len(moves) // 12  # also during reservations
        place = Place(game, hands, moves[:stage], number % 4)
        view = view_of(game, place.state, place.seat)
        notes, world = np.zeros(game.facts.notes), np.zeros(1, game.state)[0]
        game.prepare(view, place.seat, notes)
        assert game.determinize(view, place.seat, notes, rng, world)
        other = [names_in(int(hand)) + played for hand, played in zip(world.hands, place.played, strict=True)]
        assert twin.could_be(rules_of(game), other, place.steps)
        one, two = dealt(game, hands), dealt(game, other)
        for seat, move in [*place.moves, (-1, "")]:
            assert same(view_of(game, one, place.seat), view_of(game, two, place.seat))
            assert game.infoset(one, place.seat) == game.infoset(two, place.seat)
            assert game.turn(one) == game.turn(two)
            if seat >= 0:
                for state in (one, two):
                    game.play(state, NUMBER[move])
        assert same(two, world)


def test_whether_a_seat_is_asked_does_not_depend_on_hidden_parties():
    """Seats 2 and 3 exchange a ♣Q for another queen: nobody else can notice before one of them announces something."""
    game = Doppelkopf()
    hands = some_hands("♣Q", "", "♣Q", "♠Q")
    changed = [list(hand) for hand in hands]
    for seat, away, here in ((2, "♣Q", "♠Q"), (3, "♠Q", "♣Q")):
        changed[seat].remove(away)
        changed[seat].append(here)
    rng = np.random.default_rng(16)
    asked = 0
    for _ in range(20):
        one, two = after(game, hands, *ALL_HEALTHY), after(game, changed, *ALL_HEALTHY)
        called = rng.integers(3)  # 0: nobody, 1: seat 0 (Re), 2: seat 1 (Kontra)
        while (turn := game.turn(one)) != OVER:
            assert turn == game.turn(two)
            for seat in (0, 1):
                assert same(view_of(game, one, seat), view_of(game, two, seat))
            legal = games.legal_actions(game, one)
            if SILENT in legal:
                asked += turn >= 2
                wants = called > 0 and turn == called - 1 and rng.random() < 0.3
                action = int(rng.choice(legal)) if wants else SILENT
            else:
                both = [act for act in legal if act in games.legal_actions(game, two)]
                hidden = [act for act in both if turn < 2 or MOVES[act] not in ("♣Q", "♠Q")]
                if not hidden:
                    break
                action = int(rng.choice(hidden))
            for state in (one, two):
                game.play(state, action)
    assert asked > 100


# ---------------------------------------------------------------- action strings


def test_cards_are_written_as_players_do_and_parsed_in_english_and_german():
    game = Doppelkopf(calls=0)
    state = after(game, some_hands("♣Q ♥10 ♦A ♠J"), *ALL_HEALTHY)
    for card, words in {
        "♣Q": ("♣Q", "cq", "kreuz dame", "Kreuz-Dame", "♣D", "♣q"),
        "♥10": ("♥10", "h10", "herz 10", "herz zehn"),
        "♦A": ("♦A", "da", "karo ass", "Karo-As"),
        "♠J": ("♠J", "sj", "pik bube", "♠B"),
    }.items():
        assert game.action_to_string(state, NUMBER[card]) == card
        for word in words:
            assert game.parse_action(state, word) == NUMBER[card], word
