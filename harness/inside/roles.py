"""The calls of the roles: the packet goes in with the call, the reply is taken at the stop, one line comes out."""

from __future__ import annotations

import os
import re
import time

from harness.environment import mask, secrets_of
from harness.formats.text import clean
from harness.inside.claim import drop_claim, other_claim, take_claim
from harness.inside.crew import question_mark
from harness.inside.event import Answer, HookEvent, allow, block, deny, replaced, role_in
from harness.inside.findings import clear_findings, findings, said
from harness.inside.lines import line
from harness.inside.onward import ForRole, ForSearcher, Next, Over, go_on, told
from harness.inside.place import case_of, open_session, searched_for, seat_of
from harness.inside.seat import AGENTS_KEPT, RUN_GAP, Seat, Turn, answers, read_seat, token_of, write_seat
from harness.packet import again, language_for
from harness.patterns import lazy
from harness.plan import due_queries
from harness.prompts import load_prompts
from harness.search.agent import search_prompt
from harness.session import Session
from harness.steering import steer
from harness.store import Store

STEER = lazy(r"\s*steer\s*:\s*(.+)", re.IGNORECASE | re.DOTALL)
UNHEARD = 2  # calls in a row without a reply
DEAD = 1_800.0  # seconds after which a turn that nothing was heard of is over
SAME_MESSAGE = 20.0  # seconds between two calls of one message, with all that their hooks do
REASON = 160  # characters of an error of the model's server
API_ERROR = "API Error"  # how Claude Code begins what it says in place of a reply; anything else is a role's own text


def begun(seat: Seat, event: HookEvent) -> Seat:
    """The seat of this session, and of this run: who goes on after a long pause begins a new one."""
    if seat.session != event.session:
        seat = Seat(session=event.session)
    if time.time() - seat.touched > RUN_GAP:
        seat = seat._replace(touched=0.0, elapsed=0.0, tokens=0, folds=0, blocked=0)
    return seat.now()


# The call ------------------------------------------------------------------------------------------


def hand_out(event: HookEvent) -> Answer:
    """PreToolUse of Agent: the packet in place of the caller's prompt, or why this role gets none now."""
    case = case_of(event)
    if event.agent:
        return deny(event, line("main_only"))
    if case is None or event.sessions.began(event.session) is None:
        return deny(event, line("not_begun"))
    store = Store(case)
    with seat_of(case) as seat:
        try:
            words = STEER.match(str(event.asked.get("prompt", "")))
            if words:  # before anything may refuse the call
                steer(store, clean(words[1]))
            at_work = other_claim(store, event)
            if at_work:  # theirs is the seat too
                return deny(event, line("elsewhere", who=f"{at_work.role} (process {at_work.pid})"))
            answer, seat = _handed(event, store, begun(seat, event))
        finally:
            write_seat(store, seat)
    return answer


def _handed(event: HookEvent, store: Store, seat: Seat) -> tuple[Answer, Seat]:
    free, turn = seat._replace(turn=None), seat.turn
    session = open_session(store.folder, free).session
    went = go_on(session, free, event.carrier)
    after = went.next
    if turn and turn.prompt == event.prompt and _is_for(turn, after) and _is_under_way(turn):
        return deny(event, line("taken")), seat
    seat = went.seat._replace(line=told(after, event.carrier), over=isinstance(after, Over))
    if isinstance(after, Over):
        drop_claim(store, event)
        return deny(event, after.text), seat
    if after.role != event.called:
        return deny(event, line("not_due", role=event.called, line=seat.line)), seat
    take_claim(store, event, after.role, after.round)
    asked = {key: value for key, value in event.asked.items() if key in ("description", "subagent_type", "model")}
    prompt, turn = _packet(after, session, event)
    if after.role == "searcher":
        clear_findings(store)
    return allow(event, {**asked, "prompt": prompt}), seat._replace(turn=turn, prompt=event.prompt)


def _is_under_way(turn: Turn) -> bool:
    """Two calls of one message come at the same moment; a later one means that the first is over, and was refused.

    Unless its sub-agent is known: then it is at work in the background.
    """
    return time.time() - turn.since < (DEAD if turn.agent else SAME_MESSAGE)


def _is_for(turn: Turn, after: Next) -> bool:
    return (turn.role, turn.round) == (after.role, after.round)


def _packet(due: ForRole | ForSearcher, session: Session, event: HookEvent) -> tuple[str, Turn]:
    if isinstance(due, ForSearcher):
        case = session.store.snapshot().case
        prompt = search_prompt(due.queries, language_for(case, session.settings))
        return prompt, Turn(event.use, due.role, event.prompt, due.round, searched_for(case), since=time.time())
    packet = due.packet
    mark = question_mark(packet)
    return packet.prompt, Turn(event.use, due.role, event.prompt, due.round, token_of(packet), mark, time.time())


# The reply ------------------------------------------------------------------------------------------


