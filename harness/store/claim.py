"""Who is at work on a case: a courtesy between processes that can be taken over, never a lock."""

from __future__ import annotations

import json
import os
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from harness.formats.text import one_line, shortened
from harness.store.reading import read_helper

SHOWN = 100  # characters
LONGEST = 4 * 3600.0  # seconds: a claim that would bind for longer binds nobody, whatever its process does


class Claim(NamedTuple):
    """`started` is the process's start time in clock ticks (Linux), so that a reused pid is not taken for it."""

    role: str
    round: int
    pid: int
    started: str
    since: str
    expires: str

    def alive(self, now: datetime) -> bool:
        """Expired or dead claims may be taken over."""
        try:
            if not now <= datetime.fromisoformat(self.expires) <= now + timedelta(seconds=LONGEST):
                return False
        except (ValueError, TypeError):  # no time, or one without a zone: a broken claim binds nobody
            return False
        return process_start(self.pid) == self.started


def make_claim(role: str, number: int, *, now: datetime, seconds: float, pid: int = 0) -> Claim:
    """`pid`: the process that lives as long as the work does; 0: this one."""
    pid = pid or os.getpid()
    return Claim(
        role=role,
        round=number,
        pid=pid,
        started=process_start(pid) or "",
        since=now.isoformat(timespec="seconds"),
        expires=(now + timedelta(seconds=seconds)).isoformat(timespec="seconds"),
    )


def read_claim(path: Path) -> Claim | None:
    """None if there is none or it cannot be read: a broken claim binds nobody."""
    try:
        value = json.loads(read_helper(path.parent, path.name))
    except (ValueError, RecursionError):
        return None
    match value:
        case {"role": str(role), "round": int(number), "pid": int(pid), "started": str(started)} if pid > 0:
            since, expires = str(value.get("since")), str(value.get("expires"))
            return Claim(_shown(role), number, pid, started, _shown(since), expires)
    return None


def _shown(text: str) -> str:
    """For a terminal: a claim may come with a clone."""
    return shortened(one_line(text), SHOWN)


def render_claim(claim: Claim) -> str:
    return json.dumps(claim._asdict()) + "\n"


def process_start(pid: int) -> str | None:
    """The start time of a live process, "" where the system does not tell, None if it is dead."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return _probe(pid) if not Path("/proc/self").exists() else None
    except OSError:
        return ""
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] == "Z" else fields[19]  # state and starttime: proc(5), fields 3 and 22


def _probe(pid: int) -> str | None:
    if os.name == "nt":  # signal 0 is Ctrl-C there
        return ""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except OSError:
        return ""
    return ""
