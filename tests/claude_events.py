"""Claude Code as seen by its hooks: a session that types, calls roles and lets them reply, without the program."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any

from harness.inside.dispatch import answer
from harness.inside.event import type_of

_numbers = count(1)


class Claude:
    """One session in a folder; `carriers`: the installations of our hooks, each of which sees every event."""

    def __init__(self, folder: Path, *, session: str = "", carriers: tuple[str, ...] = ("project",)) -> None:
        self.folder = folder
        self.session = session or f"{next(_numbers):08d}-session"
        self.carriers = carriers
        self.prompt = ""
        self.use = ""
        self.agent = ""

    def tell(self, name: str, **more: Any) -> Mapping[str, Any]:
        """Every carrier is asked; what the first that had something to say said, {} for nothing."""
        event = {"hook_event_name": name, "session_id": self.session, "cwd": str(self.folder), **more}
        event.setdefault("prompt_id", self.prompt)
        said = [told for carrier in self.carriers if (told := answer(event, carrier))]
        assert len(said) <= 1, said
        return said[0] if said else {}

    def kind(self, role: str) -> str:
        return type_of(role, self.carriers[0])

    def types(self, text: str) -> Mapping[str, Any]:
        self.prompt = f"prompt-{next(_numbers)}"
        return self.tell("UserPromptSubmit", prompt=text)

    def calls(self, role: str, prompt: str = "go") -> str:
        """The packet that the role gets, or why it gets none."""
        self.use, self.agent = f"use-{next(_numbers)}", f"agent-{next(_numbers)}"
        asked = {"description": "d", "prompt": prompt, "subagent_type": self.kind(role), "run_in_background": True}
        told = self.tell("PreToolUse", tool_name="Agent", tool_input=asked, tool_use_id=self.use)
        decided = told.get("hookSpecificOutput", {})
        if decided.get("permissionDecision") == "deny":
            return str(decided["permissionDecisionReason"])
        assert set(decided["updatedInput"]) == {"description", "prompt", "subagent_type"}
        return str(decided["updatedInput"]["prompt"])

    def replies(self, role: str, text: str) -> str:
        """What the role is told about its reply: "" when it may end."""
        told = self.tell("SubagentStop", agent_id=self.agent, agent_type=self.kind(role), last_assistant_message=text)
        assert told.get("decision", "block") == "block"
        return str(told.get("reason", ""))

    def sees(self, role: str, content: str = "the whole reply") -> str:
        """The line that the main agent sees after the call; "" where the hook leaves the output alone."""
        asked = {"subagent_type": self.kind(role)}
        response = {"status": "completed", "content": [{"type": "text", "text": content}], "agentId": self.agent}
        told = self.tell(
            "PostToolUse", tool_name="Agent", tool_input=asked, tool_response=response, tool_use_id=self.use
        )
        content_after = told.get("hookSpecificOutput", {}).get("updatedToolOutput", {}).get("content", [{"text": ""}])
        return str(content_after[0]["text"])

    def turn(self, role: str, text: str) -> str:
        """A whole call with a reply that is taken at once; the line after it."""
        packet = self.calls(role)
        assert not packet.startswith("Research"), packet
        assert self.replies(role, text) == ""
        return self.sees(role)

    def finds(self, tool: str, asked: Mapping[str, Any], response: object, *, error: str = "") -> None:
        """The searcher uses a tool; nobody is asked for permission."""
        who = {"agent_id": self.agent, "agent_type": self.kind("searcher"), "tool_name": tool, "tool_input": asked}
        use = f"use-{next(_numbers)}"
        allowed = answer(
            {"hook_event_name": "PreToolUse", "session_id": self.session, "cwd": str(self.folder), **who}, "project"
        )
        assert allowed is not None
        assert allowed["hookSpecificOutput"]["permissionDecision"] == "allow"
        if error:
            self.tell("PostToolUseFailure", **who, tool_use_id=use, error=error)
        else:
            self.tell("PostToolUse", **who, tool_use_id=use, tool_response=response)

    def stops(self, *, again: bool = False) -> str:
        """The main agent wants to end its turn: what keeps it going, "" for nothing."""
        return str(self.tell("Stop", stop_hook_active=again).get("reason", ""))


def context_of(told: Mapping[str, Any]) -> str:
    return str(told.get("hookSpecificOutput", {}).get("additionalContext", ""))


def query(text: str) -> str:
    return f'Think: it is open.\nAction: search("{text}")'


def answered(text: str) -> str:
    return f'Think: it is known.\nAction: answer("{text}")'


def summary(*facts: str, removed: str = "none") -> str:
    lines = "\n".join(f"- {fact}" for fact in facts)
    return f"Think: new.\nSummary:\n## Confirmed\n{lines}\n## Not found\nRemoved:\n- {removed}"


COMPLETE = '{"complete": true, "missing": []}'
