"""Packs the messages of a request into parts: whole groups together, a message cut only where its group is too long."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, cast

from harness.cutting import cut
from harness.ports import CountTokens  # names its argument, which `len` and most counters do not
from harness.snowball.messages import Group, Seen, grouped
from harness.snowball.sizes import Count, fit

LEAD_SHARE = 4  # a call that is repeated before each piece of its result takes at most a quarter of a part
BETWEEN = "\n\n"
CALLED = "[assistant] "


class Span(NamedTuple):
    """Characters `start` to `end` of the text of one message of the material."""

    message: int
    start: int
    end: int


class Part(NamedTuple):
    """What one call reads: the spans it holds, and their text with roles and leads as it is shown."""

    spans: tuple[Span, ...]
    text: str


def pack(material: Sequence[Seen], budget: int, count: Count) -> tuple[Part, ...]:
    """Every character of the material is in exactly one part, in order. A part's text has at most `budget` tokens.

    Tool calls and their results are in one part; where they alone exceed it, every part that holds a piece of a
    result opens with the call. Linear in the length of the material.
    """
    pages = _Pages(material, budget, count)
    for group in grouped(material):
        pages.add(group)
    pages.turn()
    return tuple(pages.parts)


class _Pages:
    """The part being filled, and those that are full."""

    def __init__(self, material: Sequence[Seen], budget: int, count: Count) -> None:
        self.material, self.budget, self.count = material, budget, count
        self.parts: list[Part] = []
        self._spans: list[Span] = []
        self._texts: list[str] = []
        self._used = 0
        self._said: dict[str, str] = {}  # id → tool call, of the group that is being cut
        self._here: set[str] = set()  # ids of its calls that the part being filled holds

    def add(self, group: Group) -> None:
        """Into the part being filled, or a new one, or several."""
        members = range(group.start, group.end)
        shown = [self._shown(at) for at in members]
        sizes = [self._size(text) for text in shown]
        if self._used + sum(sizes) > self.budget:
            self.turn()
        if sum(sizes) <= self.budget:
            for at, text, tokens in zip(members, shown, sizes, strict=True):
                self._put(Span(at, 0, len(self.material[at].text)), text, tokens)
            return
        self._said = {}
        for at, text, tokens in zip(members, shown, sizes, strict=True):
            self._add_alone(at, text, tokens)

    def _add_alone(self, at: int, text: str, tokens: int) -> None:
        """One message of a group that does not fit whole."""
        message = self.material[at]
        self._said.update(zip(message.calls, message.said, strict=True))
        lead = self._lead(message.answers)
        if self._used + tokens + (self._size(lead) if lead else 0) > self.budget:
            self.turn()
        self._open(message.answers)
        if self._used + tokens <= self.budget:
            self._put(Span(at, 0, len(message.text)), text, tokens)
            return
        label = self._label(at)
        room = self.budget - self._used - self._size(label)
        for piece in cut((message.text,), room, cast(CountTokens, self.count), sources=False):
            if self._spans:
                self.turn()
                self._open(message.answers)
            shown = label + piece.lead + message.text[piece.start : piece.end]
            self._put(Span(at, piece.start, piece.end), shown, self._size(shown))
        if message.calls:  # its end alone does not tell what was called
            self.turn()

    def turn(self) -> None:
        """Close the part being filled."""
        if self._spans:
            self.parts.append(Part(tuple(self._spans), BETWEEN.join(self._texts)))
        self._spans, self._texts, self._used, self._here = [], [], 0, set()

    def _open(self, answers: Sequence[str]) -> None:
        if lead := self._lead(answers):
            self._texts.append(lead)
            self._used += self._size(lead)
            self._here.update(answers)

    def _lead(self, answers: Sequence[str]) -> str:
        """The calls that a message answers and the part does not hold, each on one line and cut where they are long."""
        calls = [
            " ".join(self._said[each].split()) for each in answers if each in self._said and each not in self._here
        ]
        share = self.budget // LEAD_SHARE // max(1, len(calls)) - self._size(CALLED)
        return "\n".join(CALLED + fit(call, share, self.count) for call in calls)

    def _put(self, span: Span, text: str, tokens: int) -> None:
        self._spans.append(span)
        if span.end - span.start == len(self.material[span.message].text):
            self._here.update(self.material[span.message].calls)
        self._texts.append(text)
        self._used += tokens

    def _size(self, text: str) -> int:
        return self.count(text + BETWEEN)

    def _label(self, at: int) -> str:
        return f"[{self.material[at].role}]\n" if len(self.material) > 1 else ""

    def _shown(self, at: int) -> str:
        return self._label(at) + self.material[at].text
