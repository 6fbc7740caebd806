"""Magnetic mirror descent (Sokota et al. 2023) as a policy gradient: PPO with entropy and a KL to the last policy.

`config` has every field, `self_play` plays games in batches, `advantages` are their targets, `networks` are policy and
value networks in torch, `loss` is what they minimize, `learner` connects these.
"""

from .learner import Mmd

__all__ = ["Mmd"]
