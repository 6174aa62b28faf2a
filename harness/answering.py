"""The answer's file: its status, the round it stands for, and the Sources section that only the harness writes."""

from __future__ import annotations

from harness.addresses import groups
from harness.facts import citations
from harness.formats.answer import without_sources
from harness.formats.front import put
from harness.formats.labels import LABELS
from harness.formats.summary import render_source_line, source_lines
from harness.guards.settled import settled
from harness.model import NO_FRONT, Answer, Case, SectionKind, Source, Summary
from harness.plan import last_number


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
