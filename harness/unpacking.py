"""A zipped case, unpacked into a folder of its own: only a case's own files, by plain names, and not without end."""

from __future__ import annotations

import lzma
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from harness.errors import HarnessError
from harness.patterns import lazy

_OURS = lazy(r"question\.md|summary\.md|next_query\.txt|answer(?:_[0-9]{1,9})?\.md|raw_[0-9]{1,9}\.md|trace\.jsonl")
_TELLING = ("question.md", "summary.md", "trace.jsonl")  # one of them stands in the folder of a case
MOST_FILES = 100_000
MOST_BYTES = 4_000_000_000  # unpacked; a bomb of 10 MB has more
_BLOCK = 1_000_000
_BROKEN = (zipfile.BadZipFile, zlib.error, lzma.LZMAError)


def unpack(archive: Path, target: Path, most: int = MOST_BYTES) -> None:
    """The files of the one case that the archive holds, also below a folder. Raises HarnessError."""
    try:
        with zipfile.ZipFile(archive) as opened:
            _unpack(opened, archive, target, most)
    except (*_BROKEN, NotImplementedError, RuntimeError, EOFError, OSError) as problem:
        raise HarnessError(
            "this archive cannot be read", f"{archive} ({problem})", "name the folder of a case"
        ) from None


def _unpack(opened: zipfile.ZipFile, archive: Path, target: Path, left: int) -> None:
    members = [one for one in opened.infolist() if not one.is_dir()]
    if len(members) > MOST_FILES:
        raise HarnessError("this archive holds too many files", f"{len(members):,}", f"at most {MOST_FILES:,}")
    folder = _folder([one.filename for one in members], archive)
    for one in members:
        path = PurePosixPath(one.filename.replace("\\", "/"))
        if path.parent == folder and _OURS.fullmatch(path.name):
            left = _write(opened, one, target / path.name, left)
            if left < 0:
                raise HarnessError("this archive unpacks to too much", str(archive), "unpack it, and name the folder")


def _folder(names: list[str], archive: Path) -> PurePosixPath:
    paths = [PurePosixPath(name.replace("\\", "/")) for name in names]
    found = sorted({path.parent for path in paths if path.name in _TELLING}, key=lambda path: (len(path.parts), path))
    if not found:
        raise HarnessError("there is no case in this archive", str(archive), "a case has question.md and summary.md")
    if len(found) > 1 and len(found[1].parts) == len(found[0].parts):
        told = ", ".join(map(str, found[:3]))
        raise HarnessError("there are several cases in this archive", told, "unpack it, and name the folder of one")
    return found[0]


def _write(opened: zipfile.ZipFile, member: zipfile.ZipInfo, path: Path, left: int) -> int:
    """What is left of the bytes that may be written. By what comes out: a header can say anything."""
    with opened.open(member) as source, path.open("xb") as file:
        while data := source.read(_BLOCK):
            left -= len(data)
            if left < 0:
                break
            file.write(data)
    return left
