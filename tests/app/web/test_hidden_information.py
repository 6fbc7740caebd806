"""A browser is sent nothing that its seat doesn't see: equal views give equal bytes, until the end of the game."""

import numpy as np
import pytest

from kibitz import games, jit
from kibitz.app.web.tables import HUMAN, Table
from kibitz.games.game import is_shipped

from ...games.walks import view_of, walk
from .conftest import LIVE

HIDDEN = [name for name, kind in games.GAMES.items() if is_shipped(kind) and games.load(name).facts.hidden]
GAMES = [*HIDDEN, "leduc:ranks=4", "liars_dice:dice=2"]
ADVISERS = {"holdem": "net:models/holdem", "leduc": "net:models/leduc"}  # beliefs are weighed by their policies


def test_every_game_with_hidden_information_is_tested():
    assert {"kuhn", "leduc", "goofspiel", "liars_dice", "holdem", "doppelkopf"} <= set(HIDDEN)


def world(game, state, seat, rng):
    """Another state that the seat can't tell from this one."""
    view, notes, found = view_of(game, state, seat), np.zeros(game.facts.notes), games.positions(game)[0]
    game.prepare(view, seat, notes)
    return found if game.determinize(view, seat, notes, rng, found) else state


def differ(game, one, two):
    return any(not np.array_equal(one[key], two[key]) for key in game.state.names)


def table_at(game, states, actions):
    """A table of people only, at the last of these states."""
    table = Table(game, [HUMAN] * game.facts.seats, [""] * game.facts.seats, seed=1)
    table.states, table.actions = states, actions[: len(states) - 1]
    return table


def sent(client, table, seat, language):
    """The bytes that the server sends to a seat, and those that it gives to an adviser there."""
    client.lobby._remember(table)
    key = next(key for key, participant in table.keys.items() if participant == seat)
    answer = client.get(f"/api/tables/{key}", params={"language": language})
    assert answer.status_code == 200
    return answer.content, client.lobby.request(table, "advise", "random", seat)[2:]


@pytest.mark.parametrize("name", GAMES)
def test_the_bytes_sent_to_a_seat_are_the_same_whatever_is_hidden(client, name):
    game, rng, pairs = games.load(name), jit.generators(5, 1)[0], 0
    many = game.facts.seats > 2  # then a long game is slow to describe
    for seed in range(1 if many else 4):
        steps = walk(game, seed)
        states, actions = [step.state for step in steps], [step.action for step in steps]
        for seat in range(game.facts.seats):
            turns = [ply for ply, step in enumerate(steps[:-1]) if step.turn == seat]
            plies = (
                {turns[0], turns[2 + seat]} if many else {turns[0], turns[len(turns) // 2], turns[-1], len(steps) - 2}
            )
            worlds = [world(game, state, seat, rng) for state in states[: max(plies) + 1]]
            for ply in plies:
                language = "de" if ply % 2 else "en"
                one, two = (table_at(game, each[: ply + 1], actions) for each in (states, worlds))
                assert sent(client, one, seat, language) == sent(client, two, seat, language)
                pairs += differ(game, states[ply], worlds[ply])
    assert pairs >= 5


def advised(client, table, seat, language):
    """Everything that a seat is sent while the kibitzer advises it, what the kibitzer believes included."""
    client.lobby._remember(table)
    key = next(key for key, participant in table.keys.items() if participant == seat)
    with client.websocket_connect(f"{LIVE}/api/tables/{key}/live?language={language}") as socket:
        texts = [socket.receive_text()]
        socket.send_json({"on": True, "player": ADVISERS.get(table.game.name, "random")})
        while not any('"finished":true' in text for text in texts) or not any('"insight"' in text for text in texts):
            texts.append(socket.receive_text())
    return sorted(texts)


@pytest.mark.parametrize("name", HIDDEN)
def test_the_bytes_of_advice_and_beliefs_are_the_same_whatever_is_hidden(client, name):
    game, rng, pairs = games.load(name), jit.generators(7, 1)[0], 0
    many = game.facts.seats > 2
    for seed in range(1 if many else 3):
        steps = walk(game, seed)
        states, actions = [step.state for step in steps], [step.action for step in steps]
        turns = [ply for ply, step in enumerate(steps[:-1]) if step.turn >= 0]
        for ply in {turns[0], turns[len(turns) // 3 if many else -1]}:
            seat = steps[ply].turn
            worlds = [world(game, state, seat, rng) for state in states[: ply + 1]]
            one, two = (table_at(game, each[: ply + 1], actions) for each in (states, worlds))
            sent = advised(client, one, seat, "de" if seat else "en")
            assert sent == advised(client, two, seat, "de" if seat else "en")
            assert any('"beliefs":{' in text for text in sent)
            pairs += differ(game, states[ply], worlds[ply])
    assert pairs >= 2


@pytest.mark.parametrize("name", sorted(set(HIDDEN) - {"doppelkopf"}))  # in which all cards are played
def test_everything_is_revealed_at_the_end(client, name):
    game, rng = games.load(name), jit.generators(6, 1)[0]
    for seed in range(8):
        steps = walk(game, seed)
        states, actions = [step.state for step in steps], [step.action for step in steps]
        other = world(game, states[-1], 0, rng)
        one, two = (table_at(game, [*states[:-1], last], actions) for last in (states[-1], other))
        if sent(client, one, 0, "en")[0] != sent(client, two, 0, "en")[0]:
            return
    pytest.fail("the end shows no more than the view")


def test_a_leak_is_found(client, monkeypatch):
    game = games.load("kuhn")
    monkeypatch.setattr(Table, "view", lambda self, seat: self.states[-1])
    with pytest.raises(AssertionError):
        test_the_bytes_sent_to_a_seat_are_the_same_whatever_is_hidden(client, game.name)
