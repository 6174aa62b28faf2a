"""`harness watch` over real files: every way to save is told once, on a pipe and on a terminal."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from harness.terminal import key_within, single_keys
from harness.watch import SETTLE, Contents, wakes
from tests.fakes import search_for
from tests.program import COMMAND, harness, wait_until
from tests.trees import write_tree

QUERY, NEW = "old query\n", "new query\n"
TARGET = "next_query.txt"


def in_place(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(NEW.encode())


def truncated(path: Path) -> None:
    """VS Code empties the file, then writes it."""
    with path.open("wb") as file:
        file.flush()
        time.sleep(SETTLE / 4)
        file.write(NEW.encode())


def renamed(path: Path) -> None:
    temporary = path.with_name(".save.tmp")
    temporary.write_text(NEW)
    temporary.replace(path)


def vims_dance(path: Path) -> None:
    probe, backup = path.with_name("4913"), path.with_name(f"{path.name}~")
    probe.write_text("")
    probe.unlink()
    path.rename(backup)
    path.write_text(NEW)
    backup.unlink()


def moved_in(path: Path) -> None:
    elsewhere = path.parent.parent / "elsewhere.txt"
    elsewhere.write_text(NEW)
    shutil.move(elsewhere, path)


def real_vim(path: Path) -> None:
    subprocess.run(["vim", "-u", "NONE", "-es", "-c", "%s/old/new/", "-c", "wq", str(path)], check=True, timeout=20)


needs_vim = [pytest.mark.real, pytest.mark.skipif(shutil.which("vim") is None, reason="vim is not installed")]
STYLES = [in_place, truncated, renamed, vims_dance, moved_in, pytest.param(real_vim, marks=needs_vim)]


@pytest.fixture
def case(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "case", {"question.md": "What?\n", TARGET: QUERY})


@contextmanager
def watching(case: Path, *flags: str) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """The watch on a pipe, its first line out, and the file that its output goes to."""
    out = case.parent / "out.txt"
    with out.open("w") as file:
        process = subprocess.Popen(
            [*COMMAND, "-C", str(case), "watch", *flags],
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            wait_until(lambda: bool(out.read_text()))
            yield process, out
        finally:
            process.kill()
            process.communicate()


@pytest.mark.parametrize("flags", [(), ("--poll",)], ids=["events", "polling"])
@pytest.mark.parametrize("save", STYLES)
def test_each_way_to_save_is_told_once(case: Path, save: Callable[[Path], None], flags: tuple[str, ...]) -> None:
    with watching(case, *flags) as (process, out):
        save(case / TARGET)
        wait_until(lambda: "new query" in out.read_text())
        (case / TARGET).touch()
        (case / TARGET).read_bytes()
        time.sleep(1.5)
        told = out.read_text()
        assert told.count(f"{TARGET} changed, by a person") == 1 and told.count("due: ") == 2, told
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 130


def test_a_hundred_reads_wake_nobody(case: Path) -> None:
    with wakes(case) as woken:
        for _ in range(100):
            (case / TARGET).read_bytes()
        assert not woken.wait(SETTLE)
        (case / TARGET).write_text(NEW)
        assert woken.wait(5)


def test_polling_starts_no_observer(case: Path) -> None:
    with wakes(case, poll=True) as woken:
        (case / TARGET).write_text(NEW)
        assert not woken.wait(SETTLE)


def test_a_raw_is_read_again_only_where_it_changed(case: Path) -> None:
    contents = Contents(case)
    write_tree(case, {"raw_1.md": "one\n", "notes.txt": "not ours\n", ".0123456789abcdef.tmp": "ours\n"})
    first = contents.now()
    assert set(first) == {"question.md", TARGET, "raw_1.md"}
    (case / "raw_1.md").touch()
    assert contents.settled() == first
    write_tree(case, {"raw_1.md": "two, and longer\n"})
    assert contents.now()["raw_1.md"] != first["raw_1.md"]
    shutil.rmtree(case)
    assert contents.now() == {}


def test_it_ends_when_the_answer_stands_and_speaks_json(case: Path) -> None:
    with watching(case, "--json") as (process, out):
        write_tree(case, {"answer.md": "It is so.\n"})
        assert process.wait(20) == 0
        first, last = (json.loads(line) for line in (out.read_text().splitlines()[0], out.read_text().splitlines()[-1]))
        assert first["due"] == "Search" and last["due"] == "Done"
        assert [one["file"] for one in last["came"]] == ["answer.md"]
    assert (case / "answer.md").read_text() == "It is so.\n" and not (case / "trace.jsonl").exists()


def test_without_a_case_it_says_what_to_do(tmp_path: Path) -> None:
    ran = harness("-C", str(tmp_path / "none"), "watch")
    assert ran.code == 1 and "no such case" in ran.err and "ask" in ran.err


# A terminal --------------------------------------------------------------------------------------


def test_keys_come_singly_and_the_mode_is_put_back(case: Path) -> None:
    master, slave = os.openpty()
    before = termios.tcgetattr(slave)
    try:
        with pytest.raises(KeyboardInterrupt), single_keys(slave):
            for typed, key in (("a", "a"), ("Q", "q"), ("й", "q"), ("\x1b[A", ""), ("pasted", "")):
                os.write(master, typed.encode())
                assert key_within(slave, 2) == key, typed
            assert key_within(slave, 0) == ""
            raise KeyboardInterrupt
        assert termios.tcgetattr(slave) == before
    finally:
        os.close(master)
        os.close(slave)


class Tmux:
    """A terminal of its own with a shell in it."""

    def __init__(self, name: str, folder: Path, **environ: str) -> None:
        self._call = ["tmux", "-L", name]
        given = [word for pair in environ.items() for word in ("-e", "=".join(pair))]
        start = ["new-session", "-d", "-x", "150", "-y", "50", "-c", str(folder), *given, "sh"]
        subprocess.run([*self._call, *start], check=True)

    def type(self, *keys: str) -> None:
        subprocess.run([*self._call, "send-keys", *keys], check=True)

    def shows(self, text: str) -> None:
        wait_until(lambda: text in self.screen())

    def screen(self) -> str:
        return subprocess.run([*self._call, "capture-pane", "-p", "-S", "-200"], capture_output=True, text=True).stdout

    def end(self) -> None:
        subprocess.run([*self._call, "kill-server"], check=False, capture_output=True)


@pytest.mark.real
@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
def test_keys_take_steps_on_a_terminal(tmp_path: Path) -> None:
    write_tree(tmp_path, {"case/question.md": "What is alpha?\n", "docs/a.md": "# Alpha\n\nAlpha is 12 m high.\n"})
    terminal = Tmux(f"watch-{os.getpid()}", tmp_path, EDITOR="cat", PYTHON=sys.executable)
    try:
        terminal.type(
            'stty -a > before; "$PYTHON" -m harness -C case watch --in docs; echo "code $?"; stty -a > after', "C-m"
        )
        terminal.shows("q stop")
        terminal.type("a")
        terminal.shows("a role is due, and no reply to it is saved")
        write_tree(tmp_path, {"case/reply.txt": search_for("alpha")})
        terminal.type("a")
        terminal.shows("a search for raw_1.md: alpha")
        write_tree(tmp_path, {"case/next_query.txt": "alpha height\n"})
        terminal.shows("next_query.txt changed, by a person")
        terminal.type("s")
        terminal.shows("raw_1.md: harness -C case step")
        terminal.type("a")  # the reply is older than the last pass
        wait_until(lambda: terminal.screen().count("no reply to it is saved") == 2)
        terminal.type("t")
        terminal.shows("Direction")
        terminal.type("only heights", "C-m")
        terminal.shows("added to Directions")
        terminal.type("g")
        terminal.shows("fold: ")
        terminal.type("C-c")
        terminal.shows("code 130")
        wait_until(lambda: (tmp_path / "after").exists() and (tmp_path / "after").read_text() != "")
        assert (tmp_path / "after").read_text() == (tmp_path / "before").read_text()
    finally:
        terminal.end()
