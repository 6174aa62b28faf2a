"""`harness note`: what a person found by themselves becomes a raw, which the Synthesizer folds like any other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import BinaryIO, NamedTuple

from harness.errors import HarnessError, StateMoved, WrongCall
from harness.formats.pasted import pasted
from harness.formats.raw import render_part_head
from harness.formats.text import decode
from harness.gathering import STDIN, Gathered, Input, drop_spooled, gather, sources_of
from harness.model import RawHead, Source
from harness.patterns import lazy
from harness.plan import next_number
from harness.session import Session
from harness.store import Snapshot

_URL = lazy(r"https?://\S+")
_DATE = lazy(r"[0-9]{4}(?:-[0-9]{2}(?:-[0-9]{2})?)?")
_HEAD = 16_000  # bytes of a pasted text in which its title, date and address are looked for
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
    if said.date and not _DATE.fullmatch(said.date):
        raise WrongCall("this is no date", said.date, "--date 2026-11-29, 2026-11 or 2026")
    snapshot = session.store.snapshot()
    if snapshot.case.question is None:
        raise HarnessError("there is no question yet", str(session.store.folder), 'harness ask "your question"')
    gathered = gather(names, stdin)
    if len(gathered.inputs) > 1 and any(said):
        raise WrongCall(
            "a title, date or address is one source's", f"{len(gathered.inputs)} files", "note them one by one"
        )
    notes: list[str] = []
    try:
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
    if not files:
        hint = f"save the page, then: harness note FILE {addresses[0]}"
        raise WrongCall("pages are not fetched by this version", addresses[0], hint)
    return files, said._replace(url=addresses[0])


def _written(session: Session, snapshot: Snapshot, gathered: Gathered, said: Said, notes: list[str]) -> int:
    retrieved = session.clock.now().strftime("%Y-%m-%dT%H:%M:%SZ")
    number = next_number(snapshot.case)
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
    if one.spooled:
        with one.path.open("rb") as file:
            found = pasted(decode(file.read(_HEAD)).text)
        source = source._replace(title=found.title or source.title, date=found.date, url=found.url)
    return source._replace(
        title=said.title or source.title, date=said.date or source.date, url=said.url or source.url, origin="pasted"
    )
