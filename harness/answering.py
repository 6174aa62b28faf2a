"""The answer's file: its status, the round it stands for, and the Sources section that only the harness writes."""

from __future__ import annotations

from collections.abc import Sequence

from harness.facts import citations
from harness.formats.front import put
from harness.formats.headings import heading_of
from harness.formats.labels import LABELS, section_kind
from harness.formats.summary import render_source_line, source_lines
from harness.guards import settled
from harness.model import NO_FRONT, Answer, Case, SectionKind, Summary
from harness.patterns import lazy
from harness.plan import last_number

_LISTED = lazy(r"\s*(?:[-*+•\[]|\d{1,3}[.)]|https?:|={3,}|-{3,})")
_UNDERLINE = lazy(r"\s*(?:={3,}|-{3,})\s*")


def answer_of(case: Case, body: str, *, limit: str, self_check: bool, language: str) -> Answer:
    """`limit` names what ended the research, "" when the Planner answered of its own accord.

    A draft only if there is a Checker, no check yet, at least one search, and no limit (design.md, section 2).
    """
    draft = self_check and case.summary.checked is None and case.summary.spent > 0 and not limit
    status = "draft" if draft else "complete" if settled(case) else "partial"
    text = with_sources(body, case.summary, language)
    directions = str(len(case.question.directions)) if case.question else "0"
    front = put(NO_FRONT, "directions", directions) if draft else NO_FRONT
    return Answer(text, status=status, stopped=limit or "answered", round=last_number(case), front=front)


def with_sources(body: str, summary: Summary, language: str) -> str:
    """The body with the lines of the sources it cites; a list of sources that a role wrote itself is left out."""
    body = without_sources(body)
    cited = citations(body)
    lines = {line.id: line for line in source_lines(summary)}
    listed = [f"- {render_source_line(lines[id])}" for id in cited if id in lines]
    if not listed:
        return body + "\n"
    return "\n".join([body, "", f"## {LABELS[language][SectionKind.SOURCES]}", *listed, ""])


def without_sources(body: str) -> str:
    """Without lists of sources that a role wrote itself, under a heading of any style: only the harness lists them.

    A `#` heading ends at the next one; a mere label (`Sources:`, bold, underlined) ends with its list.
    """
    kept: list[str] = []
    inside = ""  # "heading" or "label"
    lines = body.strip().split("\n")
    for at, line in enumerate(lines):
        heading = heading_of(line)
        if heading and heading.certain:
            inside = "heading" if section_kind(heading.title) is SectionKind.SOURCES else ""
        elif _is_label(line, lines[at + 1 : at + 2]):
            inside = inside or "label"
        elif inside == "label" and line.strip() and not _LISTED.match(line):
            inside = ""
        if not inside:
            kept.append(line)
    return "\n".join(kept).strip()


def _is_label(line: str, following: Sequence[str]) -> bool:
    title = line.strip(" \t-*_:：")
    underlined = any(_UNDERLINE.fullmatch(one) for one in following)
    marked = underlined or line.rstrip().endswith((":", "：", "**", "__"))
    return marked and section_kind(title) is SectionKind.SOURCES
