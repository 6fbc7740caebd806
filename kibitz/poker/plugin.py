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
    "learner": ["kibitz.learn.deep_cfr.distill"],
    "measure": ["kibitz.arena.holdem_lbr", "kibitz.arena.flop_by_flop"],
    "strategy file": ["kibitz.search.public_chance.files"],
    "variance reduction": ["kibitz.arena.aivat"],
    "study": ["kibitz.studies.deep_cfr"],
    "solver": ["kibitz.search.public_chance.sampling_solver"],
    "measured facts": ["kibitz.players.holdem_measured"],
    "player": ["kibitz.players.holdem", "kibitz.players.resolve"],
}