def take_reply(event: HookEvent) -> Answer:
    """SubagentStop: commits the reply, or sends it back with its defects. None lets the sub-agent end."""
    case = case_of(event)
    if case is None:
        return None
    store = Store(case)
    with seat_of(case) as seat:
        turn = seat.turn
        if seat.session != event.session or turn is None or turn.role != event.role:
            return None
        if turn.agent not in ("", event.agent) or (not turn.agent and event.agent in seat.agents):
            return None  # another sub-agent than the one that has the packet
        try:
            turn = turn._replace(agent=event.agent, replies=(*turn.replies, event.reply))
            answer, seat = _taken(event, store, seat.now(), turn)
        finally:
            write_seat(store, seat)
    return answer


def _taken(event: HookEvent, store: Store, seat: Seat, turn: Turn) -> tuple[Answer, Seat]:
    agents = tuple(dict.fromkeys((*seat.agents, event.agent)))[-AGENTS_KEPT:]
    seat = seat._replace(agents=agents, turn=turn)
    case, found = store.snapshot().case, None
    if turn.role == "searcher" and searched_for(case) == turn.token:
        found = findings(store, turn.replies[-1], due_queries(case))
    went = go_on(open_session(store.folder, seat, found).session, seat, event.carrier)
    after, seat = went.next, went.seat
    repairs = isinstance(after, ForRole) and bool(after.packet.defects) and not after.outdated
    if isinstance(after, ForRole) and repairs and answers(turn, after.packet):
        return block(again(after.packet.defects, load_prompts(after.packet.language))), seat
    over = isinstance(after, Over)
    if over:
        drop_claim(store, event)
    why = line("refused") if went.failed else line("moved") if _is_for(turn, after) else ""
    seat = seat._replace(turn=None, done=turn.use, line=told(after, event.carrier, why=why), over=over, unheard=0)
    return None, seat


# The line -------------------------------------------------------------------------------------------


def name_next(event: HookEvent) -> Answer:
    """PostToolUse of Agent: always a line in place of the reply, whatever became of it."""
    case = case_of(event)
    if case is None:
        return replaced(event, line("nothing_here"))
    store = Store(case)
    waits = isinstance(event.response, dict) and bool(event.response.get("isAsync"))
    with seat_of(case) as seat:
        if seat.session not in ("", event.session):
            return replaced(event, line("not_counted"))
        if waits:  # it goes on in the background, and its stop will come
            if seat.turn and seat.turn.use == event.use:
                bound = seat.turn._replace(agent=str(event.response.get("agentId", "")))
                write_seat(store, seat._replace(turn=bound))
            return None
        ours = seat.turn if seat.turn and seat.turn.use == event.use else None
        try:
            if ours or event.use != seat.done:
                seat = _unheard(event, store, seat, ours)
        finally:
            write_seat(store, seat._replace(turn=None if ours else seat.turn))
    return replaced(event, seat.line)


def call_failed(event: HookEvent) -> Answer:
    """PostToolUseFailure of Agent: interrupted, or refused by Claude Code itself; the turn is free again."""
    case = case_of(event)
    if case:
        with seat_of(case) as seat:
            if seat.session == event.session and seat.turn and seat.turn.use == event.use:
                write_seat(Store(case), seat._replace(turn=None))
    return None


def _unheard(event: HookEvent, store: Store, seat: Seat, turn: Turn | None) -> Seat:
    """A call that ended without a reply that the harness has seen: nothing of what was said is repeated."""
    free = (seat if seat.session else seat._replace(session=event.session))._replace(turn=None)
    went = go_on(open_session(store.folder, free).session, free, event.carrier)
    after, over = went.next, isinstance(went.next, Over)
    if turn and not _is_for(turn, after):  # committed, and the hook was ended before it could write that down
        return went.seat._replace(line=told(after, event.carrier), over=over, unheard=0, done=event.use)
    text = said(event.response).strip()
    error = mask(clean(text), secrets_of(os.environ))[:REASON] if text.startswith(API_ERROR) else ""
    why = line("quiet", why=error or "nothing that could be used was said")
    if seat.unheard + 1 >= UNHEARD or over:
        drop_claim(store, event)
        ended = told(after, event.carrier) if over else line("ended", why=why)
        return went.seat._replace(line=ended, over=True, unheard=0)
    return went.seat._replace(line=told(after, event.carrier, why=why), over=False, unheard=seat.unheard + 1)


def refuse_message(event: HookEvent) -> Answer:
    """PreToolUse of SendMessage: a role that could be talked to would not start from a clean context."""
    case = case_of(event)
    if case is None:
        return None
    seat = read_seat(Store(case))
    to = {str(event.asked.get(key)) for key in ("to", "recipient")}
    if seat.session == event.session and (to & set(seat.agents) or any(role_in(one, event.carrier) for one in to)):
        return deny(event, line("no_message", line=seat.line))
    return None
