"""The lock, the claim and the trace: who writes, who is at work, and what was done."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from harness.errors import HarnessError
from harness.loop import step
from harness.session import Event
from harness.store import Base, Store
from harness.store.claim import Claim, make_claim, process_start, read_claim, render_claim
from harness.store.lock import WAIT_SECONDS, locked
from harness.store.trace import last_line, read_trace
from tests.fakes import START, Crash, FailingDisk, QuickDisk, make_session, plan_for
from tests.trees import read_tree, write_tree

HOLDER = """
import sys
from pathlib import Path
from harness.store.lock import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "case", {"question.md": "What is known?\n", ".harness/.gitignore": "*\n"})


def commit(store: Store, text: str = "new\n") -> None:
    store.commit("summary.md", text, Base.of(store.snapshot(), "summary.md"), {"role": "test"})


@contextmanager
def other_process(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the lock until it is ended."""
    command = [sys.executable, "-c", HOLDER, str(folder / ".harness" / "lock")]
    root = Path(__file__).parent.parent
    with subprocess.Popen(command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout and process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.kill()


# Lock ----------------------------------------------------------------------------------------------


def test_a_commit_waits_for_the_lock(folder: Path) -> None:
    with other_process(folder) as process:
        started = time.monotonic()
        assert process.stdin
        process.stdin.close()  # lets go at once
        commit(Store(folder))
    assert time.monotonic() - started < WAIT_SECONDS


def test_a_lock_dies_with_its_holder(folder: Path) -> None:
    with other_process(folder) as process:
        process.kill()
        process.wait()
        commit(Store(folder))
    assert read_tree(folder)["summary.md"] == "new\n"


def test_a_lock_that_hangs_is_told(folder: Path) -> None:
    path = folder / ".harness" / "lock"
    with (
        other_process(folder),
        pytest.raises(HarnessError, match="another process holds the lock") as told,
        locked(path, wait=0.1),
    ):
        raise AssertionError("two processes hold the lock")
    assert "nothing was written" in told.value.hint


def test_a_direction_does_not_wait_for_the_lock(folder: Path) -> None:
    with other_process(folder):
        Store(folder).append("question.md", b"more\n")
    assert read_tree(folder)["question.md"] == "What is known?\nmore\n"


# Claim ---------------------------------------------------------------------------------------------


def claim_of(folder: Path, claim: Claim | str) -> None:
    text = claim if isinstance(claim, str) else render_claim(claim)
    write_tree(folder, {".harness/claim.json": text})


def mine(**other: Any) -> Claim:
    return make_claim("run", 3, now=START, seconds=60)._replace(**other)


def test_a_live_claim_is_respected(folder: Path) -> None:
    claim_of(folder, mine())
    with pytest.raises(HarnessError, match="another process is at work") as told:
        step(make_session(folder, planner=plan_for("alpha")))
    assert str(mine().pid) in told.value.value
    assert (folder / ".harness" / "claim.json").exists()
    assert "next_query.txt" not in read_tree(folder)


DEAD: dict[str, Claim | str] = {
    "of a dead process": mine(pid=2**22 + 1),
    "of a process whose pid was reused": mine(started="1"),
    "expired": mine(expires=(START - timedelta(seconds=1)).isoformat()),
    "without a time zone": mine(expires="2030-01-01T00:00:00"),
    "with a number for a time": mine(expires=5),
    "with a nonsense pid": mine(pid="../../etc"),
    "no JSON": "{",
    "another JSON": "[1, 2]",
    "empty": "",
}


@pytest.mark.parametrize("kind", DEAD)
def test_a_claim_that_binds_nobody_is_taken_over(folder: Path, kind: str) -> None:
    claim_of(folder, DEAD[kind])
    assert step(make_session(folder, planner=plan_for("alpha"))).action == "ask"
    assert read_claim(folder / ".harness" / "claim.json") is None


def test_taking_over_is_told(folder: Path) -> None:
    claim_of(folder, mine(started="1"))
    events: list[Event] = []
    step(make_session(folder, planner=plan_for("alpha"), events=events))
    assert any(event.kind == "notice" and str(mine().pid) in event.text for event in events)


def test_a_process_that_ended_has_no_start(folder: Path) -> None:
    with other_process(folder) as process:
        assert process_start(process.pid)
        process.kill()
        process.wait()
    assert process_start(process.pid) is None


# Trace ---------------------------------------------------------------------------------------------


def chained(folder: Path) -> bool:
    lines = (folder / "trace.jsonl").read_text(encoding="utf-8").splitlines()
    before = ["", *lines]
    return all(
        json.loads(line)["previous"] == hashlib.sha256(previous.encode()).hexdigest()
        for line, previous in zip(lines, before, strict=False)
        if line.startswith('{"')
    )


def test_each_line_names_its_file_and_the_line_before(folder: Path) -> None:
    for number in range(5):
        commit(Store(folder), f"текст {number}\n")
    records = list(read_trace(folder / "trace.jsonl"))
    assert [record["file"] for record in records] == ["summary.md"] * 5
    assert records[-1]["sha256"] == hashlib.sha256((folder / "summary.md").read_bytes()).hexdigest()
    assert chained(folder)


def test_a_line_longer_than_what_is_read_back_at_once_is_chained_too(folder: Path) -> None:
    store = Store(folder)
    base = Base.of(store.snapshot(), "summary.md")
    store.commit("summary.md", "a\n", base, {"added": ["факт " * 20_000]})
    commit(store)
    assert chained(folder)


@pytest.mark.parametrize("cut", [1, 10, 60, 120])
def test_a_torn_last_line_is_closed_and_skipped(folder: Path, cut: int) -> None:
    path = folder / "trace.jsonl"
    commit(Store(folder), "one\n")
    commit(Store(folder), "two\n")
    whole = path.read_bytes()
    first = whole.index(b"\n") + 1
    path.write_bytes(whole[: first + cut])
    commit(Store(folder), "three\n")
    records = list(read_trace(path))
    assert [record["sha256"] for record in records] == [hashlib.sha256(t).hexdigest() for t in (b"one\n", b"three\n")]
    assert last_line(path).torn is False


def test_no_crash_leaves_a_record_that_cannot_be_read(folder: Path) -> None:
    for at in range(1, 40):
        try:
            commit(Store(folder, FailingDisk(at)), f"{at}\n")
        except Crash:
            continue
    commit(Store(folder, QuickDisk()), "last\n")
    last = list(read_trace(folder / "trace.jsonl"))[-1]
    assert last["sha256"] == hashlib.sha256(b"last\n").hexdigest()


def test_a_record_without_a_line_end_or_with_foreign_lines_is_no_trouble(folder: Path) -> None:
    write_tree(folder, {"trace.jsonl": b"\xff\xfe not ours\n[1]\n\n{}"})
    commit(Store(folder))
    assert [record.get("file") for record in read_trace(folder / "trace.jsonl")] == [None, "summary.md"]


# A real full disk --------------------------------------------------------------------------------------


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """64 KiB that really run out."""
    place = tmp_path / "small"
    place.mkdir()
    try:
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)], capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        pytest.skip("there is no mount here")
    if done.returncode:
        pytest.skip(f"mounting is not permitted here: {done.stderr.strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


@pytest.mark.real
def test_a_full_disk_is_told_and_the_run_goes_on_once_there_is_space(small_disk: Path) -> None:
    folder = write_tree(small_disk / "case", {"question.md": "What is known?\n", "summary.md": "old\n"})
    store = Store(folder)
    commit(store, "one\n")
    ballast = small_disk / "ballast"
    with ballast.open("wb", buffering=0) as file:
        try:
            while file.write(b"x" * 4096) == 4096:
                pass
        except OSError:
            pass
    with pytest.raises(HarnessError, match=r"cannot write.*No space left on device") as told:
        commit(store, "two\n" * 5_000)
    assert "Free some space" in told.value.hint
    assert read_tree(folder)["summary.md"] == "one\n"
    ballast.unlink()
    commit(store, "three\n")
    assert read_tree(folder)["summary.md"] == "three\n"
    assert not list(folder.glob(".*.tmp"))
