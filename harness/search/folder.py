"""Search in a folder of documents on this machine: a port for the loop over the index."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Mapping
from pathlib import Path

from harness.formats.raw import demote
from harness.model import Source
from harness.ports import SearchResult
from harness.search.index import Opened, Progress, open_index
from harness.search.manifest import Entry
from harness.search.ranking import Found, best
from harness.search.scan import scan

DOCUMENTS = 5  # a query: more would push the passages of the best ones out of a role's window
CHARACTERS = 6_000  # a document: four full passages
FRESH_SECONDS = 2.0  # the queries of one round share one look at the folder
FRESH_FACTOR = 20  # … and looking never takes more than a twentieth of the time


class FolderSearch:
    """`ports.Search` over the documents below `root`; the index lives in `cache/index/`, never in the folder."""

    def __init__(
        self,
        root: Path,
        *,
        cache: Path,
        documents: int = DOCUMENTS,
        characters: int = CHARACTERS,
        progress: Progress | None = None,
    ) -> None:
        """`documents` a query, about `characters` each; `progress` is called while files are read into the index."""
        self.root = root
        self.documents = documents
        self.characters = characters
        self._cache = cache
        self._progress = progress
        self._turn = threading.Lock()
        self._opened: Opened | None = None
        self._fresh_until = 0.0
        self._told: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return "folder"

    def search(self, query: str) -> SearchResult:
        """The best passages of the best documents. Blocked if there is no folder or no document in it to search."""
        try:
            opened, notes = self._refreshed()
        except OSError as problem:
            return SearchResult(
                "blocked", error=f"the folder {self.root} cannot be read: {problem.strerror or problem}"
            )
        if all(entry.fault for entry in opened.entries.values()):
            return SearchResult("blocked", error=f"no document to search in {self.root}", notes=notes)
        try:
            found = self._best(opened, query)
        except (ValueError, OSError):
            opened, more = self._refreshed(start_over=True)
            notes = (*notes, "the index was damaged; it was built anew", *more)
            try:
                found = self._best(opened, query)
            except (ValueError, OSError) as problem:
                return SearchResult("blocked", error=f"the index cannot be used: {problem}", notes=notes)
        sources = tuple(_source(one) for one in found)
        return SearchResult("found" if sources else "empty", sources, notes=notes)

    def _best(self, opened: Opened, query: str) -> tuple[Found, ...]:
        return best(opened.index, query, documents=self.documents, characters=self.characters)

    def _refreshed(self, *, start_over: bool = False) -> tuple[Opened, tuple[str, ...]]:
        """The index in step with the folder, and the notes not told before. One thread looks, the others wait."""
        with self._turn:
            now = time.monotonic()
            if self._opened is None or start_over or now >= self._fresh_until:
                files = scan(self.root, besides=(self._cache,)).files
                took = time.monotonic() - now
                self._opened = open_index(self._place(), files, progress=self._progress, start_over=start_over)
                self._fresh_until = time.monotonic() + max(FRESH_SECONDS, FRESH_FACTOR * took)
            notes = (*self._opened.notes, *fault_notes(self._opened.entries))
            new = tuple(note for note in notes if note not in self._told)
            self._told = notes
            return self._opened, new

    def _place(self) -> Path:
        real = str(self.root.resolve()).encode("utf-8", "surrogateescape")
        return self._cache / "index" / hashlib.blake2b(real, digest_size=10).hexdigest()


def fault_notes(entries: Mapping[str, Entry]) -> tuple[str, ...]:
    """One note for each kind of fault: how many files, one example, what to do."""
    kinds: dict[tuple[str, bool], list[str]] = {}
    hints: dict[str, str] = {}
    for name, entry in entries.items():
        for kind, left_out in ((entry.fault, True), *((note, False) for note in entry.notes)):
            if kind:
                detail = f" ({entry.detail})" if entry.detail and not entry.needs else ""
                kinds.setdefault((kind, left_out), []).append(name + detail)
                hints[kind] = entry.hint
    return tuple(
        f"{len(names)} file{'s' if len(names) > 1 else ''} {'left out' if left_out else 'read in part'}: {kind}, "
        f"e.g. {names[0]}{f'; {hints[kind]}' if hints[kind] else ''}"
        for (kind, left_out), names in sorted(kinds.items())
    )


def _source(found: Found) -> Source:
    card = found.card
    # The address is the file that was read. What a page says of its own origin is a claim, and stands as one.
    about = {"says_it_is": card.url, "date_from": card.date_from}
    extra = tuple((key, value) for key, value in about.items() if value)
    return Source(card.title, demote(found.text), card.name, card.date, "fetched", extra)
