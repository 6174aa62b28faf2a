"""Fact lines: what one says (entity, field, period, value, citations), and which cells of a grid a summary fills."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from harness.model import Grid, SearchLine
from harness.patterns import lazy
from harness.periods import Period, is_period, periods
from harness.words import bag, content_stems, fold, heads, may_cover, stems, words

Cell = tuple[str, str]

_BRACKETS = lazy(r"\[([^\[\]]*)\]")
_SPACED_BRACKETS = lazy(r"[ \t]*\[([^\[\]]*)\]")
_IDS = lazy(r"\s*(\d{1,9}\.\d{1,9})(?:\s*[,;]\s*(?:\d{1,9}\.\d{1,9}))*\s*", re.ASCII)
_ID = lazy(r"\d{1,9}\.\d{1,9}", re.ASCII)
_MARKS = ("person", "pinned", "unverified", "summed")
_MARKS_AT_END = lazy(rf"(?:\s*\[(?:{'|'.join(_MARKS)})\])+\s*$", re.IGNORECASE)
_BULLET = lazy(r"^\s*[-*+•]\s+")
_DASH = lazy(r"\s+(?:[—–―]|-{1,2})\s+|\s*——\s*")
_COLON = lazy(r"\s*[:：]\s*")
_PREPOSITION = lazy(r"\s+(?:за|в|на|in|for|of|as of)\s*$", re.IGNORECASE)
_BETWEEN_SIDES = lazy(r"\s*(?:↔|⇄|<->|<=>)\s*|(?<=\])\s*(?:;\s*|,?\s+(?:vs\.?|versus|против)\s+)|\s+vs\.?\s+")
NOT_SEARCHED = frozenset({"blocked", "pasted", "skipped"})  # outcomes that prove nothing about absence


class Fact(NamedTuple):
    """One line of Confirmed. Entity and field are the grid's own spelling, "" when the line is not of that form."""

    entity: str
    field: str
    period: str
    value: str  # without citations and marks; other bracketed text stays
    citations: tuple[str, ...]
    pinned: bool
    person: bool
    text: str  # the line without its bullet
    unverified: bool = False
    summed: bool = False  # added up by the harness over the parts of a raw: no source says it

    @property
    def cell(self) -> Cell:
        return self.entity, self.field


class Side(NamedTuple):
    """One side of a contradiction line: a value and the citations behind it."""

    value: str
    citations: tuple[str, ...]


def citations(text: str) -> tuple[str, ...]:
    """The `N.k` a text cites, in order, each once: from `[1.1] [1.2]`, `[1.1][2.1]` and `[1.1, 1.2]`."""
    found = (match.group(1) for match in _BRACKETS.finditer(text))
    return tuple(dict.fromkeys(cited for inside in found if _IDS.fullmatch(inside) for cited in _ID.findall(inside)))


@lru_cache(maxsize=8_192)
def without_marks(text: str) -> str:
    """The text without citations and the marks [person], [pinned], [unverified], [summed]; other brackets stay."""
    return _SPACED_BRACKETS.sub(lambda match: "" if _is_mark(match[1]) else match[0], text).strip()


def with_citation(line: str, *ids: str) -> str:
    """The line with more citations behind its last one; marks at its end stay there."""
    cited = "".join(f" [{id}]" for id in ids)
    found = [match for match in _BRACKETS.finditer(line) if _IDS.fullmatch(match[1])]
    if found:
        return f"{line[: found[-1].end()]}{cited}{line[found[-1].end() :]}"
    marks = _MARKS_AT_END.search(line)
    at = marks.start() if marks else len(line)
    return f"{line[:at].rstrip()}{cited}{line[at:]}"


def with_numbers(text: str, numbers: Mapping[int, int]) -> str:
    """The text with other raws cited: `[3.1]` is `[7.1]` where 3 became 7. What is no citation stays."""

    def cited(match: re.Match[str]) -> str:
        return _ID.sub(other, match[0]) if _IDS.fullmatch(match[1]) else match[0]

    def other(id: re.Match[str]) -> str:
        number, _, place = id[0].partition(".")
        return f"{numbers.get(int(number), number)}.{place}"

    return _BRACKETS.sub(cited, text)


def at_dash(text: str) -> tuple[str, str] | None:
    """What stands before the first dash, and behind it; None where there is none."""
    dash = _DASH.search(text)
    return (text[: dash.start()], text[dash.end() :]) if dash else None


def without_periods(text: str, named: Iterable[Period]) -> str:
    """The text with blanks for the periods found in it; a number that stays is a name's: Company 4, G7."""
    for span in named:
        text = text[: span.at] + " " * len(span.text) + text[span.at + len(span.text) :]
    return text


def _is_mark(inside: str) -> bool:
    return inside.strip().casefold() in _MARKS or bool(_IDS.fullmatch(inside))


@lru_cache(maxsize=8_192)  # from round to round most lines stay
def parse_fact(line: str, grid: Grid) -> Fact:
    """A line of Confirmed (bullet or not) as entity, field, period and value, as far as it has that form."""
    text = _BULLET.sub("", line, count=1).strip()
    marks = {match.group(1).strip().casefold() for match in _BRACKETS.finditer(text)}
    entity, field, period, value = _split(without_marks(text), grid)
    return Fact(
        entity=entity,
        field=field,
        period=period,
        value=value,
        citations=citations(text),
        pinned=text.casefold().endswith("[pinned]"),
        person="person" in marks,
        text=text,
        unverified="unverified" in marks,
        summed="summed" in marks,
    )


