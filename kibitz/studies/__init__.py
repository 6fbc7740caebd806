"""Each table and figure of the papers, as one command: trains, plays, rates, and writes ours beside theirs."""
