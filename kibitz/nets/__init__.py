"""Networks, in torch and compiled, and their files: imports `search` and the rooms before it."""
