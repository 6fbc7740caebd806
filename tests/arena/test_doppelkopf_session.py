"""Sessions of Doppelkopf: dealers, owed and forced solos, and folders that are resumed."""

import json

import pytest

from kibitz.core.names import BadInput
from kibitz.doppelkopf.rules.announcements import SILENT
from kibitz.doppelkopf.rules.cards import TYPES
from kibitz.doppelkopf.rules.session import Standing, after, next_game, seated
from kibitz.doppelkopf.rules.state import RESERVES, SAYS_HEALTHY, SOLO, TYPE
from kibitz.doppelkopf.session import FILE, open_session, play_sessions, summary, totals
from kibitz.games import legal_actions, load, positions
from kibitz.play import players

RANDOM = ["random"] * 4
DDV = load("doppelkopf")


class Healthy(players.Human):
    """Says nothing of its own accord, and plays its first card."""

    said = (SAYS_HEALTHY, SILENT)

    def move(self, view):
        legal = legal_actions(self.game, view)
        return next((action for action in self.said if action in legal), legal[0])


class Soloist(Healthy):
    """Names a solo whenever it may."""

    said = (RESERVES, TYPE + TYPES.index("♥ solo"), SILENT)


@pytest.fixture(autouse=True)
def scripted(monkeypatch):
    monkeypatch.setitem(players.PLAYERS._classes, "healthy", Healthy)
    monkeypatch.setitem(players.PLAYERS._classes, "soloist", Soloist)


def played(folder, names=RANDOM, games=24, sessions=1, solos=True, seed=1, rules="doppelkopf", processes=1):
    run = open_session(folder, rules, names, games, sessions, solos, seed)
    return play_sessions(run, processes, alone=0)


def test_players_that_never_offer_a_solo_are_forced_in_the_last_games(tmp_path):
    [session] = played(tmp_path, ["healthy"] * 4)
    assert [game.before.dealer for game in session] == [3, 0, 1, 2] * 5 + [3] * 4
    assert [game.game.forced for game in session] == [-1] * 20 + [0, 1, 2, 3]
    assert [game.game.owed for game in session] == [15] * 21 + [14, 12, 8]
    assert [int(game.end.soloist) for game in session[20:]] == [0, 1, 2, 3]
    assert [int(game.end.leaders[0]) for game in session] == [0] * 20 + [0, 1, 2, 3]
    assert session[-1].after == Standing(24, 3, 0)


def test_the_first_solo_is_the_compulsory_one_and_the_same_dealer_deals_again(tmp_path):
    """Player 3 (on seat 2 at first) leads to its compulsory solo, to the others not."""
    [session] = played(tmp_path, ["healthy", "healthy", "soloist", "healthy"], 6)
    assert [game.before.dealer for game in session] == [3, 3, 0, 1, 1, 1]
    assert [game.compulsory for game in session] == [True, False, False, True, True, True]
    assert [game.game.forced for game in session] == [-1, -1, -1, 1, 2, 3]  # left of the dealer, 2, is player 3: paid
    soloists = [seated(game.before)[int(game.end.soloist)] for game in session]
    assert soloists == [2, 2, 2, 3, 0, 1]
    assert [int(game.end.leaders[0]) for game in session] == [2, 0, 0, 1, 2, 3]


def test_every_player_plays_one_compulsory_solo_and_points_sum_to_zero(tmp_path):
    for session in played(tmp_path, games=8, sessions=3):
        assert len(session) == 8
        dealer, paid = 3, []
        for game in session:
            assert game.before.dealer == dealer
            assert game.record.players == RANDOM
            assert sum(game.scores) == 0
            order = [(dealer + 1 + seat) % 4 for seat in range(4)]
            assert [game.scores[player] for player in order] == game.record.payoffs
            soloist = order[int(game.end.soloist)] if max(game.end.named) in range(1, len(TYPES)) else -1
            if soloist >= 0 and soloist not in paid:
                paid.append(soloist)
                assert game.end.leaders[0] == order.index(soloist)
            else:
                dealer = (dealer + 1) % 4
                assert game.end.leaders[0] == 0
        assert sorted(paid) == [0, 1, 2, 3]
        assert sum(totals(session)) == 0


@pytest.mark.parametrize(
    ("standing", "owed", "forced"),
    [
        (Standing(0, 3, 15), 0b1111, -1),
        (Standing(19, 1, 15), 0b1111, -1),
        (Standing(20, 1, 15), 0b1111, 0),
        (Standing(22, 1, 0b1001), 0b0110, 1),  # players 1 and 4: seats 3 and 2 behind dealer 2
        (Standing(21, 1, 0b1001), 0b0110, -1),
        (Standing(23, 0, 0b0001), 0b1000, 3),
        (Standing(23, 0, 0), 0, -1),
    ],
)
def test_the_rules_of_the_next_game_name_the_seats_that_owe_a_solo(standing, owed, forced):
    assert next_game(DDV, standing, 24) == DDV._replace(owed=owed, forced=forced)


