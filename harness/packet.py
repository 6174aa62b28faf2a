"""What a role gets to see: its prompt and exactly the files that its template declares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import islice

from harness.facts import citations
from harness.formats.front import split_front
from harness.formats.queries import render_next_query
from harness.formats.raw import parse_head
from harness.formats.summary import (
    render_source_line,
    render_summary,
    replace_section,
    source_lines,
)
from harness.model import Case, Defect, FrontMatter, NextQuery, Packet, Role, Section, SectionKind, Summary
from harness.options import Settings
from harness.plan import open_cells_of, state_token
from harness.render import RoleTemplate, as_data, fill
from harness.words import language_of

# Older searches are counted, not shown: what a role reads must not grow with the rounds (law 2).
SEARCHES_SHOWN = 20
# A cell list longer than this says nothing that the question's own front matter does not.
CELLS_SHOWN = 60


@dataclass(frozen=True)
class Prompts:
    """The templates of one language: role templates, turn fragments by name, phrases."""

    roles: Mapping[Role, RoleTemplate]
    parts: Mapping[str, str]  # turn_ask, turn_must_answer, turn_must_decide, repair, again
    phrases: Mapping[str, str]


@dataclass(frozen=True)
class Turn:
    """The role's turn, as the plan decided it. `material` is the raw or draft text by file name."""

    role: Role
    number: int
    must_answer: str = ""
    must_decide: bool = False
    unread: tuple[str, ...] = ()
    material: Mapping[str, str] | None = None
    part: tuple[int, int] | None = None  # which one of how many the material is; None: all of it
    phrase: str = "part"  # what tells of the part
    totals: bool = False  # sums and counts of the part are told apart, for code to add


def language_for(case: Case, settings: Settings) -> str:
    """The language of headings and prompts: the setting, else the question's."""
    return settings.language or language_of(case.question.text if case.question else "")


def build(case: Case, texts: Mapping[str, str], turn: Turn, settings: Settings, prompts: Prompts, today: str) -> Packet:
    """`texts`: question.md and summary.md as read. `today`: ISO date."""
    template, language = prompts.roles[turn.role], language_for(case, settings)
    files = _files(case, texts, turn, language, prompts)
    shown = {name: text for name, text in files.items() if _declared(name, template.reads)}
    return Packet(
        role=turn.role,
        token=state_token(texts["summary.md"], turn.number),
        round=turn.number,
        prompt=fill(template.body, _values(case, files, turn, settings, prompts, today), f"prompts/{turn.role}"),
        files=shown,
        writes=template.writes,
        language=language,
        today=today,
        queries_allowed=settings.queries_per_round,
        must_answer=bool(turn.must_answer),
        must_decide=turn.must_decide,
        totals=turn.totals,
    )


def repair(packet: Packet, reply: str, defects: tuple[Defect, ...], prompts: Prompts) -> Packet:
    """The same packet with the bad reply and its defects by name. `packet` is the first one, not a repair turn's."""
    values = {"prompt": packet.prompt, "reply": as_data(reply), "again": again(defects, prompts)}
    return packet._replace(prompt=fill(prompts.parts["repair"], values, "prompts/repair"), defects=defects)


def again(defects: tuple[Defect, ...], prompts: Prompts) -> str:
    """What a role is told about its reply when it still has its packet before it."""
    listed = "\n".join(f"- {defect.what}" + (f": {defect.value}" if defect.value else "") for defect in defects)
    return fill(prompts.parts["again"], {"defects": as_data(listed)}, "prompts/again").rstrip("\n")


def summary_view(summary: Summary, language: str, earlier: str) -> str:
    """summary.md as roles see it: the last searches and a count, the sources that its facts cite."""
    if not summary.sections and not summary.intro:
        return ""
    view = replace(summary, front=FrontMatter())
    view = replace(view, sections=tuple(_last_searches(section, earlier) for section in view.sections))
    if source_lines(summary):
        roles_text = "\n".join(
            line
            for section in summary.sections
            if section.kind not in (SectionKind.SOURCES, SectionKind.SEARCHES)
            for line in section.lines
        )
        cited = set(citations(roles_text))
        kept = tuple(render_source_line(line) for line in source_lines(summary) if line.id in cited)
        view = replace_section(view, SectionKind.SOURCES, kept, language)
    return split_front(render_summary(view))[1].strip("\n")


