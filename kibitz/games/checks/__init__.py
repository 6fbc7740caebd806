"""The rules of the contract of games, each a function, for `games.check`."""
