"""Files of a project, seen without following links, and changed all together or not at all."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from harness.scaffold.refused import Refused

MAX_BYTES = 4_000_000  # an instruction file has some kilobytes; what is larger is no such file


class Entry(NamedTuple):
    """What stands at a path: `content` None if nothing; `mode`: its permission bits."""

    content: bytes | None = None
    mode: int | None = None


class Edit(NamedTuple):
    """One file's change. First `moves` (pairs of paths, renamed in this order), then `after`: None is "no file".

    `beside`: a further file with what would be lost otherwise. Paths are below the project, with `/`.
    """

    path: str
    after: bytes | None
    moves: tuple[tuple[str, str], ...] = ()
    beside: tuple[str, bytes] | None = None


def look(project: Path, path: str) -> Entry:
    """Raises Refused for everything but a regular file in real folders, and where nothing could be written."""
    folder = project
    for part in PurePosixPath(path).parts[:-1]:
        folder /= part
        kind = _kind(folder)
        if kind is None:
            break
        if not stat.S_ISDIR(kind):
            raise Refused(f"{_below(folder, project)} is {_named(kind)}, not a folder")
    nearest = next(one for one in (folder, *folder.parents) if one.is_dir())
    if not os.access(nearest, os.W_OK | os.X_OK, effective_ids=os.access in os.supports_effective_ids):
        raise Refused(f"{_below(nearest, project)} is read-only")
    file = project / path
    kind = _kind(file)
    if kind is None:
        return Entry()
    if not stat.S_ISREG(kind):
        raise Refused(f"{_named(kind)} stands in its place")
    if file.stat().st_size > MAX_BYTES:
        raise Refused("it is too large for an instruction file")
    try:
        return Entry(file.read_bytes(), stat.S_IMODE(kind))
    except OSError as error:
        raise Refused(f"it cannot be read ({error.strerror})") from None


def free_name(project: Path, path: str, ending: str) -> str:
    """`path` + `ending`, numbered where that is taken."""
    names = (f"{path}{ending}" + (f".{number}" if number > 1 else "") for number in range(1, 10_000))
    return next(name for name in names if not os.path.lexists(project / name))


def new_folders(project: Path, paths: Sequence[str]) -> list[str]:
    """The folders below the project that these files need and that are not there, outer ones first."""
    parents = {str(parent) for path in paths for parent in PurePosixPath(path).parents if str(parent) != "."}
    return sorted(parent for parent in parents if not (project / parent).exists())


def apply(project: Path, edits: Sequence[Edit]) -> None:
    """Makes the edits; if one fails, those before it are undone and its OSError is raised."""
    undo: list[Callable[[], object]] = []
    try:
        for edit in edits:
            for step, back in _steps(project, edit):
                step()
                undo.append(back)
    except OSError:
        for back in reversed(undo):
            with suppress(OSError):
                back()
        raise


def remove_empty(project: Path, folders: Sequence[str]) -> None:
    """Those of the folders that hold nothing any more, inner ones first."""
    for folder in sorted(folders, key=len, reverse=True):
        with suppress(OSError):
            (project / folder).rmdir()


def write(path: Path, content: bytes, mode: int | None = None) -> None:
    """Whole or not at all; folders are made. `mode` None: that of the file that was there, else the usual one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if mode is None and path.exists():
        mode = stat.S_IMODE(path.stat().st_mode)
    temporary = path.with_name(f".{os.urandom(8).hex()}.tmp")
    try:
        with temporary.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            temporary.chmod(mode)
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


def _steps(project: Path, edit: Edit) -> Iterator[tuple[Callable[[], object], Callable[[], object]]]:
    """Each step of an edit with what undoes it, which is made before the step is done."""
    file = project / edit.path
    if edit.beside:
        name, content = edit.beside
        yield partial(write, project / name, content), (project / name).unlink
    if edit.after is None and file.exists():
        yield file.unlink, _putting_back(file)
    for old, new in edit.moves:
        source, target = project / old, project / new
        yield partial(source.rename, target), partial(target.rename, source)
    if edit.after is not None:
        yield partial(write, file, edit.after), _putting_back(file)


def _putting_back(file: Path) -> Callable[[], object]:
    """What makes the file what it is now: its bytes and mode, or nothing."""
    if not file.exists():
        return file.unlink
    return partial(write, file, file.read_bytes(), stat.S_IMODE(file.stat().st_mode))


def _kind(path: Path) -> int | None:
    try:
        return path.lstat().st_mode
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Refused(f"it cannot be reached ({error.strerror})") from None


def _named(kind: int) -> str:
    if stat.S_ISLNK(kind):
        return "a link"
    if stat.S_ISDIR(kind):
        return "a folder"
    return "a file" if stat.S_ISREG(kind) else "a pipe or device"


def _below(path: Path, project: Path) -> str:
    return "the project's folder" if path == project else path.relative_to(project).as_posix()
