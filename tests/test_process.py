"""Running a program: streams without deadlock, limits, and nothing left running. Real programs, no stand-ins."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from harness.environment import child_environment, mask, secrets_of
from harness.process import Finished, interrupt_all, run

MB = 1_000_000
linux = pytest.mark.skipif(sys.platform != "linux", reason="processes that left the group are found in /proc only")


def python(code: str, *arguments: str) -> list[str]:
    return [sys.executable, "-I", "-S", "-c", code, *arguments]


def run_python(
    code: str,
    *arguments: str,
    cwd: Path,
    stdin: str | None = None,
    timeout: float = 20,
    output_limit: int = 4 * MB,
    hard_limit: int = 256 * MB,
) -> Finished:
    env = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    return run(
        python(code, *arguments),
        stdin=stdin,
        cwd=cwd,
        env=env,
        timeout=timeout,
        output_limit=output_limit,
        hard_limit=hard_limit,
    )


def alive(pid: int) -> bool:
    """A zombie is dead: in a container its adoptive parent may never ask for it."""
    try:
        return (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def pids(folder: Path) -> list[int]:
    return [int(path.read_text()) for path in sorted(folder.glob("*.pid"))]


def open_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def until(condition: Callable[[], bool], seconds: float = 10) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def test_text_goes_in_and_comes_out(tmp_path: Path) -> None:
    code = "import sys; text = sys.stdin.read(); print(text.upper()); print('note', file=sys.stderr); sys.exit(3)"
    finished = run_python(code, cwd=tmp_path, stdin="выручка — 154 млрд ₽\n")
    assert finished.stdout == "ВЫРУЧКА — 154 МЛРД ₽\n\n"
    assert (finished.code, finished.stderr_tail, finished.stopped, finished.dropped) == (3, "note", "", 0)
    assert 0 < finished.seconds < 20


def test_no_shell_and_no_input(tmp_path: Path) -> None:
    code = "import sys; print(sys.argv[1:], repr(sys.stdin.read()))"
    finished = run_python(code, "$HOME; echo *", "a b", cwd=tmp_path)
    assert finished.stdout.strip() == "['$HOME; echo *', 'a b'] ''"


def test_runs_in_the_folder_and_says_so(tmp_path: Path) -> None:
    finished = run_python("import os; print(os.getcwd(), os.environ['PWD'])", cwd=tmp_path)
    assert finished.stdout.split() == [str(tmp_path), str(tmp_path)]


def test_invalid_bytes_are_replaced(tmp_path: Path) -> None:
    code = (
        r"import sys; sys.stdout.buffer.write(b'ok \xff\xfe \xd0'); "
        r"sys.stderr.buffer.write(b'\x1b[31mred\x1b[0m \x00\xff')"
    )
    finished = run_python(code, cwd=tmp_path)
    assert finished.stdout == "ok \ufffd\ufffd \ufffd"
    assert finished.stderr_tail == "red \ufffd"


def test_whatever_encoding_we_were_started_in(tmp_path: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path; from harness.process import run\n"
        "echo = 'import sys; given = sys.stdin.buffer.read() + sys.argv[1].encode(); '\n"
        "echo += 'sys.stdout.buffer.write(given + bytes([255]))'\n"
        "command = [sys.executable, '-X', 'utf8', '-c', echo, 'аргумент']\n"
        "print(ascii(run(command, stdin='Лавка', cwd=Path.cwd(), env=dict(os.environ), timeout=20).stdout))"
    )
    env = {**os.environ, "LC_ALL": "C", "PYTHONIOENCODING": "cp1251"}
    told = subprocess.run([sys.executable, "-c", code], env=env, cwd=tmp_path, capture_output=True, check=True).stdout
    assert told.decode().strip() == ascii("Лавкааргумент\ufffd")


def test_a_program_that_does_not_read_its_input(tmp_path: Path) -> None:
    finished = run_python("print('done')", cwd=tmp_path, stdin="x" * 5 * MB)
    assert (finished.code, finished.stdout) == (0, "done\n")


def test_100_mb_each_way_without_deadlock(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "while data := sys.stdin.buffer.read(65536):\n"
        "    sys.stdout.buffer.write(data); sys.stderr.buffer.write(data[:6000])\n"
    )
    finished = run_python(code, cwd=tmp_path, stdin="начало" + "x" * 100 * MB + "конец", output_limit=MB, timeout=60)
    assert finished.code == 0
    assert finished.stdout.startswith("начало") and finished.stdout.endswith("конец")
    assert finished.dropped == 100 * MB + 22 - MB
    assert len(finished.stdout) < MB + 100 and f"[… {finished.dropped} bytes left out …]" in finished.stdout
    assert len(finished.stderr_tail) <= 2_000


def test_output_at_the_limit_is_whole(tmp_path: Path) -> None:
    finished = run_python("print('ab' * 500, end='')", cwd=tmp_path, output_limit=1000)
    assert (finished.stdout, finished.dropped) == ("ab" * 500, 0)
    assert run_python("print('ab' * 501, end='')", cwd=tmp_path, output_limit=1000).dropped == 2


def test_a_character_is_not_torn_at_the_limit(tmp_path: Path) -> None:
    finished = run_python("print('я' * 501, end='')", cwd=tmp_path, output_limit=1002)
    assert finished.dropped == 0 and finished.stdout == "я" * 501


def test_a_program_that_never_stops_printing_is_ended(tmp_path: Path) -> None:
    finished = run_python("while True: print('x' * 9999)", cwd=tmp_path, output_limit=1000, hard_limit=3 * MB)
    assert finished.stopped == "output"
    assert finished.code != 0 and finished.seconds < 10


def test_a_time_out_asks_first(tmp_path: Path) -> None:
    code = (
        "import time\n"
        "print('working', flush=True)\n"
        "try: time.sleep(60)\n"
        "except KeyboardInterrupt: print('last line', flush=True)\n"
    )
    finished = run_python(code, cwd=tmp_path, timeout=0.5)
    assert (finished.stopped, finished.stdout) == ("timeout", "working\nlast line\n")


HANG = """
import os, signal, sys, time
for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(name, signal.SIG_IGN)
def note(name):
    open(name + ".pid.tmp", "w").write(str(os.getpid())); os.rename(name + ".pid.tmp", name + ".pid")
