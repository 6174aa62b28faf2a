"""Reading case files: regular files only, no link followed, decoded as the person meant them."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import stat
from pathlib import Path
from typing import NamedTuple

from harness.errors import BrokenFile, HarnessError
from harness.formats.text import decode
from harness.model import Problem
from harness.patterns import lazy
from harness.store.disk import BINARY, NOT_FOLLOWED

RAW_NAME = lazy(r"raw_([1-9]\d{0,8})\.md")
NEARLY_RAW = lazy(r"raw[_-]?0*(\d{1,9})\.(md|txt|markdown)", re.IGNORECASE)
TEMPORARY = lazy(r"\.[0-9a-f]{16}\.tmp")
CONFLICT = lazy(r"^(?:<{7}|>{7}) ", re.MULTILINE)
HEAD_BYTES = 65_536  # enough for the front matter of a raw with five queries and their attempts
# A summary or a question of this size is junk or an attack: the model's window ends far earlier.
STATE_LIMIT = 16_000_000
HELPER_LIMIT = 16_000_000

# Above one unreadable character in ten a file is no damaged text: a Latin-1 page has some 1 to 5 %.
JUNK_SHARE = 10


class FileText(NamedTuple):
    """One file as read: `digest` is the sha256 of its bytes, "" when it is not there."""

    text: str
    digest: str


ABSENT = FileText("", "")


class Known(NamedTuple):
    """A file as it was read before: a pass changes one of the four, and the others are only compared."""

    data: bytes
    read: FileText


def open_regular(path: Path) -> int | None:
    """A descriptor, or None when the file is not there. A link, folder or pipe is refused."""
    try:
        descriptor = os.open(path, os.O_RDONLY | NOT_FOLLOWED | BINARY | getattr(os, "O_NONBLOCK", 0))
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EMLINK):
            raise BrokenFile("a case file is a link", str(path), "replace the link by a real file") from None
        raise HarnessError("cannot read", f"{path} ({error.strerror})", "check the file's permissions") from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise BrokenFile("not a regular file", str(path), "move it away; a case holds plain files only")
    return descriptor


def read_bytes(path: Path, *, limit: int | None = None) -> bytes | None:
    """The first `limit` bytes (all of it by default); None when the file is not there."""
    descriptor = open_regular(path)
    if descriptor is None:
        return None
    with os.fdopen(descriptor, "rb") as file:
        return file.read(-1 if limit is None else limit)


def helper_path(helpers: Path, name: str) -> Path:
    """Where a helper is. Raises BrokenFile where a folder on the way is a link: a clone may bring one."""
    path = helpers / name
    for folder in (helpers, *(helpers / part for part in Path(name).parents[:-1])):
        if folder.is_symlink():
            raise BrokenFile("the helper folder is a link", str(folder), "remove the link; nothing is lost")
    return path


def read_helper(helpers: Path, name: str) -> str:
    """ "" if it is not there, no plain file, or cannot be read. Whatever it says may come from a stranger."""
    with contextlib.suppress(HarnessError, OSError):
        data = read_bytes(helper_path(helpers, name), limit=HELPER_LIMIT) or b""
        return data.decode("utf-8", errors="replace")
    return ""


def read_state(path: Path, known: dict[str, Known] | None = None) -> FileText:
    """The text of a state file; `known` holds what was read before, by file name. Raises BrokenFile."""
    data = read_bytes(path, limit=STATE_LIMIT + 1)
    if data is None:
        return ABSENT
    if known and path.name in known and known[path.name].data == data:
        return known[path.name].read
    if len(data) > STATE_LIMIT:
        raise BrokenFile("file too large", f"{path} (over {STATE_LIMIT // 1_000_000} MB)", "a page belongs in raw_N.md")
    text = decode(data).text
    refuse_junk(path, text)
    _refuse_conflict(path, text)
    read = FileText(text, hashlib.sha256(data).hexdigest())
    if known is not None:
        known[path.name] = Known(data, read)
    return read


def refuse_junk(path: Path, text: str) -> None:
    """Raises BrokenFile where the text is none in any encoding: a photograph, an archive, noise."""
    if text.count("�") * JUNK_SHARE > len(text):
        raise BrokenFile("not a text file", str(path), "save it as UTF-8 text, or move it away; nothing was changed")


def _refuse_conflict(path: Path, text: str) -> None:
    """Both sides of an unresolved merge would be taken for facts, and the markers lost at the next rewrite."""
    marked = "<<<<<<< " in text or ">>>>>>> " in text  # quicker than the pattern, which needs a line's start
    if marked and (match := CONFLICT.search(text)):
        where = f"{path}:{text.count(chr(10), 0, match.start()) + 1}"
        raise BrokenFile(
            "an unresolved merge",
            where,
            "harness merge settles the whole case; or choose between the two sides and remove the markers",
        )


def digest_of(path: Path, known: dict[str, Known] | None = None) -> str:
    """sha256 in hex of the bytes, "" where the file is not there."""
    data = read_bytes(path)
    if known and path.name in known and known[path.name].data == data:
        return known[path.name].read.digest
    return "" if data is None else hashlib.sha256(data).hexdigest()


class Listing(NamedTuple):
    raws: tuple[int, ...]
    temporary: tuple[str, ...]  # left by a process that was killed
    problems: tuple[Problem, ...]


def list_case(folder: Path) -> Listing:
    """Names only: no file is opened, so 5,000 raws cost a few milliseconds."""
    raws, temporary, problems = [], [], []
    raw_name = RAW_NAME.fullmatch
    for name in os.listdir(folder):  # noqa: PTH208 - no Path for each of 5,000 names
        if match := raw_name(name):
            raws.append(int(match[1]))
        elif TEMPORARY.fullmatch(name):
            temporary.append(name)
        elif match := NEARLY_RAW.fullmatch(name):
            hint = f"rename it to raw_{int(match[1]) or 'N'}.md to have it read"
            problems.append(Problem(name, 1, "looks like a raw but is not named like one", hint))
    return Listing(tuple(sorted(raws)), tuple(temporary), tuple(problems))
