"""Tables on disk: settings and moves only, from which a position is replayed."""

import json
import os
import sqlite3
import sys
import time
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, ValidationError

from ...core.names import BadInput
from .messages import MAX_GAMES

PATIENCE = 0.25  # seconds to wait for another program that writes: the server waits, too
CHECKS = ("SELECT id, content, changed FROM tables LIMIT 1", "SELECT key, id FROM keys LIMIT 1")
SCHEMA = """
CREATE TABLE IF NOT EXISTS tables (id TEXT PRIMARY KEY, content TEXT NOT NULL, changed REAL NOT NULL);
CREATE TABLE IF NOT EXISTS keys (key TEXT PRIMARY KEY, id TEXT NOT NULL);
"""


def data_folder() -> Path:
    """The user's folder for data of Kibitz."""
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", "~"))
    elif sys.platform == "darwin":
        base = Path("~/Library/Application Support")
    else:
        base = Path(os.environ.get("XDG_DATA_HOME") or "~/.local/share")
    return (base / "kibitz").expanduser()


class KeptSession(BaseModel):
    """What it holds of a session."""

    model_config = ConfigDict(strict=True)

    games: int = Field(ge=1, le=MAX_GAMES)
    played: NonNegativeInt
    dealer: int = Field(ge=0, le=3)
    owed: int = Field(ge=0, le=15)
    solos: list[Annotated[int, Field(ge=-1, le=3)]]


class Kept(BaseModel):
    """What a file holds of a table at least. It may have been changed by anyone."""

    model_config = ConfigDict(strict=True)

    id: str
    game: str
    players: list[str]
    strengths: list[str]
    seed: NonNegativeInt
    keys: dict[str, NonNegativeInt]
    number: NonNegativeInt
    actions: list[NonNegativeInt]
    resigned: NonNegativeInt | None
    scores: list[list[float]]
    results: list[list[float]] = []
    session: KeptSession | None = None


class Store:
    """A file of tables."""

    def __init__(self, folder: Path) -> None:
        """Open or create `tables.sqlite` in a folder.

        Raises:
            BadInput: It can't be opened, or is no such file.
        """
        self.path = path = folder / "tables.sqlite"
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._file = sqlite3.connect(path, check_same_thread=False, isolation_level=None, timeout=PATIENCE)
            self._file.execute("PRAGMA journal_mode = WAL")
            self._file.execute("PRAGMA synchronous = NORMAL")
            self._file.executescript(SCHEMA)
            for check in CHECKS:
                self._file.execute(check)
            damage = self._file.execute("PRAGMA quick_check(1)").fetchone()[0]
            if damage != "ok":
                raise sqlite3.DatabaseError(f"the file is damaged ({' '.join(damage.split())})")
        except (OSError, sqlite3.Error) as error:
            raise BadInput(
                f"can't keep tables in {path}: {error}; move it away, or name another folder with --data"
            ) from None

    def save(self, table: str, keys: list[str], content: dict[str, Any]) -> str:
        """Write a table; return why it couldn't be written, mostly nothing."""
        try:
            self._file.execute("BEGIN")
            try:
                row = (table, json.dumps(content), time.time())
                self._file.execute("INSERT OR REPLACE INTO tables VALUES (?, ?, ?)", row)
                self._file.executemany("INSERT OR REPLACE INTO keys VALUES (?, ?)", [(key, table) for key in keys])
                self._file.execute("COMMIT")
            except BaseException:
                if self._file.in_transaction:
                    self._file.execute("ROLLBACK")
                raise
        except sqlite3.Error as error:
            return str(error)
        return ""

    def find(self, key: str) -> dict[str, Any] | None:
        """The table that a key opens; None where there is none.

        Raises:
            BadInput: It can't be read.
        """
        query = "SELECT content FROM tables JOIN keys ON tables.id = keys.id WHERE key = ?"
        try:
            row = self._file.execute(query, (key,)).fetchone()
            content = None if row is None else json.loads(row[0])
            if content is not None:
                Kept.model_validate(content)
        except (sqlite3.Error, ValidationError, ValueError, RecursionError) as error:
            kind = f": {error}" if isinstance(error, sqlite3.Error) else ""
            raise BadInput(f"this table can't be read from {self.path.name}{kind}") from None
        return content

    def close(self) -> None:
        self._file.close()
