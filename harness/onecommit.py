"""One commit of some files of a folder, prepared beside the person's index, which keeps every other entry as it is."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from harness import git
from harness.lockfile import held
from harness.patterns import lazy

WAIT = 10.0  # seconds for another case of the repository
TRIES, PAUSE = 15, 0.1  # seconds: another git holds a lock for milliseconds, an editor's for longer
_LOCKED = lazy(r"\.lock'|cannot lock ref")


class _Change(NamedTuple):
    """A file as the commit is to hold it."""

    mode: str  # 000000: removed
    blob: str
    path: str  # from the top of the repository


class _Planned(NamedTuple):
    """`head`: the last commit, "" before the first; `tree`: what the next one is to hold."""

    head: str
    tree: str
    changes: tuple[_Change, ...]


def commit(folder: Path, names: Sequence[str], message: str, *, seconds: float = git.HOOK_SECONDS) -> tuple[str, ...]:
    """Commits exactly these files of the folder as they stand, with the person's hooks; nothing where none was changed.

    Hooks see an index of their own: one that is ended after `seconds` leaves no lock, and one that refuses leaves
    nothing staged. Returns what a hook had put into the commit, from the top of the repository; it is taken out again.
    Raises GitFailed.
    """
    with _alone(folder), tempfile.TemporaryDirectory(prefix="harness-git-") as scratch:
        index = Path(scratch) / "index"
        planned, rev = _committed(folder, index, names, message, seconds)
        added = _set_right(folder, index, planned, rev) if rev else ()
        _renew_index(folder, planned.changes)
    return added


def _committed(folder: Path, index: Path, names: Sequence[str], message: str, seconds: float) -> tuple[_Planned, str]:
    """The commit, "" where nothing has changed. Planned anew where somebody else's came first."""
    for left in reversed(range(TRIES)):
        planned = _plan(folder, index, names)
        if not planned.changes:
            return planned, ""
        try:
            return planned, git.commit_index(folder, index, message, seconds=seconds)
        except git.GitFailed as refused:
            last = git.revision(folder, "HEAD") or ""
            if last != planned.head and _tree(folder, last) == planned.tree:
                return planned, last  # made all the same; a hook after it took too long
            if not left or not _LOCKED.search(refused.value):
                raise
        time.sleep(PAUSE)
    raise AssertionError("unreachable")


def _plan(folder: Path, index: Path, names: Sequence[str]) -> _Planned:
    """Fills the index with the last commit and these files."""
    _until_free(git.path_in(folder, "index.lock"))
    head = git.revision(folder, "HEAD") or ""
    git.plumb(folder, "read-tree", head or "--empty", index=index)
    listed = b"\0".join(os.fsencode(name) for name in names)
    git.plumb(folder, "update-index", "-z", "--add", "--remove", "--stdin", stdin=listed, index=index)
    base = head or git.git(folder, "hash-object", "-t", "tree", "--stdin").decode().strip()
    raw = ("--cached", "--raw", "-z", "--no-renames", "--no-abbrev")
    words = os.fsdecode(git.plumb(folder, "diff-index", *raw, base, index=index)).split("\0")
    changes = [_change(what, path) for what, path in zip(words[::2], words[1::2], strict=False)]
    return _Planned(head, _written(folder, index), tuple(changes))


def _change(what: str, path: str) -> _Change:
    """`:100644 100644 OLD NEW M`."""
    _, mode, _, blob, _ = what.split(" ")
    return _Change(mode, blob, path)


def _until_free(lock: Path) -> None:
    for _ in range(TRIES):
        if not lock.exists():
            return
        time.sleep(PAUSE)
    raise git.GitFailed("another git holds the index", str(lock), "remove it if no git is running")


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Other cases of the repository wait: each commit is planned on the one before it."""
    path = git.path_in(folder, "harness.lock")
    with ExitStack() as stack:
        try:
            stack.enter_context(held(path, wait=WAIT))
        except (TimeoutError, OSError) as error:
            told = "another case is being committed" if isinstance(error, TimeoutError) else str(error)
            raise git.GitFailed(told, str(path), "the next pass commits it too") from None
        yield


def _set_right(folder: Path, index: Path, planned: _Planned, rev: str) -> tuple[str, ...]:
    """The commit is made to hold what was planned and nothing else; names what differed.

    A hook may have added files to it. And where somebody committed just before it, it would undo what they did.
    """
    before = git.revision(folder, f"{rev}^") or ""
    git.plumb(folder, "read-tree", before or "--empty", index=index)
    _enter(folder, planned.changes, index)
    tree = _written(folder, index)
    told = git.git(folder, "diff-tree", "-r", "-z", "--name-only", "--no-renames", tree, rev)
    differ = tuple(path for path in os.fsdecode(told).split("\0") if path)
    if differ:
        git.commit_again(folder, rev, tree)
    return differ if before == planned.head else ()


def _renew_index(folder: Path, changes: tuple[_Change, ...]) -> None:
    """The person's own index gets the committed entries, and no other is touched."""
    for left in reversed(range(TRIES)):
        try:
            _enter(folder, changes)
            return
        except git.GitFailed as refused:
            if not left or not _LOCKED.search(refused.value):
                hint = "the commit is made; git reset -- the case's folder"
                raise git.GitFailed("the index could not be renewed", refused.value, hint) from None
        time.sleep(PAUSE)


def _enter(folder: Path, changes: tuple[_Change, ...], index: Path | None = None) -> None:
    lines = (f"{one.mode} {one.blob}\t{one.path}\0" for one in changes)
    git.plumb(folder, "update-index", "-z", "--index-info", stdin=os.fsencode("".join(lines)), index=index)


def _written(folder: Path, index: Path) -> str:
    return git.plumb(folder, "write-tree", index=index).decode().strip()


def _tree(folder: Path, rev: str) -> str:
    return git.git(folder, "rev-parse", f"{rev}^{{tree}}").decode().strip()
