"""`commit: true`: one commit a pass, of the case's own files alone, and never at the cost of a pass."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from harness import git
from harness.loop import run, step
from harness.session import Session
from tests.fakes import make_session, plan_for
from tests.trees import read_tree, write_tree


def git_in(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True)
    return done.stdout.decode()


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """A repository with a case in a folder of a Cyrillic name, and a file of the person's own."""
    subprocess.run(["git", "init", "-q", "-b", "main", str(tmp_path / "top")], check=True, capture_output=True)
    top = write_tree(tmp_path / "top", {"дело/question.md": "What is alpha?\n", "mine.txt": "one\n"})
    for key, value in (("user.name", "Анна"), ("user.email", "anna@example.org"), ("commit.gpgsign", "false")):
        git_in(top, "config", key, value)
    git_in(top, "add", "mine.txt")
    git_in(top, "commit", "-q", "-m", "begin")
    return top


def session(top: Path, **settings: Any) -> Session:
    return make_session(top / "дело", planner=plan_for("alpha", "beta"), commit=True, **settings)


def subjects(top: Path) -> list[str]:
    return git_in(top, "log", "--reverse", "--format=%s").strip().split("\n")


def names(top: Path, rev: str = "HEAD") -> list[str]:
    return sorted(filter(None, git_in(top, "show", "--format=", "--name-only", "-z", rev).split("\0")))


def hook(top: Path, name: str, body: str) -> None:
    path = top / ".git" / "hooks" / name
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(0o755)


def test_each_pass_is_one_commit(top: Path) -> None:
    passes = list(run(session(top)))
    told = subjects(top)
    assert len(told) == 1 + len([one for one in passes if not one.final or one.action == "answer"])
    assert told[1] == "round 1 · planner (function): alpha"
    assert told[2] == 'round 1 · search (fake): "alpha": 1 source from fake'
    assert told[3] == "round 1 · synthesizer (function): +1 fact, 0 gaps left"
    left = git_in(top, "status", "--porcelain", "-z", "--", "дело").split("\0")
    assert [name for name in left if name] == ["?? дело/raw_1.md", "?? дело/raw_2.md"]  # .harness ignores itself
    assert all(not one.notes for one in passes)


def test_raws_are_committed_only_where_they_are_wanted(top: Path) -> None:
    made = session(top)
    step(made), step(made)
    assert not any("raw_" in name for name in git_in(top, "ls-files", "-z").split("\0"))
    step(session(top, commit_raws=True))
    assert "дело/raw_1.md" in names(top)


def test_what_else_is_staged_stays_staged(top: Path) -> None:
    """Also a file of which one change is staged and another is not."""
    write_tree(top, {"mine.txt": "one\ntwo\n", "new.txt": "new\n"})
    git_in(top, "add", "mine.txt", "new.txt")
    write_tree(top, {"mine.txt": "one\ntwo\nthree\n"})
    before = git_in(top, "diff", "--cached", "--", "mine.txt", "new.txt"), git_in(top, "diff", "--", "mine.txt")
    step(session(top))
    assert names(top) == ["дело/next_query.txt", "дело/question.md", "дело/trace.jsonl"]
    assert (
        git_in(top, "diff", "--cached", "--", "mine.txt", "new.txt"),
        git_in(top, "diff", "--", "mine.txt"),
    ) == before


def test_no_identity_is_made_up(top: Path) -> None:
    git_in(top, "config", "--unset", "user.name")
    git_in(top, "config", "--unset", "user.email")
    (note,) = step(session(top)).notes
    assert note.startswith("no commit was made") and subjects(top) == ["begin"]
    assert "next_query.txt" in read_tree(top / "дело")


@pytest.mark.parametrize("state", ["MERGE_HEAD", "CHERRY_PICK_HEAD", "rebase-merge/done", "BISECT_LOG"])
def test_not_while_something_is_under_way(state: str, top: Path) -> None:
    write_tree(top / ".git", {state: "0" * 40 + "\n"})
    (note,) = step(session(top)).notes
    assert note in (
        "no commit was made: a " + what + " is under way" for what in ("merge", "cherry-pick", "rebase", "bisect")
    )
    assert subjects(top) == ["begin"]


def test_a_hook_that_changes_a_file_is_put_back_and_told(top: Path) -> None:
    hook(
        top,
        "pre-commit",
        'for f in $(find . -name next_query.txt -o -name trace.jsonl); do echo "# changed" >> "$f"; done',
    )
    (note,) = step(session(top)).notes
    assert (
        note == "a hook changed next_query.txt, trace.jsonl; put back as the pass left it, a copy is in .harness/hook"
    )
    left = read_tree(top / "дело")
    assert [name for name, text in left.items() if "# changed" in text] == [
        ".harness/hook/next_query.txt",
        ".harness/hook/trace.jsonl",
    ]
    assert len(subjects(top)) == 2


def test_a_hook_that_refuses_fails_no_pass(top: Path) -> None:
    hook(top, "pre-commit", "echo 'no research on Tuesdays' >&2; exit 1")
    done = step(session(top))
    assert done.action == "ask" and done.notes == (
        "no commit was made (git refused to commit: no research on Tuesdays)",
    )
    assert step(session(top)).action == "search"


def test_hooks_of_the_person_run(top: Path) -> None:
    hook(top, "commit-msg", 'echo "Refs: 7" >> "$1"')
    step(session(top))
    assert "Refs: 7" in git_in(top, "log", "-1", "--format=%B")


def test_a_signature_that_cannot_be_made_is_a_note(top: Path) -> None:
    git_in(top, "config", "commit.gpgsign", "true")
    git_in(top, "config", "gpg.program", "/bin/false")
    (note,) = step(session(top)).notes
    assert note.startswith("no commit was made") and subjects(top) == ["begin"]


@pytest.mark.parametrize("ignored", [True, False])
def test_an_ignored_case_and_one_outside_of_git_say_so(ignored: bool, top: Path, tmp_path: Path) -> None:
    if ignored:
        write_tree(top, {".gitignore": "/дело/\n"})
    case = top / "дело" if ignored else write_tree(tmp_path / "outside", {"question.md": "What is alpha?\n"})
    (note,) = step(make_session(case, commit=True)).notes
    assert "in no git repository, or ignored there" in note


def test_in_a_worktree_and_on_a_detached_head(top: Path, tmp_path: Path) -> None:
    git_in(top, "worktree", "add", "-q", "--detach", str(tmp_path / "tree"))
    write_tree(tmp_path / "tree", {"дело/question.md": "What is alpha?\n"})
    assert step(session(tmp_path / "tree")).notes == ()
    assert subjects(tmp_path / "tree") == ["begin", "round 1 · planner (function): alpha"] and subjects(top) == [
        "begin"
    ]


def test_what_a_hook_of_git_has_set_does_not_lead_elsewhere(
    top: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    assert step(session(top)).notes == ()
    monkeypatch.undo()
    assert len(subjects(top)) == 2 and not (tmp_path / "index").exists()


def test_a_lock_that_stays_is_a_note(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_tree(top / ".git", {"index.lock": ""})
    (note,) = step(session(top)).notes
    assert "index.lock" in note or "another git" in note.lower()
    assert git.is_repository(top)


def test_without_the_setting_nothing_is_committed(top: Path) -> None:
    step(make_session(top / "дело"))
    assert subjects(top) == ["begin"]
