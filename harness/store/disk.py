"""Every system call that changes a case, one method each, so that a test can make the k-th one fail."""

from __future__ import annotations

import errno
import os
from pathlib import Path

NOT_FOLLOWED = getattr(os, "O_NOFOLLOW", 0)
BINARY = getattr(os, "O_BINARY", 0)
_SPACE, _LINK = "Free some space, then run again", "It is a link or no plain file: remove it, then run again"
REFUSALS = {
    errno.ENOSPC: _SPACE,
    errno.EDQUOT: _SPACE,
    errno.ELOOP: _LINK,
    errno.EISDIR: _LINK,
    errno.ENOTDIR: _LINK,
}  # what the system says -> what to do


class Disk:
    """The real file system."""

    def make_folder(self, path: Path) -> None:
        path.mkdir(parents=True, exist_ok=True)

    def create_temporary(self, folder: Path) -> tuple[int, Path]:
        """A new file with a random name that the watcher's filter leaves out; never an existing one."""
        path = folder / f".{os.urandom(8).hex()}.tmp"
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | NOT_FOLLOWED | BINARY, 0o644), path

    def open_append(self, path: Path) -> int:
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | NOT_FOLLOWED | BINARY, 0o644)

    def write(self, descriptor: int, data: bytes | memoryview) -> int:
        return os.write(descriptor, data)

    def sync(self, descriptor: int) -> None:
        os.fsync(descriptor)

    def close(self, descriptor: int) -> None:
        os.close(descriptor)

    def replace(self, source: Path, target: Path) -> None:
        source.replace(target)

    def link(self, source: Path, target: Path) -> None:
        os.link(source, target, follow_symlinks=False)

    def unlink(self, path: Path) -> None:
        path.unlink(missing_ok=True)

    def sync_folder(self, folder: Path) -> None:
        """Makes a rename last; Windows has no such call."""
        if os.name == "nt":
            return
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
