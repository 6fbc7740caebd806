"""The search on the page docs/write-a-search.md works, and is as short as the page says."""

import re
from pathlib import Path

import numpy as np
import pytest

from kibitz import games
from kibitz.core.names import BadInput
from kibitz.play.players import make, make_for

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "write-a-search.md").read_text()


@pytest.fixture
def folder(tmp_path):
    for name, text in re.findall(r"^```python (\w+\.py)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL):
        (tmp_path / name).write_text(text)
    return tmp_path


def test_the_search_is_under_60_lines(folder):
    assert len((folder / "flat.py").read_text().splitlines()) < 60


def test_it_plays_by_its_name_with_its_options(folder):
    name = f"{folder / 'flat.py'}:FlatMonteCarlo"
    game = games.load("tic_tac_toe")
    player = make_for(f"{name}:300,epsilon=0.2", game)
    state = games.positions(game)[0]
    for cell in (0, 3, 1, 4):  # a1 and b1: c1 wins, and c2 would win for the other
        game.play(state, cell)
    player.begin(game, 0, 1)
    assert player.move(state) == 2
    assert player.search.epsilon == 0.2
    assert player.advice.simulations == 300
    for text, why in ((f"{name}:300,epsilon=2", "at most 1"), (name, "no budget"), (f"{name}:5,x=1", "no parameter")):
        with pytest.raises(BadInput, match=why):
            make(text)


def test_it_beats_random_play(folder):
    game = games.load("leduc")
    flat, other = make(f"{folder / 'flat.py'}:FlatMonteCarlo:200"), make("random")
    scores = []
    for number in range(150):
        seats = [flat, other] if number % 2 == 0 else [other, flat]
        for seat, player in enumerate(seats):
            player.begin(game, seat, number)
        state, rng = games.positions(game)[0], np.array([number, 7], np.uint64)
        while (turn := game.turn(state)) != games.OVER:
            seen = turn != games.CHANCE
            action = seats[turn].move(games.view_of(game, state, turn)) if seen else game.sample_action(state, rng)
            game.play(state, action)
        scores.append(game.payoff(state, number % 2))
    assert np.mean(scores) > 0.5
