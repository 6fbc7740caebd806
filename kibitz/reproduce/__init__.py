"""Tables and figures of the four papers, ours beside theirs: imports `bridges` and the rooms before it."""
