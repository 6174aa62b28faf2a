"""What people say to a case from outside the loop: a direction, stop, reopen. None of them waits for the lock."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime

from harness.errors import HarnessError, WrongCall
from harness.formats.answer import parse_answer
from harness.formats.question import add_direction
from harness.formats.summary import render_summary
from harness.formats.text import decode
from harness.noticing import seen
from harness.session import Session
from harness.store import Store
from harness.store.claim import read_claim
from harness.store.reading import read_bytes

STOP = "stop"
CLAUDE = "Claude Code"  # how its sessions begin their claims


def steer(store: Store, words: str) -> str:
    """Append a direction to question.md. Raises HarnessError when there is no question yet."""
    if not words.strip():
        raise WrongCall("an empty direction", "", 'harness steer "leave out prices"')
    path = store.folder / "question.md"
    text, encoding, newline = decode(read_bytes(path) or b"")
    if not text:
        raise HarnessError("there is no question yet", str(store.folder), 'harness ask "your question"')
    changed = add_direction(text, words, date.today().isoformat())
    if not changed.startswith(text):
        raise HarnessError("question.md ends in something that nothing can be added to", str(store.folder), "edit it")
    try:  # as the person's editor saved it: UTF-8 behind UTF-16 could not be read any more
        store.append(path.name, changed[len(text) :].replace("\n", newline).encode(encoding))
    except UnicodeEncodeError:
        raise HarnessError("question.md cannot hold these words", f"{path} ({encoding})", "save it as UTF-8") from None
    if _answered(store):
        return "added to Directions; the answer stands already: harness reopen, then harness run, takes it up"
    return "added to Directions; both roles read it from the next pass on"


def _answered(store: Store) -> bool:
    """Whether an answer ended the loop, so that nobody would read a direction."""
    data = read_bytes(store.folder / "answer.md")
    return data is not None and parse_answer(decode(data).text).status != "draft"


def request_stop(store: Store) -> str:
    """Raise the flag that a run looks at between passes."""
    claim = read_claim(store.helpers / "claim.json")
    if claim is None or not claim.alive(datetime.now(UTC)):  # a flag for a dead run would stop the next one
        return "no run is under way here; nothing to stop"
    store.put_helper(STOP, "stop\n")  # the flag is a text: an empty file reads like none
    if claim.role.startswith(CLAUDE):
        # It may sit idle after Esc, of which nobody is told; a late reply still counts.
        store.drop_helper("claim.json")
        return f"asked {claim.role} (process {claim.pid}) to stop after its turn; the case is free for others"
    return f"asked {claim.role} (process {claim.pid}) to stop after its pass"


def reopen(session: Session) -> str:
    """answer.md moves to answer_1.md (2, 3 …); rounds and stall count anew from here.

    Raises HarnessError when there is no answer.
    """
    store = session.store
    snapshot = seen(session)
    answer, summary = snapshot.case.answer, snapshot.case.summary
    if answer is not None and answer.status == "draft":
        raise HarnessError("the answer is a draft, not checked yet", str(store.folder / "answer.md"), "harness run")
    if answer is None:
        raise HarnessError("there is no answer to reopen", str(store.folder / "answer.md"), "harness status")
    number = next(n for n in range(1, 10_000) if not (store.folder / f"answer_{n}.md").exists())
    opened = replace(summary, reopened=summary.round)
    record = {"role": "person", "reopened": summary.round}
    if summary.round:
        session.commit(snapshot, "summary.md", render_summary(opened), record, decided_on=("answer.md",))
    store.move("answer.md", f"answer_{number}.md", snapshot.files["answer.md"].digest, session.stamped(record))
    return f"reopened at round {summary.round}; the old answer is answer_{number}.md"
