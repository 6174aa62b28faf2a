"""A marked block of ours inside somebody's file: put in, renewed, taken out; every other byte stays."""

from __future__ import annotations

import codecs
import hashlib
import re
from typing import NamedTuple

from harness.patterns import lazy
from harness.scaffold.refused import NotText, Refused

_BEGIN = lazy(r"^<!-- harness init (\S+) ([0-9a-f]{16})\b[^\r\n]*-->[ \t]*(\r?\n)", re.MULTILINE)
_END = lazy(r"^<!-- end of harness init -->", re.MULTILINE)
_NOTE = "what stands between these marks is renewed by harness init; the rest of the file is yours"
_BOM = "\ufeff"


class Found(NamedTuple):
    """A block in a text: where it stands (`end`: behind the last mark), what it holds, the line end it uses."""

    start: int
    end: int
    inner: str
    digest: str
    newline: str

    @property
    def edited(self) -> bool:
        return digest(self.inner) != self.digest


def put_block(before: bytes | None, inner: str, version: str) -> bytes:
    """The file with the block in it: in the place of the one it has, else at its end. `before` None: no file yet.

    Whether the file ended in a newline can be told from what stands behind the block, so `take_block` is exact.
    Raises Refused where the marks are broken, NotText for UTF-16 and the like.
    """
    mark, text = _split(before or b"")
    found = find_block(text)
    newline = found.newline if found else "\r\n" if "\r\n" in text else "\n"
    lines = [f"<!-- harness init {version} {digest(inner)} ({_NOTE}) -->", *inner.strip("\n").split("\n")]
    block = newline.join([*lines, "<!-- end of harness init -->"])
    if found:
        text = text[: found.start] + block + text[found.end :]
    elif before is None:
        text = block + newline
    elif text.endswith("\n"):
        text += newline + block + newline
    else:
        text += (newline * 2 if text else "") + block
    return (mark + text).encode()


def take_block(now: bytes) -> bytes | None:
    """The file without the block; None where nothing is left and there was no file before. Raises as put_block."""
    mark, text = _split(now)
    found = find_block(text)
    if found is None:
        return now
    head, tail, newline = text[: found.start], text[found.end :], found.newline
    if tail.startswith(newline):
        head, tail = head.removesuffix(newline), tail.removeprefix(newline)
        if not mark + head + tail:
            return None
    elif not tail:
        head = head.removesuffix(newline).removesuffix(newline)
    return (mark + head + tail).encode()


def edited_block(now: bytes) -> str:
    """The text of a block that somebody changed inside, or "". Raises as put_block."""
    found = find_block(_split(now)[1])
    return found.inner if found and found.edited else ""


def find_block(text: str) -> Found | None:
    """Raises Refused where there is more than one block, or a mark without its other half."""
    begins, ends = list(_BEGIN.finditer(text)), list(_END.finditer(text))
    if not begins and not ends:
        return None
    if len(begins) != 1 or len(ends) != 1 or ends[0].start() < begins[0].end():
        line = text.count("\n", 0, (begins or ends)[0].start()) + 1
        raise Refused(f"the marks of its block are broken (line {line}): delete them with what is between them")
    begin, end = begins[0], ends[0]
    return Found(begin.start(), end.end(), text[begin.end() : end.start()], begin[2], begin[3])


def digest(text: str) -> str:
    """Of a text whatever its line ends: git may have changed them."""
    return hashlib.sha256("\n".join(text.split()).encode()).hexdigest()[:16]


def _split(data: bytes) -> tuple[str, str]:
    """The byte order mark, if any, and the text behind it."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or b"\0" in data:
        raise NotText("it is UTF-16; save it as UTF-8 to have it wired")
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise NotText("it is not UTF-8; save it as UTF-8 to have it wired") from None
    return (_BOM, text[1:]) if text.startswith(_BOM) else ("", text)
