"""The kernels for a GPU, run by Triton's interpreter, equal the same steps in plain torch. Skipped without triton."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("triton")

SCRIPT = """
import torch
from kibitz.learn import public_chance_kernels as fused
from kibitz.learn.nearest_centers_kernel import nearest
from kibitz.learn.public_streets import plain

def same(one, other):
    assert all(torch.allclose(a, b, atol=1e-5) for a, b in zip(one, other, strict=True))

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
for l1, size in ((True, 49), (False, 8)):
    points, columns = torch.rand(500, size), torch.rand(size, 333)
    gaps = points[:, :, None] - columns
    same([nearest(points, columns, l1)], [(gaps.abs() if l1 else gaps**2).sum(1).argmin(1).int()])
"""


def test_steps_on_the_public_tree_and_nearest_centers():
    environment = os.environ | {"TRITON_INTERPRET": "1"}
    subprocess.run([sys.executable, "-c", SCRIPT], env=environment, check=True, timeout=300)
