"""`harness fold FILE…`: files, folders or stdin become raw_1.md of a case of their own, whatever their size."""

from __future__ import annotations

import codecs
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, NamedTuple

from harness.errors import HarnessError, WrongCall
from harness.formats.front import front_value, put
from harness.formats.raw import render_opening, render_part_head, without_openings
from harness.formats.text import clean, decode, shortened
from harness.model import NO_FRONT, RawHead, Source
from harness.search.documents.document import Document, Unreadable
from harness.search.documents.plain import text_of
from harness.search.documents.read import READERS, Content, read_content, read_document
from harness.search.scan import printable, scan
from harness.store import Store
from harness.store.reading import open_regular
from harness.store.snapshot import read_head

FOLDS = "folds"  # where the cases of `harness fold` are made; not research/, whose cases commands find by themselves
STDIN = "-"
MARK = "files"  # the key in the raw's front matter
BLOCK = 1_000_000  # bytes
NAME_CHARS = 32
FOLD = 'harness fold {} -q "…"'  # how files are named to it, for what is said of a wrong call
LINE_ENDS = "\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
SEQUENCE = 100  # characters of a terminal sequence that is not torn
# Formats that say nothing as they are; all other files are text and are kept to the letter.
CONVERTED = (".html", ".htm", ".pdf", ".docx")


class Input(NamedTuple):
    """One file to read. `name` is what citations lead to; `mark` changes when its content does."""

    name: str
    path: Path
    mark: str
    spooled: bool = False  # a temporary file of ours


class Gathered(NamedTuple):
    """What is folded. `named`: the first name that was given."""

    inputs: tuple[Input, ...]
    named: str

    def name_for(self, *asked: str) -> str:
        """The folder of the case: the same inputs and question lead to the same, changed ones to another.

        `asked`: all that says what to look for.
        """
        first = Path(self.named).absolute().stem if self.named != STDIN else "stdin"
        words = re.sub(r"\W+", "-", first.lower()).strip("-")
        return f"{shortened(words, NAME_CHARS).rstrip('…-') or 'text'}-{self.mark(*asked)}"

    def mark(self, *asked: str) -> str:
        told = [*(" ".join(one.split()) for one in asked), *(f"{one.name} {one.mark}" for one in self.inputs)]
        return sha256("\n".join(told).encode("utf-8", "surrogateescape")).hexdigest()[:8]


def gather(names: Sequence[str], stdin: BinaryIO, call: str = FOLD) -> Gathered:
    """The files meant by names of files, folders and `-`. Opens none but stdin. Raises WrongCall, naming the `call`."""
    found: dict[Path, Input] = {}
    # What is piped in comes last: a name that is wrong is told before anything is read.
    for name in sorted(dict.fromkeys(names), key=lambda name: name == STDIN):
        for one in _inputs(name, stdin, call):
            found.setdefault(one.path, one)
    if not found:
        raise WrongCall("no file to read", ", ".join(names), f"name files, or a folder with any of {' '.join(READERS)}")
    return Gathered(tuple(found.values()), names[0])


def _inputs(name: str, stdin: BinaryIO, call: str) -> Iterator[Input]:
    if name == STDIN:
        yield _spooled(stdin, f"e.g. my-program | {call.format(STDIN)}")
        return
    path = Path(name)
    if not name or not path.exists():
        raise WrongCall("no such file", str(path.absolute()) if name else "an empty name", call.format("FILE"))
    if path.is_dir():
        for file in scan(path).files:
            yield Input(printable((path / file.name).as_posix()), file.path, f"{file.size} {file.mtime_ns}")
        return
    if not path.is_file():
        raise WrongCall("no regular file", str(path), f"its text can be piped in: {call.format('- < FILE')}")
    stat = path.stat()
    yield Input(printable(path.as_posix()), path.resolve(), f"{stat.st_size} {stat.st_mtime_ns}")


def _spooled(stdin: BinaryIO, hint: str) -> Input:
    """All of stdin in a temporary file: it is known by its content, so that the same text goes on where it was."""
    if sys.stdin.isatty() and stdin is sys.stdin.buffer:
        raise WrongCall("nothing is piped in", STDIN, hint)
    digest, size = sha256(), 0
    descriptor, path = tempfile.mkstemp(prefix="harness-fold-", suffix=".txt")
    try:
        with os.fdopen(descriptor, "wb") as file:
            while data := stdin.read(BLOCK):
                digest.update(data)
                size += file.write(data)
        if not size:
            raise WrongCall("nothing came in", "stdin is empty", hint)
    except OSError as error:
        Path(path).unlink()
        told = f"{path} ({error.strerror})"
        raise HarnessError("cannot keep what is piped in", told, "free some space, or TMPDIR=/elsewhere") from None
    except BaseException:  # Ctrl-C while it comes in
        Path(path).unlink()
        raise
    return Input("stdin", Path(path), digest.hexdigest(), spooled=True)


def drop_spooled(gathered: Gathered) -> None:
    for one in gathered.inputs:
        if one.spooled:
            one.path.unlink(missing_ok=True)


