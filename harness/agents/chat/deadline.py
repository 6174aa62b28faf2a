"""One time limit for a whole call to an API: connecting, retries, waiting and reading together.

The SDKs' own time-outs hold for each read: a server that sends a byte a second, or asks for a long pause before
each retry, keeps such a call alive for ever.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class TimeIsUp(Exception):
    """The limit has passed."""


class Deadline:
    """`seconds` from now."""

    def __init__(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds

    def left(self) -> float:
        """Seconds, never below 0."""
        return max(0.0, self._until - time.monotonic())

    def check(self) -> None:
        """Raise TimeIsUp when the limit has passed: called before each request and each piece of a body."""
        if not self.left():
            raise TimeIsUp

    def run(self, call: Callable[[], T]) -> T:
        """The result of `call`, or its exception; TimeIsUp when the limit passes first.

        `call` runs in a thread that is left behind on a time-out and on Ctrl-C: it ends at its next `check`.
        """
        results: list[T] = []
        errors: list[Exception] = []

        def work() -> None:
            try:
                results.append(call())
            except Exception as error:
                errors.append(error)

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        thread.join(min(self.left(), threading.TIMEOUT_MAX))
        if results:
            return results[0]
        if errors and self.left():
            raise errors[0]
        raise TimeIsUp
