"""Planning on rules. One file, one algorithm; no terminal and no torch in this room."""
