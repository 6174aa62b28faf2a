"""The built-in role-taker: deterministic rules in place of a model, for every role."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from harness.agents.extractive import answer, checker, planner, synthesizer, totals
from harness.agents.extractive.grid import grid_of
from harness.formats.calls import render_call
from harness.formats.front import split_front
from harness.formats.question import parse_question
from harness.formats.raw import parse_raw
from harness.formats.summary import lines_of, parse_summary
from harness.model import Grid, Packet, Question, Reply, Role, SectionKind, Source, Summary
from harness.patterns import lazy
from harness.words import language_of

_RAW_NAME = lazy(r"raw_(\d{1,9})\.md")
# Defects whose value is a query (guards.py); the value of others is a cell or a citation.
_OF_A_QUERY = frozenset({"repeated-query", "long-query", "query-url", "query-token", "echoed-prompt"})
_KINDS = (SectionKind.CONFIRMED, SectionKind.CONTRADICTIONS, SectionKind.NOT_FOUND)


class _Case(NamedTuple):
    question: Question
    summary: Summary
    grid: Grid
    language: str


class ExtractiveAgent:
    """Takes any role without a model: English and Russian by stems, Chinese by characters."""

    name = "extractive"
    window: int | None = None

    def take(self, packet: Packet) -> Reply:
        """The role's reply as text. The same packet always gives the same reply."""
        question = parse_question(packet.files.get("question.md", ""))
        summary = parse_summary(packet.files.get("summary.md", ""))
        language = packet.language or language_of(question.text)
        case = _Case(question, summary, grid_of(question), language)
        match packet.role:
            case Role.PLANNER:
                return Reply(_plan(packet, case))
            case Role.SYNTHESIZER:
                return Reply(_fold(packet, case))
            case Role.CHECKER:
                draft = split_front(packet.files.get("answer.md", ""))[1]
                return Reply(checker.verdict(case.summary, draft, case.grid))


def _plan(packet: Packet, case: _Case) -> str:
    refused = tuple(defect.value for defect in packet.defects if defect.code in _OF_A_QUERY)
    allowed = max(1, packet.queries_allowed)
    plan = planner.plan(case.summary, case.grid, case.question.text, refused, allowed=allowed, today=packet.today)
    if plan.queries and not packet.must_answer:
        actions = [f"Action: {render_call('search', query)}" for query in plan.queries]
    else:
        text = answer.compose(case.summary, case.grid, case.language)
        actions = [f"Action: {render_call('answer', text)}"]
    return "\n".join([f"Think: {plan.reason}", *actions, ""])


def _fold(packet: Packet, case: _Case) -> str:
    sources: Sequence[tuple[str, Source]] = _sources(packet.files)
    counted = totals.Counted((), tuple(sources))
    if packet.totals:
        counted = totals.count(sources, case.grid, case.question.text)
        sources = counted.rest
    summed = totals.render(counted.totals, case.language)
    folded = synthesizer.fold(case.summary, sources, case.grid, case.question.text, packet.defects, packet.today)
    before = tuple(tuple(lines_of(case.summary, kind)) for kind in _KINDS)
    unread = synthesizer.unread(folded.confirmed, sources, case.grid)
    note = f"; names both, not read: {', '.join(unread)}" if unread else ""
    note += f"; {len(counted.totals)} totals" if counted.totals else ""
    note += f"; {counted.unread} rows of tables could not be read" if counted.unread else ""
    # the harness's own mark behind a gap is no change of it
    if not packet.defects and folded[:2] == before[:2] and _same_gaps(folded.not_found, before[2]):
        return f"Nothing new: {len(sources)} sources hold no new value for the question{note}.\n{summed}"
    added = len(folded.confirmed) - len(before[0])
    return synthesizer.render(folded, case.language, f"{len(sources)} sources read, {added} lines added{note}") + summed


def _same_gaps(new: tuple[str, ...], old: tuple[str, ...]) -> bool:
    return len(new) == len(old) and all(line.startswith(gap) for gap, line in zip(new, old, strict=True))


def _sources(files: Mapping[str, str]) -> list[tuple[str, Source]]:
    """The sources of the raw files in the packet with their `N.k`; a part of a raw may begin at a later source."""
    found: list[tuple[str, Source]] = []
    for name, text in files.items():
        number = _RAW_NAME.search(name)
        if number is None:
            continue
        raw = parse_raw(text, name)
        found += ((f"{number[1]}.{k}", source) for k, source in enumerate(raw.sources, raw.first))
    return found
