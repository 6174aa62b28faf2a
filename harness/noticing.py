"""Notices between two passes that a person edited summary.md, and writes down what of it is to be kept."""

from __future__ import annotations

from harness.edits import Edits, edits, protect
from harness.formats.labels import counted
from harness.formats.summary import parse_summary, render_summary
from harness.packet import language_for
from harness.session import Event, Session
from harness.store import Snapshot
from harness.store.trace import TRACE, newest, read_trace
from harness.versions import OVER, VERSION, Version, fingerprint, replay, version_record

SUMMARY = "summary.md"
NOTICED = "noticed"
"""The key of a trace line that tells which text, as the person left it, was noticed: its fingerprint."""


def seen(session: Session) -> Snapshot:
    """The case as a pass finds it, after a person's edits of the summary have been noticed. Raises as a commit does.

    Without a version in the trace nothing tells what was edited: only what is marked is protected then.
    """
    snapshot = session.store.snapshot()
    text = snapshot.text(SUMMARY)
    if not text or newest(session.store.folder / TRACE, VERSION) in (None, fingerprint(text)):
        return snapshot
    before = _before(session, text)
    if before is None:
        return snapshot
    old, new = parse_summary(before.text), snapshot.case.summary
    found = edits(old, new)
    language = language_for(snapshot.case, session.settings)
    kept = protect(new, found, language) if found else new
    record = {"role": "person", "round": new.round, **_told(found), NOTICED: fingerprint(text)}
    if kept == new:
        known = fingerprint(before.text)
        digest = snapshot.files[SUMMARY].digest
        version = version_record(before.text, text, known)
        session.store.note(session.stamped({**record, "file": SUMMARY, "sha256": digest, **version}))
        return snapshot
    session.commit(snapshot, SUMMARY, render_summary(kept), record, before=before.text)
    session.tell(Event("notice", _notice(found)))
    return session.store.snapshot()


def _before(session: Session, text: str) -> Version | None:
    """The version that was edited; None where none is known, or where an older one stands here again.

    A pass that was killed has written its trace line and not the file: the version before it stands there, or what a
    person had left and was being marked.
    """
    versions = list(replay(read_trace(session.store.folder / TRACE)))
    mine = fingerprint(text)
    if not versions or any(mine in (fingerprint(one.text), one.record.get(OVER)) for one in versions):
        return None
    if versions[-1].record.get(NOTICED) == mine:
        return versions[-2] if len(versions) > 1 else None
    return versions[-1]


def _told(found: Edits) -> dict[str, object]:
    return {"changed": [list(pair) for pair in found.changed], "struck": list(found.struck), "added": list(found.added)}


def _notice(found: Edits) -> str:
    marked, told = len(found.changed) + len(found.added), []
    if marked:
        told.append(f"{counted(marked, 'facts', 'en')} of a person's")
    if found.struck:
        told.append(f"{counted(len(found.struck), 'facts', 'en')} struck out")
    return f"summary.md was edited: {', '.join(told)}"
