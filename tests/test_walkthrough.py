"""The walk-through in docs/by-hand.md runs and prints what it says; its capture is what a real terminal shows."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from harness.store import Store
from harness.store.trace import read_trace

DOCS = Path(__file__).parent.parent / "docs"
PAGE = (DOCS / "by-hand.md").read_text(encoding="utf-8")
CAPTURE = DOCS / "by-hand-session.txt"
DOSSIER = DOCS.parent / "templates" / "demo" / "documents"
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
WHEN = re.compile(r"\d{4}-\d\d-\d\d(?:T\d\d:\d\d)?")
COMMANDS = ("ask", "next", "take", "search", "note", "diff", "blame", "log", "check")

needs_sh = pytest.mark.skipif(shutil.which("sh") is None, reason="there is no sh on this machine")
needs_tmux = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")


class Block(NamedTuple):
    """A block of shell lines, and the lines that are shown below it as printed."""

    script: str
    shown: tuple[str, ...]


def blocks() -> list[Block]:
    found: list[Block] = []
    for language, text in FENCE.findall(PAGE):
        if language == "sh":
            found.append(Block(text, ()))
        else:
            found[-1] = Block(found[-1].script, (*found[-1].shown, *text.splitlines()))
    return found


def ran(block: Block) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return subprocess.run(
        ["sh", "-e", "-c", block.script],
        env={**os.environ, "PATH": path},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=120,
    )


@needs_sh
def test_every_block_runs_and_prints_what_is_shown_below_it() -> None:
    shutil.copytree(DOSSIER, "documents")
    for block in blocks():
        done = ran(block)
        assert done.returncode == 0, f"{block.script}\n{done.stdout}"
        assert [line for line in block.shown if line not in done.stdout.splitlines()] == [], done.stdout
    case = Store(Path("research")).snapshot().case
    assert case.answer is not None and case.answer.status == "complete"
    assert (case.raws, case.summary.round, case.summary.spent) == ((1, 2), 2, 1)
    assert [record["noted"] for record in read_trace(Path("research/trace.jsonl")) if "noted" in record]


def test_it_shows_what_most_blocks_print_and_uses_the_commands_of_a_person() -> None:
    found = blocks()
    assert sum(bool(block.shown) for block in found) > len(found) / 2
    script = "".join(block.script for block in found)
    assert [command for command in COMMANDS if f"harness {command}" not in script] == []


def test_the_capture_is_of_these_lines_and_tells_nothing_of_the_machine() -> None:
    capture = CAPTURE.read_text(encoding="utf-8").splitlines()
    typed = [line for block in blocks() for line in block.script.splitlines()]
    assert [line[2:] for line in capture if line.startswith(("$ ", "> ")) or line == ">"] == typed
    assert not [line for line in capture if re.search(r"/(tmp|root|work)/", line)]


def without_dates(text: str) -> str:
    return WHEN.sub("DATE", text)


@pytest.mark.real
@needs_tmux
def test_a_real_terminal_shows_what_the_capture_has(tmp_path: Path) -> None:
    made = tmp_path / "session.txt"
    script = [sys.executable, str(DOCS / "capture.py"), str(made)]
    done = subprocess.run(script, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert without_dates(made.read_text(encoding="utf-8")) == without_dates(CAPTURE.read_text(encoding="utf-8"))
