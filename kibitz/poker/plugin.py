"""What poker adds to Kibitz: kind -> the modules that register it, imported when something of the kind is looked up."""

MODULES = {
    "command": [
        "kibitz.app.commands.ranges",
        "kibitz.app.commands.abstract",
        "kibitz.app.commands.dealer",
        "kibitz.app.commands.acpc",
    ],
    "game": ["kibitz.games.holdem"],
    "record format": ["kibitz.games.holdem.record_formats"],
    "measure": ["kibitz.arena.holdem_lbr", "kibitz.arena.flop_by_flop"],
    "variance reduction": ["kibitz.arena.aivat"],
    "solver": ["kibitz.search.public_chance.sampling_solver"],
    "player": ["kibitz.players.holdem"],
}
