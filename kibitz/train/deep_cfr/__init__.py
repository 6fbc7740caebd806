"""Deep CFR (Brown, Lerer, Gross and Sandholm 2019): CFR with regrets approximated by a neural network.

`config` has every field, `traversal` samples the game, `packing` makes samples small and large again,
`networks` are networks as data and files, `fitting` fits them with torch, `average` makes one strategy of many,
`worker` runs in processes, `duration` predicts how long it takes, `learner` connects these. `traits` is what is known
of a game beside its rules.
"""

from .learner import DeepCfr

__all__ = ["DeepCfr"]
