"""After `kibitz compile` no search waits for the compiler."""

import json
import subprocess
import sys

import pytest

SCRIPT = """
import json, sys
from kibitz import games
from kibitz.play.play import play_game
from kibitz.core.names import BadInput
from kibitz.play.players import make_for
from kibitz.jit.backend.cache import KernelCache
from kibitz.play.players.precompile_kernels import precompile

met, load = [], KernelCache.load_overload  # kernels that were called for the first time: compiled or loaded
KernelCache.load_overload = lambda self, *given: (met.append(str(given[0])), load(self, *given))[1]
game = games.load(sys.argv[1])
precompile(game)
before, played = len(met), []
for name in ("random", "ismcts:20", "oos:20", "uct:20", "puct:20", "alphabeta:2", "ensemble-uct:2x9", "single-uct:9"):
    try:
        players = [make_for(name, game) for _ in range(2)]
    except BadInput:
        continue
    play_game(game, players, [name] * 2, 1, 0)
    played.append(name)
print(json.dumps([before, met[before:], played]))
"""


@pytest.mark.parametrize(("game", "players"), [("tic_tac_toe", 8), pytest.param("kuhn", 5, marks=pytest.mark.heavy)])
def test_no_player_of_a_precompiled_game_compiles(game, players):
    done = subprocess.run([sys.executable, "-c", SCRIPT, game], capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    before, after, played = json.loads(done.stdout)
    assert before > 5
    assert after == []
    assert len(played) == players
