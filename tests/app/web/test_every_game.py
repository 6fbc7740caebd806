"""Every registered game is played to its end over the JSON interface, whatever a person clicks on."""

import random
import time

import pytest

from kibitz import games
from kibitz.games.game import is_shipped

from .conftest import opened, settled

NAMES = [name for name, kind in games.GAMES.items() if is_shipped(kind)]
LONG = {"fanorona": 3, "teeko": 3}  # games in which a game may go on for long, and how many are played


@pytest.mark.parametrize("name", NAMES)
def test_a_game_with_random_moves_never_gets_stuck(client, name):
    game, choose = games.load(name), random.Random(name)
    for _ in range(LONG.get(name, 1)):
        (key,) = opened(client, name, ["human", *["random"] * (game.facts.seats - 1)])
        table, decisions = settled(client, key), 0
        while table["phase"] == "yours":
            assert table["moves"]
            move = choose.choice(table["moves"])
            body = {"action": move["action"], "turn": table["turn"], "planned": move["planned"]}
            answer = client.post(f"/api/tables/{key}/moves", json=body)
            while answer.status_code == 429:  # long games of quick moves: more requests than one address may send
                time.sleep(0.5)
                answer = client.post(f"/api/tables/{key}/moves", json=body)
            assert answer.status_code == 200, answer.text
            decisions += 1
            assert decisions <= game.facts.max_game_length
            table = settled(client, key)
        assert table["phase"] == "over", table["trouble"]
        assert table["result"]
