"""`kibitz advise` and `kibitz play`."""

import json
import os
import re
import select
import subprocess
import sys
from pathlib import Path

import pytest

from kibitz import games
from kibitz.app.ui import position_parser
from kibitz.app.ui.position_parser import parse_position
from kibitz.core.names import BadInput
from kibitz.play import players
from kibitz.search.strategy import read_strategy

from ...games.walks import every_game, same, view_of, walks
from ..ui.test_terminal import Script

ROOT = Path(__file__).parents[3]
PIPED = dict(os.environ, PYTHONPATH=str(ROOT), COLUMNS="80")


# ---------------------------------------------------------------- advise


def test_advice_is_shown_for_a_position(kibitz):
    code, out, error = kibitz("advise", "leduc", "? K raise", "--with", "random")
    assert (code, error) == (0, "")
    assert "leduc, seat 2 to move" in out
    assert "seat 2 (you): K, 1 in the pot" in out
    for move in ("fold", "call", "raise"):
        assert re.search(rf"^{move} +33\.3% +█{{7}}", out, re.M)
    assert "value" not in out  # it is unknown


def test_a_strategy_advises_the_policy_in_its_file(kibitz, tmp_path):
    kibitz("solve", "leduc", "--iterations", "20", "--out", "run")
    strategy = read_strategy(tmp_path / "run" / "strategy.safetensors")
    game = games.load("leduc")
    state = parse_position(game, "Q ? check raise")[-1]
    wanted = strategy.at(int(game.infoset(state, 0)), 3)
    code, out, _ = kibitz("advise", "leduc", "Q ? check raise", "--with", "strategy:run", "--json", "advice.json")
    advice = json.loads((tmp_path / "advice.json").read_text())
    assert code == 0
    assert [move["policy"] for move in advice["moves"]] == pytest.approx(wanted)
    assert [move["move"] for move in advice["moves"]] == ["fold", "call", "raise"]
    for share in wanted:
        assert f" {100 * share:.1f}%" in out
    assert (advice["game"], advice["seat"], advice["line"]) == ("leduc", 1, ["Q", "?", "check", "raise"])


def test_a_search_shows_values_visits_and_simulations(kibitz, tmp_path):
    code, out, _ = kibitz("advise", "kuhn", "? K bet", "--with", "oos:2000", "--json", "advice.json")
    assert code == 0
    advice = json.loads((tmp_path / "advice.json").read_text())
    assert {move["move"]: round(move["value"]) for move in advice["moves"]} == {"pass": -1, "bet": 2}
    assert re.search(r"^bet .*%.* \+2\.000 ", out, re.M)
    assert "2,000 simulations in" in out
    assert "visits" in out


def test_moves_need_no_quotes(kibitz):
    asked = ("--with", "alphabeta:2", "--json", "-")
    _, out, _ = kibitz("advise", "tic_tac_toe", "b2", "a1", "c3", *asked)
    report = json.loads(out)
    assert report["line"] == ["b2", "a1", "c3"]  # to the position, not from it
    assert len(report["principal_variation"]) > 0
    _, quoted, _ = kibitz("advise", "tic_tac_toe", "b2 a1 c3", *asked)
    assert json.loads(quoted)["moves"] == report["moves"]


def test_without_a_player_the_default_one_advises_and_is_named(kibitz, tmp_path):
    code, out, _ = kibitz("advise", "holdem", "??AhAs", "--json", "advice.json")
    assert code == 0
    assert "net:models/holdem would play" in out
    assert "a policy without search" in out
    advice = json.loads((tmp_path / "advice.json").read_text())
    assert advice["line"] == ["?", "?", "Ah", "As"]
    assert {move["move"]: move["policy"] for move in advice["moves"]}["fold"] < 0.01


@pytest.mark.parametrize("simulations", [10, 1000])
def test_a_search_that_hardly_came_by_says_so(kibitz, simulations):
    _, out, _ = kibitz("advise", "holdem:flop", "? ? Ah As", "--with", f"oos:{simulations}", "--seed", "3")
    assert re.search(r"only \d+ visits?: little to rely on", out)
    assert f"{simulations:,} simulations in" in out


