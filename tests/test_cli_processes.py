"""Exit codes that only a process of its own shows: signals, a pipe that closes, a run beside another, a terminal."""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.program import COMMAND, DOCUMENTS, START_SECONDS, agent_program, begin, harness, wait_until
from tests.trees import read_tree, write_tree

pty = pytest.importorskip("pty", reason="signals and terminals of POSIX")

CASE = Path("research")
# Waits until the test lets it go, so that a run is under way for as long as the test needs it.
WAITING = """import pathlib, sys, time
sys.stdin.read()
pathlib.Path({started!r}).touch()
while not pathlib.Path({release!r}).exists():
    time.sleep(0.02)
print('Action: search("Samokat revenue")')
"""


@pytest.fixture
def started() -> Path:
    """The file that appears when the agent is at work; the case is in research/."""
    write_tree(Path(), {**DOCUMENTS, "research/question.md": "Which revenue has Samokat?\n"})
    file = Path.cwd() / "started"
    agent_program("slow", WAITING.format(started=str(file), release=str(Path.cwd() / "release")))
    return file


def run_under_way(started: Path) -> subprocess.Popen[str]:
    process = begin("run", "--in", "docs")
    wait_until(lambda: started.exists() or process.poll() is not None)
    assert process.poll() is None, process.communicate()
    return process


def no_agent_is_left() -> bool:
    listed = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()]
    return not any(str(Path(os.environ["HOME"]) / "slow.py").encode() in line for line in listed)


# Signals -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
def test_an_interrupted_run_ends_with_130_at_its_last_commit(started: Path, number: signal.Signals) -> None:
    before = read_tree(CASE)
    process = run_under_way(started)
    process.send_signal(number)
    out, err = process.communicate(timeout=START_SECONDS)
    assert process.returncode == 130 and out == ""
    assert "interrupted; what was committed stands, and harness run goes on" in err
    assert "Traceback" not in err
    left = {name: text for name, text in read_tree(CASE).items() if not name.startswith(".harness/")}
    assert left == before
    assert not (CASE / ".harness/claim.json").exists()
    if Path("/proc").exists():
        wait_until(no_agent_is_left, seconds=5)
    assert harness("run", "--in", "docs", "--planner", "extractive").code == 0


def test_a_run_that_was_killed_is_taken_over(started: Path) -> None:
    process = run_under_way(started)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    write_tree(Path(), {"release": ""})
    assert "at work" not in harness("status").out
    assert "no run is under way" in harness("stop").out
    ran = harness("run", "--in", "docs", "--planner", "extractive")
    assert ran.code == 0 and f"taken over from process {process.pid}, which is gone" in ran.err


# Two at once, and stop ---------------------------------------------------------------------------------------


def test_a_second_run_is_refused_and_told_who_is_at_work(started: Path) -> None:
    process = run_under_way(started)
    for command in (("run", "--in", "docs"), ("step",)):
        ran = harness(*command)
        assert ran.code == 1 and ran.out == ""
        assert f"another process is at work on this case: run, process {process.pid}, since 2" in ran.err
        assert "harness stop" in ran.err
    assert f"at work: run, process {process.pid}" in harness("status").out
    process.terminate()
    process.communicate(timeout=START_SECONDS)


def test_stop_ends_a_run_after_its_pass(started: Path) -> None:
    process = run_under_way(started)
    assert harness("stop").out == f"asked run (process {process.pid}) to stop after its pass\n"
    assert harness("steer", "only 2024").code == 0, "a direction does not wait for the run"
    assert process.poll() is None
    write_tree(Path(), {"release": ""})
    out, err = process.communicate(timeout=START_SECONDS)
    assert process.returncode == 0 and out == ""
    assert "stopped on request; harness run goes on from here" in err
    files = read_tree(CASE)
    assert "Samokat revenue" in files["next_query.txt"] and "raw_1.md" not in files and "answer.md" not in files
    assert harness("run", "--in", "docs", "--planner", "extractive").code == 0


# The unexpected ----------------------------------------------------------------------------------------------


