"""What poker adds to Kibitz: kind -> the modules that register it, imported when something of the kind is looked up."""

MODULES = {
    "command": [
        "kibitz.poker.app.ranges",
        "kibitz.poker.app.abstract",
        "kibitz.poker.app.dealer",
        "kibitz.poker.app.acpc",
    ],
    "game": ["kibitz.poker.rules"],
    "record format": ["kibitz.poker.rules.record_formats"],
    "learner": ["kibitz.poker.learn.distill"],
    "measure": ["kibitz.poker.lbr", "kibitz.poker.flop_by_flop"],
    "strategy file": ["kibitz.poker.solve.files"],
    "variance reduction": ["kibitz.poker.aivat"],
    "study": ["kibitz.poker.deep_cfr_study"],
    "solver": ["kibitz.poker.solve.sampling_solver"],
    "measured facts": ["kibitz.poker.measured"],
    "player": ["kibitz.poker.baselines", "kibitz.poker.resolve"],
}
