"""`harness merge` while git waits with a conflict: our side stands again as it was, then theirs is taken in whole."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from harness import git
from harness.errors import WrongCall
from harness.formats.summary import parse_summary
from harness.joining import Merged, merge_one, same_question
from harness.session import Session
from harness.sides import ANSWER, SUMMARY, files_at, under_way
from harness.store.reading import CONFLICT, list_case, read_bytes
from harness.store.restoring import restore


def merge(session: Session, names: Sequence[str], *, force: bool = False, dry: bool = False) -> tuple[Merged, ...]:
    """Each name is a folder or a revision; none: the side that git is merging in.

    Raises as merge_one does, WrongCall where git merges nothing.
    """
    if names:
        return tuple(merge_one(session, name, force=force, dry=dry) for name in names)
    folder = session.store.folder
    name = under_way(folder)
    torn = tuple(_torn(folder, name))
    if torn and dry:
        raise WrongCall("git's conflict is not settled yet", ", ".join(torn), "harness merge, or: git merge --abort")
    same_question(files_at(folder, "HEAD", "HEAD"), files_at(folder, name, name), force=force)
    for file in torn:
        restore(session.store, file, _at(folder, "HEAD", file))
    done = merge_one(session, name, force=force)
    here = shlex.quote(str(folder))
    return (done._replace(notes=(*done.notes, f"git add -A {here}, then git commit, ends git's merge")),)


def _torn(folder: Path, name: str) -> Iterator[str]:
    """The files that hold both sides or theirs alone, and raws of theirs that git laid above ours.

    What a merge has written already, or a person has chosen, is none of them.
    """
    listed = git.git(folder, "ls-files", "-u", "-z", "--", ".").decode(errors="replace").split("\0")
    found = {ANSWER, *(one.partition("\t")[2] for one in listed if one)}  # theirs may be laid here without a conflict
    torn = {file for file in found if _is_torn(folder, name, file)}
    yield from sorted(torn)
    text = _at(folder, "HEAD", SUMMARY) if SUMMARY in torn else read_bytes(folder / SUMMARY)
    folded = parse_summary((text or b"").decode(errors="replace")).round
    for file in (f"raw_{number}.md" for number in list_case(folder).raws if number > folded):
        if file not in torn and _at(folder, "HEAD", file) is None and _at(folder, name, file) == _here(folder, file):
            yield file


def _is_torn(folder: Path, name: str, file: str) -> bool:
    data = _here(folder, file)
    if data is not None and CONFLICT.search(data.decode(errors="replace")):
        return True
    return data is not None and data == _at(folder, name, file) and data != _at(folder, "HEAD", file)


def _here(folder: Path, file: str) -> bytes | None:
    return read_bytes(folder / file)


def _at(folder: Path, rev: str, file: str) -> bytes | None:
    try:
        return git.git(folder, "show", "--no-textconv", "--no-ext-diff", f"{rev}:./{file}")
    except git.GitFailed:
        return None