def test_an_unexpected_error_is_exit_3_and_its_traceback_is_in_a_file() -> None:
    """A fault of our own, made by replacing a module that `status` needs by one that fails."""
    write_tree(Path(), {"research/question.md": "What?\n"})
    code = (
        "import sys, harness.cli.look, harness.__main__\n"
        "def look(*arguments): raise ZeroDivisionError('by design')\n"
        "harness.cli.look.look = look\n"
        "sys.exit(harness.__main__.run(['status']))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 3 and done.stdout == ""
    found = re.fullmatch(r"harness: unexpected error; the traceback is in (\S+)\n.*\n", done.stderr)
    assert found, done.stderr
    kept = Path(found[1])
    assert "ZeroDivisionError: by design" in kept.read_text(encoding="utf-8")
    kept.unlink()


def test_a_reader_that_leaves_is_no_error() -> None:
    write_tree(Path(), {"research/question.md": "word " * 100_000 + "\n"})
    process = begin("next")
    assert process.stdout and process.stderr
    assert process.stdout.read(10)
    process.stdout.close()
    told = process.stderr.read()
    process.stderr.close()
    process.wait(START_SECONDS)
    assert "Traceback" not in told and "unexpected" not in told and "Exception ignored" not in told


def test_a_console_that_cannot_show_the_answer_does_not_end_the_run() -> None:
    write_tree(Path(), {**DOCUMENTS, "research/question.md": "Какая выручка у «Самоката»?\n"})
    process = begin("status", env={"PYTHONIOENCODING": "ascii"})
    out, err = process.communicate(timeout=START_SECONDS)
    assert process.returncode == 0 and err == "" and "0 of 10 search rounds" in out


# A terminal --------------------------------------------------------------------------------------------------


class Terminal:
    """A command on a terminal of its own: what a person sees and types."""

    def __init__(self, *arguments: str, columns: int = 80) -> None:
        self.seen = ""
        self.descriptor, theirs = pty.openpty()
        env = {**os.environ, "TERM": "xterm", "COLUMNS": str(columns), "LINES": "30"}
        streams = {"stdin": theirs, "stdout": theirs, "stderr": theirs}
        self.process = subprocess.Popen([*COMMAND, *arguments], env=env, start_new_session=True, **streams)
        os.close(theirs)

    def wait_for(self, text: str) -> None:
        deadline = time.monotonic() + START_SECONDS
        while text not in self.seen:
            assert time.monotonic() < deadline and self._read(), f"{text!r} is not in {self.seen!r}"

    def count(self, text: str) -> int:
        if select.select([self.descriptor], [], [], 0)[0]:
            self._read()
        return self.seen.count(text)

    def type(self, text: str) -> None:
        os.write(self.descriptor, text.encode())

    def ended(self) -> int:
        while self._read():
            pass
        os.close(self.descriptor)
        return self.process.wait(START_SECONDS)

    def interrupt(self) -> None:
        """What Ctrl-C does; without a controlling terminal the key itself does nothing.

        Pressed again until it is taken: one that falls between a prompt and the read behind it is lost in readline.
        """
        wait_until(lambda: self._interrupted())

    def _interrupted(self) -> bool:
        self.process.send_signal(signal.SIGINT)
        time.sleep(0.2)
        if select.select([self.descriptor], [], [], 0)[0]:
            self._read()
        return self.process.poll() is not None

    def _read(self) -> bool:
        if not select.select([self.descriptor], [], [], START_SECONDS)[0]:
            return False
        try:
            data = os.read(self.descriptor, 65536)
        except OSError:  # Linux: the other side has closed
            return False
        self.seen += data.decode("utf-8", "replace")
        return bool(data)


def test_ask_offers_the_settings_on_a_terminal_and_enter_skips() -> None:
    terminal = Terminal("ask", "Compare the two")
    for offer, typed in (("Rows to fill", "A, B\r"), ("Columns to fill", "\r"), ("Ready when", "a date each\r")):
        terminal.wait_for(offer)
        terminal.type(typed)
    assert terminal.ended() == 0
    text = read_tree(CASE)["question.md"]
    assert text == "---\nentities: [A, B]\nready_when: a date each\n---\nCompare the two\n"


def test_ctrl_c_while_ask_waits_makes_no_case() -> None:
    terminal = Terminal("ask", "Compare the two")
    terminal.wait_for("Rows to fill")
    terminal.interrupt()
    assert terminal.ended() == 130 and "interrupted" in terminal.seen and not CASE.exists()


def test_a_question_asked_back_on_a_terminal_is_exit_5() -> None:
    write_tree(CASE, {"question.md": "What?\n", "next_query.txt": 'ask("Which year?")\n'})
    terminal = Terminal("run")
    assert terminal.ended() == 5
    assert "the Planner asks you: Which year?" in terminal.seen and "harness steer" in terminal.seen


def test_trust_shows_the_file_and_asks() -> None:
    text = "agents:\n  mine: {command: [sh, -c, 'rm -rf x']}\n"
    write_tree(Path(), {"research/question.md": "What?\n", "harness.yaml": text})
    for typed, code, told in (("n\r", 1, "not trusted"), ("y\r", 0, "trusted: ")):
        terminal = Terminal("trust")
        terminal.wait_for("Trust it?")
        assert "rm -rf x" in terminal.seen and "agents.mine" in terminal.seen
        terminal.type(typed)
        assert terminal.ended() == code and told in terminal.seen


def test_many_files_are_asked_about_on_a_terminal() -> None:
    write_tree(Path(), {**DOCUMENTS, "research/question.md": "Which revenue has Samokat?\n"})
    for number in range(5_001):
        Path(f"{number}.md").touch()
    terminal = Terminal("run")
    terminal.wait_for("Search 500")
    terminal.type("n\r")
    assert terminal.ended() == 2 and "--in DIR" in terminal.seen


def test_a_person_at_the_terminal_saves_a_file_and_the_run_goes_on() -> None:
    write_tree(Path(), {**DOCUMENTS, "research/question.md": "Which revenue has Samokat?\n"})
    terminal = Terminal("run", "--planner", "person", "--in", "docs", columns=150)
    terminal.wait_for("it is taken at once")
    write_tree(CASE, {"next_query.txt": "Samokat revenue\r\n".encode("utf-16")})
    terminal.wait_for("raw_1.md folded")
    assert Path(".harness").exists() is False and "154.0" in read_tree(CASE)["summary.md"]
    wait_until(lambda: terminal.count("it is taken at once") == 2)
    terminal.interrupt()
    assert terminal.ended() == 130 and "interrupted" in terminal.seen


def test_stop_at_a_persons_turn_is_no_failure_of_theirs() -> None:
    write_tree(Path(), {**DOCUMENTS, "research/question.md": "What?\n"})
    for _ in range(2):
        terminal = Terminal("run", "--planner", "person", "--in", "docs", columns=150)
        terminal.wait_for("it is taken at once")
        assert harness("stop").code == 0
        assert terminal.ended() == 0 and "stopped on request" in terminal.seen


@pytest.mark.parametrize("columns", [40, 80, 150])
@pytest.mark.parametrize("grid", [True, False])
def test_no_line_of_the_live_display_is_wider_than_the_terminal(columns: int, grid: bool) -> None:
    long = "a very long question about the revenue of Samokat and of everybody else " * 5
    front = (
        "---\nentities: [Samokat, VkusVill]\nfields: [revenue, a field with a very long name]\n---\n" if grid else ""
    )
    write_tree(Path(), {**DOCUMENTS, "research/question.md": f"{front}{long}\n"})
    terminal = Terminal("run", "--in", "docs", columns=columns)
    assert terminal.ended() in (0, 4)
    shown = terminal.seen.partition("no web")[2].partition("\x1b[?25h")[0]  # until the cursor comes back
    lines = [re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", line) for line in re.split(r"[\r\n]+", shown)]
    assert any(line.startswith("search ") for line in lines)
    assert max(map(len, lines)) <= columns
