"""Rules for the Synthesizer's reply: nothing lost, nothing invented, nothing that is not a role's to write."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice

from harness.contradictions import clashes
from harness.facts import citations
from harness.formats.summary import lines_of, render_summary
from harness.grounding import Page, page_of
from harness.guards import text
from harness.guards.grounded import bears_out, lacking, told_of
from harness.guards.lines import (
    FACTUAL,
    MARK,
    PINNED,
    SUMMED,
    UNGROUNDED,
    UNVERIFIED,
    View,
    new_lines,
    old_lines,
    struck_again,
    written_lines,
)
from harness.guards.totals import forged_sum, repeated_total, unknown_total
from harness.heirs import survives
from harness.losses import Fate, Lines, fates, removals_allowed
from harness.model import Defect, FrontMatter, Rewrite, SectionKind, Summary
from harness.patterns import lazy
from harness.tokens import estimate

LOST, CONTRADICTION, REPEATED = "lost-fact", "contradiction", "repeated-line"
MOST_NAMED = 20  # defects of one kind in a repair turn: a reply with more is bad altogether
PLACEHOLDER = lazy(
    r"^\W*(?:\.{3}|…|as before|unchanged|no changes?|\(?rest unchanged\)?|see above"
    r"|без изменений|как раньше|см\. ?выше|остальное без изменений|同上|不变)\W*$",
    re.IGNORECASE,
)


def unknown_citation(rewrite: Rewrite, view: View) -> Iterator[Defect]:
    for line in written_lines(rewrite):
        for citation in citations(line):
            if citation not in view.source_ids:
                yield Defect("unknown-citation", f"there is no source [{citation}]", line)


def uncited_fact(rewrite: Rewrite, view: View) -> Iterator[Defect]:
    for line in new_lines(rewrite, view, SectionKind.CONFIRMED):
        if not citations(line) and not MARK.search(line):
            yield Defect("uncited-fact", "a fact needs its source, as [N.k]", line)


def is_wiped(rewrite: Rewrite, summary: Summary) -> bool:
    old, new = lines_of(summary, SectionKind.CONFIRMED), written_lines(rewrite, SectionKind.CONFIRMED)
    return len(new) * 4 < len(old) and len(rewrite.removed) < len(old) - len(new)


def wiped_memory(rewrite: Rewrite, view: View) -> Iterator[Defect]:
    """A rewrite that drops to less than a quarter, or that writes a remark in place of the lines."""
    if rewrite.nothing_new is not None:
        return
    if is_wiped(rewrite, view.case.summary):
        old, new = old_lines(view.case, SectionKind.CONFIRMED), written_lines(rewrite, SectionKind.CONFIRMED)
        yield Defect("wiped-memory", f"the summary had {len(old)} facts and this has {len(new)}: write out every line")
    for line in written_lines(rewrite):
        if PLACEHOLDER.match(line):
            yield Defect("placeholder", "write out every line in full", line)


def repeated_line(rewrite: Rewrite, view: View) -> Iterator[Defect]:
    """Small models fall into a loop over one line; the summary's own repetitions are a person's business."""
    old = Counter(old_lines(view.case))
    for line, count in Counter(written_lines(rewrite)).items():
        if count > max(1, old[line]):
            yield Defect(REPEATED, f"this line stands {count} times: write it once", line)


def forged_mark(rewrite: Rewrite, view: View) -> Iterator[Defect]:
    """Marks are a person's: they may neither be brought in nor be lost."""
    old = set(old_lines(view.case))
    new = set(written_lines(rewrite))
    doubtful = [line for line in old if UNVERIFIED.search(line)]
    for line in sorted(new - old):
        for mark in MARK.findall(line):
            yield Defect("forged-mark", f"only a person writes {mark}", line)
        if UNVERIFIED.search(line) and not any(survives(before, [line]) for before in doubtful):
            yield Defect("forged-mark", "only the harness writes [unverified]", line)
    if rewrite.nothing_new is None:
        for line in sorted(old - new):
            if PINNED.search(line):
                yield Defect("lost-pinned", "a pinned line stays as it is", line)


def lost_fact(rewrite: Rewrite, view: View) -> Iterator[Defect]:
    """Nothing vanishes: a line stays, moves, is reworded or merged with its numbers, or is removed for a reason.

    The reason must be one that code can verify, and one pass may remove only so many.
    """
    if rewrite.nothing_new is not None or is_wiped(rewrite, view.case.summary):
        return
    old, new = (
        facts_before(rewrite, view.case.summary),
        [Lines(kind, written_lines(rewrite, kind)) for kind in (*FACTUAL, SectionKind.OTHER)],
    )
    removed = 0
    for line, fate, now in fates(old, new, rewrite.removed, lambda line: _is_grounded(line, view)):
        # a pinned line has a rule of its own, and so has a sum
        if fate in (Fate.KEPT, Fate.MOVED) or PINNED.search(line) or SUMMED.search(line):
            continue
        removed += fate is Fate.REMOVED
        if fate is Fate.CHANGED:
            told = f"its numbers changed without a reason under Removed (now: {now})"
        elif fate is Fate.LOST and now:
            told = f"removed for a reason that does not hold ({now})"
        elif fate is Fate.LOST or MARK.search(line):
            told = "a fact of the summary is gone: keep it, or give a reason under Removed"
        elif fate is Fate.REMOVED and removed > (allowed := removals_allowed(sum(len(part.lines) for part in old))):
            told = f"more than {allowed} facts removed in one pass"
        else:
            continue
        yield Defect(LOST, told, line)


