"""What Claude Code starts at a hook: ends at once where the call is none of ours, else starts the rest.

It is copied into the data folder and run as `python -I -S hook.py PACKAGE_FOLDER`, so it knows only the standard
library, and of that only what costs no time. Every fault fails open: a role without our hooks has no packet and no
tools, and nothing of it is committed, so a broken hook can spoil a research but nobody's other work.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time

SWITCH = "HARNESS_HOOKS"  # 0 turns every hook off
PLUGIN, PROJECT = "plugin", "project"  # the two carriers of our hooks; each has agents of its own
PREFIX = {PLUGIN: "research:research-", PROJECT: "research-"}
ROLES = ("planner", "synthesizer", "checker", "searcher")
COMMAND = re.compile(r"/(?:research:)?research(?:\s|$)")
SESSION = re.compile(r"[\w-]{1,80}")
RECENT = 7 * 86_400  # seconds; an older unfinished case is not what somebody came back for
SIGNS = (".harness", "trace.jsonl")  # beside question.md: any project may have a file of that name


def main() -> None:
    if os.environ.get(SWITCH) == "0":
        return
    try:
        event = json.loads(sys.stdin.buffer.read())
    except ValueError:
        return
    if isinstance(event, dict) and is_ours(event, carrier()):
        start_the_rest(event)


def carrier() -> str:
    """Which of our two installations was called: a plugin's hooks are told where it lies."""
    return PLUGIN if os.environ.get("CLAUDE_PLUGIN_ROOT") else PROJECT


def role_of(agent_type: object, by: str) -> str:
    """`planner` for exactly this carrier's agent; "" for everybody else's, whatever their name."""
    name, prefix = str(agent_type), PREFIX[by]
    role = name[len(prefix) :] if name.startswith(prefix) else ""
    return role if role in ROLES else ""


def is_ours(event: dict[str, object], by: str) -> bool:
    """Whether this call belongs to a research, found out without importing anything more."""
    name = event.get("hook_event_name")
    if name in ("PreToolUse", "PostToolUse", "PostToolUseFailure"):
        if event.get("tool_name") in ("Agent", "Task"):
            asked = event.get("tool_input")
            return isinstance(asked, dict) and bool(role_of(asked.get("subagent_type"), by))
        if event.get("tool_name") == "SendMessage":
            return seated(event)
        return role_of(event.get("agent_type"), by) == "searcher"
    if name == "SubagentStop":
        return bool(role_of(event.get("agent_type"), by))
    if name == "UserPromptSubmit" and COMMAND.match(str(event.get("prompt"))):
        return True
    if name == "SessionStart":
        return any(unfinished(case) for case in cases(event))
    return name == "Canary" or (name in ("UserPromptSubmit", "Stop", "SessionEnd") and seated(event))


def sessions() -> str:
    """The folder that remembers in which sessions a person typed our command, and for which case."""
    data = os.environ.get("HARNESS_DATA_DIR")
    return os.path.join(
        os.path.join(data, "claude") if data else os.path.dirname(os.path.abspath(__file__)), "sessions"
    )


def seated(event: dict[str, object]) -> bool:
    session = str(event.get("session_id"))
    return bool(SESSION.fullmatch(session)) and os.path.isfile(os.path.join(sessions(), session))


def unfinished(case: str) -> bool:
    try:
        changed = os.stat(os.path.join(case, "question.md")).st_mtime
        for name in ("summary.md", "next_query.txt", "trace.jsonl"):
            if os.path.exists(os.path.join(case, name)):
                changed = max(changed, os.stat(os.path.join(case, name)).st_mtime)
    except OSError:
        return False
    ours = any(os.path.exists(os.path.join(case, name)) for name in SIGNS)
    return ours and not os.path.exists(os.path.join(case, "answer.md")) and time.time() - changed < RECENT


def cases(event: dict[str, object]) -> list[str]:
    """The folders that may be cases, here and in the parents of here."""
    named = os.environ.get("HARNESS_DIR")
    found = [named] if named else []
    for start in (event.get("cwd"), os.environ.get("CLAUDE_PROJECT_DIR")):
        level = os.path.abspath(start) if isinstance(start, str) and start else ""
        while level:
            research = os.path.join(level, "research")
            found += [level, research]
            try:
                found += [entry.path for entry in os.scandir(research) if entry.is_dir()]
            except OSError:
                pass
            level, before = os.path.dirname(level), level
            if level == before:
                break
    return found


def start_the_rest(event: dict[str, object]) -> None:
    """The rest runs in this process: its packages are looked up now, and not where the call is none of ours."""
    try:
        import site

        site.main()
        sys.path += sys.argv[1:]
        from harness.inside.dispatch import answer
    except ImportError as error:
        print(f"harness: not found by {sys.executable} ({error}); harness init mends it", file=sys.stderr)
        sys.exit(1)  # tells the person, and blocks nothing
    told = answer(event, carrier(), sessions())
    if told:
        sys.stdout.buffer.write(json.dumps(told).encode())


if __name__ == "__main__":
    main()
