"""What the code checks in every reply: one small rule each, in a table per role; a rule yields defects."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from harness.facts import cells_searched, citations, open_cells, without_marks
from harness.formats.summary import lines_of, read_block, search_blocks, search_lines, source_lines
from harness.model import Case, Decision, Defect, Grid, Packet, Rewrite, SectionKind, Summary
from harness.patterns import lazy
from harness.words import bag, words

QUERY_LIMIT = 200  # characters; several engines refuse 400, and nothing should be smuggled out in a query
UNBROKEN_LIMIT = 60  # a longer run without a space is no word of any language: it may carry data out
SEARCHES_FOR_ABSENCE = 2  # distinct, unblocked searches after which a cell may stay empty
SUCCEEDED = "found"
WRITABLE = (SectionKind.CONFIRMED, SectionKind.CONTRADICTIONS, SectionKind.NOT_FOUND, SectionKind.OTHER)
FACTUAL = (SectionKind.CONFIRMED, SectionKind.CONTRADICTIONS)
LOST = "lost-fact"
SAME_SHARE = 0.5  # of a line's content words; below it another line is another fact
URL = lazy(r"https?://|www\.\w", re.IGNORECASE)
PLACEHOLDER = lazy(
    r"^\W*(?:\.{3}|…|as before|unchanged|no changes?|\(?rest unchanged\)?|see above"
    r"|без изменений|как раньше|см\. ?выше|остальное без изменений|同上|不变)\W*$",
    re.IGNORECASE,
)
MARK = lazy(r"\[\s*(?:pinned|person)\s*\]", re.IGNORECASE)
PINNED = lazy(r"\[\s*pinned\s*\]\s*$", re.IGNORECASE)


class View(NamedTuple):
    """What a rule may look at besides the reply."""

    case: Case
    packet: Packet
    source_ids: frozenset[str]  # every `N.k` that may be cited

    @property
    def grid(self) -> Grid:
        return self.case.question.grid if self.case.question else Grid()


# Planner ---------------------------------------------------------------------------------------


def wrong_action(decision: Decision, view: View) -> Iterator[Defect]:
    if view.packet.must_answer and decision.answer is None:
        yield Defect("must-answer", "there is no further search: write the answer")
    if view.packet.must_decide and decision.ask is not None:
        yield Defect("must-decide", "no person is there to be asked: decide yourself")


def echoed_example(decision: Decision, view: View) -> Iterator[Defect]:
    """Small models copy the example of the prompt."""
    for query in decision.queries:
        if f'search("{query}")' in view.packet.prompt:
            yield Defect("echoed-prompt", "this is the example of the prompt, not a query of yours", query)


def unfit_query(decision: Decision, view: View) -> Iterator[Defect]:
    for query in decision.queries:
        if len(query) > QUERY_LIMIT:
            yield Defect("long-query", f"a query has at most {QUERY_LIMIT} characters", query)
        if URL.search(query):
            yield Defect("query-url", "a query holds no URL", query)
        elif any(len(word) > UNBROKEN_LIMIT for word in query.split()):
            yield Defect("query-token", "a query holds no long unbroken token", query)


def repeated_query(decision: Decision, view: View) -> Iterator[Defect]:
    """The same words again after they found something; a blocked or empty search may be repeated."""
    found = [_found_in(block) for block in search_blocks(view.case.summary)] if decision.queries else []
    for query in decision.queries:
        if rounds := [block[bag(query)] for block in found if bag(query) in block]:
            yield Defect("repeated-query", f"round {rounds[-1]} searched this and found sources", query)


@lru_cache(maxsize=1_024)
def _found_in(block: tuple[str, ...]) -> Mapping[frozenset[str], int]:
    """The round of each search that found something, by the words of its query; `block`: lines of Searches."""
    return {bag(line.query): line.round for line in read_block(block) if line.outcome == SUCCEEDED}


def early_answer(decision: Decision, view: View) -> Iterator[Defect]:
    if decision.answer is None or view.packet.must_answer:
        return
    if not was_read(view.case.summary):
        yield Defect("no-source", "no source has been read yet: search first")
        return
    for entity, field in unsettled_cells(view.case):
        yield Defect("early-answer", "no cited figure and fewer than 2 searches for", f"{entity}: {field}")


def unknown_citation_in_answer(decision: Decision, view: View) -> Iterator[Defect]:
    if decision.answer is None:
        return
    cited = citations(decision.answer)
    for citation in sorted(set(cited) - view.source_ids):
        yield Defect("unknown-citation", "the answer cites a source that the summary does not have", f"[{citation}]")
    if not cited and any(citations(line) for line in lines_of(view.case.summary, SectionKind.CONFIRMED)):
        yield Defect("uncited-answer", "the answer cites nothing; carry the citations over from the summary")


# Synthesizer -----------------------------------------------------------------------------------


def unknown_citation(rewrite: Rewrite, view: View) -> Iterator[Defect]:
    for line in written_lines(rewrite):
        for citation in citations(line):
            if citation not in view.source_ids:
                yield Defect("unknown-citation", f"there is no source [{citation}]", line)


def uncited_fact(rewrite: Rewrite, view: View) -> Iterator[Defect]:
    old = set(all_lines(view.case))
    for line in written_lines(rewrite, SectionKind.CONFIRMED):
        if line not in old and not citations(line) and not MARK.search(line):
            yield Defect("uncited-fact", "a fact needs its source, as [N.k]", line)


def is_wiped(rewrite: Rewrite, summary: Summary) -> bool:
    old, new = lines_of(summary, SectionKind.CONFIRMED), written_lines(rewrite, SectionKind.CONFIRMED)
    return len(new) * 4 < len(old) and len(rewrite.removed) < len(old) - len(new)


def wiped_memory(rewrite: Rewrite, view: View) -> Iterator[Defect]:
    """A rewrite that drops to less than a quarter, or that writes a remark in place of the lines."""
    if rewrite.nothing_new is not None:
        return
    old, new = lines_of(view.case.summary, SectionKind.CONFIRMED), written_lines(rewrite, SectionKind.CONFIRMED)
    if is_wiped(rewrite, view.case.summary):
        yield Defect("wiped-memory", f"the summary had {len(old)} facts and this has {len(new)}: write out every line")
    for line in written_lines(rewrite):
        if PLACEHOLDER.match(line):
            yield Defect("placeholder", "write out every line in full", line)


def forged_mark(rewrite: Rewrite, view: View) -> Iterator[Defect]:
    """Marks are a person's: they may neither be brought in nor be lost."""
    old = set(all_lines(view.case))
    new = set(written_lines(rewrite))
    for line in sorted(new - old):
        for mark in MARK.findall(line):
            yield Defect("forged-mark", f"only a person writes {mark}", line)
    if rewrite.nothing_new is None:
        for line in sorted(old - new):
            if PINNED.search(line):
                yield Defect("lost-pinned", "a pinned line stays as it is", line)


