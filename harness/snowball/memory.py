"""The notes on what was read before: a history that grows is not read anew from its beginning."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Iterable
from threading import Lock


class Memory:
    """Notes by all that led to them, the `most` last used ones. Thread-safe; lost with the wrapper it belongs to."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._notes: OrderedDict[bytes, str] = OrderedDict()
        self._lock = Lock()

    def get(self, key: bytes) -> str | None:
        with self._lock:
            if key in self._notes:
                self._notes.move_to_end(key)
            return self._notes.get(key)

    def put(self, key: bytes, notes: str) -> None:
        with self._lock:
            self._notes[key] = notes
            while len(self._notes) > self._most:
                self._notes.popitem(last=False)


def trail(before: bytes, texts: Iterable[str]) -> bytes:
    """The key of what was read up to here and these texts."""
    digest = hashlib.sha256(before)
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.digest()
