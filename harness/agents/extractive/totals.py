"""Sums and counts per name over the tables of one part, where the question asks for them."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import cache
from typing import NamedTuple

from harness.agents.extractive.tables import is_rule, markdown_row
from harness.amounts import whole_amount
from harness.formats.labels import TOTALS
from harness.model import Grid, Source, Total
from harness.patterns import lazy
from harness.totals import add, is_exact
from harness.words import HAN, content_stems, fold, language_of, stems

_ASKS = lazy(
    r"\b(?:sums?|totals?|how (?:many|much)|count|number of|add(?:ed)? up|altogether)\b"
    r"|\b(?:сумм\w*|итог\w*|всего|сколько|общ\w+ (?:числ|колич|врем|объ)\w+|количеств\w+|посчита\w*|подсчита\w*"
    r"|сложи\w*)\b"
    r"|总|合计|一共|多少|数量|求和",
    re.IGNORECASE,
)
_COUNTS = lazy(
    r"\b(?:how many|number of|count(?: of)?(?: the)?) (?:rows|entries|records|lines|times)\b"
    r"|\b(?:сколько|количеств\w+|числ\w+) (?:строк|записей|раз)\b|条数|次数|多少(?:条|次|行)",
    re.IGNORECASE,
)
_PER = lazy(
    r"\b(?:per|by|for each|for every|each|every)\s+([^\W\d_]+)|\bкажд\w+\s+([^\W\d_]+)"
    rf"|\b(?:по|на)\s+([а-яё]+)|每(?:个|位|名|家)?([{HAN}]{{1,3}})",
    re.IGNORECASE,
)
_PLAIN = lazy(r"[-+]?\d{1,30}(?:\.\d{1,30})?")
_DECIMAL_COMMA = lazy(r"[-+−]?(?:\d+|\d{1,3}(?:[ \u00a0\u202f.]\d{3})+),(?:\d{1,2}|\d{4,})")
_SUM_ROW = lazy(r"\W*(?:(?:grand |sub)?total|sum|итого|всего|合计|总计|小计)\W*", re.IGNORECASE)
_DELIMITERS = (",", ";", "\t")
MOST_LINES = 200  # of one row: a quote that is open for longer is a stray one
_ENTRIES = {"en": "entries", "ru": "записи", "zh": "条数"}


class Table(NamedTuple):
    """A table of a source: its header, its rows, and the places of all its lines."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    lines: range


class Counted(NamedTuple):
    """What the tables of a part add up to. `rest`: the sources without those tables. `unread`: rows left out."""

    totals: tuple[Total, ...]
    rest: tuple[tuple[str, Source], ...]
    unread: int = 0


def asks(question: str) -> bool:
    """Whether a question is about sums or counts."""
    return bool(_ASKS.search(question))


def count(sources: Sequence[tuple[str, Source]], grid: Grid, question: str) -> Counted:
    """Exact totals for each name in the key column of the tables that fit the question; none where it asks for none.

    The key column has the grid's entities, or the header that the question names behind "per", "each", «по», 每. What
    is added is the column whose header has the words of a field, or of the question; or the rows are counted.
    """
    if not asks(question):
        return Counted((), tuple(sources))
    found: list[tuple[Total, ...]] = []
    rest: list[tuple[str, Source]] = []
    unread = 0
    for id, source in sources:
        lines = source.text.split("\n")
        used: set[int] = set()
        for table in tables(lines):
            if (read := _read(table, grid, question)) is not None:
                found.append(read[0])
                unread += read[1]
                used.update(table.lines)
        text = "\n".join(line for at, line in enumerate(lines) if at not in used)
        rest.append((id, source._replace(text=text) if used else source))
    return Counted(add(found), tuple(rest), unread)


def tables(lines: Sequence[str]) -> Iterator[Table]:
    """The tables in Markdown, CSV and JSON lines; a header that is repeated further down is left out of their rows."""
    at = 0
    while at < len(lines):
        found = _markdown(lines, at) or _records(lines, at) or _separated(lines, at)
        if found is not None:
            yield found
        at = found.lines.stop if found else at + 1


def _markdown(lines: Sequence[str], at: int) -> Table | None:
    if at + 1 >= len(lines) or not is_rule(lines[at + 1]) or (header := markdown_row(lines[at])) is None:
        return None
    rows: list[tuple[str, ...]] = []
    end = at + 2
    while end < len(lines) and lines[end].strip() and (row := markdown_row(lines[end])) is not None:
        if row != header and not is_rule(lines[end]):
            rows.append(tuple(row))
        end += 1
    return Table(tuple(header), tuple(rows), range(at, end))


def _records(lines: Sequence[str], at: int) -> Table | None:
    """JSON lines: flat objects, whose columns are the keys of the first. Numbers stay as they are written."""
    found: list[dict[str, str]] = []
    while at + len(found) < len(lines) and (record := _record(lines[at + len(found)])) is not None:
        found.append(record)
    if not found:
        return None
    header = tuple(found[0])
    rows = tuple(tuple(record.get(key, "") for key in header) for record in found)
    return Table(header, rows, range(at, at + len(found)))


def _record(line: str) -> dict[str, str] | None:
    text = line.strip()
    if not (text.startswith("{") and text.endswith("}")):
        return None
    try:
        value = json.loads(text, parse_float=str, parse_int=str)
    except (ValueError, RecursionError):
        return None
    return {key: item for key, item in value.items() if isinstance(item, str)} or None


