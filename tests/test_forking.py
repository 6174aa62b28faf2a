"""`harness fork`: a new case from an earlier round, whole or not at all, and never over another."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from harness.errors import HarnessError, WrongCall
from harness.forking import fork
from harness.formats.summary import parse_summary
from harness.options import Settings
from harness.store.fresh import fresh_case
from harness.store.trace import read_trace
from harness.verifying import verify
from tests.fakes import Crash, FailingDisk
from tests.program import harness
from tests.trees import read_tree, write_tree

EXAMPLE = Path(__file__).parent.parent / "research"


@pytest.fixture
def case(tmp_path: Path) -> Path:
    return shutil.copytree(EXAMPLE, tmp_path / "case", ignore=shutil.ignore_patterns(".harness"))


@pytest.mark.parametrize("option", ["-C", "--to"])
def test_a_fork_stands_where_the_case_stood_after_a_round(case: Path, option: str) -> None:
    new = case.parent / "new"
    before = read_tree(case)
    ran = harness("-C", str(case), "fork", "3", option, str(new))
    assert (ran.code, ran.out) == (0, f"{new} goes on from round 3: question, summary, 3 raws\n")
    assert f"harness -C {new} run goes on from there" in ran.err
    there = read_tree(new)
    raws = [f"raw_{number}.md" for number in (1, 2, 3)]
    assert {name for name in there if not name.startswith(".harness")} == {
        "question.md",
        "summary.md",
        "trace.jsonl",
        *raws,
    }
    assert all(there[name] == before[name] for name in ("question.md", *raws))
    assert parse_summary(there["summary.md"]).round == 3
    first = next(read_trace(new / "trace.jsonl"))["forked"]
    assert isinstance(first, dict) and (first["from"], first["round"]) == ("../case", 3)
    assert verify(new, Settings()).findings == ()
    assert read_tree(case) == before


def test_a_round_that_is_not_known_is_refused_with_those_that_are(case: Path) -> None:
    with pytest.raises(WrongCall) as refused:
        fork(case, 30, case.parent / "new")
    assert "known: 1, 2, 3, 4, 5, 6, 7, 8" in refused.value.hint
    assert not (case.parent / "new").exists()


def test_nothing_is_overwritten(case: Path) -> None:
    write_tree(case.parent, {"new/notes.txt": "mine"})
    with pytest.raises(HarnessError, match="something is there already"):
        fork(case, 3, case.parent / "new")
    assert read_tree(case.parent / "new") == {"notes.txt": "mine"}


def test_an_empty_folder_may_be_there(case: Path) -> None:
    (case.parent / "new").mkdir()
    assert fork(case, 1, case.parent / "new").raws == 1


def test_raws_that_are_gone_are_named(case: Path) -> None:
    (case / "raw_2.md").unlink()
    ran = harness("-C", str(case), "fork", "3", "--to", str(case.parent / "new"))
    assert ran.out.endswith("2 raws; not there any more: raw_2.md\n")


def test_without_a_case_there_is_nothing_to_fork(tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match="there is no case to fork"):
        fork(tmp_path, 1, tmp_path / "new")


def test_a_case_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    new, at = tmp_path / "new", 0
    while not new.exists():
        at += 1
        try:
            with fresh_case(new, FailingDisk(at)) as store:
                store.make_case("What?")
        except Crash:
            assert new.exists() is False or (new / "question.md").read_text(encoding="utf-8") == "What?"
    assert at > 5
    assert (new / "question.md").read_text(encoding="utf-8") == "What?"
