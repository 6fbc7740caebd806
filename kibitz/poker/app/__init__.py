"""Commands and drawings of poker."""
