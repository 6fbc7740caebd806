"""Trust belongs to a call: not to another thread or task, and to nothing afterwards."""

import asyncio
import json
import pickle
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest

import kibitz
from kibitz.core.names import BadInput
from kibitz.core.trust import Trust, only_named, trust, use_trust
from kibitz.games import load

RUN = Path(__file__).parents[1] / "app" / "runs_of_0_2" / "exit-oos"
EVIL = "evil.py:Evil"
WAITS = "from tests.core.test_trust import Overlap\nOverlap.trusted_is_inside()\nraise ValueError('it was run')\n"
PLAYER = """
from kibitz.games import legal_actions
from tests.core.test_trust import Overlap

class Player:
    def begin(self, game, seat, seed):
        self.game = game
        Overlap.other_is_inside()

    def move(self, view):
        return legal_actions(self.game, view)[0]
"""


class Overlap:
    """A call that trusts everything begins before another one, and ends while that is at work."""

    @classmethod
    def begin(cls):
        cls.trusted_inside, cls.other_inside, cls.trusted_ended, cls.ran = Event(), Event(), Event(), []

    @classmethod
    def trusted_is_inside(cls):
        cls.trusted_inside.set()
        assert cls.other_inside.wait(60)

    @classmethod
    def other_is_inside(cls):
        if not cls.other_inside.is_set():
            cls.ran.append(evil_runs())
            cls.other_inside.set()
            assert cls.trusted_ended.wait(60)
            cls.ran.append(evil_runs())

    @classmethod
    def trusted(cls):
        try:
            with pytest.raises(BadInput, match="it was run"):
                kibitz.resume("run", trust=True)
        finally:
            cls.trusted_ended.set()

    @classmethod
    def other(cls):
        try:
            assert cls.trusted_inside.wait(60)
            kibitz.match("kuhn", ["player.py:Player", "random"], games=2, processes=1)
        finally:
            cls.other_inside.set()


def evil_runs():
    with pytest.raises(BadInput) as refused:
        load(EVIL)
    return "it was run" in str(refused.value)


@pytest.fixture
def overlap(tmp_path, monkeypatch):
    shutil.copytree(RUN, tmp_path / "run")
    config = tmp_path / "run" / "config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"game": "waits.py:Waits"}))
    for name, text in (("waits", WAITS), ("player", PLAYER), ("evil", "raise ValueError('it was run')\n")):
        (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    before = trust()
    use_trust(Trust())
    Overlap.begin()
    yield
    use_trust(before)


def in_threads():
    with ThreadPoolExecutor(2) as pool:
        for call in [pool.submit(Overlap.trusted), pool.submit(Overlap.other)]:
            call.result(120)


def in_asyncio():
    async def both():
        await asyncio.gather(asyncio.to_thread(Overlap.trusted), asyncio.to_thread(Overlap.other))

    asyncio.run(both())


@pytest.mark.parametrize("run", [in_threads, in_asyncio])
def test_a_call_that_trusts_everything_lends_nothing_to_another_one_at_the_same_time(overlap, run):
    run()
    assert Overlap.ran == [False, False]
    assert not trust().everything
    assert not trust().guarded
    with only_named():
        assert not evil_runs()


def test_nor_does_a_task_to_another_task_of_its_thread(overlap):
    async def trusted(inside, release):
        with only_named(trust=True):
            inside.set()
            await release.wait()
            return trust().everything

    async def other(inside, release):
        await inside.wait()
        with only_named():
            release.set()
            await asyncio.sleep(0.01)  # the other one ends here
            return trust().everything, trust().guarded, evil_runs()

    async def both():
        events = asyncio.Event(), asyncio.Event()
        return await asyncio.gather(trusted(*events), other(*events))

    assert asyncio.run(both()) == [True, (False, True, False)]
    assert not trust().everything


def test_a_process_gets_the_trust_of_the_call_that_starts_it(overlap):
    with only_named("player.py:Player", trust=True):
        sent = pickle.loads(pickle.dumps(trust()))
        assert (sent.everything, sent.guarded) == (True, True)
    with only_named():
        sent = pickle.loads(pickle.dumps(trust()))
        assert (sent.everything, sent.guarded) == (False, True)
        assert sent.allows(Path("player.py"))
        assert not sent.allows(Path("evil.py"))


def test_processes_of_the_server_are_guarded_as_the_server_is(overlap):
    """They are started by threads of the server."""
    pytest.importorskip("fastapi")
    from kibitz.app.web.desk import Request
    from kibitz.app.web.workers import Job, Worker

    async def asked():
        with only_named():
            worker = Worker()
        job = Job(Request("advise", "t/1", EVIL, "random", 0, 1, []))
        worker.submit(job)
        try:
            return await asyncio.wait_for(job.answers.get(), 120)
        finally:
            worker.close()

    kind, message = asyncio.run(asked())
    assert kind == "refused"
    assert "if you trust that code" in message
