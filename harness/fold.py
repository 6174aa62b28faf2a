"""A checked reply becomes the new summary: the role's sections, and the lines that only the harness writes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import NamedTuple

from harness.facts import cells_searched, citations, names, open_cells, without_marks
from harness.formats.front import put
from harness.formats.labels import searched_mark, without_searched_mark, words
from harness.formats.question import fingerprint
from harness.formats.summary import (
    append_lines,
    lines_of,
    render_search_line,
    render_source_line,
    replace_section,
    search_lines,
    search_record,
    source_lines,
)
from harness.guards.lines import WRITABLE, written_lines
from harness.model import (
    Case,
    Grid,
    Question,
    Raw,
    Reading,
    Rewrite,
    SearchLine,
    Section,
    SectionKind,
    Source,
    SourceLine,
    Summary,
)


class Folded(NamedTuple):
    summary: Summary
    added: tuple[str, ...]  # fact lines
    removed: tuple[str, ...]


def fold(case: Case, rewrite: Rewrite, raw: Raw, number: int, language: str, reading: Reading | None = None) -> Folded:
    """Fold raw_`number` into the summary. A section that the reply does not have stays as it was.

    `reading`: how far it is read with this part; None: that was all, or the last part, and the round is done.
    """
    old, question = case.summary, case.question
    assert question is not None
    if old.reading is None and number in {line.round for line in search_lines(old)}:  # a round is folded again
        old = replace(_without_round(old, number, language), spent=old.spent - (raw.head.kind == "search"))
    part = _with_reply(replace(case, summary=old), rewrite, raw, number, language)
    summary = replace(
        part.summary,
        reading=reading,
        fingerprint=fingerprint(question.text),
        front=put(old.front, "directions", str(len(question.directions)) if question.directions else None),
    )
    if reading is None:
        new = len(part.added) if old.reading is None else _facts_of(summary, number)
        summary = _round_done(summary, question, raw, number, language, new)
    return part._replace(summary=list_open_cells(summary, question.grid, language))


def fold_part(case: Case, rewrite: Rewrite, raw: Raw, number: int, language: str) -> Folded:
    """The role's sections and the lines of Sources that they need; the round stands where it stood."""
    part = _with_reply(case, rewrite, raw, number, language)
    grid = case.question.grid if case.question else Grid()
    return part._replace(summary=list_open_cells(part.summary, grid, language))


def _with_reply(case: Case, rewrite: Rewrite, raw: Raw, number: int, language: str) -> Folded:
    summary = merge_sections(case.summary, rewrite, language)
    added, removed = changed_facts(case.summary, summary)
    summary = append_lines(summary, SectionKind.SOURCES, _source_texts(summary, raw, number, language), language)
    return Folded(summary, added, removed)


def _round_done(summary: Summary, question: Question, raw: Raw, number: int, language: str, new_facts: int) -> Summary:
    """The commit point of a round: its number, and its lines of Searches."""
    summary = replace(summary, round=number, spent=summary.spent + (raw.head.kind == "search"))
    if not raw.head.queries:
        return summary
    own = _searches(summary, question, raw, number, new_facts)
    texts = (render_search_line(line, language) for line in own)
    return append_lines(summary, SectionKind.SEARCHES, texts, language)


def _facts_of(summary: Summary, number: int) -> int:
    """Facts that only this round's sources bear out: after many parts nothing else tells which came with it."""
    cited = (citations(line) for line in lines_of(summary, SectionKind.CONFIRMED))
    return sum(bool(ids) and all(id.startswith(f"{number}.") for id in ids) for ids in cited)


def merge_sections(old: Summary, rewrite: Rewrite, language: str) -> Summary:
    """The role's sections over the old ones; Searches, Sources, Struck out and unknown sections survive."""
    summary = old
    for section in rewrite.sections if rewrite.nothing_new is None else ():
        if section.kind is SectionKind.OTHER:
            summary = _replace_other(summary, section)
        elif section.kind in WRITABLE:
            lines = written_lines(Rewrite(sections=(section,)), section.kind)
            summary = replace_section(summary, section.kind, lines, language)
    return summary


def _replace_other(summary: Summary, section: Section) -> Summary:
    titles = [known.title.casefold() for known in summary.sections]
    if section.title.casefold() not in titles:
        return replace(summary, sections=(*summary.sections, section))
    at = titles.index(section.title.casefold())
    return replace(summary, sections=(*summary.sections[:at], section, *summary.sections[at + 1 :]))


