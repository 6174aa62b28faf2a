"""What a person changed in the summary between passes: such a line is marked theirs, a deleted one is struck out."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher
from typing import NamedTuple

from harness.facts import citations, without_marks
from harness.formats.summary import append_lines, lines_of, replace_section
from harness.guards.lines import FACTUAL, MARK, PINNED
from harness.heirs import heir_of, only_value_differs
from harness.model import SectionKind, Summary

PERSON = "[person]"
_ALIKE = 0.8  # of the characters: a line that was edited, below it another one that was written in its place
_ELSEWHERE = (SectionKind.NOT_FOUND, SectionKind.OTHER, SectionKind.STRUCK)


class Edits(NamedTuple):
    """Fact lines without bullets, as they stood; `changed`: old and new."""

    changed: tuple[tuple[str, str], ...] = ()
    struck: tuple[str, ...] = ()
    added: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return any(self)


def edits(old: Summary, new: Summary) -> Edits:
    """What became of the old one's facts. None where a round was folded by hand: that was a role's turn.

    Nothing either where all facts are gone: who empties the file begins anew, and does not judge each line.
    """
    before, after = _all(old, FACTUAL), _all(new, FACTUAL)
    if new.round > old.round or (before and not after):
        return Edits()
    there = {without_marks(line) for line in (*after, *_all(new, _ELSEWHERE))}
    known = {without_marks(line) for line in (*before, *_all(old, _ELSEWHERE))}
    found: list[tuple[str, str]] = []
    left: list[str] = []
    for kind in FACTUAL:
        fresh = [line for line in lines_of(new, kind) if without_marks(line) not in known]
        for line in lines_of(old, kind):
            if without_marks(line) not in there:
                found.append((line, now := _became(line, fresh)))
                fresh = [other for other in fresh if other != now]
        left += fresh
    changed = tuple((line, now) for line, now in found if now)
    return Edits(changed, tuple(line for line, now in found if not now), tuple(left))


def protect(summary: Summary, found: Edits, language: str) -> Summary:
    """With `[person]` on each line they changed or added without a source, and what they deleted under Struck out."""
    theirs = {now for _, now in found.changed} | {line for line in found.added if not citations(line)}
    theirs = {line for line in theirs if not MARK.search(line)}
    for kind in FACTUAL:
        lines = lines_of(summary, kind)
        if theirs.intersection(lines):
            summary = replace_section(
                summary, kind, [_marked(line) if line in theirs else line for line in lines], language
            )
    return append_lines(summary, SectionKind.STRUCK, found.struck, language) if found.struck else summary


def _all(summary: Summary, kinds: Iterable[SectionKind]) -> tuple[str, ...]:
    return tuple(line for kind in kinds for line in lines_of(summary, kind))


def _became(line: str, fresh: list[str]) -> str:
    """The new line that a person made of the old one, "" if none."""
    if heir := heir_of(line, fresh):
        return heir
    bare = without_marks(line)
    valued = (other for other in fresh if only_value_differs(line, other))
    alike = (other for other in fresh if SequenceMatcher(None, bare, without_marks(other)).ratio() >= _ALIKE)
    return next(valued, "") or next(alike, "")


def _marked(line: str) -> str:
    pinned = PINNED.search(line)
    return f"{line[: pinned.start()].rstrip()} {PERSON} {pinned[0].strip()}" if pinned else f"{line} {PERSON}"
