"""The last word when repair turns fail: what code can put right in a rewrite; every other defect stays one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from harness.formats.summary import lines_of
from harness.guards.lines import FACTUAL, UNGROUNDED, written_lines
from harness.guards.synthesizer import CONTRADICTION, LOST, REPEATED
from harness.model import Defect, Rewrite, Section, SectionKind, Summary
from harness.mojibake import repaired

Mender = Callable[[Rewrite, Sequence[str], Summary], Rewrite]


def mend(rewrite: Rewrite, defects: Sequence[Defect], summary: Summary) -> Rewrite | None:
    """The rewrite put right by code, None where a defect cannot be. `summary`: the one before."""
    if any(defect.code not in MENDERS for defect in defects):
        return None
    for code in dict.fromkeys(defect.code for defect in defects):
        rewrite = MENDERS[code](rewrite, [defect.value for defect in defects if defect.code == code], summary)
    return rewrite


def put_back(rewrite: Rewrite, lost: Sequence[str], summary: Summary) -> Rewrite:
    """Lost lines as they stood, at the end of their sections."""
    sections = []
    for section in rewrite.sections:
        missing = [line for line in lines_of(summary, section.kind) if line in lost] if section.kind in FACTUAL else []
        sections.append(section._replace(lines=(*section.lines, *(f"- {line}" for line in missing))))
    return rewrite._replace(sections=tuple(sections))


def mark_unverified(rewrite: Rewrite, lines: Sequence[str], summary: Summary) -> Rewrite:
    return _each(rewrite, lines, lambda line: f"{line} [unverified]")


def repair_letters(rewrite: Rewrite, lines: Sequence[str], summary: Summary) -> Rewrite:
    return _each(rewrite, lines, lambda line: repaired(line) or line)


def say_once(rewrite: Rewrite, lines: Sequence[str], summary: Summary) -> Rewrite:
    """A repeated line stays where it stands first."""
    seen: set[str] = set()

    def first(line: str) -> str:
        again = line in seen
        seen.add(line)
        return "" if again else line

    return _each(rewrite, lines, first)


def add_contradictions(rewrite: Rewrite, entries: Sequence[str], summary: Summary) -> Rewrite:
    bullets = tuple(f"- {entry}" for entry in entries)
    kind = SectionKind.CONTRADICTIONS
    if not any(section.kind is kind for section in rewrite.sections):
        kept = tuple(f"- {line}" for line in lines_of(summary, kind))
        return rewrite._replace(sections=(*rewrite.sections, Section(kind, "Contradictions", (*kept, *bullets))))
    sections = (
        section._replace(lines=(*section.lines, *bullets)) if section.kind is kind else section
        for section in rewrite.sections
    )
    return rewrite._replace(sections=tuple(sections))


def leave_out_sections(rewrite: Rewrite, titles: Sequence[str], summary: Summary) -> Rewrite:
    kept = (section for section in rewrite.sections if section.title not in titles)
    return rewrite._replace(sections=tuple(kept))


def accept(rewrite: Rewrite, values: Sequence[str], summary: Summary) -> Rewrite:
    return rewrite


def _each(rewrite: Rewrite, lines: Sequence[str], change: Callable[[str], str]) -> Rewrite:
    """Each entry of the lines changed; one that becomes "" is left out. A wrapped line is written in one."""
    wanted = set(lines)
    sections = []
    for section in rewrite.sections:
        if not wanted.intersection(written_lines(Rewrite(sections=(section,)), section.kind)):
            sections.append(section)
            continue
        told = written_lines(Rewrite(sections=(section,)), section.kind)
        changed = (change(line) if line in wanted else line for line in told)
        sections.append(section._replace(lines=tuple(f"- {line}" for line in changed if line)))
    return rewrite._replace(sections=tuple(sections))


MENDERS: Mapping[str, Mender] = {
    LOST: put_back,
    UNGROUNDED: mark_unverified,
    CONTRADICTION: add_contradictions,
    REPEATED: say_once,
    "mojibake": repair_letters,
    "invented-section": leave_out_sections,
    "wrong-language": accept,
    "over-allowance": accept,
}