def lost_fact(rewrite: Rewrite, view: View) -> Iterator[Defect]:
    """Nothing vanishes: a line stays, moves, is reworded or merged with its numbers, or is listed under Removed."""
    if rewrite.nothing_new is not None or is_wiped(rewrite, view.case.summary):
        return
    new, sections = written_lines(rewrite), {section.kind for section in rewrite.sections}
    kept = frozenset(new)
    given = [f"{removal.fact} {removal.reason}" for removal in rewrite.removed]
    for kind in FACTUAL:
        for line in lines_of(view.case.summary, kind) if kind in sections else ():
            if line in kept or PINNED.search(line):  # a pinned line has a rule of its own
                continue
            if MARK.search(line) or not (survives(line, new) or survives(line, given)):
                yield Defect(LOST, "a fact of the summary is gone: keep it, or give a reason under Removed", line)


def survives(old: str, lines: Iterable[str]) -> bool:
    """Whether one of the lines says what the old one said: all its numbers and most of its words."""
    numbers, stems = _said(old)
    return any(
        numbers <= others and len(stems & theirs) >= SAME_SHARE * len(stems) for others, theirs in map(_said, lines)
    )


@lru_cache(maxsize=4_096)
def _said(line: str) -> tuple[frozenset[str], frozenset[str]]:
    """The numbers and the content stems of a line, its citations and marks aside."""
    bare = without_marks(line)
    return frozenset(word for word in words(bare) if word[0].isdigit()), bag(bare)


