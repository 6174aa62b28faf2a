"""Rules for sums and counts: their names stand in the part, each stands once, and only the harness marks a line so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from harness.guards.lines import SUMMED, View, old_lines, written_lines
from harness.model import Defect, Rewrite
from harness.totals import key
from harness.words import content_stems, fold

LOST_SUM = "lost-sum"


def forged_sum(rewrite: Rewrite, view: View) -> Iterator[Defect]:
    """A line that the harness added up is never a role's: it may neither be brought in nor be lost or changed."""
    if rewrite.nothing_new is not None:
        return
    old, new = set(old_lines(view.case)), set(written_lines(rewrite))
    for line in sorted(new - old):
        if SUMMED.search(line):
            yield Defect("forged-mark", "only the harness writes [summed]", line)
    rewritten = {section.kind for section in rewrite.sections}
    for line in sorted(set(old_lines(view.case, *rewritten)) - new if rewritten else ()):
        if SUMMED.search(line):
            yield Defect(LOST_SUM, "a line that was added up over all parts stays as it is", line)


def unknown_total(rewrite: Rewrite, view: View) -> Iterator[Defect]:
    """A total of somebody whom the part does not name is added up from elsewhere, or invented."""
    if not rewrite.totals:
        return
    part = "\n".join(text for name, text in view.packet.files.items() if name.startswith("raw_"))
    for total in rewrite.totals:
        if not _stands_in(total.name, part):
            yield Defect("unknown-total", "the part does not have this name", total.name)


def repeated_total(rewrite: Rewrite, view: View) -> Iterator[Defect]:
    first = {key(total): total for total in reversed(rewrite.totals)}
    for mine, count in Counter(map(key, rewrite.totals)).items():
        if count > 1:
            said = f"{first[mine].name}: {first[mine].field}".rstrip(": ")
            yield Defect("repeated-total", f"this total stands {count} times: add it up for the whole part", said)


def _stands_in(name: str, part: str) -> bool:
    """As it is written but for case and spaces, or with other endings: Анна Петрова of «Анны Петровой»."""
    wanted = frozenset(content_stems(name))
    return " ".join(fold(name).split()) in _in_one_line(part) or (bool(wanted) and wanted <= _stems(part))


@lru_cache(maxsize=4)
def _in_one_line(part: str) -> str:
    return " ".join(fold(part).split())


@lru_cache(maxsize=4)
def _stems(part: str) -> frozenset[str]:
    return frozenset(content_stems(part))
