"""Commands, the terminal, plots and the table in the browser: imports every room but the guests."""
