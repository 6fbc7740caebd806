"""Tasks spread over a Ray cluster whose nodes come and go. All of it runs on this machine's loopback."""

import os
import signal
import socket
import sys
import tempfile
import time

import pytest

from kibitz.core.names import BadInput
from kibitz.core.progress import Reporter
from kibitz.core.ray_cluster import ENVIRONMENT, Cluster
from kibitz.games import legal_actions, load
from kibitz.play.exploitability import exploit
from kibitz.play.match import match
from kibitz.train.trainer import configured, new_run, train

os.environ.update(ENVIRONMENT, RAY_AUTH_MODE="disabled")  # or a token is left in the home folder
ray = pytest.importorskip("ray")
cluster_utils = pytest.importorskip("ray.cluster_utils")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs SIGALRM")

SOON = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 500, "health_check_failure_threshold": 3}


def worker(kind=""):
    """A worker whose results name its process; some kinds fail at task 3."""
    if kind == "no worker":
        raise BadInput("there is no such worker")

    def do(task, shared=None):
        if kind == "refuse" and task == 3:
            raise BadInput("task 3 is refused")
        if kind == "fail" and task == 3:
            raise KeyError("task 3 failed")
        if kind == "die" and task == 3:
            os._exit(7)
        time.sleep(0.02)
        return task, shared["value"] if shared else None, os.getpid(), os.getcwd()

    return do


@pytest.fixture(autouse=True)
def alarm():
    """Nothing here may hang."""

    def ring(*_):
        raise TimeoutError("a test of the cluster hangs")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="module")
def nodes():
    """A cluster with a head of one CPU. Only its own processes are ended with it."""
    with tempfile.TemporaryDirectory(prefix="ray", ignore_cleanup_errors=True) as folder:
        # Ray keeps a file in its default folder too, and doesn't make it where the head has one of its own.
        os.environ["RAY_TMPDIR"] = folder
        os.makedirs(os.path.join(folder, "ray"))
        head = {"num_cpus": 1, "temp_dir": os.path.join(folder, "ray"), "_system_config": SOON}
        nodes = cluster_utils.Cluster(initialize_head=True, head_node_args=head)
        yield nodes
        nodes.shutdown()
        del os.environ["RAY_TMPDIR"]


@pytest.fixture
def address(nodes, monkeypatch):
    """Address of a cluster of two nodes, whatever the test before did to them."""
    if not nodes.worker_nodes:
        nodes.add_node(num_cpus=1)
    nodes.wait_for_nodes(timeout=20)
    monkeypatch.setenv("RAY_ADDRESS", nodes.address)
    return nodes.address


def numbers(results):
    return sorted(task for task, *_ in results)


class Listener(Reporter):
    def __init__(self, told):
        self.message = told.append


def deaths(told):
    """Without the messages of a slow machine that waits for a CPU."""
    return [text for text in told if "died" in text]


def both_up(cluster):
    """The processes of two actors, when both have come up."""
    pids = set()
    while len(pids) < 2:
        results = list(cluster.do(range(10)))
        assert numbers(results) == list(range(10))
        pids = {pid for _, _, pid, _ in results}
    return pids


def test_a_node_that_is_killed_costs_no_task(nodes, address, capfd):
    told = []
    with Cluster(address, worker, (), Listener(told)) as cluster:
        cluster.share({"value": "a", "much": bytes(1_000_000)})
        before = both_up(cluster)
        assert os.getpid() not in before
        assert {value for _, value, *_ in cluster.do(range(10))} == {"a"}

        cluster.share({"value": "b"})
        results = []
        for result in cluster.do(range(200)):
            results.append(result)
            if len(results) == 20:
                nodes.remove_node(next(iter(nodes.worker_nodes)), allow_graceful=False)
        assert numbers(results) == list(range(200))
        assert {value for _, value, *_ in results} == {"b"}
        [death] = deaths(told)
        assert death.endswith("its task is done again")

        nodes.add_node(num_cpus=1)
        assert len(both_up(cluster) & before) == 1
    assert capfd.readouterr() == ("", "")


def test_training_on_two_nodes_of_which_one_is_killed_comes_out_as_on_one_core(nodes, address, tmp_path):
    given = {"iterations": 6, "games": 6, "simulations": 200, "hidden": "8", "steps": 4}
    config = configured("exit-oos", "kuhn", None, given | {"evaluate_every": 2, "capacity": 50})
    alone, spread = (new_run(tmp_path / name, "exit-oos", config) for name in ("alone", "spread"))
    train(alone, processes=1)
    killed = []

    class Killer(Reporter):
        def progress(self, done, total=None, note=""):
            if spread.read_lines()[-1]["iteration"] >= 2 and not killed:
                killed.append(done)
                nodes.remove_node(next(iter(nodes.worker_nodes)), allow_graceful=False)

    train(spread, address, Killer())
    assert killed
    assert spread.read_lines() == alone.read_lines()
    assert spread.path("network.safetensors").exists()


