"""A process that trains for the server: `kibitz train` that ends, as by Ctrl-C, when its standard input is closed.

The server holds the other end of standard input, so a training ends with the server, whatever ends that.
"""

import contextlib
import os
import signal
import sys
import threading
import time

AGAIN = 20.0  # seconds until the next interrupt, where foreign code swallowed the last one
INTERRUPTED = 130  # exit code, as after Ctrl-C
PATIENT = 10  # niceness: people at the tables come first


def main() -> None:
    """Run the command line, with the lower priority of work in the background."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a server in the background has it ignored
    try:
        threading.Thread(target=_interrupt_at_the_end, daemon=True).start()
        if hasattr(os, "nice"):
            os.nice(PATIENT)
        from kibitz.__main__ import main as run

        run()
    except KeyboardInterrupt:  # before the command line takes care of it
        sys.exit(INTERRUPTED)


def _interrupt_at_the_end() -> None:
    """Wait until standard input is closed, then interrupt the main thread."""
    with contextlib.suppress(OSError):
        while os.read(0, 64):
            pass
    while True:
        if hasattr(signal, "pthread_kill"):
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        else:  # Windows
            signal.raise_signal(signal.SIGINT)
        time.sleep(AGAIN)


if __name__ == "__main__":
    main()
