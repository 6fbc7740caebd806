"""What this room adds to others: kind -> the modules that register it, imported when something of it is looked up."""

MODULES = {"player": ["kibitz.bridges.engine", "kibitz.bridges.openspiel_bots"]}
