"""What `git diff` and `git log -p` show of a summary.md: its facts, one a line, without what the harness adds."""

from __future__ import annotations

from pathlib import Path

from harness.formats.entries import entries_of
from harness.formats.summary import parse_summary
from harness.formats.text import decode
from harness.model import SectionKind
from harness.store.reading import read_bytes

_ADDED = (SectionKind.SEARCHES, SectionKind.SOURCES)  # they change with every round, and say no fact


def facts_of(path: Path) -> str:
    """Each section's title and its entries in their order; wrapped lines are joined. Any text is shown somehow."""
    summary = parse_summary(decode(read_bytes(path) or b"").text)
    lines = [entry.text for entry in entries_of(summary.intro)[0]]
    for section in summary.sections:
        if section.kind not in _ADDED:
            lines += (section.title, *(f"- {entry.text}" for entry in entries_of(section.lines)[0]))
    return "\n".join(lines)
