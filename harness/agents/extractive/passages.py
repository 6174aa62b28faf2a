"""A source's text as labelled values (headings, lists, tables, `key: value`) and as sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from harness.agents.extractive.entries import Entry, clean, flatten, whole_json
from harness.agents.extractive.tables import cells, csv_rows, is_rule, markdown_row
from harness.patterns import lazy
from harness.periods import only_period
from harness.words import sentences


class Reading(NamedTuple):
    """What a source's text holds, in its order."""

    entries: tuple[Entry, ...]
    sentences: tuple[str, ...]
    above: tuple[tuple[str, ...], ...]  # the headings above each sentence
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
_STRONG_SEPARATOR = lazy(r"\s+[-–—>→/]\s+")
_LONE_NAME = lazy(r"(?:[^\W_a-zа-яё][\w'’.-]*(?<!\.)[ \t]*){1,4}")
_OF_BLOCK = 8  # the level of a lone name above keys: below every heading
_MANY_KEYS = 8  # a heading above so many keys is a chapter, not a thing with a few properties
_LEFT_OUT = "[…]"  # a search marks so what it left out of a page
_LAST_BRACKET = lazy(r"\(([^()]*)\)$")
_WORDS_IN_KEY = 12
_WORDS_IN_PLAIN_KEY = 7  # a longer one, without a list mark, is the first half of a sentence
_LONG_PHRASE = 400  # characters that one phrase under a heading may have and still be its value
_LONG_VALUE = 160  # characters; a longer value is also read as sentences


def read(text: str) -> Reading:
    """Everything in the text that may carry a value."""
    parsed = whole_json(text)
    if parsed is not None:
        return Reading(tuple(flatten(parsed, ())), (), (), ())
    return _Reader(text).run()


class _Reader:
    """Walks the lines with the headings and list keys that are open above them."""

    def __init__(self, text: str) -> None:
        self.lines = text.splitlines()
        self.headings: list[tuple[int, str]] = []
        self.keys: list[tuple[int, str]] = []  # (indent, key) of list items that hold others
        self.entries: list[Entry] = []
        self.below: dict[str, set[str]] = {}  # keys directly under a heading
        self.prose: list[str] = []  # of the innermost heading
        self.said: list[tuple[str, tuple[str, ...]]] = []  # sentences with their headings
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
        self.close()
        said = tuple(text for text, _ in self.said)
        above = tuple(titles for _, titles in self.said)
        return Reading(tuple(self.entries), said, above, tuple(self.titles), self.grouping | many)

    def close(self) -> None:
        """Ends the prose under the headings open now."""
        titles = tuple(title for _, title in self.headings)
        self.said += [(text, titles) for text in sentences("\n".join(self.prose))]
        self.prose = []

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
            self.end_block()
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
        self.close()
        self.headings = [pair for pair in self.headings if pair[0] < level] + [(level, title)]
        self.keys, self.opened_at = [], at
        self.done, self.small_keys = self.cut and level > 1, False
        self.titles.append(title)

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
            self.prose += ["", clean(line), ""]  # the next line is a sentence of its own
        elif key:
            self.keys, self.opened_at = [(-1, key)], at
        elif self.opens_block(line, at):
            self.heading(_OF_BLOCK, clean(line), at)
        else:
            self.under_label(line, at)

    def end_block(self) -> None:
        """A blank line ends the block of keys under a lone name."""
        if self.headings and self.headings[-1][0] == _OF_BLOCK:
            self.close()
            self.headings.pop()

    def opens_block(self, line: str, at: int) -> bool:
        """Whether the line is a lone name directly above keys: `Chad`, then `Population: 17 million`."""
        alone = at == 0 or not self.lines[at - 1].strip() or bool(_HEADING.match(self.lines[at - 1]))
        below = self.lines[at + 1] if at + 1 < len(self.lines) else ""
        return alone and bool(_LONE_NAME.fullmatch(line)) and all(split_key(below, _WORDS_IN_PLAIN_KEY))

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
