"""Rules of `harness check` that look into the raws: citations, numbers, addresses, newer figures, planted orders."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from harness.facts import Cell, citations, names, parse_fact
from harness.grounding import claims, missing, page_of
from harness.guards import text
from harness.guards.lines import MARK, UNVERIFIED
from harness.model import Defect, Grid, Source
from harness.patterns import lazy
from harness.periods import Period, newest, periods
from harness.words import heads, may_cover, sentences, words


class RawText(NamedTuple):
    """A raw as it is looked into."""

    number: int
    text: str
    sources: tuple[Source, ...]


Raws = Callable[[], Iterator[RawText]]  # all that can be read, in order; read anew at each call
TOLD_BY = {"pasted": "pasted by a person", "digest": "told by a model"}
ORDERS_NAMED = 5
LONGEST = 400  # characters of a sentence in which a newer figure is looked for
# What pages write to be obeyed by a model. They were data to every role; whoever reads the case should know. The words
# are looked for first: 100 MB take 20 times as long by the pattern.
ORDER_WORDS = (
    "ignore ", "disregard ", "forget ", "system prompt", "answer.md", "next_query.txt", "summary.md", "remove the fact",
    "you are now", "игнорируй", "забудь", "не учитывай", "запиши", "удали", "忽略",
)  # fmt: skip
ORDER = lazy(
    r"\b(?:ignore|disregard|forget) (?:all |any )?(?:the |your |these )?(?:above|previous|prior|earlier)\b"
    r"|\byou are now (?:an? )?(?:ai|assistant|language model)\b|\bsystem prompt\b"
    r"|\b(?:answer\.md|next_query\.txt|summary\.md)\b|\bremove the facts? about\b"
    r"|(?:игнорируй|забудь|не учитывай)\w*,? (?:все |всё )?(?:предыдущ|выше|прежн)\w*|запиши\w* в \S+\.(?:md|txt)"
    r"|удали\w* факт|忽略(?:以上|之前|前面)"
)


class Evidence(NamedTuple):
    """What the raws say to the lines of a case: defects of summary.md, and lines of raws that give orders."""

    summary: tuple[Defect, ...]
    orders: tuple[tuple[str, int, str], ...]  # (file, line number, line)


class _Line:
    """A line with what it says that none of its sources has, as far as they were read."""

    def __init__(self, line: str, grid: Grid) -> None:
        self.line = line
        self.cited = citations(line)
        self.claims = claims(parse_fact(line, grid), line)
        self.open = () if MARK.search(line) or UNVERIFIED.search(line) else missing(self.claims, ())
        self.addresses = [match.group().rstrip(".,;:!?") for match in text.URL.finditer(line)]
        self.found: set[str] = set()
        self.origins: set[str] = set()

    def read(self, id: str, source: Source) -> None:
        self.found.add(id)
        self.origins.add(source.origin)
        if self.open:
            lacking = set(missing(self.claims, [page_of(source)]))
            self.open = tuple(piece for piece in self.open if piece in lacking)
        self.addresses = [
            address for address in self.addresses if not text.is_known(address, (source.url, source.text))
        ]


def evidence(lines: Sequence[str], grid: Grid, raws: Raws, newest_of: Mapping[Cell, Period]) -> Evidence:
    """`lines`: of Confirmed and Contradictions. `newest_of`: the newest period that a cell has. One pass over the raws,
    and a second one only where a number stands in no source that its line cites."""
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
            for cell, defect in _newer(source, f"{number}.{k}", newest_of):
                stale.setdefault(cell, defect)
        orders += ((f"raw_{number}.md", at, line) for at, line in _orders(whole))
    defects = [defect for one in told for defect in _of_line(one, there)]
    defects += _ungrounded([one for one in told if one.open and set(one.cited) == one.found], raws)
    return Evidence((*defects, *stale.values()), tuple(orders))


def _of_line(one: _Line, there: set[int]) -> Iterator[Defect]:
    for id in one.cited:
        if id not in one.found and int(id.partition(".")[0]) in there:
            yield Defect("unknown-citation", f"there is no source [{id}]", one.line)
        elif id not in one.found:
            yield Defect("gone-source", f"raw_{id.partition('.')[0]}.md is gone", one.line)
    if one.origins and one.origins <= set(TOLD_BY):
        told = ", ".join(sorted(TOLD_BY[origin] for origin in one.origins))
        yield Defect("told-only", f"rests only on text that was {told}", one.line)
    for address in one.addresses:
        code = "placeholder-source" if text.PLACEHOLDER_HOST.search(address) else "unknown-address"
        yield Defect(code, f"no source that the line cites has {address}", one.line)


def _ungrounded(lines: Sequence[_Line], raws: Raws) -> Iterator[Defect]:
    """Whether a number stands in another source is told: that is a wrong citation, and no invention."""
    wanted = {(one.line, piece): "" for one in lines for piece in one.open}
    for number, _, sources in raws() if wanted else ():
        for k, source in enumerate(sources, 1):
            looked_for = dict.fromkeys(piece for (_, piece), id in wanted.items() if not id)
            here = {piece for piece in looked_for if not missing(piece, [page_of(source)])}
            wanted |= {key: f"{number}.{k}" for key, id in wanted.items() if not id and key[1] in here}
    for (line, piece), id in wanted.items():
        cited = ", ".join(f"[{one}]" for one in citations(line))
        told = f"{piece} stands in [{id}], not in {cited}" if id else f"{piece} does not stand in {cited}"
        yield Defect("ungrounded", told, line)


def _orders(whole: str) -> list[tuple[int, str]]:
    folded = whole.casefold()
    if not any(word in folded for word in ORDER_WORDS):
        return []
    lines = enumerate(whole.split("\n"), 1)
    return [(at, line.strip()) for at, line in lines if ORDER.search(line.casefold())][:ORDERS_NAMED]


def _newer(source: Source, id: str, newest_of: Mapping[Cell, Period]) -> Iterator[tuple[Cell, Defect]]:
    """Sentences of a document about an entity that name a field with a later period than any that is confirmed."""
    called = heads(words(source.title))
    cells = [cell for cell in newest_of if may_cover(_words(cell[0]), called) and names(source.title, cell[0])]
    lowered = source.text.casefold() if cells else ""
    for cell in cells:
        first = cell[1].casefold().split()[0][:4]  # a cheap test before the sentences are looked at
        for sentence in (one for line in _lines_with(first, source.text, lowered) for one in sentences(line)):
            told = len(sentence) <= LONGEST and names(sentence, cell[1]) and re.search(r"\d", sentence)
            latest = newest(periods(sentence)) if told else None
            if latest and latest.end > newest_of[cell].end:
                told_of = f"{cell[0]}: {cell[1]} is confirmed for {newest_of[cell].text}"
                yield cell, Defect("stale", f"{told_of}, and [{id}] has {latest.text}", sentence)
                break


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
