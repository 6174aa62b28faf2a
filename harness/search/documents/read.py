"""One file → one Document: the table of readers, size limits, and every fault as one kind of error."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from harness.formats.text import clean, one_line
from harness.search.documents.data import read_json, read_json_lines
from harness.search.documents.dates import file_date
from harness.search.documents.document import Document, Unreadable
from harness.search.documents.page import read_page
from harness.search.documents.pdf import read_pdf
from harness.search.documents.plain import read_markdown, read_plain
from harness.search.documents.tables import read_table
from harness.search.documents.word import read_word

MB = 1_000_000


class Reader(NamedTuple):
    """`read` gets the bytes and the name. Above `limit` bytes a file is cut (`cut`) or left out."""

    read: Callable[[bytes, str], Document]
    limit: int
    cut: bool = False


# The limits bound the memory of a build: text takes about 4 times its size, parsed JSON and HTML up to 20 times.
READERS: dict[str, Reader] = {
    ".md": Reader(read_markdown, 16 * MB, cut=True),
    ".markdown": Reader(read_markdown, 16 * MB, cut=True),
    ".txt": Reader(read_plain, 16 * MB, cut=True),
    ".rst": Reader(read_plain, 16 * MB, cut=True),
    ".html": Reader(read_page, 16 * MB),
    ".htm": Reader(read_page, 16 * MB),
    ".pdf": Reader(read_pdf, 100 * MB),
    ".docx": Reader(read_word, 50 * MB),
    ".csv": Reader(read_table, 16 * MB, cut=True),
    ".tsv": Reader(read_table, 16 * MB, cut=True),
    ".json": Reader(read_json, 16 * MB),
    ".jsonl": Reader(read_json_lines, 16 * MB, cut=True),
}


class Content(NamedTuple):
    data: bytes
    cut: bool  # there was more than the limit


def read_content(path: Path) -> Content:
    """The bytes of a regular file up to its reader's limit. Raises Unreadable, also if it is gone or forbidden."""
    limit = READERS[path.suffix.lower()].limit
    try:
        # Neither a link nor a pipe that took the file's place since the scan is opened and waited for.
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        descriptor = os.open(path, flags)
        with os.fdopen(descriptor, "rb") as file:
            facts = os.fstat(descriptor)
            if not stat.S_ISREG(facts.st_mode):
                raise Unreadable("no regular file any more")
            if facts.st_size > limit and not READERS[path.suffix.lower()].cut:
                raise Unreadable(f"larger than {limit // MB} MB")
            data = file.read(limit + 1)
    except FileNotFoundError:
        raise Unreadable("gone while it was read") from None
    except PermissionError:
        raise Unreadable("no permission to read", hint="make them readable, or choose another folder") from None
    except OSError as problem:
        raise Unreadable("not readable from the disk", problem.strerror or str(problem)) from None
    if len(data) <= limit:
        return Content(data, False)
    return Content(data[: data.rfind(b"\n", 0, limit) + 1 or limit], True)


def read_document(content: Content, name: str) -> Document:
    """The document in these bytes; `name` (path below the root, with `/`) gives the kind and what the text leaves open.

    Raises Unreadable for every fault, whatever the library behind a reader raises.
    """
    reader = READERS[PurePosixPath(name).suffix.lower()]
    try:
        document = reader.read(content.data, name)
    except Unreadable:
        raise
    except Exception as problem:  # parsers of strangers' files raise anything; one file must not end the search
        raise Unreadable(f"broken {PurePosixPath(name).suffix.lower()} file", f"{type(problem).__name__}") from None
    if not document.date and (date := file_date(name)):
        document = replace(document, date=date, date_from="file name")
    notes = (f"only the first {reader.limit // MB} MB read", *document.notes) if content.cut else document.notes
    title = one_line(document.title)[:300] or PurePosixPath(name).stem
    return replace(document, title=title, url="".join(clean(document.url).split()), notes=notes)