def put_back(rewrite: Rewrite, summary: Summary, lost: Collection[str]) -> Rewrite:
    """The rewrite with lost lines as they stood, at the end of their sections: the last word when repair turns fail."""
    sections = []
    for section in rewrite.sections:
        missing = [line for line in lines_of(summary, section.kind) if line in lost] if section.kind in FACTUAL else []
        sections.append(replace(section, lines=(*section.lines, *(f"- {line}" for line in missing))))
    return rewrite._replace(sections=tuple(sections))


def struck_out(rewrite: Rewrite, view: View) -> Iterator[Defect]:
    """What a person deleted may come back only with a source that it did not have."""
    struck = {without_marks(line).casefold(): line for line in lines_of(view.case.summary, SectionKind.STRUCK)}
    for line in written_lines(rewrite):
        before = struck.get(without_marks(line).casefold())
        if before is not None and set(citations(line)) <= set(citations(before)):
            yield Defect("struck-out", "a person struck this out: it needs a new source to come back", line)


Rule = Callable[[Decision, View], Iterator[Defect]]
RewriteRule = Callable[[Rewrite, View], Iterator[Defect]]
PLANNER_RULES: tuple[Rule, ...] = (
    wrong_action,
    echoed_example,
    unfit_query,
    repeated_query,
    early_answer,
    unknown_citation_in_answer,
)
SYNTHESIZER_RULES: tuple[RewriteRule, ...] = (
    unknown_citation,
    uncited_fact,
    wiped_memory,
    forged_mark,
    lost_fact,
    struck_out,
)


def check_decision(decision: Decision, view: View) -> tuple[Defect, ...]:
    return tuple(defect for rule in PLANNER_RULES for defect in rule(decision, view))


def check_rewrite(rewrite: Rewrite, view: View) -> tuple[Defect, ...]:
    return tuple(defect for rule in SYNTHESIZER_RULES for defect in rule(rewrite, view))


def was_read(summary: Summary) -> bool:
    """Whether a source was ever folded in: one that is cited, one that a search found, or a note."""
    searches = search_lines(summary)
    notes = summary.round > len({line.round for line in searches})
    return bool(source_lines(summary)) or notes or any(line.outcome in (SUCCEEDED, "pasted") for line in searches)


# What counts as settled --------------------------------------------------------------------------


def unsettled_cells(case: Case) -> tuple[tuple[str, str], ...]:
    """Open cells that were not yet searched for twice: neither a figure nor a proof of absence."""
    if not case.question or not case.question.grid:
        return ()
    grid = case.question.grid
    open_ = open_cells(lines_of(case.summary, SectionKind.CONFIRMED), grid)
    tried: Mapping[tuple[str, str], int] = cells_searched(search_lines(case.summary), grid) if open_ else {}
    return tuple(cell for cell in open_ if tried.get(cell, 0) < SEARCHES_FOR_ABSENCE)


def settled(case: Case) -> bool:
    """Every cell has a figure or a proof of absence; without entities × fields: nothing is listed as not found."""
    if not source_lines(case.summary):
        return False
    if case.question and case.question.grid:
        return not unsettled_cells(case)
    return not lines_of(case.summary, SectionKind.NOT_FOUND)


def written_lines(rewrite: Rewrite, *kinds: SectionKind) -> tuple[str, ...]:
    """The entries of the given sections (all that a role may write by default), whatever bullets they have."""
    written = Summary(sections=rewrite.sections)
    return tuple(line for kind in kinds or WRITABLE for line in lines_of(written, kind))


def all_lines(case: Case) -> tuple[str, ...]:
    return tuple(line for kind in WRITABLE for line in lines_of(case.summary, kind))
