"""How many tokens a piece of the text has, with as little counting as will do: it is most of the time of cutting."""

from __future__ import annotations

from harness.cutting.window import Window
from harness.ports import CountTokens

JOINT = 1
"""Tokens that two pieces may count less than the whole (counters.Counter)."""
_TORN = 8  # tokens that they may count more, where the joint is within a word


class Tally:
    """Counts pieces of a part. One that begins where a counted one does is known by the difference between them.

    What was counted for the part before is not counted again, but tells nothing else: a part depends on its text alone.
    """

    def __init__(self, window: Window, count: CountTokens) -> None:
        self._window = window
        self._count = count
        self._counted: dict[tuple[int, int], int] = {}
        self._ends: dict[int, list[int]] = {}  # of the pieces counted for this part, by where they begin

    def begin(self, at: int) -> None:
        """A part begins; what begins before it is not asked for again."""
        self._counted = {piece: tokens for piece, tokens in self._counted.items() if piece[0] >= at}
        self._ends.clear()

    def fits(self, start: int, end: int, room: int) -> bool:
        """Whether the piece has at most `room` tokens."""
        return self.tokens(start, end, room) <= room

    def tokens(self, start: int, end: int, room: int) -> int:
        """The tokens of a piece; a few more than it has, where that does not decide about `room`."""
        ends = self._ends.setdefault(start, [])
        near = min(ends, key=lambda other: abs(other - end), default=start)
        if near != end and abs(near - end) < (end - start) // 2:
            known = self._counted[start, near]
            between = self._count(self._window.slice(min(near, end), max(near, end)))
            most = known + (between + JOINT if near < end else _TORN - between)
            if most <= room or most > room + 2 * _TORN:
                return most
        if (start, end) not in self._counted:
            self._counted[start, end] = self._count(self._window.slice(start, end))
        ends.append(end)
        return self._counted[start, end]
