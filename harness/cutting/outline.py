"""What stands where in a text: its sources, headings, and the stretches that are not cut like prose."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import deque
from operator import attrgetter
from typing import NamedTuple

from harness.cutting.jsons import Json, json_at
from harness.cutting.regions import AHEAD, Region, Tools, fence_at, steps_at
from harness.cutting.tables import HtmlTable, separated_at, table_at
from harness.cutting.window import Found, Window
from harness.formats.openings import details, opening_at
from harness.formats.text import shortened
from harness.patterns import lazy

# Both begin with one character that is seldom, so that the search runs from one to the next at the speed of memory; a
# look at what a line begins with spares most lines the rest.
_LINE = lazy(
    r"\n(?= {0,3}[#`~|:A-])(?: {0,3}(?:(?P<heading>#{1,6})[ \t]|(?P<fence>```|~~~)|(?P<pipe>\|))"
    r"|(?P<dashes>[:-][-: \t]*\|[-:| \t]*\n)|(?P<action>Action(?: ?\d+)?:))"
)
_NUMBERED = lazy(r"\n##[ \t]+[0-9]")
_TAG = lazy(r"<(?:(?P<table>table|TABLE|Table)|tool_calls?|tool_use|function_calls?)\b")
_TITLE, _VALUE, _DETAILS = 300, 500, 12  # characters of a source's title and of a detail, and how many, in a lead
HEADING = 200
"""Characters of a heading that the parts below it show."""
_HEAD = 2_000  # characters of the header of a table without pipes before its rows
_TAG_LENGTH = 20
# What JSON begins with, or a line with a separator that has no blank behind it.
_BODY = lazy(r"\s*(?P<first>(?P<json>[\[{])|(?=[^\s#|<])[^\n]{0,400}?(?:,(?! )|[\t;|]))")


_start = attrgetter("start")


class Start(NamedTuple):
    """The opening of a source, up to `end`; `block` is what the source's other parts show. Number 0: no source."""

    at: int
    end: int
    number: int
    block: str


class Heading(NamedTuple):
    at: int
    end: int
    level: int
    line: str


