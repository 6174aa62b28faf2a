"""Where a part ends: as late as the budget lets it, at the strongest boundary that is late enough."""

from __future__ import annotations

from typing import NamedTuple

from harness.cutting.leads import Leads
from harness.cutting.outline import Outline, Start
from harness.cutting.regions import Region
from harness.cutting.sentences import character_end, line_end, sentence_end, word_end
from harness.cutting.tally import JOINT, Tally
from harness.cutting.window import NOWHERE
from harness.ports import CountTokens

MOST_CHARACTERS = 12
"""Characters a token that are looked at: prose has 2 to 5; a part of blanks alone, which has more, is cut there."""
_AIM = 0.94  # of the room: the estimate errs by about 5 %, and a part over the budget is counted again
_HALF = 0.55  # of the room: a part as full as that is well filled for a strong boundary
_FULL = 0.8  # of what was aimed at: where the estimate was less, a part is tried again
_NEARLY = 1.02  # of the estimate: what is so long may still fit, and is counted
_CLEARLY = 0.85  # of the budget: what is estimated below it is taken to fit without a count
_SAMPLES, _SAMPLE = 6, 160  # pieces, and characters of each at most, that tell the characters a token
_COUNTED = 3_200  # characters: a shorter piece is counted, not estimated
_SECTION = 0.6  # of a part's length: a heading before it is too early to cut at


class Part(NamedTuple):
    end: int
    lead: str


