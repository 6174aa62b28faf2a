"""What is settled: cells with a figure or a proof of absence, and whether anything was read at all."""

from __future__ import annotations

from collections.abc import Mapping

from harness.facts import cells_searched, open_cells
from harness.formats.summary import lines_of, search_lines, source_lines
from harness.model import Case, SectionKind, Summary

SEARCHES_FOR_ABSENCE = 2  # distinct, unblocked searches after which a cell may stay empty
SUCCEEDED = "found"


def was_read(summary: Summary) -> bool:
    """Whether a source was ever folded in: one that is cited, one that a search found, or a note."""
    searches = search_lines(summary)
    notes = summary.round > len({line.round for line in searches})
    return bool(source_lines(summary)) or notes or any(line.outcome in (SUCCEEDED, "pasted") for line in searches)


def unsettled_cells(case: Case) -> tuple[tuple[str, str], ...]:
    """Open cells that were not yet searched for twice: neither a figure nor a proof of absence."""
    if not case.question or not case.question.grid:
        return ()
    grid = case.question.grid
    open_ = open_cells(lines_of(case.summary, SectionKind.CONFIRMED), grid)
    tried: Mapping[tuple[str, str], int] = cells_searched(search_lines(case.summary), grid) if open_ else {}
    return tuple(cell for cell in open_ if tried.get(cell, 0) < SEARCHES_FOR_ABSENCE)


def settled(case: Case) -> bool:
    """Every cell has a figure or a proof of absence; without entities × fields: nothing is listed as not found."""
    if not source_lines(case.summary):
        return False
    if case.question and case.question.grid:
        return not unsettled_cells(case)
    return not lines_of(case.summary, SectionKind.NOT_FOUND)
