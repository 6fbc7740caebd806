"""Patterns of pieces around a move: what they are, how they are found fast, how they grow, what is learned of them."""
