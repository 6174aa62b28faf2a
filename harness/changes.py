"""What is different between two versions of a summary: facts added, lost, changed and moved, and what was settled."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from harness.facts import without_marks
from harness.formats.entries import entries_of
from harness.formats.labels import without_searched_mark
from harness.formats.summary import lines_of
from harness.heirs import heir_of, only_value_differs, survives
from harness.losses import Fate, Fated, Lines, fates
from harness.model import Removal, SectionKind, Summary

STRUCK = "struck out by a person"
DISPUTED = str(SectionKind.CONTRADICTIONS)  # where a fact moves that another source contradicts
_GONE = (Fate.LOST, Fate.REMOVED)


class Changes(NamedTuple):
    """Fact lines without bullets. `lost`: with the reason, "" where none was given; `moved`: line, from, to."""

    added: tuple[str, ...] = ()
    lost: tuple[tuple[str, str], ...] = ()
    changed: tuple[tuple[str, str], ...] = ()  # old → new: another value, or other words
    moved: tuple[tuple[str, str, str], ...] = ()  # sections by their titles
    opened: tuple[str, ...] = ()  # contradictions
    settled: tuple[str, ...] = ()
    gaps_closed: tuple[str, ...] = ()
    gaps_opened: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return any(self)


def changes(old: Summary, new: Summary, removed: Iterable[Removal] = ()) -> Changes:
    """`removed`: the reasons that the passes between the two gave, where they are known."""
    before, after = _facts(old), _facts(new)
    gone = (Removal(line, STRUCK) for line in lines_of(new, SectionKind.STRUCK))
    told = (*removed, *gone)
    found = [one for one in fates(before, after, told, lambda line: None) if not _is_same(one)]
    taken = {one.now for one in found if one.fate in (Fate.REWORDED, Fate.MERGED, Fate.CHANGED)}
    known = {without_marks(line) for section in before for line in section.lines}
    fresh = [line for section in after for line in section.lines if without_marks(line) not in known]
    disputed, open_now = (lines_of(summary, SectionKind.CONTRADICTIONS) for summary in (old, new))
    into = [one.line for one in found if one.fate is Fate.LOST and survives(one.line, open_now)]
    out_of = [line for line in fresh if line not in taken and survives(line, disputed)]
    gaps, left = _gaps(old), _gaps(new)
    return Changes(
        added=tuple(line for line in fresh if line not in taken and line not in out_of),
        lost=tuple((one.line, _reason(one, told)) for one in found if one.fate in _GONE and one.line not in into),
        changed=tuple((one.line, one.now) for one in found if one.fate in (Fate.REWORDED, Fate.MERGED, Fate.CHANGED)),
        moved=(
            *((x.line, _section_of(x.line, before), _section_of(x.now, after)) for x in found if x.fate is Fate.MOVED),
            *((line, _section_of(line, before), DISPUTED) for line in into),
            *((line, DISPUTED, _section_of(line, after)) for line in out_of),
        ),
        opened=_without_heirs(open_now, disputed),
        settled=_without_heirs(disputed, open_now),
        gaps_closed=tuple(line for bare, line in gaps.items() if bare not in left),
        gaps_opened=tuple(line for bare, line in left.items() if bare not in gaps),
    )


def _facts(summary: Summary) -> list[Lines]:
    """Confirmed, and what people and settings have of their own; contradictions and gaps are told apart."""
    found = [Lines(str(SectionKind.CONFIRMED), lines_of(summary, SectionKind.CONFIRMED))]
    for section in summary.sections:
        if section.kind is SectionKind.OTHER:
            found.append(Lines(section.title, tuple(entry.text for entry in entries_of(section.lines)[0])))
    return found


def _is_same(one: Fated) -> bool:
    """A line that is there, or that has only got a citation or a mark more."""
    return one.fate is Fate.KEPT or (
        one.fate is not Fate.MOVED and bool(one.now) and without_marks(one.now) == without_marks(one.line)
    )


def _reason(one: Fated, told: tuple[Removal, ...]) -> str:
    if one.fate is Fate.REMOVED:
        return one.now
    bare = without_marks(one.line).casefold()
    return next((removal.reason for removal in told if without_marks(removal.fact).casefold() == bare), "")


def _section_of(line: str, sections: list[Lines]) -> str:
    return next((section.section for section in sections if line in section.lines), "")


def _without_heirs(lines: Iterable[str], others: tuple[str, ...]) -> tuple[str, ...]:
    """Those that no other line says; a side with another value is still the same dispute."""
    return tuple(
        line
        for line in lines
        if line not in others and not heir_of(line, others) and not any(only_value_differs(line, x) for x in others)
    )


def _gaps(summary: Summary) -> dict[str, str]:
    lines = lines_of(summary, SectionKind.NOT_FOUND)
    return {" ".join(without_searched_mark(line).casefold().split()): line for line in lines}
