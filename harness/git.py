"""The one place that runs git: it asks for no password, opens no pager or editor, and its reads start no program."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from harness.errors import HarnessError
from harness.formats.text import decode
from harness.patterns import lazy
from harness.process import run

SECONDS = 60.0  # of one call; a log of 10,000 commits takes a second
# A project's own configuration may name programs for these; what only looks starts none.
_PLAIN = (
    *("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "log.showSignature=false"),
    *("-c", "core.quotePath=false", "--no-pager"),
)
# Nor does it fetch what a partial clone left out, for a remote may be a program: no protocol is allowed.
_OFFLINE = {"GIT_ALLOW_PROTOCOL": "", "GIT_NO_LAZY_FETCH": "1"}
_RECORD, _FIELD = "\x1e", "\x1f"


class GitVersion(NamedTuple):
    """A file as a commit left it; `at` is the commit's ISO time."""

    rev: str
    at: str
    author: str
    subject: str
    text: str


class GitFailed(HarnessError):
    """git is missing, took too long, or refused; `value` is its first line."""


def git(folder: Path, *words: str, stdin: bytes = b"") -> bytes:
    """What one call that only looks prints. Raises GitFailed."""
    command = ["git", *_PLAIN, "-C", str(folder), *words]
    try:
        done = subprocess.run(
            command, input=stdin, env={**_environment(), **_OFFLINE}, capture_output=True, timeout=SECONDS, check=False
        )
    except FileNotFoundError:
        raise GitFailed("git is not installed", "git", "install git, or name rounds: harness log lists them") from None
    except subprocess.TimeoutExpired:
        raise GitFailed("git took too long", " ".join(words[:2]), "try again") from None
    if done.returncode:
        told = done.stderr.decode(errors="replace").strip().split("\n")[0]
        raise GitFailed("git refused", told, "git -C the case's folder status says more")
    return done.stdout


def is_repository(folder: Path) -> bool:
    try:
        return git(folder, "rev-parse", "--is-inside-work-tree").strip() == b"true"
    except GitFailed:
        return False


def is_shallow(folder: Path) -> bool:
    """Whether older commits were left out when the repository was cloned."""
    return git(folder, "rev-parse", "--is-shallow-repository").strip() == b"true"


def revision(folder: Path, name: str) -> str | None:
    """The commit that a revision names (branch, tag, HEAD~2, a hash); None if it names none."""
    if name.startswith("-"):
        return None
    try:
        return (
            git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}").decode().strip()
        )
    except GitFailed:
        return None


def file_at(folder: Path, rev: str, name: str) -> str | None:
    """The text of a file of the folder in a commit; None if it is not there."""
    try:
        return decode(git(folder, "show", "--no-textconv", "--no-ext-diff", f"{rev}:./{name}")).text
    except GitFailed:
        return None


def version_at(folder: Path, rev: str, name: str = "summary.md") -> str | None:
    """The text that a file had at a commit, also where its folder had another name then."""
    text = file_at(folder, rev, name)
    if text is not None:
        return text
    for version in reversed(list(versions(folder, name))):
        try:
            git(folder, "merge-base", "--is-ancestor", version.rev, rev)
        except GitFailed:
            continue
        return version.text
    return None


def versions(folder: Path, name: str = "summary.md") -> Iterator[GitVersion]:
    """The file of the folder in each commit that changed it, oldest first, also under the names it had before."""
    wanted = _RECORD + _FIELD.join(("%H", "%cI", "%an", "%s")) + _FIELD
    words = (
        "log",
        "--follow",
        "-z",
        "--name-status",
        "--no-ext-diff",
        "--no-textconv",
        f"--format={wanted}",
        "--",
        name,
    )
    try:
        told = git(folder, *words).decode(errors="replace")
    except GitFailed:  # no commit yet
        return
    found = [commit for record in told.split(_RECORD)[1:] if (commit := _commit(record)) is not None]
    texts = _texts(folder, [f"{rev}:{path}" for rev, _, _, _, path in found])
    for (rev, at, author, subject, _), data in zip(reversed(found), reversed(texts), strict=True):
        if data is not None:
            yield GitVersion(rev, at, author, subject, decode(data).text)


