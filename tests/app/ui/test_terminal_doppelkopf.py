"""Interactive Doppelkopf: what a person is shown and asked, in English and German."""

import re

import numpy as np
import pytest

from kibitz import games, jit
from kibitz.app.ui.referee import Referee, Step, describe_step, next_state
from kibitz.app.ui.words import Words
from kibitz.core.names import BadInput
from kibitz.doppelkopf.rules import Doppelkopf
from kibitz.doppelkopf.rules.announcements import CALL, SILENT
from kibitz.doppelkopf.rules.cards import NAMES
from kibitz.doppelkopf.rules.display import find_action
from kibitz.games import OVER, view_of
from kibitz.games.display import display
from kibitz.play.players import explained, make_for

from ...games.test_doppelkopf import ALL_HEALTHY, after, some_hands
from .test_terminal import Scripted, transcript

GAME = Doppelkopf()
HANDS = some_hands("♥10 ♣Q ♦A ♠A ♠9 ♣9 ♥9 ♦9 ♦J ♣J ♥K ♠K", "♣Q ♠9")


class Heuristic:
    """Plays the game's heuristic."""

    advice = None

    def begin(self, game, seat, seed):
        self.game, self.rng = game, jit.generators(seed, 1)[0]

    def move(self, view):
        return int(self.game.heuristic(view, self.rng))


@pytest.fixture
def dealt(monkeypatch):
    """Fix the hands."""
    start = Referee.__init__

    def fixed(self, *arguments):
        start(self, *arguments)
        self._states.append(after(GAME, HANDS))

    monkeypatch.setattr(Referee, "__init__", fixed)


def played(*lines, game=GAME, **options):
    return transcript(game, *lines, others=[Heuristic() for _ in range(3)], **options)


def test_the_hand_is_sorted_and_the_trick_lies_between_the_seats():
    state = after(GAME._replace(calls=0), HANDS, *ALL_HEALTHY, "♠A", "♠9")
    shown = display(GAME).show(view_of(GAME, state, 0), 0)
    lines = shown.splitlines()
    assert lines[0] == "normal game, trick 1 of 12"
    assert lines[1].strip() == "seat 3"
    assert re.fullmatch(r"seat 2 +♠\S+ +· +seat 4", lines[3])
    assert [line.strip() for line in lines[4:6]] == ["♠A", "you (Re)"]
    assert lines[-1] == "your hand: ♥10 ♣Q ♣J ♦J ♦A ♦9 ♣9 ♠K ♠9 ♥K ♥9"


def test_legal_cards_are_in_brackets():
    quiet = GAME._replace(calls=0)
    state = after(quiet, HANDS, *ALL_HEALTHY, "♠A")
    game = display(quiet)
    shown = game.show(view_of(quiet, state, 1), 1)
    legal = games.legal_actions(quiet, state)
    assert set(re.findall(r"\[(.+?)\]", shown)) == {quiet.action_to_string(state, action) for action in legal}
    assert [game.action_to_string(state, action) for action in game.moves(state)] == list(
        dict.fromkeys(re.findall(r"\[(.+?)\]", shown))
    )


def test_announcements_have_keys_and_an_empty_line_is_silence(dealt):
    text = played("1", "", "♣9", "q")
    assert "Enter silent   r Re   9 no 90   6 no 60   3 no 30   s black" in text
    assert "you are Kontra" not in text
    assert "says silent" not in text
    text = played("1", "r", "", "♣9", "moves")
    assert "you say Re" in " ".join(text.split())
    assert "you (Re)" in text
    assert "you Re!" in text


def test_a_card_in_place_of_an_announcement_is_silence_and_then_that_card(dealt):
    text = played("1", "♣9", "moves")
    assert "you play ♣9" in " ".join(text.split())
    assert "you say silent" not in text
    text = played("1", "♣A")
    assert "'♣A' is no move here: silent, Re, no 90, no 60, no 30, black" in text


@pytest.mark.parametrize(
    "said", [["re keine 90"], ["Keine 90, Re"], ["no 90 and Re"], ["9"], ["r", "keine 90"], ["9", "Re"]]
)
def test_two_announcements_before_a_card_are_the_higher_one(dealt, said):
    """At once, in any order, or the second where the card is asked for."""
    table = Scripted(GAME, "1", *said, "♣9", others=[Heuristic() for _ in range(3)])
    table.run()
    view = table.referee.view()
    assert view.call[0] == 1
    assert view.log[0] == 8 * 0 + 1
    assert view.played[0] == NAMES.index("♣9")
    assert "is no move here" not in "\n".join(table.text)


def test_a_second_announcement_must_be_legal_and_add_something(dealt):
    assert "'k' is no move here" in played("1", "r", "k")
    assert "'Kontra' is no move here" in played("1", "9", "Kontra")
    assert "'keine 90' is no move here" in played("1", "", "keine 90")


def test_cards_are_named_by_german_letters():
    shown = display(GAME._replace(calls=0), "de")
    state = after(GAME._replace(calls=0), HANDS, *ALL_HEALTHY)
    for text, card in (("p9", "♠9"), ("pik 9", "♠9"), ("krb", "♣B"), ("kaa", "♦A"), ("h10", "♥10"), ("kad", None)):
        if card:
            assert shown.action_to_string(state, shown.parse_action(state, text)) == card
        else:
            with pytest.raises(BadInput):
                shown.parse_action(state, text)
    assert find_action(state, "pass") == SILENT  # not the ass of pik


