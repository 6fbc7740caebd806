"""After `kibitz compile` no search waits for the compiler."""

import json
import os
import subprocess
import sys

import pytest

SCRIPT = """
import json, sys
from kibitz import games, jit
from kibitz.arena.play import play_game
from kibitz.core.names import BadInput
from kibitz.players import make_for
from kibitz.search.precompile import precompile

game = games.load(sys.argv[1])
precompile(game)
before, played = len(jit.compiled), []
for name in ("random", "ismcts:20", "oos:20", "uct:20", "puct:20", "alphabeta:2", "ensemble-uct:2x9", "single-uct:9"):
    try:
        players = [make_for(name, game) for _ in range(2)]
    except BadInput:
        continue
    play_game(game, players, [name] * 2, 1, 0)
    played.append(name)
print(json.dumps([before, jit.compiled[before:], played]))
"""


@pytest.mark.parametrize(("game", "players"), [("tic_tac_toe", 8), pytest.param("kuhn", 5, marks=pytest.mark.heavy)])
def test_no_player_of_a_precompiled_game_compiles(game, players, tmp_path):
    environment = dict(os.environ, NUMBA_CACHE_DIR=str(tmp_path))
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, game], env=environment, capture_output=True, text=True, timeout=200
    )
    assert done.returncode == 0, done.stderr
    before, after, played = json.loads(done.stdout)
    assert before > 5
    assert after == []
    assert len(played) == players
