"""Labelled values as they are kept: their plain text, and those of a JSON document."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from harness.patterns import lazy

_TAG = lazy(r"</?[A-Za-z][^<>]{0,200}>")
_LINK = lazy(r"!?\[([^\[\]]*)\]\((?:[^()\s]|\([^()]*\))*(?:\s\"[^\"]*\")?\)")
_PERIOD_WORDS = ("period", "year", "date", "период", "год", "дата")


class Entry(NamedTuple):
    """One value with the labels that lead to it, outermost first: headings, list keys, table row and column."""

    labels: tuple[str, ...]
    value: str


def clean(text: str) -> str:
    """Plain text of a value: no tags, entities, links or emphasis; brackets that could pass for citations are round."""
    bare = _LINK.sub(r"\1", html.unescape(_TAG.sub(" ", text)))
    bare = re.sub(r"\*\*|__|`", "", bare).replace("\u00ad", "").replace("[", "(").replace("]", ")")
    return re.sub(r"\s+", " ", bare).strip()


def whole_json(text: str) -> object | None:
    """The text as JSON (also in a code fence), None if it is none."""
    body = re.sub(r"\A\s*```(?:json)?\n|\n```\s*\Z", "", text).strip()
    if not body.startswith(("{", "[")):
        return None
    try:
        found: object = json.loads(body, parse_int=str, parse_float=str)  # digits as written, of any length
    except (ValueError, RecursionError):
        return None
    return found


def _dated_items(item: dict[str, object]) -> list[tuple[str, object]]:
    """The members of an object; `x period` or `x year` beside `x` becomes a remark of the value of `x`."""
    members = {clean(str(key)).replace("_", " "): value for key, value in item.items()}
    period_of = {
        name: f"{name} {word}"
        for name in members
        for word in _PERIOD_WORDS
        if isinstance(members.get(f"{name} {word}"), str)
    }
    return [
        (name, f"{value} ({members[period_of[name]]})" if name in period_of and value is not None else value)
        for name, value in members.items()
        if name not in period_of.values()
    ]


def flatten(value: object, labels: tuple[str, ...]) -> Iterator[Entry]:
    stack: list[tuple[object, tuple[str, ...]]] = [(value, labels)]
    while stack:
        item, path = stack.pop()
        if isinstance(item, dict):
            named = next(
                (str(item[key]) for key in ("name", "title", "entity", "country", "company") if key in item), None
            )
            inner = (*path, clean(named)) if named and path[-1:] != (named,) else path
            stack += [(child, (*inner, key)) for key, child in reversed(_dated_items(item))]
        elif isinstance(item, list):
            stack += [(child, path) for child in reversed(item)]
        elif item is not None and path:
            yield Entry(path, clean(str(item)))
