"""What a person types: `/research …` begins, goes on, steers, stops or tells; anything else gives the turn back."""

from __future__ import annotations

import re
import time
from pathlib import Path

from harness.errors import HarnessError
from harness.inside.claim import drop_claim, other_claim
from harness.inside.event import Answer, HookEvent, block, context
from harness.inside.lines import line
from harness.inside.onward import ForRole, Over, go_on, reason, told
from harness.inside.place import asks, cases, new_case, open_session, seat_of
from harness.inside.roles import begun
from harness.inside.seat import Seat, arrived, write_seat
from harness.patterns import lazy
from harness.session import Session
from harness.starting import Asked, begin
from harness.status import look, render
from harness.steering import reopen, request_stop, steer
from harness.store import Store
from harness.tokens import estimate

COMMAND = lazy(r"/(?:[\w-]+:)?research(?:\s+(?P<words>.*))?\s*", re.DOTALL)
STEERING = lazy(r"steer\b\s*:?\s*(?P<words>.+)", re.IGNORECASE | re.DOTALL)
GO_ON = ("", "go on", "continue", "resume")
WORDS = ("status", "stop", "reopen")
FOUND = 12_000  # tokens that a search brings, five pages or so
REPLIED = 2_000  # tokens of a round's replies


def on_prompt(event: HookEvent) -> Answer:
    """UserPromptSubmit. A person who types anything has ended what was under way in this session."""
    leave(event)
    match = COMMAND.fullmatch(event.typed)
    if not match:
        return None
    words = (match["words"] or "").strip()
    try:
        return _obeyed(event, words)
    except HarnessError as error:
        return block(reason(error))


def leave(event: HookEvent) -> Answer:
    """The turn of this session is given back: it was interrupted, or the session ends."""
    for case in cases(event)[:1]:
        with seat_of(case) as seat:
            if seat.session == event.session:
                drop_claim(Store(case), event)
                write_seat(Store(case), seat._replace(turn=None))
    return None


def _obeyed(event: HookEvent, words: str) -> Answer:
    """All within the seat: two installations of the hooks hear the same words, and one of them acts."""
    found = cases(event)
    a_question = words not in (*GO_ON, *WORDS) and not STEERING.fullmatch(words)
    if not found and not a_question:
        return block(line("nothing_here"))
    case = _case_for(event, words) if a_question else found[0]
    store, answer = Store(case), None
    with seat_of(case) as seat:
        seat, new = arrived(seat, f"typed {event.prompt} {event.typed}", event.carrier)
        try:
            if new:
                answer, seat = _acted(event, store, seat, words)
        finally:
            write_seat(store, seat)
    return answer


def _case_for(event: HookEvent, question: str) -> Path:
    """The case that asks this already, else a new one."""
    try:
        return _made(event, question)
    except HarnessError:  # made at the same moment by the other installation: then it is there now
        return _made(event, question)


def _made(event: HookEvent, question: str) -> Path:
    there = next((case for case in cases(event) if asks(case, question)), None)
    if there:
        return there
    case = new_case(event, question)
    begin(case, Asked(question))
    return case


def _acted(event: HookEvent, store: Store, seat: Seat, words: str) -> tuple[Answer, Seat]:
    steering, at_work = STEERING.fullmatch(words), other_claim(store, event)
    if words == "status":
        session = open_session(store.folder).session
        return block(render(look(session.store, session.settings))), seat
    if words == "stop":
        return block(request_stop(store) if at_work else line("idle", case=store.folder)), seat
    if steering:
        steered = steer(store, steering["words"])
        if at_work:
            return block(steered), seat
    if at_work:  # theirs is the seat too
        return block(line("elsewhere", who=f"{at_work.role} (process {at_work.pid})")), seat
    if words == "reopen":
        reopen(open_session(store.folder).session)
    seat = begun(seat, event)._replace(turn=None, started=time.time(), tokens=0, folds=0, unheard=0)
    return _begun(event, store, seat)


def _begun(event: HookEvent, store: Store, seat: Seat) -> tuple[Answer, Seat]:
    opened = open_session(store.folder)
    answer = opened.session.store.snapshot().case.answer
    if answer and answer.status != "draft":
        path = store.folder / "answer.md"
        return block(line("stands", path=path, status=answer.status)), seat._replace(over=True)
    went = go_on(opened.session, seat, event.carrier)
    said = told(went.next, event.carrier)
    over = isinstance(went.next, Over)
    seat = went.seat._replace(line=said, over=over)
    if over:
        return context(event, said), seat
    estimated = _estimate(opened.session, went.next)
    notes = [f"Research: note: {note}" for note in opened.notes]
    return context(event, "\n".join([estimated, *notes, said]), person="\n".join([estimated, *notes])), seat


def _estimate(session: Session, due: object) -> str:
    """Rounds, and what a round will read: the summary twice, and what the search brings once."""
    settings = session.settings
    prompt = estimate(due.packet.prompt) if isinstance(due, ForRole) else REPLIED
    each = 2 * prompt + FOUND + REPLIED
    return line(
        "estimate",
        case=session.store.folder,
        rounds=settings.rounds,
        each=round(each / 1_000),
        tokens=f"{settings.tokens:,}",
        minutes=f"{settings.minutes:g}",
    )
