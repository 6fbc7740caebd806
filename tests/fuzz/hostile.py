"""Values that nobody should give, and a runner that says what is wrong with how a command line ends."""

import contextlib
import faulthandler
import io
import os
import resource
import signal
import sys
import traceback
from pathlib import Path
from typing import NamedTuple

from kibitz.app import cli

SECONDS = 40  # of processor time within which every command line ends, the first of its kind with compiling
HANGS = 300  # seconds after which the process is ended: a kernel that never returns can't be interrupted
GIGABYTES = 3  # that the process may grow by, over all command lines
CODES = (0, 1, 2, 130)

NUMBERS = (
    "nan", "inf", "-inf", "-1", "0", "-0.0", "1e400", "-1e300", "1e308", str(2**63), str(-(2**63) - 1), str(10**30),
    "1" * 5000, "0x10", "1_0", "١", "1e5", "½", "1,000", "--", "",
)  # fmt: skip
TEXTS = (  # names and paths
    "", " ", "\x00", "\x1b[31mred", "\r\nkibitz: fine", "[/red]", "[bold", "[link=http://x]", "\\", "'", '"',
    "~no-such-user/x", "~", "a" * 5000, "/".join("a" * 3000), "\udcff", "\ud800", "../..", ".", "/", "/dev/null",
    "/proc/self/mem", "-", "--", "-x", "--help=1", "💥", "\u202egnp", "%s%n", "{0}", "$x$", "${HOME}", "*", ":", "::",
    ",", "=",
)  # fmt: skip
GAMES = (
    "kuhn:", "kuhn:x=1", "leduc:ranks=nan", "leduc:ranks=99999999999999999999", "hex:size=-1", "goofspiel:13,13",
    "nofile.py:X", ".py:X", "x.py", "x.py:", "kuhn:kuhn", "leduc:ranks=1e400", "goofspiel:cards=½",
    "doppelkopf:thesis,thesis", "holdem:stack=-1", "hex:size=nan", "connect_four:0", "liars_dice:dice=9,faces=9",
)  # fmt: skip
PLAYERS = (
    "net:", "net:.", "net:/", "net:~no-such-user", "strategy:/dev/null", "features:models/leduc", "models/leduc",
    "net:models/leduc,iteration=-5", "net:models/leduc,threshold=nan", "uct:", "uct:-5", "uct:0", "uct:2,c=nan",
    "uct:2,c=-1", "uct:seconds=-1", "uct:seconds=nan", "uct:seconds=inf", "uct:1,1", "uct:1,c", "oos:2,=",
    "oos:99999999999999999999999", "ismcts:10,c=nan", "ismcts:2,c=-inf", "ensemble-uct:0x0",
    "ensemble-uct:9" + "9" * 400, "puct:2,policy=", "puct:2,policy=/", "puct:2,megabytes=1e-300",
    "alphabeta:depth=-1", "human", "usual", "random:1", "uct:seconds=1e-300", "oos:2,delta=1", "oos:2,epsilon=0",
    "oos:2,gamma=nan", "ismcts:2,decide=x", "uct:2,plies=-1", "uct:2,plies=1000000000000000000000000000000",
    "single-uct:2", "doko:models/doppelkopf,simulations=-1", "strategy:", "features:/", "always:fold,fold", "style:",
    "lstm:x", "cards:x,iteration=-1",
)  # fmt: skip


class TooLong(BaseException):
    """A command line ran out of time."""


def _out_of_time(*_):
    raise TooLong


def files():
    """All files and folders below the current folder."""
    return {str(path) for path in Path().rglob("*")}


def memory():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


START = memory()


class Ended(NamedTuple):
    """How a command line has ended."""

    code: int | None
    error: str
    fault: str  # what is wrong with that; empty: nothing


def run(*arguments):
    """Run a command line in the current folder."""
    before, stdout, stderr, code = files(), io.StringIO(), io.StringIO(), None
    argv, stdin, alarm = sys.argv, sys.stdin, signal.signal(signal.SIGPROF, _out_of_time)
    sys.argv, sys.stdin = ["kibitz", *arguments], io.StringIO()
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    faulthandler.dump_traceback_later(HANGS, exit=True, file=sys.__stderr__)
    try:
        with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
            cli.main()
    except SystemExit as end:
        code = end.code
    except TooLong:
        return Ended(None, "", f"it took more than {SECONDS} s")
    except BaseException as error:
        return Ended(None, "", f"{type(error).__name__}: {error} in {traceback.format_tb(error.__traceback__)[-1]}")
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, alarm)
        faulthandler.cancel_dump_traceback_later()
        sys.argv, sys.stdin = argv, stdin
    fault = _fault(code, stdout.getvalue(), stderr.getvalue(), files() - before)
    return Ended(code, stderr.getvalue(), fault)


def _fault(code, printed, said, left):
    if code not in CODES:
        return f"it ended with {code!r}"
    if "Traceback" in said or "\x1b" in said + printed:
        return f"it printed {said!r}"
    lines = [line for line in said.splitlines() if not line.startswith("waiting for ")]  # in vain, which is then said
    if code == 2 and len(lines) != 1 and not (printed and not said):  # no arguments: the help
        return f"it printed {said!r}"
    if code == 2 and left and "the human has left the game" not in said:  # whose run can be resumed
        return f"it refused ({said.strip()}) and left {sorted(left)[:4]}"
    if memory() - START > GIGABYTES:
        return f"the process has grown to {memory():.1f} GB"
    return ""


def budget(few):
    """The number of examples to try: few, or as many as KIBITZ_FUZZ says."""
    return int(os.environ.get("KIBITZ_FUZZ", few))
