"""`commit: true` where something goes wrong: hooks that hang or add files, other gits and other cases at work."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from harness import git
from harness.loop import step
from harness.onecommit import commit
from tests.test_committing import git_in, hook, names, session, subjects
from tests.trees import read_tree, write_tree


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """A repository with a case in a folder of a Cyrillic name, and a file of the person's own."""
    top = write_tree(tmp_path / "top", {"дело/question.md": "What is alpha?\n", "mine.txt": "one\n"})
    git_in(top, "init", "-q", "-b", "main")
    for key, value in (("user.name", "Анна"), ("user.email", "anna@example.org"), ("commit.gpgsign", "false")):
        git_in(top, "config", key, value)
    git_in(top, "add", "mine.txt")
    git_in(top, "commit", "-q", "-m", "begin")
    return top


OWN = ["дело/next_query.txt", "дело/question.md", "дело/trace.jsonl"]


def test_what_a_hook_adds_is_taken_out_of_the_commit_again(top: Path) -> None:
    write_tree(top, {"mine.txt": "unfinished\n", "other.txt": "new\n"})
    hook(top, "pre-commit", "echo formatted > дело/next_query.txt; git add -A")
    changed, added = step(session(top)).notes
    assert changed.startswith("a hook changed next_query.txt; put back")
    assert "into the commit; taken out of it again" in added and "mine.txt" in added and "other.txt" in added
    assert names(top) == OWN
    assert git_in(top, "show", "HEAD:дело/next_query.txt") == read_tree(top / "дело")["next_query.txt"]
    assert git_in(top, "status", "--porcelain", "--", "mine.txt", "other.txt") == " M mine.txt\n?? other.txt\n"


def test_a_hook_that_refuses_leaves_nothing_staged(top: Path) -> None:
    hook(top, "pre-commit", "exit 1")
    (note,) = step(session(top)).notes
    assert "git refused to commit" in note
    assert git_in(top, "diff", "--cached", "--name-only") == ""


def test_a_hook_that_hangs_is_ended_and_leaves_no_lock(top: Path) -> None:
    hook(top, "pre-commit", "sleep 60")
    with pytest.raises(git.GitFailed, match=r"0\.5 seconds"):
        commit(top / "дело", ["question.md"], "a pass", seconds=0.5)
    assert list((top / ".git").rglob("*.lock")) in ([], [top / ".git" / "harness.lock"])
    assert git_in(top, "diff", "--cached", "--name-only") == ""
    hook(top, "pre-commit", "exit 0")
    hook(top, "post-commit", "sleep 60")  # the commit is made by then
    assert commit(top / "дело", ["question.md"], "a pass", seconds=2) == ()
    assert subjects(top) == ["begin", "a pass"] and git_in(top, "status", "--porcelain") == ""


def test_a_direction_that_comes_while_a_hook_runs_stays(top: Path) -> None:
    said = "\\n## Directions\\n- 2026-12-01: leave out prices\\n"
    hook(top, "pre-commit", f"printf '{said}' >> дело/question.md")
    assert step(session(top)).notes == ()
    assert "leave out prices" in read_tree(top / "дело")["question.md"]


def test_a_commit_that_somebody_makes_at_the_same_moment_is_not_undone(top: Path) -> None:
    write_tree(top, {"mine.txt": "theirs\n"})
    theirs = "env -u GIT_INDEX_FILE git commit -q --no-verify -m theirs mine.txt"
    hook(top, "pre-commit", f"[ -e .git/once ] && exit 0; touch .git/once; {theirs}")
    assert step(session(top)).notes == ()
    assert subjects(top)[1] == "theirs" and names(top) == OWN
    assert git_in(top, "show", "HEAD:mine.txt") == "theirs\n"


def test_a_lock_that_another_git_holds_for_a_moment(top: Path) -> None:
    lock = top / ".git" / "index.lock"
    lock.write_text("", encoding="utf-8")
    threading.Timer(0.4, lock.unlink).start()
    assert step(session(top)).notes == ()
    assert len(subjects(top)) == 2


def test_several_cases_at_once_undo_nothing_of_each_other(top: Path) -> None:
    write_tree(top, {"second/next_query.txt": "", "дело/next_query.txt": ""})

    def work(name: str) -> None:
        for number in range(4):
            write_tree(top, {f"{name}/next_query.txt": f"query {number}\n"})
            commit(top / name, ["next_query.txt"], f"{name} {number}")

    threads = [threading.Thread(target=work, args=(name,)) for name in ("дело", "second")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(subjects(top)) == 9
    for rev, told in zip(git_in(top, "rev-list", "--reverse", "HEAD").split()[1:], subjects(top)[1:], strict=True):
        assert names(top, rev) == [f"{told.split()[0]}/next_query.txt"]
    assert git_in(top, "status", "--porcelain", "--untracked-files=no") == ""
    git_in(top, "fsck", "--strict")


def test_the_first_commit_of_a_repository(top: Path, tmp_path: Path) -> None:
    new = tmp_path / "new"
    new.mkdir()
    git_in(new, "init", "-q", "-b", "main")
    for key in ("user.name", "user.email"):
        git_in(new, "config", key, "a@example.org")
    write_tree(new, {"staged.txt": "x\n", "дело/question.md": "What is alpha?\n"})
    git_in(new, "add", "staged.txt")
    assert step(session(new)).notes == ()
    assert subjects(new) == ["round 1 · planner (function): alpha"] and names(new) == OWN
    assert git_in(new, "diff", "--cached", "--name-only") == "staged.txt\n"


def test_a_file_that_is_gone_is_gone_in_the_commit(top: Path) -> None:
    write_tree(top, {"дело/answer.md": "draft\n"})
    commit(top / "дело", ["answer.md", "question.md"], "a draft")
    (top / "дело" / "answer.md").unlink()
    commit(top / "дело", ["answer.md", "question.md"], "dropped")
    assert names(top) == ["дело/answer.md"] and git_in(top, "status", "--porcelain") == ""


def test_a_submodule_is_the_repository_of_its_case(top: Path, tmp_path: Path) -> None:
    outer = tmp_path / "outer"
    outer.mkdir()
    git_in(outer, "init", "-q")
    git_in(outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(top), "inner")
    for key in ("user.name", "user.email"):
        git_in(outer / "inner", "config", key, "a@example.org")
    write_tree(outer / "inner", {"дело/question.md": "What is alpha?\n"})
    assert step(session(outer / "inner")).notes == ()
    assert len(subjects(outer / "inner")) == 2
    assert git_in(outer, "diff", "--cached", "--name-only").split() == [".gitmodules", "inner"]


def test_a_name_that_the_environment_gives_counts(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for key in ("user.name", "user.email"):
        git_in(top, "config", "--unset", key)
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "CI")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "ci@example.org")
    assert step(session(top)).notes == ()
    assert git_in(top, "log", "-1", "--format=%an <%ae>") == "CI <ci@example.org>\n"
