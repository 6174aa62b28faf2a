"""A program as a search provider: it gets one query and prints what it found.

The query stands where `{query}` stands in the command, else it comes on stdin. Printed is JSON (a list, an object
with `results`, or one object a line; keys title, url, date, text) or plain text, which becomes one source. Nothing
printed: nothing found. An exit code other than 0 or a time-out: blocked, never a document.

To try one by hand: `printf 'Samokat revenue 2024' | my-search; echo "exit $?"`, or `my-search 'Samokat revenue 2024'`.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from harness.environment import child_environment, mask, secrets_of
from harness.formats.raw import demote
from harness.formats.text import clean, one_line
from harness.model import Source
from harness.patterns import lazy
from harness.ports import SearchResult
from harness.process import Finished, run

QUERY_PLACEHOLDER = "{query}"
TIMEOUT = 60.0  # seconds; a person would have given up by then
TITLE_LIMIT = 200  # characters
ERROR_LIMIT = 200
# The names in use for the four values, the first one that is there counts: ours, then those of ddgr, googler,
# SearXNG and the APIs of search engines.
KEYS: Mapping[str, tuple[str, ...]] = {
    "title": ("title", "name"),
    "url": ("url", "link", "href"),
    "date": ("date", "published", "publishedDate", "published_date", "page_age"),
    "text": ("text", "content", "snippet", "abstract", "body", "description"),
}
LISTS = ("results", "items", "sources")
SAFE_SCHEMES = ("http", "https", "file")  # a report links to it: no javascript:
SCHEME = lazy(r"^([a-z][a-z0-9+.-]*):", re.IGNORECASE)
ISO_DAY = lazy(r"^(\d{4})(?:-(\d{2}))?(?:-(\d{2}))?(?!\d)")
OPTION_START = "-@ \t"  # `--output=x` would be an option of the program, `@x` a file's content to many


class CommandSearch:
    """ports.Search: one program, started anew for each query; thread-safe."""

    def __init__(
        self, name: str, command: Sequence[str], timeout: float = TIMEOUT, env: Mapping[str, str] | None = None
    ) -> None:
        self._name = name
        self._command = tuple(command)
        self._timeout = timeout
        self._env = dict(env or {})

    @property
    def name(self) -> str:
        return self._name

    def search(self, query: str) -> SearchResult:
        """What the program found for one query; whatever goes wrong is a `blocked` result with the reason."""
        if not self._command:
            return SearchResult("blocked", error="no command is set")
        asked = one_line(query).lstrip(OPTION_START)
        try:
            finished = self._run(asked)
        except (OSError, ValueError) as error:
            reason = (error.strerror if isinstance(error, OSError) else "") or str(error)
            return SearchResult("blocked", error=f"cannot start {self._command[0]}: {reason}")
        if problem := self._problem(finished):
            return SearchResult("blocked", error=mask(problem, secrets_of({**os.environ, **self._env})))
        return result_of(finished.stdout.lstrip("\ufeff").strip(), asked)

    def _run(self, query: str) -> Finished:
        as_argument = any(QUERY_PLACEHOLDER in argument for argument in self._command)
        with tempfile.TemporaryDirectory(prefix="harness-search-", ignore_cleanup_errors=True) as folder:
            return run(
                [argument.replace(QUERY_PLACEHOLDER, query) for argument in self._command],
                stdin=None if as_argument else query + "\n",
                cwd=Path(folder),
                env=child_environment(os.environ, self._env),
                timeout=self._timeout,
            )

    def _problem(self, finished: Finished) -> str:
        last = finished.stderr_tail.rpartition("\n")[2][:ERROR_LIMIT]
        because = f": {last}" if last else ""
        if finished.stopped == "timeout":
            return f"no answer in {self._timeout:g} s{because}"
        if finished.stopped == "interrupt":
            return "ended by Ctrl-C"
        if finished.stopped == "output" or finished.dropped:
            return "printed far more than search results"
        return f"exit code {finished.code}{because}" if finished.code else ""


def result_of(printed: str, query: str) -> SearchResult:
    """What a program printed as a search result; JSON or plain text.

    `printed` as it came: cleaning it before it is read as JSON would break strings that hold odd line ends.
    """
    if not clean(printed).strip():
        return SearchResult("empty")
    try:
        rows = _rows(printed)
    except ValueError as error:
        return SearchResult("blocked", error=str(error))
    if rows is None:
        return SearchResult("found", (Source(title=query[:TITLE_LIMIT], text=demote(clean(printed).strip())),))
    sources = tuple(source for row in rows if (source := _source(row)) is not None)
    left_out = len(rows) - len(sources)
    notes = (f"{left_out} results without text left out",) if left_out else ()
    return SearchResult("found" if sources else "empty", sources, notes=notes)


def _rows(printed: str) -> list[Any] | None:
    """The results in JSON, or None for plain text. Raises ValueError for broken JSON and for a reported error."""
    value = _json(printed)
    if value is None:
        lines = [_json(line) for line in printed.split("\n") if line.strip()]
        if lines and all(isinstance(line, dict) for line in lines):
            value = lines
        elif re.match(r'\[\s*\{|\{\s*"', printed):
            raise ValueError("printed broken JSON")
        else:
            return None
    if isinstance(value, list):
        return value
    if not isinstance(value, dict):
        return None  # a bare number or string is plain text
    for key in LISTS:
        if isinstance(value.get(key), list):
            return list(value[key])
    if value.get("error") and not _first(value, "text"):
        raise ValueError(f"the program reports: {_line(value['error'])[:ERROR_LIMIT]}")
    return [value]


def _json(text: str) -> Any:
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


def _source(row: object) -> Source | None:
    if not isinstance(row, dict):
        return None
    text = clean(_first(row, "text")).strip()
    if not text:
        return None
    url = _url(_first(row, "url"))
    day, rest = _date(_line(_first(row, "date")))
    extra = (("date_text", rest),) if rest else ()
    return Source(_line(_first(row, "title"))[:TITLE_LIMIT] or url or "untitled", demote(text), url, day, extra=extra)


def _first(row: Mapping[str, Any], what: str) -> str:
    values = (row.get(key) for key in KEYS[what])
    return next((str(value) for value in values if type(value) in (str, int) and str(value).strip()), "")


def _line(value: object) -> str:
    """One line of clean text: JSON escapes bring control characters back in."""
    return one_line(str(value))


def _url(text: str) -> str:
    url = _line(text).replace(" ", "%20")
    scheme = SCHEME.match(url)
    return "" if scheme and scheme[1].lower() not in SAFE_SCHEMES else url


def _date(text: str) -> tuple[str, str]:
    """The ISO date at the start (a year and a month, or a year, will do), else "" and the text as it stands."""
    found = ISO_DAY.match(text)
    if not found:
        return "", text
    year, month, day = found.groups()
    try:
        date(int(year), int(month or 1), int(day or 1))
    except ValueError:
        return "", text
    return "-".join(part for part in (year, month, day) if part), ""