def test_announcements_and_cards_are_valued_on_one_scale():
    """Silence is worth what the best card is; when that card is asked for, the advice is the same."""
    player = make_for("ensemble-uct:4x20,worlds=20", GAME)
    state = after(GAME, HANDS, *ALL_HEALTHY)
    view = view_of(GAME, state, 0)
    assert GAME.is_announcement(view)
    player.begin(GAME, 0, 1)
    player.move(view)
    advice = explained(player, view)
    assert np.allclose(np.diff(advice.value), np.diff(player.advice.value))  # what announcements gain stays
    while GAME.is_announcement(state):
        GAME.play(state, games.legal_actions(GAME, state)[0])
    following = view_of(GAME, state, 0)
    player.move(following)
    assert advice.value[0] == explained(player, following).root_value == player.advice.root_value


def test_a_person_is_asked_for_announcements_at_their_own_turn_only(dealt):
    table = Scripted(GAME, "1", *["1"] * 40, others=[Heuristic() for _ in range(3)])
    asked = []
    decide = table.decide

    def remember():
        view = table.referee.view()
        asked.append((int(view.phase), int(view.count)))
        decide()

    table.decide = remember
    table.run()
    plies = [count for phase, count in asked if phase == 4]
    leaders = table.referee.view().leaders
    assert plies
    assert all((leaders[count >> 2] + count) % 4 == 0 for count in plies)


def test_undo_returns_to_the_last_question(dealt):
    text = played("1", "♣9", "undo", "moves")
    assert text.endswith("score: no game finished yet")
    assert text.count("taken back") == 1
    assert text.count("call or card?") == 2 + text.count("your move> undo") - 1


def test_the_same_cards_can_be_played_again():
    quiet = Doppelkopf(calls=0, solos=False)
    lines = ["1"] * 11 + ["same"]
    table = Scripted(quiet, *lines, others=[Heuristic() for _ in range(3)], seed=5)
    table.run()
    hands = [line for text in table.text for line in text.splitlines() if "your hand" in line]
    assert hands[0] == hands[11]
    assert "game 1" in [text for text in table.text if text.startswith("\ngame")][1]


def test_the_end_is_a_score_sheet():
    text = played(*["1"] * 40, game=Doppelkopf(calls=0, solos=False), seed=6)
    sheet = text[text.index("game over") :]
    assert re.search(r"Re \(seat .*\): \d+ points, \d+ tricks?", sheet)
    items = [int(worth) for worth in re.findall(r"│   .+? ([+-]\d+) +│", sheet)]
    total = int(re.search(r"together +([+-]\d+) for Re", sheet)[1])
    assert sum(items) == total
    assert re.search(r"seat 1 [+-]\d+, seat 2 [+-]\d+, seat 3 [+-]\d+, seat 4 [+-]\d+", sheet)


def test_a_game_is_played_in_german(dealt):
    text = played("gesund", "herz zehn", "moves", language="de")
    assert "deine Hand: ♥10 ♣D ♣B ♦B ♦A ♦9 ♣9 ♠A ♠K ♠9 ♥K ♥9" in text
    assert "Enter still   r Re   9 keine 90" in text
    assert "du spielst ♥10" in " ".join(text.split())
    with pytest.raises(BadInput, match="no language is called 'fr': known are de, en"):
        display(GAME, "fr")


def test_a_german_game_shows_no_english_words():
    """Whole games, shown from one seat."""
    rng = jit.generators(7, 1)[0]
    for _ in range(10):
        (state,) = games.positions(GAME)
        shown, words = display(GAME, "de"), []
        while GAME.turn(state) != OVER:
            if GAME.turn(state) >= 0:
                words += [shown.action_to_string(state, action) for action in shown.moves(state)]
                words += re.findall(r"[a-z]{3,}", shown.show(view_of(GAME, state, 0), 0))
            GAME.play(state, GAME.sample_action(state, rng))
        words += re.findall(r"[a-z]{3,}", shown.show(state, 0))
        assert not {"seat", "you", "trick", "tricks", "solo", "silent", "points", "won", "black", "healthy"} & set(
            words
        )


def test_the_default_opponent_can_play():
    for game in (GAME, games.load("doppelkopf:nines=no")):
        make_for(game.opponent, game)


def test_a_position_is_displayed_from_the_view_alone():
    """The view and the full state give the same text."""
    rng = jit.generators(8, 1)[0]
    for _ in range(5):
        (state,) = games.positions(GAME)
        while GAME.turn(state) != OVER:
            for seat in range(4):
                assert display(GAME).show(view_of(GAME, state, seat), seat) == display(GAME).show(state, seat)
            GAME.play(state, GAME.sample_action(state, rng))
    assert np.all(state.hands == 0)


@pytest.mark.parametrize(("language", "caller", "said"), [("en", 0, "Re"), ("de", 2, "Kontra")])
def test_an_announcement_names_the_party(language, caller, said):
    """Although the party was not known before."""
    before = after(GAME, HANDS, *ALL_HEALTHY, *["silent"] * caller)
    assert before.to_move == caller
    seat = (caller + 1) % 4
    views = [view_of(GAME, state, seat) for state in (before, next_state(GAME, before, CALL))]
    told = {"en": f"seat {caller + 1} says {said}", "de": f"Platz {caller + 1} sagt {said}"}
    assert describe_step(display(GAME, language), seat, Step(caller, *views), Words(language)) == told[language]
