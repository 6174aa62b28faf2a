"""The calls of the roles: the packet goes in with the call, the reply is taken at the stop, one line comes out."""

from __future__ import annotations

import re
import time
from hashlib import sha256

from harness.inside.claim import drop_claim, other_claim, take_claim
from harness.inside.crew import question_mark
from harness.inside.event import Answer, HookEvent, allow, block, deny, replaced, role_in
from harness.inside.findings import clear_findings, findings, said
from harness.inside.lines import line
from harness.inside.onward import ForRole, ForSearcher, Next, Over, go_on, told
from harness.inside.place import cases, open_session, seat_of
from harness.inside.seat import AGENTS_KEPT, Seat, Turn, answers, arrived, write_seat
from harness.packet import again, language_for
from harness.patterns import lazy
from harness.prompts import load_prompts
from harness.search.agent import search_prompt
from harness.session import Session
from harness.steering import steer
from harness.store import Store

STEER = lazy(r"\s*steer\s*:\s*(.+)", re.IGNORECASE | re.DOTALL)
RUN_GAP = 900.0  # seconds without a call: who goes on after that begins a new run, with its own minutes and tokens
UNHEARD = 2  # calls in a row without a reply
DEAD = 1_800.0  # seconds after which a turn that nothing was heard of is over
REASON = 160  # characters of what a sub-agent said instead of a reply


def begun(seat: Seat, event: HookEvent) -> Seat:
    """The seat of this session, and of this run."""
    now = time.time()
    if seat.session != event.session:
        seat = Seat(session=event.session, arrivals=seat.arrivals)
    if not seat.started or now - seat.touched > RUN_GAP:
        seat = seat._replace(started=now, tokens=0, folds=0, blocked=0)
    return seat._replace(touched=now)


# The call ------------------------------------------------------------------------------------------


def hand_out(event: HookEvent) -> Answer:
    """PreToolUse of Agent: the packet in place of the caller's prompt, or why this role gets none now."""
    found = cases(event)
    if event.agent:
        return deny(event, line("main_only"))
    if not found:
        return deny(event, line("nothing_here"))
    store = Store(found[0])
    with seat_of(found[0]) as seat:
        seat, new = arrived(seat, f"call {event.use}", event.carrier)
        if not new:
            write_seat(store, seat)
            return None
        at_work = other_claim(store, event)
        if at_work:  # theirs is the seat too
            answer: Answer = deny(event, line("elsewhere", who=f"{at_work.role} (process {at_work.pid})"))
        else:
            answer, seat = _handed(event, store, begun(seat, event))
        write_seat(store, seat)
    return answer


def _handed(event: HookEvent, store: Store, seat: Seat) -> tuple[Answer, Seat]:
    role, turn = role_in(event.asked.get("subagent_type")), seat.turn
    if turn and turn.prompt == event.prompt and time.time() - turn.since < DEAD:
        return deny(event, line("taken")), seat
    words = STEER.match(str(event.asked.get("prompt", "")))
    if words:
        steer(store, words[1])
    session = open_session(store.folder).session
    went = go_on(session, seat._replace(turn=None), event.carrier)
    seat = went.seat._replace(line=told(went.next, event.carrier), over=isinstance(went.next, Over))
    if isinstance(went.next, Over):
        drop_claim(store, event)
        return deny(event, went.next.text), seat
    if went.next.role != role:
        return deny(event, line("not_due", role=role, line=seat.line)), seat
    take_claim(store, event, role, went.next.round)
    asked = {key: value for key, value in event.asked.items() if key in ("description", "subagent_type", "model")}
    prompt, turn = _packet(went.next, session, event)
    if role == "searcher":
        clear_findings(store)
    return allow(event, {**asked, "prompt": prompt}), seat._replace(turn=turn, prompt=event.prompt)


def _packet(due: ForRole | ForSearcher, session: Session, event: HookEvent) -> tuple[str, Turn]:
    if isinstance(due, ForSearcher):
        language = language_for(session.store.snapshot().case, session.settings)
        return search_prompt(due.queries, language), Turn(event.use, due.role, event.prompt, since=time.time())
    packet = due.packet
    turn = Turn(event.use, due.role, event.prompt, packet.token, question_mark(packet), time.time())
    return packet.prompt, turn