def _split(bare: str, grid: Grid) -> tuple[str, str, str, str]:
    nothing = ("", "", "", bare)
    entity, rest = _take(bare, grid.entities, _COLON)
    if not entity:
        return nothing
    field, tail = _take(rest, grid.fields, None)
    parts = at_dash(tail)
    if field and parts and _is_period(parts[0]):
        return entity, field, _period_text(parts[0]), parts[1].strip()
    parts = at_dash(rest)
    if parts is None:
        return nothing
    head, value = parts
    named = periods(head)
    cut = named[-1].at if named else len(head)
    field = _by_stems(_PREPOSITION.sub("", head[:cut]), grid.fields) if _is_period(head[cut:]) else ""
    return (entity, field, head[cut:].strip(), value.strip()) if field else nothing


def _take(text: str, choices: Iterable[str], behind: re.Pattern[str] | None) -> tuple[str, str]:
    """The longest of `names` that the text begins with (its case and endings aside), and the text after it."""
    folded = text.casefold()
    for name in sorted(choices, key=len, reverse=True):
        wanted = name.casefold()
        if not wanted or not folded.startswith(wanted) or len(folded) != len(text):
            continue
        rest = text[len(wanted) :]
        gap = behind.match(rest) if behind else re.match(r"(?!\w)\s*", rest)
        if gap:
            return name, rest[gap.end() :]
    head = behind.search(text) if behind else None
    if head is None:
        return "", text
    return _by_stems(text[: head.start()], choices), text[head.end() :]


def _by_stems(text: str, choices: Iterable[str]) -> str:
    """The name with the same stems as the text, "" if there is none: «выручки» is the field «выручка»."""
    said = words(text)
    known = heads(said)
    for name in choices:
        wanted = words(name)
        if (
            len(wanted) == len(said)
            and said
            and may_cover(wanted, known)
            and (wanted == said or stems(name) == stems(text))
        ):
            return name
    return ""


def _is_period(text: str) -> bool:
    # most lines name no period or a plain year: those cost no look at all the forms a period can take
    return not text.strip() or is_period(text)


def _period_text(text: str) -> str:
    return text.strip().strip(",;()").strip()


def filled_cells(confirmed_lines: Iterable[str], grid: Grid) -> frozenset[Cell]:
    """Cells with a value that a citation or a person stands for; [unverified] lines do not count."""
    facts = (parse_fact(line, grid) for line in confirmed_lines)
    return frozenset(
        fact.cell
        for fact in facts
        if fact.field and fact.value and not fact.unverified and (fact.citations or fact.person)
    )


def open_cells(confirmed_lines: Iterable[str], grid: Grid) -> tuple[Cell, ...]:
    """The grid's cells without such a value, row by row."""
    filled = filled_cells(confirmed_lines, grid)
    return tuple((entity, field) for entity in grid.entities for field in grid.fields if (entity, field) not in filled)


def cells_searched(search_lines: Iterable[SearchLine], grid: Grid) -> Mapping[Cell, int]:
    """How many searches in different words looked for each cell: unblocked, naming the entity and the field."""
    queries = dict.fromkeys(line.query for line in search_lines if line.outcome not in NOT_SEARCHED)
    asked: dict[Cell, set[frozenset[str]]] = {}
    for query in queries:
        entities = [name for name in grid.entities if names(query, name)]
        fields = [name for name in grid.fields if entities and names(query, name)]
        for cell in ((entity, field) for entity in entities for field in fields):
            asked.setdefault(cell, set()).add(frozenset(content_stems(query)))
    return {(e, f): len(asked.get((e, f), ())) for e in grid.entities for f in grid.fields}


@lru_cache(maxsize=16_384)
def names(text: str, name: str) -> bool:
    """Whether a short text (a query, a title) holds all the content words of a name, in any order and case ending."""
    said, wanted = _said(text), _said(name)
    if not wanted.words or not may_cover(wanted.words, said.heads):
        return bool(wanted.words) and wanted.folded in said.folded
    return set(wanted.words) <= set(said.words) or bag(name) <= set(stems(text))


class _Said(NamedTuple):
    folded: str
    words: tuple[str, ...]
    heads: frozenset[str]


@lru_cache(maxsize=4_096)  # hundreds of lines are held beside hundreds of names
def _said(text: str) -> _Said:
    found = words(text)
    return _Said(fold(text), found, heads(found))


def sides(line: str) -> tuple[Side, ...]:
    """The sides of a contradiction line, joined by ↔, `vs`, or `;` after a citation, without the head."""
    text = _BULLET.sub("", line, count=1).strip()
    dash = _DASH.search(text)
    body = text[dash.end() :] if dash else text
    parts = [part for part in _BETWEEN_SIDES.split(body) if part and part.strip()]
    return tuple(Side(without_marks(part), citations(part)) for part in parts)
