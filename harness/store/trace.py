"""trace.jsonl: one line a pass, chained by sha256. A record: it never decides whose turn it is."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from harness.store.reading import open_regular

TRACE = "trace.jsonl"
TAIL_BYTES = 65_536


class LastLine(NamedTuple):
    text: str
    torn: bool  # the process that wrote it was killed in the middle


def digest(data: bytes | None) -> str:
    """sha256 in hex; "" for None, a file that was removed."""
    return "" if data is None else hashlib.sha256(data).hexdigest()


def last_line(path: Path) -> LastLine:
    """Read from the end, so that a pass costs the same at round 10 and at round 2,000."""
    descriptor = open_regular(path)
    if descriptor is None:
        return LastLine("", torn=False)
    with os.fdopen(descriptor, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        reach = TAIL_BYTES
        while True:
            file.seek(max(0, size - reach))
            tail = file.read()
            if reach >= size or tail.find(b"\n", 0, len(tail) - 1) >= 0:
                break
            reach *= 8  # a line that added hundreds of facts: the chain is over whole lines
    lines = tail.decode("utf-8", errors="replace").split("\n")
    torn = bool(lines[-1])
    return LastLine(lines[-1] if torn else lines[-2] if len(lines) > 1 else "", torn)


def newest(path: Path, key: str) -> object:
    """What the last line that has this key says under it; None if none does. Read from the end."""
    descriptor = open_regular(path)
    if descriptor is None:
        return None
    with os.fdopen(descriptor, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        reach = TAIL_BYTES
        while True:
            file.seek(max(0, size - reach))
            lines = file.read().split(b"\n")
            for line in reversed(lines if reach >= size else lines[1:]):
                if f'"{key}"'.encode() in line and (value := _value(line)) is not None and key in value:
                    return value[key]
            if reach >= size:
                return None
            reach *= 8


def _value(line: bytes | str) -> dict[str, object] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def read_trace(path: Path) -> Iterator[dict[str, object]]:
    """Every line that can be read, oldest first; a torn or foreign line is skipped."""
    descriptor = open_regular(path)
    if descriptor is None:
        return
    with os.fdopen(descriptor, encoding="utf-8", errors="replace") as file:
        for line in file:
            if (value := _value(line)) is not None:
                yield value


def broken_lines(path: Path) -> int:
    """Lines that are no record: torn when a process was killed, or written by something else."""
    descriptor = open_regular(path)
    if descriptor is None:
        return 0
    with os.fdopen(descriptor, encoding="utf-8", errors="replace") as file:
        return sum(bool(line.strip()) and _value(line) is None for line in file)
