"""Cutting a document into passages, and putting the chosen ones together again in the document's order."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from harness.patterns import lazy

SIZE = 1_500  # characters: some 20 `key: value` lines, so a line comes with its section and not with the whole page
SOON = SIZE // 3  # a heading starts a new passage only when this much is there; small sections stay together
LEFT_OUT = "[…]"
LONGEST_NAME = 60  # characters before the colon of a `name: value` line
_HEADING = lazy(r"^(#{1,6})\s+\S")
_RULE = lazy(r"^\|[\s:|-]*-[\s:|-]*$")  # the line below a table's head
_FENCE = lazy(r"^\s*(```|~~~)")
_ITEM = lazy(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s")
_NAMED = lazy(rf"^\s*(?:[-*+•]\s+)?\*{{0,3}}+([^:：|*\n]{{2,{LONGEST_NAME}}}+)\*{{0,3}}+[:：]\*{{0,3}}+(?:\s|$)")
_WORD = lazy(r"[^\W\d_]+")
_SENTENCE_END = lazy(r"(?<=[.!?…])\s+|(?<=[。！？])")


class Passage(NamedTuple):
    """`lead`: the headings in force (and a table's head) that stand above `text` in the document, not in it."""

    lead: str
    text: str

    @property
    def names(self) -> tuple[str, ...]:
        """What the passage says something of: its innermost heading and those in it, the names of its `name: value`
        lines, the first cells of its tables."""
        names = [line.lstrip("# ") for line in self.lead.split("\n") if _HEADING.match(line)][-1:]
        for line in self.text.split("\n"):
            if _HEADING.match(line):
                names.append(line.lstrip("# "))
            elif line.startswith("|"):
                names.append(line.strip("| ").split("|", 1)[0][:LONGEST_NAME])
            elif named := _NAMED.match(line):
                names.append(named[1])
        return tuple(names)

    @property
    def label(self) -> str:
        """All headings above the passage, and its names, one a line."""
        headings = (line.lstrip("# ") for line in self.lead.split("\n") if _HEADING.match(line))
        return "\n".join([*list(headings)[:-1], *self.names])


class Chosen(NamedTuple):
    """A passage with its place in the document."""

    ordinal: int
    passage: Passage


def cut(text: str) -> list[Passage]:
    """The passages of a Markdown text in order, about SIZE characters each; no line below SIZE is torn."""
    return list(_Cutter().passages(text))


def join(chosen: Sequence[Chosen], count: int) -> str:
    """Passages in document order under their headings; a `[…]` line wherever something was left out.

    `count` is how many passages the document has.
    """
    parts: list[str] = []
    expected = 0
    for ordinal, passage in sorted(chosen):
        if ordinal != expected:
            parts.append(f"{LEFT_OUT}\n")
        if ordinal != expected or not parts:
            parts += [passage.lead] if passage.lead else []
            parts += [""] if passage.lead and not passage.lead.endswith("|") else []
        elif not passage.text.startswith("|"):
            parts.append("")
        parts.append(passage.text)
        if not passage.text.endswith("|"):
            parts.append("")
        expected = ordinal + 1
    if expected < count:
        parts += ["", LEFT_OUT]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(parts)).strip("\n")


