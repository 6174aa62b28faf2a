"""The last word when repair turns fail: what code can put right in a rewrite; every other defect stays one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from harness.facts import citations
from harness.formats.entries import entries_of
from harness.guards.lines import FACTUAL, UNGROUNDED, written_lines
from harness.guards.synthesizer import CONTRADICTION, LOST, REPEATED, facts_before
from harness.guards.totals import LOST_SUM
from harness.heirs import only_value_differs
from harness.model import Defect, Rewrite, Section, SectionKind, Summary
from harness.mojibake import repaired

Mender = Callable[[Rewrite, Sequence[str], Summary], Rewrite]
Check = Callable[[Rewrite], tuple[Defect, ...]]
TWICE = 2  # what is put right may show one more thing to put right: a line that is back contradicts the one it became


def mend(rewrite: Rewrite, defects: Sequence[Defect], summary: Summary, check: Check) -> Rewrite | None:
    """The rewrite put right by code, None where a defect cannot be. `summary`: the one before."""
    if any(defect.code not in MENDERS for defect in defects):
        return None
    defects = check(rewrite) or defects  # a role was told the first few
    for _ in range(TWICE):
        if any(defect.code not in MENDERS for defect in defects):
            return None
        rewrite = _mended(rewrite, defects, summary)
        defects = [defect for defect in check(rewrite) if defect.code == CONTRADICTION]
    return rewrite


def _mended(rewrite: Rewrite, defects: Sequence[Defect], summary: Summary) -> Rewrite:
    lost = [defect.value for defect in defects if defect.code in (LOST, LOST_SUM)]
    twins = [line for line in written_lines(rewrite, *FACTUAL) if any(_is_edit(line, before) for before in lost)]
    rewrite = _each(rewrite, twins, lambda line: "")
    for code in dict.fromkeys(defect.code for defect in defects):
        values = [defect.value for defect in defects if defect.code == code and defect.value not in twins]
        rewrite = MENDERS[code](rewrite, values, summary)
    return rewrite


def _is_edit(line: str, lost: str) -> bool:
    """Whether a line is the lost one with a value of the role's own: no source that was not there before says so."""
    return line != lost and only_value_differs(lost, line) and set(citations(line)) <= set(citations(lost))


def put_back(rewrite: Rewrite, lost: Sequence[str], summary: Summary) -> Rewrite:
    """Lost lines as they stood, at the end of their sections."""
    kept = {part.section: part.lines for part in facts_before(rewrite, summary)}
    sections = []
    for section in rewrite.sections:
        there = kept.get(section.kind, ())
        if section.kind is SectionKind.OTHER:
            own = (one for one in summary.sections if one.title.casefold() == section.title.casefold())
            there = tuple(entry.text for one in own for entry in entries_of(one.lines)[0])
        missing = (f"- {line}" for line in there if line in lost)
        sections.append(section._replace(lines=(*section.lines, *missing)))
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
        kept = tuple(f"- {line}" for line in written_lines(Rewrite(sections=summary.sections), kind))
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
        told = written_lines(Rewrite(sections=(section,)), section.kind)
        if not wanted.intersection(told):
            sections.append(section)
            continue
        changed = (change(line) if line in wanted else line for line in told)
        sections.append(section._replace(lines=tuple(f"- {line}" for line in changed if line)))
    return rewrite._replace(sections=tuple(sections))


MENDERS: Mapping[str, Mender] = {
    LOST: put_back,
    LOST_SUM: put_back,
    UNGROUNDED: mark_unverified,
    CONTRADICTION: add_contradictions,
    REPEATED: say_once,
    "mojibake": repair_letters,
    "invented-section": leave_out_sections,
    "wrong-language": accept,
    "over-allowance": accept,
}
