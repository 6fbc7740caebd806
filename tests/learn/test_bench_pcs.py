"""The benchmark of public chance sampling: both sides do the same work."""

import numpy as np

import benchmarks
from benchmarks import pcs

SMALL = "holdem:flop,ranks=4,suits=2"


def test_both_sides_solve_the_same_game(monkeypatch):
    from kibitz.poker.gpu.pcs_solvers import InTorch
    from kibitz.poker.gpu.public_chance import TorchPublicChanceCfr

    made = []
    start = TorchPublicChanceCfr.__init__
    monkeypatch.setattr(TorchPublicChanceCfr, "__init__", lambda self, *rest: made.append(self) or start(self, *rest))
    pcs.in_torch(SMALL, 3, 1, "cpu", False)
    torch, cores = made[0], pcs.PublicChanceCfr(*_game())
    assert torch.buckets.counts == (16, 3)
    monkeypatch.setattr(torch, "sample", lambda iteration: cores.sample(iteration)[None])
    torch.run(3)
    cores.run(3)
    assert np.allclose(InTorch(torch).tables()["regrets"], cores.tables.regrets, rtol=1e-3, atol=1e-2)


def _game():
    from kibitz.games import load

    return load(SMALL), pcs.random_buckets(SMALL, 3)


def test_rows_of_a_gpu_differ_in_the_boards_of_both_sides(monkeypatch):
    made = []
    monkeypatch.setattr(pcs, "in_torch", lambda *given: made.append(given))
    rows = [pcs.on_gpu(boards) for boards in pcs.BOARDS]
    for row in rows:
        row.ours()
        row.peer()
    assert [(row.name, row.batch) for row in rows] == [("pcs-holdem-cuda-16", 16), ("pcs-holdem-cuda-64", 64)]
    assert made == [("holdem", 9000, boards, "cuda", fused) for boards in (16, 64) for fused in (True, False)]


def test_rows_are_found_by_name():
    assert {row.name for row in benchmarks.select(["pcs"])} >= {"pcs-holdem-flop", "pcs-holdem"}
    pcs.on_cores(SMALL, 3)(2)
