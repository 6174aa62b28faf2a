"""Text files: Markdown with front matter, reStructuredText and plain text."""

from __future__ import annotations

import re

from harness.formats.front import front_value, split_front
from harness.formats.text import clean, decode
from harness.patterns import lazy
from harness.search.documents.dates import dated_line, first_date
from harness.search.documents.document import Document, Unreadable

SAMPLE = 65_536  # bytes looked at to tell text from binary
# Bytes that no text in any 8-bit encoding or UTF-8 uses: control characters but tab, line ends, form feed, escape.
CONTROL = bytes(b for b in range(32) if b not in b"\t\n\r\f\x1b")
CONTROL_SHARE = 0.01
TITLE_KEYS = ("title", "name")
DATE_KEYS = ("date", "published", "updated", "modified", "last_modified", "lastmod", "year")
URL_KEYS = ("url", "source", "source_url", "canonical", "link", "permalink")
_HEADING = lazy(r"^#{1,6}\s+(.+?)\s*#*$", re.MULTILINE)
_UNDERLINE = lazy(r"^([=\-~^\"'`#*+.:_])\1{2,}$")


def text_of(data: bytes) -> str:
    """The decoded text without control characters. Raises Unreadable for empty files and for binary junk."""
    if not data.strip():
        raise Unreadable("empty")
    decoded = decode(data)
    sample = data[:SAMPLE]
    wide = decoded.encoding.lower().replace("_", "-").startswith(("utf-16", "utf-32"))
    control = len(sample) - len(sample.translate(None, CONTROL))
    if not wide and control > CONTROL_SHARE * len(sample):
        raise Unreadable("not text although named so")
    if wide and sum(c.isprintable() or c.isspace() for c in decoded.text[:SAMPLE]) < 0.9 * len(decoded.text[:SAMPLE]):
        raise Unreadable("not text although named so")
    text = clean(decoded.text)
    if not text.strip():
        raise Unreadable("empty")
    return text


def read_markdown(data: bytes, name: str) -> Document:
    """Front matter gives title, date and url; setext headings become `#` headings."""
    front, body = split_front(text_of(data))
    keys = {} if front is None else {key.strip().lower(): key for key, _ in front.blocks}

    def value(wanted: tuple[str, ...]) -> str:
        found = (front_value(front, keys[key]) for key in wanted if front is not None and key in keys)
        return next((text.strip() for text in found if text and text.strip()), "")

    text = _hash_headings(body, marks="=-")
    url = next((u for u in (value((key,)) for key in URL_KEYS) if u.startswith(("http://", "https://"))), "")
    title = value(TITLE_KEYS) or _first_heading(text)
    if date := first_date(value(DATE_KEYS)):
        return Document(title, text, url, date, "front matter")
    return _dated_by_text(title, text, url)


def read_plain(data: bytes, name: str) -> Document:
    """Plain text and reStructuredText: underlined titles become headings, everything else stays."""
    text = _hash_headings(text_of(data), marks="")
    return _dated_by_text(_first_heading(text), text)


def _dated_by_text(title: str, text: str, url: str = "") -> Document:
    date = dated_line(text)
    return Document(title, text, url, date, "text" if date else "")


def _first_heading(text: str) -> str:
    match = _HEADING.search(text[:4_000])
    return match[1].strip() if match else ""


def _hash_headings(text: str, *, marks: str) -> str:
    """`Title` over a line of `====` as `# Title`; each new mark is one level deeper. `marks` "" takes any mark."""
    lines = text.split("\n")
    levels: list[str] = list(marks)
    out: list[str] = []
    fenced = False
    for line in lines:
        fenced ^= line.lstrip().startswith(("```", "~~~"))
        match = None if fenced else _UNDERLINE.match(line.rstrip())
        above = out[-1] if out else ""
        alone = len(out) < 2 or not out[-2].strip() or bool(_UNDERLINE.match(out[-2].rstrip()))
        titled = alone and above.strip() and above[0] not in " \t|-*#>" and len(above) <= 100
        if not match or not titled or 2 * len(line.strip()) < len(above.strip()) or (marks and match[1] not in marks):
            out.append(line)
            continue
        if match[1] not in levels:
            levels.append(match[1])
        if len(out) > 1 and out[-2].rstrip() == line.rstrip():  # reStructuredText: the same line above the title
            del out[-2]
        out[-1] = f"{'#' * min(levels.index(match[1]) + 1, 6)} {above.strip()}"
    return "\n".join(out)
