"""For all tests."""

import math
import os
import signal
import sys
from pathlib import Path

import pytest

from kibitz.app.ui import progress
from kibitz.games import GAMES, is_shipped

from .games import facts
from .slow import DISPLAYED, HEAVY
from .systems import UNREADABLE_ON_WINDOWS, WINDOWS, lacking

collect_ignore = list(UNREADABLE_ON_WINDOWS) if sys.platform == WINDOWS else []
OTHER_ROWS = {row.id for row in facts.ROWS} - facts.displayed()

os.environ.setdefault("OMP_NUM_THREADS", "1")  # small networks: threads of several processes would only wait

# A shell starts what runs in the background with Ctrl-C ignored, and children inherit that: the tests of
# Ctrl-C must not depend on how they were started.
signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP"):  # ignored under nohup
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

progress.FIRST = math.inf  # what a command prints must not depend on how long it takes here


def pytest_collection_modifyitems(items):
    """Mark the slow tests, and skip those that this system can't run."""
    folder = Path(__file__).parent
    for item in items:
        name = item.nodeid.partition("::")[2]
        place = f"{item.path.relative_to(folder).as_posix()}::{name}"
        parameters = item.callspec.id if hasattr(item, "callspec") else ""
        is_other_row = place.startswith(DISPLAYED) and parameters in OTHER_ROWS
        if is_other_row or any(place.startswith(each) for each in HEAVY):
            item.add_marker(pytest.mark.heavy)
        if why := lacking(place, sys.platform):
            item.add_marker(pytest.mark.skip(reason=f"needs {why}"))


@pytest.fixture(autouse=True)
def forget_games():
    """Forget the games that a test defines: tests that ask for all games must not depend on those before them."""
    before = {name: GAMES[name] for name in GAMES}
    yield
    for name in [name for name in GAMES if not is_shipped(GAMES[name])]:
        if name in before:
            GAMES(name)(before[name])
        else:
            del GAMES._classes[name]