def facts_before(rewrite: Rewrite, summary: Summary) -> list[Lines]:
    """The facts of the sections that a rewrite writes anew; in a section of a person's own, the cited lines."""
    kinds = {section.kind for section in rewrite.sections}
    titles = {section.title.casefold() for section in rewrite.sections}
    own = [one for one in summary.sections if one.kind is SectionKind.OTHER and one.title.casefold() in titles]
    cited = (line for line in lines_of(Summary(sections=tuple(own)), SectionKind.OTHER) if citations(line))
    facts = [Lines(kind, lines_of(summary, kind)) for kind in FACTUAL if kind in kinds]
    return [*facts, Lines(SectionKind.OTHER, tuple(cited))]


def _is_grounded(line: str, view: View) -> bool | None:
    pages = _pages(line, view)
    return None if pages is None else not lacking(line, view.grid, pages)


def _pages(line: str, view: View) -> list[Page] | None:
    """What a line cites, to look its numbers up in; None where a cited source is gone."""
    found = [view.source(id) for id in citations(line)]
    pages = [page_of(source) for source in found if source is not None]
    return pages if len(pages) == len(found) and pages else None


def ungrounded(rewrite: Rewrite, view: View) -> Iterator[Defect]:
    """The numbers, dates and quotations of a new line stand in what it cites."""
    for line in new_lines(rewrite, view, *FACTUAL):
        pages = _pages(line, view)
        if pages is None or MARK.search(line) or SUMMED.search(line):
            continue
        for piece in lacking(line, view.grid, pages):
            elsewhere = (id for id, page in _read_now(view) if bears_out(line, piece, view.grid, page))
            yield Defect(UNGROUNDED, told_of(piece, citations(line), next(elsewhere, "")), line)


def _read_now(view: View) -> Iterator[tuple[str, Page]]:
    """The sources of this round's raw: where a wrong citation is meant for, most of the time."""
    for id in sorted(view.source_ids):
        if id.startswith(f"{view.packet.round}.") and (source := view.source(id)):
            yield id, page_of(source)


def contradiction(rewrite: Rewrite, view: View) -> Iterator[Defect]:
    """One thing and period with two values, and nothing under Contradictions; only where a new line brings it in."""
    sections = {section.kind for section in rewrite.sections}
    confirmed, entries = (
        written_lines(rewrite, kind) if kind in sections else old_lines(view.case, kind) for kind in FACTUAL
    )
    new = set(new_lines(rewrite, view, SectionKind.CONFIRMED))
    for clash in clashes(confirmed, entries, view.grid):
        if {clash.first, clash.second} & new:
            yield Defect(CONTRADICTION, "two values for one thing and period: add to Contradictions", clash.entry)


def struck_out(rewrite: Rewrite, view: View) -> Iterator[Defect]:
    """A line that a person struck out and left where it stood is theirs to remove."""
    yield from struck_again(new_lines(rewrite, view), lines_of(view.case.summary, SectionKind.STRUCK))


def invented_section(rewrite: Rewrite, view: View) -> Iterator[Defect]:
    """A section that neither the summary nor the settings have: roles like to add a conclusion."""
    known = {section.title.casefold() for section in view.case.summary.sections}
    known |= {title.casefold() for title in view.sections}
    for section in rewrite.sections:
        if section.kind is SectionKind.OTHER and section.title.casefold() not in known:
            yield Defect("invented-section", "the summary has no such section", section.title)


def over_allowance(rewrite: Rewrite, view: View) -> Iterator[Defect]:
    if not view.allowance or rewrite.nothing_new is not None:
        return
    size = estimate(render_summary(Summary(sections=rewrite.sections, front=FrontMatter())))
    if size > view.allowance:
        told = f"the summary has about {size} tokens and may have {view.allowance}"
        yield Defect("over-allowance", f"{told}: merge lines, or remove some with reasons")


def bad_text(rewrite: Rewrite, view: View) -> Iterator[Defect]:
    lines = new_lines(rewrite, view)
    yield from text.unreadable(lines)
    yield from text.forged_tag(lines)
    before = "\n".join((*old_lines(view.case), *view.grid.entities, *view.grid.fields))
    yield from text.wrong_language(lines, view.packet.language, settled=before)
    cited = dict.fromkeys(id for line in lines for id in citations(line))
    sources = (f"{source.url}\n{source.text}" for id in cited if (source := view.source(id)))
    yield from text.invented_address(lines, [*sources, *lines_of(view.case.summary, SectionKind.SOURCES)])


RewriteRule = Callable[[Rewrite, View], Iterator[Defect]]
SYNTHESIZER_RULES: tuple[RewriteRule, ...] = (
    unknown_citation,
    uncited_fact,
    wiped_memory,
    repeated_line,
    forged_mark,
    forged_sum,
    unknown_total,
    repeated_total,
    lost_fact,
    struck_out,
    ungrounded,
    contradiction,
    invented_section,
    bad_text,
    over_allowance,
)


def check_rewrite(rewrite: Rewrite, view: View, most: int | None = MOST_NAMED) -> tuple[Defect, ...]:
    """`most`: defects of one rule; None: all, for code that puts them right."""
    return tuple(defect for rule in SYNTHESIZER_RULES for defect in islice(rule(rewrite, view), most))
