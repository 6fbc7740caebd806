"""What this package adds to Kibitz: kind -> the modules that register it, imported when one of the kind is wanted."""

MODULES = {
    "game": ["kibitz_cuckoo.rules"],
    "record format": ["kibitz_cuckoo.record_format"],
    "player": ["kibitz_cuckoo.players"],
    "command": ["kibitz_cuckoo.commands"],
}
