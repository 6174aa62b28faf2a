"""What the rules look at: the lines of a reply and of the summary before it, and where a citation leads."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from harness.facts import citations, without_marks
from harness.formats.summary import lines_of, source_lines
from harness.heirs import survives
from harness.model import Case, Defect, Grid, Packet, Rewrite, SectionKind, Source, Summary
from harness.patterns import lazy

WRITABLE = (SectionKind.CONFIRMED, SectionKind.CONTRADICTIONS, SectionKind.NOT_FOUND, SectionKind.OTHER)
FACTUAL = (SectionKind.CONFIRMED, SectionKind.CONTRADICTIONS)
UNGROUNDED = "ungrounded"
MARK = lazy(r"\[\s*(?:pinned|person)\s*\]", re.IGNORECASE)
PINNED = lazy(r"\[\s*pinned\s*\]\s*$", re.IGNORECASE)
UNVERIFIED = lazy(r"\[\s*unverified\s*\]", re.IGNORECASE)
SUMMED = lazy(r"\[\s*summed\s*\]", re.IGNORECASE)


def nowhere(id: str) -> Source | None:
    """No source can be looked up: rules that need one let everything pass."""
    return None


class View(NamedTuple):
    """What a rule may look at besides the reply."""

    case: Case
    packet: Packet
    source_ids: frozenset[str]  # every `N.k` that may be cited
    source: Callable[[str], Source | None] = nowhere  # what `N.k` cites; None where its raw is gone
    allowance: int = 0  # tokens that the sections of a role may have; 0: any number
    sections: tuple[str, ...] = ()  # titles of further sections that the settings name

    @property
    def grid(self) -> Grid:
        return self.case.question.grid if self.case.question else Grid()


def written_lines(rewrite: Rewrite, *kinds: SectionKind) -> tuple[str, ...]:
    """The entries of the given sections (all that a role may write by default), whatever bullets they have."""
    written = Summary(sections=rewrite.sections)
    return tuple(line for kind in kinds or WRITABLE for line in lines_of(written, kind))


def old_lines(case: Case, *kinds: SectionKind) -> tuple[str, ...]:
    """The like of the summary as it is."""
    return tuple(line for kind in kinds or WRITABLE for line in lines_of(case.summary, kind))


def new_lines(rewrite: Rewrite, view: View, *kinds: SectionKind) -> tuple[str, ...]:
    """The written lines that the summary does not have word for word: only these are a role's to answer for."""
    old = set(old_lines(view.case))
    return tuple(line for line in written_lines(rewrite, *kinds) if line not in old)


def struck_again(lines: Iterable[str], struck: Iterable[str]) -> Iterator[Defect]:
    """What a person deleted may come back, in whatever words, only with a source that it did not have."""
    known = list(struck)
    for line in lines:
        before = next((one for one in known if _is_same(one, line)), None)
        if before is not None and set(citations(line)) <= set(citations(before)):
            yield Defect("struck-out", "a person struck this out: it needs a new source to come back", line)


def _is_same(struck: str, line: str) -> bool:
    return without_marks(struck).casefold() == without_marks(line).casefold() or survives(struck, [line])


def known_sources(summary: Summary) -> frozenset[str]:
    """What a role may cite: the lines of Sources, and what stands cited already: a person's summary has no Sources."""
    cited = {id for kind in FACTUAL for line in lines_of(summary, kind) for id in citations(line)}
    return frozenset(cited | {line.id for line in source_lines(summary)})
