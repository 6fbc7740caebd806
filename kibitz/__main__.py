"""`python -m kibitz`, and the command `kibitz`."""

import os
import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line. Ctrl-C ends it without a traceback, even while its modules are imported."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # of numpy: one process per core
    try:
        from .app.cli import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
