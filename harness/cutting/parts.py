"""The parts of a text that is too long to be read at once."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from harness.cutting.leads import Leads
from harness.cutting.outline import Outline
from harness.cutting.packing import MOST_CHARACTERS, Packer
from harness.cutting.regions import AHEAD
from harness.cutting.window import Window
from harness.ports import CountTokens

SMALLEST = 64
"""Tokens that a part must be allowed: less would not hold a source's title, a header row and a row."""


class Cut(NamedTuple):
    """One part: its own characters `text[start:end]` of the whole text, and what is shown above them.

    `lead` ends with a line end, or is "". `source` is the number of the source in which the part begins, 0 for none.
    """

    start: int
    end: int
    lead: str
    source: int


def cut(
    blocks: Iterable[str],
    budget: int,
    count: CountTokens,
    *,
    sources: bool = True,
    opening: str = "",
    lines: int = 0,
    at: Collection[int] = (),
    overlap: int = 20,
) -> Iterator[Cut]:
    """The parts of the text that the blocks make, in order, none missing and none twice (design.md, section 5).

    `count(lead + own text)` is at most `budget` tokens (at least SMALLEST), and there are at most `lines` lines (0: any
    number). A part begins at each position of `at`. With `sources`, `## k. Title` with `- url:` or `- date:` opens
    source k as in a raw; `opening` heads the parts of a text that has none. `overlap`: about so many
    tokens of prose are shown again.

    The blocks are read once, as they are needed; a few dozen characters a token of the budget are held. Where a part
    ends depends on the text and on where the part begins, not on the parts before it. Raises ValueError for a budget
    that is too small.
    """
    if budget < SMALLEST:
        raise ValueError(f"a part needs {SMALLEST} tokens, {budget} were allowed")
    return _parts(Outline(Window(blocks), sources, opening), budget, count, lines, sorted(at), overlap)


def _parts(
    outline: Outline, budget: int, count: CountTokens, lines: int, stops: list[int], overlap: int
) -> Iterator[Cut]:
    window = outline.window
    leads = Leads(outline, count, overlap, budget // 2, lines // 2)
    packer = Packer(outline, leads, budget, count, lines)
    reach = MOST_CHARACTERS * budget
    begin = 0
    while True:
        window.load(begin + reach + 3 * AHEAD)
        if window.end <= begin:
            return
        outline.scan(begin + reach)
        outline.advance(begin)
        part = packer.part(begin, _behind(stops, begin))
        opened = bool(outline.starts) and outline.starts[0].at == begin
        source = outline.starts[0] if opened else outline.source
        yield Cut(begin, part.end, part.lead, source.number)
        begin = part.end
        window.forget(begin)


def _behind(stops: list[int], begin: int) -> int | None:
    at = bisect_right(stops, begin)
    return stops[at] if at < len(stops) else None
