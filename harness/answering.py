"""The answer's file: its status, the round it stands for, and the Sources section that only the harness writes."""

from __future__ import annotations

from collections.abc import Sequence

from harness.addresses import groups
from harness.facts import Cell, cells_searched, citations, open_cells
from harness.formats.answer import without_sources
from harness.formats.front import put
from harness.formats.headings import heading_of
from harness.formats.labels import LABELS, searched_mark, section_kind, unread_note
from harness.formats.summary import lines_of, render_source_line, search_lines, source_lines
from harness.guards.settled import settled
from harness.model import NO_FRONT, Answer, Case, Grid, SearchLine, SectionKind, Source, Summary
from harness.plan import last_number


def answer_of(case: Case, body: str, *, limit: str, self_check: bool, language: str) -> Answer:
    """`limit` names what ended the research, "" when the Planner answered of its own accord.

    A draft only if there is a Checker, no check yet, at least one search, and no limit (design.md, section 2).
    """
    draft = self_check and case.summary.checked is None and case.summary.spent > 0 and not limit
    status = "draft" if draft else "complete" if settled(case) else "partial"
    body = with_unread(with_absences(body, case, language), case.summary, language)
    text = with_sources(body, case.summary, language)
    directions = str(len(case.question.directions)) if case.question else "0"
    front = put(NO_FRONT, "directions", directions) if draft else NO_FRONT
    return Answer(text, status=status, stopped=limit or "answered", round=last_number(case), front=front)


def with_absences(body: str, case: Case, language: str) -> str:
    """The body with the cells that stay open and what was searched for them, where it does not list them itself."""
    lines = absences(case.summary, case.question.grid, language) if case.question else []
    headings = (heading_of(line) for line in body.split("\n"))
    listed = any(heading and section_kind(heading.title) is SectionKind.NOT_FOUND for heading in headings)
    if not lines or listed:
        return body
    shown = (f"- {line}" for line in lines)
    return "\n".join([without_sources(body), "", f"## {LABELS[language][SectionKind.NOT_FOUND]}", *shown, ""])


def with_unread(body: str, summary: Summary, language: str) -> str:
    """The body with what was retrieved and could not be read: an answer must not pass for one from all of it."""
    notes = [unread_note(part, language) for part in summary.unread]
    left = [f"- {note}" for note in notes if note not in body]
    return "\n".join([without_sources(body), "", *left, ""]) if left else body


def absences(summary: Summary, grid: Grid, language: str) -> list[str]:
    """The cells without a cited figure, each with the queries that looked for it: the proof that it is not found."""
    cells = open_cells(lines_of(summary, SectionKind.CONFIRMED), grid)
    searches = search_lines(summary) if cells else ()
    return [_with_tries(cell, searches, language) for cell in cells]


def _with_tries(cell: Cell, searches: Sequence[SearchLine], language: str) -> str:
    own = Grid((cell[0],), (cell[1],))
    tried = dict.fromkeys(line.query for line in searches if cells_searched((line,), own)[cell])
    line = f"{cell[0]}: {cell[1]}"
    quoted = "; ".join(f"«{query}»" for query in tried)
    return f"{line} {searched_mark(len(tried), language)}: {quoted}" if tried else line


def with_sources(body: str, summary: Summary, language: str) -> str:
    """The body with the lines of the sources it cites, one a document: `- [1.2] [6.5] 2025-12-01 · Title — url`.

    A list of sources that a role wrote itself is left out.
    """
    body = without_sources(body)
    lines = {line.id: line for line in source_lines(summary)}
    cited = [id for id in citations(body) if id in lines]
    first = groups({id: Source(lines[id].title, "", lines[id].url) for id in cited})
    listed = []
    for id in dict.fromkeys(first.values()):
        others = [f"[{other}]" for other in cited if first[other] == id != other]
        shown = render_source_line(lines[id]).partition(" ")
        listed.append(" ".join(("-", shown[0], *others, shown[2])).rstrip())
    if not listed:
        return body + "\n"
    return "\n".join([body, "", f"## {LABELS[language][SectionKind.SOURCES]}", *listed, ""])