def merged(ours: Path, base: Path, theirs: Path) -> tuple[str, bool]:
    """Three files merged line by line, and whether any of it is in conflict, between git's marks."""
    named = ("-L", "ours", "-L", "base", "-L", "theirs")
    words = ["git", *_PLAIN, "merge-file", "-p", *named, *(str(path.absolute()) for path in (ours, base, theirs))]
    try:
        done = subprocess.run(words, env=_environment(), capture_output=True, timeout=SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise GitFailed("git could not merge", str(error), "git merge --abort goes back") from None
    if not 0 <= done.returncode < 128:  # the number of conflicts
        raise GitFailed("git could not merge", done.stderr.decode(errors="replace").strip(), "git merge --abort")
    return decode(done.stdout).text, done.returncode > 0


def _commit(record: str) -> tuple[str, str, str, str, str] | None:
    """Its fields, and the path that the file has in it; None where it was deleted there."""
    rev, at, author, subject, rest = record.split(_FIELD, 4)
    status, *paths = rest.lstrip("\0\n").rstrip("\0").split("\0")
    return (rev, at, author, subject, paths[-1]) if paths and not status.startswith("D") else None


def _texts(folder: Path, names: list[str]) -> list[bytes | None]:
    """The contents of blobs, in one call; None for one that is not there."""
    told = git(folder, "cat-file", "--batch", stdin="".join(f"{name}\n" for name in names).encode()) if names else b""
    found: list[bytes | None] = []
    at = 0
    while at < len(told):
        end = told.index(b"\n", at)
        *_, kind, size = told[at:end].split(b" ")
        if not size.isdigit():  # "NAME missing"
            found.append(None)
            at = end + 1
            continue
        found.append(told[end + 1 : end + 1 + int(size)] if kind == b"blob" else None)
        at = end + int(size) + 2
    return found


# Writing -----------------------------------------------------------------------------------------

HOOK_SECONDS = 60.0  # a commit with its hooks; a linter over a large project takes half of it
_NAMED = ("-c", "user.useConfigOnly=true")
_IDENTITY = ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL")
_MADE = lazy(r"^\[.* ([0-9a-f]{40,64})\] ")
_UNDER_WAY = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_LOG", "rebase-merge", "rebase-apply")


def under_way(folder: Path) -> str:
    """What the repository is in the middle of: a merge, a rebase …; "" for nothing."""
    place = Path(os.fsdecode(git(folder, "rev-parse", "--absolute-git-dir").rstrip(b"\n")))
    names = (name for name in _UNDER_WAY if (place / name).exists())
    return next(names, "").removesuffix("_HEAD").removesuffix("_LOG").replace("_", "-").lower().split("-merge")[0]


def is_ignored(folder: Path) -> bool:
    try:
        git(folder, "check-ignore", "-q", "summary.md")
    except GitFailed:
        return False
    return True


def tracked(folder: Path) -> frozenset[str]:
    """The names of the folder's own files that git knows."""
    return frozenset(os.fsdecode(name) for name in git(folder, "ls-files", "-z", "--", ".").split(b"\0") if name)


def path_in(folder: Path, name: str) -> Path:
    """Where the repository keeps a file of its own, such as `index.lock`."""
    return folder / os.fsdecode(git(folder, "rev-parse", "--git-path", name).removesuffix(b"\n"))


def plumb(folder: Path, *words: str, stdin: bytes = b"", index: Path | None = None) -> bytes:
    """What one call that writes objects, entries or a branch prints; it starts no hook. Raises GitFailed.

    `index`: a file that stands in for the person's own index.
    """
    command, environment = ["git", *_PLAIN, *_NAMED, "-C", str(folder), *words], _writing(index)
    try:
        done = subprocess.run(
            command, input=stdin, env=environment, capture_output=True, timeout=HOOK_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise GitFailed("git could not write", str(error), "") from None
    if done.returncode:
        raise GitFailed("git refused to write", done.stderr.decode(errors="replace").strip().split("\n")[0], "")
    return done.stdout


def commit_index(folder: Path, index: Path, message: str, *, seconds: float) -> str:
    """Commits what this index holds, with the person's hooks; the commit, or "" where git did not say which.

    No identity is made up, and nothing that was started outlives the call. Raises GitFailed, also where a hook refuses
    or hangs.
    """
    quiet = ("-c", "core.quotePath=false", "-c", "commit.verbose=false", "-c", "gc.auto=0", "-c", "core.abbrev=40")
    command = ["git", *quiet, *_NAMED, "commit", "--no-status", "-F", "-"]
    try:
        done = run(command, stdin=message, cwd=folder, env=_writing(index), timeout=seconds)
    except OSError as error:
        raise GitFailed("git cannot be started", str(error), "") from None
    if done.stopped:
        raise GitFailed("the commit took too long, a hook perhaps", f"{seconds:g} seconds", "")
    if done.code:
        raise GitFailed("git refused to commit", done.stderr_tail.strip() or done.stdout.strip(), "")
    found = _MADE.search(done.stdout)
    return found[1] if found else ""


def commit_again(folder: Path, rev: str, tree: str) -> None:
    """The last commit `rev` with another tree, without hooks. Raises GitFailed, also where it is the last no more."""
    before = revision(folder, f"{rev}^")
    words = ("commit-tree", *_signed(folder), *(("-p", before) if before else ()), "-F", "-", tree)
    made = plumb(folder, *words, stdin=git(folder, "log", "-1", "--format=%B", rev)).decode().strip()
    plumb(folder, "update-ref", "-m", "commit (harness): as the pass left it", "HEAD", made, rev)


def setting(folder: Path, key: str) -> str:
    """What this clone's own settings hold under a key, "" for nothing."""
    try:
        return git(folder, "config", "--local", key).decode(errors="replace").removesuffix("\n")
    except GitFailed:
        return ""


def _signed(folder: Path) -> tuple[str, ...]:
    try:
        return ("-S",) if git(folder, "config", "--type=bool", "commit.gpgsign").strip() == b"true" else ()
    except GitFailed:
        return ()


def _writing(index: Path | None) -> dict[str, str]:
    """A name that the environment gives for commits counts, as it does for git itself."""
    named = {name: os.environ[name] for name in _IDENTITY if name in os.environ}
    own = {"GIT_INDEX_FILE": str(index)} if index else {}
    return {**_environment(), **named, **own, "GIT_EDITOR": "true", "GIT_OPTIONAL_LOCKS": "1"}


def _environment() -> Mapping[str, str]:
    """Without what a hook that called us has set: the case's own repository counts."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return {
        **kept,
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "LC_ALL": "C",
        "GIT_PAGER": "cat",
    }
