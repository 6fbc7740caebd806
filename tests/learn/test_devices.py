"""Threads and precision belong to the whole process: calls change them while they work, and leave none changed."""

import asyncio
import functools
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

import kibitz
from kibitz.core import process_settings
from kibitz.core.process_settings import blas_threads
from kibitz.core.progress import Reporter
from kibitz.nets.boards.processor_network import Evaluator
from kibitz.nets.devices import one_thread, products, without_onednn

NETWORK = "puct:8,net=models/connect_four-alphazero"
CUDA, ONEDNN = torch.backends.cuda.matmul, torch.backends.mkldnn


def settings():
    """Everything of the process that work changes, as the calling thread sees it."""
    try:
        precision = torch.get_float32_matmul_precision()
    except RuntimeError:  # devices differ
        precision = "each its own"
    each = getattr(CUDA, "fp32_precision", ""), torch.backends.cudnn.allow_tf32
    return torch.get_num_threads(), blas_threads(), precision, each, ONEDNN.enabled


def in_new_thread(ask):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(ask).result()


@pytest.fixture
def chosen():
    """Settings of a user that are neither torch's defaults nor ours."""
    before = torch.get_num_threads(), torch.get_float32_matmul_precision()
    threads = blas_threads()
    torch.set_num_threads(3)
    torch.set_float32_matmul_precision("medium")
    process_settings._openblas()[1](2)
    yield settings()
    torch.set_num_threads(before[0])
    torch.set_float32_matmul_precision(before[1])
    process_settings._openblas()[1](threads)


def train(folder, report=kibitz.core.progress.SILENT):
    return kibitz.train(
        "deep-cfr", "kuhn", preset="small", out=folder, report=report, iterations=1, traversals=20, steps=3
    )


def threads_after(work):
    work()
    return torch.get_num_threads()


def test_calls_in_two_threads_leave_all_settings_as_they_were(chosen, tmp_path):
    with ThreadPoolExecutor(2) as pool:
        advise = functools.partial(kibitz.advise, "connect_four", player=NETWORK)
        calls = lambda: train(tmp_path / "a"), advise, lambda: train(tmp_path / "b")
        works = [pool.submit(threads_after, call) for call in calls]
        for work in works:
            assert work.result() == 3  # of the thread itself
    assert settings() == chosen
    assert in_new_thread(settings) == chosen


def test_calls_in_asyncio_leave_all_settings_as_they_were(chosen, tmp_path):
    async def both():
        return await asyncio.gather(
            asyncio.to_thread(train, tmp_path / "a"),
            asyncio.to_thread(kibitz.advise, "connect_four", player=NETWORK),
            asyncio.to_thread(train, tmp_path / "b"),
        )

    asyncio.run(both())
    assert settings() == chosen
    assert in_new_thread(settings) == chosen


def test_a_call_that_fails_leaves_all_settings_as_they_were(chosen, tmp_path):
    class Fails(Reporter):
        def progress(self, done, total=None, note=""):
            raise KeyError(note)

    with pytest.raises(KeyError):
        train(tmp_path / "a", Fails())
    assert settings() == chosen
    with pytest.raises(KeyError), one_thread(), products(True, "cuda"), without_onednn():
        {}[settings()]
    assert settings() == chosen


def test_blocks_that_overlap_in_any_order_restore_each_thread(chosen):
    entered, leave, left = [], [threading.Event() for _ in range(3)], []

    def work(i):
        with one_thread(), products(i == 1, "cuda"), without_onednn():
            entered.append(torch.get_num_threads())
            leave[i].wait(60)
            inside = torch.get_num_threads()
        left.append((i, inside, torch.get_num_threads()))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(3)]
    for i, thread in enumerate(threads):
        thread.start()
        while len(entered) <= i and thread.is_alive():
            thread.join(0.01)
    assert torch.get_num_threads() == 3  # of this thread
    assert torch.get_float32_matmul_precision() == "highest"  # as one of them asked for
    assert blas_threads() == 1
    for i in (1, 0, 2):  # neither the order in which they came nor the reverse
        leave[i].set()
        threads[i].join(60)
        if i != 2:
            assert blas_threads() == 1
            assert not ONEDNN.enabled
    assert left == [(1, 1, 3), (0, 1, 3), (2, 1, 3)]
    assert settings() == chosen
    assert in_new_thread(settings) == chosen


def test_blocks_in_one_thread_may_overlap_like_coroutines(chosen):
    first, second = one_thread(), one_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert (torch.get_num_threads(), blas_threads()) == (1, 1)
    second.__exit__(None, None, None)
    assert settings() == chosen


@pytest.mark.parametrize("where", [CUDA, getattr(ONEDNN, "matmul", None)])
@pytest.mark.parametrize("name", ["tf32", "ieee"])
def test_the_precision_of_one_device_is_restored(chosen, where, name):
    if not hasattr(where, "fp32_precision"):
        pytest.skip("this torch has one precision for all devices")
    before = where.fp32_precision
    where.fp32_precision = name
    wanted = settings()
    with products(False, "cuda"):
        assert CUDA.fp32_precision == "ieee"
    with products(True, "cuda"):
        assert CUDA.fp32_precision == "tf32"
    assert settings() == wanted
    where.fp32_precision = before


def test_on_a_processor_nothing_is_rounded(chosen):
    with products(True, "cpu"):
        assert torch.get_float32_matmul_precision() == "highest"


def test_a_network_is_asked_by_one_thread_in_python_as_in_the_shell(chosen, monkeypatch):
    seen, linear = [], Evaluator._linear

    def noted(*given):
        seen.append(blas_threads())
        return linear(*given)

    monkeypatch.setattr(Evaluator, "_linear", noted)
    kibitz.advise("connect_four", player=NETWORK)
    assert set(seen) == {1}
    assert blas_threads() == 2
