"""What Claude Code tells a hook, and what a hook may answer (shared/agents.md has the forms as they were seen)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from harness.inside.sessions import Sessions

ROLES = ("planner", "synthesizer", "checker", "searcher")
PLUGIN = "plugin"  # the carrier whose agents have the plugin's name before theirs; the other one is the project


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
    sessions: Sessions = Sessions(Path())

    @property
    def called(self) -> str:
        """The role whose sub-agent is called, "" for anybody else's."""
        return role_in(self.asked.get("subagent_type"), self.carrier)

    @property
    def role(self) -> str:
        """The role whose sub-agent this event is about."""
        return role_in(self.agent_type, self.carrier)


def read_event(data: Mapping[str, Any], carrier: str, sessions: Sessions) -> HookEvent:
    """From the JSON on stdin; what is missing or of another kind counts as not given."""
    asked = data.get("tool_input")
    return HookEvent(
        name=_text(data, "hook_event_name"),
        carrier=carrier,
        session=_text(data, "session_id"),
        prompt=_text(data, "prompt_id"),
        cwd=Path(str(data.get("cwd") or ".")),
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
        sessions=sessions,
    )


def type_of(role: str, carrier: str) -> str:
    """How Claude Code knows the role's sub-agent."""
    return f"research:research-{role}" if carrier == PLUGIN else f"research-{role}"


def role_in(agent_type: object, carrier: str) -> str:
    """Exactly this carrier's agents: one of the same name may be anybody's, and may have tools."""
    return next((role for role in ROLES if type_of(role, carrier) == agent_type), "")


def _text(data: Mapping[str, Any], key: str) -> str:
    """A half of a surrogate pair, as a cut JSON text has it, could not be written anywhere."""
    value = data.get(key)
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""


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