def child(name, *, own_session=False, orphan=False):
    if os.fork() == 0:
        if own_session: os.setsid()
        if orphan and os.fork() != 0: os._exit(0)
        note(name); time.sleep(60); os._exit(0)
child("plain"); child("session", own_session=True); child("orphan", own_session=True, orphan=True)
def without_environment(name):
    code = f"import os, time; open({name!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    os.execve(sys.executable, [sys.executable, "-I", "-S", "-c", code], {})
if os.fork() == 0:  # an orphan of the same session
    if os.fork() != 0: os._exit(0)
    without_environment("cleared.pid")
while len([f for f in os.listdir(".") if f.endswith(".pid") and os.stat(f).st_size]) < 4: time.sleep(0.01)
note("root")
"""


@linux
def test_a_time_out_ends_the_whole_tree(tmp_path: Path) -> None:
    estranged = "if os.fork() == 0: os.setsid(); without_environment('estranged.pid')\ntime.sleep(60)"
    finished = run_python(HANG + estranged, cwd=tmp_path, timeout=1)
    assert finished.stopped == "timeout" and finished.code == -signal.SIGKILL
    assert len(pids(tmp_path)) == 6
    assert not any(map(alive, pids(tmp_path)))


@linux
@pytest.mark.parametrize("ending", ["sys.exit(0)", "sys.exit(7)", "os.kill(os.getpid(), 9)"])
def test_nothing_outlives_a_program_that_ends_by_itself(tmp_path: Path, ending: str) -> None:
    finished = run_python(HANG + ending, cwd=tmp_path, timeout=20)
    assert finished.stopped == ""
    assert finished.seconds < 10, "children that hold the streams open must not be waited for"
    assert len(pids(tmp_path)) == 5
    assert not any(map(alive, pids(tmp_path)))


@linux
def test_ctrl_c_ends_the_whole_tree(tmp_path: Path) -> None:
    (tmp_path / "hang.py").write_text(HANG + "time.sleep(60)")
    code = (
        "import os, sys; from pathlib import Path; from harness.process import run\n"
        f"run([sys.executable, 'hang.py'], stdin=None, cwd=Path({str(tmp_path)!r}), env=dict(os.environ), timeout=60)"
    )
    ours = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, start_new_session=True)
    until(lambda: (tmp_path / "root.pid").exists())
    ours.send_signal(signal.SIGINT)
    _, told = ours.communicate(timeout=15)
    assert b"KeyboardInterrupt" in told
    assert len(pids(tmp_path)) == 5
    assert not any(map(alive, pids(tmp_path)))


def test_programs_of_other_threads_are_ended_on_request(tmp_path: Path) -> None:
    code = "open('started', 'w').close(); import time; time.sleep(60)"
    with ThreadPoolExecutor() as pool:
        future = pool.submit(run_python, code, cwd=tmp_path, timeout=60)
        until(lambda: (tmp_path / "started").exists())
        interrupt_all()
        finished = future.result(timeout=10)
    assert finished.stopped == "interrupt" and finished.code != 0


@linux
def test_only_what_we_started_is_ended(tmp_path: Path) -> None:
    bystander = subprocess.Popen(python("import time; time.sleep(60)"), start_new_session=True)
    try:
        run_python("import time; time.sleep(60)", cwd=tmp_path, timeout=0.3)
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()


def test_a_helper_may_print_after_the_program_ended(tmp_path: Path) -> None:
    code = "import os, time\nif os.fork() == 0:\n    time.sleep(0.2); print('late', flush=True)\nelse: print('early')"
    assert sorted(run_python(code, cwd=tmp_path).stdout.split()) == ["early", "late"]


@pytest.mark.parametrize("command", [["no-such-program-here"], ["./no/such/program"]])
def test_a_missing_program(tmp_path: Path, command: list[str]) -> None:
    with pytest.raises(FileNotFoundError):
        run(command, stdin=None, cwd=tmp_path, env=dict(os.environ), timeout=5)


@linux
def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    before = open_descriptors()
    for _ in range(5):
        run_python("print(1)", cwd=tmp_path, stdin="x")
    assert open_descriptors() == before


def test_markers_of_other_agents_are_left_out_and_settings_stay() -> None:
    inherited = {
        "PATH": "/bin",
        "CLAUDECODE": "1",
        "CLAUDE_CODE_ENTRYPOINT": "cli",
        "CLAUDE_CODE_SSE_PORT": "4711",
        "CLAUDE_CODE_USE_BEDROCK": "1",
        "CLAUDE_CODE_OAUTH_TOKEN": "token",
        "CLAUDE_CODE_DISABLE_ATTACHMENTS": "1",
        "CLAUDE_CONFIG_DIR": "/c",
        "ANTHROPIC_API_KEY": "key",
        "CODEX_SANDBOX": "seatbelt",
        "CODEX_THREAD_ID": "7",
        "CODEX_HOME": "/x",
        "CODEX_API_KEY": "key",
        "GEMINI_CLI": "1",
        "GEMINI_API_KEY": "key",
        "OPENCODE": "1",
        "OPENCODE_PID": "12",
        "OPENCODE_CONFIG": "/o",
        "HARNESS_DIR": "/case",
        "OLDPWD": "/case",
    }
    assert sorted(child_environment(inherited, {"CODEX_SANDBOX": "mine"})) == [
        "ANTHROPIC_API_KEY",
        "CLAUDE_CODE_DISABLE_ATTACHMENTS",
        "CLAUDE_CODE_OAUTH_TOKEN",
        "CLAUDE_CODE_USE_BEDROCK",
        "CLAUDE_CONFIG_DIR",
        "CODEX_API_KEY",
        "CODEX_HOME",
        "CODEX_SANDBOX",
        "GEMINI_API_KEY",
        "OPENCODE_CONFIG",
        "PATH",
    ]


def test_secrets_are_masked() -> None:
    env = {
        "OPENAI_API_KEY": "abcdefgh-12",
        "MY_TOKEN": "abcdefgh-1234",
        "DB_PASSWORD": "hunter2hunter2",
        "SHORT_KEY": "true",
        "HARNESS_TOKENS": "2000000000",
        "LANG": "ru_RU.UTF-8",
    }
    secrets = secrets_of(env)
    assert sorted(secrets) == ["abcdefgh-12", "abcdefgh-1234", "hunter2hunter2"]
    text = "refused abcdefgh-1234 and abcdefgh-12; key sk-proj-Ab12****wxyz; Bearer hf_123456789; ru_RU.UTF-8 true"
    assert mask(text, secrets) == "refused *** and ***; key ***; ***; ru_RU.UTF-8 true"
