"""Players in processes: progress is reported, a killed process is replaced, and the server answers meanwhile."""

import asyncio
import os
import signal
import time

import pytest

from kibitz import games
from kibitz.app.web import workers
from kibitz.app.web.desk import Request
from kibitz.app.web.tables import HUMAN, Table
from kibitz.app.web.workers import Pool
from kibitz.core.names import BadInput

from .conftest import moved, opened, settled


@pytest.fixture(scope="module")
def pool():
    found = Pool(1)
    yield found
    found.close()


def request(kind="move", player="random", game="kuhn"):
    table = Table(games.load(game), [HUMAN, player], ["", ""], seed=1)
    while (action := table.automatic_action()) is not None:
        table.play(action)
    views = [view.tobytes() for view in table.views(0)]
    return Request(kind, f"{table.id}/0", game, player, 0, 1, views)


def answers(pool, *requests):
    async def one(each):
        return [answer async for answer in pool.answers(each)]

    async def every():
        return await asyncio.gather(*map(one, requests))

    return asyncio.run(every())


def test_players_move_and_advise(pool):
    moves, advice = answers(pool, request(), request("advise", "always:raise", "leduc"))
    assert moves[-1][0] == "move"
    assert moves[-1][1] in (0, 1)
    assert [move["policy"] for move in advice[-1][1]["moves"]] == [1.0, 0.0]
    assert advice[-1][1]["finished"]


def test_what_a_player_refuses_is_told(pool):
    with pytest.raises(BadInput, match="uct:10 can't play kuhn"):
        answers(pool, request(player="uct:10"))


def test_a_killed_process_is_replaced_and_its_request_repeated(pool):
    answers(pool, request())
    os.kill(pool.movers[0].process.pid, signal.SIGKILL)
    assert answers(pool, request())[0][-1][0] == "move"


def test_a_process_that_dies_again_and_again_is_reported(pool, monkeypatch):
    def die(self, job):
        raise EOFError

    monkeypatch.setattr(workers.Worker, "_do", die)
    with pytest.raises(BadInput, match="its process ended 3 times"):
        answers(pool, request())


def test_a_silent_process_is_replaced(pool, monkeypatch):
    answers(pool, request())
    monkeypatch.setattr(workers, "SILENCE", 0.2)
    os.kill(pool.movers[0].process.pid, signal.SIGSTOP)
    with pytest.raises(BadInput, match=r"didn't answer within 0\.2 seconds"):
        answers(pool, request())
    monkeypatch.undo()
    assert answers(pool, request())[0][-1][0] == "move"


def test_a_server_with_processes_plays_on_after_a_kill(server):
    client = server(pool=None, processes=1)
    client.get("/api/openapi.json")  # is made once
    (key,) = opened(client, "tic_tac_toe")
    table = settled(client, key, 60)
    moved(client, key, table)
    table = settled(client, key, 60)
    worker = client.lobby.pool.movers[0]
    os.kill(worker.process.pid, signal.SIGKILL)
    moved(client, key, table)
    began = time.perf_counter()
    assert client.get("/api/openapi.json").status_code == 200
    assert time.perf_counter() - began < 1
    assert settled(client, key, 60)["phase"] == "yours"


def test_a_table_goes_to_the_process_that_prepares_its_player():
    pool = Pool(2)
    try:
        ahead, table = Request("prepare", workers.AHEAD, "kuhn", "random", 0, 0, []), request()
        first = pool._worker(ahead)
        assert pool._worker(table) is first
        assert pool._worker(request(player="always:bet")) is not first
        answers(pool, ahead)
        assert pool._ahead == {}  # from then on tables take turns
        assert len({pool._worker(request()) for _ in range(2)}) == 2
    finally:
        pool.close()
