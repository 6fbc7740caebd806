"""The twin alone, in situations that Doppelkopf players know, independent of kibitz."""

import random

import pytest

from .doppelkopf_twin import (
    ALWAYS,
    BUT_LAST,
    CARDS,
    JACKS,
    KONTRA,
    LAYOUTS,
    MOVES,
    NEVER,
    NUMBER,
    POINTS,
    QUEENS,
    RE,
    SUIT,
    THESIS,
    TRUMPS,
    Count,
    Game,
    Rules,
    Trick,
    beats,
    could_be,
    score_sheet,
    story,
    value_for_re,
    wins,
)

SILENT = Rules(calls=0)


def hands_with(*wanted, rules=SILENT, seed=1):
    """Hands with the wanted cards ("♣Q ♥10 ...") of each seat, filled up at random."""
    deck = [card for card in CARDS if rules.nines or card[1:] != "9"] * 2
    hands = [text.split() for text in wanted] + [[] for _ in range(4 - len(wanted))]
    for hand in hands:
        for card in hand:
            deck.remove(card)
    random.Random(seed).shuffle(deck)
    size = (len(deck) + sum(map(len, hands))) // 4
    for hand in hands:
        missing = size - len(hand)
        hand += deck[:missing]
        del deck[:missing]
    return hands


def game_after(*moves, hands=None, rules=SILENT):
    game = Game(rules, hands or hands_with(rules=rules))
    for move in moves:
        game.move(move)
    return game


def trick(game, *cards):
    """Play one trick without announcements; returns its winner."""
    for card in cards:
        silent(game)
        game.move(card)
    silent(game)
    return game.tricks[-1].winner


def silent(game):
    while "silent" in game.options:
        game.move("silent")


HEALTHY = ["healthy"] * 4


# ---------------------------------------------------------------- cards


def test_the_deck():
    assert len(CARDS) == 24
    assert 2 * sum(POINTS.values()) == 240
    assert CARDS[6 * 2 + 4] == "♥10"


def test_the_trumps():
    assert " ".join(TRUMPS["normal"]) == "♥10 ♣Q ♠Q ♥Q ♦Q ♣J ♠J ♥J ♦J ♦A ♦10 ♦K ♦9"
    assert {layout: 2 * len(TRUMPS[layout]) for layout in LAYOUTS} == {
        "normal": 26,
        "♣ solo": 26,
        "♠ solo": 26,
        "♥ solo": 24,
        "♦ solo": 26,
        "queens": 8,
        "jacks": 8,
        "fleischlos": 0,
    }
    assert TRUMPS["♦ solo"] == TRUMPS["normal"]
    assert " ".join(TRUMPS["♥ solo"]) == "♥10 ♣Q ♠Q ♥Q ♦Q ♣J ♠J ♥J ♦J ♥A ♥K ♥9"
    assert TRUMPS["queens"] == QUEENS
    assert TRUMPS["jacks"] == JACKS
    assert SUIT["♣ solo"]["♦A"] == "♦"
    assert SUIT["queens"]["♥10"] == "♥"


def test_which_card_beats_which():
    assert beats("♥10", "♣Q", "normal", False)
    assert beats("♦9", "♣A", "normal", False)
    assert not beats("♠A", "♣9", "normal", False)  # another suit
    assert not beats("♣A", "♣A", "normal", False)  # the first of two
    assert not beats("♥10", "♥10", "normal", False)
    assert beats("♥10", "♥10", "normal", True)
    assert not beats("♥10", "♥10", "queens", True)  # an ordinary ten there
    assert not beats("♥10", "♥A", "jacks", False)
    assert beats("♥10", "♥K", "fleischlos", False)
    assert beats("♣Q", "♣J", "jacks", False) is False
    assert beats("♣Q", "♣J", "fleischlos", False)


def test_tricks_of_the_thesis():
    """Table 2 of the thesis: the winners of four tricks."""
    hands = hands_with("♣A ♥A ♠A ♠J", "♣9 ♦10 ♠9 ♦9", "♣K ♥K ♠10 ♣Q", "♣A ♥9 ♣10 ♥10")
    for cards, winner in (
        ("♣A ♣9 ♣K ♣A", 0),
        ("♥A ♦10 ♥K ♥9", 1),
        ("♠A ♠9 ♠10 ♣10", 0),
        ("♠J ♦9 ♣Q ♥10", 3),
    ):
        game = Game(SILENT, hands)
        game.trick = list(enumerate(cards.split()))
        game._take()
        assert game.leader == winner


