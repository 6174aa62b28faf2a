"""Whose turn it is, from the files alone: a pure function of a snapshot (design.md, section 2)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from harness.facts import NOT_SEARCHED, open_cells
from harness.formats.front import front_value
from harness.formats.summary import folded_searches, lines_of, newest_searches, recorded_queries, search_lines
from harness.model import Answer, Case, Question, SearchLine, SectionKind, Summary

# Three rounds without a new fact and with the same gaps: people reported tools that went on for a
# hundred steps with near-identical queries while nothing changed.
STALL_ROUNDS = 3


class NoQuestion(NamedTuple):
    """question.md is missing or empty."""


class Hole(NamedTuple):
    """raw_`missing` is not there although a later one is, or although it is being read."""

    missing: int


class EmptyQueries(NamedTuple):
    """next_query.txt still holds the `answer(…)` that became answer.md."""


class Done(NamedTuple):
    """answer.md stands. `later` names raws and queries that came after it."""

    later: tuple[str, ...] = ()


class DropDraft(NamedTuple):
    """The draft is superseded: checked already, or something came in after it."""


class Check(NamedTuple):
    """The Checker looks at the draft."""


class Adopt(NamedTuple):
    """raw_`number` was pasted bare: it gets our front matter, recording `queries` as pasted."""

    number: int
    queries: tuple[str, ...]


class Fold(NamedTuple):
    """The Synthesizer folds raw_`number` into the summary."""

    number: int


class TakeAnswer(NamedTuple):
    """`answer(…)` stands in next_query.txt: it becomes answer.md."""

    text: str


class AskPerson(NamedTuple):
    """The Planner asked the person a question that no Direction has answered yet."""

    question: str


class Search(NamedTuple):
    """The due queries are searched and written as raw_`number`."""

    number: int
    queries: tuple[str, ...]


class Ask(NamedTuple):
    """The Planner writes the query for raw_`number`, or the answer; `must_answer` names the limit reached, or ""."""

    number: int
    must_answer: str = ""
    must_decide: bool = False


Action = (
    NoQuestion | Hole | EmptyQueries | Done | DropDraft | Check | Adopt | Fold | TakeAnswer | AskPerson | Search | Ask
)


class Limits(NamedTuple):
    """What the settings allow a case and this run. `used_up` is "tokens", "minutes" or ""."""

    rounds: int = 10
    used_up: str = ""
    unattended: bool = False


def due(case: Case, limits: Limits) -> Action:
    """The first row of the table that applies."""
    next_query, answer = case.next_query, case.answer
    if case.question is None or not case.question.text.strip():
        return NoQuestion()
    if answer and next_query.answer is not None:
        return EmptyQueries()
    above, queries = unfolded(case), due_queries(case)
    if answer and answer.status != "draft":
        return Done(later_than(case))
    if answer:
        superseded = case.summary.checked is not None or above or queries or steered_since(answer, case.question)
        return DropDraft() if superseded else Check()
    if limits.used_up:
        return Ask(next_number(case), must_answer=limits.used_up)
    if above:
        return _due_raw(case, above, queries)
    if case.summary.reading and case.summary.reading.number == case.summary.round + 1:
        return Hole(case.summary.reading.number)
    if next_query.answer is not None:
        return TakeAnswer(next_query.answer)
    if next_query.ask is not None and len(case.question.directions) <= (next_query.directions or 0):
        return Ask(next_number(case), must_decide=True) if limits.unattended else AskPerson(next_query.ask)
    if queries:
        return Search(next_number(case), queries)
    return Ask(next_number(case), must_answer=limit_reached(case, limits.rounds))


def _due_raw(case: Case, above: tuple[int, ...], queries: tuple[str, ...]) -> Action:
    bare = [number for number in above if case.heads[number].kind is None]
    if bare:
        return Adopt(bare[0], queries)
    first = case.summary.round + 1
    return Fold(first) if above[0] == first else Hole(first)


def unfolded(case: Case) -> tuple[int, ...]:
    return tuple(number for number in case.raws if number > case.summary.round)


def last_number(case: Case) -> int:
    """The larger of the last raw and `round`: raws may have been pruned."""
    return max(case.summary.round, *case.raws[-1:], 0)


def next_number(case: Case) -> int:
    return last_number(case) + 1


def steered_since(answer: Answer, question: Question) -> bool:
    """Whether a Direction came after the draft: it was written without it."""
    seen = front_value(answer.front, "directions") or ""
    return seen.isdigit() and len(question.directions) > int(seen)


def due_queries(case: Case) -> tuple[str, ...]:
    """The queries of next_query.txt that neither a raw from their own round on nor Searches records.

    A query repeated on purpose after it failed is due again, since only its own round counts.
    """
    if not case.next_query.queries:
        return ()
    start = case.next_query.round
    if start is None:
        start = own_round(case)
    known = set(recorded_queries(case.summary, start))
    known |= {record.query for number, head in case.heads.items() if number >= start for record in head.queries}
    return tuple(query for query in case.next_query.queries if query not in known)


def own_round(case: Case) -> int:
    """The round from which records count for a file without `# round:`: the newest search's.

    Further back over rounds that searched nothing but this file's queries: of `a` and `b`, where a person added `b`
    after `a` was searched, the search for `b` must not make `a` due again. Without any search, the last raw's number.
    """
    recorded: dict[int, set[str]] = {}
    for line in folded_searches(case.summary):
        recorded.setdefault(line.round, set()).add(line.query)
    for number, head in case.heads.items():
        if head.kind == "search":
            recorded.setdefault(number, set()).update(record.query for record in head.queries)
    ours = set(case.next_query.queries)
    start = max(recorded, default=last_number(case))
    for number in sorted(recorded, reverse=True):
        start = number
        if not recorded[number] <= ours:
            break
    return start


def later_than(case: Case) -> tuple[str, ...]:
    """What came in after the answer that stands, for `status` to name."""
    raws = tuple(f"raw_{number}.md" for number in unfolded(case))
    return raws + tuple(f'query "{query}"' for query in due_queries(case))


def open_cells_of(case: Case) -> tuple[tuple[str, str], ...]:
    """The cells of entities × fields without a cited figure, in row order."""
    if not case.question or not case.question.grid:
        return ()
    return open_cells(lines_of(case.summary, SectionKind.CONFIRMED), case.question.grid)


def rounds_used(case: Case) -> int:
    """Search rounds since the case began or was reopened; notes do not count."""
    summary = case.summary
    if not summary.reopened:
        return summary.spent
    return len({line.round for line in search_lines(summary) if line.round > summary.reopened})


def limit_reached(case: Case, rounds: int) -> str:
    """ "rounds", "stalled" or "" if the Planner may go on."""
    if rounds_used(case) >= rounds:
        return "rounds"
    return "stalled" if stalled(case) else ""


def stalled(case: Case) -> bool:
    """No new fact and the same gaps for STALL_ROUNDS rounds, unless Directions changed since the last fold."""
    if case.question and len(case.question.directions) > seen_directions(case.summary):
        return False
    last = last_rounds(newest_searches(case.summary), STALL_ROUNDS, after=case.summary.reopened)
    return (
        len(last) == STALL_ROUNDS
        and all(line.new_facts == 0 for line in last)
        and len({line.gaps for line in last}) == 1
    )


def last_rounds(searches: Iterable[SearchLine], count: int, *, after: int = 0) -> list[SearchLine]:
    """The closing lines (with the counts) of the last rounds that searched; both newest first.

    A round in which everything was blocked or skipped brought nothing because nobody looked: it does not count.
    """
    closing: dict[int, SearchLine] = {}
    looked: list[int] = []
    for line in searches:
        if line.round <= after:
            continue
        if line.round not in closing and len(looked) == count:
            break
        closing.setdefault(line.round, line)
        if line.outcome not in NOT_SEARCHED - {"pasted"} and line.round not in looked:
            looked.append(line.round)
    return [closing[number] for number in looked[:count]]


def seen_directions(summary: Summary) -> int:
    """How many Directions there were at the last fold."""
    text = front_value(summary.front, "directions") or ""
    return int(text) if text.isdigit() else 0


@lru_cache(maxsize=2)  # the Planner's turn and the Synthesizer's of a round are in the same state
def state_token(summary_text: str, number: int) -> str:
    """Names the state a reply belongs to: 12 hex digits over summary.md and the round's number."""
    state = hashlib.sha256(f"{number}\n".encode())
    state.update(summary_text.encode())
    return state.hexdigest()[:12]
