"""Tables in Markdown, in HTML and with separators: their header rows, and where each row ends."""

from __future__ import annotations

import re
from bisect import bisect_right
from operator import attrgetter

from harness.cutting.regions import AHEAD, Lines, Region, Row
from harness.cutting.window import NOWHERE, Found, Window
from harness.patterns import lazy

_HEADER_ROWS = 8  # a row of dashes further down than this is a separator in a table without a header
_HEADER = 4_000  # characters: a longer header is not repeated
_DASHES = lazy(r" {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*\n")
_PIPE_ROWS = lazy(r"(?: {0,3}\|[^\n]*+\n)++")
_CELL_ROWS = lazy(r"(?:[^\n|]*+\|[^\n]*+\n)++")
_PIPE_ROW = lazy(r" {0,3}\|")
_CELL_ROW = lazy(r"[^\n|]*\|")
_TAG = lazy(r"<(?P<close>/?)(?:(?P<table>table|TABLE|Table)|(?:tr|TR|Tr))\b")
_HEAD_END = lazy(r"</(?:thead|THEAD)\s*>\s*")
_ROW_END = lazy(r"\s*>[ \t]*\n?")
_DATA_CELL = lazy(r"<(?:td|TD)\b")
_SEPARATORS = ",\t;|"
_SEEN_ROWS = 6  # rows that must have as many separators as the first one


class MarkdownTable(Lines):
    """Rows with pipes, one a line, whatever the cells hold; the header goes down to the row of dashes."""

    def __init__(self, start: int, head: str, head_end: int, piped: bool) -> None:
        super().__init__(start, head if len(head) <= _HEADER else "", head_end)
        self._rows, self._row = (_PIPE_ROWS, _PIPE_ROW) if piped else (_CELL_ROWS, _CELL_ROW)

    def boundary(self, window: Window, low: int, high: int) -> int | None:
        first = window.find("\n", self.head_end, high) if low < self.head_end else low
        return super().boundary(window, max(low, first), high) if first != NOWHERE else None

    def scan(self, window: Window, at: int, end: int, hard: int) -> int:
        at = max(at, self.head_end)
        while at < end:
            if not window.starts("\n", at - 1):  # within a long row
                line_end = window.find("\n", at, end)
                if line_end == NOWHERE:
                    return end
                at = line_end + 1
                continue
            rows = window.match(self._rows, at, end)
            at = rows.end() if rows else at
            if at >= end:
                return at
            if not window.match(self._row, at, min(hard, at + AHEAD)):
                self.end = at
                return at
            at += 1  # a row that goes on behind `end`
        return at


def table_at(window: Window, at: int, hard: int) -> MarkdownTable | None:
    """The table whose first row is the line at `at`: a line with a pipe before it, or one above a row of dashes."""
    upto = min(hard, at + AHEAD)
    piped = window.match(_PIPE_ROW, at, upto) is not None
    row = _PIPE_ROW if piped else _CELL_ROW
    first = head_end = at
    for _ in range(_HEADER_ROWS):
        end = window.find("\n", head_end, upto) + 1
        if end <= head_end or not window.match(row, head_end, end):
            break
        dashes = window.match(_DASHES, head_end, end)
        head_end = end
        first = first if first > at else end
        if dashes:
            return MarkdownTable(at, window.slice(at, head_end), head_end, piped)
    return MarkdownTable(at, window.slice(at, first), first, piped) if piped else None


class Rows(Region):
    """A region whose rows are noted as they are found, each with what is shown above a part that begins with it."""

    def __init__(self, start: int) -> None:
        super().__init__(start)
        self.rows: list[Row] = []

    def boundary(self, window: Window, low: int, high: int) -> int | None:
        rows = self.rows[self._behind(low) : self._behind(high)]
        best = min(rows, key=lambda row: (row.rank, -row.at), default=None)
        return best.at if best else None

    def next(self, window: Window, low: int, limit: int) -> int | None:
        if self.end is not None and (not self.rows or self.rows[-1].at <= low):
            return self.end
        row = self._behind(low)
        return self.rows[row].at if row < len(self.rows) and self.rows[row].at <= limit else None

    def lead(self, at: int) -> str:
        row = self._behind(at)
        return self.rows[row - 1].lead if row else ""

    def forget(self, before: int) -> None:
        del self.rows[: max(self._behind(before) - 1, 0)]

    def _behind(self, at: int) -> int:
        """The index of the first row that begins behind a position."""
        return bisect_right(self.rows, at, key=_row_at)


_row_at = attrgetter("at")