@pytest.mark.parametrize("simulations", [10_000, 100_000, 200_000])  # the view is met once in 2,700 simulations
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_advice_that_may_be_a_mistake_says_so(kibitz, simulations, seed):
    asked = ("--with", f"oos:{simulations}", "--seed", str(seed))
    assert "little to rely on" in kibitz("advise", "holdem", "??7h2c", *asked)[1]


@pytest.mark.parametrize("player", ["oos:2000", "oos:20000", "ismcts:1000"])
@pytest.mark.parametrize("line", ["K Q check", "J ?", "K ? raise call Q"])
def test_sound_advice_is_given_without_a_warning(kibitz, player, line):
    code, out, _ = kibitz("advise", "leduc", *line.split(), "--with", player, "--seed", "1")
    assert code == 0
    assert "simulations in" in out
    assert "little to rely on" not in out


def test_advice_is_given_in_german(kibitz):
    _, out, _ = kibitz("advise", "kuhn", "? K bet", "--with", "oos:200", "--language", "de")
    for word in ("würde spielen", "Zug", "Anteil", "Wert", "Besuche", "Simulationen in", "Werte: erwartetes Ergebnis"):
        assert word in out


def test_a_search_to_a_depth_shows_depth_and_positions(kibitz, tmp_path):
    asked = ("advise", "tic_tac_toe", "b2", "--with", "alphabeta:3")
    _, out, _ = kibitz(*asked, "--json", "advice.json")
    assert re.search(r"depth 3, [\d,]+ positions in", out)
    assert json.loads((tmp_path / "advice.json").read_text())["depth"] == 3
    _, out, _ = kibitz(*asked, "--language", "de")
    assert re.search(r"Tiefe 3, [\d.]+ Stellungen in", out)


def test_cards_may_be_written_together():
    assert position_parser.split("AhAs") == ["Ah", "As"]
    assert position_parser.split("??Ah10s, raise") == ["?", "?", "Ah", "10s", "raise"]
    assert position_parser.split("K Q 1x2 a2-a3 d4") == ["K", "Q", "1x2", "a2-a3", "d4"]
    error = "add 2c, 2d, 2h or another \\(50 are possible\\) to the moves; \\? stands for what the seat"
    with pytest.raises(BadInput, match=error):
        parse_position(games.load("holdem"), "AhAs")
    with pytest.raises(BadInput, match="the 1st move, 'Xx', is not possible: the chance outcomes are 2c, 2d, 2h or an"):
        parse_position(games.load("holdem"), "Xx")


def test_json_on_stdout_comes_alone(kibitz, tmp_path):
    code, out, error = kibitz("advise", "kuhn", "?,Q, bet", "--with", "random", "--json", "-")
    assert (code, error) == (0, "")
    assert json.loads(out)["seat"] == 2
    assert list(tmp_path.iterdir()) == []


def test_advice_shows_what_may_be_believed(kibitz):
    code, out, _ = kibitz("advise", "kuhn", "? Q bet", "--with", "random", "--beliefs", "random")
    assert code == 0
    assert out.splitlines()[-2:] == ["if the opponent plays like random", "card of seat 1: J 50.0%, K 50.0%"]
    _, out, _ = kibitz("advise", "kuhn", "? Q bet", "--with", "random", "--beliefs", "any", "--json", "-")
    assert json.loads(out)["beliefs"]["basis"] == "uniform over deals that fit"
    code, _, error = kibitz("advise", "kuhn", "? Q bet", "--with", "random", "--beliefs", "oos:10")
    assert code == 2
    assert "oos:10 gives no probabilities for every hand" in " ".join(error.split())


def test_the_same_seed_gives_the_same_advice(kibitz):
    def moves(seed):
        return json.loads(kibitz("advise", "leduc", "K ?", "--with", "oos:200", "--seed", seed, "--json", "-")[1])[
            "moves"
        ]

    assert moves("4") == moves("4") != moves("5")


def test_the_adviser_is_shown_the_earlier_views_of_its_seat(kibitz, monkeypatch):
    made = []

    class Remembers(players.Random):
        def begin(self, *arguments):
            super().begin(*arguments)
            self.shown = []

        def advise(self, view):
            self.shown.append(view)
            made.append(self)
            return super().advise(view)

    monkeypatch.setitem(players.PLAYERS._classes, "random", Remembers)
    assert kibitz("advise", "leduc", "K Q check raise call J", "--with", "random")[0] == 0
    game = games.load("leduc")
    shown = made[-1].shown
    assert made[-1].seat == 0
    assert [int(game.infoset(view, 0)) for view in shown] == [
        int(game.infoset(parse_position(game, words)[-1], 0))
        for words in ("K ?", "K ? check raise", "K ? check raise call J")
    ]
    assert all(int(view.cards[1]) == -1 for view in shown)


