"""The store: one atomic write at a time, nothing replaced by accident, the reason told when the disk refuses."""

from __future__ import annotations

import errno
import os
import stat
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.errors import BrokenFile, HarnessError, StateMoved
from harness.store import Base, Store
from harness.store.disk import Disk
from tests.fakes import Crash, FailingDisk, QuickDisk, StubbornDisk
from tests.trees import read_tree, write_tree

QUESTION = {"question.md": "What is known?\n"}
OLD, NEW = "---\nround: 0\n---\n## Confirmed\n- old [1.1]\n", "---\nround: 0\n---\n## Confirmed\n- new [1.1]\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "case", {**QUESTION, "summary.md": OLD})


def commit(store: Store, text: str | None = NEW, name: str = "summary.md") -> None:
    store.commit(name, text, Base.of(store.snapshot(), name), {"role": "test"})


def state(folder: Path) -> dict[str, str]:
    """The files of the case, without the record and the helpers."""
    files = read_tree(folder)
    return {name: files[name] for name in files if not name.startswith(".harness/") and name != "trace.jsonl"}


# One write -----------------------------------------------------------------------------------------


def test_a_commit_replaces_one_file_and_leaves_nothing_else(folder: Path) -> None:
    commit(Store(folder))
    assert state(folder) == {**QUESTION, "summary.md": NEW}


def test_a_commit_of_none_removes_the_file(folder: Path) -> None:
    commit(Store(folder), None)
    assert state(folder) == QUESTION


def test_the_helpers_ignore_themselves_in_git(folder: Path) -> None:
    commit(Store(folder))
    assert (folder / ".harness" / ".gitignore").read_text(encoding="utf-8") == "*\n"


def test_what_is_written_is_utf_8_with_plain_line_ends(folder: Path) -> None:
    commit(Store(folder), "## Подтверждено\n- факт [1.1]\n")
    assert (folder / "summary.md").read_bytes() == "## Подтверждено\n- факт [1.1]\n".encode()


@pytest.mark.parametrize("edited", [b"", b"something else", OLD.encode() + b"\n", None])
def test_a_file_that_changed_during_the_pass_is_not_overwritten(folder: Path, edited: bytes | None) -> None:
    store = Store(folder)
    base = Base.of(store.snapshot(), "summary.md")
    path = folder / "summary.md"
    if edited is None:
        path.unlink()
    else:
        path.write_bytes(edited)
    with pytest.raises(StateMoved, match="changed during the pass"):
        store.commit("summary.md", NEW, base, {})
    assert (path.read_bytes() if path.exists() else None) == edited


def test_a_file_that_appeared_during_the_pass_is_not_overwritten(folder: Path) -> None:
    store = Store(folder)
    base = Base.of(store.snapshot(), "answer.md")
    write_tree(folder, {"answer.md": "a person's answer"})
    with pytest.raises(StateMoved):
        store.commit("answer.md", "ours", base, {})
    assert state(folder)["answer.md"] == "a person's answer"


def test_a_file_that_only_decided_is_looked_at_too(folder: Path) -> None:
    store = Store(folder)
    base = Base.of(store.snapshot(), "answer.md", "question.md")
    write_tree(folder, {"question.md": "another question\n"})
    with pytest.raises(StateMoved, match=r"question\.md"):
        store.commit("answer.md", "ours", base, {})


def test_a_reply_that_a_person_saved_in_place_is_no_change(folder: Path) -> None:
    store = Store(folder)
    base = Base.of(store.snapshot(), "summary.md", replies={"summary.md": "what they wrote\n"})
    (folder / "summary.md").write_bytes("\ufeffwhat they wrote\r\n".encode())
    store.commit("summary.md", NEW, base, {})
    assert state(folder)["summary.md"] == NEW


# Raws ----------------------------------------------------------------------------------------------


def test_a_raw_appears_whole(folder: Path) -> None:
    Store(folder).create_raw(1, ["raw\n"], {})
    assert state(folder)["raw_1.md"] == "raw\n"


def test_a_raw_never_replaces_another(folder: Path) -> None:
    write_tree(folder, {"raw_1.md": "a person's\n"})
    with pytest.raises(StateMoved, match="there already"):
        Store(folder).create_raw(1, ["ours\n"], {})
    assert state(folder)["raw_1.md"] == "a person's\n"


class PastingDisk(QuickDisk):
    """A person pastes a raw between our look and our link."""

    def link(self, source: Path, target: Path) -> None:
        target.write_text("a person's\n", encoding="utf-8")
        super().link(source, target)


def test_a_raw_pasted_at_the_last_moment_stays(folder: Path) -> None:
    with pytest.raises(StateMoved, match="there already"):
        Store(folder, PastingDisk()).create_raw(1, ["ours\n"], {})
    assert state(folder) == {**QUESTION, "summary.md": OLD, "raw_1.md": "a person's\n"}


class LinklessDisk(QuickDisk):
    """A file system without hard links, as on a memory stick."""

    def link(self, source: Path, target: Path) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))


