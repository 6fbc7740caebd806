"""The contract of players, for every registered player, and for players outside the package."""

import json
from contextlib import suppress
from typing import ClassVar

import numpy as np
import pytest

from kibitz import games
from kibitz.core import names
from kibitz.core.names import BadInput
from kibitz.play import players
from kibitz.play.exploitability import exploit
from kibitz.play.players.contract import check_player
from kibitz.poker.solve.buckets import lossless
from kibitz.poker.solve.cards import cards_of
from kibitz.poker.solve.files import save_strategy
from kibitz.poker.solve.solver import PublicChanceCfr
from kibitz.poker.solve.strategy import TableStrategy
from kibitz.solve.cfr import Cfr
from kibitz.train.ntuple.store import save_ntuples
from kibitz.train.ntuple.tuples import sharing

from ..app.conftest import kibitz
from .engines import first_column

__all__ = ["kibitz"]

GAMES = ("leduc", "connect_four")  # one with hidden information and one without; a player plays at least one of them
OPTIONS = {  # of players that need some
    "alphabeta": "alphabeta:3",
    "always": "always:raise",
    "doko": "doko:models/doppelkopf,simulations=4",
    "cards": "cards:models/doppelkopf",
    "ensemble-uct": "ensemble-uct:3x20,exact=0",
    "features": "features:models/connect_four",
    "mmds": "mmds:40,net=models/leduc",
    "net": "net:models/leduc",
    "openspiel-bot": "openspiel-bot:mcts,simulations=4",
    "style": "style:loose-aggressive",
}
OTHER_GAMES = {
    "cards": "doppelkopf",
    "doko": "doppelkopf:thesis",
    "heuristic": "doppelkopf",
    "style": "holdem:flop",
}
# These need a person, or a network that a test has to train: see test_players.py and tests/learn/doppelkopf.
ELSEWHERE = {"human", "lstm", "uct-lstm"}


def subject(name, tmp_path):
    """A player's name with the options that it needs."""
    if name == "strategy":
        solver = Cfr(games.load("leduc"), "cfr+")
        solver.run(10)
        solver.strategy().save(tmp_path / "strategy.safetensors")
        return f"strategy:{tmp_path}"
    if name == "resolve":
        game = games.load("leduc")
        solver = PublicChanceCfr(game, lossless(cards_of(game)), threads=1)
        solver.run(20)
        table = TableStrategy(game, solver.tree, solver.buckets, solver.tables.first, solver.probs())
        save_strategy(tmp_path / "strategy.safetensors", table, "")
        return f"resolve:{tmp_path},iterations=20"
    if name == "ntuple":
        game = games.load("connect_four")
        save_ntuples(tmp_path / "network.safetensors", game, "cells", np.zeros(sharing(game, "cells").size))
        return f"ntuple:{tmp_path}"
    if name == "engine":
        return f"engine:{first_column(tmp_path)}"
    kind = players.PLAYERS[name]
    searches = "simulations" in names.hints(getattr(kind, "Options", kind))
    return OPTIONS.get(name, f"{name}:simulations=40" if searches else name)


@pytest.mark.parametrize("name", sorted(set(players.PLAYERS) - ELSEWHERE))
def test_every_player_keeps_the_contract(name, tmp_path):
    text, views = subject(name, tmp_path), 0
    for game in (OTHER_GAMES[name],) if name in OTHER_GAMES else GAMES:
        with suppress(BadInput):  # a game that it can't play
            views += check_player(text, game)
    assert views > 4


class Honest:
    def begin(self, game, seat, seed):
        self.game, self.seat = game, seat
        self.generator = np.random.default_rng(seed)

    def move(self, view):
        return int(self.generator.choice(games.legal_actions(self.game, view)))


class Illegal(Honest):
    def move(self, view):
        return 17


class Restless(Honest):
    count: ClassVar[list] = [0]

    def move(self, view):
        self.count[0] += 1
        return self.count[0] % 2


class Meddling(Honest):
    def move(self, view):
        view.line = 2
        return 0


class Unsure(Honest):
    def action_probs(self, views):
        return np.full((len(views), 2), 0.6)


class Contradicts(players.Random):
    def action_probs(self, views):
        return np.tile([1.0, 0.0], (len(views), 1))


def test_a_player_outside_the_package_is_checked():
    assert check_player(Honest(), "kuhn") > 4


@pytest.mark.parametrize(
    ("player", "rule"),
    [
        (Illegal, "plays 17, which is not legal"),
        (Restless, "the same seed gives another move"),
        (Meddling, "the view was changed"),
        (Contradicts, "differs from the advice"),
    ],
)
def test_a_broken_contract_is_named(player, rule):
    with pytest.raises(AssertionError, match=rule):
        check_player(player(), "kuhn", games=8)


