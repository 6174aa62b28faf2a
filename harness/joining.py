"""`harness merge DIR|REV`: another case of the same question, or another branch's state of this one, is taken in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from harness.errors import HarnessError
from harness.facts import with_numbers
from harness.formats.labels import counted
from harness.formats.question import add_direction_line, fingerprint, parse_question
from harness.formats.summary import render_summary
from harness.formats.text import shortened
from harness.model import Question, Summary
from harness.noticing import seen
from harness.packet import language_for
from harness.session import Session
from harness.sides import ANSWER, QUESTION, SUMMARY, Files, files_in, other_side
from harness.store import Base, Snapshot, Store
from harness.store.reading import read_state
from harness.store.trace import TRACE, newest
from harness.uniting import United, unite
from harness.versions import VERSION, version_record

NEXT = "next_query.txt"
SHOWN = 200  # characters of a question in a message


class Merged(NamedTuple):
    """What was taken in from one side. `raws`: each one's number there and here; `notes`: what else to know."""

    name: str
    added: tuple[str, ...]
    removed: tuple[str, ...]
    opened: tuple[str, ...]  # contradictions
    raws: tuple[tuple[int, int], ...]
    directions: tuple[str, ...]
    notes: tuple[str, ...]
    changed: bool


def merge_one(session: Session, name: str, *, force: bool = False, dry: bool = False) -> Merged:
    """Take in what `name` has, a folder or a revision: raws first, the summary last, so that it can be killed.

    Raises HarnessError for another question, and where a raw is not folded yet: then nothing is written.
    """
    snapshot = session.store.snapshot() if dry else seen(session)
    mine = files_in(session.store.folder)
    theirs, base = other_side(session.store.folder, name)
    same_question(mine, theirs, force=force)
    united = _united(session, snapshot, mine, theirs, base)
    merged = _told(snapshot.case.summary, mine, theirs, united)
    if merged.changed and not dry:
        _write(session, snapshot, mine, theirs, merged, united)
    return merged


def _united(session: Session, snapshot: Snapshot, mine: Files, theirs: Files, base: Summary) -> United:
    case, (ours, other) = snapshot.case, (mine.side(), theirs.side())
    if other.summary.reading:
        raise HarnessError("a raw is half read there", theirs.name, "let its pass end first: harness -C DIR step")
    grid = parse_question(mine.texts[QUESTION]).grid
    united = unite(ours, other, base, grid, language_for(case, session.settings))
    new = united.new_raws(ours.summary)
    # One that a merge laid here before it was killed is no other one.
    waits = [n for n in mine.raws if n > ours.summary.round and theirs.raws.get(new.get(n, 0)) != mine.raws[n]]
    if waits or ours.summary.reading:
        told = str(session.store.folder / f"raw_{waits[0] if waits else ours.summary.round + 1}.md")
        raise HarnessError("a raw is not folded yet", told, "fold it first: harness step; then merge again")
    return united


def same_question(mine: Files, theirs: Files, *, force: bool) -> None:
    """Raises HarnessError, showing both, where the two ask different questions."""
    texts = [one.texts[QUESTION] for one in (mine, theirs)]
    if force or not texts[1] or fingerprint(texts[0]) == fingerprint(texts[1]):
        return
    shown = [shortened(" ".join(parse_question(text).text.split()), SHOWN) for text in texts]
    told = f"{theirs.name}\n  ours: {shown[0]}\n  theirs: {shown[1]}"
    raise HarnessError("the two ask different questions", told, "merge --force keeps ours and takes in what was found")


def _told(ours: Summary, mine: Files, theirs: Files, united: United) -> Merged:
    question, other = parse_question(mine.texts[QUESTION]), parse_question(theirs.texts[QUESTION])
    directions = tuple(line for line in other.directions if line not in question.directions)
    raws = tuple((old, new) for new, old in united.new_raws(ours).items() if new not in mine.raws)
    changed = united.summary != ours or bool(raws or directions)
    notes = tuple(_notes(mine, theirs, raws, question, other)) if changed else ()
    return Merged(theirs.name, united.added, united.removed, united.opened, raws, directions, notes, changed)


