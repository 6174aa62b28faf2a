"""Markdown and CSV tables as rows of cells, and each cell as a labelled value."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from typing import NamedTuple

from harness.patterns import lazy
from harness.periods import only_period

_RULE = lazy(r"\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*")
_COUNTER = lazy(r"(?:№|#|no\.?|n|rank|место|п/п|№ п/п)?", re.IGNORECASE)
# list items and `key: value` lines hold commas too
_LISTED = lazy(r"\s*(?:[-*+•#>|]|\d+[.)]\s)|[^,;\t\"]{1,60}[:：]\s")
# the year of an event is a value of its own: `since 2009` does not date the other figures of the row
_EVENT = lazy(
    r"\b(?:since|found|establish|launch|open|born|birth|start|release|independen|join|built|enter|с\b|основ|открыт"
    r"|запуск|рожден|начал|выпуск|выход|создан)|成立|创立|出生|上市",
    re.IGNORECASE,
)
_DELIMITERS = (",", ";", "\t")
MOST_COLUMNS = 200


class Cell(NamedTuple):
    """One value of a table with the labels that lead to it: row, period (from another column), column."""

    labels: tuple[str, ...]
    value: str


def markdown_row(line: str) -> list[str] | None:
    """The cells of `| a | b |`, None if the line is no table row. `\\|` is a bar inside a cell."""
    stripped = line.strip()
    if not stripped.startswith("|") and (stripped.count("|") < 1 or not re.search(r"\S\s*\|\s*\S", stripped)):
        return None
    inner = stripped.removeprefix("|")
    inner = inner[:-1] if inner.endswith("|") and not inner.endswith("\\|") else inner
    return [cell.replace("\\|", "|").strip() for cell in re.split(r"(?<!\\)\|", inner)][:MOST_COLUMNS]


def is_rule(line: str) -> bool:
    """Whether the line is the `|---|---|` under a header."""
    return "-" in line and "|" in line and bool(_RULE.fullmatch(line))


def csv_rows(lines: Sequence[str], start: int) -> tuple[list[list[str]], int]:
    """The rows of a CSV block that begins at a line, and how many lines it takes; ([], 0) if there is none.

    A block is a header and at least one row of as many cells (two or more), the header without numbers.
    """
    if _LISTED.match(lines[start]):
        return [], 0
    for delimiter in _DELIMITERS:
        header = _split(lines[start], delimiter)
        if len(header) < 2 or any(not cell or _is_number(cell) or len(cell) > 90 for cell in header):
            continue
        # two lines of prose may hold equally many commas: where spaces follow them, words must stand above figures
        spaced = bool(re.search(rf"{re.escape(delimiter)} ", re.sub(r'"[^"]*"', "", lines[start])))
        if spaced and any(len(cell.split()) > 4 or re.search(r"[\d.!?]", cell) for cell in header):
            continue
        rows = [header]
        for at in range(start + 1, len(lines)):
            cells = _split(lines[at], delimiter)
            filled = not spaced or any(re.match(r"[-−$€£¥₽]?\d", cell) for cell in cells)
            if len(cells) != len(header) or not filled or _LISTED.match(lines[at]):
                break
            rows.append(cells)
        if len(rows) > 1:
            return rows, len(rows)
    return [], 0


def _split(line: str, delimiter: str) -> list[str]:
    if delimiter not in line:
        return []
    try:
        return [cell.strip() for cell in next(csv.reader(io.StringIO(line), delimiter=delimiter))][:MOST_COLUMNS]
    except csv.Error:  # a NUL or an overlong field: no table of ours
        return []


def _is_number(cell: str) -> bool:
    return bool(re.fullmatch(r"[-−]?[\d.,\s]+%?", cell)) and only_period(cell) is None


def cells(rows: Sequence[Sequence[str]]) -> list[Cell]:
    """The values of a table with a header row. Ragged rows are read as far as they go."""
    header, body = rows[0], rows[1:]
    dates = _date_columns(header, body)
    found: list[Cell] = []
    names = [_label_at(header, body, row, dates) for row in body]
    parts = _parts(body, names, dates)
    for row, label_at in zip(body, names, strict=True):
        for at, cell in enumerate(row[: len(header)]):
            if at == label_at or at in dates or not cell:
                continue
            said = [row[date] for date, columns in dates.items() if at in columns and date < len(row) and row[date]]
            name = row[label_at : label_at + 1] if label_at not in dates else []
            part = [row[tell] for tell in parts.get("".join(row[label_at : label_at + 1]), ()) if at != tell]
            found.append(Cell((*name, *part, *said, header[at]), cell))
    return found


def _label_at(header: Sequence[str], body: Sequence[Sequence[str]], row: Sequence[str], dates: dict[int, range]) -> int:
    """The column of a row's name: the first that is no counter and no date."""
    open_at = (at for at, cell in enumerate(row) if cell and not _counts(header, body, at) and at not in dates)
    found = next(open_at, 0)
    if len(header) - len(dates) == 1:
        return next(iter(dates), 0)  # a year and one figure: the table has no names
    return found if found <= 1 else 0


def _parts(body: Sequence[Sequence[str]], names: Sequence[int], dates: dict[int, range]) -> dict[str, tuple[int, ...]]:
    """For each name that several rows have: the column of words, if any, that tells these rows apart (a country)."""
    rows: dict[str, list[Sequence[str]]] = {}
    for row, at in zip(body, names, strict=True):
        rows.setdefault(row[at] if at < len(row) else "", []).append(row)
    found: dict[str, tuple[int, ...]] = {}
    for name, same in rows.items():
        wide = range(min(map(len, same))) if len(same) > 1 else range(0)
        columns = ({row[at] for row in same} for at in wide)
        telling = [
            at
            for at, cells_of in zip(wide, columns, strict=True)
            if at not in dates and len(cells_of) > 1 and not any(re.search(r"\d", cell) for cell in cells_of)
        ]
        found[name] = tuple(telling[:1])
    return found


def _date_columns(header: Sequence[str], body: Sequence[Sequence[str]]) -> dict[int, range]:
    """Columns that only tell periods, each with the columns whose values it dates.

    One named after another column (`Population, period`) or standing among others dates the one before it; the first
    ones date all behind them, the last one all before it.
    """
    columns = [[row[at] for row in body if at < len(row) and row[at]] for at in range(len(header))]
    dates = [
        at
        for at, column in enumerate(columns)
        if column
        and only_period(header[at]) is None
        and not _EVENT.search(header[at])
        and all(only_period(cell) for cell in column)
    ]
    found: dict[int, range] = {}
    for at in dates:
        before = [other for other in range(1, at) if other not in dates]
        named = [other for other in before if header[at].casefold().startswith(header[other].casefold())]
        if len(header) == 2:
            found[at] = range(2)
        elif named:
            found[at] = range(named[-1], named[-1] + 1)
        elif not before:
            found[at] = range(at + 1, len(header))
        elif at == len(header) - 1:
            found[at] = range(0, at)
        else:
            found[at] = range(at - 1, at)
    return found


def _counts(header: Sequence[str], body: Sequence[Sequence[str]], at: int) -> bool:
    """Whether the column only numbers the rows. (A table of things side by side has an empty corner, too.)"""
    numbers = all(re.fullmatch(r"\d*\W*", row[0].strip()) for row in body if row)
    return at == 0 and len(header) > 2 and numbers and bool(_COUNTER.fullmatch(header[0].strip()))
