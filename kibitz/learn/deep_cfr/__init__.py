"""Deep CFR (Brown, Lerer, Gross and Sandholm 2019): CFR with regrets approximated by a neural network.

`config` has every field, `traversal` samples the game, `memory` keeps the samples, `networks` are networks as data and
files, `learning` fits them with torch, `average` makes one strategy of many, `worker` runs in processes, `learner`
connects these.

`distill` is a second learner of the same networks: from a table strategy, whose decisions `table_samples` draws.
"""

from .distill import Distill
from .learner import DeepCfr

__all__ = ["DeepCfr", "Distill"]