def _separated(lines: Sequence[str], at: int) -> Table | None:
    """A header without digits and the rows below it up to a blank line; one of other length stays a row.

    A quoted cell may hold line ends (RFC 4180), blank lines too.
    """
    for mark in _DELIMITERS:
        header = _cells(lines[at], mark) if mark in lines[at] else ()
        if len(header) < 2 or any(not cell or re.search(r"\d", cell) for cell in header):
            continue
        end = at + 1
        rows: list[tuple[str, ...]] = []
        while end < len(lines) and lines[end].strip():
            behind = _row_end(lines, end, mark)
            rows.append(_cells("\n".join(lines[end:behind]), mark))
            end = behind
            if len(rows[0]) != len(header):
                break  # no header of these rows
        if rows and len(rows[0]) == len(header):
            return Table(header, tuple(row for row in rows if row != header), range(at, end))
    return None


def _row_end(lines: Sequence[str], at: int, mark: str) -> int:
    """The line behind a row: the next one, but where a quoted cell that opens in it is closed further down."""
    if '"' in lines[at] and _opening(mark).fullmatch(lines[at]):
        row = lines[at]
        for end in range(at + 1, min(len(lines), at + MOST_LINES)):
            row += f"\n{lines[end]}"
            if '"' in lines[end] and _whole_row(mark).fullmatch(row):
                return end + 1
    return at + 1


def _value(mark: str) -> str:
    return rf'(?:"(?:[^"]|"")*+"(?={mark}|\Z)|(?!")[^{mark}\n]*+)'


@cache
def _opening(mark: str) -> re.Pattern[str]:
    """A line that ends within a quoted cell."""
    return re.compile(rf'(?:{_value(mark)}{mark})*+"(?:[^"]|"")*+')


@cache
def _whole_row(mark: str) -> re.Pattern[str]:
    return re.compile(rf"{_value(mark)}(?:{mark}{_value(mark)})*+")


def _cells(line: str, mark: str) -> tuple[str, ...]:
    try:
        return tuple(cell.strip() for cell in next(csv.reader([line], delimiter=mark), []))
    except csv.Error:  # a field without an end
        return ()


def _read(table: Table, grid: Grid, question: str) -> tuple[tuple[Total, ...], int] | None:
    """The totals of one table and how many rows could not be read; None where it does not fit the question."""
    key = _key_column(table, grid, question)
    if key is None:
        return None
    counts = bool(_COUNTS.search(question))
    columns = {} if counts else _number_columns(table, key, grid, question)
    if not columns and not counts:
        return None
    wanted = {_folded(entity): entity for entity in grid.entities}
    commas = {at: _has_decimal_comma(table, at) for at in columns}
    found: list[list[Total]] = []
    unread = 0
    for row in table.rows:
        name = row[key].strip("*_` ") if len(row) == len(table.header) else ""
        if _SUM_ROW.fullmatch(name) or (name and wanted and _folded(name) not in wanted):
            continue
        name = wanted.get(_folded(name), name)
        values = {at: number(row[at], decimal_comma=commas[at]) for at in columns} if name else {}
        unread += not name or None in values.values()
        if name and counts:
            found.append([Total(name, _ENTRIES[language_of(question)], Decimal(1))])
        found.append([Total(name, columns[at], value) for at, value in values.items() if value is not None])
    return add(found), unread


def _folded(name: str) -> str:
    return " ".join(fold(name).split())


def _key_column(table: Table, grid: Grid, question: str) -> int | None:
    wanted = {_folded(entity) for entity in grid.entities}
    for at in range(len(table.header)):
        if any(len(row) > at and _folded(row[at].strip("*_` ")) in wanted for row in table.rows):
            return at
    named = [set(content_stems(next(filter(None, match.groups())))) for match in _PER.finditer(question)]
    headers = [set(content_stems(cell)) for cell in table.header]
    return next((at for said in named for at, header in enumerate(headers) if said and said <= header), None)


def _number_columns(table: Table, key: int, grid: Grid, question: str) -> dict[int, str]:
    """The columns to be added, each with its field: those that the grid names, else those that the question does."""
    numeric = [at for at in range(len(table.header)) if at != key and _is_numeric(table, at)]
    headers = {at: set(content_stems(table.header[at])) for at in numeric}
    found: dict[int, str] = {}
    for field in grid.fields:
        wanted = set(content_stems(field))
        at = next((at for at, said in headers.items() if said and (said <= wanted or wanted <= said)), None)
        if at is not None:
            found.setdefault(at, field)
    asked = set(stems(question))
    return found or {at: table.header[at].strip("*_` ") for at, said in headers.items() if said and said <= asked}


def _is_numeric(table: Table, at: int) -> bool:
    """Whether most cells of a column are numbers."""
    cells = [row[at] for row in table.rows if len(row) > at and row[at]]
    return 2 * sum(number(cell, decimal_comma=False) is not None for cell in cells) > len(cells)


def _has_decimal_comma(table: Table, at: int) -> bool:
    """One `37,5` tells it for a whole column; where all have three digits behind it, the header's language does."""
    cells = [row[at].strip() for row in table.rows if len(row) == len(table.header)]
    if any(map(_DECIMAL_COMMA.fullmatch, cells)):
        return True
    return language_of(" ".join(table.header)) == "ru"


def number(cell: str, *, decimal_comma: bool) -> Decimal | None:
    """The number of a cell, None where it has none or more than one."""
    bare = cell.strip("*_` ")
    if _PLAIN.fullmatch(bare):
        return Decimal(bare)
    amount = whole_amount(bare, decimal_comma=decimal_comma)
    return amount.value if amount and is_exact(amount.value) else None


def render(totals: Sequence[Total], language: str) -> str:
    """The list below `Removed:`, "" without totals."""
    if not totals:
        return ""
    lines = (f"- {one.name}: {one.field} — {one.value:f}" for one in totals)
    return "\n".join((f"{TOTALS.get(language, TOTALS['en'])}:", *lines, ""))
