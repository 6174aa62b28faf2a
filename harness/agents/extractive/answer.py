"""The built-in Planner's answer: the newest value of each cell, contradictions, and what was looked for in vain."""

from __future__ import annotations

from collections.abc import Sequence

from harness.answering import absences
from harness.facts import Fact, parse_fact
from harness.formats.labels import label, without_searched_mark
from harness.formats.summary import lines_of
from harness.model import Grid, SectionKind, Summary
from harness.periods import newest, periods


def compose(summary: Summary, grid: Grid, language: str) -> str:
    """The answer's text in Markdown, from the summary alone; every value stands with its citation."""
    confirmed = lines_of(summary, SectionKind.CONFIRMED)
    parts: list[str] = []
    _section(parts, "", _found(confirmed, grid))
    _section(parts, label(SectionKind.CONTRADICTIONS, language), lines_of(summary, SectionKind.CONTRADICTIONS))
    _section(parts, label(SectionKind.NOT_FOUND, language), _missing(summary, grid, language))
    return "\n".join(parts).strip() or label(SectionKind.NOT_FOUND, language)


def _section(parts: list[str], title: str, lines: Sequence[str]) -> None:
    if lines:
        parts += ["", f"## {title}", ""] if title else []
        parts += [f"- {line}" for line in lines]


def _found(confirmed: Sequence[str], grid: Grid) -> list[str]:
    """One line a cell, in the grid's order, then the facts that belong to no cell."""
    facts = [parse_fact(line, grid) for line in confirmed]
    cells = [(entity, field) for entity in grid.entities for field in grid.fields]
    best = [latest([fact for fact in facts if fact.cell == cell]) for cell in cells] if grid else []
    return [*(fact.text for fact in best if fact), *(fact.text for fact in facts if not fact.field)]


def latest(facts: Sequence[Fact]) -> Fact | None:
    """The fact of the newest period, of two for one period the first; an unverified one only if there is no other."""
    sure = [fact for fact in facts if not fact.unverified] or facts

    def end(fact: Fact) -> tuple[tuple[int, int], tuple[int, int]]:
        period = newest(periods(fact.period))
        return (period.end, period.start) if period else ((0, 0), (0, 0))

    return max(sure, key=end, default=None)


def _missing(summary: Summary, grid: Grid, language: str) -> list[str]:
    """Open cells with the queries that looked for them, then the other lines of Not found."""
    noted = [without_searched_mark(line) for line in lines_of(summary, SectionKind.NOT_FOUND)]
    if not grid:
        return noted
    others = [line for line in noted if not parse_fact(f"{line} — ?", grid).field]
    return [*absences(summary, grid, language), *others]
