"""Records of Doppelkopf as text and as the thesis' lines: round trips, and errors for impossible games."""

import random
import re

import pytest

from kibitz import games
from kibitz.core.names import BadInput
from kibitz.doppelkopf.rules import notation, thesis_lines
from kibitz.doppelkopf.rules.announcements import CALL, SILENT
from kibitz.doppelkopf.rules.cards import CLASS, NAMES
from kibitz.doppelkopf.rules.german import to_german
from kibitz.doppelkopf.rules.state import MARRIES, SOLO
from kibitz.games import CHANCE, OVER, legal_actions, positions

THESIS = games.load("doppelkopf:thesis")


def random_game(name, seed):
    """A random game, mostly silent and healthy. Hands are dealt in sorted order, as records don't contain another."""
    game, rng = games.load(name), random.Random(seed)
    state = positions(game)[0]
    actions = []
    while game.turn(state) == CHANCE:
        deck = [kind for kind in range(24) for _ in range(2) if game.nines or kind % 6]
        rng.shuffle(deck)
        size = len(deck) // 4
        actions = [kind for seat in range(4) for kind in sorted(deck[size * seat : size * seat + size])]
        for kind in actions:
            game.play(state, kind)
    while game.turn(state) != OVER:
        legal = legal_actions(game, state)
        often = [action for action in legal if action in (SILENT, 24, MARRIES)]
        action = rng.choice(often if often and rng.random() < 0.85 else legal)
        actions.append(action)
        game.play(state, action)
    return game, actions, state


@pytest.fixture(scope="module")
def games_with_lines():
    """Games by the thesis' rules with the line of each seat: (actions, end, lines)."""
    found = []
    for seed in range(8):
        _, actions, end = random_game("doppelkopf:thesis", seed)
        found.append(
            (
                actions,
                end,
                [thesis_lines.write_line(THESIS, actions, end, seat, thesis_lines.Form()) for seat in range(4)],
            )
        )
    return found


# ---------------------------------------------------------------- lines


def test_a_line_has_62_characters_of_29(games_with_lines):
    for _, end, written in games_with_lines:
        for seat, line in enumerate(written):
            assert re.fullmatch(r"[a-x]{12}[0-3][a-x]{48}\n", line)
            assert line[12] == str(seat)
            assert line[:12] == "".join(sorted(line[:12]))
            assert [NAMES[kind] for kind in end.played] == [
                NAMES[thesis_lines.LETTERS.index(letter)] for letter in line[13:-1]
            ]


def test_each_line_contains_the_whole_game(games_with_lines):
    """The four hands, the leaders and the scores, except for silent marriages."""
    silent = 0
    for actions, end, written in games_with_lines:
        for seat, line in enumerate(written):
            found, again, last = thesis_lines.read_line(THESIS, line[:-1], thesis_lines.Form())
            assert found == seat
            assert again[:48] == actions[:48]
            if thesis_lines.is_lossy(end):
                silent += 1
                continue
            assert again == actions
            assert last.scores.tolist() == end.scores.tolist()
    assert silent < 16


def test_a_player_with_both_queens_of_clubs_announces_a_marriage_or_is_silent():
    seed = next(seed for seed in range(100) if random_game("doppelkopf:thesis", seed)[2].bride >= 0)
    _, actions, end = random_game("doppelkopf:thesis", seed)
    line = thesis_lines.write_line(THESIS, actions, end, 0, thesis_lines.Form())[:-1]
    announced = thesis_lines.read_line(THESIS, line, thesis_lines.form())
    silent = thesis_lines.read_line(THESIS, line, thesis_lines.form(marriage="silent"))
    assert announced[2].bride == end.bride
    assert announced[2].scores.tolist() == end.scores.tolist()
    assert silent[2].bride == -1
    assert sorted(map(abs, silent[2].scores.tolist()))[-1] == 3 * min(map(abs, silent[2].scores.tolist()))
    assert not thesis_lines.is_lossy(announced[2])
    assert thesis_lines.is_lossy(silent[2])