def test_games_and_measurements_on_a_cluster_are_those_of_one_process(address):
    for player in ("random", "oos:20"):
        here, there = (match("kuhn", [player, "random"], 40, processes=places) for places in (1, address))
        assert here.records == there.records
    here, there = (exploit("kuhn", "oos:50", 2, processes=places) for places in (1, address))
    assert here.nash_conv == there.nash_conv


def test_a_player_that_is_an_object_plays_in_this_process(address):
    class First:
        def move(self, view):
            return legal_actions(load("kuhn"), view)[0]

    assert len(match("kuhn", [First(), "random"], 6, processes=address).records) == 6


def test_a_task_that_always_kills_its_actor_is_given_up(address):
    told = []
    with Cluster("auto", worker, ("die",), Listener(told)) as cluster:
        assert {folder for *_, folder in cluster.do([0, 1])} == {os.getcwd()}
        with pytest.raises(BadInput, match="died 3 times at the same task"):
            list(cluster.do(range(6)))
        assert len(deaths(told)) == 2
        assert numbers(cluster.do(range(4, 9))) == [4, 5, 6, 7, 8]


@pytest.mark.parametrize(
    ("kind", "error", "text"),
    [
        ("refuse", BadInput, "^task 3 is refused$"),
        ("fail", RuntimeError, "(?s)Traceback.*KeyError: 'task 3 failed'"),
        ("no worker", BadInput, "^there is no such worker$"),
    ],
)
def test_an_error_in_an_actor_reaches_the_caller(address, kind, error, text):
    with Cluster(address, worker, (kind,)) as cluster:
        for _ in range(2):
            with pytest.raises(error, match=text):
                list(cluster.do(range(6)))


def test_a_call_that_is_abandoned_leaves_no_results_behind(address):
    with Cluster(address, worker, ()) as cluster:
        assert list(cluster.do([])) == []
        tasks = cluster.do(range(1000, 2000))
        next(tasks)
        with pytest.raises(RuntimeError, match="the tasks of the call before aren't done yet"):
            next(cluster.do([1]))
        tasks.close()
        assert numbers(cluster.do(range(20))) == list(range(20))


def test_a_second_cluster_waits_for_a_cpu(address, monkeypatch):
    """A connection that was open before is left open."""
    monkeypatch.setattr("kibitz.core.ray_cluster.PATIENCE", 0.1)
    ray.init(address, log_to_driver=False, logging_level="ERROR")
    try:
        first, told = Cluster(address, worker, ()), []
        both_up(first)

        class Closing(Reporter):
            def message(self, text):
                told.append(text)
                first.close()

        with Cluster(address, worker, (), Closing()) as second:
            assert numbers(second.do(range(4))) == [0, 1, 2, 3]
        assert told == ["no CPU of the cluster is free: waiting for one"]
        assert ray.is_initialized()
    finally:
        ray.shutdown()


def test_without_a_cluster_one_is_started_on_loopback(monkeypatch, capfd):
    def init(address, *rest, init=ray.init, **options):
        if address == "auto":  # there may be one, of another test
            raise ConnectionError
        return init(address, *rest, **options, num_cpus=1, object_store_memory=100_000_000, _temp_dir=folder)

    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setattr(ray, "init", init)
    within = tempfile.TemporaryDirectory(prefix="ray", ignore_cleanup_errors=True)
    before = signal.getsignal(signal.SIGTERM)
    with within as folder, Cluster("auto", worker, ()) as cluster:
        assert signal.getsignal(signal.SIGTERM) is before  # which saves the work
        assert numbers(cluster.do(range(4))) == [0, 1, 2, 3]
        assert [node["NodeManagerAddress"] for node in ray.nodes()] == ["127.0.0.1"]
    assert not ray.is_initialized()
    assert capfd.readouterr() == ("", "")


def test_without_ray_the_error_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(BadInput, match=r"pip install 'kibitz\[cluster\]'"):
        Cluster("auto", worker, ())


def test_a_wrong_address_is_a_one_line_error():
    with socket.create_server(("127.0.0.1", 0)) as free:
        nobodys = f"127.0.0.1:{free.getsockname()[1]}"
    for address in ("nonsense", nobodys):
        with pytest.raises(BadInput, match=f"^no connection to a Ray cluster at {address}: .+$") as error:
            Cluster(address, worker, ())
        assert "\n" not in str(error.value)


def test_another_server_at_the_address_is_refused(monkeypatch):
    monkeypatch.setattr("kibitz.core.ray_cluster.PROBE", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as other:
        address = f"127.0.0.1:{other.getsockname()[1]}"
        with pytest.raises(BadInput, match=f"at {address}: "):
            Cluster(address, worker, ())