class HtmlTable(Rows):
    """`<table>` to `</table>`; a table in a cell belongs to its row. What stands before the data is the header."""

    def __init__(self, window: Window, start: int, hard: int) -> None:
        super().__init__(start)
        self._depth = 0
        self.head_end = _html_header(window, start, min(hard, start + AHEAD))
        self._head = window.slice(start, self.head_end).strip()
        self._head += "\n" if self._head else ""
        if len(self._head) > _HEADER:
            self._head = ""
        self._seen = False

    def scan(self, window: Window, at: int, end: int, hard: int) -> int:
        while (tag := window.search(_TAG, at, hard)) and tag.start() < end:
            at = tag.end()
            if tag["table"]:
                self._depth += -1 if tag["close"] else 1
                if self._depth <= 0:
                    close = window.find(">", at, min(hard, at + 16))
                    self.end = close + 1 if close != NOWHERE else at
                    self.end += window.starts("\n", self.end) and self.end < hard
                    return self.end
            elif self._depth == 1 and tag.start() >= self.head_end:
                self._row(window, tag, hard)
        return max(at, end)

    def _row(self, window: Window, tag: Found, hard: int) -> None:
        """A row ends with its tag, or where the next one begins: HTML lets the closing tag be left out."""
        at = tag.start()
        if tag["close"]:
            closing = window.match(_ROW_END, tag.end(), min(hard, tag.end() + AHEAD))
            at = closing.end() if closing else tag.end()
        elif self.rows and not window.slice(self.rows[-1].at, at).strip():
            return
        if self._seen:  # not between the header and its first row
            self.rows.append(Row(at, 0, self._head))
        self._seen = True


def _html_header(window: Window, start: int, hard: int) -> int:
    """Where the first row of data begins: behind `</thead>`, or behind the leading rows without a `<td>`."""
    data = window.search(_DATA_CELL, start, hard)
    if head := window.search(_HEAD_END, start, data.start() if data else hard):
        return head.end()
    row = max((window.rfind(tag, start, data.start()) for tag in ("<tr", "<TR", "<Tr")), default=-1) if data else -1
    return row if row > start else start


class SeparatedRows(Rows):
    """Rows of values with separators and quotes (RFC 4180): a quoted value may hold line ends. A blank line ends it."""

    def __init__(self, window: Window, start: int, separator: str, hard: int) -> None:
        super().__init__(start)
        self._row = _row_pattern(separator)
        header = window.match(self._row, start, min(hard, start + AHEAD))
        self.head_end = header.end() if header else start
        self._head = window.slice(start, self.head_end)
        if len(self._head) > _HEADER:
            self._head = ""
        self._next = self.head_end

    def scan(self, window: Window, at: int, end: int, hard: int) -> int:
        while self._next < end:
            at = self._next
            if not window.starts("\n", at - 1):  # within a row that was longer than is looked at: it ends with its line
                line_end = window.find("\n", at, end)
                self._next = line_end + 1 if line_end != NOWHERE else end
                continue
            if window.starts("\n", at):
                self.end = at
                return at
            if at > self.head_end:
                self.rows.append(Row(at, 0, self._head))
            row = window.match(self._row, at, min(hard, at + AHEAD))
            self._next = row.end() if row else at + AHEAD
        return max(self._next, end)


def _row_pattern(separator: str) -> re.Pattern[str]:
    apart = re.escape(separator)
    value = rf'(?:"(?:[^"]++|"")*+"(?=[{apart}\n])|[^{apart}\n]*+)'
    return re.compile(rf"{value}(?:{apart}{value})*+\n")


def separated_at(window: Window, at: int, hard: int) -> SeparatedRows | None:
    """Rows with separators that begin at `at`: the first few have equally many, and it does not read like prose."""
    end = window.find("\n", at, min(hard, at + AHEAD))
    line = window.slice(at, end)
    for separator in _SEPARATORS:
        # Most first lines are prose, and are known by that: each look at rows costs as much as twenty of these.
        if separator in line and line[0] not in " #|<" and not _spaced(line, separator):
            first = window.slice(at, min(hard, at + AHEAD))
            if _regular(first, separator):
                return SeparatedRows(window, at, separator, hard)
    return None


def _spaced(line: str, separator: str) -> bool:
    """Commas as in prose, with blanks behind them."""
    return separator != "\t" and line.count(separator + " ") * 2 >= line.count(separator)


def _regular(text: str, separator: str) -> bool:
    """Three rows at least (two with tabs), all as wide as the first."""
    rows: list[str] = []
    pattern = _row_pattern(separator)
    at = 0
    while len(rows) < _SEEN_ROWS and (row := pattern.match(text, at)) and row[0].strip():
        rows.append(row[0])
        at = row.end()
    widths = {_width(row, separator) for row in rows}
    return len(widths) == 1 and len(rows) >= (2 if separator == "\t" else 3) and not _spaced("".join(rows), separator)


def _width(row: str, separator: str) -> int:
    return re.sub(r'"(?:[^"]|"")*"', "", row).count(separator)
