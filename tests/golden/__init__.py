"""Figures of every learner, solver and exact measure at a fixed seed: what a change of the code must not change."""