def _last_searches(section: Section, earlier: str) -> Section:
    if section.kind is not SectionKind.SEARCHES or len(section.lines) <= SEARCHES_SHOWN:
        return section
    last = tuple(islice(filter(str.strip, reversed(section.lines)), SEARCHES_SHOWN))
    earlier_lines = len(section.lines) - section.lines.count("") - len(last)
    if earlier_lines <= 0:
        return section
    count = fill(earlier, {"count": str(earlier_lines)}, "phrases/earlier_searches")
    return section._replace(lines=(count, *reversed(last)))


def _declared(name: str, reads: tuple[str, ...]) -> bool:
    return name in reads or (name.startswith("raw_") and "raw_N.md" in reads)


def _files(case: Case, texts: Mapping[str, str], turn: Turn, language: str, prompts: Prompts) -> dict[str, str]:
    material = turn.material or {}
    decision = "".join(_decision(text) for text in material.values()) if turn.role is Role.SYNTHESIZER else ""
    return {
        "question.md": texts["question.md"],
        "summary.md": summary_view(case.summary, language, prompts.phrases["earlier_searches"]),
        "decision.txt": decision,
        **material,
    }


def _decision(raw_text: str) -> str:
    """What a raw was searched for, from its own head: next_query.txt may be newer, or another's."""
    head = parse_head(raw_text)
    reasoning = (head.rationale,) if head.rationale else ()
    queries = tuple(record.query for record in head.queries)
    return render_next_query(NextQuery(reasoning=reasoning, queries=queries)).strip("\n") if queries else ""


def _values(
    case: Case, files: Mapping[str, str], turn: Turn, settings: Settings, prompts: Prompts, today: str
) -> dict[str, str]:
    question, phrases = case.question, prompts.phrases
    assert question is not None
    shared = {
        "today": today,
        "question": as_data(files["question.md"]),
        "summary": as_data(files["summary.md"]) or phrases["empty_summary"],
        "again": as_data(question.text),
    }
    material = as_data("\n".join((turn.material or {}).values()))
    if turn.role is Role.SYNTHESIZER:
        decision = as_data(files["decision.txt"]) or phrases["no_decision"]
        part = turn.part or ("", "")
        told = _phrase(phrases, turn.phrase, number=str(part[0]), of=str(part[1]))
        told += phrases["totals"] if turn.totals else ""
        return {**shared, "decision": decision, "round": str(turn.number), "raw": material, "part": told}
    cells = _cells(case, phrases)
    if turn.role is Role.CHECKER:
        ready = _phrase(phrases, "ready_check", ready_when=question.ready_when)
        return {**shared, "cells": cells, "ready": ready, "answer": material}
    return {**shared, "cells": cells, "turn": _turn_text(question.ready_when, turn, settings, prompts)}


def _turn_text(ready_when: str, turn: Turn, settings: Settings, prompts: Prompts) -> str:
    phrases = prompts.phrases
    several = settings.queries_per_round > 1
    allowed = phrases["one_query"]
    if several:
        allowed = fill(phrases["some_queries"], {"allowed": str(settings.queries_per_round)}, "phrases")
    if turn.must_answer:
        reason = phrases[turn.must_answer]
        if turn.unread:
            reason += "; " + fill(phrases["unread"], {"files": ", ".join(turn.unread)}, "phrases")
        return fill(prompts.parts["turn_must_answer"], {"reason": reason}, "prompts/turn_must_answer").strip("\n")
    if turn.must_decide:
        return fill(prompts.parts["turn_must_decide"], {"allowed": allowed}, "prompts/turn_must_decide").strip("\n")
    values = {"allowed": allowed, "ready": _phrase(phrases, "ready", ready_when=ready_when)}
    return fill(prompts.parts["turn_ask"], values, "prompts/turn_ask").strip("\n")


def _cells(case: Case, phrases: Mapping[str, str]) -> str:
    cells = [f"{entity}: {field}" for entity, field in open_cells_of(case)][:CELLS_SHOWN]
    return _phrase(phrases, "cells", cells=as_data("; ".join(cells)))


def _phrase(phrases: Mapping[str, str], name: str, **values: str) -> str:
    """ "" when the one value is empty: the prompt then does not mention it at all."""
    if not any(values.values()):
        return ""
    return fill(phrases[name], values, f"phrases/{name}")
