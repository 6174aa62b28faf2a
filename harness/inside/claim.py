"""The claim of a Claude Code session on a case: it tells `harness run` and other sessions who is at work."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

from harness.inside.event import HookEvent
from harness.loop import CLAIM
from harness.steering import CLAUDE
from harness.store import Store
from harness.store.claim import Claim, make_claim, read_claim, render_claim

SECONDS = 1_200.0  # a sub-agent that thinks longer than this is gone
SHOWN = 8  # characters of a session's id
BETWEEN = {"sh", "dash", "bash", "zsh", "timeout", "env"}  # a hook's shell ends with the hook; its parent stays
DEEPEST = 6


def other_claim(store: Store, event: HookEvent) -> Claim | None:
    """The claim of somebody else who is at work now; another session of our own process has ended."""
    claim = read_claim(store.helpers / CLAIM)
    if claim is None or not claim.alive(datetime.now(UTC)) or claim.role.startswith(_mark(event)):
        return None
    return None if claim.role.startswith(CLAUDE) and claim.pid == _program() else claim


def take_claim(store: Store, event: HookEvent, role: str, number: int) -> None:
    told = f"{_mark(event)}, {role}"
    claim = make_claim(told, number, now=datetime.now(UTC), seconds=SECONDS, pid=_program())
    store.put_helper(CLAIM, render_claim(claim))


def drop_claim(store: Store, event: HookEvent) -> None:
    claim = read_claim(store.helpers / CLAIM)
    if claim and claim.role.startswith(_mark(event)):
        store.drop_helper(CLAIM)


def _mark(event: HookEvent) -> str:
    return f"{CLAUDE} ({event.session[:SHOWN]})"


def _program() -> int:
    """The process of Claude Code itself: the nearest above us that is no shell."""
    pid = os.getppid()
    for _ in range(DEEPEST):
        try:
            name, fields = _stat(pid)
        except (OSError, ValueError, IndexError):
            break
        if name not in BETWEEN:
            return pid
        pid = int(fields[1])
    return os.getppid()


def _stat(pid: int) -> tuple[str, list[str]]:
    """Name, and the fields behind it: proc(5)."""
    before, _, after = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")
    return before.partition("(")[2], after.split()