def changed_facts(old: Summary, new: Summary) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Fact lines added and removed; a citation more or a mark is no change of a fact."""
    before = {without_marks(line): line for line in lines_of(old, SectionKind.CONFIRMED)}
    after = {without_marks(line): line for line in lines_of(new, SectionKind.CONFIRMED)}
    added = tuple(line for text, line in after.items() if text not in before)
    removed = tuple(line for text, line in before.items() if text not in after)
    return added, removed


def add_missing(summary: Summary, items: Iterable[str], language: str) -> Summary:
    """The Checker's items become Not found lines, and the check is marked as done: one write."""
    known = lines_of(summary, SectionKind.NOT_FOUND)
    bare = {without_searched_mark(line).casefold() for line in known}
    items = dict.fromkeys(without_marks(item) for item in items)  # only a person pins a line
    new = tuple(item for item in items if item and item.casefold() not in bare)
    summary = replace_section(summary, SectionKind.NOT_FOUND, (*known, *new), language)
    return replace(summary, checked=summary.round or 1)


def gaps_left(summary: Summary, grid: Grid) -> int:
    """Cells without a cited figure; without entities × fields, the Not found lines."""
    if grid:
        return len(open_cells(lines_of(summary, SectionKind.CONFIRMED), grid))
    return len(lines_of(summary, SectionKind.NOT_FOUND))


def list_open_cells(summary: Summary, grid: Grid, language: str) -> Summary:
    """With entities × fields, Not found holds each open cell once, with how often it was searched for.

    A role's line stays as it wrote it (but for the count) unless it lumps several cells together.
    """
    if not grid:
        return summary
    cells = open_cells(lines_of(summary, SectionKind.CONFIRMED), grid)
    tried = cells_searched(search_lines(summary), grid)
    lines: list[str] = []
    listed: set[tuple[str, str]] = set()
    for line in lines_of(summary, SectionKind.NOT_FOUND):
        bare = without_searched_mark(line)
        named = _cells_named(bare, grid)
        if not named:
            lines.append(line)
        elif len(named) == 1 and named[0] in cells and named[0] not in listed:
            listed.add(named[0])
            lines.append(_counted(bare, tried.get(named[0], 0), language))
    for cell in cells:
        if cell not in listed:
            lines.append(_counted(f"{cell[0]}: {cell[1]}", tried.get(cell, 0), language))
    return replace_section(summary, SectionKind.NOT_FOUND, tuple(lines), language)


def _cells_named(line: str, grid: Grid) -> list[tuple[str, str]]:
    entities = [entity for entity in grid.entities if names(line, entity)]
    return [(entity, field) for entity in entities for field in grid.fields if names(line, field)]


def _counted(line: str, count: int, language: str) -> str:
    return f"{line} {searched_mark(count, language)}" if count else line


def _without_round(summary: Summary, number: int, language: str) -> Summary:
    """Re-folding a round replaces its lines of Searches and Sources; a line that is no record stays."""
    summary = replace(summary, unread=tuple(part for part in summary.unread if part.number != number))
    searches = [line for line in lines_of(summary, SectionKind.SEARCHES) if not line.startswith(f"{number} ·")]
    sources = [line for line in lines_of(summary, SectionKind.SOURCES) if not line.startswith(f"[{number}.")]
    summary = replace_section(summary, SectionKind.SEARCHES, searches, language)
    return replace_section(summary, SectionKind.SOURCES, sources, language)


def list_sources(summary: Summary, source: Callable[[str], Source | None], language: str) -> Summary:
    """The summary with lines in Sources for what it cites and does not list: rounds that people folded by hand."""
    listed = {line.id for line in source_lines(summary)}
    found = ((id, source(id)) for id in _cited(summary) if id not in listed)
    texts = [_source_text(id, one, language) for id, one in found if one is not None]
    return append_lines(summary, SectionKind.SOURCES, texts, language) if texts else summary


def _source_texts(new: Summary, raw: Raw, number: int, language: str) -> tuple[str, ...]:
    """Those of this round's sources that the new summary cites and does not list yet."""
    cited = set(_cited(new)) - {line.id for line in source_lines(new)}
    named = ((f"{number}.{k}", source) for k, source in enumerate(raw.sources, raw.first))
    return tuple(_source_text(id, source, language) for id, source in named if id in cited)


def _cited(summary: Summary) -> tuple[str, ...]:
    return tuple(dict.fromkeys(id for kind in WRITABLE for line in lines_of(summary, kind) for id in citations(line)))


def _source_text(id: str, source: Source, language: str) -> str:
    """What nobody fetched says so behind its title."""
    title = f"{source.title} {words(language).told_by.get(source.origin, '')}".strip()
    return render_source_line(SourceLine(id, source.date, title, source.url))


def _searches(new: Summary, question: Question, raw: Raw, number: int, facts: int) -> tuple[SearchLine, ...]:
    """This round's lines; the counts stand on the last one."""
    *before, last = raw.head.queries
    closing = search_record(
        number,
        last.query,
        last.outcome,
        sources=raw.first - 1 + len(raw.sources) or None,
        blocked=raw.head.attempts,
        new_facts=facts,
        gaps=gaps_left(new, question.grid),
    )
    return (*(search_record(number, record.query, record.outcome) for record in before), closing)
