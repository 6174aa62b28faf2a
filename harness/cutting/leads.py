"""What stands above a part's own text: its source's opening, the headings on the way, header rows, the overlap."""

from __future__ import annotations

from harness.cutting.outline import HEADING, Heading, Outline
from harness.formats.text import shortened
from harness.patterns import lazy
from harness.ports import CountTokens

_BLANKS = lazy(r"\s+")
_PER_TOKEN = 8  # characters a token of an overlap has at most; prose has 2 to 5
_CONTINUED = "… "  # before words that the part before has already shown


class Leads:
    """Makes the lead of the part that begins at a position, from the text before that position alone."""

    def __init__(self, outline: Outline, count: CountTokens, overlap: int, most: int, lines: int) -> None:
        self._outline = outline
        self._count = count
        self._overlap = overlap
        self._most = most  # tokens
        self._lines = lines  # 0: any number

    def at(self, at: int) -> str:
        """The outline has advanced to `at`. What would take more than its share is left out, the least needed first."""
        outline = self._outline
        if outline.starts and outline.starts[0].at == at:
            return ""
        region = outline.region_over(at)
        head = region.lead(at) if region else ""
        path = "".join(f"{shortened(heading.line.rstrip(), HEADING)}\n" for heading in self._path(at))
        block = outline.source.block
        overlap = "" if region else self._overlap_at(at)
        pieces = [block, path + "\n" if path else "", head, overlap]
        for kept in (4, 3, 2, 1):
            lead = "".join(pieces[:kept])
            if self._fits(lead):
                return lead
        return self._short(block)

    def _path(self, at: int) -> tuple[Heading, ...]:
        outline = self._outline
        if outline.headings and outline.headings[0].at == at:
            return outline.above(outline.headings[0])
        return outline.path

    def _overlap_at(self, at: int) -> str:
        """The last words before `at`, about as many tokens as asked for, on a line of their own.

        They are of the same source, and no rows, records, code or tool results: those would be counted twice.
        """
        outline, window = self._outline, self._outline.window
        low = max(outline.source.end, outline.solid, at - _PER_TOKEN * self._overlap)
        text = window.slice(low, at).rstrip() if self._overlap > 0 and low < at else ""
        for _ in range(4):
            tokens = self._count(text) if text else 0
            if tokens <= self._overlap:
                break
            text = text[-max(len(text) * self._overlap // tokens, 1) :]
            blank = _BLANKS.search(text, 0, max(len(text) // 2, 1))
            text = text[blank.end() :] if blank else text
        words = " ".join(text.split())
        return f"{_CONTINUED}{words}\n" if words else ""

    def _fits(self, lead: str) -> bool:
        if not lead:
            return True
        return (not self._lines or lead.count("\n") <= self._lines) and self._count(lead) <= self._most

    def _short(self, block: str) -> str:
        """The beginning of a block that is too long: of its first line, in the end nothing."""
        line = block.split("\n", 1)[0]
        while len(line) > 8:
            line = line[: len(line) // 2]
            if self._fits(f"{line}…\n"):
                return f"{line}…\n"
        return ""
