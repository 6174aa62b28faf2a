"""How far a raw was read, as summary.md says it: `reading: raw_3 48213/190000` and `unread: [3 48213-96120]`."""

from __future__ import annotations

from collections.abc import Iterator

from harness.formats.front import front_list, front_value, line_of
from harness.model import FrontMatter, Problem, Reading, Unread
from harness.patterns import lazy

_READING = lazy(r"raw_(\d{1,9})(?:\.md)? (\d{1,15})/(\d{1,15})")
_UNREAD = lazy(r"(\d{1,9}) (\d{1,15})-(\d{1,15})")


def read_reading(front: FrontMatter) -> Reading | None:
    """None also for what cannot be: the raw is then read from its start, and no text is missed."""
    return _reading(front_value(front, "reading") or "")


def read_unread(front: FrontMatter) -> tuple[Unread, ...]:
    return tuple(filter(None, map(_unread, front_list(front, "unread") or ())))


def render_reading(reading: Reading) -> str:
    return f"raw_{reading.number} {reading.done}/{reading.total}"


def render_unread(part: Unread) -> str:
    return f"{part.number} {part.start}-{part.end}"


def reading_problems(front: FrontMatter, file: str) -> Iterator[Problem]:
    """What the two keys say and nobody understands."""
    told = "Write it like `{}`, or remove it."
    value = front_value(front, "reading")
    if value and not _reading(value):
        hint = told.format("reading: raw_3 48213/190000")
        yield Problem(file, line_of(front, "reading"), f"`reading` is not understood: {value[:60]}", hint)
    for item in front_list(front, "unread") or ():
        if not _unread(item):
            hint = told.format("unread: [3 48213-96120]")
            yield Problem(file, line_of(front, "unread"), f"`unread` is not understood: {item[:60]}", hint)


def _reading(value: str) -> Reading | None:
    found = _READING.fullmatch(value.strip())
    reading = Reading(*map(int, found.groups())) if found else None
    return reading if reading and 0 < reading.done < reading.total else None


def _unread(value: str) -> Unread | None:
    found = _UNREAD.fullmatch(value)
    part = Unread(*map(int, found.groups())) if found else None
    return part if part and part.start < part.end else None
