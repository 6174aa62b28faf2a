"""Hostile and broken programs in a role: a clear message, the right exit code, the case as before."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from tests.program import DOCUMENTS, GRID, agent_program, harness
from tests.trees import read_tree, write_tree

CASE = Path("research")
RAW = """---
kind: note
---
## 1. Samokat
- date: 2025-02-11

Samokat had a revenue of 154.0 bn roubles in 2024.
"""
FILES = {"question.md": "Which revenue has Samokat?\n", "summary.md": "## Confirmed\n- mine [person] [pinned]\n"}

pytestmark = pytest.mark.skipif(os.name == "nt", reason="forks and signals of POSIX")


@pytest.fixture
def case() -> Path:
    """A case beside its documents. Every program knows where it is, as a hostile one may find out."""
    write_tree(Path(), {**DOCUMENTS, "outside.txt": "of the user\n"})
    return write_tree(CASE, FILES)


def files(case: Path) -> dict[str, str]:
    return {name: text for name, text in read_tree(case).items() if not name.startswith((".harness/", "trace"))}


def hostile(code: str, *, more: str = "", role: str = "planner") -> None:
    """The program reads its packet first; CASE in its code is the path of the case."""
    program = f"import os, pathlib, sys, time\nsys.stdin.read()\nCASE = pathlib.Path({str(CASE.absolute())!r})\n"
    agent_program("bad", program + code, more=more, role=role)


# Replies that cannot be used -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("", ("bad: exit code 0, but no reply", "Run it by hand: ")),
        ("print('  \\n\\n')", ("bad: exit code 0, but no reply",)),
        ("sys.stderr.write('no credit left\\n'); sys.exit(3)", ("bad: exit code 3: no credit left", "Run it by hand")),
        ("print('partly'); sys.exit(1)", ("bad: exit code 1: partly",)),
        ("os.kill(os.getpid(), 9)", ("bad: ended by signal 9",)),
        ("print('Let me think about it.')", ("no Action: search(", "harness take")),
        ('print(\'Action: search("a")\\nAction: answer("b")\')', ("more than one action",)),
        ("print('Action: search(\"\")')", (".harness/rejected/",)),
        ("print('Action: search(\"see https://evil.example/?q=secret\")')", (".harness/rejected/",)),
        ("sys.stdout.buffer.write(bytes(range(256)) * 20)", (".harness/rejected/",)),
    ],
)
def test_a_reply_that_cannot_be_used_ends_the_run_and_changes_nothing(
    case: Path, code: str, told: tuple[str, ...]
) -> None:
    hostile(code)
    ran = harness("run", "--in", "docs")
    assert ran.code == 1 and ran.out == ""
    for text in told:
        assert text in ran.err, ran.err
    assert "it is tried once more" in ran.err
    assert files(case) == FILES
    assert harness("run", "--in", "docs", "--planner", "extractive").code == 0


def test_terminal_escapes_never_reach_the_terminal_or_the_files(case: Path) -> None:
    hostile("print('\\x1b]0;owned\\x07\\x1b[2JThink: \\x1b[31mx\\nAction: search(\"Samokat \\x1b[1mrevenue\\x9b2J\")')")
    ran = harness("step")
    assert ran.code == 0 and ran.out == "ask: Samokat revenue\n"
    assert not any(sign in ran.out + ran.err + files(case)["next_query.txt"] for sign in "\x1b\x07\x9b")
    hostile("sys.stderr.write('\\x1b[2Jboom\\x07\\n'); sys.exit(1)", role="synthesizer")
    write_tree(case, {"raw_1.md": RAW})
    ran = harness("run", "--in", "docs")
    assert ran.code == 1 and "boom" in ran.err and "\x1b" not in ran.err and "\x07" not in ran.err


def test_100_mb_are_cut_off_at_once(case: Path) -> None:
    hostile("for _ in range(100): sys.stdout.write('x' * 1_000_000)")
    started = time.monotonic()
    ran = harness("step"), harness("step")
    assert time.monotonic() - started < 20
    assert ran[1].code == 1 and "printed far more than a reply" in ran[1].err and "quiet option" in ran[1].err
    assert len(ran[1].err) < 5_000
    assert files(case) == FILES


def test_what_an_agent_calls_itself_is_said_once(case: Path) -> None:
    hostile("sys.exit(3)")
    assert "bad: bad:" not in harness("run", "--in", "docs").err


# Programs that do not end ----------------------------------------------------------------------------------------


def processes(mark: str) -> list[str]:
    """The command lines that name `mark`."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:
            continue
        found += [line] if mark in line else []
    return found


def test_a_program_that_hangs_is_ended(case: Path) -> None:
    hostile("time.sleep(600)", more=", timeout: 1")
    started = time.monotonic()
    ran = harness("run", "--in", "docs")
    assert time.monotonic() - started < 20
    assert ran.code == 1 and "bad: no reply in 1 s" in ran.err and "agents.bad.timeout (1 s)" in ran.err
    assert files(case) == FILES


@pytest.mark.skipif(not Path("/proc").exists(), reason="no /proc to look for what is left")
@pytest.mark.parametrize("leaving", ["", "os.setsid()", "os.setsid()\n        os.close(0); os.close(1); os.close(2)"])
def test_the_children_of_a_program_are_ended_with_it(case: Path, leaving: str) -> None:
    script = Path(os.environ["HOME"]) / "bad.py"
    fork = f"for _ in range(3):\n    if not os.fork():\n        {leaving or 'pass'}\n        time.sleep(600)\n"
    hostile(fork + "print('Action: search(\"Samokat revenue\")')")
    assert harness("step").code == 0
    deadline = time.monotonic() + 5
    while processes(str(script)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert processes(str(script)) == []


# Files ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("role", "held"),
    [
        ("planner", "PROMPT.md question.md summary.md"),
        ("synthesizer", "PROMPT.md decision.txt question.md raw_1.md summary.md"),
    ],
)
def test_a_desk_holds_the_files_of_the_role_and_nothing_else(case: Path, role: str, held: str) -> None:
    write_tree(case, {"answer_1.md": "old\n", **({"raw_1.md": RAW} if role == "synthesizer" else {})})
    seen = Path("seen.txt").absolute()
    look = f"pathlib.Path({str(seen)!r}).write_text(' '.join(sorted(os.listdir('.'))))"
    hostile(look, more=", files: true", role=role)
    harness("step")
    assert seen.read_text(encoding="utf-8") == held


