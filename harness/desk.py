"""A desk: a temporary folder with exactly the files a role may see, for programs that only work through files."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

from harness.errors import AgentUnreachable
from harness.formats.text import decode, one_line, shortened

PROMPT_FILE = "PROMPT.md"
FILE_LIMIT = 4_000_000  # bytes of one output; a summary is some 30,000
NOTES_SHOWN = 12  # a program that unpacked something at its desk makes thousands of files
NAME_SHOWN = 80  # characters of a file's name


class Collected(NamedTuple):
    """`files`: the permitted outputs that changed, as clean text. `notes`: every other change, discarded."""

    files: dict[str, str]
    notes: tuple[str, ...]


class Desk:
    """A folder that holds `files` and, if there is a `prompt`, PROMPT.md; only `writes` are taken from it.

    A context manager: the folder is made on entry and removed on exit. Names are plain file names.
    Raises AgentUnreachable on entry if the folder cannot be made (disk full, no temporary folder).
    """

    def __init__(self, files: Mapping[str, str], *, prompt: str | None, writes: tuple[str, ...]) -> None:
        texts = dict(files) if prompt is None else {**files, PROMPT_FILE: prompt}
        self._given = {name: text.encode("utf-8", errors="replace") for name, text in texts.items()}
        self._writes = writes
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        self.path = Path()

    def __enter__(self) -> Desk:
        try:
            # Whatever is left there, files without permissions too, never hides how the pass ended.
            self._temporary = tempfile.TemporaryDirectory(prefix="harness-desk-", ignore_cleanup_errors=True)
            self.path = Path(self._temporary.name).resolve()
            for name, data in self._given.items():
                (self.path / name).write_bytes(data)
            self._identity = _identity(self.path)
        except OSError as error:
            self.__exit__(None, None, None)
            hint = "Free some space, or set TMPDIR to a folder that can be written."
            raise AgentUnreachable("cannot make the desk", f"{tempfile.gettempdir()}: {error.strerror}", hint) from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._temporary is not None:
            self._temporary.cleanup()

    def collect(self) -> Collected:
        """The permitted outputs that changed; call it when the program and all it started have ended."""
        if _identity(self.path) != self._identity:
            return Collected({}, ("the desk itself was moved, removed or replaced: everything discarded",))
        taken: dict[str, str] = {}
        notes: list[str] = []
        present = set()
        for path in _leaves(self.path):
            name = path.relative_to(self.path).as_posix()
            present.add(name)
            data = _read(path)
            if data == self._given.get(name, b""):  # also: a file that was made and left empty
                continue
            if name not in self._writes:
                notes.append(f"{_shown(name)} was {'changed' if name in self._given else 'created'}: discarded")
            elif isinstance(data, _Refused):
                notes.append(f"{name} {data.why}: discarded")
            elif (text := decode(data).text).strip():
                taken[name] = text
            else:
                notes.append(f"{name} was emptied: discarded")
        notes += [f"{_shown(name)} was deleted: ignored" for name in self._given if name not in present]
        return Collected(taken, _few(notes))


class _Refused(NamedTuple):
    why: str


def _identity(path: Path) -> tuple[int, int, bool] | None:
    try:
        status = path.lstat()
    except OSError:
        return None
    return status.st_dev, status.st_ino, stat.S_ISDIR(status.st_mode)


def _leaves(root: Path) -> Iterator[Path]:
    """Everything below `root` that is no folder, and empty folders; no link is followed."""
    for folder, folders, names in os.walk(root):
        here = Path(folder)
        links = [name for name in folders if (here / name).is_symlink()]
        yield from (here / name for name in sorted([*names, *links]))
        if here != root and not folders and not names:
            yield here


def _read(path: Path) -> bytes | _Refused:
    """What a regular file with one name holds, or why it is not taken."""
    try:
        status = path.lstat()
        regular = stat.S_ISREG(status.st_mode)
        if stat.S_ISLNK(status.st_mode) or (regular and status.st_nlink > 1):
            return _Refused("is a link")  # a hard link shows a file of elsewhere just as well
        if not regular:
            return _Refused("is no regular file")
        if status.st_size > FILE_LIMIT:
            return _Refused(f"has {status.st_size} bytes, more than {FILE_LIMIT}")
        return path.read_bytes()
    except OSError as error:
        return _Refused(f"cannot be read ({error.strerror})")


def _shown(name: str) -> str:
    return shortened(one_line(os.fsencode(name).decode("utf-8", errors="replace")), NAME_SHOWN)


def _few(notes: list[str]) -> tuple[str, ...]:
    if len(notes) <= NOTES_SHOWN:
        return tuple(notes)
    return (*notes[:NOTES_SHOWN], f"and {len(notes) - NOTES_SHOWN} more changes: discarded")