class Outline:
    """Reads the text once, from one mark to the next, ahead of the parts; no mark depends on where a part ends."""

    def __init__(self, window: Window, sources: bool, block: str) -> None:
        self.window = window
        self.source = Start(-1, 0, 0, block)
        self.path: tuple[Heading, ...] = ()
        self.starts: deque[Start] = deque()
        self.headings: deque[Heading] = deque()
        self.regions: list[Region] = []
        self.solid = 0  # the end of the last region that was passed
        self._at = 0  # all marks before it are known
        self._floor = 0  # where the last one ends
        self._coming: Start | None = None  # the next opening
        self._sources_at = 0 if sources else None  # no opening but that one before it
        self._number = 1
        self._region: Region | None = None
        self._tag: tuple[int, Found | None] = (-1, None)  # the first tag from there on
        self._body = True  # `_at` is where a text begins: at its start, behind an opening or a heading

    def scan(self, limit: int) -> None:
        """Knows all marks before `limit`. The window holds the text up to `limit` + 3 × AHEAD, or all of it."""
        limit = min(limit, self.window.end)
        while self._at < limit:
            if self._coming is None:
                self._coming = self._next_source(min(self.window.end, limit + AHEAD))
            start = self._coming
            # What is looked at never reaches into the next source.
            hard = start.at if start else min(self.window.end, limit + AHEAD)
            self._within(min(limit, hard), hard)
            if start and self._at >= start.at:
                self._open(start)

    def advance(self, at: int) -> None:
        """What is open at `at`, where the next part begins: `source`, `path`, and the first of `regions`."""
        while self.starts or self.headings:
            source = not self.headings or (bool(self.starts) and self.starts[0].at < self.headings[0].at)
            if (self.starts[0].at if source else self.headings[0].at) >= at:
                break
            if source:
                self.source, self.path = self.starts.popleft(), ()
            else:
                heading = self.headings.popleft()
                self.path = (*self.above(heading), heading)
        gone = 0
        while gone < len(self.regions) and (end := self.regions[gone].end) is not None and end <= at:
            self.solid = end
            gone += 1
        del self.regions[:gone]
        if self.regions:
            self.regions[0].forget(at)

    def above(self, heading: Heading) -> tuple[Heading, ...]:
        """The headings on the way to one."""
        return tuple(open_ for open_ in self.path if open_.level < heading.level)

    def region_over(self, at: int) -> Region | None:
        """The region that a cut at `at` would part."""
        index = bisect_left(self.regions, at, key=_start) - 1
        if index < 0:
            return None
        region = self.regions[index]
        return region if region.end is None or at < region.end else None

    def passed(self, at: int) -> int:
        """Where the last region ends that ends at `at` or before it; 0 if none does."""
        index = bisect_left(self.regions, at, key=_start) - 1
        for region in self.regions[max(index - 1, 0) : index + 1][::-1]:
            if region.end is not None and region.end <= at:
                return region.end
        return 0

    def _next_source(self, upto: int) -> Start | None:
        if self._sources_at is None:
            return None
        at = self._sources_at
        while found := self.window.search(_NUMBERED, at - 1, min(upto + AHEAD, self.window.end)):
            at = found.start() + 1
            if at >= upto:
                break
            text, place = self.window.place(at)
            if opening := opening_at(text, place, self._number, min(place + AHEAD, len(text))):
                end = details(text, opening.end(), min(place + AHEAD, len(text)))[1]
                self._number += 1
                self._sources_at = at + end - place
                return Start(at, self._sources_at, self._number - 1, _block(text[place:end]))
            at += 1
        self._sources_at = max(self._sources_at, upto)
        return None

    def _open(self, start: Start) -> None:
        if self._region:
            self._region.end = start.at
            self._region = None
        self.starts.append(start)
        self._coming = None
        self._at = self._floor = start.end
        self._body = True

    def _within(self, stop: int, hard: int) -> None:
        while self._at < stop:
            if self._region:
                self._at = self._region.scan(self.window, self._at, stop, hard)
                if self._region.end is not None:
                    self._at = self._floor = self._region.end
                    # A broken line of JSON: the next one may be whole.
                    self._body = isinstance(self._region, Json) and self.window.starts("\n", self._at - 1)
                    self._region = None
            elif self._body:
                self._body = False
                self._begin(self._body_at(self._at, hard))
            else:
                self._plain(stop, hard)

    def _body_at(self, at: int, hard: int) -> Region | None:
        """JSON or rows with separators where a text begins; one look tells of most texts that they are neither."""
        found = self.window.match(_BODY, at, min(hard, at + AHEAD))
        if found is None:
            return None
        first = found.start("first")
        return json_at(self.window, first, hard) if found["json"] else separated_at(self.window, first, hard)

    def _begin(self, region: Region | None) -> None:
        if region:
            self.regions.append(region)
            self._region = region
            self._at = region.start

    def _plain(self, stop: int, hard: int) -> None:
        """Notes the headings before `stop`, up to the next fence, table, tool call or record, with which it ends."""
        text, offset = self.window.place(0)
        tag = self._next_tag(hard)
        tag_at = tag.start() if tag else hard
        for line in _LINE.finditer(text, max(self._at - 1 + offset, 0), hard + offset):
            at = line.start() + 1 - offset
            if at >= stop or at > tag_at:
                break
            region = self._heading(line, offset, hard) if line[1] else self._region_of(line, at, hard)
            if region:
                self._begin(region)
                return
        if tag and tag_at < stop:
            self._begin(HtmlTable(self.window, tag_at, hard) if tag["table"] else Tools(tag_at))
        else:
            self._at = stop

    def _region_of(self, line: re.Match[str], at: int, hard: int) -> Region | None:
        if line["fence"]:
            return fence_at(self.window, at, hard)
        if line["action"]:
            return steps_at(self.window, at, hard)
        if line["pipe"]:
            return table_at(self.window, at, hard)
        head = self.window.line_start(at - 1)
        if head < self._floor or at - head > _HEAD or line.end() - line.start() > _HEAD:
            return None
        return table_at(self.window, head, hard)

    def _heading(self, line: re.Match[str], offset: int, hard: int) -> Region | None:
        """Notes a heading; the JSON or the rows that begin behind it. Called most often, so it calls little."""
        text, start = line.string, line.start() + 1
        upto = min(hard + offset, start + AHEAD)
        end = text.find("\n", start, upto) + 1 or upto
        self.headings.append(
            Heading(start - offset, end - offset, len(line[1]), text[start : min(end, start + HEADING + 1)])
        )
        self._floor = end - offset
        if _BODY.match(text, end, min(hard + offset, end + AHEAD)):
            return self._body_at(end - offset, hard)
        return None

    def _next_tag(self, hard: int) -> Found | None:
        """The first tag from `_at` on; looked for once, not again at every mark before it."""
        upto, found = self._tag
        if found is None or found.start() < self._at:
            found = self.window.search(_TAG, max(upto, self._at), hard) if hard > max(upto, self._at) else None
            # A tag that is cut off at `hard` is found the next time.
            self._tag = (found.start() if found else max(upto, self._at, hard - _TAG_LENGTH), found)
        return found


def _block(opening: str) -> str:
    """A source's title and details as its parts show them: as they stand, the longest shortened."""
    lines = [line for line in opening.split("\n") if line.strip()]
    shown = [shortened(lines[0], _TITLE), *(shortened(line, _VALUE) for line in lines[1 : _DETAILS + 1])]
    return "\n".join(shown) + "\n\n"
