"""The lock of a case: held by the operating system for the milliseconds of read-check-write."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from harness.errors import HarnessError
from harness.lockfile import held

WAIT_SECONDS = 10.0  # a commit takes milliseconds; longer means that a holder hangs


@contextlib.contextmanager
def locked(path: Path, *, wait: float = WAIT_SECONDS) -> Iterator[None]:
    """Hold the lock. Raises HarnessError after `wait` seconds."""
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(held(path, wait=wait))
        except TimeoutError:
            told = f"it has been so for {wait:.0f} s; nothing was written. End the other process"
            raise HarnessError("another process holds the lock of this case", str(path), told) from None
        yield
