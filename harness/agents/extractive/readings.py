"""What one source says about one cell: the value that fits best, with its period, or nothing when that is not sure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from harness.agents.extractive import fields, statements, subjects
from harness.agents.extractive.lexicon import NO_VALUE
from harness.agents.extractive.passages import Entry, Reading
from harness.facts import Cell, same_value
from harness.model import Grid, Source
from harness.patterns import lazy
from harness.periods import Period, newest, only_period, periods, same_period

LONGEST_VALUE = 300  # characters; a longer one is cut at a mark and says so
OLDEST = 40  # years before the source: an older year in brackets is part of the value (an anniversary, a law)
_BRACKETED = lazy(r"\s*\(([^()]*)\)")
_TRAILING = lazy(r",\s*([^,()]{4,30})$")
_FULL_STOP = lazy(r"(?<!руб)(?<!чел)(?<!тыс)(?<!млн)(?<!млрд)(?<!долл)(?<!\bг)\.$")
_FILE_TIME = lazy(r"file time|mtime|modified|время файла|изменения файла", re.IGNORECASE)


class Finding(NamedTuple):
    """A value for a cell. `dated`: the period stands with the value; else it is the year of the source, or "" """

    cell: Cell
    period: str
    value: str
    dated: bool
    source_date: str

    @property
    def when(self) -> tuple[tuple[int, int], tuple[int, int], str]:
        """What newest first sorts by; a value without any period comes last."""
        period = newest(periods(self.period))
        return (period.end, period.start, self.source_date) if period else ((0, 0), (0, 0), self.source_date)


class _Candidate(NamedTuple):
    grade: int
    depth: int
    finding: Finding
    kind: str = ""  # the remark of its label: `GDP (official exchange rate)` and `GDP (PPP)` are two kinds


def findings(source: Source, reading: Reading, grid: Grid, cells: Iterable[Cell]) -> list[Finding]:
    """At most one finding a cell and period from one source, for the cells asked about; newest period only."""
    found: list[Finding] = []
    main = {entity: subjects.about(source, reading.headings, entity) for entity in grid.entities}
    for entity, name in cells:
        wanted = fields.field(name)
        own = [entry for entry in reading.entries if _belongs(entry, entity, main[entity], grid)]
        candidates = [item for entry in own if (item := _entry_candidate(entry, entity, wanted, reading, source))]
        chosen = _sure(candidates, wanted.period)
        if chosen is None and not candidates:
            chosen = _stated(source, reading, (entity, name), grid, about=main[entity])
        if chosen is not None:
            found.append(chosen)
    return found


def _belongs(entry: Entry, entity: str, about: bool, grid: Grid) -> bool:
    """Whether the value is the entity's: a label is its name, or the document is about it and no label is another's."""
    if any(subjects.longer_name(label, entity, grid.entities) for label in entry.labels):
        return False
    if any(subjects.is_name(label, entity) for label in entry.labels):
        return True
    if any(subjects.mentions(label[: subjects.LONGEST_LABEL], entity) for label in entry.labels[-1:]):
        return True
    return about and not subjects.names_other(entry.labels, entity, grid.entities)


def _entry_candidate(
    entry: Entry, entity: str, wanted: fields.Field, reading: Reading, source: Source
) -> _Candidate | None:
    labels = [rest for label in entry.labels if (rest := _without_name(label, entity))]
    if labels[:1] == list(reading.headings[:1]) and len(labels) > 1:
        labels = labels[1:]  # the page's own title says nothing about a value on it
    fit = fields.fit(labels, wanted, reading.grouping) or _only_share(entry, labels, wanted, reading)
    if fit is None:
        return None
    value, period, dated = _dated(entry, source)
    if value.casefold().strip(" .") in NO_VALUE or not re.search(r"\w", value):
        return None
    value = _FULL_STOP.sub("", value)
    unit = next((unit for label in reversed(entry.labels) if (unit := fields.unit_of(label))), "")
    if unit and re.search(r"\d\W*$", value):
        value = f"{value} ({unit})"
    remark = f" ({fit.remark})" if fit.remark and fit.remark.casefold() not in value.casefold() else ""
    finding = Finding((entity, wanted.name), period, _short(value) + remark, dated, source.date)
    return _Candidate(fit.grade, len(labels), finding, fit.remark)


def _only_share(entry: Entry, labels: list[str], wanted: fields.Field, reading: Reading) -> fields.Fit | None:
    """A share that stands for the field where the source gives nothing else under the same label."""
    found = fields.share(labels, wanted, reading.grouping)
    if found is None:
        return None
    beside = {other.labels[-1] for other in reading.entries if other.labels[:-1] == entry.labels[:-1]}
    return found if beside == {entry.labels[-1]} else None


def _without_name(label: str, entity: str) -> str:
    """A label without the entity's name: `Samokat revenue` → `revenue`, a label that is just the name → ""."""
    if subjects.is_name(label, entity):
        return ""
    for start, end in reversed(subjects.mentions(label[: subjects.LONGEST_LABEL], entity)):
        label = f"{label[:start]} {label[end:]}"
    return re.sub(r"^\W+|(?<=\s)'s\b|\bof\s*$|\bin\s*$", " ", label).strip()


def _dated(entry: Entry, source: Source) -> tuple[str, str, bool]:
    """The value without its period, the period as written, and whether it stood with the value or its labels."""
    limit = int(source.date[:4]) - OLDEST if source.date[:4].isdigit() else 0
    value, period = split_period(entry.value, limit)
    if period:
        return value, period, True
    for label in reversed(entry.labels):
        named = [found for found in periods(label) if found.start[0] >= limit]
        if len(named) == 1:
            return value, named[0].text, True
    return value, source_year(source), False


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


def _short(value: str) -> str:
    if len(value) <= LONGEST_VALUE:
        return value
    cut = max(value.rfind(mark, 0, LONGEST_VALUE) for mark in ("; ", ", ", ". "))
    return value[: cut if cut > LONGEST_VALUE // 2 else LONGEST_VALUE].rstrip() + "…"


def _sure(candidates: list[_Candidate], period: str) -> Finding | None:
    """The newest value of the best fit; None when two values fit equally well and nothing tells which is meant."""
    if period:
        candidates = [item for item in candidates if same_period(item.finding.period, period) or _within(item, period)]
    if not candidates:
        return None
    grade = min(item.grade for item in candidates)
    best = [item for item in candidates if item.grade == grade]
    depth = min(item.depth for item in best)
    level = [item for item in best if item.depth == depth]
    level = [item for item in level if item.kind == level[0].kind]  # of several kinds the one that stands first
    last = max(item.finding.when for item in level)
    final = [item.finding for item in level if item.finding.when == last]
    plain = [finding for finding in final if not finding.value.endswith(")")] or final
    agreed = all(same_value(plain[0].value, other.value) for other in plain[1:])
    return plain[0] if agreed else None


def _within(item: _Candidate, period: str) -> bool:
    asked = only_period(period)
    got: Period | None = newest(periods(item.finding.period))
    return bool(asked and got and asked.start <= got.start and got.end <= asked.end)


def _stated(source: Source, reading: Reading, cell: Cell, grid: Grid, *, about: bool) -> Finding | None:
    """The value that the source's sentences state, if they agree on it."""
    wanted = fields.field(cell[1])
    stated = [
        Finding(cell, said.period or source_year(source), said.value, bool(said.period), source.date)
        for sentence in reading.sentences
        if (said := statements.state(sentence, cell, grid, about=about))
    ]
    return _sure([_Candidate(0, 0, finding) for finding in stated], wanted.period)
