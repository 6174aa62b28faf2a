"""Our cache folder, and small files in it that are whole or not there: what it holds can be lost at any time."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Mapping
from pathlib import Path

import platformdirs

CACHE_VARIABLE = "HARNESS_CACHE_DIR"


def cache_folder(environ: Mapping[str, str]) -> Path:
    """Outside every case: HARNESS_CACHE_DIR, else the user's cache."""
    return Path(environ.get(CACHE_VARIABLE) or platformdirs.user_cache_dir("harness", appauthor=False))


def read_cached(path: Path, limit: int) -> bytes | None:
    """The bytes of a regular file; None where there is none, it cannot be read, or it has more than `limit` bytes."""
    try:
        # A pipe in its place is not waited for.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        with os.fdopen(descriptor, "rb") as file:
            data = file.read(limit + 1) if stat.S_ISREG(os.fstat(descriptor).st_mode) else None
    except (OSError, ValueError):  # ValueError: a path with a NUL
        return None
    return data if data is not None and len(data) <= limit else None


def write_cached(path: Path, data: bytes) -> bool:
    """Whole or not at all, also where two processes write at once; False where the folder takes no file."""
    import tempfile  # late: it costs every start 4 ms

    temporary = ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".cache-", suffix=".tmp")
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        Path(temporary).replace(path)
    except (OSError, ValueError):
        if temporary:
            with contextlib.suppress(OSError):
                Path(temporary).unlink()
        return False
    return True
