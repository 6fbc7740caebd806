"""Learners, and the one training loop of all of them: `learner` is the interface, `trainer` the loop."""