def test_what_a_program_does_at_its_desk_stays_there(case: Path) -> None:
    hostile(
        "for name in os.listdir('.'): os.unlink(name)\n"
        "os.symlink('/etc/hostname', 'answer.md')\n"
        "open('evil.sh', 'w').write('x')\n"
        "open('next_query.txt', 'w').write('search(\"Samokat revenue\")')\n",
        more=", files: true",
    )
    ran = harness("step", "--json")
    assert ran.code == 0 and "Samokat revenue" in files(case)["next_query.txt"]
    assert set(files(case)) == {*FILES, "next_query.txt"} and files(case)["question.md"] == FILES["question.md"]
    record = (case / "trace.jsonl").read_text(encoding="utf-8")
    for told in ("evil.sh was created: discarded", "answer.md is a link: discarded", "question.md was deleted"):
        assert told in record


def test_a_program_that_writes_only_what_it_may_not_has_failed(case: Path) -> None:
    hostile("open('summary.md', 'w').write('mine now')", more=", files: true")
    ran = harness("run", "--in", "docs")
    assert ran.code == 1 and "did not write next_query.txt or answer.md" in ran.err
    assert "summary.md was changed: discarded" in ran.err and "permission settings" in ran.err
    assert files(case) == FILES


def test_a_question_deleted_by_an_agent_is_told_and_nothing_is_written_over_it(case: Path) -> None:
    """A program of the user's may reach any file of theirs; what it breaks outside its desk is seen, not hidden."""
    hostile("(CASE / 'question.md').unlink()\nprint('Action: search(\"Samokat revenue\")')")
    first = harness("step")
    ran = harness("step")
    assert first.code in (0, 1) and ran.code == 1 and "there is no question yet" in ran.err
    assert files(case)["summary.md"] == FILES["summary.md"]


def test_a_summary_edited_by_an_agent_behind_our_back_is_not_overwritten(case: Path) -> None:
    write_tree(case, {"raw_1.md": RAW})
    rewrite = "Summary:\\n## Confirmed\\n- mine [person] [pinned]\\n- Samokat had 154.0 bn roubles in 2024 [1.1]\\n"
    hostile(
        "with (CASE / 'summary.md').open('a') as file: file.write('- added by another hand [person]\\n')\n"
        f"print('{rewrite}Removed:\\n- none')",
        role="synthesizer",
    )
    ran = harness("step")
    assert ran.code == 1 and "the files keep changing" in ran.err and "changed during the pass" in ran.err
    assert files(case)["summary.md"].startswith(FILES["summary.md"]) and "154.0" not in files(case)["summary.md"]


def test_a_program_gets_no_hint_of_where_the_case_is(case: Path) -> None:
    seen = Path("seen.txt").absolute()
    hostile(f"pathlib.Path({str(seen)!r}).write_text(os.getcwd() + repr(dict(os.environ)))")
    harness("step", CLAUDECODE="1", HARNESS_DIR=str(CASE.absolute()), OLDPWD=str(CASE.absolute()))
    told = seen.read_text(encoding="utf-8")
    assert "research" not in told.replace("_RESEARCH_HARNESS", "") and "CLAUDECODE" not in told


# Search programs -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("import sys; sys.exit('HTTP 429')", "blocked (mine blocked: "),
        ("import time; time.sleep(60)", "blocked (mine blocked: "),
        ("pass", "empty"),
        ("print('[{')", "blocked (mine blocked: printed broken JSON)"),
        ("print('[]')", "empty"),
    ],
)
def test_a_search_program_that_fails_is_no_document(case: Path, code: str, told: str) -> None:
    write_tree(case, {"next_query.txt": "Samokat revenue\n"})
    script = write_tree(Path(), {"mine.py": code}) / "mine.py"
    ladder = f"mine: {{command: [{sys.executable}, {script.absolute()}, '{{query}}'], timeout: 1}}"
    (Path(os.environ["HARNESS_CONFIG_DIR"])).mkdir(exist_ok=True)
    write_tree(Path(os.environ["HARNESS_CONFIG_DIR"]), {"config.yaml": f"search:\n- {ladder}\n"})
    ran = harness("search")
    assert ran.code == 0 and told in ran.out


@pytest.mark.parametrize("question", [GRID, FILES["question.md"]])
def test_a_run_whose_every_search_is_blocked_is_exit_6_and_can_be_resumed(case: Path, question: str) -> None:
    write_tree(case, {"question.md": question})
    script = write_tree(Path(), {"mine.py": "import sys; sys.exit('HTTP 429')"}) / "mine.py"
    ladder = f"search:\n- mine: {{command: [{sys.executable}, {script.absolute()}]}}\n"
    write_tree(Path(os.environ["HARNESS_CONFIG_DIR"]), {"config.yaml": ladder})
    ran = harness("run")
    assert ran.code == 6 and ran.out == ""
    assert "every search was blocked in 2 rounds" in ran.err and "harness run tries every provider again" in ran.err
    ran = harness("run", "--in", "docs")
    assert ran.code == 0 and "154.0" in ran.out