def test_a_file_system_without_hard_links_will_do(folder: Path) -> None:
    Store(folder, LinklessDisk()).create_raw(1, ["ours\n"], {})
    assert state(folder)["raw_1.md"] == "ours\n"
    with pytest.raises(StateMoved):
        Store(folder, LinklessDisk()).create_raw(1, ["again\n"], {})
    assert state(folder) == {**QUESTION, "summary.md": OLD, "raw_1.md": "ours\n"}


def test_a_case_is_made_once(tmp_path: Path) -> None:
    Store(tmp_path / "deep" / "case").make_case("What?\n")
    with pytest.raises(HarnessError, match="a case is here already"):
        Store(tmp_path / "deep" / "case").make_case("Something else?\n")
    assert state(tmp_path / "deep" / "case") == {"question.md": "What?\n"}


def test_a_move_does_not_replace_its_target(folder: Path) -> None:
    write_tree(folder, {"answer.md": "new", "answer_1.md": "old"})
    store = Store(folder)
    digest = store.snapshot().files["answer.md"].digest
    with pytest.raises(StateMoved):
        store.move("answer.md", "answer_1.md", digest, {})
    store.move("answer.md", "answer_2.md", digest, {})
    assert {"answer_1.md": "old", "answer_2.md": "new"}.items() <= state(folder).items()


# Links, pipes, folders -----------------------------------------------------------------------------


def make_link(path: Path) -> None:
    outside = path.parent.parent / "outside.txt"
    outside.write_text("outside the case\n", encoding="utf-8")
    path.symlink_to(outside)


def make_dangling_link(path: Path) -> None:
    path.symlink_to(path.parent / "nowhere")


NOT_FILES: dict[str, Callable[[Path], None]] = {
    "a link": make_link,
    "a dangling link": make_dangling_link,
    "a pipe": os.mkfifo,
    "a folder": Path.mkdir,
}


@pytest.mark.parametrize("kind", NOT_FILES)
@pytest.mark.parametrize("name", ["question.md", "summary.md", "next_query.txt", "answer.md", "raw_1.md"])
def test_what_is_no_file_is_refused_at_once(folder: Path, name: str, kind: str) -> None:
    (folder / name).unlink(missing_ok=True)
    NOT_FILES[kind](folder / name)
    with pytest.raises(BrokenFile) as told:
        Store(folder).snapshot()
    assert name in told.value.value and told.value.hint


def test_a_link_put_in_place_during_the_pass_is_not_written_through(folder: Path, tmp_path: Path) -> None:
    store = Store(folder)
    base = Base.of(store.snapshot(), "answer.md")
    make_link(folder / "answer.md")
    with pytest.raises(HarnessError):
        store.commit("answer.md", "ours", base, {})
    assert (tmp_path / "outside.txt").read_text(encoding="utf-8") == "outside the case\n"


@pytest.mark.parametrize("name", ["trace.jsonl", ".harness/lock"])
def test_the_record_and_the_lock_are_not_written_through_a_link(folder: Path, tmp_path: Path, name: str) -> None:
    (folder / ".harness").mkdir()
    (tmp_path / "outside.txt").write_text("outside\n", encoding="utf-8")
    (folder / name).symlink_to(tmp_path / "outside.txt")
    with pytest.raises(HarnessError):
        commit(Store(folder))
    assert (tmp_path / "outside.txt").read_text(encoding="utf-8") == "outside\n"
    assert state(folder)["summary.md"] == OLD


