"""What poker adds to Kibitz: kind -> the modules that register it, imported when something of the kind is looked up."""

MODULES = {
    "game": ["kibitz.games.holdem"],
    "record format": ["kibitz.games.holdem.record_formats"],
    "measure": ["kibitz.arena.holdem_lbr", "kibitz.app.commands.exploit_exact"],
    "variance reduction": ["kibitz.arena.aivat"],
    "solver": ["kibitz.app.commands.solve_boards"],
    "player": ["kibitz.players.holdem"],
}
