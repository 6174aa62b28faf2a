"""The values that pass between modules: what the files say, what a role gets, what it replies.

The small ones are named tuples: making a frozen dataclass takes 0.5 ms at every start, a named tuple 0.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from decimal import Decimal


class Role(StrEnum):
    PLANNER = "planner"
    SYNTHESIZER = "synthesizer"
    CHECKER = "checker"


class Problem(NamedTuple):
    """Something in a file that was not understood; it is reported and left untouched."""

    file: str
    line: int
    what: str
    hint: str


class FrontMatter(NamedTuple):
    """The keys between two `---` lines, each with its text as it stands in the file.

    A rewrite replaces only the blocks it sets: what is unknown survives. Lines before the first key have the key "".
    """

    blocks: tuple[tuple[str, str], ...] = ()


class Grid(NamedTuple):
    """The cells a question asks for: entities are rows, fields are columns. Either may be empty."""

    entities: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.entities and self.fields)


NO_FRONT, NO_GRID = FrontMatter(), Grid()


@dataclass(frozen=True)
class Question:
    """question.md: `text` without front matter and Directions."""

    text: str
    directions: tuple[str, ...] = ()
    front: FrontMatter = NO_FRONT
    grid: Grid = NO_GRID
    ready_when: str = ""
    problems: tuple[Problem, ...] = field(default=(), compare=False)


class SectionKind(StrEnum):
    CONFIRMED = "confirmed"
    CONTRADICTIONS = "contradictions"
    NOT_FOUND = "not_found"
    SEARCHES = "searches"
    SOURCES = "sources"
    STRUCK = "struck"
    OTHER = "other"


class Section(NamedTuple):
    """One `## title` with its lines as they stand in the file (no line ends, blank lines included)."""

    kind: SectionKind
    title: str
    lines: tuple[str, ...] = ()


class SearchLine(NamedTuple):
    """One line of Searches. `outcome` is `found`, `empty`, `blocked`, `pasted`, `skipped` or as written."""

    round: int
    query: str
    outcome: str
    note: str = ""  # everything behind the outcome, e.g. "5 sources, +3 facts, 6 gaps"
    new_facts: int | None = None
    gaps: int | None = None


class SourceLine(NamedTuple):
    """One line of Sources: `id` is `N.k`."""

    id: str
    date: str
    title: str
    url: str


class Reading(NamedTuple):
    """How far a raw that is folded in parts was read: `done` of `total` characters of raw_`number`."""

    number: int
    done: int
    total: int


class Unread(NamedTuple):
    """A part of raw_`number` whose replies stayed defective: the characters from `start` up to `end`."""

    number: int
    start: int
    end: int


@dataclass(frozen=True)
class Summary:
    """summary.md: the memory. `round` raws are folded in; `spent` search rounds are used."""

    round: int = 0
    spent: int = 0
    checked: int | None = None  # the round at which the self-check named what is missing
    reopened: int = 0  # rounds and stall count from here
    reading: Reading | None = None  # of raw_{round + 1}, while its fold is under way
    unread: tuple[Unread, ...] = ()
    fingerprint: str = ""
    intro: tuple[str, ...] = ()  # lines before the first section
    sections: tuple[Section, ...] = ()
    front: FrontMatter = NO_FRONT
    problems: tuple[Problem, ...] = field(default=(), compare=False)


@dataclass(frozen=True)
class NextQuery:
    """next_query.txt: the queries (or `answer(…)`, or `ask(…)`) with the reasoning above them."""

    round: int | None = None
    reasoning: tuple[str, ...] = ()
    queries: tuple[str, ...] = ()
    answer: str | None = None
    ask: str | None = None
    directions: int | None = None  # how many Directions there were when `ask(…)` was written
    problems: tuple[Problem, ...] = field(default=(), compare=False)


class QueryRecord(NamedTuple):
    query: str
    provider: str
    outcome: str  # found | empty | blocked | pasted | skipped


class Attempt(NamedTuple):
    provider: str
    error: str


class Source(NamedTuple):
    """One document of a raw: `text` is Markdown with headings demoted; `date` is ISO or empty."""

    title: str
    text: str
    url: str = ""
    date: str = ""
    origin: str = "provider"  # fetched | provider | recorded | digest | pasted
    extra: tuple[tuple[str, str], ...] = ()  # further `- key: value` lines, e.g. ("date_from", "file name")


class RawHead(NamedTuple):
    """The front matter of a raw: all that deciding whose turn it is needs. `kind` None: a bare file."""

    kind: str | None
    queries: tuple[QueryRecord, ...] = ()
    rationale: str = ""
    retrieved: str = ""
    attempts: tuple[Attempt, ...] = ()
    front: FrontMatter = NO_FRONT


@dataclass(frozen=True)
class Raw:
    """`first`: the number of its first source; above 1 in a part of a raw that is read in parts."""

    head: RawHead
    sources: tuple[Source, ...] = ()
    first: int = 1
    problems: tuple[Problem, ...] = field(default=(), compare=False)


@dataclass(frozen=True)
class Answer:
    """answer.md.

    `status`: draft | complete | partial; `stopped`: answered | rounds | tokens | minutes | stalled | person.
    """

    text: str
    status: str = "complete"
    stopped: str = "answered"
    round: int = 0
    front: FrontMatter = NO_FRONT
    problems: tuple[Problem, ...] = field(default=(), compare=False)


@dataclass(frozen=True)
class Case:
    """A snapshot of the folder, as far as the turn depends on it."""

    question: Question | None
    summary: Summary
    next_query: NextQuery
    answer: Answer | None
    raws: tuple[int, ...] = ()  # numbers on disk, ascending
    heads: Mapping[int, RawHead] = field(default_factory=dict)  # those that had to be opened


class Defect(NamedTuple):
    """Why a reply cannot be committed. `value` is the offending piece (a query, a line), "" if none."""

    code: str
    what: str
    value: str = ""


class Packet(NamedTuple):
    """What a role gets: one prompt, and the same content as files. Nothing else reaches a role."""

    role: Role
    token: str  # of (summary, round): a reply to another state is not committed
    round: int  # the raw that is folded, or that the query will become
    prompt: str
    files: Mapping[str, str]  # e.g. {"question.md": …, "summary.md": …, "raw_3.md": …}
    writes: tuple[str, ...]  # file names the role may write, e.g. ("next_query.txt", "answer.md")
    language: str = "en"
    today: str = ""  # ISO date
    queries_allowed: int = 1
    must_answer: bool = False
    must_decide: bool = False  # no person is there to be asked
    part: tuple[int, int] | None = None  # the characters of the raw that are read now; None: all of them
    nth: tuple[int, int] | None = None  # which one of how many that part is
    defects: tuple[Defect, ...] = ()  # of the reply before, in a repair turn
    totals: bool = False  # its raw is one part of several: sums and counts of this part are wanted under Totals


class Reply(NamedTuple):
    """What came back: one text, or the permitted files that changed. Token counts are None if unknown."""

    text: str
    files: Mapping[str, str] = MappingProxyType({})
    tokens_in: int | None = None
    tokens_out: int | None = None
    notes: tuple[str, ...] = ()  # e.g. changes outside the permitted files that were discarded
    cost: float | None = None  # USD, where the agent says it


class Decision(NamedTuple):
    """A Planner's reply, parsed: exactly one of queries, answer and ask is there."""

    think: str = ""
    queries: tuple[str, ...] = ()
    answer: str | None = None
    ask: str | None = None


class Removal(NamedTuple):
    """One line under `Removed:`: the fact (or a part of it) and the reason as written."""

    fact: str
    reason: str


class Total(NamedTuple):
    """A sum or a count over one part of a raw, or over all of them; `value` is exact, `unit` as written or ""."""

    name: str
    field: str
    value: Decimal
    unit: str = ""


class Rewrite(NamedTuple):
    """A Synthesizer's reply, parsed: the sections a role may write, or why nothing was new."""

    think: str = ""
    sections: tuple[Section, ...] = ()
    removed: tuple[Removal, ...] = ()
    nothing_new: str | None = None
    totals: tuple[Total, ...] = ()  # of this part alone; they are added by code


class Verdict(NamedTuple):
    """A Checker's reply, parsed."""

    complete: bool
    missing: tuple[str, ...] = ()
