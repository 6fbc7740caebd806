"""Players against each other: matches, ratings, statistics, exploitability."""
