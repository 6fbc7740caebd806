"""Files of tables: damaged, foreign or changed ones are refused in one line, run no code and break nothing."""

import json
import os
import signal
import sqlite3
import threading
import time
from pathlib import Path

import pytest

from kibitz.app.web.store import Store
from kibitz.core.names import BadInput

from .conftest import finished, moved, opened, seen, settled

CODE = "from pathlib import Path\nPath('ran').touch()\nraise ValueError('it was run')\n"


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "data"


def changed(folder, change):
    """Change the content of every table in a file."""
    file = sqlite3.connect(folder / "tables.sqlite")
    for row, text in file.execute("SELECT id, content FROM tables").fetchall():
        content = change(json.loads(text))
        text = content if isinstance(content, str) else json.dumps(content)
        file.execute("UPDATE tables SET content = ? WHERE id = ?", (text, row))
    file.commit()
    file.close()


# ---------------------------------------------------------------- opening


def refused(folder):
    with pytest.raises(BadInput) as error:
        Store(folder)
    text = str(error.value)
    assert "\n" not in text
    assert str(folder / "tables.sqlite") in text
    assert "name another folder with --data" in text
    return text


def test_a_file_of_something_else_is_refused(folder):
    folder.mkdir()
    (folder / "tables.sqlite").write_bytes(b"these are no tables" * 1000)
    assert "file is not a database" in refused(folder)


def test_a_database_of_another_program_is_refused_and_left_alone(folder):
    folder.mkdir()
    file = sqlite3.connect(folder / "tables.sqlite")
    file.execute("CREATE TABLE tables (chairs INTEGER)")
    file.execute("INSERT INTO tables VALUES (4)")
    file.commit()
    file.close()
    assert "no such column" in refused(folder)
    file = sqlite3.connect(folder / "tables.sqlite")
    assert file.execute("SELECT chairs FROM tables").fetchall() == [(4,)]
    file.close()


def test_a_damaged_file_is_refused(folder):
    store = Store(folder)
    for i in range(200):
        store.save(str(i), [f"key {i}"], {"moves": "x" * 500})
    store.close()
    path = folder / "tables.sqlite"
    content = bytearray(path.read_bytes())
    content[3 * 4096 : 12 * 4096] = b"\xff" * (9 * 4096)
    path.write_bytes(content)
    assert "damaged" in refused(folder) or "malformed" in refused(folder)


def test_a_folder_that_is_none_is_refused(tmp_path):
    (tmp_path / "data").write_text("")
    refused(tmp_path / "data")


# ---------------------------------------------------------------- tables that were changed


def nested(content):
    return "[" * 100_000


CHANGES = {
    "no JSON": (lambda content: "{", "can't be read"),
    "nested deeply": (nested, "can't be read"),
    "another kind of value": (lambda content: [1, 2], "can't be read"),
    "nothing": (lambda content: {}, "can't be read"),
    "moves that are none": (lambda content: content | {"actions": ["a1"]}, "can't be read"),
    "a move that isn't legal": (lambda content: content | {"actions": [0, 0]}, "the move 0 is not legal"),
    "a huge move": (lambda content: content | {"actions": [10**30]}, "is not legal"),
    "moves after the end": (lambda content: content | {"actions": [0, 3, 1, 4, 2, 5]}, "the move 5 is not legal"),
    "one player": (lambda content: content | {"players": ["human"]}, "don't fit the game"),
    "a key of no seat": (lambda content: content | {"keys": {key: 7 for key in content["keys"]}}, "don't fit"),
    "scores of another kind": (lambda content: content | {"scores": [[1.0], [1.0]]}, "don't fit"),
    "an unknown game": (lambda content: content | {"game": "chess"}, "no game is called 'chess'"),
    "an unknown player": (lambda content: content | {"players": ["human", "stockfish"]}, "no player is called"),
    "a game in a file": (lambda content: content | {"game": "evil.py:Evil"}, "no game is called"),
    "a player in a file": (lambda content: content | {"players": ["human", "evil.py:Evil"]}, "no player is called"),
    "a file elsewhere": (lambda content: content | {"players": ["human", "net:/etc/passwd"]}, "only files in models/"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_table_is_refused_and_runs_no_code(server, folder, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    Path("evil.py").write_text(CODE)
    client = server()
    (key,) = opened(client, "tic_tac_toe")
    settled(client, key)
    change, words = CHANGES[name]
    changed(folder, change)
    again = server()
    answer = again.get(f"/api/tables/{key}")
    assert answer.status_code in (404, 409)
    assert words in answer.json()["detail"]
    assert again.post(f"/api/tables/{key}/moves", json={"action": 0, "turn": 0}).status_code in (404, 409)
    assert not Path("ran").exists()
    (other,) = opened(again, "tic_tac_toe")  # others play on
    assert settled(again, other)["phase"] == "yours"


# ---------------------------------------------------------------- a full disk, a locked file


def test_a_table_plays_on_with_a_full_disk(client):
    (key,) = opened(client, "tic_tac_toe")
    table = settled(client, key)
    file = client.lobby.store._file
    pages = file.execute("PRAGMA page_count").fetchone()[0]
    file.execute(f"PRAGMA max_page_count = {pages}")
    others = [opened(client, "kuhn")[0] for _ in range(60)]
    assert "this game is not saved: database or disk is full" in seen(client, others[-1])["trouble"]
    assert finished(client, others[-1])["phase"] == "over"
    moved(client, key, table)
    assert settled(client, key)["phase"] == "yours"
    file.execute("PRAGMA max_page_count = 100000")  # there is room again
    client.post(f"/api/tables/{others[-1]}/rematch")
    assert settled(client, others[-1])["trouble"] == ""


def test_another_program_that_writes_does_not_hold_up_the_server(client, folder):
    (key,) = opened(client, "tic_tac_toe")
    table = settled(client, key)
    other = sqlite3.connect(folder / "tables.sqlite", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    moved(client, key, table)
    assert "not saved: database is locked" in settled(client, key)["trouble"]
    other.execute("ROLLBACK")
    other.close()
    moved(client, key, settled(client, key))
    assert settled(client, key)["trouble"] == ""


# ---------------------------------------------------------------- processes that die


def test_a_process_killed_in_the_middle_of_a_move_loses_nothing(server):
    client = server(pool=None, processes=1)
    (key,) = opened(client, "tic_tac_toe")
    moved(client, key, settled(client, key, 60))
    table = settled(client, key, 60)
    process = client.lobby.pool.movers[0].process.pid
    os.kill(process, signal.SIGSTOP)  # it has the request but doesn't answer
    moved(client, key, table)
    threading.Timer(0.3, os.kill, [process, signal.SIGKILL]).start()
    time.sleep(0.1)
    assert seen(client, key)["phase"] == "others"
    after = settled(client, key, 60)
    assert after["phase"] in ("yours", "over")
    assert after["turn"] == table["turn"] + 1
    assert len(after["events"]) >= 4