# The reply ------------------------------------------------------------------------------------------


def take_reply(event: HookEvent) -> Answer:
    """SubagentStop: commits the reply, or sends it back with its defects. None lets the sub-agent end."""
    for case in cases(event)[:1]:
        store = Store(case)
        with seat_of(case) as seat:
            turn = seat.turn
            if seat.session != event.session or turn is None or turn.role != role_in(event.agent_type):
                return None
            if turn.agent not in ("", event.agent):
                return None
            key = f"reply {event.agent} {sha256(event.reply.encode()).hexdigest()[:16]}"
            seat, new = arrived(seat, key, event.carrier)
            answer = None
            if new:
                turn = turn._replace(agent=event.agent, replies=(*turn.replies, event.reply))
                answer, seat = _taken(event, store, seat, turn)
            write_seat(store, seat._replace(touched=time.time()))
            return answer
    return None


def _taken(event: HookEvent, store: Store, seat: Seat, turn: Turn) -> tuple[Answer, Seat]:
    agents = tuple(dict.fromkeys((*seat.agents, event.agent)))[-AGENTS_KEPT:]
    seat = seat._replace(agents=agents, turn=turn)
    found = findings(store, turn.replies[-1]) if turn.role == "searcher" else None
    session = open_session(store.folder, turn, found).session
    went = go_on(session, seat, event.carrier)
    after, seat = went.next, went.seat
    if isinstance(after, ForRole) and after.packet.defects and answers(turn, after.packet):
        return block(again(after.packet.defects, load_prompts(after.packet.language))), seat
    why = _why(after, turn, failed=went.failed)
    over = isinstance(after, Over)
    if over:
        drop_claim(store, event)
    return None, seat._replace(turn=None, line=told(after, event.carrier, why=why), over=over, unheard=0)


def _why(after: Next, turn: Turn, *, failed: bool) -> str:
    """Why the same turn is due once more: a role never has two turns of one round in a row."""
    if failed:
        return line("refused")
    return line("moved") if isinstance(after, ForRole) and after.role == turn.role and turn.replies else ""


# The line -------------------------------------------------------------------------------------------


def name_next(event: HookEvent) -> Answer:
    """PostToolUse of Agent: one line in place of the reply. A turn that is still open here got no reply."""
    if isinstance(event.response, dict) and event.response.get("isAsync"):
        return None
    for case in cases(event)[:1]:
        store = Store(case)
        with seat_of(case) as seat:
            seat, new = arrived(seat, f"after {event.use}", event.carrier)
            if seat.session != event.session:
                write_seat(store, seat)
                return replaced(event, line("not_counted")) if new else None
            if new and seat.turn and seat.turn.use == event.use:
                seat = _unheard(event, store, seat)
            write_seat(store, seat._replace(touched=time.time()))
            return replaced(event, seat.line) if new else None
    return None


def call_failed(event: HookEvent) -> Answer:
    """PostToolUseFailure of Agent: interrupted, or refused by Claude Code itself; the turn is free again."""
    for case in cases(event)[:1]:
        with seat_of(case) as seat:
            if seat.session == event.session and seat.turn and seat.turn.use == event.use:
                write_seat(Store(case), seat._replace(turn=None))
    return None


def _unheard(event: HookEvent, store: Store, seat: Seat) -> Seat:
    why = line("quiet", why=said(event.response)[:REASON] or "nothing was said")
    seat = seat._replace(turn=None, unheard=seat.unheard + 1)
    if seat.unheard >= UNHEARD:
        drop_claim(store, event)
        return seat._replace(line=line("ended", why=why), over=True, unheard=0)
    went = go_on(open_session(store.folder).session, seat, event.carrier)
    return went.seat._replace(line=told(went.next, event.carrier, why=why), over=isinstance(went.next, Over))


def refuse_message(event: HookEvent) -> Answer:
    """PreToolUse of SendMessage: a role that could be talked to would not start from a clean context."""
    for case in cases(event)[:1]:
        with seat_of(case) as seat:
            to = {str(event.asked.get(key)) for key in ("to", "recipient")}
            if seat.session == event.session and (to & set(seat.agents) or any(map(role_in, to))):
                return deny(event, line("no_message", line=seat.line))
    return None
