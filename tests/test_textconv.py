"""Plain `git diff` shows the facts of a summary, once git is told how."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.program import COMMAND
from tests.test_history import by_hand
from tests.trees import write_tree


def test_plain_git_shows_facts(tmp_path: Path) -> None:
    case = by_hand(tmp_path / "top")
    write_tree(case, {".gitattributes": "summary.md diff=harness\n"})
    command = " ".join(f"'{word}'" for word in (*COMMAND, "git-textconv"))
    git = ["git", "-C", str(case)]
    subprocess.run([*git, "config", "diff.harness.textconv", command], check=True, capture_output=True)
    words = [*git, "diff", "-U0", "HEAD~1", "HEAD", "--", "summary.md"]
    told = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    lines = [line for line in told.split("\n") if line.startswith(("+", "-")) and not line.startswith(("+++", "---"))]
    assert lines == [
        "-- A: revenue 2020 — 5 bn [1.1]",
        "-- B: staff 2020 — 12 [1.2]",
        "+- A: revenue 2020 — 6 bn [2.1]",
        "+- C: staff 2021 — 7 [2.2]",
        "-- C",
    ]
