"""What comes from and goes to other programs, each an extra imported at first use: imports `play` and before."""
