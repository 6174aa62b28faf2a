"""What Claude Code tells a hook, and what a hook may answer (shared/agents.md has the forms as they were seen)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

ROLES = ("planner", "synthesizer", "checker", "searcher")
PREFIX = "research-"


class HookEvent(NamedTuple):
    """One call of a hook. `carrier`: which of our installations called, so that two of them act once."""

    name: str
    carrier: str = ""
    session: str = ""
    prompt: str = ""  # id of the person's message that is being answered
    cwd: Path = Path()
    tool: str = ""
    use: str = ""  # id of the tool call
    asked: Mapping[str, Any] = {}
    response: Any = None
    error: str = ""
    agent: str = ""  # id of the sub-agent that is meant, "" for the main agent
    agent_type: str = ""
    reply: str = ""
    typed: str = ""  # what the person typed
    source: str = ""  # of a SessionStart: startup, resume, clear or compact
    stopping: bool = False  # a Stop that a hook has answered with a block before


def read_event(data: Mapping[str, Any], carrier: str) -> HookEvent:
    """From the JSON on stdin; what is missing or of another kind counts as not given."""
    asked = data.get("tool_input")
    return HookEvent(
        name=_text(data, "hook_event_name"),
        carrier=carrier,
        session=_text(data, "session_id"),
        prompt=_text(data, "prompt_id"),
        cwd=Path(_text(data, "cwd") or "."),
        tool=_text(data, "tool_name"),
        use=_text(data, "tool_use_id"),
        asked=asked if isinstance(asked, Mapping) else {},
        response=data.get("tool_response"),
        error=_text(data, "error"),
        agent=_text(data, "agent_id"),
        agent_type=_text(data, "agent_type"),
        reply=_text(data, "last_assistant_message"),
        typed=_text(data, "prompt"),
        source=_text(data, "source"),
        stopping=data.get("stop_hook_active") is True,
    )


def role_in(agent_type: object) -> str:
    """`planner` for `research-planner` and for `research:research-planner`; "" for everybody else's agents."""
    name = str(agent_type).rpartition(":")[2]
    role = name.removeprefix(PREFIX)
    return role if name != role and role in ROLES else ""


def _text(data: Mapping[str, Any], key: str) -> str:
    value = data.get(key)
    return value if isinstance(value, str) else ""


# Answers ------------------------------------------------------------------------------------------

Answer = Mapping[str, Any] | None  # None: the hook says nothing, and everything goes its usual way


def allow(event: HookEvent, asked: Mapping[str, Any] | None = None) -> Answer:
    """The tool call runs, with `asked` in place of its input, and nobody is asked for permission."""
    changed = {"updatedInput": asked} if asked is not None else {}
    return _specific(event, {"permissionDecision": "allow", **changed})


def deny(event: HookEvent, reason: str) -> Answer:
    return _specific(event, {"permissionDecision": "deny", "permissionDecisionReason": reason})


def replaced(event: HookEvent, text: str) -> Answer:
    """The caller sees `text` in place of what the sub-agent said."""
    kept = event.response if isinstance(event.response, Mapping) else {}
    return _specific(event, {"updatedToolOutput": {**kept, "content": [{"type": "text", "text": text}]}})


def block(reason: str) -> Answer:
    """Of a stop: whoever wanted to stop goes on with `reason`. Of a prompt: it is not sent, the person sees it."""
    return {"decision": "block", "reason": reason}


def context(event: HookEvent, text: str, *, person: str = "") -> Answer:
    """`text` for the model; `person` is shown on the screen."""
    told = _specific(event, {"additionalContext": text}) or {}
    return {**told, "systemMessage": person} if person else told


def _specific(event: HookEvent, values: Mapping[str, Any]) -> Answer:
    return {"hookSpecificOutput": {"hookEventName": event.name, **values}}