@pytest.mark.parametrize(("rule", "early", "late"), [(NEVER, 1, 1), (ALWAYS, 2, 2), (BUT_LAST, 2, 1)])
def test_the_second_ten_of_hearts(rule, early, late):
    for last, winner in ((False, early), (True, late)):
        game = Game(Rules(second_ten=rule), hands_with())
        if last:
            game.hands = [[], [], [], []]
        game.trick = list(enumerate(["♣Q", "♥10", "♥10", "♦9"]))
        game._take()
        assert game.leader == winner


def test_pigs_beat_the_tens_and_are_shown_by_the_first():
    rules = SILENT._replace(pigs=True)
    hands = hands_with("♦9 ♦9", "♥10 ♦J", "♥10 ♦J", "♦A ♦A")
    game = game_after(*HEALTHY, hands=hands, rules=rules)
    assert game.pigs is None
    assert trick(game, "♦9", "♥10", "♥10", "♦A") == 3
    assert game.pigs == 3
    apart = hands_with("♦9 ♦9", "♥10 ♦J", "♥10 ♦A", "♦A ♦10")
    game = game_after(*HEALTHY, hands=apart, rules=rules)
    assert trick(game, "♦9", "♥10", "♥10", "♦A") == 1
    assert game.pigs is None
    game = game_after(*HEALTHY, hands=hands)  # other rules
    assert trick(game, "♦9", "♥10", "♥10", "♦A") == 1


def test_suit_must_be_followed_and_trump_is_a_suit():
    hands = hands_with("♠A", "♠K ♠9 ♠Q", "♥10 ♣A ♠J ♦A ♦A ♦K ♦K ♦9 ♦9 ♦J ♦J ♥K", "♦Q")
    game = game_after(*HEALTHY, hands=hands)
    game.move("♠A")
    assert set(game.options) >= {"♠K", "♠9"}
    assert all(card[0] == "♠" and card != "♠Q" for card in game.options)
    game.move("♠9")
    assert set(game.options) == set(hands[2])  # only a jack of spades, and that is a trump
    game.move("♦J")
    assert game.mover == 3


# ---------------------------------------------------------------- the type of the game


def test_a_normal_game_if_all_are_healthy():
    game = game_after(*HEALTHY, hands=hands_with("♣Q", "♣Q"))
    assert (game.layout, game.re, game.alone, game.mover) == ("normal", {0, 1}, False, 0)


def test_a_player_with_a_silent_marriage_is_alone():
    game = game_after(*HEALTHY, hands=hands_with("", "♣Q ♣Q"))
    assert (game.re, game.alone, game.shown) == ({1}, True, {})


def test_without_solos_only_both_queens_are_a_reservation():
    game = Game(THESIS, hands_with("", "♣Q ♣Q", rules=THESIS))
    seen = []
    for _ in range(4):
        seen.append(game.options)
        game.move(game.options[-1])
    assert seen == [["healthy"], ["healthy", "reservation"], ["healthy"], ["healthy"]]
    assert (game.mover, game.options) == (1, ["marriage"])


def test_a_solo_goes_before_a_marriage():
    hands = hands_with("♣Q ♣Q")
    game = game_after("reservation", "healthy", "reservation", "healthy", "marriage", hands=hands)
    assert game.mover == 2
    assert "marriage" not in game.options
    game.move("queens")
    assert (game.layout, game.re, game.bride, game.mover) == ("queens", {2}, None, 0)


def test_the_earlier_solo_is_played_and_the_later_never_named():
    game = game_after("healthy", "reservation", "reservation", "reservation", "♣ solo")
    assert (game.layout, game.re, game.mover) == ("♣ solo", {1}, 0)


def test_a_compulsory_solo_goes_first_and_leads():
    rules = SILENT._replace(owed=0b1100)
    game = game_after("reservation", "healthy", "reservation", "reservation", rules=rules)
    assert game.mover == 2
    game.move("jacks")
    assert (game.re, game.mover) == ({2}, 2)


