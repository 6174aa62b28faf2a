"""A lock held through a file, among threads and processes; freed by the system when its holder dies.

Written here and not taken from filelock, whose import costs 59 ms, more than all of `status`.
"""

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


@contextlib.contextmanager
def held(path: Path, *, wait: float, pause: float = 0.01) -> Iterator[float]:
    """Hold the lock file, whose content is never read; yields the seconds waited for it, looking every `pause`.

    Raises TimeoutError after `wait` seconds.
    """
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags, 0o644)
    start = time.monotonic()
    try:
        while True:
            try:
                _try_lock(descriptor)
                break
            except OSError:
                if time.monotonic() - start >= wait:
                    raise TimeoutError(path) from None
                time.sleep(pause)
        yield time.monotonic() - start
    finally:
        os.close(descriptor)
