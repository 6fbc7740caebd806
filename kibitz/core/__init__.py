"""Pieces that all rooms share: names and registries, files, run folders, worker processes, progress."""
