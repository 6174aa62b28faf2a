"""What an index knows of each file, written last and atomically: without it the index starts over."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from harness.search.scan import Found

VERSION = 5  # of the fields below, the readers and the cutting: another one means a new index
MANIFEST = "manifest.json"
COMMITTING = "committing"  # there from before a commit until the manifest that belongs to it is written


class Entry(NamedTuple):
    """What is known of a file. `digest` "" means that its bytes were never read, so it is tried again."""

    size: int
    mtime_ns: int
    digest: str
    fault: str = ""  # why it is left out, or "" if it is in the index
    detail: str = ""
    hint: str = ""
    needs: str = ""  # the library that was missing
    notes: tuple[str, ...] = ()  # what is missing from its text


def is_known(entry: Entry | None, found: Found) -> bool:
    if entry is None or not entry.digest or (entry.size, entry.mtime_ns) != (found.size, found.mtime_ns):
        return False
    return not entry.needs or find_spec(entry.needs) is None


def read_manifest(place: Path) -> dict[str, Entry] | None:
    """The entries of the last build; None if there is none, of another version, or torn between commit and manifest."""
    try:
        if (place / COMMITTING).exists():
            return None
        kept = json.loads((place / MANIFEST).read_text(encoding="utf-8"))
        if kept["version"] != VERSION:
            return None
        return {name: Entry(*row)._replace(notes=tuple(row[-1])) for name, row in kept["files"].items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError, IndexError):
        return None


def write_manifest(place: Path, entries: Mapping[str, Entry]) -> None:
    new = place / f".{MANIFEST}.tmp"
    with new.open("w", encoding="utf-8", newline="\n") as file:
        json.dump({"version": VERSION, "files": entries}, file)
        file.flush()
        os.fsync(file.fileno())
    new.replace(place / MANIFEST)
