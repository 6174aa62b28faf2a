"""What one source says about one cell: the value that fits best, with its period, or nothing when that is unsure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from harness.agents.extractive import fields, statements, subjects
from harness.agents.extractive.dating import source_year, value_and_period, without_name
from harness.agents.extractive.entries import Entry
from harness.agents.extractive.figures import foreseen, is_figure, says_figure
from harness.agents.extractive.lexicon import NO_VALUE, uncertain, vocabulary
from harness.agents.extractive.named import LONGEST_LABEL
from harness.agents.extractive.passages import Reading
from harness.agents.extractive.places import Places
from harness.facts import Cell
from harness.model import Grid, Source
from harness.patterns import lazy
from harness.periods import Period, newest, only_period, periods, same_period
from harness.quantities import same_value
from harness.words import sentences, stems

LONGEST_VALUE = 300  # characters; a longer one is cut at a mark and says so
MOST_SIDES = 3  # values of one cell in one source that still are a contradiction, not a series
_BRACKETED = lazy(r"\s*\(([^()]*)\)")
_FULL_STOP = lazy(r"(?<!руб)(?<!чел)(?<!тыс)(?<!млн)(?<!млрд)(?<!долл)(?<!\bг)\.$")
_NOT_NOW = lazy(
    r"(?:not(?!\s(?:less|more|fewer)\b)|no longer|formerly|former|previously|until|see|vacant|data for"
    r"|не(?!\s(?:менее|более|меньше|больше)\b)|больше не|ранее|прежде|бывш\w+|вакант\w+|данные за|см)(?![^\W_]|['’])",
    re.IGNORECASE,
)
_ENDED = lazy(r"\((?:until|till|former|formerly|бывш\w+|до)(?![^\W_])[^()]*\)$", re.IGNORECASE)
_ORDINAL = lazy(r"\W*\d+(?:st|nd|rd|th|-?(?:е|я|й|ое|ая|ый))\b|(?:#|№)\s?\d", re.IGNORECASE)  # a place in a list
_NOTE = lazy(r"(?:foot)?notes?(?: \d+)?|remarks?|примечани[ея]|сноск[аи]", re.IGNORECASE)
_SMALL_WORD = lazy(r"(?<![^\W_])[a-zа-яё]{3,}")


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
    path: tuple[str, ...] = ()  # the labels that lead to it: two values under one path differ about one thing
    kind: str = ""  # the remark of its label: `GDP (official exchange rate)` and `GDP (PPP)` are two kinds


def findings(source: Source, reading: Reading, grid: Grid, cells: Iterable[Cell], today: str = "") -> list[Finding]:
    """What one source says about the cells, newest period only; two values of one cell contradict each other.

    `today` (YYYY-MM-DD) stands for the date of a source without one: what lies behind it is a forecast.
    """
    found: list[Finding] = []
    wanted_cells = tuple(cells)
    places = Places(source, reading, tuple(dict.fromkeys(entity for entity, _ in wanted_cells)))
    for entity, name in wanted_cells:
        if not places.tells_of(entity):
            continue
        wanted = fields.field(name)
        page = subjects.Page(source, reading.headings, entity, grid.entities)
        own = [entry for entry in places.entries(page) if _belongs(entry, (entity, name), page, grid, reading)]
        candidates = [item for entry in own if (item := _entry_candidate(entry, entity, wanted, reading, source))]
        found += _sure(_so_far(candidates, source, wanted, today), wanted.period)
        if not candidates:
            stated = _stated(source, reading, (entity, name), grid, page, places)
            found += _sure(_so_far(stated, source, wanted, today), wanted.period)
    return found


def _so_far(candidates: list[_Candidate], source: Source, wanted: fields.Field, today: str) -> list[_Candidate]:
    """The candidates without figures for a time that the source did not yet know, unless such are asked for."""
    year = source_year(source) or today[:4]
    if not is_figure(wanted.name) or not year.isdigit() or fields.asks_ahead(wanted):
        return candidates
    return [item for item in candidates if item.finding.when[0][0] <= int(year)]


def _belongs(entry: Entry, cell: Cell, page: subjects.Page, grid: Grid, reading: Reading) -> bool:
    """Whether the value is the entity's: a label is its name, or the document is about it and no label is another's."""
    entity = cell[0]
    if any(subjects.longer_name(label, entity, grid.entities) for label in entry.labels):
        return False
    last = entry.labels[-1][:LONGEST_LABEL] if entry.labels else ""
    known = vocabulary(cell[1])
    if any(not subjects.goes_on(last, end, known) for _, end in subjects.mentions(last, entity)):
        return True
    own = [at for at, label in enumerate(entry.labels) if subjects.is_name(label, entity)]
    if not own and not page.is_about(entry.labels):
        return False
    inner = entry.labels[own[-1] + 1 : -1] if own else entry.labels[:-1]
    headings = tuple(label for label in inner if label in reading.headings)
    # keys with a small letter are parts of what the heading names: `### Elevation`, `- highest point: …`
    return not last[:1].isupper() or not page.names_stranger(headings, _nobodys(reading.sentences, grid.fields))


@lru_cache(maxsize=16)
def _nobodys(sentences: tuple[str, ...], names: tuple[str, ...]) -> frozenset[str]:
    """Stems that are no one's name in a document: those of the fields, and of words it writes without a capital."""
    common = (match.group() for text in sentences for match in _SMALL_WORD.finditer(text))
    return frozenset(found for text in (*common, *names) for found in stems(text)).union(*map(vocabulary, names))