class _Cutter:
    """Collects blocks until a passage is full; remembers the headings and the table head in force."""

    def __init__(self) -> None:
        self.headings: list[str] = []
        self.table: list[str] = []  # the head of the table we are in and the rule below it
        self.blocks: list[str] = []
        self.length = 0
        self.lead = ""

    def passages(self, text: str) -> Iterator[Passage]:
        for block in _blocks(text):
            if heading := _HEADING.match(block):
                if self.length >= SOON:
                    yield from self._flush(before=block)
                self._enter(block, len(heading[1]))
            elif not block.startswith("|"):
                self.table = []
            elif "\n" in block:
                self.table = block.split("\n")
            for piece in _pieces(block):
                if self.blocks and self.length + len(piece) > SIZE:
                    yield from self._flush(before=piece)
                self._add(piece)
        yield from self._flush(last=True)

    def _enter(self, heading: str, level: int) -> None:
        self.table = []
        if not self.blocks:
            self._set_lead(below=level)
        self.headings = [line for line in self.headings if _level(line) < level] + [heading]

    def _set_lead(self, *, below: int = 7) -> None:
        lines = [line for line in self.headings if _level(line) < below]
        self.lead = "\n".join([*lines, *(["", *self.table] if self.table else [])]).strip("\n")

    def _add(self, piece: str) -> None:
        self.blocks.append(piece)
        self.length += len(piece) + 1

    def _flush(self, *, last: bool = False, before: str = "") -> Iterator[Passage]:
        """The passage so far; `before`: the block that comes next. Headings at its end go to the next passage, which
        they belong to, and so do the lines that make one series with what comes next: 2024 and 2023 stay together."""
        kept = len(self.blocks)
        while not last and kept and _goes_on(self.blocks[kept - 1]):
            kept -= 1
        kept = kept or len(self.blocks)  # nothing but headings: they are the passage
        kept -= _in_series(self.blocks[:kept], next(filter(None, self.blocks[kept:]), before))
        text, moved = "\n".join(self.blocks[:kept]).strip("\n"), [block for block in self.blocks[kept:] if block]
        if text:
            yield Passage(self.lead, text)
        if text or not moved:
            self._set_lead(below=next(filter(None, map(_level, moved)), 7))
        self.blocks = moved
        self.length = sum(len(block) + 1 for block in moved)


def _goes_on(block: str) -> bool:
    """A heading or a blank line; a piece of a fence may begin with a `#`, but has more lines."""
    return not block or ("\n" not in block and bool(_HEADING.match(block)))


def _in_series(blocks: Sequence[str], before: str) -> int:
    """How many of the last blocks go on in the block after them; 0 where the series is too long to be moved."""
    count = length = 0
    while (series := _series(before)) and count < len(blocks) and _series(blocks[-1 - count]) == series:
        length += len(blocks[-1 - count])
        count += 1
    return count if count < len(blocks) and length <= SOON else 0


def _series(block: str) -> tuple[str, ...]:
    """What `Inflation 2024: …` and `Inflation 2023: …`, or `Users - total: …` and `Users - share: …` share."""
    named = _NAMED.match(block)
    name = block.lstrip("# ") if _HEADING.match(block) else named[1] if named else ""
    return tuple(_WORD.findall(name.partition(" - ")[0].casefold()))


def _level(heading: str) -> int:
    """The number of its `#`; 0 for a line that is no heading."""
    return len(heading) - len(heading.lstrip("#"))


def _blocks(text: str) -> Iterator[str]:
    """Headings, list items, table rows and blank lines one by one; a paragraph, a fence, a table's head as a whole."""
    lines: list[str] = []
    fenced = False
    held = ""  # a table row that is the head if a rule follows
    for line in text.split("\n"):
        if held and _RULE.match(line):
            yield f"{held}\n{line.rstrip()}"
            held = ""
            continue
        if held:
            yield held
            held = ""
        fence = bool(_FENCE.match(line))
        if fenced and not fence:
            lines.append(line)
            continue
        alone = not line.strip() or line.startswith("|") or bool(_HEADING.match(line))
        if lines and not fenced and (alone or fence or _ITEM.match(line) or _NAMED.match(line)):
            yield "\n".join(lines)
            lines = []
        if not fenced and line.startswith("|"):
            held = line.rstrip()
            continue
        if alone and not fence:
            yield line.rstrip()
            continue
        lines.append(line)
        if fence and fenced:
            yield "\n".join(lines)
            lines = []
        fenced ^= fence
    if held or lines:
        yield held or "\n".join(lines)


def _pieces(block: str) -> Iterator[str]:
    """A block, or what is longer than a passage in pieces: at line ends, else sentences, else words, else anywhere."""
    if len(block) <= SIZE:
        yield block
        return
    for separator in ("\n", _SENTENCE_END, " "):
        parts = block.split(separator) if isinstance(separator, str) else separator.split(block)
        if len(parts) > 1:
            yield from _packed(parts, separator if isinstance(separator, str) else " ")
            return
    for start in range(0, len(block), SIZE):
        yield block[start : start + SIZE]


def _packed(parts: list[str], glue: str) -> Iterator[str]:
    pack: list[str] = []
    length = 0
    for part in parts:
        if pack and length + len(part) > SIZE:
            yield glue.join(pack)
            pack, length = [], 0
        if len(part) > SIZE:
            yield from _pieces(part)
            continue
        pack.append(part)
        length += len(part) + len(glue)
    if pack:
        yield glue.join(pack)
