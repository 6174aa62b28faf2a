"""A file that is ours altogether: its first comment carries a digest, so that a change by hand can be told."""

from __future__ import annotations

import re
from enum import Enum

from harness.patterns import lazy
from harness.scaffold.blocks import digest

_MARK = lazy(r"^# harness init \S+ ([0-9a-f]{16})\r?\n", re.MULTILINE)
_FRONT = "---\n"


class Whose(Enum):
    """Who wrote what stands in the place of a file of ours."""

    OURS = "ours"
    EDITED = "ours, changed by hand"
    FOREIGN = "somebody else's"


def marked(text: str, version: str) -> bytes:
    """The text with our comment at its top: inside the front matter where it has one (YAML and TOML share `#`)."""
    front, body = (_FRONT, text.removeprefix(_FRONT)) if text.startswith(_FRONT) else ("", text)
    return f"{front}# harness init {version} {digest(front + body)}\n{body}".encode()


def whose(now: bytes) -> Whose:
    text = now.decode(errors="replace")
    found = _MARK.search(text)
    if found is None or text.count("\n", 0, found.start()) > 1:
        return Whose.FOREIGN
    rest = text[: found.start()] + text[found.end() :]
    return Whose.OURS if digest(rest) == found[1] else Whose.EDITED
