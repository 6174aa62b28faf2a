"""Runs the harness on one case as a program of its own and measures what it takes."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

# 0: answered; 4: answered partially. Everything else is a failure of the run.
ANSWERED = frozenset({0, 4})
# How often a running child is looked at; small beside the seconds a run takes.
POLL_SECONDS = 0.02


class Run(NamedTuple):
    """`code` is None where the time limit ended it; `peak_mb` None where the system does not tell."""

    code: int | None
    seconds: float
    peak_mb: float | None
    summary: str
    answer: str
    log: Path


def run_case(case: Path, question: str, corpus: Path, *, harness: str, home: Path, timeout: float) -> Run:
    """Makes `case` anew with its question.md and runs it over `corpus` with the built-in roles.

    `harness` is a command line; `home` holds the run's own configuration and index, so that the user's settings do not
    count. Output goes to CASE.log beside the case.
    """
    shutil.rmtree(case, ignore_errors=True)
    case.mkdir(parents=True)
    (case / "question.md").write_text(question, encoding="utf-8", newline="\n")
    command = [*shlex.split(harness), "-C", str(case), "run", "--in", str(corpus)]
    log = case.with_suffix(".log")
    with log.open("wb") as out:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            env=_environment(home),
            cwd=case.parent,
            start_new_session=True,
        )
        code, seconds, peak = _wait(child, timeout)
    return Run(code, seconds, peak, _text(case / "summary.md"), _text(case / "answer.md"), log)


def _environment(home: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HARNESS_")}
    own = {"XDG_CONFIG_HOME": "config", "XDG_CACHE_HOME": "cache", "XDG_DATA_HOME": "data"}
    return kept | {name: str(home / folder) for name, folder in own.items()} | {"PYTHONUTF8": "1"}


def _wait(child: subprocess.Popen[bytes], timeout: float) -> tuple[int | None, float, float | None]:
    """(exit code or None, seconds, peak MB of the child)."""
    start, peak = time.monotonic(), None
    while child.poll() is None:
        peak = _peak_mb(child.pid) or peak
        if time.monotonic() - start > timeout:
            _end(child)
            return None, time.monotonic() - start, peak
        time.sleep(POLL_SECONDS)
    return child.returncode, time.monotonic() - start, peak


def _peak_mb(pid: int) -> float | None:
    """The high-water mark of this program alone. (A child's `ru_maxrss` would start at what its parent held.)"""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    mark = re.search(r"^VmHWM:\s+(\d+) kB", status, re.MULTILINE)
    return int(mark[1]) * 1024 / 1e6 if mark else None


def _end(child: subprocess.Popen[bytes]) -> None:
    """Ends the child and, where there are process groups, what it started."""
    if sys.platform == "win32":
        child.kill()
    else:
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
