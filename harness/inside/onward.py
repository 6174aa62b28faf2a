"""From one call of a role to the next: the loop's own passes, until a reply is needed that has yet to come."""

from __future__ import annotations

import time
from typing import NamedTuple

from harness.errors import HarnessError, WaitingForPerson
from harness.inside.crew import Unanswered, Unsearched
from harness.inside.event import type_of
from harness.inside.lines import line
from harness.inside.place import searched_for
from harness.inside.seat import Seat
from harness.loop import STOP, Meter, one_pass
from harness.model import Case, Packet
from harness.plan import AskPerson, Limits, due, due_queries, next_number, rounds_used
from harness.searching import sendable
from harness.session import Session, Step

PASSES = 200  # without any role; a case in which more are due has no end
SHOWN = 300  # characters of a reason


class ForRole(NamedTuple):
    """A role is due, and this is what it gets. In a repair turn the packet names the defects.

    `outdated`: a reply is left that was written for an older state.
    """

    packet: Packet
    outdated: bool = False

    @property
    def role(self) -> str:
        return str(self.packet.role)

    @property
    def round(self) -> int:
        return self.packet.round


class ForSearcher(NamedTuple):
    """A search is due that the sub-agent `research-searcher` makes."""

    queries: tuple[str, ...]
    round: int
    role: str = "searcher"


class Over(NamedTuple):
    """Nothing more is due from the agent; `text` is the line that says why."""

    text: str
    role: str = ""
    round: int = 0


Next = ForRole | ForSearcher | Over


class Went(NamedTuple):
    """How far it went; `failed`: a turn ended without a reply that could be used, and is due once more."""

    next: Next
    seat: Seat
    failed: bool = False


def go_on(session: Session, seat: Seat, carrier: str) -> Went:
    """Do every pass that needs no reply of a sub-agent: tidying, folder searches, commits of the replies that came.

    Never raises for what a person can mend: that is the reason in Over.
    """
    meter, folds, failed = _meter(session, seat), seat.folds, False
    replied = seat.turn is not None and bool(seat.turn.replies)  # `stop` ends it after the pass, not before
    after: Next | None = None
    for number in range(PASSES):
        if session.store.get_helper(STOP) and not (replied and number == 0):
            session.store.drop_helper(STOP)
            after = Over(line("stopped"))
            break
        done = _pass(session, meter, carrier)
        if not isinstance(done, Step):
            after = done
            break
        failed, folds = done.action == "failed", folds + (done.action == "fold")
        after = _end_after(session, done, folds)
        if after:
            break
    climbed = searched_for(session.store.snapshot().case) if isinstance(after, ForSearcher) else seat.climbed
    counted = seat._replace(tokens=meter.tokens, blocked=meter.blocked, folds=folds, climbed=climbed)
    return Went(after or Over(line("ended", why="the files keep changing")), counted, failed)


def _pass(session: Session, meter: Meter, carrier: str) -> Step | Next:
    """One pass of the loop, or what stands in its way."""
    try:
        return one_pass(session, meter)
    except Unanswered as unanswered:
        return ForRole(unanswered.packet, unanswered.outdated)
    except Unsearched:
        return searches_of(session.store.snapshot().case, session.settings.queries_per_round)
    except WaitingForPerson as waiting:
        return Over(_waiting(session, waiting, carrier))
    except HarnessError as error:
        return Over(line("ended", why=reason(error)))


def searches_of(case: Case, allowed: int) -> ForSearcher:
    """The search now due, as far as its queries may leave this machine."""
    queries = (sendable(query)[0] for query in due_queries(case)[:allowed])
    return ForSearcher(tuple(filter(None, queries)), next_number(case))


def _end_after(session: Session, done: Step, folds: int) -> Over | None:
    """The answer, or the pause after so many rounds."""
    if done.final:
        return _answered(session)
    every = session.settings.pause_every
    if done.action == "fold" and every and folds % every == 0:
        return Over(line("paused", path=session.store.folder / "summary.md"))
    return None


def _meter(session: Session, seat: Seat) -> Meter:
    """What this run has used so far: it lives in the seat, since a hook's process ends with its call."""
    meter = Meter(session)
    meter.tokens, meter.blocked = seat.tokens, seat.blocked
    meter.started = time.monotonic() - seat.elapsed
    return meter


def _answered(session: Session) -> Over:
    case = session.store.snapshot().case
    status = case.answer.status if case.answer else "missing"
    path = session.store.folder / "answer.md"
    return Over(line("answered", status=status, rounds=rounds_used(case), path=path))


def _waiting(session: Session, waiting: WaitingForPerson, carrier: str) -> str:
    action = due(session.store.snapshot().case, Limits(session.settings.rounds))
    if isinstance(action, AskPerson):
        return line("asks", question=action.question, type=type_of("planner", carrier))
    return line("ended", why=reason(waiting))


def reason(error: HarnessError) -> str:
    """The error in one line: what, which value, what to do next."""
    told = " ".join(f"{error.what}: {error.value}".split()) if error.value else error.what
    hint = error.hint if error.hint.startswith("harness ") else error.hint[:1].upper() + error.hint[1:]
    return f"{told[:SHOWN]}. {hint}".rstrip(". ")


def told(after: Next, carrier: str, *, why: str = "") -> str:
    """The line for what is due next; `why`: what became of the call before."""
    if isinstance(after, Over):
        return after.text
    named = {"round": after.round, "type": type_of(after.role, carrier)}
    return line("call_again", why=why, **named) if why else line("call", **named)
