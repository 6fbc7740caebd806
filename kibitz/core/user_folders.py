"""Folders of the user: caches, which may be deleted at any time."""

import os
import sys
import tempfile
from pathlib import Path


def cache_folder() -> Path:
    """The cache folder: NUMBA_CACHE_DIR, else the user's cache, else (read-only home) a temporary folder."""
    candidates = [Path(base) / "kibitz" for base in [os.environ.get("NUMBA_CACHE_DIR")] if base]
    if sys.platform == "win32":
        candidates.append(Path(os.environ.get("LOCALAPPDATA", "~")) / "kibitz" / "cache")
    elif sys.platform == "darwin":
        candidates.append(Path("~/Library/Caches/kibitz"))
    else:
        candidates.append(Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "kibitz")
    candidates.append(Path(tempfile.gettempdir()) / f"kibitz-{getattr(os, 'getuid', lambda: 0)()}")
    for candidate in candidates:
        try:
            folder = candidate.expanduser()
            # Compiled kernels from here are executed: only the owner may write to the folder.
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            if hasattr(os, "getuid") and folder.stat().st_uid != os.getuid():
                continue
            tempfile.TemporaryFile(dir=folder).close()
            return folder
        except (OSError, RuntimeError):  # not writable, or the user has no home
            continue
    raise RuntimeError(f"no folder for a cache is writable: tried {', '.join(map(str, candidates))}")
