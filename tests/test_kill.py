"""A real `kill -9` at random moments of a real run: the case ends as if nothing had happened."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness.store.trace import read_trace
from tests.trees import write_tree
from tests.worlds import files_of

KILLS = 15
FIRMS = ("Samokat", "VkusVill", "Lavka", "Kuper", "Vprok", "Utkonos")
QUESTION = (
    f"---\nentities: [{', '.join(FIRMS)}]\nfields: [revenue, staff]\nrounds: 14\n---\nCompare grocery delivery.\n"
)
START_SECONDS = 30.0  # a slow machine needs seconds to import; a process that never claims the case has failed

pytestmark = [pytest.mark.real, pytest.mark.skipif(os.name == "nt", reason="there is no kill -9 on Windows")]


def documents() -> dict[str, str]:
    return {
        f"docs/{firm.lower()}.md": f"# {firm} in 2024\nDate: 2025-02-{at + 10}\n\n"
        f"{firm} had a revenue of {at * 17 + 3}.5 bn roubles in 2024. The staff of {firm} was {at + 2},400 people.\n"
        for at, firm in enumerate(FIRMS)
        if at % 3  # every third firm is in no document
    }


def begin(folder: Path, case: str) -> subprocess.Popen[bytes]:
    """A run that has claimed the case, in a process of its own."""
    claim = folder / case / ".harness" / "claim.json"
    command = [sys.executable, "-m", "harness", "-C", case, "run", "--in", "docs"]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None and not (claim.exists() and str(process.pid) in claim.read_text(encoding="utf-8")):
        assert time.monotonic() < deadline, "the run does not begin"
        time.sleep(0.001)
    return process


def test_a_run_killed_again_and_again_ends_as_an_undisturbed_one(tmp_path: Path) -> None:
    write_tree(tmp_path, {**documents(), "calm/question.md": QUESTION, "killed/question.md": QUESTION})
    calm = begin(tmp_path, "calm")
    started = time.monotonic()
    assert calm.wait(120) == 4  # partial: two firms are in no document
    took = time.monotonic() - started

    chance, killed = random.Random(20261129), 0
    for _ in range(KILLS):
        process = begin(tmp_path, "killed")
        time.sleep(chance.uniform(0, 2 * took / KILLS))
        process.send_signal(signal.SIGKILL)
        killed += process.wait() == -signal.SIGKILL
    assert killed > KILLS / 3, "the run was over too soon for this test to mean anything"
    assert begin(tmp_path, "killed").wait(120) == 4

    assert files_of(tmp_path / "killed") == files_of(tmp_path / "calm")
    written = {record["file"]: record["sha256"] for record in read_trace(tmp_path / "killed" / "trace.jsonl")}
    assert "answer.md" in written and "summary.md" in written
