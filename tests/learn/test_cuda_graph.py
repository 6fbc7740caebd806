"""A recorded step learns what the step itself learns. On machines with a GPU only."""

import pytest
import torch

from kibitz.nets.cuda_graph import WARM_UP, Replayed

on_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")


def learned(replayed: bool, steps: int = 40) -> tuple[torch.Tensor, list[float]]:
    """A line fitted to points that are drawn anew each step, at a rate that falls."""
    random = torch.Generator("cuda").manual_seed(1)
    slope = torch.zeros(3, device="cuda", requires_grad=True)
    rate = torch.tensor(0.1, device="cuda")
    optimizer = torch.optim.Adam([slope], lr=rate, fused=True, capturable=True)
    truth = torch.tensor([1.0, -2.0, 0.5], device="cuda")

    def step() -> torch.Tensor:
        points = torch.rand((64, 3), generator=random, device="cuda")
        loss = ((points @ slope - points @ truth) ** 2).mean()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        return loss.detach()

    one = Replayed(step, random) if replayed else step
    losses = []
    for number in range(steps):
        rate.fill_(0.1 * (1 - number / steps))
        losses.append(float(one()))
    return slope.detach().cpu(), losses


@on_gpu
def test_it_learns_the_same():
    ours, plain = learned(True), learned(False)
    assert torch.allclose(ours[0], plain[0], atol=1e-5)
    assert ours[1] == pytest.approx(plain[1], abs=1e-5)


@on_gpu
def test_replayed_steps_draw_new_random_numbers():
    random = torch.Generator("cuda").manual_seed(1)
    draw = Replayed(lambda: torch.rand(4, generator=random, device="cuda"), random)
    drawn = {tuple(draw().tolist()) for _ in range(WARM_UP + 20)}
    assert len(drawn) == WARM_UP + 20
