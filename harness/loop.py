"""The loop: read the files, decide, do one thing, one write; nothing is carried from pass to pass."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from harness.committing import committed
from harness.errors import AgentFailed, HarnessError, RepliesDefective, SearchUnavailable, StateMoved
from harness.model import Role
from harness.noticing import seen
from harness.passes import perform
from harness.plan import Action, Adopt, Ask, Check, Fold, Limits, Search, due
from harness.session import Event, Session, Step
from harness.store import Snapshot
from harness.store.claim import LONGEST, make_claim, read_claim, render_claim
from harness.turn import FAILED_PASSES, count_failure, failures, forget_failures

REDONE = 5  # passes in a row redone because the files moved; more means that two processes fight
BLOCKED_ROUNDS = 2  # rounds of one run in which every search was blocked
CLAIM, STOP = "claim.json", "stop"
ROLE_OF = {Fold: "synthesizer", Ask: "planner", Check: "checker", Search: "search"}


class Meter:
    """What this run has used. The only thing that lives longer than a pass, and no decision on facts needs it."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.started = session.clock.monotonic()
        self.tokens = 0
        self.blocked = 0

    def limits(self) -> Limits:
        settings, used_up = self.session.settings, ""
        if self.tokens >= settings.tokens:
            used_up = "tokens"
        elif self.session.clock.monotonic() - self.started >= settings.minutes * 60:
            used_up = "minutes"
        return Limits(settings.rounds, used_up, self.session.unattended)

    def count(self, step: Step) -> None:
        self.tokens += step.tokens
        self.blocked = self.blocked + 1 if step.action == "blocked" else 0 if step.action == "search" else self.blocked


def run(session: Session, *, again: bool = False) -> Iterator[Step]:
    """Pass after pass until the answer stands or something has to be done by a person.

    Raises HarnessError with the reason; the case then stands at its last commit and can be resumed.
    """
    if again:
        forget_failures(session)
    meter, folds = Meter(session), 0
    with claimed(session, "run"):
        while True:
            if session.store.get_helper(STOP):
                session.store.drop_helper(STOP)
                yield Step("stop", "stopped on request; harness run goes on from here", final="stopped")
                return
            step = one_pass(session, meter)
            yield step
            folds += step.action == "fold"
            every = session.settings.pause_every
            if step.action == "fold" and every and folds % every == 0:
                yield Step("pause", "look at summary.md; harness run goes on from here", final="paused")
                return
            if step.final:
                return


def read_all(session: Session) -> Iterator[Step]:
    """Fold after fold until every raw is in the summary; no other role is asked. Raises as `run` does.

    Ends early, with a reason, at the limit of tokens or minutes and on `harness stop`.
    """
    meter = Meter(session)
    with claimed(session, "fold"):
        while isinstance(due(session.store.snapshot().case, Limits()), Adopt | Fold):
            used_up = meter.limits().used_up
            if session.store.get_helper(STOP) or used_up:
                session.store.drop_helper(STOP)
                why = f"the {used_up} of this run are used up" if used_up else "stopped on request"
                yield Step("stop", f"{why}; the same command goes on from here", final="stopped")
                return
            yield one_pass(session, meter)
            if all(agent.name == session.crew.built_in.name for agent in session.crew.agents[Role.SYNTHESIZER]):
                meter.tokens = 0  # rules cost nothing, and a file may have any size


def step(session: Session) -> Step:
    """One pass on its own: `harness step`."""
    with claimed(session, "step"):
        return one_pass(session, Meter(session))


def one_pass(session: Session, meter: Meter) -> Step:
    """One thing that is due. Redone on the new content when the files change meanwhile."""
    for _ in range(REDONE):
        snapshot = seen(session)
        action = due(snapshot.case, meter.limits())
        session.tell(Event("due", type(action).__name__))
        if meter.blocked >= BLOCKED_ROUNDS and isinstance(action, Ask | Search) and not _must_answer(action):
            hint = "the state is kept; harness run tries every provider again"
            raise SearchUnavailable(f"every search was blocked in {BLOCKED_ROUNDS} rounds", "", hint)
        try:
            step = _guarded(session, snapshot, action)
        except StateMoved as moved:
            session.tell(Event("notice", f"{moved.what}: {moved.value}; the pass is done again on the new content"))
            continue
        meter.count(step)
        return committed(session, step) if step.action not in ("done", "failed") else step
    raise HarnessError("the files keep changing", str(session.store.folder), "end the other process, then harness run")


def _must_answer(action: Action) -> bool:
    return isinstance(action, Ask) and bool(action.must_answer)


def _guarded(session: Session, snapshot: Snapshot, action: Action) -> Step:
    """Do it, and remember a failed pass of a role: two in one state of the files are the end of a run."""
    session.store.clean(snapshot)
    role = ROLE_OF.get(type(action), "")
    if role and not _must_answer(action) and failures(session, snapshot, role) >= FAILED_PASSES:
        hint = "mend a file, change the agent, or: harness run --again"
        raise RepliesDefective(f"the {role} failed {FAILED_PASSES} times in this state of the files", "", hint)
    try:
        return perform(action, snapshot, session)
    except (RepliesDefective, AgentFailed) as error:
        if session.store.get_helper(STOP):  # `stop` ends a person's wait: that is no failure of theirs
            return Step("failed", f"the {role}'s turn was ended by harness stop", error.tokens)
        count_failure(session, snapshot, role)
        record = {
            "role": role,
            "round": snapshot.case.summary.round + 1,
            "failed": error.what,
            "others": dict(error.spent),
        }
        session.store.note(session.stamped(record))
        if failures(session, snapshot, role) >= FAILED_PASSES:
            raise
        return Step("failed", f"the {role}'s turn failed; it is tried once more", error.tokens)


@contextlib.contextmanager
def claimed(session: Session, what: str) -> Iterator[None]:
    """Tell others who is at work; a dead process's claim is taken over. Raises HarnessError while a live one is."""
    path = session.store.helpers / CLAIM
    now = session.clock.now()
    number = session.store.snapshot().case.summary.round
    mine = make_claim(what, number, now=now, seconds=LONGEST)
    other = read_claim(path)
    if other and other.alive(now):
        told = f"{other.role}, process {other.pid}, since {other.since}"
        hint = f"harness status, or harness stop; if it is none of yours, remove {path}"
        raise HarnessError("another process is at work on this case", told, hint)
    if other:
        session.tell(Event("notice", f"taken over from process {other.pid}, which is gone (since {other.since})"))
    session.store.drop_helper(STOP)  # meant for a run before this one
    session.store.put_helper(CLAIM, render_claim(mine))
    try:
        yield
    finally:
        if read_claim(path) == mine:  # else it expired and another process has taken over
            session.store.drop_helper(CLAIM)