@pytest.mark.parametrize(("bride", "then"), [(-1, Standing(5, 2, 0b0111)), (0, Standing(5, 3, 0b1111))])
def test_a_marriage_that_found_no_partner_is_no_compulsory_solo(bride, then):
    end = positions(DDV)[0]
    end.mode, end.soloist, end.bride = SOLO, 0, bride
    assert after(Standing(4, 2, 15), DDV._replace(owed=15), end) == then


def test_without_compulsory_solos_the_dealer_always_moves_on(tmp_path):
    [session] = played(tmp_path, ["soloist"] * 4, 6, solos=False)
    assert [game.before.dealer for game in session] == [3, 0, 1, 2, 3, 0]
    assert {game.game for game in session} == {DDV}


def test_any_number_of_processes_and_any_kill_give_the_same_games(tmp_path):
    names = ["random", "random", "random", "ensemble-uct:1x2"]
    asked = {"names": names, "games": 5, "sessions": 2, "rules": "doppelkopf:calls=0"}
    played(tmp_path / "whole", **asked)
    whole = (tmp_path / "whole" / FILE).read_bytes()
    played(tmp_path / "two", **asked, processes=2)
    assert (tmp_path / "two" / FILE).read_bytes() == whole
    lines = whole.splitlines(keepends=True)
    for kept in (lines[:3] + lines[5:7], [*lines[:9], lines[9][:200]]):  # the second session is behind; cut off
        (tmp_path / "two" / FILE).write_bytes(b"".join(kept))
        played(tmp_path / "two", **asked)
        assert (tmp_path / "two" / FILE).read_bytes() == whole
    played(tmp_path / "two", **(asked | {"sessions": 3}))
    assert (tmp_path / "two" / FILE).read_bytes().startswith(whole)
    assert (tmp_path / "two" / FILE).read_bytes().count(b"\n") == 15


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"game": "doppelkopf"}, "game 2 is of another session"),
        ({"seed": 2}, "game 2 is of another session"),
        ({"number": 0}, "game 1 is there twice"),
        ({"number": 3}, "game 3 is there twice, or without those before it"),
        ({"number": 99}, "game 3 is there twice, or without those before it"),
        ({"payoffs": [9.0, -3.0, -3.0, -3.0]}, "game 2 pays"),
    ],
)
def test_games_of_another_session_are_refused(tmp_path, change, text):
    played(tmp_path, games=4, rules="doppelkopf:calls=0")
    lines = (tmp_path / FILE).read_text().splitlines(keepends=True)
    lines[1] = json.dumps(json.loads(lines[1]) | change) + "\n"
    (tmp_path / FILE).write_text("".join(lines))
    with pytest.raises(BadInput, match=text):
        played(tmp_path, games=4, rules="doppelkopf:calls=0")


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"rules": "kuhn"}, "kuhn has no sessions: only doppelkopf has"),
        ({"rules": "doppelkopf:owed=3"}, "leave out owed and forced"),
        ({"rules": "doppelkopf:solos=no"}, "solos are owed, so solos should be yes"),
        ({"names": ["random"] * 3}, "is for 4 players, not 3"),
        ({"names": [*RANDOM[1:], "randm"]}, "did you mean 'random'"),
        ({"games": 3}, "games should be at least 4, not 3"),
        ({"sessions": 0}, "sessions should be at least 1, not 0"),
        ({"seed": -1}, "seed should be at least 0, not -1"),
    ],
)
def test_a_session_that_cannot_be_played_leaves_no_folder(tmp_path, change, text):
    with pytest.raises(BadInput, match=text):
        played(tmp_path / "run", **change)
    assert not (tmp_path / "run").exists()


def test_points_of_a_name_are_the_mean_of_its_seats(tmp_path):
    names = ["random", "healthy", "healthy", "soloist"]
    sessions = played(tmp_path, names, 4, 3, rules="doppelkopf:calls=0")
    points = [totals(session) for session in sessions]
    found = summary(names, sessions)
    assert list(found) == ["random", "healthy", "soloist"]
    assert found["random"].mean == pytest.approx(sum(total[0] for total in points) / 3)
    assert found["healthy"].mean == pytest.approx(sum(total[1] + total[2] for total in points) / 6)
    assert found["soloist"].low <= found["soloist"].mean <= found["soloist"].high
