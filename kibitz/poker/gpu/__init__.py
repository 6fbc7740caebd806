"""Solving hold'em with torch."""
