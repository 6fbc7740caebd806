"""Search teaches networks to play games, and the networks make the search better."""

__version__ = "0.1.0"
