"""The lock of a case: held by the operating system for the milliseconds of read-check-write."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

from harness.errors import HarnessError
from harness.store.disk import BINARY, NOT_FOLLOWED

if os.name == "nt":
    import msvcrt

    def _try_lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
else:
    import fcntl

    def _try_lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


WAIT_SECONDS = 10.0  # a commit takes milliseconds; longer means that a holder hangs
PAUSE_SECONDS = 0.01


@contextlib.contextmanager
def locked(path: Path, *, wait: float = WAIT_SECONDS) -> Iterator[None]:
    """Hold the lock; freed by the system when its holder dies. The file's content is never read.

    Raises HarnessError after `wait` seconds.

    Written here and not taken from filelock, whose import costs 59 ms, more than all of `status`.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | NOT_FOLLOWED | BINARY, 0o644)
    try:
        deadline = time.monotonic() + wait
        while True:
            try:
                _try_lock(descriptor)
                break
            except OSError:
                if time.monotonic() > deadline:
                    raise HarnessError(
                        "another process holds the lock of this case",
                        str(path),
                        f"it has been so for {wait:.0f} s; nothing was written. End the other process",
                    ) from None
                time.sleep(PAUSE_SECONDS)
        yield
    finally:
        os.close(descriptor)
