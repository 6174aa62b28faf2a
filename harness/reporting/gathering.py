"""Gathers what a report tells from the files of a case: the answer, every version of the summary, what was cited."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import accumulate

from harness.changes import changes
from harness.facts import parse_fact
from harness.fold import gaps_left
from harness.formats.answer import parse_answer, without_sources
from harness.formats.labels import LANGUAGES, script_language
from harness.formats.question import parse_question
from harness.formats.summary import lines_of, parse_summary, search_lines, source_lines
from harness.history import History, history_of
from harness.journal import Entry, journal, removed_by, steps
from harness.model import Grid, SectionKind, SourceLine, Summary
from harness.reporting.quoting import quoted
from harness.reporting.telling import Cell, Moment, Report, Searched, Tokens
from harness.spending import spent
from harness.store import Store
from harness.store.reading import read_state


def gather(store: Store, language: str = "") -> Report:
    """The report of a case; `language` "" is the question's. Raises HarnessError for what is no plain file."""
    question = parse_question(read_state(store.folder / "question.md").text)
    history, text = history_of(store.folder), read_state(store.folder / "answer.md").text
    summary = parse_summary(read_state(store.folder / "summary.md").text)
    answer = parse_answer(text) if text.strip() else None
    body = without_sources(answer.text) if answer else ""
    entries = journal(history)
    moments = tuple(_moments(history, entries, question.grid))
    lines = [*body.split("\n"), *(line for one in moments for line in (*one.facts, *one.contradictions))]
    language = language or script_language(question.text)
    return Report(
        question=question.text.strip(),
        language=language if language in LANGUAGES else "en",
        status=answer.status if answer else "open",
        stopped=answer.stopped if answer else "",
        round=summary.round,
        answer=body,
        entities=question.grid.entities,
        fields=question.grid.fields,
        moments=moments,
        sources=quoted(store.folder, lines, _listed(history, summary), question.grid),
        searches=tuple(Searched(one.round, one.query, one.outcome, one.note) for one in search_lines(summary)),
        tokens=_tokens(store, entries),
        notes=history.notes,
        made=datetime.now(UTC).date().isoformat(),
    )


def _moments(history: History, entries: tuple[Entry, ...], grid: Grid) -> Iterator[Moment]:
    for (before, version), entry in zip(steps(history.versions), entries, strict=True):
        new = parse_summary(version.text)
        facts = lines_of(new, SectionKind.CONFIRMED)
        yield Moment(
            round=new.round,
            kind=entry.kind,
            at=version.at,
            by=version.by,
            facts=facts,
            contradictions=lines_of(new, SectionKind.CONTRADICTIONS),
            gaps=lines_of(new, SectionKind.NOT_FOUND),
            gap_count=gaps_left(new, grid),
            changes=changes(parse_summary(before), new, removed_by(version)),
            cells=_cells(facts, grid),
        )


def _cells(facts: tuple[str, ...], grid: Grid) -> tuple[tuple[Cell, ...], ...]:
    if not grid:
        return ()
    held: dict[tuple[str, str], list[Cell]] = {}
    for line in facts:
        fact = parse_fact(line, grid)
        held.setdefault((fact.entity, fact.field), []).append(Cell(line, fact.period, fact.value))
    return tuple(tuple(held.get((entity, field), ())) for entity in grid.entities for field in grid.fields)


def _listed(history: History, summary: Summary) -> list[SourceLine]:
    return [line for one in (*(parse_summary(v.text) for v in history.versions), summary) for line in source_lines(one)]


def _tokens(store: Store, entries: tuple[Entry, ...]) -> tuple[Tokens, ...]:
    """Rounds whose raw was measured; what a chat holds is the sum of the raws up to then (see `account`)."""
    raws = spent(store).raws
    held = dict(zip(raws, accumulate(size or 0 for size in raws.values()), strict=True))
    used = {one.round: one.tokens for one in entries if one.kind == "round"}
    return tuple(Tokens(number, used[number], held[number]) for number in held if used.get(number))