def test_letters_and_the_order_of_hands_are_parameters(games_with_lines):
    actions, end, written = games_with_lines[0]
    backwards = thesis_lines.form(" ".join(NAMES[::-1]))
    line = thesis_lines.write_line(THESIS, actions, end, 2, backwards)
    swapped = str.maketrans(thesis_lines.LETTERS, thesis_lines.LETTERS[::-1])
    assert line[13:] == written[2][13:].translate(swapped)
    assert (
        thesis_lines.read_line(THESIS, line[:-1], backwards)[1]
        == thesis_lines.read_line(THESIS, written[2][:-1], thesis_lines.form())[1]
    )
    held = thesis_lines.write_line(THESIS, actions, end, 2, thesis_lines.form(hand="held"))
    assert sorted(held[:12]) == sorted(written[2][:12])
    assert [CLASS[0, thesis_lines.LETTERS.index(letter)] == 4 for letter in held[:12]] == sorted(
        (CLASS[0, thesis_lines.LETTERS.index(letter)] == 4 for letter in held[:12]), reverse=True
    )
    assert held[12:] == written[2][12:]
    assert (
        thesis_lines.read_line(THESIS, held[:-1], thesis_lines.form())[1]
        == thesis_lines.read_line(THESIS, written[2][:-1], thesis_lines.form())[1]
    )


@pytest.mark.parametrize(("position", "digits"), [("place", "0123"), ("dealer", "1230"), ("leader", "0321")])
def test_positions_are_counted_as_the_form_says(games_with_lines, position, digits):
    actions, end, _ = games_with_lines[1]
    form = thesis_lines.form(position=position)
    for seat, digit in enumerate(digits):
        line = thesis_lines.write_line(THESIS, actions, end, seat, form)
        assert line[12] == digit
        assert thesis_lines.read_line(THESIS, line[:-1], form)[0] == seat


def test_lines_are_read_under_rules_with_announcements_too(games_with_lines):
    game = THESIS._replace(calls=2)
    for actions, end, written in games_with_lines[:3]:
        if thesis_lines.is_lossy(end):
            continue
        _, found, last = thesis_lines.read_line(game, written[1][:-1], thesis_lines.Form())
        assert [action for action in found if action != SILENT] == actions
        assert notation.replay(game, found).scores.tolist() == last.scores.tolist() == end.scores.tolist()


def revoked(line):
    """A line with two cards exchanged, so that a player doesn't follow suit though it could."""
    for i in range(13, 61):
        for j in range(i + 1, 61):
            changed = line[:i] + line[j] + line[i + 1 : j] + line[i] + line[j + 1 :]
            try:
                thesis_lines.read_line(THESIS, changed, thesis_lines.Form())
            except BadInput as error:
                if "revokes" in str(error):
                    return changed
    raise AssertionError("no such line")


def replaced(line, column, letter):
    return line[:column] + letter + line[column + 1 :]


BAD_LINES = {
    "13 cards in the hand": (lambda line: "a" + line, "13 cards in the hand, not 12"),
    "11 cards in the hand": (lambda line: line[1:], "11 cards in the hand, not 12"),
    "too short": (lambda line: line[:-1], "47 cards are played, not 48"),
    "too long": (lambda line: line + "a", "49 cards are played, not 48"),
    "empty": (lambda line: "", "the position .0 to 3. after the hand is missing"),
    "unknown letter": (lambda line: replaced(line, 20, "y"), "'y' in column 21 is no card: cards are a to x"),
    "capital": (lambda line: replaced(line, 0, "A"), "'A' in column 1 is no card"),
    "position 4": (lambda line: replaced(line, 12, "4"), "position 4 should be 0 to 3"),
    "two positions": (lambda line: replaced(line, 30, "1"), "there is a second position, 1, in column 31"),
    "three ♥10 in the hand": (
        lambda line: "abcdefghiqqq" + line[12:],
        "♥10 occurs 3 times in the hand, and the deck has two",
    ),
    "three ♥10 played": (
        lambda line: replaced(line, next(column for column in range(13, 61) if line[column] != "q"), "q"),
        "♥10 occurs 3 times, not twice",
    ),
    "another hand": (
        lambda line: replaced(line, 0, next(c for c in thesis_lines.LETTERS if c not in line[:12])),
        r"seat 1 plays \S+, which its hand .* doesn't hold",
    ),
    "another seat": (lambda line: replaced(line, 12, "2"), r"seat 3 plays \S+, which its hand"),
    "a revoke": (revoked, r"card \d+: seat \d revokes: (trump|.) was led, it plays \S+, and holds \S"),
}