class Packer:
    """All that decides is the text from a part's beginning on and its lead, so any part can be the first."""

    def __init__(self, outline: Outline, leads: Leads, budget: int, count: CountTokens, lines: int) -> None:
        self._outline = outline
        self._window = outline.window
        self._leads = leads
        self._budget = budget
        self._count = count
        self._tally = Tally(outline.window, count)
        self._lines = lines
        self._begin = 0
        self._limit = 0  # as far as is looked
        self._last: int | None = None  # the end of the text, where it is within the limit
        self._ratio = 1.0  # characters a token

    def part(self, at: int, stop: int | None) -> Part:
        """The part that begins at `at`, ending at `stop` at the latest."""
        self._begin = at
        self._limit = min(at + MOST_CHARACTERS * self._budget, self._window.end)
        self._last = self._limit if self._window.ended and self._limit == self._window.end else None
        self._tally.begin(at)
        lead = self._leads.at(at)
        end = self._end(lead, self._limit)
        if (whole := self._atom(end)) and whole <= self._limit and self._within("", whole, self._budget):
            # A row that fits alone stays whole; what would stand above it gives way.
            end, lead = whole, ""
        if stop is not None and stop < end:
            end = stop if self._within(lead, stop, self._room(lead)) else self._end(lead, stop)
        return Part(end, lead)

    def _end(self, lead: str, limit: int) -> int:
        """Few counts of whole parts: a guess from a sample, and mostly one count that confirms it."""
        begin = self._begin
        room = self._room(lead)
        self._ratio = self._per_token(begin, limit)
        high = min(limit, begin + max(int(room * _AIM * self._ratio), 1))
        whole = self._next_start(begin)
        if (
            whole is not None
            and high < whole <= limit
            and self._may_fit(begin, whole)
            and self._within(lead, whole, room)
        ):
            return whole
        packed = next((start.at for start in self._outline.starts if start.at >= high), self._last)
        if packed is not None and (packed - begin) * _AIM <= high - begin and self._within(lead, packed, room):
            return packed
        over, best = limit + 1, None
        for attempt in range(64):
            lined = self._line_limit(lead, high)
            end = self._best(lined)
            tokens = self._tally.tokens(begin, end, room)
            if tokens <= room:
                best = max(best or 0, end)
                full = (end - begin) * room * _AIM / max(tokens, 1)
                done = lined < high or high >= min(limit, over - 1) or attempt > 4
                early = end - begin < _FULL * (high - begin)  # by a strong boundary, not by the estimate
                if done or (early and tokens >= _HALF * room) or high - begin >= _FULL * full:
                    return best
                high = min(limit, over - 1, max(int(begin + full), high + 1))
            elif best is not None or end - begin <= 1:
                return best or end
            else:
                over = end
                # Counts that do not add up would make the steps small.
                share = 0.5 if attempt > 4 else min(room * _AIM / tokens, 0.98)
                high = begin + max(int((end - begin) * share), 1)
        return best or begin + 1

    def _room(self, lead: str) -> int:
        """Tokens that the part's own text may have."""
        return max(self._budget - self._count(lead) - JOINT, 1) if lead else self._budget

    def _within(self, lead: str, end: int, room: int) -> bool:
        return self._line_limit(lead, end) == end and self._tally.fits(self._begin, end, room)

    def _may_fit(self, begin: int, end: int) -> bool:
        """Whether a piece of the text is worth a count of its own; a short one always is."""
        if end - begin <= _COUNTED:
            return True
        return end - begin <= _NEARLY * self._budget * self._per_token(begin, end, whole=True)

    def _per_token(self, begin: int, limit: int, whole: bool = False) -> float:
        """Characters a token in a piece of the text, or in what a part from its beginning may hold, from samples."""
        length = limit - begin if whole else min(limit - begin, 4 * self._budget)
        # An eighth of a small part: more would take as long as another count of it.
        size = min(_SAMPLE, max(self._budget // 20, 40))
        if length <= _SAMPLES * size:
            sample = self._window.slice(begin, begin + length)
        else:
            step = (length - size) // (_SAMPLES - 1)
            places = range(begin, begin + _SAMPLES * step, step)
            sample = "".join(self._window.slice(place, place + size) for place in places)
        return len(sample) / max(self._count(sample), 1)

    def _line_limit(self, lead: str, high: int) -> int:
        """`high`, or the end of the last line that may be in the part."""
        if not self._lines:
            return high
        allowed = max(self._lines - lead.count("\n"), 1)
        at = self._begin
        if self._window.count("\n", at, high - 1) < allowed:
            return high
        for _ in range(allowed):
            at = self._window.find("\n", at, high) + 1
        return at

    def _next_start(self, at: int) -> int | None:
        """Where the next source behind `at` begins, or the text ends, if that is within the limit."""
        for start in self._outline.starts:
            if start.at > at:
                return start.at if start.at <= self._limit else None
        return self._last

    def _fits(self, start: int, end: int | None) -> bool:
        """Whether a piece of the text fits into a part of its own; if it is wrongly said to, it only begins a part."""
        if end is None or end > self._limit:
            return False
        lined = self._window.count("\n", start, end) + (not self._window.starts("\n", end - 1)) if self._lines else 0
        if lined > self._lines:
            return False
        clearly = end - start <= _CLEARLY * self._budget * self._ratio
        return clearly or (self._may_fit(start, end) and self._tally.fits(start, end, self._budget))

    def _atom(self, end: int) -> int | None:
        """The end of what begins with the part and is not to be torn, where `end` tears it."""
        region = self._outline.region_over(end)
        if region is None or region.start > self._begin:
            return None
        if region.whole and region.start == self._begin:
            return region.end
        if region.prose or region.boundary(self._window, end - 1, end) is not None:
            return None
        return region.next(self._window, end, self._limit)

    def _best(self, high: int) -> int:
        """The best end up to `high`: where a source ends; before what fits a part and is to stay whole; a row's end;
        a heading, a paragraph's end, a sentence's, a word's, a character's."""
        begin = self._begin
        if high == self._last:
            return high
        low = begin + (high - begin) // 2
        start = next((start for start in reversed(self._outline.starts) if begin < start.at <= high), None)
        if start:
            if start.at >= low or self._fits(start.at, self._next_start(start.at)) or high <= start.end:
                return start.at
            low = max(low, start.end)
        region = self._outline.region_over(high)
        if region:
            end = self._region_end(region, start, low, high)
            if end is not None:
                return end
        return self._prose_end(low, high)

    def _region_end(self, region: Region, start: Start | None, low: int, high: int) -> int | None:
        """An end before a region or between its rows; None: it must be cut like prose."""
        begin = max(self._begin, start.end if start else 0)
        ahead = region.start > begin
        if ahead and (region.whole or region.start >= low) and self._fits(region.start, region.end):
            return self._heading_before(region.start)
        if region.prose:
            return None
        inside = max(begin, region.start)
        end = region.boundary(self._window, max(low, inside), high)
        if end is None and not (ahead and region.start >= low):
            end = region.boundary(self._window, inside, high)
        if end is None and ahead:
            return self._heading_before(region.start)
        return end if end is not None else region.rough(self._window, inside, high)

    def _prose_end(self, low: int, high: int) -> int:
        section = max(low, self._begin + int((high - self._begin) * _SECTION))
        headings = [heading for heading in self._outline.headings if section <= heading.at <= high]
        if headings and headings[0].at > self._begin:
            return min(headings, key=lambda heading: (heading.level, -heading.at)).at
        passed = self._outline.passed(high)
        paragraph = self._paragraph_end(max(low, passed), high)
        if paragraph is not None:
            return paragraph
        if passed > low:
            return passed
        text, first = self._window.place(0)
        place = low + first, high + first
        end = line_end(text, *place) or sentence_end(text, *place) or word_end(text, *place)
        return (end if end is not None else character_end(text, self._begin + first, high + first)) - first

    def _paragraph_end(self, low: int, high: int) -> int | None:
        top = high
        while (found := self._window.rfind("\n\n", low, top)) != NOWHERE:
            end = found + 2
            while end < high and self._window.starts("\n", end):
                end += 1
            before = self._heading_before(end)
            if before > low:
                return before
            top = found + 1
        return None

    def _heading_before(self, at: int) -> int:
        """`at`, or where the headings begin that stand right above it: none is parted from its text."""
        for heading in reversed(self._outline.headings):
            if heading.at >= at:
                continue
            if heading.at <= self._begin or self._window.slice(heading.end, at).strip():
                break
            at = heading.at
        return at
