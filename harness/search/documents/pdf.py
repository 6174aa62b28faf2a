"""PDF files page by page by pypdfium2; date and title from the document's information."""

from __future__ import annotations

import threading
from typing import Any

from harness.formats.text import clean
from harness.search.documents.dates import first_date
from harness.search.documents.document import Document, Unreadable, library_missing

PASSWORD_ERROR = 4  # FPDF_ERR_PASSWORD
_ONE_AT_A_TIME = threading.Lock()  # PDFium is not thread-safe, and two searches may build two indexes


def read_pdf(data: bytes, name: str) -> Document:
    """`## Page n` above the text of each page. Raises Unreadable if encrypted, broken or without any text."""
    try:
        import pypdfium2
    except ImportError as problem:
        raise library_missing("pypdfium2", problem) from None
    if not data.strip():
        raise Unreadable("empty")
    with _ONE_AT_A_TIME:
        try:
            pdf = pypdfium2.PdfDocument(data)
        except pypdfium2.PdfiumError as problem:
            encrypted = getattr(problem, "err_code", None) == PASSWORD_ERROR or "password" in str(problem).lower()
            raise Unreadable("encrypted PDF" if encrypted else "broken PDF", str(problem)) from None
        try:
            info = pdf.get_metadata_dict(skip_empty=True)
            texts = [_page_text(pdf[number]) for number in range(len(pdf))]
        finally:
            pdf.close()
    if not any(texts):
        raise Unreadable("PDF without text (scanned pages?)")
    date = first_date(info.get("CreationDate", "")) or first_date(info.get("ModDate", ""))
    pages = (f"## Page {number}\n\n{text}" for number, text in enumerate(texts, 1) if text)
    text = texts[0] if len(texts) == 1 else "\n\n".join(pages)
    return Document(" ".join(info.get("Title", "").split()), text, "", date, "pdf info" if date else "")


def _page_text(page: Any) -> str:
    text_page = page.get_textpage()
    try:
        # U+FFFE is how PDFium marks a hyphen at a line end.
        text: str = text_page.get_text_bounded().replace("\r\n", "\n").replace("￾\n", "").replace("￾", "")
    finally:
        text_page.close()
        page.close()
    return clean(text).strip()