@pytest.mark.parametrize("name", BAD_LINES)
def test_a_bad_line_is_refused_with_the_reason(games_with_lines, name):
    change, text = BAD_LINES[name]
    with pytest.raises(BadInput, match=text):
        thesis_lines.read_line(THESIS, change(games_with_lines[0][2][0][:-1]), thesis_lines.Form())


def test_games_that_a_line_cannot_contain_are_not_written():
    seed = next(seed for seed in range(100) if random_game("doppelkopf:calls=0", seed)[2].mode == SOLO)
    game, actions, end = random_game("doppelkopf:calls=0", seed)
    with pytest.raises(BadInput, match="lines can't contain solos"):
        thesis_lines.write_line(game, actions, end, 0, thesis_lines.Form())
    game, actions, end = random_game("doppelkopf:nines=no,calls=0,solos=no", 1)
    with pytest.raises(BadInput, match="the rules need nines=yes"):
        thesis_lines.write_line(game, actions, end, 0, thesis_lines.Form())
    with pytest.raises(BadInput, match="the rules need owed=0"):
        thesis_lines.check_rules(games.load("doppelkopf:owed=1"))


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"letters": "♣9 ♣X"}, "'♣X' is no card"),
        ({"letters": "♣9 " * 24}, "each of the 24 cards once, not 1 in 24 words"),
        ({"position": "left"}, "no position is called 'left'"),
        ({"hand": "any"}, "no order of hands is called 'any'"),
        ({"marriage": "perhaps"}, "no marriage is called 'perhaps'"),
    ],
)
def test_a_bad_form_is_refused(given, text):
    with pytest.raises(BadInput, match=text):
        thesis_lines.form(**given)


# ---------------------------------------------------------------- text

RULES = ("doppelkopf", "doppelkopf:thesis", "doppelkopf:calls=1,nines=no", "doppelkopf:owed=5,forced=2")


@pytest.mark.parametrize("name", RULES)
def test_text_is_read_back_as_it_was_written(name):
    written, seen = [], []
    for seed in range(6):
        game, actions, end = random_game(name, seed)
        text = notation.write(seed, name, ["a", "b:1,c=2", "a", "d e"], 7, actions)
        [found] = notation.read(text)
        assert found[:5] == (seed, games.full_name(game), ["a", "b:1,c=2", "a", "d e"], 7, actions)
        assert found.end.scores.tolist() == end.scores.tolist()
        assert text.count(" says ") == end.logged == sum(action >= CALL for action in actions)
        written.append(text)
        seen.append(actions)
    assert [found.actions for found in notation.read("\n".join(written))] == seen
    short = [re.sub(r";.*|\nRe: .*\nsheet: .*\nscores: .*", "", text) for text in written]
    assert [found.actions for found in notation.read("\n\n\n".join(short))] == seen


