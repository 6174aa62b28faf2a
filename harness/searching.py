"""The Search step: every due query goes down the ladder of providers until one finds something."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from harness.formats.labels import counted
from harness.formats.text import shortened
from harness.model import Attempt, QueryRecord, Raw, RawHead, Source
from harness.ports import Search, SearchResult
from harness.process import interrupt_all

SIDE_BY_SIDE = 4  # queries of one round at the same time
SKIPPED = "skipped"
QUERY_SHOWN = 60  # characters; what came of it must still fit on the line


class Searched(NamedTuple):
    """What one query brought."""

    record: QueryRecord
    sources: tuple[Source, ...]
    attempts: tuple[Attempt, ...]  # the rungs that were blocked
    notes: tuple[str, ...]


def search_all(queries: Sequence[str], ladder: Sequence[Search], allowed: int) -> tuple[Searched, ...]:
    """The first `allowed` queries side by side; the rest are recorded as skipped. In the order of `queries`."""
    taken = list(queries[:allowed])
    with ThreadPoolExecutor(min(SIDE_BY_SIDE, max(len(taken), 1)), thread_name_prefix="search") as pool:
        try:
            done = list(pool.map(lambda query: climb(query, ladder), taken))
        except KeyboardInterrupt:
            interrupt_all()  # only the main thread is interrupted; the programs of the others would be waited for
            raise
    skipped = [Searched(QueryRecord(query, "", SKIPPED), (), (), ()) for query in queries[allowed:]]
    return (*done, *skipped)


def climb(query: str, ladder: Sequence[Search]) -> Searched:
    """Empty or blocked goes to the next rung; empty beats blocked, since somebody looked."""
    attempts: list[Attempt] = []
    notes: list[str] = []
    empty = ""
    for rung in ladder:
        result = _asked(rung, query)
        notes += result.notes
        if result.outcome == "found":
            return Searched(QueryRecord(query, rung.name, "found"), result.sources, tuple(attempts), tuple(notes))
        if result.outcome == "empty":
            empty = empty or rung.name
        else:
            attempts.append(Attempt(rung.name, result.error or "no reason given"))
    outcome = "empty" if empty else "blocked"
    last = empty or (ladder[-1].name if ladder else "")
    return Searched(QueryRecord(query, last, outcome), (), tuple(attempts), tuple(notes))


def _asked(rung: Search, query: str) -> SearchResult:
    try:
        return rung.search(query)
    except (OSError, ValueError) as error:  # a provider's fault must not end the round of the others
        return SearchResult("blocked", error=f"{type(error).__name__}: {error}")


def as_raw(searched: Sequence[Searched], rationale: str, retrieved: str) -> Raw:
    """One raw of a round: each source once, though several queries found it."""
    sources = dict.fromkeys(source for one in searched for source in one.sources)
    attempts = dict.fromkeys(attempt for one in searched for attempt in one.attempts)
    head = RawHead(
        kind="search",
        queries=tuple(one.record for one in searched),
        rationale=rationale,
        retrieved=retrieved,
        attempts=tuple(attempts),
    )
    return Raw(head, tuple(sources))


def told(searched: Sequence[Searched]) -> str:
    """For the screen: `"query": found (folder)`; several joined by "; "."""
    done = [
        f'"{shortened(one.record.query, QUERY_SHOWN)}": {_outcome(one)}'
        for one in searched
        if one.record.outcome != SKIPPED
    ]
    skipped = len(searched) - len(done)
    return "; ".join([*done, *([f"{skipped} more skipped"] if skipped else [])])


def _outcome(one: Searched) -> str:
    reasons = ", ".join(f"{attempt.provider} blocked: {attempt.error}" for attempt in one.attempts)
    sources = f"{counted(len(one.sources), 'sources', 'en')} from {one.record.provider}"
    found = sources if one.sources else one.record.outcome
    return f"{found} ({reasons})" if reasons else found
