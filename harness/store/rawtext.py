"""The text of one raw, whole or block by block: a raw of 1 GB is read in bounded memory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from harness.errors import BrokenFile, StateMoved
from harness.formats.text import clean, decode
from harness.store.reading import open_regular, refuse_junk

BLOCK = 1_000_000  # bytes
CHARACTER = 4  # bytes at most
ESCAPE = 100  # bytes of a terminal sequence that is not torn


class Mark(NamedTuple):
    """A place in a file: characters of the clean text before it, and bytes."""

    characters: int
    bytes: int


class WholeText(NamedTuple):
    """parts.Text: a raw that was read whole."""

    text: str

    @property
    def mark(self) -> str:
        return f"{len(self.text)}-{crc32(self.text.encode()):08x}"

    @property
    def huge(self) -> bool:
        return False

    def blocks(self) -> Iterator[str]:
        yield self.text

    def slice(self, start: int, end: int) -> str:
        return self.text[start:end]


class StreamedText:
    """parts.Text of a large file in UTF-8. Nothing of it is held but where blocks begin; equal is only the same one."""

    def __init__(self, path: Path, block: int = BLOCK) -> None:
        self.path = path
        self.block = block
        self._marks = [Mark(0, 0)]

    @property
    def mark(self) -> str:
        stat = self.path.stat()
        return f"{stat.st_size}-{stat.st_mtime_ns}"

    @property
    def huge(self) -> bool:
        return True

    def blocks(self) -> Iterator[str]:
        for _, text in self._from(self._marks[0]):
            yield text

    def slice(self, start: int, end: int) -> str:
        """The characters from `start` up to `end`; what comes before them is read only if nobody has yet."""
        pieces: list[str] = []
        before = next(mark for mark in reversed(self._marks) if mark.characters <= start)
        for mark, text in self._from(before):
            if mark.characters >= end:
                break
            pieces.append(text[max(0, start - mark.characters) : end - mark.characters])
        return "".join(pieces)

    def _from(self, mark: Mark) -> Iterator[tuple[Mark, str]]:
        """Blocks that end with a line where they can, each with its place. Raises StateMoved if the file is gone."""
        descriptor = open_regular(self.path)
        if descriptor is None:
            raise StateMoved("a raw was removed during the pass", str(self.path), "harness status")
        with os.fdopen(descriptor, "rb") as file:
            # Where a block ends is told by where it begins alone: its text is the same whoever reads it from where.
            while file.seek(mark.bytes) >= 0 and (data := file.read(self.block)):
                cut = _end_of_lines(data) if len(data) == self.block else len(data)
                yield mark, (text := clean(data[:cut].decode("utf-8", "replace")))
                mark = self._marked(mark, Mark(mark.characters + len(text), mark.bytes + cut))

    def _marked(self, before: Mark, mark: Mark) -> Mark:
        if self._marks[-1] == before:
            self._marks.append(mark)
        return mark


def _end_of_lines(data: bytes) -> int:
    """Where the last whole line ends; in one endless line, where the last whole character does."""
    end = data.rfind(b"\n") + 1
    if not end and b"\r" in data:  # those at the very end may belong to a line feed
        end = len(data[: data.rfind(b"\r")].rstrip(b"\r"))
    if end:
        return end
    escape = data.rfind(b"\x1b", -ESCAPE)
    if escape > 0:
        return escape
    end = len(data) - 1
    while end > len(data) - CHARACTER and data[end] & 0xC0 == 0x80:
        end -= 1
    return end


def open_text(path: Path, *, whole: int) -> WholeText | StreamedText:
    """The text of a raw; above `whole` bytes it is streamed. Raises StateMoved, BrokenFile."""
    descriptor = open_regular(path)
    if descriptor is None:
        raise StateMoved("a raw was removed during the pass", str(path), "harness status")
    with os.fdopen(descriptor, "rb") as file:
        stat = os.fstat(file.fileno())
        huge = stat.st_size > whole
        decoded = decode(file.read(BLOCK if huge else -1))
    refuse_junk(path, decoded.text)
    if not huge:
        return WholeText(decoded.text)
    if decoded.encoding != "utf-8":
        hint = "save it as UTF-8, or: harness fold FILE, which reads it as it is"
        raise BrokenFile(f"a raw of more than {whole // 1_000_000} MB in {decoded.encoding}", str(path), hint)
    return _streamed(path, stat.st_size, stat.st_mtime_ns)


@lru_cache(maxsize=4)
def _streamed(path: Path, size: int, changed: int) -> StreamedText:
    """The same one in every pass of a process, for a file of this size and time (ns): it knows where blocks begin."""
    return StreamedText(path)
