"""Environments for learners that Kibitz knows nothing of: `kibitz.vector`, `kibitz.gym` and `kibitz.pettingzoo`.

Each of the three is imported when it is first used, and so are Gymnasium and PettingZoo.
"""

import importlib
from typing import Any

from ...core.names import BadInput

__all__ = ["gym", "pettingzoo", "vector"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}: it has {', '.join(__all__)}")
    return importlib.import_module(f".{name}", __name__)


def need(package: str, title: str) -> Any:
    """Import an optional package.

    Raises:
        BadInput: It isn't installed; the message says how to install it.
    """
    try:
        return importlib.import_module(package)
    except ImportError:
        raise BadInput(f"this environment needs {title}: pip install 'kibitz[envs]'") from None