def _entry_candidate(
    entry: Entry, entity: str, wanted: fields.Field, reading: Reading, source: Source
) -> _Candidate | None:
    labels = [rest for label in entry.labels if (rest := without_name(label, entity))]
    if fields.is_foreseen(labels, wanted):
        return None
    if labels[:1] == list(reading.headings[:1]) and len(labels) > 1:
        labels = labels[1:]  # the page's own title says nothing about a value on it
    fit = fields.fit(labels, wanted, reading.grouping) or _only_share(entry, labels, wanted, reading)
    if fit is None:
        return None
    value, period, dated = value_and_period(entry, (entity, wanted.name), reading, source)
    if is_no_value(value, wanted) or not _fits_figure(value, wanted):
        return None
    value = _FULL_STOP.sub("", value)
    unit = next((unit for label in reversed(entry.labels) if (unit := fields.unit_of(label))), "")
    if unit and re.search(r"\d\W*$", value):
        value = f"{value} ({unit})"
    remark = f" ({fit.remark})" if fit.remark and fit.remark.casefold() not in value.casefold() else ""
    finding = Finding((entity, wanted.name), period, _short(value) + remark, dated, source.date)
    path = tuple(fields.without_period(label).casefold() for label in labels)
    return _Candidate(fit.grade, len(labels), finding, path, fit.remark)


def is_no_value(value: str, wanted: fields.Field) -> bool:
    """Whether a text in a value's place only says that there is none, or none now, or where to look for it."""
    if value.casefold().strip(" .") in NO_VALUE or not re.search(r"\w", value):
        return True
    return bool(_NOT_NOW.match(value) or _ENDED.search(value) or (is_figure(wanted.name) and _ORDINAL.match(value)))


def _fits_figure(value: str, wanted: fields.Field) -> bool:
    """Whether a value may stand for its field: a figure has a digit, and a forecast of it is none."""
    if not is_figure(wanted.name):
        return True
    before = re.split(r"\d", value, maxsplit=1)[0]
    remarks = " ".join(match[1] for match in _BRACKETED.finditer(value))
    said = frozenset(stems(before)) & uncertain() | frozenset(stems(remarks)) & foreseen()
    return says_figure(value) and not said