def test_the_player_of_a_voluntary_solo_does_not_lead():
    game = game_after("healthy", "healthy", "reservation", "healthy", "jacks", rules=SILENT._replace(owed=0b1011))
    assert (game.re, game.mover) == ({2}, 0)


def test_a_forced_player_names_a_solo_at_once():
    game = Game(SILENT._replace(owed=0b1000, forced=3), hands_with("", "", "", "♣Q ♣Q"))
    assert game.mover == 3
    assert "marriage" not in game.options
    game.move("fleischlos")
    assert (game.re, game.mover) == ({3}, 3)


# ---------------------------------------------------------------- marriage

MARRIED = ["reservation", "healthy", "healthy", "healthy", "marriage"]
BRIDE = hands_with("♣Q ♣Q ♥10 ♥10 ♦J", "♦9 ♦9 ♦10", "♠Q ♠J ♦K", "♥Q ♥Q ♥J")


def test_a_marriage_is_settled_in_any_of_three_tricks():
    game = game_after(*MARRIED, hands=BRIDE)
    assert trick(game, "♦J", "♦10", "♠Q", "♥J") == 2
    assert (game.settled, game.re, game.alone) == (1, {0, 2}, False)

    game = game_after(*MARRIED, hands=BRIDE)
    trick(game, "♥10", "♦10", "♦K", "♥J")
    assert trick(game, "♦J", "♦9", "♠J", "♥Q") == 3
    assert (game.settled, game.re, game.alone) == (2, {0, 3}, False)

    game = game_after(*MARRIED, hands=BRIDE)
    for lead, *others in (("♥10", "♦10", "♦K", "♥J"), ("♥10", "♦9", "♠J", "♥Q"), ("♣Q", "♦9", "♠Q", "♥Q")):
        assert trick(game, lead, *others) == 0
    assert (game.settled, game.re, game.alone, game.layout) == (3, {0}, True, "normal")


# ---------------------------------------------------------------- announcements

ASKED = Rules(calls=2)
QUEENS_APART = hands_with("♣Q ♠9", "♠K", "♣Q ♠A", "♠10")


def calling(*said, hands=QUEENS_APART):
    """A normal game with announcements (seat, call) before the first card."""
    game = game_after(*HEALTHY, hands=hands, rules=ASKED)
    for seat, call in said:
        while game.mover != seat:
            game.move("silent")
        game.move(call)
    return game


def test_before_the_first_card_every_announcement_is_legal():
    game = calling()
    for seat in range(4):
        assert (game.mover, game.options) == (seat, ["silent", "Re/Kontra", "no 90", "no 60", "no 30", "black"])
        game.move("silent")
    assert game.options[0] in CARDS


def test_an_announcement_counts_for_the_party_and_includes_skipped_levels():
    game = calling((0, "no 60"))
    assert game.level == {RE: 2, KONTRA: -1}
    assert (game.mover, "no 90" in game.options) == (1, True)  # Kontra
    game.move("silent")
    assert (game.mover, game.options) == (2, ["silent", "no 30", "black"])  # Re too: no repeats


def test_after_an_announcement_all_others_are_asked_again():
    game = calling((3, "Re/Kontra"))
    for seat in (0, 1, 2):
        assert game.mover == seat
        game.move("silent")
    assert game.options[0] in CARDS


def play_cards(game, count):
    for _ in range(count):
        silent(game)
        game.move(game.options[0])


@pytest.mark.parametrize(("cards", "may"), [(12, 5), (11, 5), (10, 0)])
def test_the_deadline_of_re(cards, may):
    game = calling()
    game.hands = [hand[:cards] for hand in game.hands]
    assert len(game.may_call(0, RE)) == may


@pytest.mark.parametrize(("level", "cards"), [(0, 10), (1, 9), (2, 8), (3, 7)])
def test_the_deadlines_of_higher_levels(level, cards):
    game = calling()
    game.level[RE] = level
    game.hands = [hand[:cards] for hand in game.hands]
    assert len(game.may_call(0, RE)) == 4 - level
    game.hands = [hand[: cards - 1] for hand in game.hands]
    assert game.may_call(0, RE) == []


