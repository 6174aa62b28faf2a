"""Which files of a folder are documents: the cheap walk that opens none of them."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from pathspec import GitIgnoreSpec
from pathspec.util import CheckResult

from harness.errors import HarnessError
from harness.patterns import lazy
from harness.search.documents.read import READERS
from harness.store.reading import read_bytes

# A folder with a question and one of these is a case: what it says is ours, not a source.
CASE_MARKS = ("summary.md", "next_query.txt", ".harness")
CASE_FILES = ("question.md", "summary.md", "next_query.txt")
# Folders of dependencies without a hidden name: thousands of readme files that nobody asks about.
DEPENDENCIES = ("node_modules",)
RULES_LIMIT = 100_000  # bytes of one ignore file
STARS = 3  # in one part of a pattern, and of `**` in all of it: with six, one name takes half a minute
_STARS = lazy(r"\*+")


class Found(NamedTuple):
    """A file that can be read. `name` is its path below the root with `/`, printable on any terminal."""

    name: str
    path: Path
    size: int
    mtime_ns: int


class Scan(NamedTuple):
    """`files` in order of their names; `left_out` counts what was skipped by reason (a folder counts once)."""

    files: tuple[Found, ...]
    left_out: Mapping[str, int]


class _Rules(NamedTuple):
    """The ignore rules of one folder: patterns count from `top` down."""

    top: Path
    spec: GitIgnoreSpec
    file: str


def scan(root: Path, *, besides: Collection[Path] = ()) -> Scan:
    """Every document below `root` but in hidden, git-ignored and case folders and those named in `besides`.

    Links are not followed: one that stays inside leads to a file that is found anyway. OSError only if `root` itself
    cannot be listed.
    """
    root = root.resolve()
    skipped = {folder.resolve() for folder in besides}
    left_out: Counter[str] = Counter()
    rules = _rules_above(root)
    if _ignored(root, rules, folder=True):
        rules = ()  # the user named this folder, so it counts although git ignores it
    with os.scandir(root) as entries:
        is_case = _is_case({entry.name for entry in entries})
    found: list[Found] = []
    folders = [(root, rules)]
    while folders:
        folder, above = folders.pop()
        try:
            with os.scandir(folder) as entries:
                listed = list(entries)
        except OSError:
            if folder == root:
                raise
            left_out["folder that cannot be listed"] += 1
            continue
        names = {entry.name for entry in listed}
        if folder != root and (_is_case(names) or folder in skipped):
            left_out["case folder" if _is_case(names) else "folder of the harness"] += 1
            continue
        rules = above + _rules_of(folder, ".gitignore") if ".gitignore" in names else above
        for entry in listed:
            reason = _why_not(entry, root, rules)
            if not reason and entry.is_dir(follow_symlinks=False):
                folders.append((Path(entry.path), rules))
            elif not reason and is_case and folder == root and _is_case_file(entry.name):
                left_out["case file"] += 1
            elif reason or not (one := _found(entry, root)):
                left_out[reason or "file that cannot be looked at"] += 1
            else:
                found.append(one)
    return Scan(tuple(sorted(found)), dict(left_out))


def ignoring_rule(folder: Path) -> str:
    """The ignore file and its pattern that leave this folder out, also by a folder above it; "" if none does."""
    rules = _rules_above(folder)
    for level in reversed((folder, *folder.parents)):
        spoken = _spoken(level, rules, folder=True)
        if spoken and spoken[0].include and spoken[0].index is not None:
            pattern = getattr(spoken[1].spec.patterns[spoken[0].index], "pattern", "")
            return f"{spoken[1].top / spoken[1].file} ({printable(str(pattern))})"
    return ""


def printable(name: str) -> str:
    """A file name with line ends, escapes and undecodable bytes written as `\\n`, `\\x1b`, `\\udcff`."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)


