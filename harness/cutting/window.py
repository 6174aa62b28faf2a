"""The piece of a long text that is held in memory, addressed by positions in the whole text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_STEP = 262_144  # characters loaded at a time: a part of 20,000 tokens is a third of it
NOWHERE = -2  # -1 is the line end before the text
_BEHIND = 4_096  # characters kept before the position that is worked at: an overlap and the line before a cut


class Window:
    """A line end stands before the text, at position -1, so that its first line begins as every other does.

    Only `slice` may be asked for what is not held: the others are called too often to look.
    """

    def __init__(self, blocks: Iterable[str]) -> None:
        self._pieces = _pieces(blocks)
        self._text = "\n"
        self._base = -1
        self._kept = -1
        self.ended = False

    @property
    def end(self) -> int:
        """The position behind the last loaded character."""
        return self._base + len(self._text)

    def load(self, until: int) -> None:
        """Holds the text up to a position, or to its end where it is shorter; what was forgotten goes."""
        if self.end >= until or self.ended:
            return
        parts = [self._text[self._kept - self._base :]]
        self._base = self._kept
        loaded = self._base + len(parts[0])
        while loaded < until + _STEP:
            piece = next(self._pieces, None)
            if piece is None:
                self.ended = True
                break
            parts.append(piece)
            loaded += len(piece)
        self._text = "".join(parts)

    def forget(self, before: int) -> None:
        """What stands more than a little before a position is not asked for again."""
        self._kept = max(self._kept, before - _BEHIND)

    def slice(self, start: int, end: int) -> str:
        return self._text[max(start - self._base, 0) : max(end - self._base, 0)]

    def find(self, sought: str, start: int, end: int) -> int:
        """The first position from `start` on, ending before `end`; NOWHERE if none."""
        at = self._text.find(sought, start - self._base, end - self._base)
        return at + self._base if at >= 0 else NOWHERE

    def rfind(self, sought: str, start: int, end: int) -> int:
        """The last position from `start` on, ending before `end`; NOWHERE if none."""
        at = self._text.rfind(sought, start - self._base, end - self._base)
        return at + self._base if at >= 0 else NOWHERE

    def count(self, sought: str, start: int, end: int) -> int:
        return self._text.count(sought, start - self._base, end - self._base)

    def starts(self, prefix: str, at: int) -> bool:
        return self._text.startswith(prefix, at - self._base)

    def search(self, pattern: re.Pattern[str], start: int, end: int) -> Found | None:
        found = pattern.search(self._text, start - self._base, end - self._base)
        return Found(found, self._base) if found else None

    def match(self, pattern: re.Pattern[str], start: int, end: int) -> Found | None:
        found = pattern.match(self._text, start - self._base, end - self._base)
        return Found(found, self._base) if found else None

    def place(self, at: int) -> tuple[str, int]:
        """The held text itself and where in it a position is, for what reads text."""
        return self._text, at - self._base

    def line_start(self, at: int) -> int:
        """Where the line of a position begins, as far as it is held."""
        return max(self.rfind("\n", self._base, at), self._base - 1) + 1


class Found:
    """A match whose positions are those of the whole text."""

    __slots__ = ("_base", "_match")

    def __init__(self, match: re.Match[str], base: int) -> None:
        self._match = match
        self._base = base

    def __getitem__(self, group: int | str) -> str | None:
        return self._match[group]

    def start(self, group: int | str = 0) -> int:
        return self._match.start(group) + self._base

    def end(self, group: int | str = 0) -> int:
        return self._match.end(group) + self._base


def _pieces(blocks: Iterable[str]) -> Iterator[str]:
    """A block of any size comes in pieces: nothing says that a caller's blocks are small."""
    for block in blocks:
        if len(block) <= _STEP:
            yield block
        else:
            yield from (block[at : at + _STEP] for at in range(0, len(block), _STEP))
