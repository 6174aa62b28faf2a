"""The rest behind `hook.py`: from one hook call to its answer, by one table."""

from __future__ import annotations

import sys
import tempfile
import traceback
from collections.abc import Callable, Mapping
from typing import Any

from harness import __version__
from harness.errors import HarnessError
from harness.fold import gaps_left
from harness.formats.labels import counted
from harness.inside.command import leave, on_prompt
from harness.inside.event import Answer, HookEvent, allow, block, context, deny, read_event, role_in
from harness.inside.findings import record_finding
from harness.inside.lines import line
from harness.inside.onward import reason
from harness.inside.place import cases, seat_of
from harness.inside.roles import call_failed, hand_out, name_next, refuse_message, take_reply
from harness.inside.seat import arrived, read_seat, write_seat
from harness.store import Store

CALLS = ("Agent", "Task")  # the tool has had both names


def answer(data: Mapping[str, Any], carrier: str) -> Answer:
    """Never raises: what goes wrong is told in one line, and no hook of ours stands in the way of other work."""
    if data.get("hook_event_name") == "Canary":
        return {"canary": data.get("canary"), "harness": __version__}
    event = read_event(data, carrier)
    handler = HANDLERS.get(_key(event))
    try:
        return handler(event) if handler else None
    except HarnessError as error:
        return _told(event, reason(error))
    except Exception as error:
        with tempfile.NamedTemporaryFile("w", prefix="harness-hook-", suffix=".txt", delete=False) as file:
            traceback.print_exc(file=file)
        return _told(event, f"unexpected error ({type(error).__name__}); the traceback is in {file.name}")


def _key(event: HookEvent) -> str:
    if event.name in ("PreToolUse", "PostToolUse", "PostToolUseFailure"):
        kind = "role" if event.tool in CALLS and role_in(event.asked.get("subagent_type")) else "search"
        return f"{event.name} {'message' if event.tool == 'SendMessage' else kind}"
    return event.name


def _told(event: HookEvent, why: str) -> Answer:
    told = line("ended", why=why)
    if event.name == "PreToolUse":
        return deny(event, told)
    if event.name == "UserPromptSubmit":
        return block(told)
    print(told, file=sys.stderr)
    return None


# The searcher's tools ------------------------------------------------------------------------------


def permit(event: HookEvent) -> Answer:
    """PreToolUse of the searcher's tools: it has no others, and nobody is asked for permission."""
    return allow(event)


def record(event: HookEvent) -> Answer:
    """PostToolUse and its failure: what a tool gave is kept, so that it need not be believed."""
    for case in cases(event)[:1]:
        seat = read_seat(Store(case))
        if seat.session == event.session and seat.turn and seat.turn.role == "searcher":
            record_finding(Store(case), event)
    return None


# The session ----------------------------------------------------------------------------------------


def nudge(event: HookEvent) -> Answer:
    """Stop: once, and only where this very message called a role and the research is not over."""
    for case in cases(event)[:1]:
        store = Store(case)
        with seat_of(case) as seat:
            mine = seat.session == event.session and seat.prompt and seat.prompt == event.prompt
            if mine and not seat.over and not event.stopping and seat.nudged != event.prompt:
                write_seat(store, seat._replace(nudged=event.prompt))
                return block(line("unfinished", line=seat.line))
    return leave(event)


def remind(event: HookEvent) -> Answer:
    """SessionStart: one line, and only where a recent case is unfinished (hook.py has looked)."""
    for case in cases(event)[:1]:
        store = Store(case)
        snapshot = store.snapshot()
        with seat_of(case) as seat:
            # Two installations begin at the same moment; a later start of the same kind is a start of its own.
            seat, new = arrived(seat, f"start {event.session} {event.source}", event.carrier)
            write_seat(store, seat)
        if not new or snapshot.case.answer is not None or snapshot.case.question is None:
            return None
        if seat.session == event.session and event.source in ("compact", "resume") and not seat.over:
            return context(event, seat.line)
        told = line("resumes", case=case, round=snapshot.case.summary.round, open=_open(store))
        return context(event, told, person=told)
    return None


def _open(store: Store) -> str:
    case = store.snapshot().case
    grid = case.question.grid if case.question else None
    return f"{counted(gaps_left(case.summary, grid), 'gaps', 'en')} left" if grid else "no answer yet"


HANDLERS: Mapping[str, Callable[[HookEvent], Answer]] = {
    "PreToolUse role": hand_out,
    "PreToolUse message": refuse_message,
    "PreToolUse search": permit,
    "PostToolUse role": name_next,
    "PostToolUse search": record,
    "PostToolUseFailure role": call_failed,
    "PostToolUseFailure search": record,
    "SubagentStop": take_reply,
    "Stop": nudge,
    "SessionStart": remind,
    "SessionEnd": leave,
    "UserPromptSubmit": on_prompt,
}
