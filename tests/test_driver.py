"""git's merge driver: both sides of a summary stand in it, marked, and the command that joins the cases is named."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from harness.errors import BrokenFile
from harness.store.reading import read_state
from tests.program import COMMAND
from tests.test_committing import git_in
from tests.test_history import FIRST, SECOND, commit, repository
from tests.trees import write_tree

OURS = FIRST.replace("5 bn", "8 bn")
FAR = FIRST.replace("- B: staff 2020 — 12 [1.2]\n", "- B: staff 2020 — 12 [1.2]\n- D: at the end [1.1]\n")


def merged(tmp_path: Path, ours: str, theirs: str) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """Two branches that both changed the summary, and what `git merge` said."""
    top = repository(tmp_path / "top")
    write_tree(top, {"моё дело/summary.md": FIRST, ".gitattributes": "summary.md merge=harness\n"})
    commit(top, "base")
    git_in(top, "config", "merge.harness.driver", " ".join(f"'{word}'" for word in COMMAND) + " git-merge %O %A %B %P")
    for branch, text in (("theirs", theirs), ("main", ours)):
        git_in(top, "checkout", "-q", *(("-b", branch) if branch == "theirs" else (branch,)))
        write_tree(top, {"моё дело/summary.md": text})
        commit(top, branch)
    words = ["git", "-C", str(top), "-c", "user.name=A", "-c", "user.email=a@example.org", "merge", "theirs"]
    return top, subprocess.run(words, check=False, capture_output=True, text=True, encoding="utf-8")


def test_lines_that_both_changed_stand_between_marks(tmp_path: Path) -> None:
    top, done = merged(tmp_path, OURS, SECOND)
    text = (top / "моё дело" / "summary.md").read_text(encoding="utf-8")
    assert done.returncode == 1
    assert text.index("<<<<<<< ours") < text.index("8 bn") < text.index("=======") < text.index("6 bn [2.1]")
    assert "моё дело/summary.md: both sides went on" in done.stderr
    assert "harness -C 'моё дело' merge" in done.stderr
    with pytest.raises(BrokenFile, match="an unresolved merge"):
        read_state(top / "моё дело" / "summary.md")
    assert "UU" in git_in(top, "status", "--porcelain")


def test_what_would_merge_by_itself_is_a_conflict_too(tmp_path: Path) -> None:
    """[2.1] of either side may be another raw."""
    top, done = merged(tmp_path, FIRST.replace("---\nround", "---\nmine: 1\nround"), FAR)
    text = (top / "моё дело" / "summary.md").read_text(encoding="utf-8")
    assert done.returncode == 1 and text.startswith("<<<<<<< ours\n---\nmine: 1")
    assert text.count("- B: staff") == 2 and text.endswith("- C\n>>>>>>> theirs\n")


def test_where_one_side_alone_went_on_git_needs_no_help(tmp_path: Path) -> None:
    top, done = merged(tmp_path, OURS, FIRST + "\n")
    assert done.returncode == 1
    git_in(top, "merge", "--abort")
    top, done = merged(tmp_path / "other", OURS, OURS)
    assert done.returncode == 0 and (top / "моё дело" / "summary.md").read_text(encoding="utf-8") == OURS
