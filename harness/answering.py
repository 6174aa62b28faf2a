"""The answer's file: its status, the round it stands for, and the Sources section that only the harness writes."""

from __future__ import annotations

from harness.facts import citations
from harness.formats.labels import LABELS, section_kind
from harness.formats.summary import render_source_line, source_lines
from harness.guards import settled
from harness.model import Answer, Case, SectionKind, Summary
from harness.plan import last_number


def answer_of(case: Case, body: str, *, limit: str, self_check: bool, language: str) -> Answer:
    """`limit` names what ended the research, "" when the Planner answered of its own accord.

    A draft only if there is a Checker, no check yet, at least one search, and no limit (design.md, section 2).
    """
    draft = self_check and case.summary.checked is None and case.summary.spent > 0 and not limit
    status = "draft" if draft else "complete" if settled(case) else "partial"
    text = with_sources(body, case.summary, language)
    return Answer(text, status=status, stopped=limit or "answered", round=last_number(case))


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
    """Cut from a heading that means Sources to the next heading."""
    kept, inside = [], False
    for line in body.strip().split("\n"):
        title = line.strip().lstrip("#").strip(" *:：")
        if line.startswith("#") or (line.startswith("**") and line.rstrip().endswith(("**", "**:", ":**"))):
            inside = section_kind(title) is SectionKind.SOURCES
        if not inside:
            kept.append(line)
    return "\n".join(kept).strip()
