"""The full-text index of one folder: kept outside of it, brought up to date file by file, one commit a build."""

from __future__ import annotations

import contextlib
import hashlib
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from harness import lockfile
from harness.search.documents.document import LibraryMissing, Unreadable
from harness.search.documents.read import read_content, read_document
from harness.search.engine import ENGINE, Batch, Damaged, open_engine
from harness.search.manifest import COMMITTING, MANIFEST, Entry, is_known, read_manifest, write_manifest
from harness.search.scan import Found

if TYPE_CHECKING:
    import tantivy

WAIT_SECONDS = 60.0  # for another builder; 500 documents of 30 kB take 5 s
LOCK = "lock"
LOCK_PAUSE = 0.05  # seconds between two looks; a build takes seconds
Progress = Callable[[int, int], None]  # files done, files to read


@dataclass(frozen=True)
class Opened:
    """An index to search, with what is known of each file and remarks for the user."""

    index: tantivy.Index
    entries: Mapping[str, Entry]
    notes: tuple[str, ...]


def open_index(
    place: Path,
    files: Sequence[Found],
    *,
    progress: Progress | None = None,
    start_over: bool = False,
    wait: float = WAIT_SECONDS,
) -> Opened:
    """The index in the folder `place`, in step with `files`. Never raises for what is on the disk.

    If another process builds it for longer than `wait` seconds, the old one is read; if there is none, or the cache
    cannot be written, the index is built in memory and forgotten. `start_over` drops what is there.
    """
    try:
        place.mkdir(parents=True, exist_ok=True)
        with contextlib.ExitStack() as held:
            try:
                waited = held.enter_context(lockfile.held(place / LOCK, wait=wait, pause=LOCK_PAUSE))
            except TimeoutError:
                return _opened_while_building(place, files, progress)
            opened = _brought_up_to_date(place, files, progress, start_over=start_over)
        told = (f"waited {waited:.0f} s for another process that built the index",) if waited >= 1 else ()
        return replace(opened, notes=(*told, *opened.notes))
    except (OSError, Damaged) as problem:
        opened = _in_memory(files, progress)
        return replace(opened, notes=(f"the index is not kept, {place} cannot be written: {problem}", *opened.notes))


def _opened_while_building(place: Path, files: Sequence[Found], progress: Progress | None) -> Opened:
    old = read_manifest(place)
    if old is not None:
        with contextlib.suppress(Damaged):
            note = "another process is building the index; searched as it was before"
            return Opened(open_engine(place), old, (note,))
    opened = _in_memory(files, progress)
    return replace(opened, notes=("another process is building the index; built in memory instead", *opened.notes))


def _brought_up_to_date(place: Path, files: Sequence[Found], progress: Progress | None, *, start_over: bool) -> Opened:
    notes: tuple[str, ...] = ()
    old = None if start_over else read_manifest(place)
    if old is None and (place / MANIFEST).exists():
        notes = ("the index was of another version or unfinished; it was built anew",)
    try:
        return Opened(*_built(place, old, files, progress), notes)
    except Damaged:
        return Opened(*_built(place, None, files, progress), ("the index was damaged; it was built anew",))


def _built(
    place: Path, old: Mapping[str, Entry] | None, files: Sequence[Found], progress: Progress | None
) -> tuple[tantivy.Index, Mapping[str, Entry]]:
    """One build. Killed before the commit it leaves the old state; killed after it, COMMITTING says: start over."""
    if old is None:
        _wipe(place)
    index = open_engine(place)
    batch = Batch(index)
    entries = _updated(batch, old or {}, files, progress)
    if batch.writer is not None or entries != old:
        (place / COMMITTING).touch()
        batch.commit()
        write_manifest(place, entries)
        (place / COMMITTING).unlink(missing_ok=True)
    return index, entries


def _in_memory(files: Sequence[Found], progress: Progress | None) -> Opened:
    index = open_engine(None)
    batch = Batch(index)
    entries = _updated(batch, {}, files, progress)
    batch.commit()
    return Opened(index, entries, ())


def _wipe(place: Path) -> None:
    (place / MANIFEST).unlink(missing_ok=True)
    if (place / ENGINE).is_dir():
        shutil.rmtree(place / ENGINE, ignore_errors=True)
    else:
        (place / ENGINE).unlink(missing_ok=True)
    (place / COMMITTING).unlink(missing_ok=True)


def _updated(
    batch: Batch, old: Mapping[str, Entry], files: Sequence[Found], progress: Progress | None
) -> dict[str, Entry]:
    """The new entries in path order, with every change handed to the batch; one document in memory at a time."""
    entries: dict[str, Entry] = {}
    unknown = sum(not is_known(old.get(found.name), found) for found in files)
    done = 0
    names = {found.name for found in files}
    for name, entry in old.items():
        if name not in names and not entry.fault:
            batch.delete(name)
    for found in files:
        before = old.get(found.name)
        if before is not None and is_known(before, found):
            entries[found.name] = before
            continue
        entries[found.name] = _read_into(batch, found, before)
        done += 1
        if progress is not None:
            progress(done, unknown)
    return entries


def _read_into(batch: Batch, found: Found, before: Entry | None) -> Entry:
    """Read one file; its passages replace those of before unless its bytes are the same."""
    digest = ""
    entry = Entry(found.size, found.mtime_ns, "")
    try:
        content = read_content(found.path)
        digest = hashlib.blake2b(content.data, digest_size=16).hexdigest()
        if before is not None and before.digest == digest and not before.needs:
            return before._replace(size=found.size, mtime_ns=found.mtime_ns)
        document = read_document(content, found.name)
    except Unreadable as fault:
        if before is not None and not before.fault:
            batch.delete(found.name)
        needs = fault.value if isinstance(fault, LibraryMissing) else ""
        return entry._replace(digest=digest, fault=fault.what, detail=fault.value, hint=fault.hint, needs=needs)
    if before is not None and not before.fault:
        batch.delete(found.name)
    batch.add(found.name, digest, document)
    return entry._replace(digest=digest, notes=document.notes)
