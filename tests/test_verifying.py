"""`harness verify` names the file, the round and the facts that a careless change touched, and nothing else."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.errors import HarnessError
from harness.handover import hand_out, search_due, take_in
from harness.loop import run
from harness.options import Settings
from harness.steering import reopen
from harness.unpacking import unpack
from harness.verifying import Verified, verify
from tests.fakes import copy_facts, make_session, plan_for, search_for
from tests.program import harness
from tests.trees import read_tree, write_tree

EXAMPLE = Path(__file__).parent.parent / "research"


@pytest.fixture
def case(tmp_path: Path) -> Path:
    return shutil.copytree(EXAMPLE, tmp_path / "case", ignore=shutil.ignore_patterns(".harness"))


def found(case: Path, head: str = "") -> Verified:
    return verify(case, Settings(), head)


def swap(case: Path, name: str, old: str, new: str) -> None:
    path = case / name
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_what_nobody_touched_has_no_finding(case: Path) -> None:
    told = found(case)
    assert told.findings == () and told.notes == ()
    assert (told.files, len(told.head)) == (12, 64) and told.facts > 20
    ran = harness("verify", str(case))
    assert ran.code == 0 and ran.out.endswith(f"nothing was changed\nhead {told.head}\n")


def test_a_case_by_hand_reopened_and_edited_has_none(tmp_path: Path) -> None:
    case = write_tree(tmp_path / "case", {"question.md": "What is alpha?\n"})
    session = make_session(case)
    hand_out(session)
    take_in(session, search_for("alpha"))
    search_due(session)
    take_in(session, str(copy_facts(hand_out(session))))
    write_tree(case, {"raw_2.md": "A note of mine: fact beta\n"})  # adopted
    list(run(make_session(case, planner=plan_for("alpha"))))
    reopen(session)
    with (case / "summary.md").open("a", encoding="utf-8") as file:
        file.write("## Mine\n- a remark\n")
    write_tree(case, {"next_query.txt": "gamma\n"})
    list(run(make_session(case, planner=plan_for("alpha", "gamma"))))
    assert "answer_1.md" in read_tree(case)
    assert found(case).findings == ()


def edit_raw(case: Path) -> None:
    swap(case, "raw_2.md", "4,643", "4,644")


def edit_fact(case: Path) -> None:
    swap(case, "summary.md", "37,015,151", "37,015,152")


def drop_raw(case: Path) -> None:
    (case / "raw_3.md").unlink()


def drop_fact(case: Path) -> None:
    lines = (case / "summary.md").read_text(encoding="utf-8").split("\n")
    (case / "summary.md").write_text("\n".join(x for x in lines if "poverty rate 2011 est" not in x), encoding="utf-8")


def renumber(case: Path) -> None:
    (case / "raw_8.md").rename(case / "raw_9.md")


def edit_answer(case: Path) -> None:
    swap(case, "answer.md", "Kazakhstan", "Kazakstan")


def edit_source(case: Path) -> None:
    swap(case, "summary.md", "[2.3] 2025-11-12", "[2.3] 2024-11-12")


@pytest.mark.parametrize(
    ("change", "file", "number", "fact"),
    [
        (edit_raw, "raw_2.md", 2, "Uzbekistan: highest point 2025"),
        (edit_fact, "summary.md", 8, "37,015,152"),
        (drop_raw, "raw_3.md", 3, "Kyrgyzstan: poverty rate 2021"),
        (drop_fact, "summary.md", 8, "Kazakhstan: poverty rate 2011 est."),
        (renumber, "raw_8.md", 8, "Tajikistan: poverty rate 2013"),
        (edit_answer, "answer.md", 8, ""),
        (edit_source, "summary.md", 2, "Xazrat Sulton"),
    ],
)
def test_a_careless_change_is_named(
    change: Callable[[Path], None], file: str, number: int, fact: str, case: Path
) -> None:
    change(case)
    told = [one for one in found(case).findings if one.file == file and one.round in (number, 0)]
    assert told and (not fact or any(fact in line for one in told for line in one.facts))
    ran = harness("verify", str(case))
    assert ran.code == 1 and f"{file}: " in ran.out


def test_a_number_that_the_raw_no_longer_has_is_named_too(case: Path) -> None:
    edit_raw(case)
    assert any("4,643 m does not stand in [2.3]" in one.what or "4,643" in one.what for one in found(case).findings)


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (lambda lines: [*lines[:4], *lines[5:]], 5),  # one is missing
        (lambda lines: [*lines[:4], lines[5], lines[4], *lines[6:]], 5),  # two changed places
        (lambda lines: lines[3:], 1),  # the beginning is cut off
        (lambda lines: [*lines[:4], lines[4].replace('"round": 2', '"round": 3'), *lines[5:]], 6),
        (lambda lines: [*lines[:6], "{torn", *lines[6:]], 7),
    ],
)
def test_a_trace_that_was_changed_is_named_by_its_line(
    change: Callable[[list[str]], list[str]], line: int, case: Path
) -> None:
    path = case / "trace.jsonl"
    lines = path.read_text(encoding="utf-8").split("\n")
    path.write_text("\n".join(change(lines)), encoding="utf-8")
    assert found(case).findings[0].file == f"trace.jsonl:{line}"


def test_a_head_kept_elsewhere_tells_that_the_trace_was_made_anew(case: Path) -> None:
    head = found(case).head
    assert found(case, head).findings == () and found(case, head[:12].upper()).findings == ()
    assert found(case, "0" * 64).findings[0].file == "trace.jsonl"
    assert harness("verify", str(case), "--head", "0" * 12).code == 1
    ran = harness("verify", str(case), "--head", head[:1])
    assert ran.code == 2 and "a head has more characters" in ran.err


def test_without_a_trace_only_citations_can_be_checked(case: Path) -> None:
    (case / "trace.jsonl").unlink()
    told = found(case)
    assert told.findings == () and told.head == "" and "there is no trace.jsonl" in told.notes[0]


def test_another_question_is_named(tmp_path: Path) -> None:
    case = write_tree(tmp_path / "case", {"question.md": "What is alpha?\n"})
    list(run(make_session(case)))
    assert found(case).findings == ()
    write_tree(case, {"question.md": "What is omega?\n"})
    assert [one.file for one in found(case).findings] == ["question.md"]
    (case / "question.md").unlink()
    assert [(one.file, one.what) for one in found(case).findings] == [("question.md", "is gone")]


RECORDED = ("raw_1.md", "raw_5.md", "summary.md", "answer.md", "trace.jsonl")


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(RECORDED), st.data())
def test_a_letter_changed_anywhere_is_found(case: Path, name: str, data: st.DataObject) -> None:
    path = case / name
    whole = path.read_bytes()
    last = (
        whole.rstrip(b"\n").rfind(b"\n") if name == "trace.jsonl" else len(whole)
    )  # of the last line only a head tells
    at = data.draw(st.integers(0, last - 1).filter(lambda at: whole[at : at + 1].isalnum()))
    try:
        path.write_bytes(whole[:at] + (b"x" if whole[at : at + 1] != b"x" else b"y") + whole[at + 1 :])
        assert found(case).findings
    finally:
        path.write_bytes(whole)


# Archives ----------------------------------------------------------------------------------------


def archive(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, data in files.items():
            made.writestr(name, data)
    return path


@pytest.mark.parametrize("top", ["", "research/", "Дело 1/research/"])
def test_a_zipped_case_is_verified_like_its_folder(top: str, case: Path, tmp_path: Path) -> None:
    files = {top + name: text.encode() for name, text in read_tree(case).items()}
    path = archive(tmp_path / "case.zip", files | {f"{top}evil.sh": b"x", f"{top}sub/question.md": b"Another?\n"})
    ran = harness("verify", str(path))
    assert ran.code == 0 and found(case).head in ran.out
    files[f"{top}raw_2.md"] += b"x"
    assert "raw_2.md: was changed" in harness("verify", str(archive(tmp_path / "other.zip", files))).out


def test_no_name_leads_out_of_the_folder(tmp_path: Path) -> None:
    files = {
        "question.md": b"What?\n",
        "../raw_1.md": b"x",
        "/raw_2.md": b"x",
        "..\\raw_3.md": b"x",
        "a/../../raw_4.md": b"x",
    }
    path = archive(tmp_path / "slip.zip", files)
    target = tmp_path / "deep" / "target"
    target.mkdir(parents=True)
    unpack(path, target)
    assert read_tree(tmp_path / "deep") == {"target/question.md": "What?\n"}


def test_a_bomb_is_stopped(tmp_path: Path) -> None:
    path = archive(tmp_path / "bomb.zip", {"question.md": b"What?\n", "raw_1.md": b"\0" * 3_000_000})
    (tmp_path / "target").mkdir()
    with pytest.raises(HarnessError, match="unpacks to too much"):
        unpack(path, tmp_path / "target", 1_000_000)
    assert sum(file.stat().st_size for file in (tmp_path / "target").iterdir()) < 1_100_000


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"x.txt": b""}, "no case in this archive"),
        ({"a/question.md": b"x", "b/question.md": b"x"}, "several cases in this archive: a, b"),
    ],
)
def test_an_archive_without_one_case_is_refused(files: dict[str, bytes], told: str, tmp_path: Path) -> None:
    ran = harness("verify", str(archive(tmp_path / "case.zip", files)))
    assert ran.code == 1 and told in ran.err


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "noise.zip"
    path.write_bytes(b"PK\x03\x04 no archive")
    ran = harness("verify", str(path))
    assert ran.code == 1 and "this archive cannot be read" in ran.err


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_a_damaged_archive_is_refused(method: int, tmp_path: Path) -> None:
    path = tmp_path / "case.zip"
    with zipfile.ZipFile(path, "w", method) as made:
        made.writestr("question.md", "What? " * 5_000)
    data = bytearray(path.read_bytes())
    data[60:80] = b"\xff" * 20
    path.write_bytes(data)
    ran = harness("verify", str(path))
    assert ran.code == 1 and "this archive cannot be read" in ran.err
