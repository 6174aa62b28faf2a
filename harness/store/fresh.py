"""A new case that appears whole or not at all: it is built in a folder beside its place, and renamed last."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from harness.errors import HarnessError
from harness.store.case import Store
from harness.store.disk import Disk
from harness.store.reading import open_regular

_BLOCK = 1_000_000  # bytes


@contextlib.contextmanager
def fresh_case(folder: Path, disk: Disk | None = None) -> Iterator[Store]:
    """Gives the store that builds it. Raises HarnessError where something stands already, or nothing can be written.

    What a process that was killed has left beside it begins with a dot and is no case.
    """
    disk = disk or Disk()
    folder = folder.absolute()
    if folder.is_symlink() or (folder.exists() and not (folder.is_dir() and not any(folder.iterdir()))):
        raise HarnessError("something is there already", str(folder), "name a folder that is not there yet")
    building = folder.parent / f".{folder.name}.{os.urandom(8).hex()}.tmp"
    try:
        disk.make_folder(building)
        yield Store(building, disk)
        if folder.exists():
            folder.rmdir()  # it is empty, or this fails
        disk.replace(building, folder)
        disk.sync_folder(folder.parent)
    except OSError as error:
        told = f"{folder} ({error.strerror or error})"
        raise HarnessError("cannot make the case", told, "nothing was made there; check the parent folder") from error
    finally:
        shutil.rmtree(building, ignore_errors=True)


def bytes_of(path: Path) -> Iterator[bytes]:
    """A file block by block; nothing where it is gone. Raises BrokenFile for a link."""
    descriptor = open_regular(path)
    if descriptor is None:
        return
    with os.fdopen(descriptor, "rb") as file:
        while block := file.read(_BLOCK):
            yield block
