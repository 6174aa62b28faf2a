"""A source's text as labelled values (headings, lists, tables, `key: value`) and as sentences."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from harness.agents.extractive.tables import cells, csv_rows, is_rule, markdown_row
from harness.patterns import lazy
from harness.periods import only_period
from harness.words import sentences


class Entry(NamedTuple):
    """One value with the labels that lead to it, outermost first: headings, list keys, table row and column."""

    labels: tuple[str, ...]
    value: str


class Reading(NamedTuple):
    """What a source's text holds, in its order."""

    entries: tuple[Entry, ...]
    sentences: tuple[str, ...]
    headings: tuple[str, ...]
    grouping: frozenset[str] = frozenset()  # headings that only group: they have headings or many keys below them


_HEADING = lazy(r"\s{0,3}(#{1,6})\s+(.*?)\s*#*\s*$")
_BOLD_HEADING = lazy(r"\s{0,3}\*\*([^*]{1,80})\*\*:?\s*$")
_ITEM = lazy(r"(\s*)(?:[-*+•]|\d{1,3}[.)])\s+(.*)$")
_KEY = lazy(
    r"(?:\*\*|__|\")?(?P<key>[^:：*\"\n]{1,100}?)\s*(?:\*\*|__|\")?\s*[:：](?:\*\*|__)?(?:\s+|(?<=：)|$)(?P<value>.*)$"
)
_JSON_KEY = lazy(r"\s*\"(?P<key>[^\"]{1,100})\"\s*:\s*(?P<value>.*?),?\s*$")
_SUBKEY = lazy(r"(?P<key>[^\d\W][^:;.!?()]{0,58}(?:\([^():;]{1,40}\))?)\s?[:：]\s+(?P<value>\S.*)$", re.DOTALL)
_TAG = lazy(r"</?[A-Za-z][^<>]{0,200}>")
_LINK = lazy(r"!?\[([^\[\]]*)\]\((?:[^()\s]|\([^()]*\))*(?:\s\"[^\"]*\")?\)")
_STRONG_SEPARATOR = lazy(r"\s+[-–—>→/]\s+")
_MANY_KEYS = 8  # a heading above so many keys is a chapter, not a thing with a few properties
_PERIOD_WORDS = ("period", "year", "date", "период", "год", "дата")
_LEFT_OUT = "[…]"  # a search marks so what it left out of a page
_LAST_BRACKET = lazy(r"\(([^()]*)\)$")
_WORDS_IN_KEY = 12
_WORDS_IN_PLAIN_KEY = 7  # a longer one, without a list mark, is the first half of a sentence
_LONG_PHRASE = 400  # characters that one phrase under a heading may have and still be its value
_LONG_VALUE = 160  # characters; a longer value is also read as sentences


def read(text: str) -> Reading:
    """Everything in the text that may carry a value."""
    parsed = _whole_json(text)
    if parsed is not None:
        return Reading(tuple(_flatten(parsed, ())), (), ())
    return _Reader(text).run()


def clean(text: str) -> str:
    """Plain text of a value: no tags, entities, links or emphasis; brackets that could pass for citations are round."""
    bare = _LINK.sub(r"\1", html.unescape(_TAG.sub(" ", text)))
    bare = re.sub(r"\*\*|__|`", "", bare).replace("\u00ad", "").replace("[", "(").replace("]", ")")
    return re.sub(r"\s+", " ", bare).strip()


