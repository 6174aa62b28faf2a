"""A turn by hand: the prompt goes out to a person or a chat window, their reply comes back in."""

from __future__ import annotations

import json

from harness.errors import HarnessError, RepliesDefective, StateMoved
from harness.model import Packet, Reply
from harness.passes import perform
from harness.plan import Adopt, Ask, Check, Done, DropDraft, EmptyQueries, Fold, Limits, Search, TakeAnswer, due
from harness.roles import Credit, RoleTurn, has_sources, role_turn
from harness.session import Session, Step
from harness.turn import keep_rejected

HANDED_OUT = "next.json"
BY_HAND = "by hand"
TIDYING = 10  # rows without a role that may come before one


def hand_out(session: Session) -> Packet:
    """The packet of the role now due; tidying rows are done on the way.

    Raises HarnessError where no role is due, naming what is.
    """
    packet = _due_turn(session, tidy=True).packet
    handed = {"role": packet.role, "round": packet.round, "token": packet.token}
    session.store.put_helper(HANDED_OUT, json.dumps(handed))
    return packet


def take_in(session: Session, text: str) -> Step:
    """Check and commit a reply. Raises StateMoved if it answers an older prompt, RepliesDefective with the defects.

    A refused reply is kept in `.harness/rejected/`.
    """
    turn = _due_turn(session, tidy=False)
    packet, reply = turn.packet, Reply(text)
    if _handed(session) not in ("", f"{packet.role} {packet.token}"):  # two roles of a round have one token
        path = session.store.put_helper(f"rejected/{packet.role}_{packet.round}_old.md", text)
        hint = "harness next shows the prompt that is due now"
        raise StateMoved("the files moved since `harness next`; the reply is kept aside", str(path), hint)
    value, defects = turn.judge(reply)
    if value is None or defects:
        keep_rejected(session, packet, BY_HAND, reply, defects, 1)
        told = "".join(f"\n  - {defect.what}" + (f": {defect.value}" if defect.value else "") for defect in defects)
        hint = "mend it and take it again; harness next shows the prompt"
        codes = tuple(defect.code for defect in defects)
        raise RepliesDefective("this reply cannot be used", told.strip() or "it is empty", hint, codes)
    record = {"role": str(packet.role), "round": packet.round, "agent": BY_HAND}
    step = turn.commit(value, Credit(record))
    session.store.drop_helper(HANDED_OUT)
    return step


def search_due(session: Session) -> Step:
    """Run the search now due. Raises HarnessError if none is."""
    snapshot = session.store.snapshot()
    action = due(snapshot.case, Limits(session.settings.rounds))
    if not isinstance(action, Search):
        raise HarnessError("no search is due", type(action).__name__, "harness status")
    return perform(action, snapshot, session)


def _due_turn(session: Session, *, tidy: bool) -> RoleTurn[object]:
    for _ in range(TIDYING):
        snapshot = session.store.snapshot()
        action = due(snapshot.case, Limits(session.settings.rounds, unattended=session.unattended))
        match action:
            case Fold() if tidy and not has_sources(session, action):
                perform(action, snapshot, session)
            case Fold() | Ask() | Check():
                return role_turn(session, snapshot, action)
            case Search(_, queries):
                raise HarnessError("a search is due, not a role", "; ".join(queries), "harness search")
            case Done():
                raise HarnessError("nothing is due: answer.md stands", "", "harness reopen goes on")
            case EmptyQueries() | DropDraft() | Adopt() | TakeAnswer() if tidy:
                perform(action, snapshot, session)
            case EmptyQueries() | DropDraft() | Adopt() | TakeAnswer():
                raise HarnessError("no role is due yet", type(action).__name__, "harness next")
            case _:
                perform(action, snapshot, session)  # says what a person has to mend
    raise HarnessError("the files keep changing", str(session.store.folder), "end the other process, then try again")


def _handed(session: Session) -> str:
    """ "" when no prompt was handed out."""
    try:
        value = json.loads(session.store.get_helper(HANDED_OUT) or "{}")
    except ValueError:
        return ""
    return f"{value.get('role')} {value['token']}" if isinstance(value, dict) and "token" in value else ""
