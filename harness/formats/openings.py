"""Where a source begins in the text of a raw: the one rule, for reading a raw whole and for cutting it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from harness.patterns import lazy

_OPENING = lazy(r"^##[ \t]+(?P<number>[0-9]{1,6})\.(?P<title>.*)\n(?:[ \t]*\n)?(?=[-*][ \t])", re.MULTILINE)
_DETAIL = lazy(r"[-*][ \t]+(?P<key>[A-Za-z_][\w-]*)[ \t]*:(?!//)[ \t]*(?P<value>.*)(?:\n|\Z)")


def openings(body: str, *, anywhere: bool = False) -> Iterator[re.Match[str]]:
    """The headings that open a source: numbered 1, 2, 3 … and followed by an address or a date.

    `anywhere`: the first may have any number, as in a part of a raw.
    """
    expected = None if anywhere else 1
    at = 0 if body.startswith("##") else body.find("\n##") + 1
    while at or body.startswith("##"):
        opening = opening_at(body, at, expected)
        if opening:
            yield opening
            expected = int(opening["number"]) + 1
        at = body.find("\n##", at + 1) + 1
        if not at:
            return


def opening_at(text: str, at: int, number: int | None, end: int | None = None) -> re.Match[str] | None:
    """The opening of source `number` (None: any) that stands at `at`, the start of a line; groups `number`, `title`.

    Found by their `##`: a look at every line of 32 MB takes ten times as long. Nothing from `end` on is looked at.
    """
    opening = _OPENING.match(text, at, len(text) if end is None else end)
    if not opening or number not in (None, int(opening["number"])):
        return None
    keys = {key.lower() for key, _ in details(text, opening.end(), end)[0]}
    return opening if keys & {"url", "date"} else None


def details(text: str, position: int, end: int | None = None) -> tuple[list[tuple[str, str]], int]:
    """The `- key: value` lines from a position on, and where they end."""
    found: list[tuple[str, str]] = []
    while detail := _DETAIL.match(text, position, len(text) if end is None else end):
        found.append((detail["key"], detail["value"].strip()))
        position = detail.end()
    return found, position
