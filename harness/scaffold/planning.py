"""What init, or its removal, would do to each file: looks, and changes nothing."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

from harness import __version__
from harness.scaffold.attributes import put_line, take_line
from harness.scaffold.blocks import edited_block, put_block, take_block
from harness.scaffold.disk import Edit, Entry, free_name, look
from harness.scaffold.hooks import put_hooks, take_hooks
from harness.scaffold.manifest import Left, Manifest, sha256
from harness.scaffold.pieces import Kind, Piece, known_agents
from harness.scaffold.refused import NotText, Refused
from harness.scaffold.wholes import Whose, marked, whose

ASIDE, EDITED = ".before-harness", ".edited"
TAKE: dict[Kind, Callable[[bytes], bytes | None]] = {
    Kind.BLOCK: take_block,
    Kind.LINE: take_line,
    Kind.HOOKS: take_hooks,
}


class Change(NamedTuple):
    """One file: the `word` for what happens to it, why, the edit (None: none) and what to remember of it.

    `hard`: refused in a way that stops the whole run, so that nothing is half done.
    """

    path: str
    word: str
    note: str = ""
    edit: Edit | None = None
    left: Left | None = None
    hard: bool = False


def plan_wiring(project: Path, pieces: Iterable[Piece], manifest: Manifest) -> tuple[Change, ...]:
    """Each piece laid down or renewed; what an earlier init laid down and nobody wants now, taken out."""
    settled = {piece.path: piece for piece in (_behind_link(project, piece) for piece in pieces)}
    wired = [_tried(path, partial(_wire, project, piece, manifest)) for path, piece in settled.items()]
    stale = [(path, left.kind) for path, left in manifest.files.items() if path not in settled]
    return (*wired, *_plan_taking(project, stale, manifest))


def plan_removal(project: Path, pieces: Iterable[Piece], manifest: Manifest) -> tuple[Change, ...]:
    """All that is remembered, and beyond it what our marks tell: a clone from elsewhere has no memory here."""
    known = {piece.path: piece.kind for piece in (_behind_link(project, piece) for piece in pieces)}
    known |= {path: left.kind for path, left in manifest.files.items()}
    return _plan_taking(project, known.items(), manifest)


def _plan_taking(project: Path, paths: Iterable[tuple[str, Kind]], manifest: Manifest) -> tuple[Change, ...]:
    remembered = manifest.files
    changes = [_tried(path, partial(_unwire, project, path, kind, remembered.get(path))) for path, kind in paths]
    # Where nothing of ours is or was, a file that could not be changed is none of our business.
    return tuple(
        one
        for one in changes
        if one.word and (one.word != "refused" or one.path in remembered or _looks_like_ours(project / one.path))
    )


def _looks_like_ours(path: Path) -> bool:
    with suppress(OSError):
        if stat.S_ISREG(path.lstat().st_mode):
            content = path.read_bytes()
            return b"harness init" in content or b"claude/hook.py" in content
    return False


def _tried(path: str, plan: Callable[[], Change]) -> Change:
    try:
        return plan()
    except NotText as why:
        return Change(path, "refused", str(why))
    except Refused as why:
        return Change(path, "refused", str(why), hard=True)


def _behind_link(project: Path, piece: Piece) -> Piece:
    """CLAUDE.md is often a link to AGENTS.md: the block then goes into that file, once.

    A link to anything but an instruction file stays one, and is refused: it may lead into .git.
    """
    path = project / piece.path
    if piece.kind is not Kind.BLOCK or not path.is_symlink():
        return piece
    real, root = Path(os.path.realpath(path)), Path(os.path.realpath(project))
    known = {Path(agent.reads).name for agent in known_agents().values()}
    if real.name in known and real.is_relative_to(root) and real.is_file():
        return piece._replace(path=real.relative_to(root).as_posix())
    return piece


def _wire(project: Path, piece: Piece, manifest: Manifest) -> Change:
    entry, known = look(project, piece.path), manifest.files.get(piece.path)
    if piece.kind is Kind.WHOLE:
        return _wire_whole(project, piece, entry, known)
    after = _put(piece, entry.content)
    left = Left(piece.kind, _before(entry, known, TAKE[piece.kind]), sha256(after))
    if after == entry.content:
        return Change(piece.path, "unchanged", left=left)
    edited = edited_block(entry.content) if entry.content and piece.kind is Kind.BLOCK else ""
    return _made(project, piece.path, entry, Edit(piece.path, after), left, edited.encode())


def _put(piece: Piece, before: bytes | None) -> bytes:
    if piece.kind is Kind.BLOCK:
        return put_block(before, piece.content, __version__)
    put = put_line if piece.kind is Kind.LINE else put_hooks
    return put(before, piece.content)


def _wire_whole(project: Path, piece: Piece, entry: Entry, known: Left | None) -> Change:
    path, after, now = piece.path, marked(piece.content, __version__), entry.content
    left = Left(Kind.WHOLE, None, sha256(after), known.aside if known else "")
    if after == now:
        return Change(path, "unchanged", left=left)
    owner = whose(now) if now is not None else Whose.OURS
    if owner is Whose.FOREIGN:
        aside = free_name(project, path, ASIDE)
        note = f"to {Path(aside).name}; ours stands in its place"
        return Change(path, "moved aside", note, Edit(path, after, ((path, aside),)), left._replace(aside=aside))
    kept = (now or b"") if owner is Whose.EDITED else b""
    return _made(project, path, entry, Edit(path, after), left, kept)


def _made(project: Path, path: str, entry: Entry, edit: Edit, left: Left, kept: bytes) -> Change:
    word = "created" if entry.content is None else "updated"
    if not kept:
        return Change(path, word, edit=edit, left=left)
    name = free_name(project, path, EDITED)
    return Change(path, word, _kept_as(name), edit._replace(beside=(name, kept)), left)


def _unwire(project: Path, path: str, kind: Kind, known: Left | None) -> Change:
    entry = look(project, path)
    now = entry.content
    back = ((known.aside, path),) if known and known.aside and (project / known.aside).is_file() else ()
    if now is None:
        return Change(path, "restored", edit=Edit(path, None, back)) if back else Change(path, "")
    if known and sha256(now) == known.left:
        return _taken(path, now, Edit(path, known.before, back))
    if kind is Kind.WHOLE:
        owner = whose(now)
        if owner is Whose.EDITED:
            return Change(path, "kept", "it was changed by hand: delete it yourself")
        return _taken(path, now, Edit(path, None, back)) if owner is Whose.OURS else Change(path, "")
    after = TAKE[kind](now)
    edited = edited_block(now) if kind is Kind.BLOCK else ""
    if not edited:
        return _taken(path, now, Edit(path, after))
    name = free_name(project, path, EDITED)
    return _taken(path, now, Edit(path, after, beside=(name, edited.encode())))._replace(note=_kept_as(name))


def _taken(path: str, now: bytes, edit: Edit) -> Change:
    if edit.moves:
        return Change(path, "restored", f"from {Path(edit.moves[0][0]).name}", edit)
    if edit.after == now:
        return Change(path, "")
    return Change(path, "removed" if edit.after is None else "restored", edit=edit)


def _before(entry: Entry, known: Left | None, take: Callable[[bytes], bytes | None]) -> bytes | None:
    """What would be there without us: remembered to the byte, unless the file was changed since."""
    if entry.content is None:
        return None
    return known.before if known and sha256(entry.content) == known.left else take(entry.content)


def _kept_as(name: str) -> str:
    return f"what was changed in it by hand is kept as {Path(name).name}"
