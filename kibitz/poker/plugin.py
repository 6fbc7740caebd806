"""What poker adds to Kibitz: kind -> the modules that register it, imported when something of the kind is looked up."""

MODULES = {
    "game": ["kibitz.games.holdem"],
    "record format": ["kibitz.games.holdem.record_formats"],
    "player": ["kibitz.players.holdem"],
}