# A game between people: table 5 of the thesis. Seven cards are illegible there, and filled in from those that remain.
PEOPLE = """
game 5 of doppelkopf:thesis, seed 0
seat 1, Player 1: ♣A ♠9 ♥K ♣9 ♦A ♦J ♥B ♠10 ♣A ♥9 ♣K ♥9
seat 2, Player 2: ♦A ♠A ♥A ♦10 ♥J ♣Q ♠J ♥10 ♣J ♦10 ♠Q ♥K
seat 3, Player 3: ♣10 ♠K ♥A ♠10 ♣D ♦K ♦Q ♦9 ♦9 ♦K ♠K ♠9
seat 4, Player 4: ♣9 ♠A ♦J ♣K ♥10 ♥Q ♥Q ♣J ♠Q ♦Q ♠J ♣10
reservations: 1 gesund, 2 healthy, 3 healthy, 4 healthy
trick 1: 1 ♣A, 2 ♦A, 3 ♣10, 4 ♣9; 2 takes 32
trick 2: 2 ♠A, 3 ♠K, 4 ♠A, 1 ♠9; 2 takes 26
trick 3: 2 ♥A, 3 ♥A, 4 ♦J, 1 ♥K; 4 takes 28
trick 4: 4 ♣K, 1 ♣9, 2 ♦10, 3 ♠10; 2 takes 24
trick 5: 2 ♥J, 3 Kreuz Dame, 4 ♥10, 1 ♦A; 4 takes 26
trick 6: 4 ♥Q, 1 ♦B, 2 ♣Q, 3 ♦K; 2 takes 12
trick 7: 2 ♠J, 3 ♦Q, 4 ♥Q, 1 ♥J
trick 8: 4 ♣J, 1 ♠10, 2 ♥10, 3 ♦9; 2 takes 22
trick 9: 2 ♣J, 3 ♦9, 4 ♠Q, 1 ♣A; 4 takes 16
trick 10: 4 ♦Q, 1 ♥9, 2 ♦10, 3 ♦K; 4 takes 17
trick 11: 4 ♠J, 1 ♣K, 2 ♠Q, 3 ♠K; 2 takes 13
trick 12: 2 ♥K, 3 ♠9, 4 ♣10, 1 ♥9; 2 takes 14
Re: 2 and 3 with 143 in 7 tricks
sheet: won +1
scores: -1 +1 +1 -1
"""


def test_a_game_between_people_is_read_in_german_and_english():
    [found] = notation.read(PEOPLE)
    assert found.number == 4  # counted from 0
    assert found.players == ["Player 1", "Player 2", "Player 3", "Player 4"]
    assert found.end.scores.tolist() == [-1, 1, 1, -1]
    line = thesis_lines.write_line(THESIS, found.actions, found.end, 3, thesis_lines.Form())
    assert thesis_lines.read_line(THESIS, line[:-1], thesis_lines.Form())[1] == found.actions


