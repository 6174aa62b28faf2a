"""The versions of summary.md: each trace line that wrote it holds what changed, and so they can be replayed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from typing import NamedTuple

from harness.deltas import delta, patched

VERSION = "version"
"""The key of a trace line that tells which text of summary.md stood after it: its fingerprint."""
OVER = "over"
"""The key for the fingerprint of the text that was written over, where the trace did not know it."""
_BASE, _DELTA = "base", "delta"


class Version(NamedTuple):
    """summary.md as it stood once. `record` is the trace line that tells of it; `rev` a commit of git, else ""."""

    text: str
    at: str = ""  # ISO time, "" if unknown
    by: str = ""  # e.g. "synthesizer (claude)", "person", an author of git
    record: Mapping[str, object] = {}
    rev: str = ""


def fingerprint(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def version_record(old: str, new: str, known: str) -> dict[str, object]:
    """The part of a trace line that the new text can be replayed from. `known`: the newest version in the trace.

    Where that is not the old text (the trace was deleted, or somebody wrote without it), all of the new one is held.
    """
    base = fingerprint(old)
    told = {VERSION: fingerprint(new)}
    if base != known:
        return {**told, _BASE: "", OVER: base, _DELTA: delta("", new)}
    return {**told, _BASE: base, _DELTA: delta(old, new)}


def replay(records: Iterable[Mapping[str, object]]) -> Iterator[Version]:
    """The versions that the trace lines tell of, oldest first; one that cannot be made from them is left out."""
    text, known = "", ""
    for record in records:
        if not isinstance(record.get(VERSION), str):
            continue
        base = record.get(_BASE)
        try:
            if base not in ("", known):
                raise ValueError("another text stood before it")
            text = patched(text if base else "", record.get(_DELTA))
            if fingerprint(text) != record[VERSION]:
                raise ValueError("not what was written")
        except ValueError:
            text, known = "", ""
            continue
        known = str(record[VERSION])
        yield Version(text, str(record.get("at", "")), by_whom(record), record)


def by_whom(record: Mapping[str, object]) -> str:
    """Who wrote, as people read it: the role and, behind it, the agent that took it."""
    role, agent = str(record.get("role", "")), str(record.get("agent", ""))
    return f"{role} ({agent})" if agent else role