def raw_of(gathered: Gathered, mark: str, retrieved: str, notes: list[str]) -> Iterator[str]:
    """The text of the raw, block by block. `mark` stands in its front matter, to know it again. As `sources_of`."""
    yield render_part_head(RawHead("note", retrieved=retrieved, front=put(NO_FRONT, MARK, mark)), "")
    yield from sources_of(gathered, lambda one, source: source, notes)


def sources_of(gathered: Gathered, told: Callable[[Input, Source], Source], notes: list[str]) -> Iterator[str]:
    """Each file as a source, block by block. `told`: what is said of it above its text.

    Files that cannot be read go into `notes`. Raises HarnessError where none of them can be read.
    """
    number = 0
    for one in gathered.inputs:
        try:
            document, blocks = _opened(one)
        except Unreadable as fault:
            notes.append(f"left out: {one.name} ({fault.what}{f': {fault.value}' if fault.value else ''})")
            continue
        number += 1
        notes += (f"{one.name}: {note}" for note in document.notes)
        title = one.name if one.spooled and one.path.suffix not in CONVERTED else document.title
        yield render_opening(number, told(one, Source(title, "", one.name, document.date, "fetched")))
        for block in blocks:
            yield without_openings(block)
        yield "\n\n"
    if not number:
        raise HarnessError("none of the files can be read", "; ".join(notes), "text, HTML, PDF and DOCX can be read")


def _opened(one: Input) -> tuple[Document, Iterator[str]]:
    """What the file says of itself, and its text. Raises Unreadable."""
    name = f"stdin{one.path.suffix}" if one.spooled else printable(one.path.name)
    if one.path.suffix.lower() in CONVERTED:
        document = read_document(read_content(one.path), name)
        return document, iter([document.text])
    head = _head(one.path)
    try:
        text_of(head)
    except Unreadable as fault:
        raise Unreadable("empty" if fault.what == "empty" else "no text") from None
    document = Document(one.name, "")
    if one.path.suffix.lower() in READERS and one.path.suffix.lower() != ".json":
        document = read_document(Content(head, False), name)
    return document, text_blocks(one.path, decode(head).encoding)


def _head(path: Path) -> bytes:
    descriptor = open_regular(path)
    if descriptor is None:
        raise Unreadable("gone while it was read")
    with os.fdopen(descriptor, "rb") as file:
        data = file.read(BLOCK)
        while len(data) == BLOCK and not data.strip():  # a megabyte of spaces says nothing about what follows
            data = file.read(BLOCK)
    return data if len(data) < BLOCK else data[: data.rfind(b"\n") + 1 or BLOCK]


def text_blocks(path: Path, encoding: str, *, block: int = BLOCK) -> Iterator[str]:
    """The clean text in blocks that end with a line where they can."""
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    descriptor = open_regular(path)
    if descriptor is None:
        raise HarnessError("a file is gone", str(path), "harness fold again")
    rest = ""
    with os.fdopen(descriptor, "rb") as file:
        while data := file.read(block):
            text = rest + decoder.decode(data)
            cut = _end_of_lines(text)
            rest = text[cut:]
            yield clean(text[:cut])
    yield clean(rest + decoder.decode(b"", True))


def _end_of_lines(text: str) -> int:
    """Where the last whole line ends; of one endless line all but its end, which may begin a sequence.

    Every kind of line end counts: what a block begins with must not be taken for the middle of a line, or a page of
    the file could open a source.
    """
    last = len(text.rstrip("\r"))  # carriage returns at the end may belong to a line feed that follows
    end = max(text.rfind("\n"), *(text.rfind(mark, 0, last) for mark in LINE_ENDS)) + 1
    return end or max(0, len(text) - SEQUENCE)


def space_for(folder: Path, gathered: Gathered) -> None:
    """Raises HarnessError where the disk cannot take a copy."""
    needed = sum(one.path.stat().st_size for one in gathered.inputs if one.path.exists())
    near = next(place for place in (folder, *folder.parents) if place.exists())
    if needed > shutil.disk_usage(near).free:
        raise HarnessError("no space for a copy of the files", f"{needed:,} bytes in {near}", "harness -C DIR fold …")


def refuse_other(store: Store, mark: str) -> bool:
    """Whether raw_1.md of the case is there and is what was gathered. Raises HarnessError where it is anything else."""
    if not store.raw_path(1).exists():
        return False
    if front_value(read_head(store.raw_path(1)).front, MARK) != mark:
        hint = "for this one: the same command with another -C DIR, or without it"
        raise HarnessError("other files, or another question, are folded here", str(store.folder), hint)
    return True


def copy_in(store: Store, gathered: Gathered, mark: str, retrieved: str) -> list[str]:
    """raw_1.md of the case, unless it is there already; notes on what was left out. Raises as `refuse_other` does."""
    notes = list[str]()
    if not refuse_other(store, mark):
        space_for(store.folder, gathered)
        record = {"at": retrieved, "role": "harness", "round": 1, "files": [one.name for one in gathered.inputs]}
        store.create_raw(1, raw_of(gathered, mark, retrieved, notes), record)
    return notes


def drop_empty(store: Store) -> None:
    """A case of ours that got no raw: only its question is in it."""
    if store.folder.parent.name == FOLDS and not store.raw_path(1).exists():
        shutil.rmtree(store.folder, ignore_errors=True)
