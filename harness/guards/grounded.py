"""What a fact line says that its sources do not, and whether another source says it of the same thing."""

from __future__ import annotations

from collections.abc import Iterable

from harness.facts import parse_fact, without_marks
from harness.grounding import Page, claims, missing
from harness.model import Grid
from harness.words import content_stems, heads, may_cover, words


def lacking(line: str, grid: Grid, pages: Iterable[Page]) -> tuple[str, ...]:
    """The numbers, dates and quotations of a line that none of the pages has; its field may hold their scale."""
    fact = parse_fact(line, grid)
    return missing(claims(fact, line), pages, fact.field)


def bears_out(line: str, piece: str, grid: Grid, page: Page) -> bool:
    """Whether a page has a piece of a line and also names what the line is about: else it is of something else."""
    fact = parse_fact(line, grid)
    subject = fact.entity or without_marks(line).partition(":")[0]
    wanted = words(subject)
    if missing(piece, [page], fact.field) or not may_cover(wanted, heads(words(page.text))):
        return False
    return frozenset(content_stems(subject)) <= frozenset(content_stems(page.text))


def told_of(piece: str, cited: Iterable[str], elsewhere: str) -> str:
    """For a repair turn and for people: where the piece does not stand, and where it does, if that is known."""
    named = ", ".join(f"[{id}]" for id in cited)
    return f"{piece} stands in [{elsewhere}], not in {named}" if elsewhere else f"{piece} does not stand in {named}"