BAD_TEXTS = {
    "13 cards": ("♥9 ♣K ♥9\n", "♥9 ♣K ♥9 ♥9\n", "line 3: 13 cards in the hand, not 12"),
    "11 cards": ("♥9 ♣K ♥9\n", "♥9 ♣K\n", "line 3: 11 cards in the hand, not 12"),
    "three ♥10": ("♣K ♥10 ♥Q ♥Q", "♥10 ♥10 ♥Q ♥Q", "line 6: ♥10 is dealt 3 times, not twice"),
    "no such card": ("♣A ♠9", "♣A ♠1", "line 3: '♠1' is no card"),
    "a seat twice": ("seat 3, Player 3", "seat 2, Player 3", "should be the hand of seat 3"),
    "a head": (
        "game 5",
        "game five",
        "line 2: 'game five of .*' should be a header such as: game 1 of doppelkopf, seed 1",
    ),
    "a game": ("doppelkopf:thesis", "kuhn", "line 2: kuhn has no records of this form"),
    "no game": ("doppelkopf:thesis", "doppelkof", "line 2: no game is called 'doppelkof'"),
    "not held": ("2 ♦A, 3 ♣10", "2 ♦9, 3 ♣10", "line 8: seat 2 plays ♦9, which it doesn't hold: ♥10 ♣Q"),
    "a revoke": ("3 ♣10, 4", "3 ♠9, 4", "line 8: seat 3 revokes: ♣ was led, it plays ♠9, and holds ♣10"),
    "trump revoked": (
        "3 Kreuz Dame, 4",
        "3 ♠9, 4",
        "line 12: seat 3 revokes: trump was led, it plays ♠9, and holds ♣Q",
    ),
    "wrong order": ("1 ♣A, 2 ♦A, 3", "1 ♣A, 3 ♣10, 2", "line 8: it is the turn of seat 2, not of seat 3 with ♣10"),
    "wrong leader": (
        "trick 2: 2 ♠A, 3 ♠K, 4 ♠A, 1",
        "trick 2: 1 ♠9, 2",
        "line 9: it is the turn of seat 2, not of seat 1",
    ),
    "another taker": ("2 takes 32", "1 takes 32", "line 8: '1 takes 32' should be '2 takes 32'"),
    "other points": ("2 takes 32", "2 takes 31", "line 8: '2 takes 31' should be '2 takes 32'"),
    "three cards": (", 4 ♣9; 2 takes 32", "; 2 takes 32", "line 8: 3 cards in trick 1, not 4"),
    "a trick is missing": ("trick 4: ", "trick 5: ", "line 11: 'trick 5' should be trick 4"),
    "too short": (PEOPLE[PEOPLE.index("trick 12") :], "", "line 18: the game ends after 44 of 48 cards"),
    "only a head": (PEOPLE[PEOPLE.index("seat 4") :], "", "line 5: the game ends after its head"),
    "no cards": (PEOPLE[PEOPLE.index("reservations") :], "", "line 6: the game ends after 0 of 48 cards"),
    "too long": ("1 ♥9; 2 takes 14", "1 ♥9, 2 ♥9", "line 19: '2 ♥9' comes after the end of the game"),
    "a 13th trick": ("Re: 2", "trick 13: 2", "line 20: 'trick 13.*' comes after the end of the game"),
    "another sheet": ("sheet: won +1", "sheet: won +2", "line 21: sheet: won .2 should be won .1"),
    "other scores": ("scores: -1 +1", "scores: -2 +2", "line 22: scores: -2 .* should be -1"),
    "another Re": ("Re: 2 and 3", "Re: 1 and 3", "line 20: Re: 1 and 3 .* should be 2 and 3"),
    "announcements are off": ("1 ♣A, 2 ♦A", "1 ♣A, 2 says Re, 2 ♦A", "line 8: seat 2 may not announce Re here"),
    "no word": ("1 gesund", "1 ill", "line 7: 'ill' is neither a card nor an announcement"),
    "solos are off": ("2 healthy", "2 reservation", "line 7: seat 2 can't say reservation"),
    "no seat": ("1 ♣A, 2", "♣A, 2", "line 8: '♣A' should be a seat and its move"),
    "no colon": ("trick 1:", "trick 1", "line 8: 'trick 1 1 ♣A.* should be moves"),
    "a card for a word": (
        "1 gesund",
        "1 ♣A",
        "line 7: seat 1 can't play ♣A: it should say whether it has a reservation",
    ),
}


@pytest.mark.parametrize("name", BAD_TEXTS)
def test_a_bad_text_is_refused_with_its_line_and_the_reason(name):
    old, new, text = BAD_TEXTS[name]
    assert old in PEOPLE
    with pytest.raises(BadInput, match=text):
        list(notation.read(PEOPLE.replace(old, new, 1)))


def called(trick, before, said):
    """The same game under rules with announcements, and with one before a card of a trick."""
    head = next(line for line in PEOPLE.splitlines() if line.startswith(f"trick {trick}:"))
    changed = PEOPLE.replace("doppelkopf:thesis", "doppelkopf:solos=no").split("\nRe:")[0]
    return list(notation.read(changed.replace(head, head.replace(before, f"{said}, {before}", 1))))


def test_an_announcement_is_written_where_it_was_made():
    [found] = called(2, "2 ♠A", "2 says Re")
    assert found.end.log[0] == 64 * 4 + 8 * 1 + 0
    assert found.end.scores.tolist() == [-3, 3, 3, -3]
    assert "trick 2: 2 says Re, 2 ♠A, 3 ♠K, 4 ♠A, 1 ♠9; 2 takes 26" in notation.write(*found[:5])
    [found] = called(1, "3 ♣10", "4 sagt Kontra, 2 says Re")
    assert found.end.logged == 2


