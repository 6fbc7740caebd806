"""What poker adds to Kibitz: kind -> the modules that register it, imported when something of the kind is looked up."""

MODULES = {
    "game": ["kibitz.games.holdem"],
    "player": ["kibitz.players.holdem"],
}
