"""What a fact line says that its sources do not, and whether another source says it of the same thing."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from harness.facts import parse_fact, without_marks
from harness.grounding import Page, claims, missing
from harness.model import Grid
from harness.words import content_stems, fold, heads, language_of, may_cover, words

SAMPLE = 4_000  # characters that tell a page's language, and where its name mostly stands


def lacking(line: str, grid: Grid, pages: Iterable[Page]) -> tuple[str, ...]:
    """The numbers, dates and quotations of a line that none of the pages has; its field may hold their scale.

    And its entity, where no page names it: a figure of somebody else stands on many pages.
    """
    fact, looked_in = parse_fact(line, grid), tuple(pages)
    found = missing(claims(fact, line), looked_in, fact.field)
    strange = fact.entity and not any(_may_be_about(page, fact.entity) for page in looked_in)
    return (fact.entity, *found) if strange else found


def bears_out(line: str, piece: str, grid: Grid, page: Page) -> bool:
    """Whether a page has a piece of a line and also names what the line is about: else it is of something else."""
    fact = parse_fact(line, grid)
    subject = fact.entity or without_marks(line).partition(":")[0]
    return _names(page, subject) and not missing(piece, [page], fact.field)


def told_of(piece: str, cited: Iterable[str], elsewhere: str) -> str:
    """For a repair turn and for people: where the piece does not stand, and where it does, if that is known."""
    named = ", ".join(f"[{id}]" for id in cited)
    return f"{piece} stands in [{elsewhere}], not in {named}" if elsewhere else f"{piece} does not stand in {named}"


def _may_be_about(page: Page, entity: str) -> bool:
    """Whether a page names the entity, or is in another language and may write its name in its own way."""
    return _names(page, entity) or language_of(page.text[:SAMPLE]) != language_of(entity)


@lru_cache(maxsize=4_096)
def _names(page: Page, name: str) -> bool:
    if fold(name) in fold(page.text[:SAMPLE]):
        return True
    return may_cover(words(name), _heads(page)) and frozenset(content_stems(name)) <= _stems(page)


@lru_cache(maxsize=64)
def _heads(page: Page) -> frozenset[str]:
    return heads(words(page.text))


@lru_cache(maxsize=64)
def _stems(page: Page) -> frozenset[str]:
    return frozenset(content_stems(page.text))
