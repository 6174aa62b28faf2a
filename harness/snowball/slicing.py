"""Cuts one long text at blank lines, lines, sentences or blanks: whichever comes last within the budget."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from harness.snowball.sizes import Count, fit

ENDS = ("\n\n", "\n", ". ", "。", " ")
LOOK = 40  # characters a token at most: a longer run (blanks, dashes) is cut where that many are reached


class Sliced(NamedTuple):
    """`text[start:end]`; nothing stands before it."""

    start: int
    end: int
    lead: str = ""


def slices(text: str, budget: int, count: Count) -> Iterator[Sliced]:
    """Pieces of at most `budget` tokens (at least one character each); put together they are the text."""
    start = 0
    while start < len(text):
        ahead = text[start : start + max(1, budget) * LOOK]
        piece = fit(ahead, budget, count) or ahead[:1]
        if start + len(piece) < len(text):
            piece = _ending_well(piece)
        yield Sliced(start, start + len(piece))
        start += len(piece)


def _ending_well(piece: str) -> str:
    """The piece up to its last good end in the second half."""
    for end in ENDS:
        at = piece.rfind(end, len(piece) // 2)
        if at >= 0:
            return piece[: at + len(end)]
    return piece
