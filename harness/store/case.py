"""A case on disk: read it whole as values, change it by one atomic write at a time."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from harness.errors import HarnessError, StateMoved
from harness.model import Raw
from harness.store import snapshot, trace
from harness.store.disk import REFUSALS, Disk
from harness.store.lock import locked
from harness.store.rawtext import StreamedText, WholeText, open_text
from harness.store.reading import FileText, Known, digest_of, helper_path, read_helper, read_state
from harness.store.snapshot import Snapshot

HELPERS = ".harness"
# On Windows a scanner or an editor may hold the target for a moment.
REPLACE_TRIES = 6
REPLACE_PAUSE = 0.05  # seconds


class Base(NamedTuple):
    """What a pass was decided on: the sha256 each file had; a commit is refused if one differs now.

    `replies`: files that a person saved as the reply itself; their text may stand there instead.
    """

    digests: Mapping[str, str]
    replies: Mapping[str, str] = {}

    @classmethod
    def of(cls, seen: Snapshot, *names: str, replies: Mapping[str, str] | None = None) -> Base:
        return cls({name: seen.files[name].digest for name in names}, replies or {})


def _hashed(blocks: Iterable[str | bytes], digest: hashlib._Hash) -> Iterator[bytes]:
    for block in blocks:
        data = block.encode() if isinstance(block, str) else block
        digest.update(data)
        yield data


class Store:
    """The one door to a case's files. `disk` makes the system calls."""

    def __init__(self, folder: Path, disk: Disk | None = None) -> None:
        self.folder = folder
        self.disk = disk or Disk()
        self._known: dict[str, Known] = {}

    @property
    def helpers(self) -> Path:
        return self.folder / HELPERS

    # Reading ---------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """All state files and the heads of the raws that the turn depends on. Opens no folded raw."""
        return snapshot.take(self.folder, self._known)

    def read_raw(self, number: int) -> tuple[str, Raw]:
        """The text and the value of raw_N.md. Raises StateMoved if it is gone, BrokenFile if it is too large."""
        return snapshot.read_raw(self.raw_path(number))

    def open_raw(self, number: int) -> WholeText | StreamedText:
        """The text of raw_N.md; above RAW_LIMIT it is streamed. Raises StateMoved, BrokenFile."""
        return open_text(self.raw_path(number), whole=snapshot.RAW_LIMIT)

    def read_bare(self, number: int) -> FileText:
        """A bare raw for adoption: line ends and all, where it is UTF-8 that needs no cleaning."""
        return snapshot.read_bare(self.raw_path(number))

    def raw_path(self, number: int) -> Path:
        return snapshot.raw_path(self.folder, number)

    # Writing ---------------------------------------------------------------------------------

    def commit(self, name: str, text: str | None, base: Base, record: Mapping[str, object]) -> None:
        """The trace line, then the one atomic write (None removes the file). Raises StateMoved, HarnessError."""
        with self._writing(name):
            self._compare(base)
            data = None if text is None else text.encode()
            self._trace({**record, "file": name, "sha256": trace.digest(data)})
            if data is None:
                self.disk.unlink(self.folder / name)
            else:
                self._replace(self.folder / name, data)
            self.disk.sync_folder(self.folder)

    def note(self, record: Mapping[str, object]) -> None:
        """A trace line of its own: a pass that failed wrote no file, and has cost something."""
        with self._writing("trace.jsonl"):
            self._trace(record)

    def create_raw(self, number: int, blocks: Iterable[str | bytes], record: Mapping[str, object]) -> None:
        """raw_N.md appears whole or not at all and never replaces another. Its text comes in blocks: it may be large.

        Raises what `blocks` raises; then nothing stands.
        """
        path = self.raw_path(number)
        with self._writing(path.name):
            if path.exists():
                raise StateMoved("this raw is there already", str(path), "harness status")
            digest = hashlib.sha256()
            temporary = self._temporary(path.parent, _hashed(blocks, digest))
            try:
                self._trace({**record, "file": path.name, "sha256": digest.hexdigest()})
            except OSError:
                self._unlink_quietly(temporary)
                raise
            self._link(temporary, path)
            self.disk.sync_folder(self.folder)

    def make_case(self, question: str) -> None:
        """A new case with its question.md. Raises HarnessError if there is one."""
        with self._told(self.folder):
            self.disk.make_folder(self.folder)
        with self._writing("question.md"):
            if (self.folder / "question.md").exists():
                raise HarnessError("a case is here already", str(self.folder), 'harness -C research/NAME ask "…"')
            self._create(self.folder / "question.md", question.encode())
            self.disk.sync_folder(self.folder)

    def move(self, name: str, target: str, digest: str, record: Mapping[str, object]) -> None:
        """Rename a file that has this sha256. Raises StateMoved if it has another, or if the target is there."""
        with self._writing(name):
            self._compare(Base({name: digest, target: ""}))
            self._trace({**record, "file": target, "sha256": digest})
            self.disk.replace(self.folder / name, self.folder / target)
            self.disk.sync_folder(self.folder)

    def put_back(self, name: str, data: bytes) -> None:
        """A file as the last pass left it, after another program has changed it: no pass, and no trace line."""
        with self._writing(name):
            self._replace(self.folder / name, data)

    def append(self, name: str, data: bytes) -> None:
        """One append, without waiting for the lock: what a person says mid-loop must not be refused."""
        with self._told(self.folder / name):
            descriptor = self.disk.open_append(self.folder / name)
            try:
                self._write_all(descriptor, data)
            finally:
                self.disk.close(descriptor)

    def clean(self, seen: Snapshot) -> None:
        """Remove temporary files of a killed process. Every one is made under the lock, so none is in use."""
        if not seen.temporary:
            return
        with self._writing("temporary files"):
            for name in seen.temporary:
                self.disk.unlink(self.folder / name)

    # Helpers in .harness/: disposable, no fact and no step depends on them ----------------------

    def put_helper(self, name: str, text: str) -> Path:
        path = helper_path(self.helpers, name)
        with self._told(path):
            self._make_helpers()
            self.disk.make_folder(path.parent)
            self._replace(path, text.encode())
        return path

    def get_helper(self, name: str) -> str:
        """ "" if it is not there or cannot be read."""
        return read_helper(self.helpers, name)

    def get_record(self, name: str) -> dict[str, object]:
        """A helper that is a mapping in JSON; an empty one if it is anything else."""
        try:
            value = json.loads(self.get_helper(name) or "{}")
        except (ValueError, RecursionError):
            return {}
        return value if isinstance(value, dict) else {}

    def helpers_in(self, name: str) -> list[str]:
        """The names in a folder of helpers; none where it is not there or no folder of ours."""
        with contextlib.suppress(OSError, HarnessError):
            return sorted(path.name for path in helper_path(self.helpers, f"{name}/x").parent.iterdir())
        return []

    def drop_helper(self, name: str) -> None:
        with contextlib.suppress(OSError, HarnessError):
            self.disk.unlink(helper_path(self.helpers, name))

    @contextlib.contextmanager
    def alone(self, name: str, *, wait: float) -> Iterator[None]:
        """Hold a lock of one's own among the helpers, for what takes longer than a commit. Raises HarnessError."""
        with contextlib.ExitStack() as stack:
            with self._told(self.helpers / name):
                self._make_helpers()
                stack.enter_context(locked(self.helpers / name, wait=wait))
            yield

    # Inside ------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _writing(self, name: str) -> Iterator[None]:
        with self._told(self.folder / name):
            self._make_helpers()
            with locked(self.helpers / "lock"):
                yield

    def _make_helpers(self) -> None:
        ignore = helper_path(self.helpers, ".gitignore")
        if not ignore.exists():
            self.disk.make_folder(self.helpers)
            self._replace(ignore, b"*\n")

    def _compare(self, base: Base) -> None:
        for name, digest in base.digests.items():
            path = self.folder / name
            if name in base.replies and read_state(path, self._known).text == base.replies[name]:
                continue
            if digest_of(path, self._known) != digest:
                raise StateMoved("the file changed during the pass", str(path), "harness status")

    def _trace(self, record: Mapping[str, object]) -> None:
        path = self.folder / "trace.jsonl"
        before = trace.last_line(path)
        line = json.dumps({**record, "previous": trace.digest(before.text.encode())}, ensure_ascii=False)
        descriptor = self.disk.open_append(path)
        try:
            self._write_all(descriptor, ("\n" if before.torn else "").encode() + line.encode() + b"\n")
            self.disk.sync(descriptor)
        finally:
            self.disk.close(descriptor)

    def _replace(self, path: Path, data: bytes) -> None:
        temporary = self._temporary(path.parent, (data,))
        try:
            for left in reversed(range(REPLACE_TRIES)):
                try:
                    return self.disk.replace(temporary, path)
                except PermissionError:
                    if not left:
                        raise
                    time.sleep(REPLACE_PAUSE)
        except OSError:
            self._unlink_quietly(temporary)
            raise

    def _create(self, path: Path, data: bytes) -> None:
        self._link(self._temporary(path.parent, (data,)), path)

    def _link(self, temporary: Path, path: Path) -> None:
        try:
            self.disk.link(temporary, path)
        except FileExistsError:
            raise StateMoved("the file is there already", str(path), "harness status") from None
        except OSError as error:
            if error.errno not in (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EACCES):
                raise
            self.disk.replace(temporary, path)  # a file system without hard links; the lock is held
        finally:
            self._unlink_quietly(temporary)

    def _temporary(self, folder: Path, blocks: Iterable[bytes]) -> Path:
        descriptor, path = self.disk.create_temporary(folder)
        try:
            for block in blocks:
                self._write_all(descriptor, block)
            self.disk.sync(descriptor)
        except (OSError, HarnessError):
            self._unlink_quietly(path)
            raise
        finally:
            self.disk.close(descriptor)
        return path

    def _write_all(self, descriptor: int, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[self.disk.write(descriptor, view) :]

    def _unlink_quietly(self, path: Path) -> None:
        with contextlib.suppress(OSError):
            self.disk.unlink(path)

    @contextlib.contextmanager
    def _told(self, path: Path) -> Iterator[None]:
        """One place turns the system's refusals into messages; the state stays at the last commit."""
        try:
            yield
        except OSError as error:
            stands = "nothing was lost: the case stands at its last commit"
            advice = REFUSALS.get(error.errno or 0, "Check the folder's permissions")
            where = error.filename or path
            raise HarnessError("cannot write", f"{where} ({error.strerror or error})", f"{stands}. {advice}") from error
