"""A person searches: they paste what they found as raw_N.md, and the round goes on from there."""

from __future__ import annotations

from pathlib import Path

from harness.errors import WaitingForPerson
from harness.plan import next_number
from harness.ports import SearchResult
from harness.store.snapshot import take


class PersonSearch:
    """The last rung of a ladder: it hands the query to whoever sits there."""

    name = "person"

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def search(self, query: str) -> SearchResult:
        """Always raises WaitingForPerson: the result comes as a file, not as a return value."""
        name = f"raw_{next_number(take(self.folder).case)}.md" if self.folder.is_dir() else "raw_1.md"
        hint = f"paste what you find as {name} in {self.folder} (any text), then: harness run"
        raise WaitingForPerson("a search is due from you", query, hint)
