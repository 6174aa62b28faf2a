"""Tables: CSV and TSV files, and rows of any origin, as Markdown tables."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence

from harness.patterns import lazy
from harness.search.documents.dates import dated_line
from harness.search.documents.document import Document, Unreadable
from harness.search.documents.plain import text_of

DELIMITERS = ",;\t|"
SNIFFED = 8_192  # characters
_FIGURE = lazy(r"^[-+−]?[\d\s.,%$€₽]*\d[\d\s.,%$€₽]*$")


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; ragged rows are filled with empty cells, and a wider row widens the head."""
    body = [list(row) for row in rows]
    width = max([len(head), *map(len, body)], default=0)
    padded = [[*head, *[""] * (width - len(head))], ["---"] * width]
    padded += [[*row, *[""] * (width - len(row))] for row in body]
    return "\n".join("| " + " | ".join(_cell(cell) for cell in row) + " |" for row in padded)


def read_table(data: bytes, name: str) -> Document:
    """The delimiter is sniffed, line ends inside quotes are kept as spaces, the first row is the head.

    A first row with a figure in it is data: the columns are then called `column 1` and so on.
    """
    text = text_of(data)
    try:
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), _dialect(text)) if any(c.strip() for c in row)]
    except csv.Error as problem:
        raise Unreadable("broken table", str(problem)) from None
    if not rows:
        raise Unreadable("empty")
    head, body = rows[0], rows[1:]
    if len(head) > 1 and any(_FIGURE.match(cell.strip()) and not _is_year(cell) for cell in head):
        head, body = [f"column {i + 1}" for i in range(len(head))], rows
    return Document("", markdown_table(head, body), date=(date := dated_line(text)), date_from="text" if date else "")


def _is_year(cell: str) -> bool:
    return bool(re.fullmatch(r"(?:19|20)\d\d", cell.strip()))


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", r"\|")


def _dialect(text: str) -> type[csv.Dialect] | csv.Dialect:
    """The delimiter that splits the first lines most evenly; csv.Sniffer also guesses quotes and errs there."""

    class Found(csv.excel):
        delimiter = max(DELIMITERS, key=lambda mark: _evenness(text[:SNIFFED], mark))

    return Found


def _evenness(sample: str, delimiter: str) -> tuple[int, int]:
    """How many of the first rows have the first row's number of cells (more than one), and that number."""
    try:
        rows = [len(row) for row in csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter) if row][:20]
    except csv.Error:
        return (0, 0)
    if not rows or rows[0] < 2:
        return (0, 0)
    return (sum(cells == rows[0] for cells in rows), rows[0])
