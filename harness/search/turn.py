"""One builder of an index at a time, among threads and processes; freed by the system when its holder dies."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

if os.name == "nt":
    import msvcrt

    def _try_lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
else:
    import fcntl

    def _try_lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


PAUSE_SECONDS = 0.05  # a build takes seconds


@contextlib.contextmanager
def turn(path: Path, *, wait: float) -> Iterator[float]:
    """Hold the lock file `path`; yields the seconds waited for it. TimeoutError after `wait` seconds."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o644)
    start = time.monotonic()
    try:
        while True:
            try:
                _try_lock(descriptor)
                break
            except OSError:
                if time.monotonic() - start >= wait:
                    raise TimeoutError(path) from None
                time.sleep(PAUSE_SECONDS)
        yield time.monotonic() - start
    finally:
        os.close(descriptor)
