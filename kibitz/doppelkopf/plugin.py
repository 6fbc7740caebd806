"""What Doppelkopf adds to Kibitz: kind -> the modules that register it, imported when something of it is looked up."""

MODULES = {
    "command": ["kibitz.doppelkopf.app.session"],
    "game": ["kibitz.doppelkopf.rules"],
    "record format": ["kibitz.doppelkopf.rules.record_formats"],
    "measured facts": ["kibitz.doppelkopf.players"],
    "network kind": ["kibitz.doppelkopf.learn.card_network"],
    "player": ["kibitz.doppelkopf.players"],
    "learner": ["kibitz.doppelkopf.learn"],
    "study": ["kibitz.doppelkopf.ablation", "kibitz.doppelkopf.thesis"],
}
