"""Bridges to tools outside Kibitz. A bridge imports its tool, which is an extra, when it is first used."""
