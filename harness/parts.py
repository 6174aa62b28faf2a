"""A raw that does not fit into one packet, in parts that each read like a raw (SnowBall, design.md, section 5)."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import lru_cache
from typing import NamedTuple, Protocol

from harness.cutting import Cut, cut
from harness.formats.raw import Outline, demote, outline, parse_head, render_opening, render_part_head
from harness.model import RawHead, Source
from harness.ports import CountTokens
from harness.tokens import estimate

WAYS = 3  # of cutting one raw that are remembered, besides the one from its start
LEAST = 2_000  # tokens left for the raw; with fewer, most of each packet would be the prompt
# A raw that is too large to be read whole is cut for this window also where the agent has none.
HUGE_WINDOW = 131_072
RESERVE = 5  # a fifth of the window is kept for the reply and, in a repair turn, the reply before
HEAD_SHARE = 4  # a front matter may take a quarter of a part's budget; a larger one is left out
WIDEST = 16  # characters a token at most, in real text: above that nothing needs to be counted


class Text(Protocol):
    """The text of a raw. Hashable: two that are equal have the same characters."""

    def __hash__(self) -> int: ...

    def blocks(self) -> Iterator[str]: ...

    def slice(self, start: int, end: int) -> str: ...

    @property
    def mark(self) -> str:
        """Another for another text."""
        ...

    @property
    def huge(self) -> bool:
        """Too large to be read whole."""
        ...


class Room(NamedTuple):
    """What one packet for an agent may hold, in tokens by its own `count`."""

    window: int | None = None  # for packet and reply together; None: no limit
    output: int = 0  # the longest reply
    count: CountTokens = estimate
    part_tokens: int = 0  # of a raw in one packet, for programs that read files; 0: any number
    part_lines: int = 0
    parallel: int = 1  # packets at the same time


class Budget(NamedTuple):
    """What a part may have. Hashable, as is `count`."""

    tokens: int
    lines: int
    count: CountTokens

    @property
    def longest(self) -> int:
        """Characters that may fit, and one more: a text of more need not be counted."""
        return self.tokens * WIDEST + 1


NO_LIMIT = Budget(10**12, 0, estimate)


class Part(NamedTuple):
    """Part `number` of `of` of a raw: its own characters from `start` up to `end`, what is repeated above them
    (`lead`), and `text`, all that a role is shown."""

    number: int
    of: int
    start: int
    end: int
    total: int
    lead: str = ""
    text: str = ""

    @property
    def whole(self) -> bool:
        return self.of == 1

    @property
    def last(self) -> bool:
        return self.end == self.total


def budget_of(room: Room, fixed: int) -> Budget:
    """What is left for the raw in a room that has a limit. `fixed`: tokens of everything else in the packet.

    A fifth of the window, or the longest reply where that is more, is kept free.
    """
    if room.window is None:
        tokens = room.part_tokens
    else:
        tokens = room.window - max(room.output, room.window // RESERVE) - fixed
        tokens = min(tokens, room.part_tokens) if room.part_tokens else tokens
    return Budget(tokens, room.part_lines, room.count)


def fits(text: str, budget: Budget | None) -> bool:
    if budget is None:
        return True
    if len(text) >= budget.longest or (budget.lines and text.count("\n") > budget.lines):
        return False
    return estimate(text) <= budget.tokens or budget.count(text) <= budget.tokens


def parts_of(text: Text, budget: Budget, *stretches: tuple[int, int | None]) -> tuple[Part, ...]:
    """The parts that make up stretches of a raw (`None`: up to its end), wherever parts began and ended before.

    Each stretch is cut anew from its start, so that nothing is read twice or skipped. Their `text` is "" still.
    """
    body = _layout(text).outline.body  # the front matter is a part's own only with what follows it
    stretches = tuple((start if start > body else 0, end) for start, end in stretches)
    at = {place for stretch in stretches for place in stretch if place}
    ways = _ways(text, budget)
    cuts = next((way for way in reversed(ways) if at <= {place for one in way for place in (one.start, one.end)}), None)
    if cuts is None:
        cuts = _cuts(text, budget, at)
        ways.append(cuts)
        del ways[1:-WAYS]
    total = cuts[-1].end if cuts else 0
    places = (Part(number, len(cuts), one.start, one.end, total, one.lead) for number, one in enumerate(cuts, 1))
    inside = [(start, total if end is None else end) for start, end in stretches]
    return tuple(one for one in places if any(start <= one.start and one.end <= end for start, end in inside))


def shown(part: Part, text: Text, budget: Budget) -> Part:
    """The part with its text: our front matter, what is repeated from before it, its own characters."""
    head, layout = _layout(text)
    own = text.slice(max(part.start, layout.body), part.end)
    own = demote(own) if layout.adopted else own
    return part._replace(text=_head(head, budget, f"{part.number} of {part.of}") + part.lead + own)


class _Layout(NamedTuple):
    head: RawHead
    outline: Outline


@lru_cache(maxsize=2)
def _layout(text: Text) -> _Layout:
    first = next(text.blocks(), "")
    return _Layout(parse_head(first), outline(first))


@lru_cache(maxsize=2)
def _ways(text: Text, budget: Budget) -> list[tuple[Cut, ...]]:
    """How the raw was cut for this budget so far, first as if from its start: a way that has a boundary where the last
    part ended serves for all that follow, and no pass but the first cuts anew."""
    return [_cuts(text, budget, ())]


def _cuts(text: Text, budget: Budget, at: Collection[int]) -> tuple[Cut, ...]:
    """The cuts of a raw, some of them at given places. The first has the front matter as its own too."""
    head, layout = _layout(text)
    stray = layout.stray or Source("", "")
    opening = render_opening(layout.stray_number, stray) if layout.stray else ""
    places = {*at, layout.first} if layout.stray and not layout.adopted else {*at}
    above = _head(head, budget, "99999 of 99999")
    left = budget.tokens - budget.count(above)
    lines = max(1, budget.lines - above.count("\n")) if budget.lines else 0
    body = _body(text, layout.body)
    sources = not layout.adopted
    shift = layout.body
    inside = sorted(place - shift for place in places if place > shift)
    cuts = cut(body, left, budget.count, sources=sources, opening=opening, lines=lines, at=inside)
    placed = [one._replace(start=one.start + shift, end=one.end + shift) for one in cuts]
    if not placed:  # a front matter alone
        return (Cut(0, shift, "", 0),) if shift else ()
    return (placed[0]._replace(start=0), *placed[1:])


def _body(text: Text, start: int) -> Iterator[str]:
    left = start
    for block in text.blocks():
        yield block[left:] if left else block
        left = max(0, left - len(block))


def _head(head: RawHead, budget: Budget, part: str) -> str:
    """The front matter of a part; only its kind where people or pages made it very long."""
    full = render_part_head(head, part)
    small = budget.count(full) * HEAD_SHARE <= budget.tokens
    return full if small else render_part_head(RawHead(head.kind), part)