def test_probabilities_that_do_not_sum_to_1_are_refused():
    with pytest.raises(BadInput, match=r"Unsure gives probabilities that sum to 1\.2, not 1"):
        check_player(Unsure(), "kuhn")


# ---------------------------------------------------------------- a player in a file

TOY = '''
from typing import Annotated

import numpy as np


class Toy:
    """Bets with a fixed probability."""

    def __init__(self, bet: Annotated[float, "probability of a bet"] = 0.5) -> None:
        self.bet = bet

    def action_probs(self, views):
        return np.tile([1 - self.bet, self.bet], (len(views), 1))


class Needy:
    def __init__(self, size: Annotated[int, "of something", range(1, 4)]) -> None:
        self.size = size

    def move(self, view):
        return 0


class Nothing:
    pass
'''


@pytest.fixture
def toy(tmp_path):
    (tmp_path / "toy.py").write_text(TOY)
    return "toy.py:Toy"


def test_a_player_from_a_file_plays_matches_in_every_process(kibitz, tmp_path, toy):
    for count in ("1", "2"):
        asked = ("--games", "60", "--processes", count, "--out", count)
        code, out, _ = kibitz("match", "kuhn", f"{toy}:0.9", "random", *asked)
        assert code == 0
        assert "toy.py:Toy:0.9" in out
    assert (tmp_path / "1" / "games.jsonl").read_bytes() == (tmp_path / "2" / "games.jsonl").read_bytes()


def test_a_player_from_a_file_plays_tournaments(kibitz, tmp_path, toy):
    asked = ("tournament", "kuhn", toy, f"{toy}:bet=0.1", "random", "--games", "20", "--processes", "1")
    path = str(tmp_path / toy)
    assert kibitz(*asked, "--json", "report.json")[0] == 0
    assert set(json.loads((tmp_path / "report.json").read_text())["order"]) == {path, f"{path}:bet=0.1", "random"}


def test_a_player_from_a_file_is_exploited(kibitz, tmp_path, toy):
    """Betting half of the time is random play."""
    asked = ("exploit", "kuhn", toy, "--seeds", "1", "--processes", "1")
    assert kibitz(*asked, "--json", "report.json")[0] == 0
    found = json.loads((tmp_path / "report.json").read_text())["nash_conv"]
    assert found == pytest.approx(exploit("kuhn", "random", seeds=1).nash_conv)


def test_a_player_from_a_file_is_played_against(kibitz, tmp_path, toy, monkeypatch):
    answers = iter(["pass\n"] * 3 + ["quit\n"])
    monkeypatch.setattr("sys.stdin.readline", lambda: next(answers, ""))
    code, out, error = kibitz("play", "kuhn", "--against", toy, "--seed", "1")
    assert code == 0, error
    assert "seat 2" in out


def test_a_player_from_a_file_keeps_the_contract(tmp_path, toy, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert check_player("toy.py:Toy:bet=0.25", "kuhn") > 4


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("toy.py:Toy:much", "toy.py:Toy: bet=much should be a number"),
        ("toy.py:Toy:raise=1", "toy.py:Toy: no parameter is called 'raise'; its parameters are bet (a number)"),
        ("toy.py:Needy", "toy.py:Needy: size is missing; its parameters are size (1 to 3)"),
        ("toy.py:Needy:9", "toy.py:Needy: size=9 is out of range, it should be 1 to 3"),
        ("toy.py:Nothing", "is no player: give a name, or an object with move(view) or action_probs(views)"),
        ("toy.py:Tuy", "toy.py has no player 'Tuy': its classes are Toy, Needy, Nothing"),
        ("tuy.py:Toy", "no file 'tuy.py'"),
        ("broken.py:Toy", "broken.py:1 can't be imported: SyntaxError"),
    ],
)
def test_a_bad_player_from_a_file_is_refused_in_one_line(kibitz, tmp_path, toy, text, why):
    (tmp_path / "broken.py").write_text("class Toy(:\n")
    code, _, error = kibitz("match", "kuhn", text, "random")
    assert code == 2
    assert why in error
    assert error.count("\n") == 1


def test_a_player_registered_in_a_program_has_a_name(monkeypatch):
    monkeypatch.setattr(players.PLAYERS, "_classes", dict(players.PLAYERS._all()))
    players.player("honest")(Honest)
    assert check_player("honest", "kuhn") > 4
    assert not players.in_any_process("honest")  # another process has not run this program
    assert players.in_any_process("random")
