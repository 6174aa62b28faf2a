"""What a report tells, as values: gathered from the files of a case, rendered as HTML, Markdown or JSON."""

from __future__ import annotations

from typing import NamedTuple

from harness.changes import Changes

GENERATOR = "harness report"  # stands near the start of every report, so that the next one may replace it


class Passage(NamedTuple):
    """Where a source bears out facts: the line (or sentence) itself, with what stands around it."""

    facts: tuple[str, ...]
    before: str
    said: str
    after: str


class Cited(NamedTuple):
    """A source that is cited. `url` is http or https, or ""; of a file there is its `name` alone."""

    id: str
    title: str
    date: str
    url: str
    name: str
    passages: tuple[Passage, ...]


class Cell(NamedTuple):
    line: str
    period: str
    value: str


class Moment(NamedTuple):
    """The summary after a round, or after a person's edit. `cells`: row by row, each with its facts."""

    round: int
    kind: str  # "round", "edit" or "reopened"
    at: str
    by: str
    facts: tuple[str, ...]
    contradictions: tuple[str, ...]
    gaps: tuple[str, ...]
    gap_count: int
    changes: Changes
    cells: tuple[tuple[Cell, ...], ...]


class Searched(NamedTuple):
    round: int
    query: str
    outcome: str
    note: str


class Tokens(NamedTuple):
    """Of a round: what its passes took, and what one chat that keeps every raw would have to read in it."""

    round: int
    spent: int
    chat: int


class Report(NamedTuple):
    """`status`: complete, partial, draft, or open where there is no answer. `made`: a day."""

    question: str
    language: str
    status: str
    stopped: str
    round: int
    answer: str
    entities: tuple[str, ...]
    fields: tuple[str, ...]
    moments: tuple[Moment, ...]
    sources: tuple[Cited, ...]
    searches: tuple[Searched, ...]
    tokens: tuple[Tokens, ...]
    notes: tuple[str, ...]
    made: str