class _Reader:
    """Walks the lines with the headings and list keys that are open above them."""

    def __init__(self, text: str) -> None:
        self.lines = text.splitlines()
        self.headings: list[tuple[int, str]] = []
        self.keys: list[tuple[int, str]] = []  # (indent, key) of list items that hold others
        self.entries: list[Entry] = []
        self.below: dict[str, set[str]] = {}  # keys directly under a heading
        self.prose: list[str] = []
        self.titles: list[str] = []
        self.grouping = _grouping(self.lines)
        self.done = False  # the innermost heading may be over: its own text was read, or a part of the page left out
        self.cut = False  # the lines before were left out, so a heading here is only repeated from above
        self.small_keys = False  # the keys under the innermost heading begin small: `total`, `male`
        self.opened_at = -2  # line of the heading or empty key that a plain line may complete

    def run(self) -> Reading:
        at = 0
        while at < len(self.lines):
            at = self.table(at) or self.line(at)
        many = {heading for heading, keys in self.below.items() if len(keys) >= _MANY_KEYS}
        prose = tuple(sentences("\n".join(self.prose)))
        return Reading(tuple(self.entries), prose, tuple(self.titles), self.grouping | many)

    def table(self, at: int) -> int:
        """Reads a table that begins here; the line after it, 0 if there is none."""
        line = self.lines[at]
        if at + 1 < len(self.lines) and is_rule(self.lines[at + 1]) and (header := markdown_row(line)):
            rows, end = [header], at + 2
            while end < len(self.lines) and self.lines[end].strip() and (row := markdown_row(self.lines[end])):
                rows.append(row)
                end += 1
        elif line.strip() and any(mark in line for mark in ",;\t"):
            rows, length = csv_rows(self.lines, at)
            end = at + length
        else:
            return 0
        for labels, value in cells(rows) if rows else ():
            self.add(tuple(clean(label) for label in labels), value)
        return end if rows else 0

    def line(self, at: int) -> int:
        line = self.lines[at]
        if not line.strip() or line.strip() == _LEFT_OUT:
            self.prose.append("")
            self.cut = self.cut or bool(line.strip())
        elif heading := _HEADING.match(line):
            self.heading(len(heading[1]), clean(heading[2]), at)
        elif bold := _BOLD_HEADING.match(line):
            self.heading(7, clean(bold[1]), at)
        elif item := _ITEM.match(line):
            self.item(len(item[1].expandtabs()), item[2], at)
        else:
            self.plain(line, at)
        return at + 1

    def heading(self, level: int, title: str, at: int) -> None:
        self.headings = [pair for pair in self.headings if pair[0] < level] + [(level, title)]
        self.keys, self.opened_at = [], at
        self.done, self.small_keys = self.cut and level > 1, False
        self.titles.append(title)
        self.prose.append("")

    def item(self, indent: int, text: str, at: int) -> None:
        self.keys = [pair for pair in self.keys if pair[0] < indent]
        key, value = split_key(text, _WORDS_IN_KEY)
        self.cut = False
        if not key:
            self.prose += ["", clean(text)]
        elif value:
            self.add((key,), value)
            self.keys.append((indent, key))
        else:
            self.keys.append((indent, key))
            self.opened_at = at

    def plain(self, line: str, at: int) -> None:
        found = _JSON_KEY.match(line)
        if found and found["value"] not in ("{", "["):
            key, value = found["key"], found["value"].strip('"')
        elif found:
            self.keys = [pair for pair in self.keys if pair[0] < _indent(line)] + [(_indent(line), found["key"])]
            return
        else:
            key, value = split_key(line.strip(), _WORDS_IN_PLAIN_KEY)
        if key and value:
            self.keys = [pair for pair in self.keys if pair[0] < _indent(line)] if _indent(line) else []
            self.add((key,), next(iter(sentences(value)), value))
            self.prose.append(clean(line))
        elif key:
            self.keys, self.opened_at = [(-1, key)], at
        else:
            self.under_label(line, at)

    def under_label(self, line: str, at: int) -> None:
        """A plain line: prose, and directly under a heading (or an empty key) perhaps the whole value of it."""
        self.prose.append(clean(line))
        self.done = True
        above = [back for back in range(max(0, at - 2), at) if self.lines[back].strip()]
        short = len(line) <= _LONG_VALUE or (len(line) <= _LONG_PHRASE and len(sentences(line)) == 1)
        if (self.headings or self.keys) and short and above and above[-1] == self.opened_at:
            self.add((), line)
        if not self.keys or self.keys[0][0] >= 0:
            self.keys = []

    def add(self, labels: tuple[str, ...], value: str) -> None:
        outer = self._outer(labels)
        if outer and labels and labels[0][:1].isupper():
            self.below.setdefault(outer[-1], set()).add(labels[0])
        path = (*outer, *(key for _, key in self.keys), *labels)
        for inner, piece in _pieces(value):
            split = tuple(part for label in (*path, *inner) for part in _STRONG_SEPARATOR.split(clean(label)) if part)
            self.entries.append(Entry(split, piece))
        if len(value) > _LONG_VALUE:
            self.prose += ["", clean(value), ""]

    def _outer(self, labels: tuple[str, ...]) -> tuple[str, ...]:
        """The headings above a value.

        A page that gives a long text a heading of its own goes on below it with keys that do not belong to it
        (`### Languages`, a paragraph, then `- Population: …`): these begin with a capital like that heading.
        """
        outer = tuple(title for _, title in self.headings)
        if self.keys or not labels or not labels[0]:
            return outer
        capital = labels[0][0].isupper()
        if capital and len(outer) > 2 and (self.done or self.small_keys):
            return outer[:-1]
        self.small_keys = self.small_keys or not capital
        return outer


def _indent(line: str) -> int:
    return len(line.expandtabs()) - len(line.expandtabs().lstrip())


def _grouping(lines: list[str]) -> frozenset[str]:
    """Titles of headings that have headings below them."""
    found: set[str] = set()
    open_now: list[tuple[int, str]] = []
    for heading in filter(None, map(_HEADING.match, lines)):
        level = len(heading[1])
        open_now = [pair for pair in open_now if pair[0] < level]
        found.update(title for _, title in open_now)
        open_now.append((level, clean(heading[2])))
    return frozenset(found)


def split_key(text: str, most_words: int) -> tuple[str, str]:
    """`key: value` (the key may be bold or quoted) as two texts; ("", "") if the text is not of that form."""
    found = _KEY.match(text)
    if not found or len(found["key"].split()) > most_words or re.search(r"[.!?。]\s", found["key"]):
        return "", ""
    if found["value"].startswith("//"):  # https://…
        return "", ""
    return clean(found["key"]), found["value"].strip().removeprefix("**").strip()


def _pieces(value: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """The value itself, or the labelled parts it consists of: `total: 78 years; male: 75 years`."""
    whole = clean(value)
    parts = [part.strip() for part in re.split(r"\s*(?:;|\s\+\+)\s+", whole) if part.strip()]
    labelled = [_SUBKEY.match(part) for part in parts]
    if not labelled or labelled[0] is None:
        series = "++" in whole or (len(parts) > 1 and all(map(_ends_with_period, parts)))
        for part in parts if series else [whole]:
            yield (), _without_note(part)
        return
    for part, found in zip(parts, labelled, strict=True):
        if found is None:
            continue
        labels, rest = [found["key"].strip()], found["value"].strip()
        while inner := _SUBKEY.match(rest):
            labels, rest = [*labels, inner["key"].strip()], inner["value"].strip()
        yield tuple(labels), _without_note(rest if len(parts) > 1 else part[part.index(rest) :])


def _ends_with_period(part: str) -> bool:
    found = _LAST_BRACKET.search(part)
    return bool(found and only_period(found[1]))


def _without_note(value: str) -> str:
    return re.split(r"\s*(?:^|[\s;,(])(?:note(?:\s\d+)?|примечание)\s?:\s", value, maxsplit=1)[0].strip()


def _whole_json(text: str) -> object | None:
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


def _flatten(value: object, labels: tuple[str, ...]) -> Iterator[Entry]:
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