def _only_share(entry: Entry, labels: list[str], wanted: fields.Field, reading: Reading) -> fields.Fit | None:
    """A share that stands for the field where the source gives nothing else under the same label."""
    found = fields.share(labels, wanted, reading.grouping)
    if found is None:
        return None
    beside = {other.labels[-1] for other in reading.entries if other.labels[:-1] == entry.labels[:-1]}
    beside = {label for label in beside if not _NOTE.fullmatch(label)}
    return found if beside == {entry.labels[-1]} else None


def _short(value: str) -> str:
    if len(value) <= LONGEST_VALUE:
        return value
    cut = max(value.rfind(mark, 0, LONGEST_VALUE) for mark in ("; ", ", ", ". "))
    return value[: cut if cut > LONGEST_VALUE // 2 else LONGEST_VALUE].rstrip() + "…"


def _sure(candidates: list[_Candidate], period: str) -> list[Finding]:
    """The newest value of the best fit; several where the source contradicts itself, each once.

    Nothing when two values fit equally well under different labels, and no one can tell which of them is meant.
    """
    if period:
        candidates = [item for item in candidates if same_period(item.finding.period, period) or _within(item, period)]
    if not candidates:
        return []
    grade = min(item.grade for item in candidates)
    best = [item for item in candidates if item.grade == grade]
    depth = min(item.depth for item in best)
    level = [item for item in best if item.depth == depth]
    level = [item for item in level if item.kind == level[0].kind]  # of several kinds the one that stands first
    last = max(item.finding.when for item in level)
    final = [item for item in level if item.finding.when == last]
    plain = [item for item in final if not item.finding.value.endswith(")")] or final
    different: list[_Candidate] = []
    for item in plain:
        if not any(same_value(item.finding.value, other.finding.value) for other in different):
            different.append(item)
    one_thing = len({item.path for item in different}) == 1 and len(different) <= MOST_SIDES
    return [item.finding for item in different] if one_thing else []


def _within(item: _Candidate, period: str) -> bool:
    asked = only_period(period)
    got: Period | None = newest(periods(item.finding.period))
    return bool(asked and got and asked.start <= got.start and got.end <= asked.end)


def _stated(
    source: Source, reading: Reading, cell: Cell, grid: Grid, page: subjects.Page, places: Places
) -> list[_Candidate]:
    """The values that the source's sentences state. A list item `Acme: revenue was 4 bn` is the sentence without it."""
    wanted = fields.field(cell[1])
    known = _nobodys(reading.sentences, grid.fields)
    prose = _prose(places, page, wanted, known)
    items = {f"{cell[0]}: {entry.value}": True for entry in places.entries(page) if _is_of(entry, cell[0], grid)}
    stated = [
        Finding(cell, said.period or source_year(source), said.value, bool(said.period), source.date)
        for sentence, about in (prose | items).items()
        if (said := statements.state(sentence, cell, grid, about=about))
    ]
    return [_Candidate(0, 0, finding) for finding in stated if not is_no_value(finding.value, wanted)]


def _prose(places: Places, page: subjects.Page, wanted: fields.Field, known: frozenset[str]) -> dict[str, bool]:
    """The sentences, and whether what one says without a name is the entity's.

    `Its revenue` behind a sentence about somebody else is not.
    """
    told: dict[tuple[str, ...], bool] = {}
    found: dict[str, bool] = {}
    for line in places.lines(page, wanted):
        if line.above not in told:
            told[line.above] = page.tells_of(line.above, known)
        other = line.points and subjects.opens_with_other(line.before, page.entity)
        found[line.text] = told[line.above] and not other
    return found


def _is_of(entry: Entry, entity: str, grid: Grid) -> bool:
    """Whether a value stands directly under the entity's name."""
    last = entry.labels[-1:]
    if not any(subjects.is_name(label, entity) for label in last) or len(sentences(entry.value)) != 1:
        return False
    return not any(subjects.longer_name(label, entity, grid.entities) for label in last)
