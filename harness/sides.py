"""The two sides of a merge as they are read: a case in a folder, or as a commit of git holds it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from harness import git
from harness.errors import HarnessError, WrongCall
from harness.formats.raw import parse_head
from harness.formats.summary import parse_summary
from harness.formats.text import decode
from harness.history import history_of
from harness.model import RawHead, Summary
from harness.store.fresh import bytes_of
from harness.store.reading import HEAD_BYTES, RAW_NAME, list_case, read_state
from harness.store.snapshot import raw_path, read_head
from harness.uniting import Side
from harness.versions import fingerprint

QUESTION, SUMMARY, ANSWER = "question.md", "summary.md", "answer.md"
# What git calls the other side while its merge, cherry-pick or rebase waits.
_UNDER_WAY = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REBASE_HEAD")


class Files(NamedTuple):
    """A case that is only read. `raw`: the bytes of one; `head`: what its front matter says."""

    name: str
    texts: Mapping[str, str]  # "" where one is not there
    raws: Mapping[int, str]  # sha256
    raw: Callable[[int], Iterator[bytes]]
    head: Callable[[int], RawHead]

    def side(self) -> Side:
        notes = frozenset(number for number in self.raws if self.head(number).kind == "note")
        return Side(parse_summary(self.texts[SUMMARY]) if self.texts[SUMMARY] else Summary(), self.raws, notes)


def files_in(folder: Path) -> Files:
    """Raises BrokenFile where a file cannot be read."""
    texts = {name: read_state(folder / name).text for name in (QUESTION, SUMMARY, ANSWER)}
    digests = {number: _digest(bytes_of(raw_path(folder, number))) for number in list_case(folder).raws}
    return Files(
        str(folder),
        texts,
        digests,
        lambda number: bytes_of(raw_path(folder, number)),
        lambda number: read_head(raw_path(folder, number)),
    )


def files_at(folder: Path, rev: str, name: str) -> Files:
    """The same folder in a commit. Raises GitFailed."""
    texts = {one: git.file_at(folder, rev, one) or "" for one in (QUESTION, SUMMARY, ANSWER)}
    listed = git.git(folder, "ls-tree", "--name-only", "-z", rev, "./").decode(errors="replace").split("\0")
    numbers = [int(match[1]) for one in listed if (match := RAW_NAME.fullmatch(one))]

    def raw(number: int) -> Iterator[bytes]:
        yield git.git(folder, "show", "--no-textconv", "--no-ext-diff", f"{rev}:./raw_{number}.md")

    def head(number: int) -> RawHead:
        return parse_head(decode(next(raw(number))[:HEAD_BYTES]).text)

    return Files(name, texts, {number: _digest(raw(number)) for number in numbers}, raw, head)


def _digest(blocks: Iterator[bytes]) -> str:
    digest = hashlib.sha256()
    for block in blocks:
        digest.update(block)
    return digest.hexdigest()


def other_side(folder: Path, name: str) -> tuple[Files, Summary]:
    """What is merged into a case, by a folder or a revision, and the summary that both came from (if it is known)."""
    there = Path(name)
    if there.is_dir():
        if there.resolve() == folder.resolve():
            raise WrongCall("that is the case itself", name, "name another case's folder, or a revision")
        return _checked(files_in(there)), _common(folder, there)
    rev = git.revision(folder, name) if git.is_repository(folder) else None
    if rev is None:
        raise WrongCall("neither a folder nor a revision", name, "harness merge DIR, or a branch or commit of git")
    return _checked(files_at(folder, rev, name)), _base(folder, rev)


def under_way(folder: Path) -> str:
    """The revision that git is merging in here. Raises WrongCall where it merges nothing."""
    for name in _UNDER_WAY:
        if git.is_repository(folder) and git.revision(folder, name):
            return name
    raise WrongCall("nothing to merge", "git has no merge under way here", "name a case's folder or a revision")


def _checked(files: Files) -> Files:
    if not files.texts[QUESTION] and not files.texts[SUMMARY]:
        raise HarnessError("there is no case", files.name, "it needs question.md and summary.md")
    return files


def _base(folder: Path, rev: str) -> Summary:
    try:
        rev = git.git(folder, "merge-base", "HEAD", rev).decode().split()[0]
    except (git.GitFailed, IndexError):  # two histories that have nothing in common
        return Summary()
    text = git.file_at(folder, rev, SUMMARY)
    return parse_summary(text) if text else Summary()


def _common(folder: Path, there: Path) -> Summary:
    """The newest version that both have had, by trace or git: a fork begins with one of its case's."""
    mine = {fingerprint(one.text) for one in history_of(folder).versions}
    shared = [one for one in history_of(there).versions if fingerprint(one.text) in mine]
    return parse_summary(shared[-1].text) if shared else Summary()
