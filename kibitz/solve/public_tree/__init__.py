"""Games whose history is public but for what each seat gets at the beginning, walked with vectors over that."""
