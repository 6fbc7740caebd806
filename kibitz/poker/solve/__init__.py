"""Poker on the public tree: betting trees, card abstraction, and CFR with sampled public cards."""