@pytest.mark.parametrize("level", range(5))
def test_a_reply_has_one_card_more_time_and_allows_no_higher_level(level):
    game = calling()
    game.level[KONTRA] = level
    deadline = 11 - level - 1
    game.hands = [hand[:deadline] for hand in game.hands]
    assert game.may_call(0, RE) == ["Re/Kontra"]
    assert list(game._ask(0).send(None)) == [0, ["silent", "Re/Kontra"]]
    game.hands = [hand[: deadline - 1] for hand in game.hands]
    assert game.may_call(0, RE) == []


def test_after_a_late_reply_only_the_other_party_may_announce_more():
    game = calling((1, "no 60"), hands=hands_with("♣Q", "", "♣Q", seed=4))
    silent(game)
    play_cards(game, 8)  # each holds ten
    while game.mover != 0:
        game.move("silent")
    assert game.options == ["silent", "Re/Kontra"]
    game.move("Re/Kontra")
    assert game.late == {RE: True, KONTRA: False}
    assert game.may_call(2, RE) == []
    assert game.may_call(3, KONTRA) == ["no 30", "black"]


def test_a_reply_in_time_is_not_late():
    game = calling((1, "Re/Kontra"), (2, "Re/Kontra"))
    assert game.late == {RE: False, KONTRA: False}
    assert game.may_call(0, RE) == ["no 90", "no 60", "no 30", "black"]


@pytest.mark.parametrize(("settled", "first"), [(1, 11), (2, 10), (3, 9)])
def test_a_marriage_shifts_all_deadlines(settled, first):
    game = calling()
    game.settled = settled
    assert [game.needs(level) for level in range(5)] == [first - level for level in range(5)]


def test_no_announcement_before_a_marriage_is_settled():
    game = game_after(*MARRIED, hands=BRIDE, rules=ASKED)
    for card in ("♥10", "♦10", "♦K", "♥J", "♦J", "♦9", "♠J", "♥Q"):
        assert card in game.options
        game.move(card)
    assert (game.mover, game.options[:2]) == (3, ["silent", "Re/Kontra"])  # ten cards each, and that is in time


def test_without_nines_deadlines_come_after_as_many_cards():
    game = Game(Rules(nines=False), hands_with(rules=Rules(nines=False)))
    assert [game.needs(level) for level in range(5)] == [9, 8, 7, 6, 5]


def test_being_asked_reveals_no_party():
    """Kontra has announced everything, and only Re may reply: every seat whose party isn't known is asked."""
    game = calling((1, "black"))
    silent(game)
    for card in ("♠9", "♠K", "♠A", "♠10"):
        game.move(card)
        asked = []
        while "silent" in game.options:
            asked.append((game.mover, len(game.options)))
            game.move("silent")
        assert sorted(asked) == [(0, 6), (2, 6), (3, 1)]


# ---------------------------------------------------------------- winners and scores


def count(re, a, b, re_tricks=6, extras=(), alone=False):
    return Count({RE: re, KONTRA: 240 - re}, {RE: re_tricks, KONTRA: 12 - re_tricks}, {RE: a, KONTRA: b}, alone, extras)


def test_one_party_wins_unless_both_announced_too_much():
    for re in range(241):
        for a in range(-1, 5):
            for b in range(-1, 5):
                for tricks in [0] if re == 0 else [12, 11] if re == 240 else [1, 6, 11]:
                    found = count(re, a, b, tricks)
                    winners = wins(RE, found) + wins(KONTRA, found)
                    assert winners == 1 or (winners == 0 and a >= 1 and b >= 1)
                    value_for_re(found, Rules())


def test_a_score_sheet_line_by_line():
    extras = (("a fox caught", KONTRA),)
    assert score_sheet(count(150, 2, 0, extras=extras), Rules()) == [
        ("won", KONTRA, 1),
        ("Re", KONTRA, 2),
        ("Re said no 90", KONTRA, 1),
        ("Re said no 60", KONTRA, 1),
        ("Kontra", KONTRA, 2),
        ("90 against no 60", KONTRA, 1),
        ("against the queens of clubs", KONTRA, 1),
        ("a fox caught", KONTRA, 1),
    ]