def _notes(
    mine: Files, theirs: Files, raws: tuple[tuple[int, int], ...], question: Question, other: Question
) -> Iterator[str]:
    if gone := [old for old, _ in raws if old not in theirs.raws]:
        shown = ", ".join(f"raw_{old}.md" for old in gone)
        yield f"not there: {shown} of {theirs.name}; what they cite cannot be checked here"
    asked = zip(("entities", "fields"), (question.grid, question.grid), (other.grid, other.grid), strict=True)
    for key, ours, others in asked:
        if more := [one for one in getattr(others, key) if one not in getattr(ours, key)]:
            yield f"only {theirs.name} asks for these {key}: {', '.join(more)}; question.md stays as it is"
    if mine.texts[ANSWER].strip() or theirs.texts[ANSWER].strip():
        yield "no answer stands: each is kept as answer_N.md; harness run goes on from what both found"


def _write(session: Session, snapshot: Snapshot, mine: Files, theirs: Files, merged: Merged, united: United) -> None:
    store, number = session.store, united.summary.round
    record = {"role": "merge", "round": number, "merged": theirs.name}
    _remember(session, snapshot, record)
    for old, new in merged.raws:
        if old in theirs.raws:
            store.create_raw(new, theirs.raw(old), session.stamped({**record, "round": new, "was": old}))
    text = snapshot.text(QUESTION)
    for line in merged.directions:
        text = add_direction_line(text, line)
    if text != snapshot.text(QUESTION):
        session.commit(snapshot, QUESTION, text, record)
    if united.summary == snapshot.case.summary:
        return
    _set_answers_aside(session, snapshot, theirs, united, record)
    if snapshot.text(NEXT).strip():  # it was decided on without what came
        session.commit(snapshot, NEXT, "", record)
    told = {"added": list(united.added), "removed": list(united.removed)}
    session.commit(snapshot, SUMMARY, render_summary(united.summary), {**record, **told})


def _remember(session: Session, snapshot: Snapshot, record: dict[str, object]) -> None:
    """The summary as it stands is in the trace: else one that was killed would look like a person's deletions."""
    text, known = snapshot.text(SUMMARY), newest(session.store.folder / TRACE, VERSION)
    if text and known is None:
        sha256 = snapshot.files[SUMMARY].digest
        told = {**record, "file": SUMMARY, "sha256": sha256, **version_record("", text, "")}
        session.store.note(session.stamped(told))


def _set_answers_aside(
    session: Session, snapshot: Snapshot, theirs: Files, united: United, record: dict[str, object]
) -> None:
    """Each under the next free name; theirs not a second time, where a merge was killed."""
    store = session.store
    if snapshot.text(ANSWER).strip():
        digest = snapshot.files[ANSWER].digest
        store.move(ANSWER, _free(store), digest, session.stamped(record))
    other = with_numbers(theirs.texts[ANSWER], united.numbers)
    kept = (read_state(path).text for path in sorted(store.folder.glob("answer_*.md")))
    if other.strip() and other not in kept:
        name = _free(store)
        store.commit(name, other, Base({name: ""}), session.stamped(record))


def _free(store: Store) -> str:
    return next(name for n in range(1, 10_000) if not (store.folder / (name := f"answer_{n}.md")).exists())


def render(merged: Merged, *, dry: bool) -> str:
    """One line, and with `dry` what it stands for."""
    moved = sum(old != new for old, new in merged.raws)
    told = [f"+{counted(len(merged.added), 'facts', 'en')}"]
    if merged.removed:
        told.append(f"-{counted(len(merged.removed), 'facts', 'en')}")
    if merged.raws:
        raws = f"{len(merged.raws)} new raw{'s' * (len(merged.raws) > 1)}"
        told.append(f"{raws}, {moved} of them renumbered" if moved else raws)
    if merged.opened:
        told.append(f"{len(merged.opened)} contradiction{'s' * (len(merged.opened) > 1)}")
    if merged.directions:
        told.append(f"{len(merged.directions)} direction{'s' * (len(merged.directions) > 1)}")
    line = f"{merged.name}: {', '.join(told)}" if merged.changed else f"{merged.name}: nothing new"
    if not dry:
        return line
    shown = [f"  raw_{old}.md → raw_{new}.md" for old, new in merged.raws]
    shown += [f"  + {fact}" for fact in merged.added] + [f"  - {fact}" for fact in merged.removed]
    shown += [f"  ! {entry}" for entry in merged.opened] + [f"  direction: {one}" for one in merged.directions]
    return "\n".join((f"{line} (nothing was written)", *shown))
