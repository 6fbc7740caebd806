"""Networks of board games: their planes, in torch and compiled."""
