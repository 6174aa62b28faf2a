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
ROLE = re.compile(r"(?:[\w-]+:)?research-(?:planner|synthesizer|checker|searcher)")
SEARCHER = re.compile(r"(?:[\w-]+:)?research-searcher")
COMMAND = re.compile(r"/(?:[\w-]+:)?research(?:\s|$)")
RECENT = 7 * 86_400  # seconds; an older unfinished case is not what somebody came back for
# A clone may bring a pipe, a link or a device instead of a file: nobody waits for it, nothing of elsewhere is read.
FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
SEAT_LIMIT = 1_000_000  # bytes
SEAT = os.path.join(".harness", "inside.json")  # in a case: which session works on it


def main() -> None:
    if os.environ.get(SWITCH) == "0":
        return
    try:
        event = json.loads(sys.stdin.buffer.read())
    except ValueError:
        return
    if isinstance(event, dict) and is_ours(event):
        start_the_rest(event)


def is_ours(event: dict[str, object]) -> bool:
    """Whether this call belongs to a research, found out without importing anything more."""
    name = event.get("hook_event_name")
    if name in ("PreToolUse", "PostToolUse", "PostToolUseFailure"):
        if event.get("tool_name") in ("Agent", "Task"):
            asked = event.get("tool_input")
            return isinstance(asked, dict) and bool(ROLE.fullmatch(str(asked.get("subagent_type"))))
        if event.get("tool_name") == "SendMessage":
            return seated(event)
        return bool(SEARCHER.fullmatch(str(event.get("agent_type"))))
    if name == "SubagentStop":
        return bool(ROLE.fullmatch(str(event.get("agent_type"))))
    if name == "UserPromptSubmit" and COMMAND.match(str(event.get("prompt"))):
        return True
    if name == "SessionStart":
        return any(unfinished(case) for case in cases(event))
    return name == "Canary" or (name in ("UserPromptSubmit", "Stop", "SessionEnd") and seated(event))


def seated(event: dict[str, object]) -> bool:
    """Whether this session has a seat at a case around here."""
    session = str(event.get("session_id"))
    for case in cases(event):
        try:
            descriptor = os.open(os.path.join(case, SEAT), FLAGS)
            try:
                if session.encode() in os.read(descriptor, SEAT_LIMIT):
                    return True
            finally:
                os.close(descriptor)
        except OSError:
            continue
    return False


def unfinished(case: str) -> bool:
    try:
        changed = os.stat(os.path.join(case, "question.md")).st_mtime
        for name in ("summary.md", "next_query.txt", "trace.jsonl"):
            if os.path.exists(os.path.join(case, name)):
                changed = max(changed, os.stat(os.path.join(case, name)).st_mtime)
    except OSError:
        return False
    return not os.path.exists(os.path.join(case, "answer.md")) and time.time() - changed < RECENT


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
    carrier = "plugin" if os.environ.get("CLAUDE_PLUGIN_ROOT") else "project"
    try:
        import site

        site.main()
        sys.path += sys.argv[1:]
        from harness.inside.dispatch import answer
    except ImportError as error:
        print(f"harness: not found by {sys.executable} ({error}); harness init mends it", file=sys.stderr)
        sys.exit(1)  # tells the person, and blocks nothing
    told = answer(event, carrier)
    if told:
        sys.stdout.buffer.write(json.dumps(told).encode())


if __name__ == "__main__":
    main()
