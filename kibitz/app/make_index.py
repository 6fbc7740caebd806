"""Makes the index of what ships: `python -m kibitz.app.make_index FILE`, as it is done for a wheel."""

import sys
from pathlib import Path
from typing import Any

from ..core.files import write_atomically
from ..games import GAMES
from ..play.players.player import PLAYERS
from ..reproduce.study import STUDIES
from ..train.learner import LEARNERS
from .commands import models, study, train
from .index import as_json, describe_command, ships, summary


def written() -> dict[str, Any]:
    """The index of what is registered now."""
    return {
        "train": {name: describe_command(*train.command_of(name)) for name in ships(LEARNERS)},
        "study": {name: describe_command(*study.command_of(name)) for name in ships(STUDIES)},
        "games": {name: summary(cls) for name, cls in ships(GAMES).items()},
        "players": list(ships(PLAYERS)),
        "files": {name: cls.reads for name, cls in ships(PLAYERS).items() if hasattr(cls, "reads")},
        "models": models.described(),
    }


if __name__ == "__main__":
    write_atomically(Path(sys.argv[1]), as_json(written()))
