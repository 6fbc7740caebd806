"""Many people at once at the tables of `kibitz serve`: answer times, errors, memory and processor time.

    python -m benchmarks.web_load [TABLES] [SECONDS] [PLAYER] [GAME]

Each person thinks for three seconds per move. An answer is the time from sending a move until the other player's move
has arrived, both over the connections that a browser uses. People start evenly over the first three seconds; "settled"
leaves out the first ten. Where other programs run on the machine, compare the processor seconds rather than the wall
times.
"""

import asyncio
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import websockets

THINK = 3.0  # seconds per move of a person
SETTLED = 10.0  # seconds after the start
EVERY = 10.0  # seconds between lines of output


def processes(server: int) -> list[int]:
    """A process and its children, which any of its threads may have started."""
    children = [path.read_text().split() for path in Path(f"/proc/{server}/task").glob("*/children")]
    return [server, *sorted(int(each) for some in children for each in some)]


def memory(server: int) -> float:
    """Resident memory of a process and its children, in MB."""
    total = 0
    for process in processes(server):
        total += int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return total / 1e6


def processor(server: int) -> list[float]:
    """Processor seconds that a process and its children have used: the server first."""
    found = []
    for process in processes(server):
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        found.append((int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"))
    return found


class Web:
    """Requests over one connection that is kept open, as a browser does."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.reader: Any = None
        self.writer: Any = None

    async def post(self, path: str, body: Any) -> dict[str, Any]:
        """The answer to a request; `error` where it was refused."""
        if self.writer is None or self.reader.at_eof():
            self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        content = json.dumps(body).encode()
        head = f"POST /api/{path} HTTP/1.1\r\nhost: 127.0.0.1:{self.port}\r\ncontent-type: application/json\r\n"
        self.writer.write(f"{head}content-length: {len(content)}\r\n\r\n".encode() + content)
        answered = (await self.reader.readuntil(b"\r\n\r\n")).decode()
        length = re.search(r"content-length: (\d+)", answered)
        assert length is not None, answered
        found = json.loads(await self.reader.readexactly(int(length[1])))
        return found if answered[9] == "2" else {"error": f"{answered[9:12]}: {found['detail']}"}


class Load:
    """People who play until the time is over."""

    def __init__(self, port: int, seconds: float, game: str, player: str) -> None:
        self.port, self.game, self.player = port, game, player
        self.began = time.perf_counter()
        self.end = self.began + seconds
        self.answers: list[tuple[float, float]] = []  # when, and seconds
        self.errors: list[str] = []
        self.games = 0

    async def person(self, number: int, wait: float) -> None:
        await asyncio.sleep(wait)
        try:
            await self._play(number)
        except Exception as error:
            self.errors.append(f"{type(error).__name__}: {error}")

    async def _play(self, number: int) -> None:
        web = Web(self.port)
        table = await self._ask(web, "tables", {"game": self.game, "seats": ["human", self.player]})
        key = table["links"][0]["key"]
        async with websockets.connect(f"ws://127.0.0.1:{self.port}/api/tables/{key}/live") as live:
            table = await self._next(live, lambda found: found["phase"] != "others")
            while time.perf_counter() < self.end:
                await asyncio.sleep(THINK)
                if table["phase"] == "over":
                    self.games += 1
                    game = table["number"]
                    await self._ask(web, f"tables/{key}/rematch", {})
                    table = await self._next(live, lambda found, old=game: self._asked(found, old, -1))
                    continue
                move = table["moves"][number % len(table["moves"])]["action"]
                game, turn, sent = table["number"], table["turn"], time.perf_counter()
                await self._ask(web, f"tables/{key}/moves", {"action": move, "turn": turn})
                table = await self._next(
                    live,
                    lambda found, old=game - 1, past=turn: found["phase"] == "over" or self._asked(found, old, past),
                )
                self.answers.append((sent - self.began, time.perf_counter() - sent))

    @staticmethod
    def _asked(found: dict[str, Any], game: int, turn: int) -> bool:
        return found["number"] > game and found["phase"] == "yours" and found["turn"] > turn

    async def _ask(self, web: Web, path: str, body: Any) -> dict[str, Any]:
        found = await web.post(path, body)
        if "error" in found:
            raise RuntimeError(found["error"])
        return found

    async def _next(self, live: Any, wanted: Any) -> dict[str, Any]:
        """The next table over a live connection of which something is true."""
        async for text in live:
            found: dict[str, Any] = json.loads(text)
            if found["kind"] == "table":
                if found["trouble"]:
                    raise RuntimeError(found["trouble"])
                if wanted(found):
                    return found
        raise RuntimeError("the live connection ended")

    def line(self, since: float = 0.0) -> str:
        """Number, median and 95th percentile of the answers since a time."""
        times = sorted(seconds * 1000 for at, seconds in self.answers if at >= since)
        if len(times) < 2:
            return f"{len(times)} answers"
        late = times[int(0.95 * len(times))]
        return f"{len(times)} answers, median {statistics.median(times):.0f} ms, 95th percentile {late:.0f} ms"


async def measure(server: int, port: int, tables: int, seconds: float, player: str, game: str) -> None:
    load = Load(port, seconds, game, player)
    before, used = memory(server), processor(server)
    print(f"start: {before:.0f} MB")

    async def watch() -> None:
        while (now := time.perf_counter() - load.began) < seconds:
            print(f"{now:3.0f} s: {load.line(now - EVERY)}; {memory(server):.0f} MB", flush=True)
            await asyncio.sleep(EVERY)

    await asyncio.gather(watch(), *(load.person(i, THINK * i / tables) for i in range(tables)))
    spent = processor(server)
    spent = [now - (used[i] if i < len(used) else 0) for i, now in enumerate(spent)]
    print(f"end: {memory(server):.0f} MB")
    print(
        f"processor s: server {spent[0]:.1f}, worker processes {sum(spent[1:]):.1f}, people {time.process_time():.1f}"
    )
    print(f"{tables} tables of {game} against {player}, {seconds:.0f} s: {load.games} games ended")
    print(f"all: {load.line()}")
    print(f"settled: {load.line(SETTLED)}")
    print(f"errors: {len(load.errors)} {load.errors[:3]}")


def main(tables: str = "200", seconds: str = "60", player: str = "uct:200", game: str = "connect_four") -> None:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "kibitz", "serve", "--no-open", "--port", "0", "--data", folder]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            assert server.stdout is not None
            address = re.search(r"127\.0\.0\.1:(\d+)", server.stdout.readline())
            assert address is not None
            asyncio.run(measure(server.pid, int(address[1]), int(tables), float(seconds), player, game))
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
