"""`harness note`: what a person found by themselves becomes a raw, which the Synthesizer folds like any other."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import BinaryIO, NamedTuple

from harness.errors import HarnessError, StateMoved, WrongCall
from harness.formats.pasted import pasted
from harness.formats.raw import render_part_head
from harness.formats.text import decode
from harness.gathering import CONVERTED, STDIN, Gathered, Input, drop_spooled, gather, sources_of
from harness.model import RawHead, Source
from harness.patterns import lazy
from harness.plan import next_number
from harness.search.documents.dates import first_date
from harness.session import Session
from harness.store import Snapshot

_URL = lazy(r"https?://\S+")
_HEAD = 16_000  # bytes of a pasted text in which its title, date and address are looked for
_CALL = "harness note {}"
_TRIES = 50  # others may add raws at the same time


class Said(NamedTuple):
    """What the person says of it; "" for what the text says itself."""

    title: str = ""
    date: str = ""
    url: str = ""


def note(session: Session, names: Sequence[str], stdin: BinaryIO, said: Said) -> str:
    """Writes the next free raw and says which. Each file is a source of its own.

    Raises WrongCall for what cannot be noted, HarnessError where there is no case or nothing can be read.
    """
    names, said = _files(names, said)
    if said.date and first_date(said.date) != said.date:
        raise WrongCall("this is no date", said.date, "--date 2026-11-29, 2026-11 or 2026")
    snapshot = session.store.snapshot()
    if snapshot.case.question is None:
        raise HarnessError("there is no question yet", str(session.store.folder), 'harness ask "your question"')
    gathered = _gathered(names, said, stdin)
    notes: list[str] = []
    try:
        if len(gathered.inputs) > 1 and any(said):
            files = f"{len(gathered.inputs)} files"
            raise WrongCall("a title, date or address is one source's", files, "note them one by one")
        number = _written(session, snapshot, gathered, said, notes)
    finally:
        drop_spooled(gathered)
    left = "".join(f"\n  {one}" for one in notes)
    stands = snapshot.case.answer is not None and snapshot.case.answer.status != "draft"
    after = "the answer stands already: harness reopen goes on with it" if stands else "it is folded next: harness step"
    return f"raw_{number}.md written; {after}{left}"


def _files(names: Sequence[str], said: Said) -> tuple[Sequence[str], Said]:
    """An address among the names is where the text comes from, not a file."""
    addresses = [name for name in names if _URL.fullmatch(name)]
    files = [name for name in names if name not in addresses]
    if len(addresses) > 1 or (addresses and said.url):
        raise WrongCall("two addresses for one note", ", ".join(addresses), "note them one by one")
    if not addresses:
        return names or (STDIN,), said
    return files, said._replace(url=addresses[0])


def _gathered(names: Sequence[str], said: Said, stdin: BinaryIO) -> Gathered:
    """Without a file it is stdin that holds the text of an address. Raises WrongCall."""
    try:
        gathered = gather(names or (STDIN,), stdin, _CALL)
    except WrongCall:
        if names:
            raise
        address = shlex.quote(said.url)
        hint = f"save the page, then: harness note FILE {address}; or my-program | harness note {address}"
        raise WrongCall("pages are not fetched by this version", said.url, hint) from None
    return gathered._replace(inputs=tuple(_with_kind(one) if one.spooled else one for one in gathered.inputs))


def _with_kind(one: Input) -> Input:
    """A page or a document that is piped in has no name: it is known by how it begins."""
    with one.path.open("rb") as file:
        head = file.read(_HEAD).lstrip(b"\xef\xbb\xbf \t\r\n")
    kinds = {".pdf": head.startswith(b"%PDF-"), ".docx": head.startswith(b"PK\x03\x04")}
    kinds[".html"] = head.startswith(b"<") and any(tag in head.lower() for tag in (b"<html", b"<!doctype html"))
    suffix = next((name for name, is_it in kinds.items() if is_it), one.path.suffix)
    return one._replace(path=one.path.rename(one.path.with_suffix(suffix)))


def _written(session: Session, snapshot: Snapshot, gathered: Gathered, said: Said, notes: list[str]) -> int:
    retrieved = session.clock.now().strftime("%Y-%m-%dT%H:%M:%SZ")
    reading = snapshot.case.summary.reading  # its raw may be gone, and comes back
    number = max(next_number(snapshot.case), reading.number + 1 if reading else 0)
    for _ in range(_TRIES):
        notes.clear()
        head = render_part_head(RawHead("note", retrieved=retrieved), "")
        blocks = sources_of(gathered, lambda one, source: _told(one, source, said), notes)
        record = session.stamped({"role": "person", "round": number, "noted": [one.name for one in gathered.inputs]})
        try:
            session.store.create_raw(number, (block for part in ([head], blocks) for block in part), record)
            return number
        except StateMoved:
            number += 1
    raise HarnessError("others add raws without end", str(session.store.folder), "harness note again")


def _told(one: Input, source: Source, said: Said) -> Source:
    """A file's name is its address, unless the person knows a better one; what was piped in says itself what it is."""
    if one.spooled and one.path.suffix in CONVERTED:
        source = source._replace(url="")
    elif one.spooled:
        with one.path.open("rb") as file:
            found = pasted(decode(file.read(_HEAD)).text)
        source = source._replace(title=found.title or source.title, date=found.date, url=found.url)
    return source._replace(
        title=said.title or source.title, date=said.date or source.date, url=said.url or source.url, origin="pasted"
    )
