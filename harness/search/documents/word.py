"""Word files (.docx): headings, lists and tables as Markdown by mammoth; properties give title and date."""

from __future__ import annotations

import io
import re
import zipfile
from html.parser import HTMLParser

from harness.formats.text import clean
from harness.search.documents.dates import first_date
from harness.search.documents.document import Document, Unreadable, library_missing
from harness.search.documents.tables import markdown_table

UNPACKED = 256_000_000  # bytes of all parts together: above it the file is a bomb or a film
_BLOCKS = ("p", "li", "h1", "h2", "h3", "h4", "h5", "h6", "br")


def read_word(data: bytes, name: str) -> Document:
    """Raises Unreadable if it is no Word file, encrypted (an OLE container), too large unpacked or without text."""
    try:
        import mammoth
    except ImportError as problem:
        raise library_missing("mammoth", problem) from None
    if not data.strip():
        raise Unreadable("empty")
    if data.startswith(b"\xd0\xcf\x11\xe0"):
        raise Unreadable("encrypted or old Word file")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as parts:
            if sum(part.file_size for part in parts.infolist()) > UNPACKED:
                raise Unreadable("too large", "unpacked")
            core = parts.read("docProps/core.xml").decode("utf-8", "replace") if _has_core(parts) else ""
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as problem:
        raise Unreadable("broken Word file", str(problem)) from None
    html = mammoth.convert_to_html(io.BytesIO(data), convert_image=mammoth.images.img_element(lambda _: {})).value
    text = clean(_as_markdown(html))
    if not text:
        raise Unreadable("empty")
    # The last change rather than the creation: many programs copy a template with its old date of creation.
    date = first_date(_property(core, "dcterms:modified")) or first_date(_property(core, "dcterms:created"))
    return Document(_property(core, "dc:title"), text, "", date, "docx properties" if date else "")


def _has_core(parts: zipfile.ZipFile) -> bool:
    return "docProps/core.xml" in parts.namelist()


def _property(core: str, tag: str) -> str:
    """By pattern and not by an XML parser: the standard one expands entities that a stranger's file defines."""
    match = re.search(rf"<{tag}[^>]*>([^<]*)</{tag}>", core)
    return " ".join(match[1].split()) if match else ""


def _as_markdown(html: str) -> str:
    walker = _Markdown()
    walker.feed(html)
    walker.close()
    return re.sub(r"\n{3,}", "\n\n", "".join(walker.out)).strip()


class _Markdown(HTMLParser):
    """The few tags mammoth writes. Its own Markdown writer flattens tables, so HTML is taken."""

    def __init__(self) -> None:
        super().__init__()
        self.out: list[str] = []
        self.tables: list[list[list[str]]] = []  # open tables: rows of cells

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self.tables.append([])
        elif self.tables and tag == "tr":
            self.tables[-1].append([])
        elif self.tables and tag in ("td", "th") and self.tables[-1]:
            self.tables[-1][-1].append("")
        elif self.tables:
            self.handle_data(" ")
        elif tag == "li":
            self.out.append("\n- ")
        elif tag in _BLOCKS:
            self.out.append(f"\n\n{'#' * int(tag[1])} " if tag[1:].isdigit() else "\n")

    def handle_endtag(self, tag: str) -> None:
        if tag != "table":
            self.out.append("" if self.tables or tag not in _BLOCKS else "\n")
            return
        rows = self.tables.pop() if self.tables else []
        if not rows:
            return
        if self.tables:  # a table in a cell: its text, row by row
            self.handle_data("; ".join(", ".join(row) for row in rows))
        else:
            self.out.append(f"\n\n{markdown_table(rows[0], rows[1:])}\n\n")

    def handle_data(self, data: str) -> None:
        if not self.tables:
            self.out.append(data)
        elif self.tables[-1] and self.tables[-1][-1]:
            self.tables[-1][-1][-1] += data
