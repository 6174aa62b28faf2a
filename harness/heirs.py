"""Whether one line says all that another one said: its subject, its numbers and periods, and which way it turns."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from harness.facts import at_dash, citations, sides, without_marks, without_periods
from harness.patterns import lazy
from harness.periods import periods
from harness.quantities import Quantity, converted, quantities, same_amount
from harness.words import content_stems

PROSE_SHARE = 0.5  # of the words of a sentence with numbers; below it another sentence says something else
WORDY_SHARE = 0.8  # of one without: nothing else tells which of two sentences it became
_CODE = lazy(r"(?=\w*[^\W\d_])(?=\w*\d)\w+|\d+(?:\.\d+){2,}")  # A380, 3.11.2: no amounts
# Words that turn a statement round: not, more than, less than, up, down. None is among the content words.
_TURNS = tuple(
    lazy(rf"(?<![^\W_])(?:{said})(?![^\W_])", re.IGNORECASE)
    for said in (
        r"not|no longer|never|without|не|нет|без|никогда",
        r"more than|over|above|at least|exceed\w*|более|больше|свыше",
        r"less than|under|below|at most|fewer|менее|меньше|ниже",
        r"rose|grew|up|increas\w+|вырос\w*|увелич\w+",
        r"fell|down|decreas\w+|declin\w+|упал\w*|сниз\w+|сократ\w+",
    )
)


class _Said(NamedTuple):
    """A line taken apart. `subject`: stems before the dash, periods aside; `value`: those behind it, numbers aside."""

    subject: frozenset[str]
    value: frozenset[str]
    amounts: tuple[Quantity, ...]
    spans: frozenset[tuple[object, ...]]
    codes: frozenset[str]
    turns: frozenset[int]
    cited: frozenset[str]
    prose: bool
    sides: int

    @property
    def stems(self) -> frozenset[str]:
        return self.subject | self.value


@lru_cache(maxsize=8_192)
def _read(line: str) -> _Said:
    bare = without_marks(line)
    parts = at_dash(bare)
    head, value = parts or ("", bare)
    named = periods(head), periods(value)
    return _Said(
        subject=frozenset(content_stems(without_periods(head, named[0]))),
        value=frozenset(stem for stem in content_stems(value) if not stem[:1].isdigit()),
        amounts=tuple(amount for part in (head, value) for amount in quantities(part) if amount.unit != "year"),
        spans=frozenset((span.start, span.end, span.day) for part in named for span in part),
        codes=frozenset(code.casefold() for code in _CODE.findall(bare)),
        turns=frozenset(at for at, pattern in enumerate(_TURNS) if pattern.search(bare)),
        cited=frozenset(citations(line)),
        prose=parts is None,
        sides=len(sides(line)) if "↔" in line else 0,
    )


def heir_of(old: str, lines: Iterable[str]) -> str:
    """The first line that says what the old one said, "" if none does.

    It has the old one's amounts, periods and codes, covers its subject, and turns the same way: a line about another
    company with the same figure is no heir. A translation is one, if it cites a source of the old line.
    """
    before = _read(old)
    return next((other for other in lines if _says(_read(other), before)), "")


def survives(old: str, lines: Iterable[str]) -> bool:
    return bool(heir_of(old, lines))


def about_the_same(line: str, other: str) -> bool:
    """Whether the other line covers the subject of the first (of a sentence: half of its words)."""
    mine, theirs = _read(line), _read(other)
    if mine.prose:
        return _share(mine.stems, theirs.stems) >= PROSE_SHARE
    return _covered(mine.subject, theirs) or not mine.subject


def only_value_differs(line: str, other: str) -> bool:
    """Whether one line is the other with another value: of the same subject and period, or else the same sentence."""
    mine, theirs = _read(line), _read(other)
    if mine.prose or theirs.prose:
        return mine.prose == theirs.prose and bool(mine.stems) and mine.stems == theirs.stems
    return mine.subject == theirs.subject and mine.spans == theirs.spans


def has_amounts(line: str, other: str) -> bool:
    """Whether the amounts of a line are among the other's, as far as the coarser one is written."""
    return all(any(same_amount(one, theirs) for theirs in _read(other).amounts) for one in _read(line).amounts)


def newest_year(line: str) -> int:
    """The last year that a line names, 0 if none."""
    return max((span.end[0] for span in periods(without_marks(line))), default=0)


def _says(other: _Said, old: _Said) -> bool:
    if old.sides and (other.sides < old.sides or not old.cited <= other.cited):
        return False  # one side of a contradiction is no heir of both
    exact = all(any(_equal(one, theirs) for theirs in other.amounts) for one in old.amounts)
    if not exact or not old.spans <= other.spans or not old.codes <= other.codes:
        return False
    if not old.turns <= other.turns or (0 in other.turns) != (0 in old.turns):
        return False
    if old.prose:
        wanted = PROSE_SHARE if old.amounts else WORDY_SHARE
        return _share(old.stems, other.stems) >= wanted or (bool(old.amounts) and _translated(old, other))
    needed = old.subject if old.amounts else old.stems
    return needed <= other.stems or _translated(old, other)


def _equal(one: Quantity, other: Quantity) -> bool:
    if one.unit and other.unit and one.unit != other.unit:
        one, other = converted(one), converted(other)
        return one.unit == other.unit and one.value == other.value
    return one.value == other.value


def _covered(needed: frozenset[str], other: _Said) -> bool:
    """Whether the other line has these stems, but for those that it says in another script."""
    missing = needed - other.stems
    return not missing or _in_another_script(missing, other.stems - needed)


def _translated(old: _Said, other: _Said) -> bool:
    """The old line with its labels in another language: the source is the same, and so is an amount or the value."""
    if not old.cited & other.cited:
        return False
    needed = old.subject if old.amounts else old.stems
    return bool(old.amounts or old.value <= other.stems) and _covered(needed, other)


def _in_another_script(missing: frozenset[str], new: frozenset[str]) -> bool:
    return bool(new) and not {_script(stem) for stem in missing} & {_script(stem) for stem in new}


def _script(stem: str) -> str:
    char = stem[0]
    return "han" if char >= "\u2e80" else "cyrillic" if "\u0400" <= char <= "\u052f" else "latin"


def _share(mine: frozenset[str], theirs: frozenset[str]) -> float:
    return len(mine & theirs) / len(mine) if mine else 1.0