def test_the_thesis_has_no_points_against_an_announcement():
    assert value_for_re(count(120, -1, 1), Rules()) == 5
    assert value_for_re(count(120, -1, 1), THESIS) == 4


def end_of(*tricks, hands=QUEENS_APART, rules=SILENT):
    """The extra points of a game with only these tricks: (winner, cards from seat 0 on)."""
    game = game_after(*HEALTHY, hands=hands, rules=rules)
    for winner, cards in tricks:
        played = list(enumerate(cards.split()))
        game.tricks.append(Trick(played, winner, played[winner][1]))
    return game.extras()


NEUTRAL = (0, "♣9 ♣9 ♠9 ♠9")


def test_extra_points():
    """Seats 0 and 2 are Re."""
    assert end_of(NEUTRAL) == []
    assert end_of((0, "♥10 ♦A ♦9 ♦9"), NEUTRAL) == [("a fox caught", RE)]
    assert end_of((0, "♥10 ♦9 ♦A ♦9"), NEUTRAL) == []  # the partner's
    assert end_of((1, "♦A ♥10 ♦A ♦9"), NEUTRAL) == [("a fox caught", KONTRA)] * 2
    assert end_of((1, "♣A ♣A ♣10 ♣10"), NEUTRAL) == [("a trick of 40", KONTRA)]
    assert end_of((1, "♣A ♣10 ♣10 ♠9"), NEUTRAL) == []
    assert end_of((1, "♦9 ♣J ♦K ♠9"), NEUTRAL) == []
    assert end_of(NEUTRAL, (1, "♦9 ♣J ♦K ♠9")) == [("♣J takes the last trick", KONTRA)]
    assert end_of(NEUTRAL, (2, "♦9 ♣J ♦Q ♠9")) == []
    assert end_of(NEUTRAL, (2, "♦9 ♣J ♦Q ♠9"), rules=THESIS) == [("♣J caught in the last trick", RE)]
    assert end_of(NEUTRAL, (0, "♦Q ♦9 ♣J ♠9"), rules=THESIS) == []


def test_random_games_are_consistent():
    draw = random.Random(5)
    for _ in range(20):
        hands = hands_with(seed=draw.random())
        game, moves = Game(Rules(), hands), []
        while game.mover is not None:
            moves.append((game.mover, draw.choice(game.options)))
            game.move(moves[-1][1])
        assert sum(game.scores()) == 0
        assert sum(game.count().points.values()) == 240
        steps = story(Rules(), hands, moves)
        assert [step[:2] for step in steps] == moves
        assert could_be(Rules(), hands, steps)


def test_consistent_and_inconsistent_hands():
    hands = hands_with("♣Q ♠9", "♠K ♥J", "♣Q ♠A", "♠10 ♥Q", rules=ASKED)

    def swapped(one, card, two, other):
        changed = [list(hand) for hand in hands]
        for seat, away, here in ((one, card, other), (two, other, card)):
            changed[seat].remove(away)
            changed[seat].append(here)
        return changed

    silence = [*((seat, "healthy") for seat in range(4)), *((seat, "silent") for seat in range(4))]
    called = [*silence[:-1], (3, "Re/Kontra")]
    elsewhere = swapped(2, "♣Q", 3, "♥Q")  # seat 3 would be Re
    assert could_be(ASKED, elsewhere, story(ASKED, hands, silence))
    assert not could_be(ASKED, elsewhere, story(ASKED, hands, called))
    assert could_be(ASKED, swapped(2, "♣Q", 1, "♥J"), story(ASKED, hands, called))
    followed = [*silence, (0, "♠9")]
    assert not could_be(ASKED, swapped(0, "♠9", 1, "♥J"), story(ASKED, hands, followed))


def test_moves_have_the_numbers_of_the_game():
    assert (NUMBER["healthy"], NUMBER["reservation"], NUMBER["♣ solo"], NUMBER["fleischlos"]) == (24, 25, 27, 33)
    assert (NUMBER["marriage"], NUMBER["silent"], NUMBER["Re/Kontra"], NUMBER["black"]) == (34, 35, 36, 40)
    assert len(MOVES) == 41
