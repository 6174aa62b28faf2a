"""`harness merge`: two folders, two branches, git's conflict; killed anywhere, the same command does the rest."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from harness.errors import HarnessError, WrongCall
from harness.joining import merge_one
from harness.options import Settings
from harness.settling import merge
from harness.verifying import verify
from tests.fakes import Crash, FailingDisk, make_session
from tests.program import harness
from tests.trees import read_tree, write_tree

QUESTION = "---\nentities: [Oka, Kama]\nfields: [length]\n---\nHow long are the Oka and the Kama?\n"
RAW = '---\nkind: search\nqueries:\n- {{query: "{0} length", provider: folder, outcome: found}}\n---\n'
RAW += "## 1. {0}\n- url: {0}.md\n- date: 2020-01-01\n\nThe {0} was {1} km long in 2020.\n"
SUMMARY = "---\nround: 1\nspent: 1\n---\n## Confirmed\n{}\n## Searches\n- 1 · {} length — found, 1 source\n"
OURS = {
    "question.md": QUESTION,
    "summary.md": SUMMARY.format("- Oka: length 2020 — 1,500 km [1.1]", "Oka"),
    "raw_1.md": RAW.format("Oka", "1,500"),
}
THEIRS = {
    "question.md": f"{QUESTION}\n## Directions\n- 2026-12-01: leave out prices\n",
    "summary.md": SUMMARY.format("- Kama: length 2020 — 1,805 km [1.1]", "Kama"),
    "raw_1.md": RAW.format("Kama", "1,805"),
    "answer.md": "---\nstatus: partial\nround: 1\n---\nThe Kama has 1,805 km [1.1].\n",
}


@pytest.fixture
def two(tmp_path: Path) -> tuple[Path, Path]:
    return write_tree(tmp_path / "ours", OURS), write_tree(tmp_path / "theirs", THEIRS)


def state(folder: Path) -> dict[str, str]:
    """The files but for what tells of the passes."""
    return {name: text for name, text in read_tree(folder).items() if not name.startswith((".harness", "trace"))}


def merged_state(folder: Path) -> None:
    told = state(folder)
    assert sorted(told) == ["answer_1.md", "question.md", "raw_1.md", "raw_2.md", "summary.md"]
    assert "- Oka: length 2020 — 1,500 km [1.1]\n- Kama: length 2020 — 1,805 km [2.1]\n" in told["summary.md"]
    assert told["summary.md"].startswith("---\nround: 2\nspent: 2\nreopened: 2\n")
    assert told["answer_1.md"].endswith("1,805 km [2.1].\n")
    assert told["raw_1.md"] == OURS["raw_1.md"] and told["raw_2.md"] == THEIRS["raw_1.md"]
    assert told["question.md"] == THEIRS["question.md"]


def test_two_folders_become_one(two: tuple[Path, Path]) -> None:
    ours, theirs = two
    before = read_tree(theirs)
    ran = harness("-C", str(ours), "merge", str(theirs))
    assert (ran.code, ran.out) == (0, f"{theirs}: +1 fact, 1 new raw, 1 of them renumbered, 1 direction\n")
    assert "note: no answer stands: each is kept as answer_N.md" in ran.err
    merged_state(ours)
    assert verify(ours, Settings()).findings == ()
    assert read_tree(theirs) == before
    again = state(ours)
    assert harness("-C", str(ours), "merge", str(theirs)).out == f"{theirs}: nothing new\n"
    assert state(ours) == again


def test_a_dry_run_shows_and_writes_nothing(two: tuple[Path, Path]) -> None:
    ours, theirs = two
    ran = harness("-C", str(ours), "merge", str(theirs), "--dry-run")
    assert "(nothing was written)\n  raw_1.md → raw_2.md\n  + Kama: length 2020 — 1,805 km [2.1]\n" in ran.out
    assert read_tree(ours) == OURS
    told = json.loads(harness("-C", str(ours), "merge", str(theirs), "--dry-run", "--json").out)
    assert told[0]["raws"] == [[1, 2]]


def test_killed_anywhere_the_same_command_does_the_rest(two: tuple[Path, Path]) -> None:
    ours, theirs = two
    at, done = 0, False
    while not done:
        at += 1
        here = shutil.copytree(ours, ours.parent / f"killed-{at}")
        try:
            merge_one(make_session(here, disk=FailingDisk(at)), str(theirs))
            done = True
        except Crash:
            merge_one(make_session(here), str(theirs))
        for left in here.glob(".*.tmp"):
            left.unlink()  # the next pass does
        merged_state(here)
    assert at > 20


def test_our_own_answer_is_set_aside_too(two: tuple[Path, Path]) -> None:
    ours, theirs = two
    write_tree(ours, {"answer.md": "---\nstatus: complete\n---\nNothing.\n", "next_query.txt": "# round: 2\nOka km\n"})
    merge_one(make_session(ours), str(theirs))
    told = state(ours)
    assert "Nothing." in told["answer_1.md"] and "[2.1]" in told["answer_2.md"] and "answer.md" not in told
    assert told["next_query.txt"] == ""


def test_another_question_is_refused_and_both_are_shown(two: tuple[Path, Path]) -> None:
    ours, theirs = two
    write_tree(theirs, {"question.md": "How deep are they?\n"})
    ran = harness("-C", str(ours), "merge", str(theirs))
    assert ran.code == 1
    assert "  ours: How long are the Oka and the Kama?\n  theirs: How deep are they?\n" in ran.err
    assert read_tree(ours) == OURS
    assert harness("-C", str(ours), "merge", str(theirs), "--force").code == 0
    assert state(ours)["question.md"] == QUESTION


def test_a_raw_of_ours_that_is_not_folded_is_named(two: tuple[Path, Path]) -> None:
    ours, theirs = two
    write_tree(ours, {"raw_2.md": RAW.format("Ob", "3,650")})
    with pytest.raises(HarnessError, match=r"a raw is not folded yet: .*raw_2\.md"):
        merge_one(make_session(ours), str(theirs))


def test_a_raw_of_theirs_that_is_not_folded_comes_last(two: tuple[Path, Path]) -> None:
    ours, theirs = two
    write_tree(theirs, {"raw_2.md": RAW.format("Ob", "3,650")})
    merge_one(make_session(ours), str(theirs))
    assert state(ours)["raw_3.md"] == RAW.format("Ob", "3,650")
    assert state(ours)["summary.md"].startswith("---\nround: 2\n")


@pytest.mark.parametrize(("name", "what"), [("nowhere", "neither a folder nor a revision"), (".", "the case itself")])
def test_what_is_no_other_case_is_refused(
    two: tuple[Path, Path], name: str, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(two[0])
    with pytest.raises(WrongCall, match=what):
        merge_one(make_session(two[0]), name)


# git ----------------------------------------------------------------------------------------------


def git(folder: Path, *words: str, refused: bool = False) -> None:
    named = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    done = subprocess.run(["git", "-C", str(folder), *named, *words], check=False, capture_output=True)
    assert bool(done.returncode) is refused, done.stdout + done.stderr


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Two branches that each folded a raw_1.md; in a subfolder, as most cases are."""
    root = tmp_path / "work"
    case = write_tree(root / "research", {"question.md": QUESTION})
    git(tmp_path, "init", "-q", "-b", "main", str(root))
    git(root, "add", "-A")
    git(root, "commit", "-qm", "a question")
    git(root, "checkout", "-qb", "theirs")
    write_tree(case, {**THEIRS, "raw_2.md": RAW.format("Ob", "3,650"), "trace.jsonl": '{"role": "theirs"}\n'})
    git(root, "add", "-A")
    git(root, "commit", "-qm", "theirs")
    git(root, "checkout", "-q", "main")
    write_tree(case, {**OURS, "trace.jsonl": '{"role": "ours"}\n'})
    git(root, "add", "-A")
    git(root, "commit", "-qm", "ours")
    return root


