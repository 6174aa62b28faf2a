"""JSON and JSON lines as text: headings for objects, `- key: value` lines, tables for rows of equal keys."""

from __future__ import annotations

import json
from collections.abc import Iterator

from harness.search.documents.dates import first_date
from harness.search.documents.document import Document, Unreadable
from harness.search.documents.plain import DATE_KEYS, TITLE_KEYS, URL_KEYS, text_of
from harness.search.documents.tables import markdown_table

Json = dict[str, "Json"] | list["Json"] | str | bool | None
DEEPEST = 6  # heading levels that Markdown has; deeper objects become headings with their path
# An object that holds nothing but its text, as {"Area": {"total": {"text": "1.284 million sq km"}}}: one line for it.
WRAPPERS = ("text", "value", "#text", "_value")


def read_json(data: bytes, name: str) -> Document:
    """Numbers stay as they are written. Raises Unreadable for what is no JSON or nested without end."""
    text = text_of(data)
    try:
        return _document(_parse(text))
    except RecursionError:
        raise Unreadable("broken JSON", "nested too deeply") from None
    except ValueError as problem:
        raise Unreadable("broken JSON", str(problem)) from None


def read_json_lines(data: bytes, name: str) -> Document:
    """One record a line; lines that are no JSON are left out and counted in a note."""
    records: list[Json] = []
    broken = 0
    for line in filter(str.strip, text_of(data).split("\n")):
        try:
            records.append(_parse(line))
        except (ValueError, RecursionError):
            broken += 1
    if not records:
        raise Unreadable("broken JSON", "no line is JSON")
    return Document("", _rendered(records), notes=("lines that are no JSON left out",) if broken else ())


def _parse(text: str) -> Json:
    # Numbers as strings: 11631456.50 keeps its digits, and 5,000 digits do not raise.
    value: Json = json.loads(text, parse_int=str, parse_float=str, parse_constant=str)
    return value


def _document(value: Json) -> Document:
    top = {key.lower(): text for key, text in value.items() if isinstance(text, str)} if isinstance(value, dict) else {}

    def first(keys: tuple[str, ...]) -> str:
        return next((top[key].strip() for key in keys if top.get(key, "").strip()), "")

    date = next((date for key in DATE_KEYS if (date := first_date(top.get(key, "")))), "")
    url = next((top[key] for key in URL_KEYS if top.get(key, "").startswith(("http://", "https://"))), "")
    return Document(first(TITLE_KEYS), _rendered(value), url, date, "text" if date else "")


def _rendered(value: Json) -> str:
    text = "\n".join(_lines(value, ())).strip("\n")
    if not text:
        raise Unreadable("empty")
    return text


def _lines(value: Json, path: tuple[str, ...]) -> Iterator[str]:
    """Plain values first, then the objects below their headings, each in the order of the file."""
    if not isinstance(value, dict | list):
        yield f"- {_plain(value)}"
        return
    if isinstance(value, list):
        yield from _list_lines(value, path)
        return
    unwrapped = {key: _unwrapped(one) for key, one in value.items()}
    for key, one in unwrapped.items():
        if (plain := _one_line(one)) is not None and plain:
            yield f"- {key}: {plain}"
    for key, one in unwrapped.items():
        if _one_line(one) is None:
            yield from ("", _heading((*path, key)), "")
            yield from _lines(one, (*path, key))


def _list_lines(items: list[Json], path: tuple[str, ...]) -> Iterator[str]:
    if _is_table(items):
        rows = [item for item in items if isinstance(item, dict)]
        head = list(dict.fromkeys(key for row in rows for key in row))
        yield markdown_table(head, ([_plain(row.get(key)) for key in head] for row in rows))
        return
    for number, item in enumerate(map(_unwrapped, items), 1):
        if (plain := _one_line(item)) is not None:
            yield f"- {plain}"
            continue
        label = f"{path[-1] if path else 'Record'} {number}"
        yield from ("", _heading((*path[:-1], label)), "")
        yield from _lines(item, (*path[:-1], label))


def _is_table(items: list[Json]) -> bool:
    """Flat objects that share most of their keys: a table says it shorter than a heading for each."""
    rows = [item for item in items if isinstance(item, dict)]
    if len(rows) < 2 or len(rows) < len(items):
        return False
    if any(isinstance(cell, dict | list) for row in rows for cell in row.values()):
        return False
    keys = {key for row in rows for key in row}
    return sum(map(len, rows)) >= 0.6 * len(keys) * len(rows)


def _heading(path: tuple[str, ...]) -> str:
    if len(path) <= DEEPEST:
        return f"{'#' * len(path)} {' '.join(path[-1].split())}"
    return f"{'#' * DEEPEST} {' / '.join(' '.join(key.split()) for key in path[DEEPEST - 1 :][-3:])}"


def _unwrapped(value: Json) -> Json:
    while isinstance(value, dict) and len(value) == 1 and (key := next(iter(value))) in WRAPPERS:
        value = value[key]
    return value


def _one_line(value: Json) -> str | None:
    """The value as one line, or None for what needs a heading; "" for an empty object or list."""
    if isinstance(value, list) and all(not isinstance(one, dict | list) for one in value):
        return ", ".join(map(_plain, value))
    if isinstance(value, dict):
        return None if value else ""
    return None if isinstance(value, list) else _plain(value)


def _plain(value: Json) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case str():
            return " ".join(value.split())
    return json.dumps(value, ensure_ascii=False)
