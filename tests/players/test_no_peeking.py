"""No player peeks: equal views give equal moves and equal advice, whatever is hidden.

Players are found in the registry: a new kind is tested from the day it is registered.
"""

from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from kibitz import games
from kibitz.core.names import BadInput
from kibitz.play import players
from kibitz.play.players.contract import check_no_peeking
from kibitz.play.players.listing import player_info
from kibitz.poker.solve.buckets import lossless
from kibitz.poker.solve.cards import cards_of
from kibitz.poker.solve.files import save_strategy
from kibitz.poker.solve.solver import PublicChanceCfr
from kibitz.poker.solve.strategy import TableStrategy
from kibitz.solve.cfr import Cfr

RUNS = Path(__file__).parents[1] / "app" / "runs_of_0_2"
HIDDEN = ["kuhn", "leduc", "goofspiel:4", "liars_dice", "holdem", "doppelkopf", "doppelkopf:thesis"]
TINY = {  # names of players with a tiny budget, or with the files that tests have
    "doko": "doko:models/doppelkopf,simulations=2",
    "ensemble-uct": "ensemble-uct:2x8,exact=0",
    "openspiel-bot": "openspiel-bot:ismcts,simulations=2",
    "lstm": f"lstm:{RUNS / 'next-card'}",
    "uct-lstm": f"uct-lstm:2x8,exact=0,net={RUNS / 'next-card'}",
}
MODELS = {"goofspiel:cards=6": "models/goofspiel-6", "liars_dice": "models/liars_dice-1", "holdem": "models/holdem"}
# Kernels take long to compile: quick tests have each player in the first of these games that it plays, and players
# that compile little in all of them.
QUICK = ["leduc", "doppelkopf:thesis", "doppelkopf", "holdem"]
LIGHT = {"random", "heuristic", "always", "style", "net", "strategy", "cards"}
SMALL = {"kuhn", "leduc", "goofspiel:4", "liars_dice"}  # games that are solved for the player of strategies
OPEN = {"alphabeta", "engine", "features", "ntuple", "puct", "uct"}  # these refuse games with hidden information


@pytest.fixture
def subject(tmp_path, monkeypatch):
    """A function that names a player with the options it needs for a game."""

    def named(name, game):
        if name == "strategy" and game not in SMALL:
            raise BadInput(f"{game} is too large to solve")
        if name == "strategy":
            solver = Cfr(games.load(game), "cfr+")
            solver.run(3)
            solver.strategy().save(tmp_path / "strategy.safetensors")
            return f"strategy:{tmp_path}"
        if name == "resolve" and game != "leduc":
            raise BadInput(f"{game} isn't solved for it here")
        if name == "resolve":
            solver = PublicChanceCfr(games.load(game), lossless(cards_of(games.load(game))), threads=1)
            solver.run(10)
            table = TableStrategy(solver.game, solver.tree, solver.buckets, solver.tables.first, solver.probs())
            save_strategy(tmp_path / "strategy.safetensors", table, "")
            return f"resolve:{tmp_path},iterations=10"
        if name == "net":
            return f"net:{MODELS.get(games.full_name(games.load(game)), 'models/leduc')}"
        if name == "human":
            monkeypatch.setattr(
                "builtins.input", lambda prompt: prompt.partition("(")[2].partition(",")[0].rstrip("): ")
            )
        if name in TINY:
            return TINY[name]
        options = {option.name for option in player_info(name).options}
        return f"{name}:simulations=16" if "simulations" in options else player_info(name).example

    return named


def compared(name, subject, game, pairs):
    """Number of pairs that were compared; 0 where the player can't play the game."""
    with suppress(BadInput):
        return check_no_peeking(subject(name, game), game, pairs)
    return 0


@pytest.mark.parametrize("name", players.PLAYERS)
def test_no_player_peeks(name, subject):
    asked = [*QUICK, "kuhn", "goofspiel:6", "liars_dice"] if name in LIGHT else QUICK
    found = {}
    for game in asked:
        pairs = compared(name, subject, game, 120 if name in LIGHT else 40)
        if pairs:
            found[game] = pairs
            if name not in LIGHT:
                break
    if name in OPEN:
        assert not found
        return
    assert found, (
        f"the player {name!r} was not tested: {player_info(name).example!r} plays none of {', '.join(asked)}; "
        "name it with a tiny budget or a file in TINY, or give it a game with hidden information here"
    )
    assert all(count >= 40 for count in found.values())


@pytest.mark.heavy
@pytest.mark.parametrize("game", HIDDEN)
@pytest.mark.parametrize("name", sorted(set(players.PLAYERS) - OPEN))
def test_no_player_peeks_in_any_game(name, game, subject):
    if not (pairs := compared(name, subject, game, 200)):
        pytest.skip(f"{name} does not play {game}")
    assert pairs >= 200


class Peeking:
    """Sees the other card, by a view that holds everything."""

    def begin(self, game, seat, seed):
        self.seat = seat

    def move(self, view):
        return int(view.cards[1 - self.seat] > 0)


class Whispering(Peeking):
    """Moves honestly, but its advice tells what it saw."""

    @property
    def advice(self):
        return self.told

    def move(self, view):
        from kibitz.search.advice import fixed_advice

        share = 0.25 if view.cards[1 - self.seat] > 0 else 0.75
        self.told = fixed_advice(games.load("kuhn"), view, np.array([share, 1 - share]))
        return 0


@pytest.mark.parametrize(("player", "what"), [(Peeking, "the move"), (Whispering, "the advice")])
def test_a_player_that_peeks_is_found(player, what, monkeypatch):
    assert check_no_peeking(player(), "kuhn", 200) >= 200  # a view hides the other card
    monkeypatch.setattr(type(games.load("kuhn")), "look", lambda self, state, seat, out: _copy(state, out))
    with pytest.raises(AssertionError, match=f"{what} depends on more than the view"):
        check_no_peeking(player(), "kuhn", 200)


def _copy(state, out):
    for field in state.dtype.names:
        out[field] = state[field]
