"""The program as a user starts it: one command in this process, or one in a process of its own."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from harness.__main__ import run

COMMAND = (sys.executable, "-W", "error", "-m", "harness")
# A case is claimed once Python has imported everything; a slow machine needs seconds for it.
START_SECONDS = 30.0

DOCUMENTS = {
    "docs/samokat.md": "# Samokat in 2024\nDate: 2025-02-11\n\n"
    "Samokat had a revenue of 154.0 bn roubles in 2024. The staff of Samokat was 2,400 people in 2024.\n",
    "docs/vkusvill.md": "# VkusVill in 2024\nDate: 2025-02-12\n\nVkusVill had a revenue of 303.5 bn roubles in 2024.\n",
}
GRID = "---\nentities: [Samokat, VkusVill]\nfields: [revenue]\n---\nCompare the two.\n"


class Ran(NamedTuple):
    code: int
    out: str
    err: str


def harness(*arguments: str, stdin: str | bytes = b"", **environ: str) -> Ran:
    """Exit code, stdout and stderr of one command, run in this process; `environ` are further variables."""
    data = stdin.encode() if isinstance(stdin, str) else stdin
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2))
    polite = signal.getsignal(signal.SIGTERM)
    with tempfile.TemporaryFile() as file, pytest.MonkeyPatch.context() as patch:
        file.write(data)
        file.seek(0)
        given = io.TextIOWrapper(file, "utf-8")
        patch.setattr(sys, "stdin", given)
        for name, value in {"COLUMNS": "80", **environ}.items():
            patch.setenv(name, value)
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                code = run(arguments)
        finally:
            signal.signal(signal.SIGTERM, polite)
            given.detach()  # the file is closed once, by its own `with`
    return Ran(code, *(_written(stream) for stream in (out, err)))


def _written(stream: io.TextIOWrapper) -> str:
    stream.flush()
    stream.seek(0)
    return stream.read()


def begin(*arguments: str, env: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
    """A command under way, its output on pipes; in a session of its own, so that a signal reaches only it."""
    return subprocess.Popen(
        [*COMMAND, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env={**os.environ, **(env or {})},
        start_new_session=True,
    )


def wait_until(happened: Callable[[], bool], *, seconds: float = START_SECONDS) -> None:
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.01)


def user_config(text: str) -> None:
    """The user's own config.yaml, in the folder that conftest names."""
    folder = Path(os.environ["HARNESS_CONFIG_DIR"])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.yaml").write_text(text, encoding="utf-8")


def agent_program(name: str, code: str, *, more: str = "", role: str = "planner") -> None:
    """A program in Python that takes a role, named by the user's config; it runs with the packet on stdin."""
    script = Path(os.environ["HOME"]) / f"{name}.py"
    script.write_text(code, encoding="utf-8")
    user_config(f"{role}: {name}\nagents:\n  {name}: {{command: [{sys.executable}, {script}]{more}}}\n")
