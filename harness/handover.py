"""A turn by hand: the prompt goes out to a person or a chat window, their reply comes back in."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from hashlib import sha256
from typing import Any, NamedTuple

from harness.committing import committed
from harness.errors import HarnessError, RepliesDefective, StateMoved
from harness.folding import HandedOut, has_sources, read_up_to, synthesizer_turn
from harness.marks import mark_of, taken_off
from harness.model import Decision, Defect, Packet, Reply
from harness.noticing import seen
from harness.packet import repair
from harness.passes import perform
from harness.plan import Adopt, Ask, Check, Done, DropDraft, EmptyQueries, Fold, Limits, Search, TakeAnswer, due
from harness.prompts import load_prompts
from harness.render import fill
from harness.roles import Credit, RoleTurn, checker_turn, planner_turn
from harness.session import Event, Session, Step
from harness.status import describe
from harness.turn import keep_rejected, put_right, was_refused

HANDED_OUT = "next.json"
REFUSED = "refused"  # its key for the reply that was refused last, and its defects
BY_HAND = "by hand"
TIDYING = 10  # rows without a role that may come before one


def hand_out(session: Session) -> Packet:
    """The packet of the role now due, its prompt with a mark; tidying rows are done on the way.

    After a refused reply it is the repair prompt, with the defects. Raises HarnessError where no role is due, naming
    what is.
    """
    packet, refused = _due_turn(session, tidy=True).packet, _refused_before(_handed(session))
    state = _state_of(packet)
    prompts = load_prompts(packet.language)
    if refused and all(_handed(session).get(name) == state[name] for name in ("role", "token")):
        packet = repair(packet, refused.text, refused.defects, prompts)
        state[REFUSED] = _handed(session)[REFUSED]
    session.store.put_helper(HANDED_OUT, json.dumps(state))
    marked = {"prompt": packet.prompt.rstrip("\n"), "mark": mark_of(packet)}
    return packet._replace(prompt=fill(prompts.parts["marked"], marked, "prompts/marked"))


def take_in(session: Session, text: str) -> Step:
    """Check and commit a reply. Raises StateMoved if it answers an older prompt, RepliesDefective with the defects.

    It is known by its mark, or by what was handed out last. A refused reply is kept in `.harness/rejected/`. Taken once
    more as it is, code puts it right where it can.
    """
    handed = _handed(session)
    turn = _due_turn(session, tidy=False, place=_place_of(handed))
    mark, text = taken_off(text)
    packet, reply = turn.packet, Reply(text)
    now = _state_of(packet)
    if mark and mark != mark_of(packet):
        told = f"this is the reply to another prompt ({mark}; due is {mark_of(packet)}); it is kept aside"
        raise _moved(session, packet, text, told)
    if packet.part and not handed:  # of a raw in parts nobody can tell which one an uncalled reply is to
        raise _moved(session, packet, text, "no prompt was handed out for this part; the reply is kept aside")
    if handed and not mark and any(handed.get(name) != now[name] for name in ("role", "token")):
        raise _moved(session, packet, text, "the files moved since `harness next`; the reply is kept aside")
    value, defects = turn.judge(reply)
    mended = turn.mend(value, defects) if turn.mend and value is not None and defects else None
    refused = [defect.code for defect in defects]
    if mended is not None and was_refused(session, packet, reply):
        session.tell(Event("notice", put_right(defects)))
        value, defects = mended, ()
    if value is None or defects:
        session.store.put_helper(HANDED_OUT, json.dumps({**now, REFUSED: [text, [list(one) for one in defects]]}))
        raise _refused(session, packet, reply, defects, mendable=mended is not None)
    answers = isinstance(value, Decision) and value.answer is not None
    if handed and answers and handed.get("question") != now["question"]:
        raise _moved(session, packet, text, "question.md changed since `harness next`; the answer is kept aside")
    record = {"role": str(packet.role), "round": packet.round, "agent": BY_HAND, "defects": refused}
    step = turn.commit(value, Credit(record))
    session.store.drop_helper(HANDED_OUT)
    return committed(session, step)


def _refused(
    session: Session, packet: Packet, reply: Reply, defects: tuple[Defect, ...], *, mendable: bool
) -> RepliesDefective:
    """The error that names every defect; the reply is kept."""
    quiet = replace(session, tell=lambda event: None)  # told once, below
    name = keep_rejected(quiet, packet, BY_HAND, reply, defects)
    told = [defect.what + (f": {defect.value}" if defect.value else "") for defect in defects]
    value = told[0] if len(told) == 1 else "".join(f"\n  - {one}" for one in told) or "it is empty"
    kept = session.store.helpers / name
    hint = f"harness next has the prompt that names this; or mend it and take it again. A copy is {kept}"
    if mendable:
        hint += "\n  or take it once more as it is: lost facts are put back, doubtful numbers marked [unverified]"
    return RepliesDefective("this reply cannot be used", value, hint, tuple(defect.code for defect in defects))


def search_due(session: Session) -> Step:
    """Run the search now due. Raises HarnessError if none is."""
    snapshot = session.store.snapshot()
    action = due(snapshot.case, Limits(session.settings.rounds))
    if not isinstance(action, Search):
        raise HarnessError("no search is due; this is", describe(action), "harness status")
    return committed(session, perform(action, snapshot, session))


def searches_due(session: Session) -> Iterator[Step]:
    """Runs the search if one is due, and what is tidied before and after it."""
    for _ in range(TIDYING):
        snapshot = seen(session)
        action = due(snapshot.case, Limits(session.settings.rounds, unattended=session.unattended))
        if not isinstance(action, Search | EmptyQueries | DropDraft | Adopt | TakeAnswer):
            return
        yield committed(session, perform(action, snapshot, session))


def role_is_due(session: Session) -> bool:
    case = session.store.snapshot().case
    return isinstance(due(case, Limits(session.settings.rounds, unattended=session.unattended)), Fold | Ask | Check)


def what_next(session: Session) -> str:
    """One line: what is due now, with the command."""
    case = session.store.snapshot().case
    return f"due: {describe(due(case, Limits(session.settings.rounds, unattended=session.unattended)))}"


def told_of(packet: Packet, call: str, *, copied: bool) -> str:
    """What to do with a prompt that was handed out."""
    take = f"{call} take --paste --copy" if copied else f"{call} take FILE, or {call} take - and paste it"
    again = "; it names what was wrong with the reply before" if packet.defects else ""
    return f"{packet.role}, round {packet.round}{again}. Give the reply to: {take}"


def _due_turn(session: Session, *, tidy: bool, place: HandedOut | None = None) -> RoleTurn[Any]:
    for _ in range(TIDYING):
        snapshot = seen(session)
        action = due(snapshot.case, Limits(session.settings.rounds, unattended=session.unattended))
        match action:
            case Fold() if tidy and not has_sources(session, snapshot, action):
                perform(action, snapshot, session)
            case Fold():
                begins = place is not None and place.start == read_up_to(snapshot.case.summary, action.number)
                return synthesizer_turn(session, snapshot, action, place if begins else None)
            case Ask():
                return planner_turn(session, snapshot, action)
            case Check():
                return checker_turn(session, snapshot)
            case Search(_, queries):
                raise HarnessError("a search is due, not a role", "; ".join(queries), "harness search")
            case Done():
                raise HarnessError("nothing is due: answer.md stands", "", "harness reopen goes on")
            case EmptyQueries() | DropDraft() | Adopt() | TakeAnswer() if tidy:
                perform(action, snapshot, session)
            case EmptyQueries() | DropDraft() | Adopt() | TakeAnswer():
                raise HarnessError("no role is due yet; this is", describe(action), "harness next")
            case _:
                perform(action, snapshot, session)  # says what a person has to mend
    raise HarnessError("the files keep changing", str(session.store.folder), "end the other process, then try again")


def _state_of(packet: Packet) -> dict[str, object]:
    """What a reply belongs to: two roles of one round share a token, and an answer has to know every direction."""
    question = sha256(packet.files["question.md"].encode()).hexdigest()
    part = {"part": [*packet.part, *(packet.nth or ())]} if packet.part else {}
    return {"role": str(packet.role), "token": packet.token, "question": question, **part}


def _place_of(handed: Mapping[str, object]) -> HandedOut | None:
    """The part of a raw that was handed out, if it was one."""
    match handed.get("part"):
        case [int(start), int(end), int(number), int(of)] if 0 <= start < end and 0 < number <= of:
            return HandedOut(start, end, number, of)
    return None


class _Refused(NamedTuple):
    text: str
    defects: tuple[Defect, ...]


def _refused_before(handed: Mapping[str, object]) -> _Refused | None:
    """The reply that was refused last, if it was one to what was handed out."""
    match handed.get(REFUSED):
        case [str(text), list(told)]:
            kept = [one for one in told if isinstance(one, list) and len(one) == 3]
            return _Refused(text, tuple(Defect(str(one[0]), str(one[1]), str(one[2])) for one in kept))
    return None


def _moved(session: Session, packet: Packet, text: str, what: str) -> StateMoved:
    path = session.store.put_helper(f"rejected/{packet.role}_{packet.round}_old.md", text)
    return StateMoved(what, str(path), "harness next shows the prompt that is due now")


def _handed(session: Session) -> Mapping[str, object]:
    """What the prompt handed out last belongs to; empty when there was none."""
    return session.store.get_record(HANDED_OUT)
