"""What Doppelkopf adds to Kibitz: kind -> the modules that register it, imported when something of it is looked up."""

MODULES = {
    "command": ["kibitz.app.commands.session"],
    "game": ["kibitz.games.doppelkopf"],
    "record format": ["kibitz.games.doppelkopf.record_formats"],
    "measured facts": ["kibitz.players.doppelkopf"],
    "network kind": ["kibitz.learn.card_network"],
    "player": ["kibitz.players.doppelkopf"],
    "learner": ["kibitz.learn.doppelkopf"],
    "study": ["kibitz.studies.doppelkopf_ablation", "kibitz.studies.doppelkopf_thesis"],
}
