"""What counts as a heading in a file that people and models write."""

from __future__ import annotations

from typing import NamedTuple

from harness.formats.labels import bare_title
from harness.patterns import lazy

_HASHES = lazy(r" {0,3}(#{1,6})([ \t]*)([^\s#].*)")
_BOLD = lazy(r" {0,3}(\*\*|__)(?=\S).+?\1[ \t]*[:：]?")
_COLON = lazy(r"[^\s\W].{0,40}[:：]")


class Heading(NamedTuple):
    """`certain` False: `**Title**`, `Title:` or `##Title` is a heading only if its title is a known one."""

    level: int  # number of `#`; 2 for those without
    title: str  # without marks and colon
    certain: bool


def heading_of(line: str) -> Heading | None:
    """The heading that a line is or may be."""
    if hashes := _HASHES.fullmatch(line):
        return Heading(len(hashes[1]), bare_title(line), bool(hashes[2]))
    line = line.rstrip()
    if _BOLD.fullmatch(line) or _COLON.fullmatch(line):
        return Heading(2, bare_title(line), False)
    return None
