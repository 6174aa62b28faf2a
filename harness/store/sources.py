"""Looks up what a citation cites, raw by raw, holding only a few raws at a time."""

from __future__ import annotations

import contextlib

from harness.errors import HarnessError
from harness.model import Source
from harness.store.case import Store

HELD = 8  # raws in memory: lines that cite one raw mostly stand together


class Sources:
    """For one turn or one check: a person may edit a raw between two of them."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._held: dict[int, tuple[Source, ...]] = {}

    def __call__(self, id: str) -> Source | None:
        """What `N.k` cites; None where the raw is gone, cannot be read or holds no such source."""
        number, _, place = id.partition(".")
        sources = self.of_raw(int(number))
        return sources[int(place) - 1] if 0 < int(place) <= len(sources) else None

    def of_raw(self, number: int) -> tuple[Source, ...]:
        if number not in self._held:
            if len(self._held) == HELD:
                del self._held[next(iter(self._held))]
            self._held[number] = ()
            with contextlib.suppress(HarnessError):  # a fold or `harness check` says what is wrong with it
                self._held[number] = self._store.read_raw(number)[1].sources
        return self._held[number]