def test_a_player_without_advice_is_refused(kibitz, monkeypatch):
    class Silent(Script):
        def __init__(self):
            super().__init__(0)

    monkeypatch.setitem(players.PLAYERS._classes, "random", Silent)
    assert "random gives no advice" in kibitz("advise", "kuhn", "J ?", "--with", "random")[2]


# ---------------------------------------------------------------- parsing of positions


@every_game
def test_every_game_parses_to_the_states_that_were_played(game):
    for steps in walks(game, 2):
        for i, step in enumerate(steps):
            # Only some positions of a long game: each sequence contains the earlier ones.
            if step.turn >= 0 and (i % (1 + len(steps) // 50) == 0 or i == len(steps) - 2):
                words = [game.action_to_string(earlier.state, earlier.action) for earlier in steps[:i]]
                states = parse_position(game, " , ".join(words).upper())
                assert len(states) == i + 1
                assert all(same(state, step.state) for state, step in zip(states, steps, strict=False))


def test_hidden_moves_are_filled_in_so_that_the_sequence_is_legal():
    game = games.load("leduc:suits=1")
    states = parse_position(game, "? J check check Q check")
    assert states[-1].cards.tolist() == [2, 0]  # seat 1 has the only remaining card
    view = view_of(game, states[-1], 1)
    assert same(view, view_of(game, parse_position(game, "K J check check Q check")[-1], 1))
    assert parse_position(games.load("goofspiel:13"), "2 1 3 2 ?")[-1].rounds == 2


def test_moves_that_are_named_later_are_tried_last(monkeypatch):
    """Otherwise a few hidden cards of a large deck would take forever."""
    monkeypatch.setattr(position_parser, "MAX_TRIES", 7)  # the number of states in the sequence
    assert len(parse_position(games.load("leduc:suits=1"), "? J check check Q check")) == 7


def test_a_wrong_first_choice_is_backtracked(monkeypatch):
    """Cards whose names change with every deal give no hint of which are needed later."""
    game = games.load("leduc:suits=1")
    monkeypatch.setattr(
        type(game), "action_to_string", lambda self, state, action: "JQK"[action] * (1 + int(state.dealt))
    )
    states = parse_position(game, "? QQ QQQ QQQ JJJ QQQQ")
    assert states[-1].cards.tolist() == [2, 1]  # not the jack, as it is dealt later


@pytest.mark.parametrize(
    ("game", "moves", "complaint"),
    [
        ("leduc", "", "chance is next, not a seat: add J, Q or K to the moves"),
        ("leduc", "K K check check", "chance is next, not a seat: add J or Q to the moves"),
        ("leduc", "K J raise fold", "the game is over after these moves"),
        ("leduc", "K J raise fold raise", "the 5th move, 'raise', comes after the end of the game"),
        ("leduc", "K J bet", "the 3rd move, 'bet', is not possible: seat 1 can choose check or raise"),
        ("leduc", "K X check", "the 2nd move, 'X', is not possible: the chance outcomes are J, Q or K"),
        ("leduc", "K K check check K check", "the 5th move, 'K', is not possible: the chance outcomes are J or Q"),
        ("leduc:suits=1", "? J check check J check", "the 5th move, 'J', is not possible: the chance outcomes are"),
        ("leduc", "K ? raise", "the 2nd move is visible to seat 2: name it"),
        ("leduc", "? J check check ?", "the 5th move is visible to seat 1: name it"),
        ("leduc", "? K", "the 1st move is visible to seat 1: name it"),
        ("leduc", "K ? ? raise", "the 3rd move is visible to seat 1: name it"),
        ("goofspiel:4", "? 3", "the 1st move is visible to seat 1: name it"),
        ("goofspiel:4", "3 ?", "the 2nd move is visible to seat 1: name it, or one that looks the same to seat 1"),
        ("goofspiel:13", "? 1 ? 2 ? 3 ? 4 ? 5 ? 6 ? 7 ? 8 ? 9 ?", "the 17th move is visible to seat 2"),
        ("goofspiel:13", "? 1 ? 2 ? 3 ? 4 ? 5 ? 6 1 xyzzy", "'?': name some of them"),
    ],
)
def test_an_impossible_sequence_is_refused_with_what_is_possible(kibitz, game, moves, complaint):
    code, out, error = kibitz("advise", game, moves, "--with", "random")
    assert (code, out) == (2, "")
    assert complaint in error
    assert error.count("\n") == 1


BAD = {
    ("advise", "ledoc", "K"): "no game is called 'ledoc'",
    ("advise", "kuhn", "J ?", "--with", "magic"): "no player is called 'magic'",
    ("advise", "kuhn", "J ?", "--with", "strategy:none"): "can't play kuhn: no strategy file",
    ("advise", "kuhn", "J ?", "--with", "human"): "a human gives no advice",
    ("advise", "kuhn", "J ?", "--seed", "-1"): "--seed should be at least 0",
    ("advise", "kuhn", "J ?", "--with", "random", "--json", "no/such.json"): "can't write no/such.json",
    ("play", "kuhn", "--against", "magic"): "no player is called 'magic'",
    ("play", "kuhn", "--against", "random", "--with", "magic"): "no player is called 'magic'",
    ("play", "kuhn", "--against", "human"): "--against human: you are the human",
    ("play", "kuhn", "--against", "random", "--with", "human"): "--with human: you are the human",
    ("play", "kuhn", "--against", "random", "--seat", "3"): "--seat 3 should be 1, 2 or random",
    ("play", "kuhn", "--against", "random", "--seed", "-2"): "--seed should be at least 0, not -2",
}


@pytest.mark.parametrize("arguments", BAD, ids=" ".join)
def test_bad_input_is_reported_in_one_line(kibitz, arguments):
    code, _, error = kibitz(*arguments)
    assert code == 2
    assert BAD[arguments] in error
    assert error.startswith("kibitz: ")
    assert error.count("\n") == 1


# ---------------------------------------------------------------- play


def piped(text: bytes, *arguments: str) -> tuple[str, str]:
    command = [sys.executable, "-m", "kibitz", "play", *arguments]
    done = subprocess.run(command, input=text, capture_output=True, env=PIPED, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode(), done.stderr.decode()


def test_a_game_is_played_through_a_pipe():
    """Lines in, a transcript out, even with invalid bytes; it ends with the input."""
    out, error = piped(b"\xff\xfe\n1\n2\nmoves\n", "goofspiel:3", "--against", "random", "--advice", "--seed", "2")
    assert error == ""
    assert "your move> 1\n" in out
    assert out.count("random would play") == 2
    assert "game over, everything revealed" in out
    assert "play again? [Y/n/same] moves" in out
    assert re.search(r"you left the game\nscore: .* after 1 game \(.*\)\n$", out)
    assert max(map(len, out.splitlines())) <= 80


def test_seat_kibitzer_and_seed_are_options(kibitz, monkeypatch):
    seen = []
    monkeypatch.setattr("kibitz.app.ui.terminal.TerminalGame.run", lambda self: seen.append(self))
    for options in (["--seat", "2"], ["--with", "oos:10", "--advice"], ["--seed", "7"], [], []):
        assert kibitz("play", "kuhn", "--against", "random", *options)[0] == 0
    for seed in range(8):
        kibitz("play", "kuhn", "--against", "random", "--seat", "random", "--seed", str(seed))
    assert [table.seat for table in seen[:3]] == [1, 0, 0]
    assert [table.name for table in seen[:2]] == ["random", "oos:10"]
    assert [table.advice for table in seen[:2]] == [False, True]
    assert [type(table.kibitzer.player).__name__ for table in seen[:2]] == ["Random", "OosPlayer"]
    assert all(table.kibitzer is not table.others[0] for table in seen)
    assert seen[2].seed == 7
    assert seen[3].seed != seen[4].seed
    assert {table.seat for table in seen[5:]} == {0, 1}


def test_a_game_may_name_its_opponent_and_have_german_terms(kibitz, monkeypatch):
    seen = []
    monkeypatch.setattr("kibitz.app.ui.terminal.TerminalGame.run", lambda self: seen.append(self))
    for arguments in (["kuhn"], ["doppelkopf"], ["doppelkopf", "--against", "random", "--language", "de"]):
        assert kibitz("play", *arguments)[0] == 0
    assert [table.name for table in seen] == ["oos:seconds=0.5", "doko:models/doppelkopf", "random"]
    assert [table.against for table in seen] == ["oos:seconds=0.5", "doko:models/doppelkopf", "random"]
    assert [table.display.language for table in seen] == ["en", "en", "de"]
    assert "no language is called 'fr': known are de, en" in kibitz("play", "kuhn", "--language", "fr")[2]


MINE = """
class Lowest:
    def begin(self, game, seat, seed):
        self.game = game

    def move(self, view):
        from kibitz.games import legal_actions
        return legal_actions(self.game, view)[0]
"""


def test_players_from_files_play_and_advise(kibitz, tmp_path, monkeypatch):
    """Paths may contain colons: only the one behind .py separates the class."""
    folder = tmp_path / "a:b"
    folder.mkdir()
    (folder / "mine.py").write_text(MINE)
    seen = []
    monkeypatch.setattr("kibitz.app.ui.terminal.TerminalGame.run", lambda self: seen.append(self))
    code, _, error = kibitz("play", "kuhn", "--against", "a:b/mine.py:Lowest", "--with", f"{folder}/mine.py:Lowest")
    assert (code, error) == (0, "")
    assert seen[0].name == f"{folder}/mine.py:Lowest"
    view = parse_position(games.load("kuhn"), "J ?")[-1]
    for player in (*seen[0].others, seen[0].kibitzer):
        player.begin(games.load("kuhn"), 0, 1)
        assert player.move(view) == 0
    assert "gives no advice" in kibitz("advise", "kuhn", "J ?", "--with", "a:b/mine.py:Lowest")[2]


class Terminal:
    """`kibitz play` in a terminal of its own."""

    def __init__(self, *arguments):
        import pty

        self.seen = ""
        self.child, self.terminal = pty.fork()
        if self.child == 0:
            os.execve(sys.executable, [sys.executable, "-m", "kibitz", "play", *arguments], dict(PIPED, TERM="xterm"))

    def until(self, text):
        """Read until this text appears; None: until the end."""
        while text is None or text not in self.seen:
            assert select.select([self.terminal], [], [], 60)[0], self.seen
            try:
                part = os.read(self.terminal, 65536)
            except OSError:  # Linux says so when the other side has closed
                part = b""
            if not part:
                assert text is None, self.seen
                break
            self.seen += part.decode()
        seen, self.seen = self.seen, ""
        return seen

    def type(self, text):
        os.write(self.terminal, text.encode())

    def end(self):
        os.close(self.terminal)
        return os.waitstatus_to_exitcode(os.waitpid(self.child, 0)[1])


@pytest.mark.skipif(sys.platform == "win32", reason="needs a terminal of its own")
def test_a_person_plays_at_a_terminal():
    terminal = Terminal("kuhn", "--against", "random", "--seed", "4")
    assert "\x1b[" in terminal.until("your move> ")  # in colours
    terminal.type("a\n")
    assert "random would play" in terminal.until("your move> ")
    terminal.type("bet\n")
    assert "game over, everything revealed" in terminal.until("play again? [Y/n/same] ")
    terminal.type("\n")
    assert "you are seat 2" in terminal.until("your move> ")
    terminal.type("\x04")  # Ctrl-D
    assert re.search(r"\r\n.*you left the game.*\r\n.*score: .* after 1 game ", terminal.until(None))
    assert terminal.end() == 0


@pytest.mark.skipif(sys.platform == "win32", reason="needs a terminal of its own")
def test_ctrl_c_leaves_with_one_line():
    terminal = Terminal("kuhn", "--against", "random", "--seed", "4")
    terminal.until("your move> ")
    terminal.type("\x03")
    while not select.select([terminal.terminal], [], [], 1)[0]:
        terminal.type("\x03")  # it came just before the prompt was ready for it
    text = terminal.until(None)
    assert "stopped; score: no game finished yet" in text
    assert "Traceback" not in text
    assert terminal.end() == 130
