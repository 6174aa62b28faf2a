"""The difference between two texts, line by line, as a trace line holds it: old versions are replayed from it."""

from __future__ import annotations

from difflib import SequenceMatcher
from itertools import takewhile
from operator import eq

Delta = list[list[object]]
"""`[first, end, lines]`: the lines from `first` up to `end` of the old text became these. In order, none overlap."""


def delta(old: str, new: str) -> Delta:
    """`patched(old, delta(old, new)) == new`."""
    before, after = old.split("\n"), new.split("\n")
    same = _same(before, after)  # most of the text, in most rewrites: to compare it any closer would take long
    alike = min(_same(before[::-1], after[::-1]), len(before) - same, len(after) - same)
    old_lines, new_lines = before[same : len(before) - alike], after[same : len(after) - alike]
    found = SequenceMatcher(None, old_lines, new_lines, autojunk=False).get_opcodes()
    return [[i + same, j + same, new_lines[k:m]] for tag, i, j, k, m in found if tag != "equal"]


def patched(old: str, changes: object) -> str:
    """The new text. Raises ValueError for what is no delta of this text."""
    lines = old.split("\n")
    if not isinstance(changes, list):
        raise ValueError("no list of changes")
    end = len(lines)
    for change in reversed(changes):
        match change:
            case [int(first), int(last), [*new]] if 0 <= first <= last <= end and all(isinstance(x, str) for x in new):
                lines[first:last] = new
                end = first
            case _:
                raise ValueError(f"no change of this text: {change}")
    return "\n".join(lines)


def _same(one: list[str], other: list[str]) -> int:
    """Lines that both begin with."""
    return sum(takewhile(bool, map(eq, one, other)))
