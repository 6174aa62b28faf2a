"""One pass: does the one thing that is due and commits it with one atomic write."""

from __future__ import annotations

import shlex

from harness.errors import BrokenFile, HarnessError, WaitingForPerson
from harness.formats.raw import adopt, render_raw
from harness.mapping import fold
from harness.model import QueryRecord, RawHead
from harness.plan import (
    Action,
    Adopt,
    Ask,
    AskPerson,
    Check,
    Done,
    DropDraft,
    EmptyQueries,
    Fold,
    Hole,
    NoQuestion,
    Search,
    TakeAnswer,
)
from harness.roles import Credit, ask, check, commit_answer
from harness.searching import as_raw, search_all, told, usage_of
from harness.session import Event, Session, Step
from harness.store import Base, Snapshot
from harness.tokens import estimate


def perform(action: Action, snapshot: Snapshot, session: Session) -> Step:
    """Raises HarnessError for what a person has to mend or to decide; the files then stand as before."""
    match action:
        case NoQuestion():
            hint = f'harness -C {shlex.quote(str(session.store.folder))} ask "your question"'
            raise HarnessError("there is no question yet", str(session.store.folder / "question.md"), hint)
        case Hole(missing):
            if snapshot.case.summary.reading:
                hint = "put it back, or take `reading:` out of summary.md to go on without the rest of it"
                raise BrokenFile("the raw that was being read is missing", f"raw_{missing}.md:1", hint)
            hint = f"rename the later file to raw_{missing}.md, or put the missing one back"
            raise BrokenFile("a raw is missing between two others", f"raw_{missing}.md:1", hint)
        case AskPerson(question):
            raise WaitingForPerson("the Planner asks you", question, 'harness steer "your answer"')
        case Done():
            answer = snapshot.case.answer
            return Step("done", f"answer.md stands ({answer.status if answer else ''})", final="answered")
        case EmptyQueries():
            session.commit(snapshot, "next_query.txt", "", {"role": "harness"}, decided_on=("answer.md",))
            return Step("tidy", "next_query.txt emptied: its answer stands in answer.md")
        case DropDraft():
            # A person may have written into the draft: what is removed is kept among the helpers.
            name = f"dropped/answer_{snapshot.case.summary.round}.md"
            kept = session.store.put_helper(name, snapshot.text("answer.md"))
            decided_on = ("summary.md", "next_query.txt")
            session.commit(snapshot, "answer.md", None, {"role": "harness"}, decided_on=decided_on)
            return Step("tidy", f"the draft is dropped: more came in after it (a copy is {kept})")
        case Adopt(number, queries):
            return adopt_raw(session, number, queries)
        case TakeAnswer(text):
            credit = Credit({"role": "planner", "agent": "next_query.txt"})
            return commit_answer(session, snapshot, text, "", credit)
        case Search(number, queries):
            return search(session, snapshot, number, queries)
        case Fold():
            return fold(session, snapshot, action)
        case Check():
            return check(session, snapshot)
        case Ask():
            return ask(session, snapshot, action)


# Search and raws -----------------------------------------------------------------------------------


def search(session: Session, snapshot: Snapshot, number: int, queries: tuple[str, ...]) -> Step:
    for query in queries[: session.settings.queries_per_round]:
        session.tell(Event("searching", query))
    searched = search_all(queries, session.crew.ladder, session.settings.queries_per_round)
    rationale = " ".join(snapshot.case.next_query.reasoning)
    retrieved = session.clock.now().strftime("%Y-%m-%dT%H:%M:%SZ")
    text = render_raw(as_raw(searched, rationale, retrieved))
    tokens, used = usage_of(searched)
    record = {
        "role": "search",
        "round": number,
        "outcomes": [one.record._asdict() for one in searched],
        "asked": [name for one in searched for name in one.asked],
        "size": estimate(text),
        **used,
    }
    session.store.create_raw(number, (text,), session.stamped(record))
    notes = tuple(dict.fromkeys(note for one in searched for note in one.notes))
    blocked = all(one.record.outcome in ("blocked", "skipped") for one in searched)
    return Step("blocked" if blocked else "search", told(searched), tokens, notes=notes)


def adopt_raw(session: Session, number: int, queries: tuple[str, ...]) -> Step:
    """The one rewrite a raw gets: front matter on top of what a person pasted."""
    bare = session.store.read_bare(number)
    records = tuple(QueryRecord(query, "person", "pasted") for query in queries)
    retrieved = session.clock.now().strftime("%Y-%m-%dT%H:%M:%SZ")
    head = RawHead("search" if queries else "note", records, retrieved=retrieved)
    name = session.store.raw_path(number).name
    text = adopt(bare.text, head)
    record = session.stamped({"role": "harness", "round": number, "adopted": name, "size": estimate(text)})
    session.store.commit(name, text, Base({name: bare.digest}), record)
    return Step("adopt", f"{name} adopted" + (f" as the result of {', '.join(queries)}" if queries else " as a note"))
