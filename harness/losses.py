"""What became of each fact of a summary in the next one: nothing may vanish without a reason that code can verify."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import NamedTuple

from harness.facts import citations, without_marks
from harness.heirs import about_the_same, has_amounts, heir_of, newest_year, only_value_differs, survives
from harness.model import Removal
from harness.patterns import lazy

REMOVALS = 3  # a pass may remove so many facts with reasons, or a tenth of them: more is a rewrite of the memory
REMOVALS_SHARE = 10
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
    before = {line for line, _ in pairs}
    heirs = {line: "" if line in where else heir_of(line, where) for line in before}
    told = Counter(heirs.values())
    fresh = [line for line in where if line not in before]
    found = []
    for line, section in pairs:
        now = heirs[line]
        if line in where:
            found.append(Fated(line, Fate.KEPT if where[line] == section else Fate.MOVED, line))
        elif now:
            found.append(Fated(line, Fate.MERGED if told[now] > 1 else Fate.REWORDED, now))
        elif removal := next((one for one in removed if means(one.fact, line)), None):
            holds = reason_holds(line, removal.reason, tuple(where), fresh, grounded)
            found.append(Fated(line, Fate.REMOVED if holds else Fate.LOST, removal.reason))
        else:
            changed = next((other for other in fresh if only_value_differs(line, other)), "")
            found.append(Fated(line, Fate.CHANGED if changed else Fate.LOST, changed))
    return tuple(found)


def removals_allowed(facts: int) -> int:
    return max(REMOVALS, facts // REMOVALS_SHARE)


def reason_holds(line: str, reason: str, new: Sequence[str], fresh: Sequence[str], grounded: Grounded) -> bool:
    """Whether the reason for a removal is true (design.md, section 4: fact loss). `fresh`: those of the new lines that
    are not old ones.

    superseded by [N.k]: a fresh line about the same cites it, which the old one did not, and is of no earlier year.
    duplicate of, merged into: a new line about the same has its numbers, as far as they are written. wrong citation:
    what it cites was read, and does not have its numbers.
    """
    kind = next((name for name, pattern in _REASONS if pattern.search(reason)), "")
    if kind == "superseded":
        by = {*citations(reason), *re.findall(r"\d+\.\d+", reason)} - set(citations(line))
        return any(by & set(citations(one)) and _is_newer(one, line) and about_the_same(line, one) for one in fresh)
    if kind in ("duplicate", "merged"):
        return any(has_amounts(line, other) and about_the_same(line, other) for other in new)
    return kind == "wrong-citation" and grounded(line) is False


def _is_newer(one: str, line: str) -> bool:
    return newest_year(one) >= newest_year(line)


def means(said: str, line: str) -> bool:
    """Whether an entry under Removed means this line: it repeats it, or says the same."""
    return repeats(said, line) or (bool(without_marks(said)) and survives(line, (said,)))


def repeats(said: str, line: str) -> bool:
    """Whether an entry under Removed has the words of a line, or at least half of it."""
    bare, fact = without_marks(said).casefold(), without_marks(line).casefold()
    return bool(bare) and (fact in bare or (bare in fact and 2 * len(bare) >= len(fact)))
