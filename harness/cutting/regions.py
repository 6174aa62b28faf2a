"""Stretches of a text that are not cut like prose: what each is, and where in it a part may end."""

from __future__ import annotations

from typing import NamedTuple

from harness.cutting.window import NOWHERE, Window
from harness.patterns import lazy

AHEAD = 16_384
"""Characters that are looked at beyond a position to tell what begins there; a header, an opening or a quoted cell that
is longer is none. One number for all, so that what is found never depends on how much happens to be loaded."""

_FENCE = lazy(r" {0,3}(?P<mark>`{3,}|~{3,})(?P<info>[^\n]*)\n")
_CALL = r"(?:tool_calls?|tool_use|function_calls?)"
_RESULT = r"(?:tool_results?|tool_response|tool_output|function_results?|function_response)"
_TOOL = lazy(rf"</(?:(?P<call>{_CALL})|(?P<result>{_RESULT}))\s*>")
_THEN_RESULT = lazy(rf"[^<]{{0,200}}<{_RESULT}\b")
_THEN_EITHER = lazy(rf"[^<]{{0,200}}<{_CALL}\b|[^<]{{0,200}}<{_RESULT}\b")
_STEP = lazy(
    r"\n(?P<name>Observation|Thought|Action|Final Answer|Question)(?: ?\d+)?:|\n {0,3}#{1,6}[ \t]",
)


class Row(NamedTuple):
    """A place where a part may end: the lower the rank the better. `lead` is shown above a part that begins here."""

    at: int
    rank: int
    lead: str


class Region:
    """`end` is None until it is found. `whole`: stays in one part if it fits. `prose`: cut like prose if it must be."""

    whole = False
    prose = False

    def __init__(self, start: int) -> None:
        self.start = start
        self.head_end = start
        self.end: int | None = None

    def scan(self, window: Window, at: int, end: int, hard: int) -> int:
        """Looks on from `at` to about `end`, and at nothing from `hard` on; sets `self.end` where the region ends.

        Returns where it has come to; the same, wherever the looks before it stopped.
        """
        raise NotImplementedError

    def boundary(self, window: Window, low: int, high: int) -> int | None:
        """The best place for a part to end above `low` and up to `high`."""
        return None

    def next(self, window: Window, low: int, limit: int) -> int | None:
        """The end of the row that goes over `low`, if it ends by `limit`."""
        return None

    def rough(self, window: Window, low: int, high: int) -> int | None:
        """A line's end above `low` and up to `high` where the head alone does not fit with what follows it."""
        at = window.rfind("\n", low, min(high, self.head_end)) + 1
        return at if at > low else None

    def lead(self, at: int) -> str:
        """What a part that begins inside, at `at`, shows above its own text."""
        return ""

    def forget(self, before: int) -> None:
        """No part begins before this position any more."""


class Lines(Region):
    """A region in which every line after its head may begin a part, under the same head."""

    def __init__(self, start: int, head: str, head_end: int) -> None:
        super().__init__(start)
        self.head_end = head_end
        self.head = head

    def boundary(self, window: Window, low: int, high: int) -> int | None:
        # A part must not end with the head alone.
        at = window.rfind("\n", max(low, self.head_end), high) + 1
        return at if at > max(low, self.head_end) else None

    def next(self, window: Window, low: int, limit: int) -> int | None:
        at = window.find("\n", low, limit)
        return at + 1 if at != NOWHERE else None

    def lead(self, at: int) -> str:
        return self.head if at >= self.head_end else ""


class Fence(Lines):
    """Code between two lines of backticks or tildes; an unclosed one ends with its source, as in CommonMark."""

    whole = True

    def __init__(self, start: int, line: str, head_end: int) -> None:
        super().__init__(start, line, head_end)
        self._mark = line.strip()[0] * (len(line.strip()) - len(line.strip().lstrip(line.strip()[0])))

    def scan(self, window: Window, at: int, end: int, hard: int) -> int:
        at = max(at, self.head_end - 1)
        while (found := window.find(self._mark, at, hard)) != NOWHERE and found < end:
            start = window.line_start(found)
            closing = window.match(_FENCE, start, min(hard, start + AHEAD)) if found - start <= 3 else None
            if closing and start >= self.head_end and not (closing["info"] or "").strip():
                self.end = closing.end()
                return self.end
            at = found + len(self._mark)
        return max(at, end)


class Tools(Region):
    """Tool calls and their results, by tags: `<tool_call>…</tool_call>` and then `<tool_result>…</tool_result>`."""

    whole = True
    prose = True

    def scan(self, window: Window, at: int, end: int, hard: int) -> int:
        while (found := window.search(_TOOL, at, hard)) and found.start() < end:
            at = found.end()
            then = _THEN_EITHER if found["call"] else _THEN_RESULT
            if not window.match(then, at, min(hard, at + AHEAD)):
                self.end = at + 1 if window.starts("\n", at) and at < hard else at
                return self.end
        return max(at, end)


class Steps(Region):
    """An `Action:` line and its `Observation:`, as ReAct writes them, up to the next thought or action."""

    whole = True
    prose = True

    def __init__(self, start: int) -> None:
        super().__init__(start)
        self._observed = False

    def scan(self, window: Window, at: int, end: int, hard: int) -> int:
        at = max(at, self.start)
        while (found := window.search(_STEP, at, min(hard, end + AHEAD))) and found.start() < end:
            if found["name"] == "Observation" and not self._observed:
                self._observed = True
            else:
                self.end = found.start() + 1
                return self.end
            at = found.start() + 1
        return max(at, end)


def fence_at(window: Window, at: int, hard: int) -> Fence | None:
    """The fence that opens in the line at `at`; backticks in the words behind it make it inline code."""
    found = window.match(_FENCE, at, min(hard, at + AHEAD))
    if not found or ("`" in (found["info"] or "") and (found["mark"] or "").startswith("`")):
        return None
    line = window.slice(at, found.end())
    return Fence(at, line if len(line) <= 200 else (found["mark"] or "") + "\n", found.end())


def steps_at(window: Window, at: int, hard: int) -> Steps | None:
    """An `Action:` line that an `Observation:` follows before anything else does."""
    found = window.search(_STEP, at, min(hard, at + AHEAD))
    return Steps(at) if found and found["name"] == "Observation" else None