def test_a_helper_folder_that_is_a_link_is_refused(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (folder / ".harness").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(HarnessError, match="is a link"):
        commit(Store(folder))
    assert list((tmp_path / "elsewhere").iterdir()) == []


# A disk that refuses ---------------------------------------------------------------------------------


def test_a_target_held_open_for_a_moment_is_waited_for(folder: Path) -> None:
    commit(Store(folder, StubbornDisk(2)))
    assert state(folder) == {**QUESTION, "summary.md": NEW}


def test_a_target_held_open_for_good_is_told(folder: Path) -> None:
    with pytest.raises(HarnessError, match=r"cannot write: .*summary\.md \(The process cannot access the file\)"):
        commit(Store(folder, StubbornDisk(99)))
    assert state(folder) == {**QUESTION, "summary.md": OLD}


@pytest.mark.parametrize("refusal", [errno.ENOSPC, errno.EIO, errno.EACCES])
def test_a_refusal_at_any_system_call_is_told_and_loses_nothing(tmp_path: Path, refusal: int) -> None:
    refused = 0
    for at in range(1, 60):
        folder = write_tree(tmp_path / str(at), {**QUESTION, "summary.md": OLD})
        disk = FailingDisk(at, refusal)
        told = _refusal_of(Store(folder, disk))
        assert state(folder)["summary.md"] in (OLD, NEW)
        if told:
            refused += 1
            assert os.strerror(refusal) in told.value and "nothing was lost" in told.hint
            assert ("space" in told.hint) == (refusal == errno.ENOSPC)
            commit(Store(folder, QuickDisk()))
        Store(folder, QuickDisk()).clean(Store(folder).snapshot())
        assert state(folder) == {**QUESTION, "summary.md": NEW}
        if disk.calls < at:
            break
    assert refused > 8


def _refusal_of(store: Store) -> HarnessError | None:
    try:
        commit(store)
    except HarnessError as error:
        return error
    return None


@pytest.mark.parametrize("refusal", [errno.ENOSPC, errno.EIO])
def test_a_refused_raw_is_whole_or_not_there(tmp_path: Path, refusal: int) -> None:
    for at in range(1, 30):
        folder = write_tree(tmp_path / str(at), QUESTION)
        try:
            Store(folder, FailingDisk(at, refusal)).create_raw(1, ["one\ntwo\n"], {})
        except HarnessError as error:
            assert os.strerror(refusal) in str(error)
        assert state(folder).get("raw_1.md", "one\ntwo\n") == "one\ntwo\n"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_to_is_told(folder: Path) -> None:
    folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        with pytest.raises(HarnessError, match="cannot write"):
            commit(Store(folder))
    finally:
        folder.chmod(stat.S_IRWXU)


# Temporary files ---------------------------------------------------------------------------------------


def test_temporary_files_of_a_killed_process_are_removed(folder: Path) -> None:
    for at in range(1, 40):
        try:
            commit(Store(folder, FailingDisk(at)))
        except Crash:
            continue
        break
    write_tree(folder, {".0123456789abcdef.tmp": "half", ".mine.tmp": "a person's", "notes.tmp": "a person's"})
    store = Store(folder)
    store.clean(store.snapshot())
    assert sorted(name for name in state(folder) if name.endswith(".tmp")) == [".mine.tmp", "notes.tmp"]


def test_a_temporary_file_never_reuses_a_name(folder: Path) -> None:
    disk = Disk()
    made = {disk.create_temporary(folder) for _ in range(50)}
    for descriptor, path in made:
        disk.close(descriptor)
        disk.unlink(path)
    assert len({path for _, path in made}) == 50


# Side by side --------------------------------------------------------------------------------------------


def test_twenty_writers_leave_no_torn_file_and_one_whole_record(folder: Path) -> None:
    texts = [f"## Confirmed\n- {'x' * 40_000} {number} [1.1]\n" for number in range(20)]

    def write(text: str) -> None:
        while True:
            try:
                return commit(Store(folder, QuickDisk()), text)
            except StateMoved:
                continue

    threads = [threading.Thread(target=write, args=(text,)) for text in texts]
    for thread in threads:
        thread.start()
    seen = set(_until_done(threads, folder))
    assert seen <= {OLD, *texts}
    assert state(folder)["summary.md"] in texts
    assert len(read_tree(folder)["trace.jsonl"].splitlines()) == 20


def _until_done(threads: list[threading.Thread], folder: Path) -> Iterator[str]:
    while any(thread.is_alive() for thread in threads):
        yield (folder / "summary.md").read_text(encoding="utf-8")
    for thread in threads:
        thread.join()


# Names and numbers ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["with spaces and. dots.", "Сравнение доставки", "a'b\"$c", "日本"])
def test_a_case_may_have_any_name(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    store = Store(folder)
    store.make_case("What?\n")
    store.create_raw(1, ["raw\n"], {})
    commit(store)
    assert state(folder) == {"question.md": "What?\n", "raw_1.md": "raw\n", "summary.md": NEW}


def test_five_thousand_folded_raws_are_not_opened(folder: Path) -> None:
    """A pipe would be refused, and reading it would wait for ever."""
    for number in range(1, 5_001):
        os.mkfifo(folder / f"raw_{number}.md")
    searches = "".join(f"- {number} · query {number} — found\n" for number in range(1, 5_001))
    write_tree(
        folder,
        {
            "summary.md": f"---\nround: 5000\nspent: 5000\n---\n## Searches\n{searches}",
            "next_query.txt": "# round: 5001\nnot yet searched\n",
            "raw_5001.md": "---\nkind: note\n---\n",
        },
    )
    case = Store(folder).snapshot().case
    assert len(case.raws) == 5_001
    assert {number: head.kind for number, head in case.heads.items()} == {5_001: "note"}


def test_a_file_named_almost_like_a_raw_is_reported(folder: Path) -> None:
    write_tree(folder, {"raw_01.md": "a", "raw-2.txt": "b", "Raw_3.md": "c", "raw_4.md": "d"})
    snapshot = Store(folder).snapshot()
    assert snapshot.case.raws == (4,)
    assert sorted(problem.file for problem in snapshot.problems) == ["Raw_3.md", "raw-2.txt", "raw_01.md"]
    assert all(problem.hint for problem in snapshot.problems)


def test_a_state_file_of_absurd_size_is_refused(folder: Path) -> None:
    with (folder / "summary.md").open("wb") as file:
        file.truncate(20_000_000)
    with pytest.raises(BrokenFile, match="too large"):
        Store(folder).snapshot()


def test_a_case_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match="no such case") as told:
        Store(tmp_path / "nothing").snapshot()
    assert "ask" in told.value.hint
