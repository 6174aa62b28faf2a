"""JSON values, one or line by line: where an element of an array ends, and which arrays are open there."""

from __future__ import annotations

from harness.cutting.regions import AHEAD, Row
from harness.cutting.tables import Rows
from harness.cutting.window import Window
from harness.patterns import lazy

# An array or an object, by what may come first in it; `[link](…)` and `{name}` are none.
_OPENING = lazy(r'\s*(?:\[\s*(?:[\[{"\]]|-?\d[\d.eE+-]*\s*[,\]]|(?:true|false|null)\b)|\{\s*["}])')
_STRING = r'"(?:[^"\\\n]++|\\.)*+"'
_PLAIN = r"\s:0-9.eE+\-truefalsn"  # all that stands outside strings: anything else is no JSON
# Behind strings and plain values: a bracket, a comma, or an object without any inside (one look instead of ten).
_NEXT = lazy(
    rf"[{_PLAIN}]*+(?:{_STRING}[{_PLAIN}]*+)*+"
    rf'(?P<mark>\{{[{_PLAIN},]*+(?:{_STRING}[{_PLAIN},]*+)*+\}}|[\[\]{{}},"])'
)
_CLOSING = {"[": "]", "{": "}"}
_DEEPEST = 1_000  # brackets in brackets: more is no data, and would be held
_FLAT = 4_096  # characters that such an object may have
_AFTER_COMMA = lazy(r"[ \t]*\n?")
_AFTER_VALUE = lazy(r"[ \t]*(?:\n\s*)?")
_KEY = lazy(r'"(?P<key>(?:[^"\\\n]|\\.){1,60})"\s*:\s*\Z')
_STRING_END = lazy(r'(?:[^"\\\n]|\\.)*+(?P<close>["\n]?)')


class Json(Rows):
    """One value behind the other. It ends where a value ends that no other follows, or where it is no JSON."""

    def __init__(self, start: int) -> None:
        super().__init__(start)
        self._open: list[str] = []
        self._next = start
        self._in_string = False

    def scan(self, window: Window, at: int, end: int, hard: int) -> int:
        while self.end is None and self._next < end:
            if self._in_string:
                self._string(window, hard)
            else:
                self._mark(window, hard)
        return self.end if self.end is not None else max(self._next, end)

    def _mark(self, window: Window, hard: int) -> None:
        found = window.match(_NEXT, self._next, min(hard, self._next + AHEAD))
        if found is None:
            self.end = self._next
            return
        mark, at = found["mark"] or "", found.start("mark")
        if len(mark) > _FLAT:
            mark = "{"
        self._next = at + len(mark)
        if mark == '"':
            self._in_string = True
        elif mark == ",":
            self._comma(window, hard)
        elif mark in "[{":
            self._open.append(_key(window.slice(at - 80, at)) + mark)
            if len(self._open) > _DEEPEST:
                self.end = self._next
        elif mark in "]}" and (not self._open or _CLOSING[self._open.pop()[-1]] != mark):
            self.end = self._next  # brackets that do not match
        if not self._open and mark != "," and self.end is None:
            self._value(window, hard)

    def _comma(self, window: Window, hard: int) -> None:
        if self._open and self._open[-1].endswith("["):
            blank = window.match(_AFTER_COMMA, self._next, hard)
            self._next = blank.end() if blank else self._next
            self.rows.append(Row(self._next, len(self._open), _path(self._open)))

    def _value(self, window: Window, hard: int) -> None:
        """Behind a whole value: another one (JSON lines), or the end."""
        blank = window.match(_AFTER_VALUE, self._next, min(hard, self._next + AHEAD))
        at = blank.end() if blank else self._next
        if window.match(_OPENING, at, min(hard, at + AHEAD)):
            self._next = at
            self.rows.append(Row(at, 0, ""))
        else:
            self.end = at

    def _string(self, window: Window, hard: int) -> None:
        upto = min(hard, self._next + AHEAD)
        found = window.match(_STRING_END, self._next, upto)
        if found and found["close"] == "\n":
            self.end = found.end()  # a string does not go over a line's end: no JSON
            return
        # It stops before a backslash whose character is not loaded; at the end of all there may be nothing behind it.
        self._next = max(found.end() if found else upto, self._next + 1)
        self._in_string = not (found and found["close"])


def json_at(window: Window, at: int, hard: int) -> Json | None:
    """JSON that begins at `at`."""
    return Json(at) if window.match(_OPENING, at, min(hard, at + AHEAD)) else None


def _key(before: str) -> str:
    found = _KEY.search(before)
    return f'"{found["key"]}": ' if found else ""


def _path(opened: list[str]) -> str:
    """The brackets that are open, as the beginning of a value whose first elements stand elsewhere."""
    return "".join(opened[:12]) + " …\n"
