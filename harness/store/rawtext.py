"""The text of one raw, whole or block by block: a raw of 1 GB is read in bounded memory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from harness.errors import StateMoved
from harness.formats.text import clean, decode
from harness.store.reading import open_regular, refuse_junk

BLOCK = 1_000_000  # bytes


class Mark(NamedTuple):
    """A place in a file: characters of the clean text before it, and bytes."""

    characters: int
    bytes: int


@dataclass(frozen=True)
class WholeText:
    """parts.Text: a raw that was read whole."""

    text: str

    @property
    def huge(self) -> bool:
        return False

    def blocks(self) -> Iterator[str]:
        yield self.text

    def slice(self, start: int, end: int) -> str:
        return self.text[start:end]


@dataclass(frozen=True)
class StreamedText:
    """parts.Text of a large file in UTF-8, known by its size and time: nothing of it is held but where blocks begin."""

    path: Path
    size: int
    changed: int  # ns
    _marks: list[Mark] = field(default_factory=lambda: [Mark(0, 0)], compare=False, repr=False)

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
            file.seek(mark.bytes)
            rest = b""
            while data := file.read(BLOCK):
                data = rest + data
                cut = _end_of_lines(data) if len(data) >= BLOCK else len(data)
                rest = data[cut:]
                yield mark, (text := clean(data[:cut].decode("utf-8", "replace")))
                mark = self._marked(mark, Mark(mark.characters + len(text), mark.bytes + cut))
            if rest:
                yield mark, clean(rest.decode("utf-8", "replace"))

    def _marked(self, before: Mark, mark: Mark) -> Mark:
        if self._marks[-1] == before:
            self._marks.append(mark)
        return mark


def _end_of_lines(data: bytes) -> int:
    """Where the last whole line ends; in one endless line, where the last whole character does."""
    end = data.rfind(b"\n") + 1
    if end:
        return end
    end = len(data)
    while data[end - 1] & 0xC0 == 0x80:
        end -= 1
    return end - 1 if data[end - 1] & 0x80 else end


def open_text(path: Path, *, whole: int) -> WholeText | StreamedText:
    """The text of a raw; above `whole` bytes it is streamed. Raises StateMoved, BrokenFile."""
    descriptor = open_regular(path)
    if descriptor is None:
        raise StateMoved("a raw was removed during the pass", str(path), "harness status")
    with os.fdopen(descriptor, "rb") as file:
        stat = os.fstat(file.fileno())
        text = decode(file.read(BLOCK if stat.st_size > whole else -1)).text
    refuse_junk(path, text)
    return _streamed(path, stat.st_size, stat.st_mtime_ns) if stat.st_size > whole else WholeText(text)


@lru_cache(maxsize=4)
def _streamed(path: Path, size: int, changed: int) -> StreamedText:
    """The same one in every pass of a process: it knows where the blocks begin."""
    return StreamedText(path, size, changed)
