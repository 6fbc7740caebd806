"""Players by name, and matches, ratings, reviews and exploiters of them: imports `train` and the rooms before it."""
