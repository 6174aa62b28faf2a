"""`commit: true`: each pass is one commit of the case's own files, and nothing that goes wrong there fails the pass."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace

from harness import git
from harness.errors import HarnessError
from harness.fold import gaps_left
from harness.formats.labels import counted
from harness.formats.summary import lines_of
from harness.formats.text import decode, shortened
from harness.model import Grid, SectionKind
from harness.onecommit import commit
from harness.patterns import lazy
from harness.session import Session, Step
from harness.store import Snapshot, Store
from harness.store.reading import read_bytes
from harness.store.trace import TRACE, last_line
from harness.versions import by_whom

QUESTION = "question.md"
_OWN = lazy(r"question\.md|summary\.md|next_query\.txt|answer(?:_[0-9]+)?\.md|trace\.jsonl")
_RAW = lazy(r"raw_[0-9]+\.md")
_SUBJECT = 120  # characters of what a pass says of itself


def committed(session: Session, step: Step) -> Step:
    """The step, with a note where its commit could not be made, or where a hook changed a file that was put back."""
    if not session.settings.commit:
        return step
    try:
        notes = _commit(session, step)
    except HarnessError as problem:
        told = f"{problem.what}: {problem.value}" if problem.value else problem.what
        notes = (f"no commit was made ({told})",)
    return replace(step, notes=(*step.notes, *notes))


def _commit(session: Session, step: Step) -> tuple[str, ...]:
    folder = session.store.folder
    if not git.is_repository(folder) or git.is_ignored(folder):
        return ("no commit was made: the case is in no git repository, or ignored there",)
    if what := git.under_way(folder):
        return (f"no commit was made: a {what} is under way",)
    there = {path.name for path in folder.iterdir() if path.is_file() and not path.is_symlink()}
    names = sorted(name for name in there | git.tracked(folder) if _is_own(name, raws=session.settings.commit_raws))
    before = {name: data for name in names if (data := read_bytes(folder / name)) is not None}
    try:
        added = commit(folder, names, _message(session, step))
    finally:
        changed = _put_back(session.store, before)
    others = tuple(path for path in added if path.rpartition("/")[2] not in before)
    told = f"a hook changed {', '.join(changed)}; put back as the pass left it, a copy is in .harness/hook"
    more = f"a hook put {', '.join(others)} into the commit; taken out of it again"
    return (*((told,) if changed else ()), *((more,) if others else ()))


def _put_back(store: Store, before: Mapping[str, bytes]) -> list[str]:
    """What hooks wrote into the case's files; nothing where another pass was committed meanwhile: it is its work."""
    trace = read_bytes(store.folder / TRACE) or b""
    if _appended(before.get(TRACE, b""), trace).startswith(b"{"):
        return []
    changed = {name: now for name, was in before.items() if (now := read_bytes(store.folder / name)) != was}
    if b"- " in _appended(before.get(QUESTION, b""), changed.get(QUESTION) or b""):
        del changed[QUESTION]  # a direction, given while the hook ran
    for name, now in changed.items():
        if now is not None:
            store.put_helper(f"hook/{name}", decode(now).text)
        store.put_back(name, before[name])
    return sorted(changed)


def _appended(was: bytes, now: bytes) -> bytes:
    return now.removeprefix(was) if now.startswith(was) else b""


def _is_own(name: str, *, raws: bool) -> bool:
    return bool(_OWN.fullmatch(name)) or (raws and bool(_RAW.fullmatch(name)))


def _message(session: Session, step: Step) -> str:
    """`round 3 · synthesizer (claude): +3 facts, 1 contradiction, 2 gaps left`."""
    record = _last_record(session)
    number = record.get("round")
    where = f"round {number} · " if isinstance(number, int) else ""
    who = by_whom(record) or step.action
    if record.get("role") == "search":
        asked = record.get("asked")
        who = f"search ({', '.join(dict.fromkeys(map(str, asked)))})" if isinstance(asked, list) and asked else "search"
    return f"{where}{who}: {_told(session.store.snapshot(), record, step)}"


def _last_record(session: Session) -> Mapping[str, object]:
    try:
        record = json.loads(last_line(session.store.folder / TRACE).text or "{}")
    except (ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}


def _told(snapshot: Snapshot, record: Mapping[str, object], step: Step) -> str:
    added, removed = record.get("added"), record.get("removed")
    if record.get("role") != "synthesizer" or not isinstance(added, list) or not isinstance(removed, list):
        return shortened(re.sub(r"\s+", " ", step.line), _SUBJECT)
    grid = snapshot.case.question.grid if snapshot.case.question else Grid()
    disputes = len(lines_of(snapshot.case.summary, SectionKind.CONTRADICTIONS))
    told = [f"+{counted(len(added), 'facts', 'en')}"]
    told += [f"-{len(removed)}"] if removed else []
    told += [f"{disputes} contradiction{'s' if disputes > 1 else ''}"] if disputes else []
    return ", ".join([*told, f"{counted(gaps_left(snapshot.case.summary, grid), 'gaps', 'en')} left"])
