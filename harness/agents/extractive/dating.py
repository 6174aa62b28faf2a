"""The period of a labelled value: beside it, in its labels, behind the parts below it, else the year of its source."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile

from harness.agents.extractive import subjects
from harness.agents.extractive.entries import Entry
from harness.agents.extractive.named import LONGEST_LABEL
from harness.agents.extractive.passages import Reading
from harness.facts import Cell, names
from harness.model import Source
from harness.patterns import lazy
from harness.periods import only_period, periods

OLDEST = 40  # years before the source: an older year in brackets is part of the value (an anniversary, a law)
_BRACKETED = lazy(r"\s*\(([^()]*)\)")
_TRAILING = lazy(r",\s*([^,()]{4,30})$")
_FILE_TIME = lazy(r"file time|mtime|modified|время файла|изменения файла", re.IGNORECASE)


def value_and_period(entry: Entry, cell: Cell, reading: Reading, source: Source) -> tuple[str, str, bool]:
    """The value without its period, the period as written, and whether it stood with the value, its labels or below."""
    limit = int(source.date[:4]) - OLDEST if source.date[:4].isdigit() else 0
    value, period = split_period(entry.value, limit)
    if period:
        return value, period, True
    for label in reversed(entry.labels):
        label = without_name(label, cell[0])  # the year in `Windows 2000` dates nothing
        named = [found for found in periods(label) if found.start[0] >= limit]
        if len(named) == 1:
            return value, named[0].text, True
    below = _period_below(entry, cell[1], reading.entries, limit)
    return value, below or source_year(source), bool(below)


def _period_below(entry: Entry, field: str, entries: Sequence[Entry], oldest: int) -> str:
    """The period of a field in parts that is written only once, behind the last: `total: 1,200; share: 23 % (2009)`."""
    above = entry.labels[:-1]
    if not above or not names(above[-1], field):
        return ""
    parts = takewhile(lambda other: other.labels[:-1] == above, entries[entries.index(entry) + 1 :])
    return next((period for other in parts if (period := split_period(other.value, oldest)[1])), "")


def split_period(value: str, oldest: int) -> tuple[str, str]:
    """A value and the period in brackets (or after a comma at its end): `19.7 m (2025 est.)` → 19.7 m, `2025 est.`"""
    found = [match for match in _BRACKETED.finditer(value) if (p := only_period(match[1])) and p.start[0] >= oldest]
    if found:
        last = found[-1]
        rest = (value[: last.start()] + value[last.end() :]).strip().rstrip(";,. ")
        return (rest, last[1].strip()) if rest else (value, "")
    tail = _TRAILING.search(value)
    if (
        tail
        and (period := only_period(tail[1]))
        and period.start[0] >= oldest
        and re.search(r"\d", value[: tail.start()])
    ):
        return value[: tail.start()], tail[1].strip()
    return value, ""


def source_year(source: Source) -> str:
    """The year of a source that dates itself; the time of a file says nothing about its figures."""
    told = dict(source.extra).get("date_from", "")
    return "" if _FILE_TIME.search(told) or not re.match(r"\d{4}", source.date) else source.date[:4]


def without_name(label: str, entity: str) -> str:
    """A label without the entity's name: `Samokat revenue` → `revenue`, a label that is just the name → ""."""
    if subjects.is_name(label, entity):
        return ""
    for start, end in reversed(subjects.mentions(label[:LONGEST_LABEL], entity)):
        label = f"{label[:start]} {label[end:]}"
    return re.sub(r"^\W+|(?<=\s)'s\b|\bof\s*$|\bin\s*$", " ", label).strip()
