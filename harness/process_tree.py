"""A program and everything it started: found and ended, whatever groups or sessions the children made.

Coding agents give their shell commands a group of their own, and those survive the end of the agent and of its
group. On Linux the members are therefore found in /proc by three marks that hold together: descent, session, and
a random value in the environment, which a child keeps when its parent is gone. Elsewhere the group is ended.
"""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

MARK = "_RESEARCH_HARNESS_TREE"
PROC = Path("/proc")
# First a request: on SIGINT agents write their last line and end their own children; on SIGTERM some do neither.
ASKING = ((signal.SIGINT, 2.0), (signal.SIGTERM, 1.0))  # seconds to react
LAST_WAIT = 1.0  # seconds for a killed process to be gone
ROUNDS = 50  # of looking for survivors; more only if something forks faster than it dies, or hangs in the kernel
PAUSE = 0.02  # seconds between two rounds


class _Entry(NamedTuple):
    pid: int
    state: str
    parent: int
    session: int


def marked(env: Mapping[str, str]) -> tuple[dict[str, str], str]:
    """`env` with a new mark added, and the mark. A harness inside a harness keeps the outer one's mark as well."""
    mark = secrets.token_hex(16)
    return {**env, MARK: f"{env.get(MARK, '')} {mark}".strip()}, mark


def end_tree(process: subprocess.Popen[bytes], mark: str) -> None:
    """Ask `process` to end, then end what is left of its tree. A second Ctrl-C skips the asking."""
    try:
        for number, seconds in ASKING:
            if process.poll() is None:
                _ask(process, number, seconds)
    finally:
        _kill(process, mark)


def _ask(process: subprocess.Popen[bytes], number: signal.Signals, seconds: float) -> None:
    if sys.platform == "win32":
        return  # a console program cannot be asked without asking ourselves too
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
    with suppress(subprocess.TimeoutExpired):
        process.wait(seconds)


def _kill(process: subprocess.Popen[bytes], mark: str) -> None:
    if sys.platform == "win32":
        subprocess.run(["taskkill", "/T", "/F", "/PID", str(process.pid)], capture_output=True, check=False)
    elif sys.platform == "linux" and (PROC / "self").exists():
        _kill_members(process.pid, mark)
    else:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    with suppress(ProcessLookupError):
        process.kill()
    with suppress(subprocess.TimeoutExpired):
        process.wait(LAST_WAIT)


def _kill_members(root: int, mark: str) -> None:
    for _ in range(ROUNDS):
        alive = _members(root, mark.encode())
        if not alive:
            return
        for pid in alive:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(PAUSE)


def _members(root: int, mark: bytes) -> set[int]:
    """The living processes that descend from `root`, are of its session, or carry its mark."""
    entries = [e for e in _entries() if e.pid != os.getpid() and e.state not in "ZX"]
    found = {e.pid for e in entries if e.pid == root or e.session == root or mark in _environment(e.pid)}
    while more := {e.pid for e in entries if e.parent in found} - found:
        found |= more
    return found


def _entries() -> Iterator[_Entry]:
    for folder in PROC.iterdir():
        if not folder.name.isdigit():
            continue
        with suppress(OSError):  # it ended while we looked
            # "pid (name) state parent group session …"; the name may hold spaces and brackets
            fields = (folder / "stat").read_bytes().rpartition(b")")[2].split()
            yield _Entry(int(folder.name), fields[0].decode(), int(fields[1]), int(fields[3]))


def _environment(pid: int) -> bytes:
    try:
        return (PROC / str(pid) / "environ").read_bytes()
    except OSError:  # another user's
        return b""
