"""What became of each fact of a summary in the next one: nothing may vanish without a reason that code can verify."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from harness.facts import citations, without_marks
from harness.model import Removal
from harness.patterns import lazy
from harness.quantities import Quantity, quantities, same_amount
from harness.words import bag, content_stems

SAME_SHARE = 0.5  # of a line's content words; below it another line is another fact
REMOVALS = 3  # a pass may remove so many facts with reasons, or a tenth of them: more is a rewrite of the memory
REMOVALS_SHARE = 10
_VALUE = lazy(r"\s(?:[—–―]|-{1,2})\s")
_NUMBER = lazy(r"^\W*\d")
_REASONS = (
    ("superseded", lazy(r"supersed|outdated|replaced by|замен|устар|取代|替换|更新", re.IGNORECASE)),
    ("duplicate", lazy(r"duplicate|same as|повтор|дубл|重复", re.IGNORECASE)),
    ("merged", lazy(r"merged|folded into|слит|объедин|合并", re.IGNORECASE)),
    ("wrong-citation", lazy(r"wrong (?:citation|source)|not in (?:the )?source|неверн\w+ (?:ссылк|источник)|нет в источ"
                            r"|ошибочн\w+ (?:ссылк|источник)|引用错误|错误引用|错误的引用", re.IGNORECASE)),
)  # fmt: skip


class Fate(StrEnum):
    KEPT = "kept"
    REWORDED = "reworded"
    MOVED = "moved"  # to another section
    MERGED = "merged"  # one new line says several old ones
    CHANGED = "changed"  # the line is there, and says another number
    REMOVED = "removed"  # with a reason that holds
    LOST = "lost"


class Fated(NamedTuple):
    """One old line, what became of it, and the new line or the reason that tells so ("" for a lost one)."""

    line: str
    fate: Fate
    now: str = ""


class Lines(NamedTuple):
    """The fact lines of one section, without bullets."""

    section: str
    lines: tuple[str, ...]


Grounded = Callable[[str], bool | None]  # whether a line's numbers stand in what it cites; None: cannot be looked up


def fates(
    old: Sequence[Lines], new: Sequence[Lines], removed: Sequence[Removal], grounded: Grounded
) -> tuple[Fated, ...]:
    """What became of every old line, in order. A removal without a reason that holds removes nothing."""
    where = {line: section.section for section in reversed(new) for line in section.lines}
    pairs = [(line, section.section) for section in old for line in section.lines]
    said_by = {line: "" if line in where else _said_by(line, where) for line, _ in pairs}
    told = Counter(said_by.values())
    fresh = [line for line in where if line not in said_by]
    found = []
    for line, section in pairs:
        now = said_by[line]
        if line in where:
            found.append(Fated(line, Fate.KEPT if where[line] == section else Fate.MOVED, line))
        elif now:
            found.append(Fated(line, Fate.MERGED if told[now] > 1 else Fate.REWORDED, now))
        elif removal := next((one for one in removed if _names(one.fact, line)), None):
            holds = reason_holds(line, removal.reason, tuple(where), grounded)
            found.append(Fated(line, Fate.REMOVED if holds else Fate.LOST, removal.reason))
        else:
            changed = next((other for other in fresh if _only_numbers_differ(line, other)), "")
            found.append(Fated(line, Fate.CHANGED if changed else Fate.LOST, changed))
    return tuple(found)


def removals_allowed(facts: int) -> int:
    return max(REMOVALS, facts // REMOVALS_SHARE)


def survives(old: str, lines: Iterable[str]) -> bool:
    """Whether one of the lines says what the old one said."""
    return bool(_said_by(old, lines))


def reason_holds(line: str, reason: str, new: Sequence[str], grounded: Grounded) -> bool:
    """Whether the reason for a removal is true of the new lines (design.md, section 4: fact loss).

    superseded by [N.k]: a new line about the same cites it. duplicate of, merged into: a new line has its numbers,
    as far as they are written. wrong citation: what it cites was read, and does not have its numbers.
    """
    kind = next((name for name, pattern in _REASONS if pattern.search(reason)), "")
    if kind == "superseded":
        by = set(citations(reason) or re.findall(r"\d+\.\d+", reason))
        return any(by & set(citations(other)) and _about_the_same(line, other) for other in new)
    if kind in ("duplicate", "merged"):
        amounts = _amounts(line)
        return any(_covers(_amounts(other), amounts, exact=False) and _about_the_same(line, other) for other in new)
    return kind == "wrong-citation" and grounded(line) is False


def _names(said: str, line: str) -> bool:
    """Whether an entry under Removed means this line: it repeats it, or at least half of it."""
    bare, fact = without_marks(said).casefold(), without_marks(line).casefold()
    return bool(bare) and (fact in bare or (bare in fact and 2 * len(bare) >= len(fact)) or survives(line, (said,)))


def _said_by(old: str, lines: Iterable[str]) -> str:
    """The first line that says all that the old one said, "" if none does: all its numbers and most of its words.

    A line in other words (a translation of its labels) says it where it has its numbers, or the words of its value,
    and cites a source of its own.
    """
    amounts, stems, cited = _amounts(old), bag(without_marks(old)), frozenset(citations(old))
    value = _value_stems(old)
    for other in lines:
        if not _covers(_amounts(other), amounts, exact=True):
            continue
        theirs = bag(without_marks(other))
        if len(stems & theirs) >= SAME_SHARE * len(stems):
            return other
        same_source = cited & frozenset(citations(other))
        measured = any(amount.unit != "year" for amount in amounts)
        if same_source and (measured or (value and value <= theirs)):
            return other
    return ""


def _about_the_same(line: str, other: str) -> bool:
    """Whether two lines speak of the same: most of the words before the value, numbers aside."""
    mine, theirs = _subject_stems(line), bag(without_marks(other))
    return len(mine & theirs) >= SAME_SHARE * len(mine)


def _only_numbers_differ(line: str, other: str) -> bool:
    """Whether one line is the other with another value: their subjects agree, and so do the words of their values."""
    words, others = _words_without_numbers(line), _words_without_numbers(other)
    head, value = _parts(line)
    return bool(words) and words == others and (head == value or head.split() == _parts(other)[0].split())


def _words_without_numbers(line: str) -> frozenset[str]:
    return frozenset(word for word in bag(without_marks(line)) if not word[0].isdigit())


@lru_cache(maxsize=8_192)
def _amounts(line: str) -> tuple[Quantity, ...]:
    return quantities(without_marks(line))


def _covers(theirs: Sequence[Quantity], mine: Sequence[Quantity], *, exact: bool) -> bool:
    """Whether each amount is among the others; exact: to the last digit, else as far as the coarser one is written."""
    return all(any(_same(one, other, exact=exact) for other in theirs) for one in mine)


def _same(one: Quantity, other: Quantity, *, exact: bool) -> bool:
    if exact:
        return one.value == other.value and (one.unit == other.unit or not one.unit or not other.unit)
    return same_amount(one, other)


def _parts(line: str) -> tuple[str, str]:
    """What stands before and behind the first dash; a line without one is all subject and all value."""
    bare = without_marks(line)
    dash = _VALUE.search(bare)
    return (bare[: dash.start()], bare[dash.end() :]) if dash else (bare, bare)


def _subject_stems(line: str) -> frozenset[str]:
    return frozenset(stem for stem in content_stems(_parts(line)[0]) if not _NUMBER.match(stem))


def _value_stems(line: str) -> frozenset[str]:
    return frozenset(content_stems(_parts(line)[1]))
