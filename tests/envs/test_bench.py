"""The benchmark of games side by side: what a rate counts, and the work of both sides."""

import pytest

pytest.importorskip("pyspiel")
from benchmarks import measuring, vector


def test_a_rate_counts_all_steps_of_a_batch(monkeypatch):
    monkeypatch.setattr(measuring, "_rate", lambda work, count: work(1))
    row = measuring.Row("x", "steps/s", 1, lambda: lambda count: 4.0, lambda: lambda count: 2.0, batch=100)
    found = row.measure()
    assert (found["ours"], found["peer"], found["ratio"]) == (400.0, 200.0, 2.0)


def test_both_sides_play(monkeypatch):
    monkeypatch.setattr(vector, "GAMES", 8)
    row = next(row for row in vector.ROWS if row.name == "vector-kuhn")
    row.ours()(3)
    assert callable(row.peer)
    row.peer()(3)
