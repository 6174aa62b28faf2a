"""The built-in Planner: a query for the first hole in words not tried yet, or nothing when it is time to answer."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from harness.agents.extractive.grid import without_request
from harness.agents.extractive.lexicon import LATEST, TOTAL, wordings
from harness.facts import NOT_SEARCHED, Cell, cells_searched, open_cells, parse_fact
from harness.formats.labels import without_searched_mark
from harness.formats.summary import lines_of, search_lines
from harness.model import Grid, SearchLine, SectionKind, Summary
from harness.periods import newest, periods
from harness.plan import last_rounds
from harness.quantities import is_physical
from harness.words import STOP_WORDS, bag, language_of, stem, words

ENOUGH_SEARCHES = 2  # in different words: then a cell without a value is a proof of absence
ENOUGH_FOR_NEWER = 2  # the first of them found the old value
STALE = 5  # years: a cell whose newest value is older is searched for again
DRY_ROUNDS = 2  # rounds in a row that brought nothing new
FIELDS_A_QUERY = 3  # the fields of one entity stand together in documents, and a row costs one round
LONGEST_QUERY = 200  # characters (design.md, section 4: injected text)
KEY_TERMS = 8


class Plan(NamedTuple):
    """Queries to search for; none means that it is time to answer. `reason` is one line for the trace."""

    queries: tuple[str, ...]
    reason: str


def plan(
    summary: Summary, grid: Grid, question: str, refused: Iterable[str] = (), *, allowed: int = 1, today: str = ""
) -> Plan:
    """What to do next, from the question and the summary alone.

    `refused`: queries of a reply that was not taken; `allowed`: how many queries a round may have; `today`: ISO date.
    """
    searches = search_lines(summary)
    tried = _Tried(searches, refused)
    if grid:
        oldest = int(today[:4]) - STALE if today[:4].isdigit() and not periods(question) else 0
        return _for_cells(summary, grid, searches, tried, allowed, oldest)
    gaps = [without_searched_mark(line) for line in lines_of(summary, SectionKind.NOT_FOUND)]
    if _dry(searches):
        return Plan((), f"the last {DRY_ROUNDS} rounds brought nothing new")
    for text in (*gaps, question):
        query = tried.first(_of_text(text))
        if query:
            return Plan((query,), f"looking for: {' '.join(text.split())[:100]}")
    return Plan((), "every wording was tried")


class _Tried:
    """Queries made before (and those chosen now), compared by their words."""

    def __init__(self, searches: Sequence[SearchLine], refused: Iterable[str]) -> None:
        self.known = {bag(query) for query in (*(line.query for line in searches), *refused)}
        self.blocked = {bag(line.query) for line in searches if line.outcome in NOT_SEARCHED}
        self.blocked -= {bag(line.query) for line in searches if line.outcome not in NOT_SEARCHED}
        self.blocked -= {bag(query) for query in refused}

    def first(self, queries: Iterable[str]) -> str:
        """The first query not tried yet, else the first that no search engine has really seen, else ""."""
        seen = [query for raw in queries if (query := _shortened(raw))]
        fresh = (query for query in seen if bag(query) not in self.known)
        again = (query for query in seen if bag(query) in self.blocked)
        query = next(fresh, "") or next(again, "")
        if query:
            self.known.add(bag(query))
            self.blocked.discard(bag(query))
        return query


def _for_cells(
    summary: Summary, grid: Grid, searches: Sequence[SearchLine], tried: _Tried, allowed: int, oldest: int
) -> Plan:
    confirmed = lines_of(summary, SectionKind.CONFIRMED)
    times = cells_searched(searches, grid)
    # Those never searched for come first: three fruitless rounds in a row end the research.
    open_now = sorted(open_cells(confirmed, grid), key=lambda cell: times[cell])
    due = [cell for cell in open_now if times[cell] < ENOUGH_SEARCHES]
    due += [cell for cell in _stale(confirmed, grid, oldest) if times[cell] < ENOUGH_FOR_NEWER]
    chosen: list[str] = []
    covered: set[Cell] = set()
    for cell in due:
        if len(chosen) == allowed:
            break
        if cell in covered:
            continue
        row = _row(cell, due, grid, times)
        query = tried.first(_of_cell(cell, row, again=times[cell] > 0))
        if query:
            chosen.append(query)
            covered.update(row or [cell])
    if chosen:
        return Plan(tuple(chosen), f"cells to look for: {len(due)}; first: {due[0][0]}: {due[0][1]}")
    if due:
        return Plan((), "every wording for the open cells was tried")
    still_open = len(open_cells(confirmed, grid))
    done = f"{still_open} open cells were searched for {ENOUGH_SEARCHES} times in different words"
    return Plan((), done if still_open else "every cell is filled")


def _row(cell: Cell, due: Sequence[Cell], grid: Grid, times: Mapping[Cell, int]) -> list[Cell]:
    """The cells that one query asks for: those of the entity that no query asked for yet, the due ones first.

    A cell that a source brought which was found for something else goes with them: its own may be newer.
    """
    if times[cell]:
        return []
    own = [other for other in due if other[0] == cell[0]]
    own += [(cell[0], field) for field in grid.fields if (cell[0], field) not in own]
    asked = [other for other in own if not times[other]][:FIELDS_A_QUERY]
    return sorted(asked, key=lambda other: grid.fields.index(other[1]))


def _stale(confirmed: Sequence[str], grid: Grid, oldest: int) -> list[Cell]:
    """Cells whose newest value is of the year `oldest` or before: a newer one may well exist.

    First those of entities of which little is stale: there is a newer source of them, and three fruitless rounds end
    the research.
    """
    newest_of: dict[Cell, int] = {}
    for fact in (parse_fact(line, grid) for line in confirmed):
        named = newest(periods(fact.period))
        if fact.field and named and not is_physical(fact.value):  # mountains do not grow
            newest_of[fact.cell] = max(named.end[0], newest_of.get(fact.cell, 0))
    cells = ((entity, field) for entity in grid.entities for field in grid.fields)
    stale = [cell for cell in cells if newest_of.get(cell, oldest + 1) <= oldest]
    of_entity = Counter(entity for entity, _ in stale)
    return sorted(stale, key=lambda cell: of_entity[cell[0]])


def _of_cell(cell: Cell, row: Sequence[Cell], *, again: bool) -> Iterator[str]:
    """Queries for a cell, best first. Each names entity and field, so that it counts as a search for the cell.

    `again`: the cell was searched for before, so other words come first.
    """
    entity, field = cell
    language = language_of(field)
    if len(row) > 1:
        yield f"{entity} {', '.join(name for _, name in row)}"
    if not again:
        yield f"{entity} {field}"
    yield f"{entity} {field} {TOTAL[language]}"
    for other in wordings(field, language):
        yield f"{field} {entity} {other}"
    yield f"{field} {entity} {LATEST[language]}"
    yield f"{entity} {field}"
    yield f"{entity} {field} {TOTAL[language]} {LATEST[language]}"


def _of_text(text: str) -> Iterator[str]:
    """Queries for a line of Not found or a whole question: its key terms, then fewer, then with `latest`."""
    language = language_of(text)
    terms = key_terms(text)
    if not terms:
        return
    yield " ".join(terms[:KEY_TERMS])
    yield " ".join([*terms[:KEY_TERMS], LATEST[language]])
    yield " ".join(terms[: max(2, len(terms) // 2)])
    for other in (phrase for term in terms for phrase in wordings(term, language)):
        yield " ".join([*terms[:KEY_TERMS], other])
    yield " ".join(reversed(terms[1:]))


def key_terms(text: str) -> list[str]:
    """The words of a text that carry its meaning, as written, each once."""
    found: dict[str, str] = {}
    for match in re.finditer(r"[^\W_]+(?:[.,'’-][^\W_]+)*", without_request(text)):
        said = [word for word in words(match.group()) if word not in STOP_WORDS]
        if said:
            found.setdefault(stem(said[0]), match.group())
    return list(found.values())


def _shortened(query: str) -> str:
    """At most LONGEST_QUERY characters, cut between words, without what a query may not hold (quotes, addresses)."""
    plain = " ".join(re.sub(r"\w+://\S+|[\"«»“”„()\[\]{}<>]", " ", query).split())
    if len(plain) <= LONGEST_QUERY:
        return plain
    return plain[:LONGEST_QUERY].rpartition(" ")[0]


def _dry(searches: Sequence[SearchLine]) -> bool:
    """Whether the last rounds that really searched added no fact."""
    last = last_rounds(reversed(searches), DRY_ROUNDS)
    return len(last) == DRY_ROUNDS and not any(line.new_facts for line in last)
