"""Facts that give different values for one thing and period, and whether Contradictions names them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import NamedTuple

from harness.facts import Fact, citations, parse_fact, sides
from harness.model import Grid
from harness.patterns import lazy
from harness.periods import periods, same_period
from harness.quantities import same_value
from harness.words import content_stems

_DASH = lazy(r"\s(?:[—–―]|-{1,2})\s")
_COLON = lazy(r"[:：]\s")


class Clash(NamedTuple):
    """Two lines of Confirmed that cannot both hold, and the line that Contradictions lacks."""

    first: str
    second: str
    entry: str


class _Said(NamedTuple):
    """A fact line by what it is about: the grid's cell, or the stems before its dash."""

    about: object
    period: str
    value: str
    fact: Fact
    head: str


def clashes(confirmed: Iterable[str], entries: Sequence[str], grid: Grid) -> tuple[Clash, ...]:
    """Pairs of lines with the same entity, field and period and different values that no entry names.

    Lines without a period are left alone: they may be of different times. So are lines without a dash (prose).
    """
    said = [one for line in confirmed if (one := _said(line, grid))]
    by_subject: dict[object, list[_Said]] = {}
    for one in said:
        by_subject.setdefault(one.about, []).append(one)
    return tuple(
        Clash(first.fact.text, second.fact.text, _entry(first, second))
        for group in by_subject.values()
        for first, second in combinations(group, 2)
        if same_period(first.period, second.period)
        and not same_value(first.value, second.value)
        and not any(_names(entry, first, second, grid) for entry in entries)
    )


def _said(line: str, grid: Grid) -> _Said | None:
    fact = parse_fact(line, grid)
    if fact.field and fact.period:
        return _Said(fact.cell, fact.period, fact.value, fact, f"{fact.entity}: {fact.field} {fact.period}")
    dash = _DASH.search(fact.value)
    if fact.field or dash is None or not _COLON.search(fact.value[: dash.start()]):
        return None
    head, value = fact.value[: dash.start()].strip(), fact.value[dash.end() :].strip()
    named = periods(head)
    if len(named) != 1:
        return None
    about = frozenset(content_stems(head[: named[0].at] + head[named[0].at + len(named[0].text) :]))
    return _Said(about, named[0].text, value, fact, head)


def _names(entry: str, first: _Said, second: _Said, grid: Grid) -> bool:
    """Whether a line of Contradictions holds both values, or both citations, of a clash about its own subject."""
    found = sides(entry)
    values = [any(same_value(side.value, one.value) for side in found) for one in (first, second)]
    cited = set(citations(entry))
    quoted = [bool(cited & set(one.fact.citations)) for one in (first, second)]
    return all(value or quote for value, quote in zip(values, quoted, strict=True)) and _is_about(entry, first, grid)


def _is_about(entry: str, one: _Said, grid: Grid) -> bool:
    fact = parse_fact(entry, grid)
    if fact.field:
        return fact.cell == one.about
    stems = frozenset(content_stems(entry))
    return frozenset(content_stems(one.head)) <= stems or bool(set(citations(entry)) & set(one.fact.citations))


def _entry(first: _Said, second: _Said) -> str:
    told = (" ".join((one.value, *(f"[{id}]" for id in one.fact.citations))) for one in (first, second))
    return f"{first.head} — {' ↔ '.join(told)}"
