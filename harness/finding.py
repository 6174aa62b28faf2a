"""A search alone: what the ladder finds for one query, nothing written."""

from __future__ import annotations

from harness.errors import WrongCall
from harness.searching import Searched, climb
from harness.session import Session

SHOWN = 400  # characters of a source on the screen; --json has all of it


def find(session: Session, query: str) -> Searched:
    """Raises WrongCall for a query without words."""
    if not query.strip():
        raise WrongCall("an empty query", "", 'harness find "Samokat revenue 2024"')
    return climb(query, session.crew.ladder)


def render_found(searched: Searched) -> str:
    """One block a source: title, date, address, how it begins."""
    lines = [f"{searched.record.outcome} ({searched.record.provider})"]
    lines += [f"  {attempt.provider} blocked: {attempt.error}" for attempt in searched.attempts]
    for number, source in enumerate(searched.sources, 1):
        begins = " ".join(source.text.split())[:SHOWN]
        lines += ["", f"{number}. {source.title}" + (f" ({source.date})" if source.date else ""), f"   {source.url}"]
        lines.append(f"   {begins}")
    return "\n".join(lines)
