"""The rest behind `hook.py`: from one hook call to its answer, by one table."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from harness import __version__
from harness.errors import HarnessError
from harness.fold import gaps_left
from harness.formats.labels import counted
from harness.inside.command import COMMAND, leave, on_prompt
from harness.inside.event import PLUGIN, Answer, HookEvent, allow, block, context, deny, read_event, replaced
from harness.inside.findings import record_finding
from harness.inside.lines import line
from harness.inside.onward import reason
from harness.inside.place import case_of, seat_of
from harness.inside.roles import call_failed, hand_out, name_next, refuse_message, take_reply
from harness.inside.seat import read_seat, write_seat
from harness.inside.sessions import Sessions
from harness.store import Store

CALLS = ("Agent", "Task")  # the tool has had both names


def answer(data: Mapping[str, Any], carrier: str, sessions: str = "") -> Answer:
    """Never raises: what goes wrong is told in one line, and no hook of ours stands in the way of other work.

    `sessions`: the folder that hook.py has found.
    """
    if data.get("hook_event_name") == "Canary":
        return {"canary": data.get("canary"), "harness": __version__}
    event = read_event(data, carrier, Sessions(Path(sessions) if sessions else None))
    key = _key(event)
    handler = HANDLERS.get(key)
    try:
        return handler(event) if handler else None
    except HarnessError as error:
        return _told(event, key, reason(error))
    except Exception as error:
        return _told(event, key, f"unexpected error ({type(error).__name__}){_kept(event)}")


def _key(event: HookEvent) -> str:
    if event.name in ("PreToolUse", "PostToolUse", "PostToolUseFailure"):
        if event.tool in CALLS:
            return f"{event.name} role" if event.called else ""
        return f"{event.name} {'message' if event.tool == 'SendMessage' else 'search'}"
    return event.name


def _told(event: HookEvent, key: str, why: str) -> Answer:
    """Of a role's call the caller is always told; everybody else's calls and words go their usual way."""
    told = line("ended", why=why)
    if key == "PreToolUse role":
        return deny(event, told)
    if key == "PostToolUse role":
        return replaced(event, told)
    if key == "UserPromptSubmit" and COMMAND.fullmatch(event.typed):
        return block(told)
    print(told, file=sys.stderr)
    return None


def _kept(event: HookEvent) -> str:
    """The traceback of the last such error, in a file of ours."""
    path = event.sessions.folder.parent / "error.txt"
    try:
        path.write_text(traceback.format_exc(), encoding="utf-8", errors="replace")
    except OSError:
        return ""
    return f"; the traceback is in {path}"


# The searcher's tools ------------------------------------------------------------------------------


def permit(event: HookEvent) -> Answer:
    """PreToolUse of the searcher's tools: nobody is asked for permission while its turn is under way, and only then."""
    return allow(event) if _is_the_searcher(event) else None


def record(event: HookEvent) -> Answer:
    """PostToolUse and its failure: what a tool gave is kept, so that it need not be believed."""
    case = case_of(event)
    if case and _is_the_searcher(event):
        record_finding(Store(case), event)
    return None


def _is_the_searcher(event: HookEvent) -> bool:
    """The sub-agent that has the queries now due; its id is known from its first call on."""
    case = case_of(event)
    if not case or event.role != "searcher" or not event.agent:
        return False
    store = Store(case)
    with seat_of(case) as seat:
        turn = seat.turn
        if seat.session != event.session or not turn or turn.role != "searcher":
            return False
        if not turn.agent and event.agent not in seat.agents:
            write_seat(store, seat._replace(turn=turn._replace(agent=event.agent)))
            return True
        return turn.agent == event.agent


# The session ----------------------------------------------------------------------------------------


def nudge(event: HookEvent) -> Answer:
    """Stop: once, and only where this very message called a role and the research is not over."""
    case = event.sessions.began(event.session)
    if case is None or not case.is_dir():
        return None
    store = Store(case)
    with seat_of(case) as seat:
        mine = seat.session == event.session and seat.prompt and seat.prompt == event.prompt
        if mine and seat.turn and seat.turn.agent:
            return None  # a role is at work in the background
        if mine and not seat.over and not event.stopping and seat.nudged != event.prompt:
            write_seat(store, seat._replace(nudged=event.prompt))
            return block(line("unfinished", line=seat.line))
    return leave(event)


def remind(event: HookEvent) -> Answer:
    """SessionStart: one line, and only where a recent case is unfinished (hook.py has looked). Writes nothing."""
    if event.carrier != PLUGIN and (event.sessions.folder.parent / "marketplace").is_dir():
        return None  # the plugin says it
    case = case_of(event)
    if case is None:
        return None
    store = Store(case)
    known, seat = store.snapshot().case, read_seat(store)
    if known.question is None or (known.answer is not None and known.answer.status != "draft"):
        return None
    if seat.session == event.session and event.source in ("compact", "resume") and not seat.over:
        return context(event, seat.line)
    grid = known.question.grid
    left = f"{counted(gaps_left(known.summary, grid), 'gaps', 'en')} left" if grid else "no answer yet"
    told = line("resumes", case=case, round=known.summary.round, open=left)
    return context(event, told, person=told)


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
