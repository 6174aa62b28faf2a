"""A person searches: they paste what they found as raw_N.md, and the round goes on from there."""

from __future__ import annotations

from pathlib import Path

from harness.errors import WaitingForPerson
from harness.ports import SearchResult


class PersonSearch:
    """The last rung of a ladder: it hands the query to whoever sits there."""

    name = "person"

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def search(self, query: str) -> SearchResult:
        """Always raises WaitingForPerson: the result comes as a file, not as a return value."""
        hint = f"paste what you find as the next raw_N.md in {self.folder} (any text), then: harness run"
        raise WaitingForPerson("a search is due from you", query, hint)
