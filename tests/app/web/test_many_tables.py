"""Many tables at once: what a process remembers of them, and how kernels are loaded before they are needed."""

import asyncio

import pytest

from kibitz import games
from kibitz.app.web import desk as desks
from kibitz.app.web.desk import Desk, Request
from kibitz.app.web.workers import Job, Pool, Worker

from .conftest import LIVE, Direct, moved, opened, settled

GAME = games.load("tic_tac_toe")
FIRST = games.positions(GAME)[0].tobytes()


class Counting:
    """Plays action 0, and counts how often it was asked."""

    def __init__(self, simulations=0):
        self.simulations, self.begun, self.asked = simulations, 0, 0

    def begin(self, game, seat, seed):
        self.begun += 1

    def move(self, view):
        self.asked += 1
        return 0


@pytest.fixture
def made(monkeypatch):
    """All players that a desk makes; the name of one is the number of its simulations."""
    found = []

    def new(name, game):
        found.append(Counting(int(name)))
        return found[-1]

    monkeypatch.setattr(desks, "checked", new)
    return found


def asked(desk, table, player="10", kind="move", seat=0):
    return list(desk.answers(Request(kind, table, "tic_tac_toe", player, seat, 1, [FIRST])))


def test_a_process_remembers_the_players_of_many_tables(made):
    desk = Desk()
    for _ in range(2):
        for table in range(100):
            assert asked(desk, f"{table}/0") == [("move", 0)]
    assert len(made) == 100
    assert {player.asked for player in made} == {1}


def test_players_of_finished_games_are_forgotten(made):
    desk = Desk()
    asked(desk, "table2/0")
    for number in range(5):
        for _ in range(2):
            asked(desk, f"table/{number}", seat=number % 2)
    assert len(made) == 6
    assert {key[0] for key in desk._followers} == {"table2/0", "table/4"}


def test_large_trees_are_forgotten_first(made):
    desk = Desk()
    for table in range(10):
        asked(desk, f"{table}/0", "2000000")
    assert len(desk._followers) == 4
    asked(desk, "9/0", "2000000")
    assert len(made) == 10
    asked(desk, "0/0", "2000000")
    assert len(made) == 11


def test_a_player_with_a_limit_of_time_counts_by_its_seconds():
    assert desks.effort(Counting(300)) == 300
    timed = Counting()
    timed.seconds = 0.5
    assert desks.effort(timed) == 500_000
    assert desks.effort(object()) == 0


def test_a_table_stays_with_its_process():
    pool = Pool(3)
    try:
        requests = [Request("move", f"{table}/0", "tic_tac_toe", "random", 0, 1, []) for table in range(60)]
        first = [pool._worker(each) for each in requests]
        assert [first.count(worker) for worker in pool.movers] == [20] * 3
        assert [pool._worker(each._replace(table=each.table[:-1] + "7")) for each in requests] == first
    finally:
        pool.close()


def test_a_player_is_prepared_once(made):
    desk = Desk()
    for _ in range(3):
        assert asked(desk, "table/0", "30", "prepare") == []
    assert [player.asked for player in made] == [1]


@pytest.mark.parametrize("name", ["kuhn", "doppelkopf"])  # in which cards are dealt, and announcements come first
def test_games_are_prepared_whatever_comes_first(made, name):
    desks.prepare("10", games.load(name))
    assert [player.asked for player in made] == [1]


def test_preparing_takes_few_simulations(made):
    desks.prepare("500", GAME)
    desks.prepare("1000000", GAME)
    assert [player.simulations for player in made] == [500, desks.FEW]


def test_players_are_prepared_while_a_person_thinks(server):
    class Recording(Direct):
        kinds = []

        async def answers(self, request):
            self.kinds.append((request.kind, len(request.views)))
            async for answer in super().answers(request):
                yield answer

    client = server(pool=Recording())
    (key,) = opened(client, "tic_tac_toe", ["human", "random"])
    table = settled(client, key)
    moved(client, key, table)
    settled(client, key)
    assert Recording.kinds == [("prepare", 0), ("move", 1)]


def test_progress_is_told_to_all_that_wait():
    class Pipe:
        said = [("compiling", 3), ("compiling", 0), ("done", None)]

        def send(self, request):
            pass

        def poll(self, seconds):
            return True

        def recv(self):
            return self.said.pop(0)

    async def heard():
        worker = Worker()
        jobs = [Job(Request("move", "table/0", "kuhn", "random", 0, 1, [])) for _ in range(2)]
        worker._waiting += jobs
        worker._pipe = Pipe()
        await asyncio.to_thread(worker._do, jobs[0])
        found = [[await job.answers.get() for _ in range(job.answers.qsize())] for job in jobs]
        worker.close()
        return found

    first, second = asyncio.run(heard())
    assert first == [("compiling", 3), ("compiling", 0), ("done", None)]
    assert second == first[:2]


def test_a_browser_hears_when_compiling_ends(server):
    class Compiling(Direct):
        async def answers(self, request):
            while not client.lobby._watchers:
                await asyncio.sleep(0.01)
            for part in (3, 0):
                yield "compiling", part
                await asyncio.sleep(0.1)
            yield "move", 4

    client = server(pool=Compiling())
    (key,) = opened(client, "tic_tac_toe", ["random", "human"])  # the player moves first
    with client.websocket_connect(f"{LIVE}/api/tables/{key}/live") as socket:
        parts = [socket.receive_json().get("part") for _ in range(4)]
    assert parts[1:3] == [3, 0]