def _found(entry: os.DirEntry[str], root: Path) -> Found | None:
    try:
        facts = entry.stat(follow_symlinks=False)
    except OSError:
        return None
    path = Path(entry.path)
    return Found(printable(path.relative_to(root).as_posix()), path, facts.st_size, facts.st_mtime_ns)


def _why_not(entry: os.DirEntry[str], root: Path, rules: tuple[_Rules, ...]) -> str:
    """Why this entry is left out; "" if it is a folder to walk or a document."""
    if entry.name.startswith("."):
        return "hidden"
    path = Path(entry.path)
    if entry.is_symlink():
        return _link_reason(path, root)
    folder = entry.is_dir(follow_symlinks=False)
    if folder and entry.name in DEPENDENCIES:
        return "folder of dependencies"
    if _ignored(path, rules, folder=folder):
        return "git-ignored"
    if folder:
        return ""
    if not entry.is_file(follow_symlinks=False) or path.suffix.lower() not in READERS:
        return "file of another kind"
    return ""


def _link_reason(link: Path, root: Path) -> str:
    try:
        target = link.resolve(strict=True)
    except (OSError, RuntimeError):  # RuntimeError: links in a circle, before Python 3.13
        return "link that leads nowhere"
    return "link inside the folder" if target.is_relative_to(root) else "link that leads out of the folder"


def _is_case(names: set[str]) -> bool:
    if "question.md" not in names:
        return False
    return any(mark in names for mark in CASE_MARKS) or any(_is_raw(name) for name in names)


def _is_raw(name: str) -> bool:
    return name.startswith("raw_") and name.endswith(".md")


def _is_case_file(name: str) -> bool:
    """When the root itself is a case, its own files are no documents but those beside them are."""
    return name in CASE_FILES or _is_raw(name) or (name.startswith("answer") and name.endswith(".md"))


def _rules_above(root: Path) -> tuple[_Rules, ...]:
    """The ignore files from the git root down to the parent of `root`, the weakest first."""
    chain = [root, *root.parents]
    top = next((i for i, folder in enumerate(chain) if (folder / ".git").exists()), None)
    if top is None:
        return ()
    rules = list(_rules_of(chain[top], ".git/info/exclude"))
    for folder in reversed(chain[1 : top + 1]):
        rules += _rules_of(folder, ".gitignore")
    return tuple(rules)


def _rules_of(folder: Path, file: str) -> tuple[_Rules, ...]:
    """None from a link or a pipe: git does not follow those either."""
    try:
        data = read_bytes(folder / file, limit=RULES_LIMIT) or b""
    except (HarnessError, OSError):
        return ()
    lines = data.decode("utf-8", errors="replace").splitlines()
    return tuple(_parsed(folder, file, [line for line in lines if not _endless(line)]))


def _endless(pattern: str) -> bool:
    """Whether its regular expression may take seconds for a name: each further `*` multiplies the ways to fit."""
    return pattern.count("**") > STARS or any(len(_STARS.findall(part)) > STARS for part in pattern.split("/"))


def _parsed(folder: Path, file: str, lines: list[str]) -> Iterator[_Rules]:
    try:
        yield _Rules(folder, GitIgnoreSpec.from_lines(lines), file)
    except ValueError:  # git passes over a pattern it does not understand; so do we, line by line
        for line in lines:
            try:
                yield _Rules(folder, GitIgnoreSpec.from_lines([line]), file)
            except ValueError:
                continue


def _ignored(path: Path, rules: tuple[_Rules, ...], *, folder: bool) -> bool:
    """The last rule that speaks about a path decides, as in git."""
    spoken = _spoken(path, rules, folder=folder)
    return spoken is not None and bool(spoken[0].include)


def _spoken(path: Path, rules: tuple[_Rules, ...], *, folder: bool) -> tuple[CheckResult[str], _Rules] | None:
    for one in reversed(rules):
        if not path.is_relative_to(one.top) or path == one.top:
            continue
        verdict = one.spec.check_file(path.relative_to(one.top).as_posix() + ("/" if folder else ""))
        if verdict.include is not None:
            return verdict, one
    return None
