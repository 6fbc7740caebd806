"""What the networks minimize: PPO's clipped objective, entropy, and the KL divergence to the policy that played.

Without clipping, with the entropy bonus and the KL, the minimum is one step of magnetic mirror descent (Sokota et al.
2023, section 5) with the uniform policy as its magnet: kl is the inverse of the step size, entropy the pull of the
magnet. Clipping shortens that step, and some gradient steps by a network come only near it. Another magnet is an
earlier policy, by its `divergence`. Without the KL it is PPO (Schulman et al. 2017).

PPO learns from the action that was played. Where the value network estimates every action, all of them count, each by
its probability, and the action played corrects its own estimate: the same gradient on average, with less noise.
"""

from typing import NamedTuple

import torch

from ...nets.torch_mlp import BANNED


class Terms(NamedTuple):
    """The terms of the policy's loss, each the mean over the rows."""

    clipped: torch.Tensor  # PPO's objective, negated
    entropy: torch.Tensor
    kl: torch.Tensor  # KL(new policy || policy that played)
    trusted: torch.Tensor  # entropy, each row times its trust


def log_policy(logits: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
    """Log-probabilities of the softmax over the legal actions; BANNED or less at the others."""
    return torch.log_softmax(torch.where(legal, logits, BANNED), dim=1)


def policy_terms(
    said: torch.Tensor, before: torch.Tensor, legal: torch.Tensor, actions: torch.Tensor, gains: torch.Tensor,
    expected: torch.Tensor, trust: torch.Tensor, clip: float,
) -> Terms:  # fmt: skip
    """The terms of the loss.

    Args:
        said: [rows, actions] log-probabilities of the policy that learns.
        before: [rows, actions] those of the policy that played.
        legal: [rows, actions] bool.
        actions: [rows] what was played.
        gains: [rows] what its advantage is more than `expected`.
        expected: [rows, actions] the value network's estimate of each action's advantage; zeros for PPO.
        trust: [rows] share of a full step that is taken there: advantages and entropy count by it, the KL doesn't.
        clip: How far the ratio of the new probability to the old one counts: from 1 - clip to 1 + clip.
    """
    said, before = (torch.where(legal, each, 0.0) for each in (said, before))
    probs, old = (torch.where(legal, each.exp(), 0.0) for each in (said, before))
    ratios = (said - before).exp()
    bounded = ratios.clamp(1 - clip, 1 + clip)
    chosen = actions[:, None]
    ratio, bound = ratios.gather(1, chosen)[:, 0], bounded.gather(1, chosen)[:, 0]
    clipped = -torch.minimum(gains * ratio, gains * bound)
    clipped = clipped - (old * torch.minimum(expected * ratios, expected * bounded)).sum(dim=1)
    entropy, kl = -(probs * said).sum(dim=1), (probs * (said - before)).sum(dim=1)
    return Terms((trust * clipped).mean(), entropy.mean(), kl.mean(), (trust * entropy).mean())


def imitation_terms(said: torch.Tensor, before: torch.Tensor, legal: torch.Tensor) -> Terms:
    """The terms of a policy that imitates the one that played: its entropy, and KL(policy that played || policy)."""
    entropy = -divergence(said, torch.zeros_like(said), legal)
    return Terms(said.new_zeros(()), entropy, divergence(before, said, legal), entropy)


def divergence(said: torch.Tensor, other: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
    """KL(policy of `said` || policy of `other`), both log-probabilities [rows, actions]; the mean over the rows."""
    return torch.where(legal, said.exp() * (said - other), 0.0).sum(dim=1).mean()
