"""The doors to the outside: each has fakes in the tests and real implementations at the edges."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple, Protocol

from harness.model import Packet, Reply, Source


class Agent(Protocol):
    """Whoever takes a role. No state survives a call."""

    @property
    def name(self) -> str: ...

    @property
    def window(self) -> int | None:
        """Tokens it can read in one packet; None: no limit."""
        ...

    def take(self, packet: Packet) -> Reply:
        """One packet in, one reply out. Raises AgentUnreachable or AgentFailed."""
        ...


class Usage(NamedTuple):
    """What a search by a model took; `cost` in USD, None where it is not said."""

    tokens_in: int
    tokens_out: int
    cost: float | None = None


@dataclass(frozen=True)
class SearchResult:
    """What one provider said to one query: three different outcomes, never an error as a document."""

    outcome: Literal["found", "empty", "blocked"]
    sources: tuple[Source, ...] = ()
    error: str = ""  # why it was blocked, e.g. "HTTP 429"
    notes: tuple[str, ...] = ()  # notices for the user, e.g. "3 PDF files left out: …"
    usage: Usage | None = None


class Search(Protocol):
    """A search provider. Thread-safe: the queries of one round run side by side."""

    @property
    def name(self) -> str: ...

    def search(self, query: str) -> SearchResult:
        """Never raises for what a provider may do: that is a `blocked` result."""
        ...


class CountTokens(Protocol):
    def __call__(self, text: str) -> int: ...


class Clock(Protocol):
    def now(self) -> datetime:
        """Time-zone aware, UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds."""
        ...