def test_a_conflict_is_settled_whole(repository: Path) -> None:
    case = repository / "research"
    git(repository, "merge", "theirs", refused=True)
    assert "<<<<<<<" in (case / "summary.md").read_text(encoding="utf-8")
    ran = harness("-C", str(case), "merge")
    assert (ran.code, ran.out) == (0, "MERGE_HEAD: +1 fact, 2 new raws, 2 of them renumbered\n")
    assert f"note: git add -A {case}, then git commit, ends git's merge" in ran.err
    told = state(case)
    assert told.pop("raw_3.md") == RAW.format("Ob", "3,650")
    assert (told["raw_1.md"], told["raw_2.md"]) == (OURS["raw_1.md"], THEIRS["raw_1.md"])
    assert (case / "trace.jsonl").read_text(encoding="utf-8").startswith('{"role": "ours"}\n{')
    assert "<<<<<<<" not in "".join(read_tree(case).values())
    again = state(case)
    assert harness("-C", str(case), "merge").out == "MERGE_HEAD: nothing new\n"
    assert state(case) == again
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "both")


def test_a_branch_gives_what_its_conflict_gives(repository: Path) -> None:
    other = shutil.copytree(repository, repository.parent / "other")
    git(repository, "merge", "theirs", refused=True)
    merge(make_session(repository / "research"), ())
    merge(make_session(other / "research"), ("theirs",))
    assert state(repository / "research") == state(other / "research")


def test_a_conflict_killed_anywhere_is_settled_by_the_same_command(repository: Path) -> None:
    git(repository, "merge", "theirs", refused=True)
    whole = shutil.copytree(repository, repository.parent / "whole")
    merge(make_session(whole / "research"), ())
    wanted = state(whole / "research")
    for at in range(1, 100, 7):
        here = shutil.copytree(repository, repository.parent / f"killed-{at}") / "research"
        try:
            merge(make_session(here, disk=FailingDisk(at)), ())
        except Crash:
            merge(make_session(here), ())
        for left in here.glob(".*.tmp"):
            left.unlink()
        assert state(here) == wanted, at


def test_without_a_conflict_there_is_nothing_to_settle(repository: Path) -> None:
    with pytest.raises(WrongCall, match="nothing to merge"):
        merge(make_session(repository / "research"), ())
