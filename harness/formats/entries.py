"""The entries of a section, one fact, gap, search or source each, and the lines they stand in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple

from harness.formats.headings import heading_of
from harness.patterns import lazy

MARKER = lazy(r"^\s*(?:[-*+•–—]|\d{1,2}[.)])(?:\s+|$)")


class Entry(NamedTuple):
    """One fact, gap, search or source of a section: its text, and its lines as they stand."""

    text: str
    lines: tuple[str, ...]
    above: tuple[str, ...]  # blank lines and sub-headings between it and the entry before


def text_of(line: str) -> str:
    """An entry without its bullet."""
    return MARKER.sub("", line, count=1).strip()


def entries_of(lines: Iterable[str]) -> tuple[list[Entry], tuple[str, ...]]:
    """The entries, and the blank lines and sub-headings below the last. An indented line continues a bullet."""
    entries: list[Entry] = []
    above: list[str] = []
    for line in lines:
        heading = None if line.startswith("- ") else heading_of(line)  # most lines by far are plain entries
        if (heading and heading.certain) or not (text := text_of(line)):
            above.append(line)
        elif entries and not above and line[0] in " \t" and not MARKER.match(line):
            last = entries[-1]
            entries[-1] = last._replace(text=f"{last.text} {text}", lines=(*last.lines, line))
        else:
            entries.append(Entry(text, (line,), tuple(above)))
            above = []
    return entries, tuple(above)


def laid_out(lines: Sequence[str], wanted: Sequence[str]) -> tuple[str, ...]:
    """Lines for the wanted entries, in their order, reusing those that are there."""
    entries, below = entries_of(lines)
    left = Counter(wanted)
    there: dict[str, list[tuple[str, ...]]] = {}
    homeless: tuple[str, ...] = ()  # sub-headings whose first entry goes
    for entry in entries:
        headings = tuple(line for line in entry.above if line.strip())
        homeless = () if headings else homeless
        if left[entry.text] > 0:
            left[entry.text] -= 1
            there.setdefault(entry.text, []).append((*homeless, *entry.above, *entry.lines))
            homeless = ()
        else:
            homeless = headings or homeless
    laid = (there[text].pop(0) if there.get(text) else (f"- {text}",) for text in wanted)
    return (*chain.from_iterable(laid), *below)
