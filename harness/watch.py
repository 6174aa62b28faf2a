"""Waits until files of a case change. The watcher only wakes: what changed is decided by content."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from pathlib import Path

from harness.store.reading import digest_of

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
    names, woken = tuple(before), threading.Event()
    observer = _observe(folder, woken)
    try:
        while not stopped():
            now = digests(folder, names)
            if now != before and now == _later(folder, names):
                return tuple(name for name in names if now[name] != before[name])
            woken.wait(LOOK_ANYWAY)
            woken.clear()
        return ()
    finally:
        observer()


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
