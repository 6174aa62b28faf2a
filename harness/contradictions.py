"""Facts that give different values for one thing and period, and whether Contradictions names them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import combinations, islice
from typing import NamedTuple

from harness.facts import Fact, at_dash, citations, parse_fact, sides, without_periods
from harness.model import Grid
from harness.patterns import lazy
from harness.periods import Comparison, only_period, periods, same_period
from harness.quantities import amount, compare, same_value
from harness.words import content_stems

_BEHIND = lazy(r"\s*\(([^()]*)\)$")
_MORE = lazy(r"(?:more than|over|above|at least|exceed\w*|более|больше|свыше|не менее|超过|>|≥)", re.IGNORECASE)
_LESS = lazy(r"(?:less than|under|below|at most|up to|fewer than|менее|меньше|до|не более|不到|<|≤)", re.IGNORECASE)
MOST = 100  # lines of one thing that are compared, and clashes that are told: more is a broken file
_YEAR = lazy(r"(?:19|20)[0-9]{2}")
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
    found = (
        Clash(first.fact.text, second.fact.text, _entry(first, second))
        for same in by_subject.values()
        for group in _by_year(same)
        for first, second in combinations(group[:MOST], 2)
        if same_period(first.period, second.period)
        and compare(first.value, second.value) is Comparison.DIFFERENT
        and not (_meets(first.value, second.value) or _meets(second.value, first.value))
        and not any(_names(entry, first, second, grid) for entry in entries)
    )
    return tuple(islice(found, MOST))


def _by_year(same: list[_Said]) -> list[list[_Said]]:
    """The lines of one thing, each plain year by itself: of 25 years with 8 lines each, 700 pairs and not 20,000."""
    years: dict[str, list[_Said]] = {}
    for one in same:
        if not _YEAR.fullmatch(one.period):
            return [same]  # a quarter, `FY24`: what is the same period has to be looked at
        years.setdefault(one.period, []).append(one)
    return list(years.values())


def _said(line: str, grid: Grid) -> _Said | None:
    fact = parse_fact(line, grid)
    if fact.field:
        value, period = _dated(fact.value, fact.period)
        head = f"{fact.entity}: {fact.field} {period}"
        return _Said(fact.cell, period, value, fact, head) if period else None
    head, value = at_dash(fact.value) or ("", "")
    if not _COLON.search(head):
        return None
    named = periods(head)
    value, period = _dated(value, named[0].text if len(named) == 1 else "")
    if not period:
        return None
    about = frozenset(content_stems(without_periods(head, named)))
    return _Said(about, period, value, fact, head if named else f"{head} {period}")


def _dated(value: str, period: str) -> tuple[str, str]:
    """The value and its period; where the head has none, the one in brackets behind the value: `67 bn (2024)`."""
    behind = _BEHIND.search(value)
    if period or not behind or only_period(behind[1]) is None:
        return value, period
    return value[: behind.start()], behind[1]


def _meets(value: str, bound: str) -> bool:
    """Whether a value lies where a bound says: 5,432 is more than 5,000."""
    one, limit = amount(value), amount(bound)
    if one is None or limit is None:
        return False
    return bool(_MORE.match(bound) and one.value >= limit.value) or bool(
        _LESS.match(bound) and one.value <= limit.value
    )


def _names(entry: str, first: _Said, second: _Said, grid: Grid) -> bool:
    """Whether a line of Contradictions is about this subject and period, and holds both values or both citations."""
    if not _is_about(entry, first, grid):
        return False
    found = sides(entry)
    if len(found) > 1:
        return all(any(same_value(side.value, one.value) for side in found) for one in (first, second))
    cited = set(citations(entry))
    return all(cited & set(one.fact.citations) for one in (first, second))


def _is_about(entry: str, one: _Said, grid: Grid) -> bool:
    fact = parse_fact(entry, grid)
    named = periods(fact.period if fact.field else entry.partition("↔")[0])
    if named and not any(same_period(span.text, one.period) for span in named):
        return False
    if fact.field:
        return fact.cell == one.about
    about = frozenset(content_stems(one.head)) - frozenset(content_stems(one.period))
    return about <= frozenset(content_stems(entry))


def _entry(first: _Said, second: _Said) -> str:
    told = (" ".join((one.value, *(f"[{id}]" for id in one.fact.citations))) for one in (first, second))
    return f"{first.head} — {' ↔ '.join(told)}"
