"""Rules of `harness check` that look into the raws: citations, numbers, addresses, newer figures, planted orders."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from harness.facts import Cell, citations, names
from harness.formats.text import shortened
from harness.grounding import page_of
from harness.guards import text
from harness.guards.grounded import bears_out, lacking, told_of
from harness.guards.lines import MARK, SUMMED, UNVERIFIED
from harness.model import Defect, Grid, Source
from harness.patterns import lazy
from harness.periods import Period, newest, periods
from harness.quantities import quantities
from harness.words import heads, may_cover, sentences, words


class RawText(NamedTuple):
    """A raw as it is looked into."""

    number: int
    text: str
    sources: tuple[Source, ...]


Raws = Callable[[], Iterator[RawText]]  # all that can be read, in order; read anew at each call
TOLD_BY = {"pasted": "pasted by a person", "digest": "told by a model"}
ORDERS_NAMED = 5
FORECAST = lazy(
    r"\b(?:expect|forecast|project|plan|will|target|by 20)|ожида|прогноз|план|к 20\d\d|预计|预测", re.IGNORECASE
)
LONGEST = 400  # characters of a sentence in which a newer figure is looked for
# What pages write to be obeyed by a model. They were data to every role; whoever reads the case should know. The words
# are looked for first: 100 MB take 20 times as long by the pattern.
ORDER_WORDS = (
    *("ignore ", "disregard", "forget ", "new instructions:", ".md", "next_query", "remove the fact", "you are now"),
    *("игнорируй", "забудь", "не учитывай", "не обращай", "запиши", "удали", "忽略"),
)
ORDER = lazy(
    r"\b(?:ignore|disregard|forget)\s+(?:all\s+|any\s+)?(?:the\s+|your\s+|these\s+|of\s+)*(?:(?:above|previous|prior|earlier)\s+)?"
    r"(?:instruction|prompt|rule|direction|text|above)"
    r"|\byou are now (?:an? )?(?:ai|assistant|language model)\b|\bnew instructions:"
    r"|\bwrite\b[^.\n]{0,60}\b(?:answer\.md|next_query\.txt|summary\.md)\b|\bremove the facts? about\b"
    r"|(?:игнорируй|забудь|не учитывай|не обращай внимания на)\w*,? (?:все |всё )?(?:(?:предыдущ|прежн)\w*\s)?"
    r"(?:выше|инструкц|правил|указан)"
    r"|запиши\w* в \S+\.(?:md|txt)"
    r"|удали\w* факт|忽略(?:以上|之前|前面)"
)


class Confirmed(NamedTuple):
    """The newest fact of a cell."""

    period: Period
    line: str


class Evidence(NamedTuple):
    """What the raws say to the lines of a case: defects of summary.md, and lines of raws that give orders."""

    summary: tuple[Defect, ...]
    orders: tuple[tuple[str, int, str], ...]  # (file, line number, line)


class _Line:
    """A line with what it says that none of its sources has, as far as they were read."""

    def __init__(self, line: str, grid: Grid) -> None:
        self.line = line
        self.cited = citations(line)
        self.grid = grid
        told = MARK.search(line) or UNVERIFIED.search(line) or SUMMED.search(line)  # a sum stands in no source
        self.open = () if told else lacking(line, grid, ())
        self.addresses = [match.group().rstrip(".,;:!?") for match in text.URL.finditer(line)]
        self.found: set[str] = set()
        self.origins: set[str] = set()

    def read(self, id: str, source: Source) -> None:
        self.found.add(id)
        self.origins.add(source.origin)
        if self.open:
            left = set(lacking(self.line, self.grid, [page_of(source)]))
            self.open = tuple(piece for piece in self.open if piece in left)
        self.addresses = [
            address for address in self.addresses if not text.is_known(address, (source.url, source.text))
        ]


def evidence(lines: Sequence[str], grid: Grid, raws: Raws, confirmed: Mapping[Cell, Confirmed], last: int) -> Evidence:
    """`lines`: of Confirmed and Contradictions. `confirmed`: the newest fact of each cell. `last`: the newest raw there
    ever was. One pass over the raws; a second one only where a number stands in no source that its line cites."""
    told = [_Line(line, grid) for line in lines]
    by_id: dict[str, list[_Line]] = {}
    for one in told:
        for id in one.cited:
            by_id.setdefault(id, []).append(one)
    there: set[int] = set()
    stale: dict[Cell, Defect] = {}
    orders: list[tuple[str, int, str]] = []
    for number, whole, sources in raws():
        there.add(number)
        for k, source in enumerate(sources, 1):
            for one in by_id.get(f"{number}.{k}", ()):
                one.read(f"{number}.{k}", source)
            for cell, defect in _newer(source, f"{number}.{k}", confirmed):
                stale.setdefault(cell, defect)
        orders += ((f"raw_{number}.md", at, line) for at, line in _orders(whole))
    defects = [defect for one in told for defect in _of_line(one, there, last)]
    doubtful = [one for one in told if one.open and one.cited and set(one.cited) == one.found]
    defects += _ungrounded(doubtful, grid, raws)
    return Evidence((*defects, *stale.values()), tuple(orders))


def _of_line(one: _Line, there: set[int], last: int) -> Iterator[Defect]:
    for id in one.cited:
        if id not in one.found and int(id.partition(".")[0]) in there:
            yield Defect("unknown-citation", f"there is no source [{id}]", one.line)
        elif id not in one.found and int(id.partition(".")[0]) > last:
            yield Defect("unknown-citation", f"there is no raw_{id.partition('.')[0]}.md", one.line)
        elif id not in one.found:
            yield Defect("gone-source", f"raw_{id.partition('.')[0]}.md is gone", one.line)
    if one.origins and one.origins <= set(TOLD_BY):
        told = ", ".join(sorted(TOLD_BY[origin] for origin in one.origins))
        yield Defect("told-only", f"rests only on text that was {told}", one.line)
    for address in one.addresses:
        code = "placeholder-source" if text.PLACEHOLDER_HOST.search(address) else "unknown-address"
        yield Defect(code, f"no source that the line cites has {address}", one.line)


def _ungrounded(lines: Sequence[_Line], grid: Grid, raws: Raws) -> Iterator[Defect]:
    """Where another source has the number and names the subject, it is a wrong citation and no invention."""
    wanted = {(one.line, piece): "" for one in lines for piece in one.open}
    for number, _, sources in raws() if wanted else ():
        for k, source in enumerate(sources, 1):
            found = page_of(source)
            open_now = [key for key, id in wanted.items() if not id]
            wanted |= {key: f"{number}.{k}" for key in open_now if bears_out(*key, grid, found)}
    for (line, piece), id in wanted.items():
        yield Defect("ungrounded", told_of(piece, citations(line), id), line)


def _orders(whole: str) -> list[tuple[int, str]]:
    folded = whole.casefold()
    if not any(word in folded for word in ORDER_WORDS):
        return []
    lines = enumerate(whole.split("\n"), 1)
    return [(at, line.strip()) for at, line in lines if ORDER.search(line.casefold())][:ORDERS_NAMED]


def _newer(source: Source, id: str, confirmed: Mapping[Cell, Confirmed]) -> Iterator[tuple[Cell, Defect]]:
    """Sentences of a document about an entity that give a field's figure for a later period than is confirmed.

    Not what is only expected, and not a sentence that names another entity.
    """
    called = heads(words(source.title))
    entities = dict.fromkeys(entity for entity, _ in confirmed)
    named = {one for one in entities if may_cover(_words(one), called) and names(source.title, one)}
    lowered = source.text.casefold() if named else ""
    for cell in (one for one in confirmed if one[0] in named):
        first = cell[1].casefold().split()[0][:4]  # a cheap test before the sentences are looked at
        for sentence in (one for line in _lines_with(first, source.text, lowered) for one in sentences(line)):
            latest = _newest_in(sentence, cell[1])
            if latest and _is_later(latest, confirmed[cell].period) and _is_figure_of(sentence, cell, entities):
                told = f"[{id}] has {latest.text}: {shortened(sentence, LONGEST)}"
                yield cell, Defect("stale", told, confirmed[cell].line)
                break


def _newest_in(sentence: str, field: str) -> Period | None:
    """The latest period that a sentence about a field names, forecasts aside."""
    about = len(sentence) <= LONGEST and names(sentence, field) and not FORECAST.search(sentence)
    return newest(periods(sentence)) if about else None


def _is_later(one: Period, other: Period) -> bool:
    return one.end > other.end and one.start > other.start


def _is_figure_of(sentence: str, cell: Cell, entities: Iterable[str]) -> bool:
    """Whether a sentence has a figure besides its period, and names no other entity."""
    said = heads(words(sentence))
    others = (one for one in entities if one != cell[0] and may_cover(_words(one), said))
    return any(one.unit != "year" for one in quantities(sentence)) and not any(names(sentence, one) for one in others)


@lru_cache(maxsize=4_096)
def _words(name: str) -> tuple[str, ...]:
    return words(name)


def _lines_with(piece: str, text: str, lowered: str) -> Iterator[str]:
    """The lines of a text whose case-folded form has a piece."""
    if len(lowered) != len(text):  # ß, ŉ: the offsets are not the same
        yield from (line for line in text.split("\n") if piece in line.casefold())
        return
    at = lowered.find(piece)
    while at >= 0:
        end = lowered.find("\n", at)
        end = len(text) if end < 0 else end
        yield text[lowered.rfind("\n", 0, at) + 1 : end]
        at = lowered.find(piece, end)
