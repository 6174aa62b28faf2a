"""What people say to a case from outside: a direction, stop, reopen."""

from __future__ import annotations

import codecs
import subprocess
import sys
from pathlib import Path

import pytest

from harness.errors import HarnessError, WrongCall
from harness.formats.question import parse_question
from harness.formats.text import decode
from harness.loop import run
from harness.steering import reopen, steer
from harness.store import Store
from tests.fakes import Crash, FailingDisk, ScriptedAgent, answer_with, make_session, plan_for, search_for
from tests.trees import read_tree, write_tree

QUESTION = "Сравни доставку продуктов: Самокат и Лавка.\n"


def directions(folder: Path) -> tuple[str, ...]:
    return parse_question(decode((folder / "question.md").read_bytes()).text).directions


def test_a_direction_is_dated_and_kept(tmp_path: Path) -> None:
    folder = write_tree(tmp_path, {"question.md": QUESTION})
    steer(Store(folder), "не сравнивать цены")
    steer(Store(folder), "смотри и 2023 год")
    assert [text.partition(": ")[2] for text in directions(folder)] == ["не сравнивать цены", "смотри и 2023 год"]
    assert read_tree(folder)["question.md"].startswith(QUESTION)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1251"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_direction_is_read_back_whatever_editor_saved_the_question(
    tmp_path: Path, encoding: str, newline: str
) -> None:
    before = (QUESTION * 3).replace("\n", newline).encode(encoding)
    folder = write_tree(tmp_path, {"question.md": before})
    steer(Store(folder), "не сравнивать цены")
    steer(Store(folder), "смотри и 2023 год")
    after = (folder / "question.md").read_bytes()
    assert after.startswith(before)
    assert [text.partition(": ")[2] for text in directions(folder)] == ["не сравнивать цены", "смотри и 2023 год"]
    assert parse_question(decode(after).text).text == (QUESTION * 3).strip()
    if newline == "\r\n":
        assert b"\n" not in after[len(before) :].replace("\r\n".encode(_bare(encoding)), b"").replace(b"\x00", b"")


def _bare(encoding: str) -> str:
    return {"utf-8-sig": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}.get(encoding, encoding)


def test_words_that_the_files_encoding_does_not_have_are_told(tmp_path: Path) -> None:
    folder = write_tree(tmp_path, {"question.md": (QUESTION * 3).encode("cp1251")})
    with pytest.raises(HarnessError, match="cannot hold these words") as told:
        steer(Store(folder), "比较")
    assert "UTF-8" in told.value.hint
    assert (folder / "question.md").read_bytes() == (QUESTION * 3).encode("cp1251")


@pytest.mark.parametrize("text", ["", "  "])
def test_an_empty_direction_is_a_wrong_call(tmp_path: Path, text: str) -> None:
    with pytest.raises(WrongCall):
        steer(Store(write_tree(tmp_path, {"question.md": QUESTION})), text)


@pytest.mark.parametrize("content", [None, "", codecs.BOM_UTF8])
def test_a_direction_without_a_question_is_told(tmp_path: Path, content: str | bytes | None) -> None:
    if content is not None:
        write_tree(tmp_path, {"question.md": content})
    with pytest.raises(HarnessError, match="no question yet"):
        steer(Store(tmp_path), "more")


STEER = "import sys; from pathlib import Path; from harness.steering import steer; from harness.store import Store\n"
STEER += "for n in range(5): steer(Store(Path(sys.argv[1])), f'{sys.argv[2]} {n}')"


def test_directions_from_several_processes_are_all_kept(tmp_path: Path) -> None:
    folder = write_tree(tmp_path, {"question.md": QUESTION})
    root = Path(__file__).parent.parent
    writers = [subprocess.Popen([sys.executable, "-c", STEER, str(folder), name], cwd=root) for name in ("a", "b", "c")]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    said = sorted(text.partition(": ")[2] for text in directions(folder))
    assert said == [f"{name} {number}" for name in "abc" for number in range(5)]


# Reopen --------------------------------------------------------------------------------------------------


@pytest.fixture
def answered(tmp_path: Path) -> Path:
    folder = write_tree(tmp_path / "case", {"question.md": "What is alpha?\n"})
    list(run(make_session(folder, planner=plan_for("alpha", "beta"), rounds=2)))
    return folder


def test_reopen_keeps_the_old_answer_and_counts_anew(answered: Path) -> None:
    before = read_tree(answered)["answer.md"]
    assert "answer_1.md" in reopen(make_session(answered))
    files = read_tree(answered)
    assert "answer.md" not in files and files["answer_1.md"] == before
    assert "reopened: 2\n" in files["summary.md"]
    planner = plan_for("alpha", "beta", "gamma", "delta", "epsilon")
    actions = [step.action for step in run(make_session(answered, planner=planner, rounds=2))]
    assert actions.count("search") == 2
    reopen(make_session(answered))
    assert {"answer_1.md", "answer_2.md"} <= set(read_tree(answered))


def test_reopen_killed_anywhere_and_done_again_is_the_same(answered: Path, tmp_path: Path) -> None:
    start = {name: text for name, text in read_tree(answered).items() if not name.startswith(".harness")}
    for at in range(1, 60):
        folder = write_tree(tmp_path / str(at), start)
        try:
            reopen(make_session(folder, disk=FailingDisk(at)))
            break
        except Crash:
            if (folder / "answer.md").exists():
                reopen(make_session(folder))
        files = read_tree(folder)
        assert files["answer_1.md"] == start["answer.md"] and "reopened: 2\n" in files["summary.md"]
        assert "answer.md" not in files and "answer_2.md" not in files
    assert at > 20


@pytest.mark.parametrize(
    ("answer", "told"), [(None, "no answer to reopen"), ("---\nstatus: draft\n---\nA\n", "a draft, not checked yet")]
)
def test_there_is_nothing_to_reopen(tmp_path: Path, answer: str | None, told: str) -> None:
    folder = write_tree(tmp_path, {"question.md": QUESTION, **({"answer.md": answer} if answer else {})})
    with pytest.raises(HarnessError, match=told):
        reopen(make_session(folder))


def test_a_direction_after_the_answer_counts_once_it_is_reopened(answered: Path) -> None:
    steer(Store(answered), "look at gamma")
    assert [step.action for step in run(make_session(answered))] == ["done"]
    reopen(make_session(answered))
    planner = ScriptedAgent(search_for("gamma"), answer_with("fact gamma [3.1]"))
    list(run(make_session(answered, planner=planner)))
    assert planner.packets[0].prompt.count("look at gamma") == 1
