"""HTML pages: the main text with its tables by trafilatura; everything but the tags where that finds too little."""

from __future__ import annotations

import codecs
import logging
import re
from typing import Any

from harness.formats.text import clean
from harness.search.documents.dates import first_date
from harness.search.documents.document import Document, Unreadable, library_missing
from harness.search.documents.plain import text_of
from harness.search.documents.tables import markdown_table

USEFUL = 200  # characters: less from a page that has more means that the main text was not found
DEEP = 100  # elements; below it too: trafilatura's time grows with the third power of nested tables
SLOW = 2_000_000  # characters of HTML; above it only the tags are stripped (trafilatura takes a second a megabyte)
DATE_METAS = (
    "article:published_time", "citation_publication_date", "citation_date", "dc.date", "dcterms.date", "dc.date.issued",
    "dcterms.issued", "dcterms.created", "datepublished", "pubdate", "publish-date", "publication_date", "date",
    "article:modified_time", "dcterms.modified", "datemodified", "last-modified", "og:updated_time",
)  # fmt: skip
_MAIN_TEXT: dict[str, Any] = {"output_format": "markdown", "include_comments": False, "fast": True}
_META_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w-]{2,30})", re.IGNORECASE)
_BLOCKS = ("p", "div", "section", "article", "li", "dt", "dd", "tr", "br", "pre", "blockquote", "figcaption", "title")


def read_page(data: bytes, name: str) -> Document:
    """Title, date and address from the page's own tags; the date never guessed from its text or address."""
    try:
        from trafilatura import extract
    except ImportError as problem:
        raise library_missing("trafilatura", problem) from None
    # Its complaints about odd pages would reach the user's terminal; ours are notes.
    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)
    html = _decoded(data)
    tree = _parsed(html)
    metas = _metas(tree)
    date = next((found for key in DATE_METAS if (found := first_date(metas.get(key, "")))), "") or _time(tree)
    links = tree.xpath("//link[@rel='canonical']/@href")
    url = next((u for u in (*links, metas.get("og:url", "")) if u.startswith(("http://", "https://"))), "")
    title = " ".join((metas.get("og:title") or tree.findtext(".//title") or tree.findtext(".//h1") or "").split())
    text = (extract(html, **_MAIN_TEXT) or "") if len(html) <= SLOW and _depth(tree) <= DEEP else ""
    if _useful(text) < USEFUL and _useful(stripped := _stripped(tree)) >= _useful(text):
        text = stripped
    if not text.strip():
        raise Unreadable("page without text")
    return Document(title, clean(text), url, date, "meta tag" if date else "")


def _depth(tree: Any) -> int:
    """How deep the elements are nested."""
    from lxml import etree

    deepest = depth = 0
    for event, _ in etree.iterwalk(tree, events=("start", "end")):
        depth += 1 if event == "start" else -1
        deepest = max(deepest, depth)
    return deepest


def _parsed(html: str) -> Any:
    """The tree by lxml, which trafilatura brings; its own loader refuses short and deep pages."""
    import lxml.html

    try:
        # As bytes: from a string lxml takes no page that names an encoding.
        parser = lxml.html.HTMLParser(encoding="utf-8", huge_tree=True)
        return lxml.html.document_fromstring(html.encode("utf-8", "replace"), parser=parser)
    except (lxml.etree.LxmlError, AssertionError):  # AssertionError: nothing but comments
        raise Unreadable("broken HTML") from None


def _decoded(data: bytes) -> str:
    """UTF-8 where it decodes as that, else the charset the page names, else what the bytes look like."""
    named = _META_CHARSET.search(data[:4_096])
    try:
        if named and not data.startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            data.decode("utf-8")
    except UnicodeDecodeError:
        try:
            return clean(data.decode(named[1].decode("ascii"), errors="replace")) if named else text_of(data)
        except LookupError:
            pass
    return text_of(data)


def _metas(tree: Any) -> dict[str, str]:
    """`<meta>` names, properties and itemprops in lower case → content; the first of each counts."""
    metas: dict[str, str] = {}
    for tag in tree.iter("meta"):
        for attribute in ("name", "property", "itemprop", "http-equiv"):
            if (key := tag.get(attribute)) and (content := tag.get("content")):
                metas.setdefault(key.strip().lower(), content.strip())
    return metas


def _time(tree: Any) -> str:
    """The first `<time datetime>` of the page."""
    return next((found for tag in tree.iter("time") if (found := first_date(tag.get("datetime") or ""))), "")


def _useful(text: str) -> int:
    return sum(c.isalnum() for c in text)


def _stripped(tree: Any) -> str:
    """The text of the whole body: headings and tables as Markdown, scripts and styles dropped."""
    for tag in list(tree.iter("script", "style", "noscript", "template", "head")):
        tag.drop_tree() if tag.getparent() is not None else None
    for table in list(tree.iter("table")):
        rows = [[cell.text_content() for cell in row.iter("td", "th")] for row in table.iter("tr")]
        tail = table.tail
        table.clear()
        table.text, table.tail = f"\n\n{markdown_table(rows[0], rows[1:])}\n\n" if rows else "", tail
    for tag in tree.iter(*_BLOCKS, "h1", "h2", "h3", "h4", "h5", "h6"):
        mark = f"\n\n{'#' * int(tag.tag[1])} " if tag.tag[0] == "h" and tag.tag[1:].isdigit() else "\n"
        tag.text = ("\n- " if tag.tag == "li" else mark) + (tag.text or "").lstrip()
        tag.tail = "\n" + (tag.tail or "")
    lines = (re.sub(r"[ \t]+", " ", line).strip() for line in tree.text_content().split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
