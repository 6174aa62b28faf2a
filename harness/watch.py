"""Waits until files of a case change. The watcher only wakes: what changed is decided by content."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from harness.errors import HarnessError
from harness.store.reading import digest_of, list_case
from harness.store.snapshot import STATE_FILES

# A network disk sends no events, and one may get lost: look anyway, so often (seconds).
LOOK_ANYWAY = 1.0
# Editors save in several steps (truncate, write, rename): the content counts once it is the same twice.
SETTLE = 0.2


def digests(folder: Path, names: tuple[str, ...]) -> dict[str, str]:
    """sha256 by name, "" for a file that is not there."""
    return {name: digest_of(folder / name) for name in names}


def wait_for_change(folder: Path, before: Mapping[str, str], stopped: Callable[[], bool]) -> tuple[str, ...]:
    """The names whose content differs from `before`, once it has settled; () when `stopped` says so.

    Any save style: in place, atomic rename, vim's backup dance, moved in from another folder.
    """
    names = tuple(before)
    with wakes(folder) as woken:
        while not stopped():
            now = digests(folder, names)
            if now != before and now == _later(folder, names):
                return tuple(name for name in names if now[name] != before[name])
            woken.wait(LOOK_ANYWAY)
            woken.clear()
        return ()


class Contents:
    """What the files of a case hold. A raw is read again only where its size or its time became another."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._raws: dict[str, tuple[tuple[int, int, int], str]] = {}

    def now(self) -> dict[str, str]:
        """sha256 by name, of those that are there; what is wrong with it, for a file that cannot be read."""
        try:
            raws = list_case(self.folder).raws
        except OSError:
            return {}
        found = {name: self._digest(name) for name in STATE_FILES}
        found |= {name: self._raw(name) for name in (f"raw_{number}.md" for number in raws)}
        return {name: digest for name, digest in found.items() if digest}

    def settled(self) -> dict[str, str]:
        """The same, once nobody is in the middle of a save."""
        now = self.now()
        while True:
            threading.Event().wait(SETTLE)
            before, now = now, self.now()
            if now == before:
                return now

    def _digest(self, name: str) -> str:
        try:
            return digest_of(self.folder / name)
        except (HarnessError, OSError) as error:
            return str(error)

    def _raw(self, name: str) -> str:
        try:
            status = (self.folder / name).stat()
        except OSError:
            return self._digest(name)
        key = (status.st_size, status.st_mtime_ns, status.st_ino)
        if self._raws.get(name, (None, ""))[0] != key:
            self._raws[name] = (key, self._digest(name))
        return self._raws[name][1]


@contextmanager
def wakes(folder: Path, *, poll: bool = False) -> Iterator[threading.Event]:
    """An event that is set when something may have changed there; with `poll` it never is, and who waits looks."""
    woken = threading.Event()
    if poll:
        yield woken
        return
    end = _observe(folder, woken)
    try:
        yield woken
    finally:
        end()


def _later(folder: Path, names: tuple[str, ...]) -> dict[str, str]:
    threading.Event().wait(SETTLE)
    return digests(folder, names)


def _observe(folder: Path, woken: threading.Event) -> Callable[[], None]:
    """Start watching; returns how to end it. Where the system's watches are used up, looking each second is enough."""
    from watchdog.events import (
        FileClosedEvent,
        FileCreatedEvent,
        FileModifiedEvent,
        FileMovedEvent,
        FileSystemEvent,
        FileSystemEventHandler,
    )
    from watchdog.observers import Observer

    class Wake(FileSystemEventHandler):
        def on_any_event(self, event: FileSystemEvent) -> None:
            woken.set()

    # Named events only: our own reads would otherwise wake us (opened, closed without write).
    kinds: list[type[FileSystemEvent]] = [FileMovedEvent, FileCreatedEvent, FileModifiedEvent, FileClosedEvent]
    observer = Observer()
    try:
        observer.schedule(Wake(), str(folder), recursive=False, event_filter=kinds)
        observer.start()
    except OSError:
        return lambda: None

    def end() -> None:
        observer.stop()
        observer.join()

    return end
