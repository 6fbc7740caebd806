"""`python -m kibitz`, and the command `kibitz`."""

import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line. Ctrl-C ends it without a traceback, even while its modules are imported."""
    try:
        from .app.cli import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
