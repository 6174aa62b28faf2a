"""Files and folders as nobody should leave them: a clear message, the right exit code, nothing lost."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.program import COMMAND, DOCUMENTS, Ran, harness
from tests.trees import write_tree

CASE = Path("research")
QUESTION = "Which revenue has Samokat?\n"
STATE = ("question.md", "summary.md", "next_query.txt", "answer.md", "raw_1.md")
JUNK = random.Random(20261129).randbytes(20_000)  # no NUL-free text, no UTF-8
READING = (("status",), ("step",), ("run",), ("next",))
MEMORY = 1_000_000_000  # bytes of address space for a process that meets a raw of 200 MB


@pytest.fixture
def case() -> Path:
    write_tree(Path(), DOCUMENTS)
    return write_tree(CASE, {"question.md": QUESTION})


def refused(ran: Ran, *told: str, code: int = 1) -> None:
    """What happened and which value, on stderr alone, with a line on what to do next."""
    assert ran.code == code and ran.out == "", ran
    assert "Traceback" not in ran.err and "unexpected" not in ran.err
    for text in told:
        assert text in ran.err
    message = ran.err[ran.err.index("harness: ") :]
    assert message.count("\n") >= 2, f"nothing on what to do next: {message}"


def photograph(folder: Path) -> dict[str, object]:
    """Names with content, link or kind; helpers and the record left out."""
    seen: dict[str, object] = {}
    for path in sorted(folder.iterdir()):
        if path.name not in (".harness", "trace.jsonl"):
            status = path.lstat()
            seen[path.name] = path.read_bytes() if path.is_file() and not path.is_symlink() else status.st_mode
    return seen


# Questions -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["", "\n\n", " \t\n", "\ufeff", "---\nrounds: 3\n---\n", "## Directions\n- brief\n"])
def test_an_empty_question_is_told_with_the_command_that_mends_it(text: str) -> None:
    write_tree(CASE, {"question.md": text})
    for command in (("step",), ("run",), ("next",)):
        refused(harness(*command), "there is no question yet", "question.md", f'harness -C {CASE.absolute()} ask "')
    assert "(no question)" in harness("status").out
    assert harness("-C", str(CASE.absolute()), "ask", "Now what?").code == 0
    assert harness("status").out.startswith("research: Now what?")


@pytest.mark.parametrize(
    ("front", "told"),
    [
        ("rounds: 5\nfields: [x]\nthis is broken\n", "question.md:4: no `key: value`: this is broken"),
        ("rounds: 5\nentities: [A, B\nfields: [x]\n", "question.md:3: `entities` is not valid YAML"),
        ("rounds: 5\nrounds: 6\n", "question.md:3: `rounds` stands twice"),
        ("rounds: five\n", "question.md:2: `rounds` is `five`"),
        ("round: 5\n", "question.md:2"),
    ],
)
def test_a_broken_line_is_named_and_the_rest_is_read(case: Path, front: str, told: str) -> None:
    text = f"---\n{front}---\n{QUESTION}"
    write_tree(case, {"question.md": text})
    status = harness("status")
    assert status.code == 0 and status.out.startswith("research: Which revenue")
    assert f"note: {told}" in status.out.replace(f"{case.absolute()}/", "")
    ran = harness("run", "--in", "docs")
    assert ran.code in (0, 4) and told in ran.err, "a run says it too"
    assert (case / "question.md").read_text(encoding="utf-8") == text


def test_a_front_matter_without_an_end_is_named(case: Path) -> None:
    write_tree(case, {"question.md": f"---\nrounds: 5\n{QUESTION}"})
    assert "question.md:1: the front matter has no end. Put a line `---`" in harness("status").out


def test_invalid_utf_8_is_read_as_far_as_it_goes(case: Path) -> None:
    data = b"Which revenue has Samokat caf\xe9 \xff?\n"
    write_tree(case, {"question.md": data})
    assert harness("status").out.startswith("research: Which revenue has Samokat caf")
    assert harness("run", "--in", "docs").code in (0, 4)
    assert (case / "question.md").read_bytes() == data


@pytest.mark.parametrize("name", ["question.md", "summary.md", "next_query.txt", "answer.md"])
def test_a_state_file_of_20_mb_is_refused_at_once(case: Path, name: str) -> None:
    write_tree(case, {name: b"a" * 20_000_000})
    before = photograph(case)
    for command in READING:
        refused(harness(*command), "file too large", f"{name} (over 16 MB)")
    assert photograph(case) == before


def test_a_question_of_10_mb_is_shown_in_one_short_line(case: Path) -> None:
    write_tree(case, {"question.md": b"a" * 10_000_000})
    assert max(map(len, harness("status").out.splitlines())) < 200


# Junk ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", STATE)
def test_binary_junk_never_breaks_the_program(case: Path, name: str) -> None:
    write_tree(case, {name: JUNK})
    for command in (*READING, ("steer", "x"), ("reopen",), ("search",)):
        ran = harness(*command)
        assert ran.code != 3, ran.err
        assert "\x1b" not in ran.out + ran.err


@pytest.mark.parametrize("name", STATE)
def test_binary_junk_is_named_and_left_untouched(case: Path, name: str) -> None:
    write_tree(case, {name: JUNK})
    refused(harness("step"), name, "text")
    assert (case / name).read_bytes() == JUNK


def test_junk_among_the_helpers_is_no_trouble(case: Path) -> None:
    names = ("claim.json", "failed.json", "next.json", "stop", "lock")
    write_tree(case, {f".harness/{name}": JUNK for name in names if name != "stop"})
    assert harness("run", "--in", "docs").code == 0


def test_a_torn_and_foreign_record_is_no_trouble(case: Path) -> None:
    write_tree(case, {"trace.jsonl": JUNK + b'\n{"half": '})
    assert harness("run", "--in", "docs").code == 0


# Links, folders, pipes -----------------------------------------------------------------------------------------


@pytest.mark.skipif(os.name == "nt", reason="links and pipes of POSIX")
@pytest.mark.parametrize("name", [*STATE, "trace.jsonl"])
@pytest.mark.parametrize("kind", ["link", "dangling link", "folder", "pipe"])
def test_what_is_no_plain_file_is_refused_and_never_followed(case: Path, name: str, kind: str) -> None:
    write_tree(Path(), {"secret.txt": "a secret of elsewhere\n"})
    place = case / name
    place.unlink(missing_ok=True)
    if kind == "folder":
        place.mkdir()
    elif kind == "pipe":
        os.mkfifo(place)
    else:
        place.symlink_to(Path("secret.txt" if kind == "link" else "nowhere.txt").absolute())
    before = photograph(case)
    ran = harness("step")
    refused(ran, str(place), "a case file is a link" if "link" in kind else "not a regular file")
    assert photograph(case) == before
    assert Path("secret.txt").read_text(encoding="utf-8") == "a secret of elsewhere\n"
    assert not Path("nowhere.txt").exists()


@pytest.mark.skipif(os.name == "nt", reason="links of POSIX")
def test_helpers_that_lead_elsewhere_are_refused(case: Path) -> None:
    elsewhere = Path("elsewhere").absolute()
    elsewhere.mkdir()
    (case / ".harness").symlink_to(elsewhere)
    refused(harness("step"), "the helper folder is a link", "remove the link; nothing is lost")
    assert not list(elsewhere.iterdir())


@pytest.mark.skipif(os.name == "nt", reason="links of POSIX")
def test_a_case_that_is_a_link_out_of_the_project_is_refused(tmp_path: Path) -> None:
    write_tree(tmp_path / "other", {"question.md": QUESTION})
    CASE.symlink_to(tmp_path / "other")
    for command in (*READING, ("ask", "x"), ("steer", "x"), ("stop",), ("reopen",)):
        refused(harness(*command), "the case is a link out of the project", f"-C {tmp_path}/other")
    assert [path.name for path in (tmp_path / "other").iterdir()] == ["question.md"]
    assert harness("-C", f"{tmp_path}/other", "status").code == 0


# Raws ----------------------------------------------------------------------------------------------------------


def test_a_raw_of_200_mb_is_refused_within_seconds_and_memory(case: Path) -> None:
    with (case / "raw_1.md").open("wb") as file:
        file.truncate(200_000_000)

    resource = pytest.importorskip("resource", reason="limits of POSIX")

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    for command in ("status", "step", "run"):
        started = time.monotonic()
        done = subprocess.run([*COMMAND, command], capture_output=True, encoding="utf-8", preexec_fn=limit, check=False)
        assert time.monotonic() - started < 10
        if command == "status":
            assert done.returncode == 0
        else:
            ran = Ran(done.returncode, done.stdout, done.stderr)
            refused(ran, "a raw of more than 32 MB", "raw_1.md", "harness fold FILE")
    assert (case / "raw_1.md").stat().st_size == 200_000_000


def test_a_hole_between_raws_is_named_with_what_to_do(case: Path) -> None:
    write_tree(case, {"raw_2.md": "a page\n", "raw_4.md": "another\n"})
    before = photograph(case)["raw_4.md"]
    for _ in range(2):
        harness("step")
    refused(harness("run"), "a raw is missing between two others: raw_1.md", "rename the later file to raw_1.md")
    assert "raw_1.md is missing" in harness("status").out
    assert photograph(case)["raw_4.md"] == before or b"another" in (case / "raw_4.md").read_bytes()


@pytest.mark.parametrize(
    ("name", "hint"),
    [("raw_01.md", "raw_1.md"), ("RAW_1.MD", "raw_1.md"), ("raw-2.md", "raw_2.md"), ("raw_3.txt", "raw_3.md")],
)
def test_a_name_that_is_nearly_a_raws_is_told(case: Path, name: str, hint: str) -> None:
    write_tree(case, {name: "a page\n"})
    assert f"{name}:1: looks like a raw but is not named like one. rename it to {hint}" in harness("status").out
    assert harness("run", "--in", "docs").code == 0
    assert (case / name).read_text(encoding="utf-8") == "a page\n"


def test_a_thousand_queries_are_told_in_short_and_one_is_searched(case: Path) -> None:
    write_tree(case, {"next_query.txt": "".join(f"query number {number}\n" for number in range(1_000))})
    assert "query number 0; query number 1; query number 2 and 997 more (harness search)" in harness("status").out
    assert harness("search", "--in", "docs").code == 0
    raw = (case / "raw_1.md").read_text(encoding="utf-8")
    assert raw.count("outcome: skipped") == 999


# Folders -------------------------------------------------------------------------------------------------------


@pytest.fixture
def unwritable(case: Path) -> Iterator[Path]:
    """The case in a folder that nobody may write to; for root, permissions alone do not do it."""
    if os.name == "nt":
        pytest.skip("permissions of POSIX")
    if os.geteuid():
        case.chmod(0o555)
        yield case
        case.chmod(0o755)
        return
    if not shutil.which("chattr"):
        pytest.skip("root cannot make a folder unwritable here: no chattr")
    done = subprocess.run(["chattr", "+i", str(case)], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"root cannot make a folder unwritable here: {done.stderr.strip()}")
    yield case
    subprocess.run(["chattr", "-i", str(case)], check=True)


@pytest.mark.real
def test_an_unwritable_folder_is_told_and_can_still_be_looked_at(unwritable: Path) -> None:
    before = photograph(unwritable)
    for command in (("step",), ("run",), ("next",), ("search",)):
        ran = harness(*command)
        if command != ("search",):
            refused(ran, "cannot write", str(unwritable.absolute()), "Check the folder's permissions")
    assert harness("status").code == 0
    refused(harness("-C", "research/inner", "ask", "What?"), "cannot write", "research/inner")
    assert photograph(unwritable) == before


@pytest.mark.skipif(sys.platform == "win32", reason="paths of 260 characters")
def test_a_case_deep_below_is_found_and_works() -> None:
    write_tree(Path(), DOCUMENTS)
    deep = Path(*["a folder.with dots", "глубоко"] * 20) / "research"
    assert harness("-C", str(deep), "run", QUESTION, "--in", "docs").code == 0
    assert (deep / "answer.md").exists()


def test_a_name_that_is_too_long_is_told() -> None:
    refused(harness("-C", "x" * 300, "ask", "What?"), "File name too long")


def test_an_unresolved_merge_is_refused_with_its_line_and_kept() -> None:
    merged = "## Confirmed\n<<<<<<< HEAD\n- A [1.1]\n=======\n- B [1.1]\n>>>>>>> theirs\n"
    write_tree(Path("research"), {"question.md": QUESTION, "summary.md": merged})
    refused(harness("step"), "an unresolved merge", "summary.md:2")
    assert Path("research/summary.md").read_text(encoding="utf-8") == merged


def test_a_table_of_more_cells_than_can_be_filled_is_refused() -> None:
    names = ", ".join(f"n{number}" for number in range(40))
    write_tree(Path("research"), {"question.md": f"---\nentities: [{names}]\nfields: [{names}]\n---\nAll of them.\n"})
    refused(harness("step"), "more than 1000 cells", "40 × 40")


def test_lines_in_another_encoding_are_read_and_what_cannot_be_is_named() -> None:
    mine = "- Ещё строка моя, без источника [person]\n".encode("cp1251")
    mixed = "## Подтверждено\n- Чад: столица — Нджамена [1.1]\n".encode() + mine
    write_tree(Path("research"), {"question.md": "Чад?\n", "summary.md": mixed})
    assert "2 facts" in harness("status").out
    write_tree(Path("research"), {"summary.md": "- один [1.1]\n".encode() + b"- Caf\xe9 [1.1]\n"})
    assert "summary.md:2: characters that cannot be read" in harness("status").out