@pytest.mark.parametrize("said", ["2 says Re, 2 says no 90", "2 says no 90, 2 says Re", "2 sagt keine 90"])
def test_announcements_in_a_row_are_the_highest_of_them(said):
    """In any order, as people write them: the higher one implies the lower."""
    [found] = called(2, "2 ♠A", said)
    assert (found.end.logged, found.end.call[1]) == (1, 1)
    assert "trick 2: 2 says no-90, 2 ♠A" in notation.write(*found[:5])
    assert found.end.scores.tolist() == called(2, "2 ♠A", "2 says no 90")[0].end.scores.tolist()


def test_announcements_with_another_between_them_stay_two():
    [found] = called(2, "2 ♠A", "2 says Re, 1 says Kontra, 2 says no 90")
    assert found.end.logged == 3


def test_announcements_in_a_row_may_stand_in_two_lines():
    plain = PEOPLE.replace("doppelkopf:thesis", "doppelkopf:solos=no").split("\nRe:")[0]
    [found] = notation.read(plain.replace("trick 2: ", "trick 2: 2 says Re\ntrick 2: 2 says no 90, ", 1))
    assert (found.end.logged, found.end.call[1]) == (1, 1)


@pytest.mark.parametrize("name", ["doppelkopf", "doppelkopf:nines=no", "doppelkopf:thesis"])
def test_a_german_record_is_read_back(name):
    for seed in range(6):
        _, actions, _ = random_game(name, seed)
        players = ["a und b", "sagt", "net:runs/x", "random"]
        text = notation.write(seed, name, players, 7, actions)
        german = to_german(text)
        assert not re.search(r"\b(game|seat|trick|says|takes|healthy|reservation|scores|won|marriage)\b", german)
        assert not re.search(r"[♣♠♥♦][JQ]\b", german)
        [found] = notation.read(german)
        assert found.actions == actions
        assert found.players == players
        assert notation.write(*found[:5]) == text


@pytest.mark.parametrize(
    ("trick", "before", "said", "text"),
    [
        (4, "4 ♣K", "2 says Re", "line 11: seat 2 may not announce Re here: with 9 cards left it is too late"),
        (2, "2 ♠A", "2 says Kontra", "line 9: seat 2 announces Kontra, but it is Re"),
        (2, "3 ♠K", "2 says no 90, 2 says no 90", "line 9: seat 2 may not announce no 90"),
        (2, "2 ♠A", "2 says no 90, 2 says no 90", "line 9: seat 2 may not announce no-90 twice"),
        (3, "1 ♥K", "1 says no 90", "line 10: seat 1 may not announce no 90"),
        (2, "2 ♠A", "2 says ♠A", "line 9: seat 2 can't play ♠A: it should make an announcement or stay silent"),
    ],
)
def test_an_announcement_out_of_time_is_refused(trick, before, said, text):
    with pytest.raises(BadInput, match=text):
        called(trick, before, said)


# ---------------------------------------------------------------- actions


def test_an_illegal_action_is_refused_with_the_reason():
    _, actions, _ = random_game("doppelkopf:thesis", 3)
    wrong = {
        (0, 30): "action 1: .* is impossible while cards are dealt",
        (50, 99): "action 51: seat 3 can't say action 99",
        (50, -1): "action 51: seat 3 can't say action -1",
    }
    for (ply, action), text in wrong.items():
        with pytest.raises(BadInput, match=text):
            notation.replay(THESIS, [*actions[:ply], action, *actions[ply + 1 :]])
    with pytest.raises(BadInput, match="♣9 can't be dealt a third time"):
        notation.replay(THESIS, [0, 0, 0, *actions[3:]])
    with pytest.raises(BadInput, match="the game ends after 47 of 48 cards"):
        notation.replay(THESIS, actions[:-1])
    with pytest.raises(BadInput, match="there are more actions after the end of the game"):
        notation.replay(THESIS, [*actions, 3])


def test_compiled_and_plain_replays_refuse_the_same_games(games_with_lines):
    for actions, end, _ in games_with_lines[:2]:
        assert notation.replay(THESIS, actions, compiled=True).scores.tolist() == end.scores.tolist()
        for wrong in (actions[:-1], [*actions, 1], [*actions[:60], 25, *actions[61:]], [10**25], []):
            with pytest.raises(BadInput):
                notation.replay(THESIS, wrong, compiled=True)
