"""tantivy behind three doors: the index opened or made, one batch of changes, the values kept beside a passage."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harness.search.documents.document import Document
from harness.search.passages import cut
from harness.search.terms import ANALYZER, KEYS, analyzer, folded, key_analyzer, keys, name_words

if TYPE_CHECKING:
    import tantivy

HEAP = 64_000_000  # bytes the writer collects before it writes a segment
ENGINE = "tantivy"  # the folder that is tantivy's own


@dataclass(frozen=True)
class Stored:
    """What the index keeps beside a passage. A document's card is one of these without a passage."""

    name: str
    title: str
    url: str
    date: str
    date_from: str
    digest: str
    characters: int  # of the whole document
    count: int  # of its passages
    ordinal: int = -1
    lead: str = ""
    text: str = ""


class Damaged(Exception):
    """The files of the index cannot be used; they hold nothing that cannot be made again."""


def stored_in(document: tantivy.Document) -> Stored:
    """The values kept beside a hit."""
    return Stored(**json.loads(bytes(document.get_first("stored") or b"{}")))


@contextlib.contextmanager
def panics_as_errors() -> Iterator[None]:
    """Rust panics derive from BaseException and would pass every handler; damaged files cause them."""
    try:
        yield
    except BaseException as problem:
        if type(problem).__name__ != "PanicException":
            raise
        raise ValueError(f"tantivy: {problem}") from None


def _schema() -> tantivy.Schema:
    import tantivy

    builder = tantivy.SchemaBuilder().add_text_field("path", tokenizer_name="raw", index_option="basic")
    for field in ("card", "name", "label", "body"):  # card: the name again, once a document and not once a passage
        builder = builder.add_text_field(field, tokenizer_name=ANALYZER)
    builder = builder.add_text_field("key", tokenizer_name=KEYS, index_option="basic")
    return builder.add_bytes_field("stored", stored=True).build()


def open_engine(place: Path | None) -> tantivy.Index:
    """The index in tantivy's own folder below `place`, opened or made; None: a new one in memory. Raises Damaged."""
    import tantivy

    try:
        if place is not None:
            (place / ENGINE).mkdir(exist_ok=True)
        with panics_as_errors():
            index = tantivy.Index(_schema(), path=None if place is None else str(place / ENGINE))
            _register(index)
            index.searcher()
    except (OSError, ValueError) as problem:
        raise Damaged(str(problem)) from None
    return index


def _register(index: tantivy.Index) -> None:
    """The analyzers are not kept with an index: each one that is opened or made needs them."""
    index.register_tokenizer(ANALYZER, analyzer())
    index.register_tokenizer(KEYS, key_analyzer())


class Batch:
    """The changes of one build: a single writer thread, opened at the first change, and a single commit."""

    def __init__(self, index: tantivy.Index) -> None:
        self.index = index
        self.writer: tantivy.IndexWriter | None = None
        self._analyze = analyzer(stop_words=False).analyze

    def _open(self) -> tantivy.IndexWriter:
        if self.writer is None:
            try:
                self.writer = self.index.writer(HEAP, 1)
            except ValueError as problem:  # LockBusy: a writer that does not take our lock
                raise Damaged(str(problem)) from None
        return self.writer

    def delete(self, name: str) -> None:
        import tantivy

        self._open().delete_documents_by_query(tantivy.Query.term_query(self.index.schema, "path", name))

    def add(self, name: str, digest: str, document: Document) -> None:
        """The document's card and its passages."""
        passages = cut(document.text)
        called = name_words(document.title, name)
        about = (document.title, document.url, document.date, document.date_from)
        card = Stored(name, *about, digest, characters=len(document.text), count=len(passages))
        self._add(card, card=called)
        for ordinal, passage in enumerate(passages):
            of = {"ordinal": ordinal, "lead": passage.lead, "text": passage.text}
            fields = {"name": called, "label": folded(passage.label), "body": folded(passage.text)}
            self._add(Stored(**{**asdict(card), **of}), **fields, key=keys(passage.names, self._analyze))

    def _add(self, stored: Stored, **fields: str) -> None:
        import tantivy

        one = tantivy.Document()
        one.add_text("path", stored.name)
        for field, text in fields.items():
            one.add_text(field, text)
        one.add_bytes("stored", json.dumps(asdict(stored)).encode())
        self._open().add_document(one)

    def commit(self) -> None:
        if self.writer is None:
            return
        try:
            with panics_as_errors():
                self.writer.commit()
                self.writer.wait_merging_threads()
                self.index.reload()
        except ValueError as problem:  # a full disk, a folder taken away
            raise Damaged(str(problem)) from None
