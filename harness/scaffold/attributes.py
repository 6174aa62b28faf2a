"""What plain git is told: a line of ours in .gitattributes, and the commands behind it in the clone's own settings."""

from __future__ import annotations

from pathlib import Path

from harness import git
from harness.scaffold.refused import NotText

PATH = ".gitattributes"
LINE = "summary.md diff=harness merge=harness"
_COMMANDS = {
    "diff.harness.textconv": 'f() { harness git-textconv "$1" 2>/dev/null || cat "$1"; }; f',
    "merge.harness.name": "mark both sides of a summary",
    "merge.harness.driver": (
        "if command -v harness >/dev/null; then harness git-merge %O %A %B %P; else git merge-file %A %O %B; fi"
    ),
}  # a key of git -> what it is set to; git goes on as before where the harness is not on PATH


def put_line(before: bytes | None, line: str) -> bytes:
    """The file with the line at its end, once; every other byte stays. Raises NotText."""
    now = before or b""
    if b"\0" in now:
        raise NotText("it is UTF-16; save it as UTF-8 to have it wired")
    if line.encode() in now.splitlines():
        return now
    end = b"\r\n" if b"\r\n" in now else b"\n"
    gap = end if now and not now.endswith(b"\n") else b""
    return now + gap + line.encode() + end


def take_line(now: bytes) -> bytes | None:
    """The file without our line; None where nothing else is in it."""
    left = b"".join(line for line in now.splitlines(keepends=True) if line.strip() != LINE.encode())
    return left or None


def set_commands(project: Path) -> None:
    """In the settings of this clone alone. Raises GitFailed."""
    for key, value in _COMMANDS.items():
        git.plumb(project, "config", "--local", key, value)


def unset_commands(project: Path) -> None:
    """Those that are ours; what a person has set instead stays."""
    for key, value in _COMMANDS.items():
        if git.setting(project, key) == value:
            git.plumb(project, "config", "--local", "--unset", key)
