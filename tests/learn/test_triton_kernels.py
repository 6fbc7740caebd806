"""The kernels for a GPU, run by Triton's interpreter, equal the same steps in plain torch. Skipped without triton."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("triton")

SCRIPT = """
import torch
from kibitz.poker.gpu import public_chance_kernels as fused
from kibitz.poker.gpu.nearest_centers_kernel import nearest
from kibitz.poker.gpu.public_streets import compared, halved, packed, plain

def same(one, other):
    assert all(torch.allclose(a, b, atol=1e-5) for a, b in zip(one, other, strict=True))

def rough(one, other):
    for a, b in zip(one, other, strict=True):
        assert torch.allclose(a.float(), b.float(), atol=2e-3 * b.abs().max().item()), (a, b)

torch.manual_seed(1)
boards, ways, hands, count = 3, 5, 300, 40
buckets = torch.randint(0, count, (boards, hands), dtype=torch.int32)
reach = torch.rand(boards, ways, hands)
for n in (2, 3):
    table, sums = torch.randn(ways * count * n), torch.zeros(2, ways * count * n)
    one = fused.choose(table, sums[0], buckets, reach, n, count, 2.0)
    two = plain.choose(table, sums[1], buckets, reach, n, count, 2.0)
    same([*one, sums[0]], [*two, sums[1]])
    probs = torch.rand(ways * count * n)
    same([fused.follow(probs, buckets, reach, n, count)], [plain.follow(probs, buckets, reach, n, count)])
    children = [tuple((torch.randn(boards, ways, hands), torch.randn(ways)) for _ in range(2)) for _ in range(n)]
    regrets = table.clone(), table.clone()
    updated = fused.update(regrets[0], buckets, one[0], 1, children, count, 3.0)
    same([*updated, regrets[0]], [*plain.update(regrets[1], buckets, two[0], 1, children, count, 3.0), regrets[1]])
    same(fused.respond(0, children), plain.respond(0, children))
    answered = fused.answer(0, children)
    same([each.float() for each in answered], [each.float() for each in plain.answer(0, children)])
    assert len(answered[2].unique()) == n
    same([fused.obey(answered[2], reach, n)], [plain.obey(answered[2], reach, n)])
    fixed = packed(probs.view(-1, n) / probs.view(-1, n).sum(1, keepdim=True))
    same([fused.follow(fixed, buckets, reach, n, count)], [plain.follow(fixed, buckets, reach, n, count)])
    # in half precision, rows scaled
    (half, _), (scale, _) = halved((reach * 1e-9, reach))
    assert half.dtype == torch.float16 and half.max() == 1
    sums, regrets = torch.zeros(2, ways * count * n), (table.clone(), table.clone())
    one = fused.choose(table, sums[0], buckets, half, n, count, 2e9, scale)
    two = plain.choose(table, sums[1], buckets, half, n, count, 2e9, scale)
    rough([*one, sums[0]], [*two, sums[1]])
    rough([sums[0]], [plain.choose(table, sums[1].zero_(), buckets, reach, n, count, 2.0) and sums[1]])
    halves = [tuple((value.half(), payoff) for value, payoff in child) for child in children]
    updated = fused.update(regrets[0], buckets, one[0], 1, halves, count, 3.0, scale * 1e9)
    peer = plain.update(regrets[1], buckets, two[0], 1, halves, count, 3.0, scale * 1e9)
    rough([*updated, regrets[0]], [*peer, regrets[1]])
    assert updated[0].dtype == torch.float16
    rough(fused.respond(0, halves), plain.respond(0, children))
for kind in (torch.float32, torch.float16):
    above, parents = torch.rand(2, ways, 310).to(kind), torch.tensor([0, 1, 1])
    places = torch.randint(-1, 310, (boards, hands), dtype=torch.int32)
    same([fused.deal(above, parents, places)], [plain.deal(above, parents, places.long())])
    below, which, first = torch.randn(boards, ways, hands).to(kind), torch.tensor([2, 0, 1, 1]), torch.tensor([0, 1, 4])
    places, weights = torch.randint(-1, hands, (4, 310), dtype=torch.int32), torch.rand(4)
    same(
        [fused.collect(below, which, places, first, weights)],
        [plain.collect(below, which, places.long(), first, weights)],
    )
held, ranks = 1 << torch.randint(0, 52, (2, 300)), torch.randint(0, 9, (2, 300))
same([each.float() for each in fused.compare(held, ranks, 320)], compared(held, ranks))
for l1, size in ((True, 49), (False, 8)):
    points, columns = torch.rand(500, size), torch.rand(size, 333)
    gaps = points[:, :, None] - columns
    same([nearest(points, columns, l1)], [(gaps.abs() if l1 else gaps**2).sum(1).argmin(1).int()])
"""


def test_steps_on_the_public_tree_and_nearest_centers():
    environment = os.environ | {"TRITON_INTERPRET": "1"}
    subprocess.run([sys.executable, "-c", SCRIPT], env=environment, check=True, timeout=300)
