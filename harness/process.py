"""Run one program: feed it, read it within limits, and leave nothing of it running."""

from __future__ import annotations

import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, NamedTuple

from harness.formats.text import clean
from harness.process_tree import end_tree, marked

OUTPUT_LIMIT = 4_000_000  # bytes kept of what a program prints: a million tokens, far above any reply
HARD_LIMIT = 256_000_000  # bytes; a program that prints more will not stop by itself
ERROR_LIMIT = 64_000  # bytes kept of the error stream
TAIL_LINES = 20  # of the error stream that are worth showing
TAIL_CHARS = 2_000
LAST_WORDS = 1.0  # seconds for helpers of a program that ended (`> >(tee log)`) to print the rest
CHUNK = 65_536


class _Running:
    """The programs of all threads: Ctrl-C reaches the main thread only."""

    def __init__(self) -> None:
        self.talks: set[_Talk] = set()
        self.interrupts = 0  # one that comes while a program is being started counts for it too


_running = _Running()


class Finished(NamedTuple):
    """How a program ended. `stopped` is "" if by itself, else why we ended it: `timeout`, `output`, `interrupt`."""

    code: int  # negative: the signal that ended it
    stdout: str
    stderr_tail: str  # its last lines, without control characters
    seconds: float
    stopped: str = ""
    dropped: int = 0  # bytes left out of the middle of stdout


def run(
    command: Sequence[str],
    *,
    stdin: str | None,
    cwd: Path,
    env: Mapping[str, str],
    timeout: float,
    output_limit: int = OUTPUT_LIMIT,
    hard_limit: int = HARD_LIMIT,
) -> Finished:
    """Run `command` without a shell, in `cwd` and with exactly `env`, for at most `timeout` seconds.

    Text is UTF-8 both ways; invalid bytes are replaced. Of stdout the first and the last part are kept,
    `output_limit` bytes together. Whatever it started is ended with it, on a time-out, on Ctrl-C, and also when it
    ends by itself: no process survives a call.

    Raises OSError if it cannot be started (FileNotFoundError: no such program), ValueError for a NUL in `command`.
    """
    program = shutil.which(command[0], path=env.get("PATH"))
    if program is None:
        raise FileNotFoundError(2, "no such program", command[0])
    started, interrupts = time.monotonic(), _running.interrupts
    with_mark, mark = marked({**env, "PWD": str(cwd)})  # some programs believe PWD before they ask the system
    process = subprocess.Popen(
        [str(Path(program).absolute()), *command[1:]],  # found from here, not from the new folder
        stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=cwd,
        env=with_mark,
        bufsize=0,
        start_new_session=True,
    )
    talk = _Talk(process, stdin, output_limit, hard_limit)
    _running.talks.add(talk)
    if _running.interrupts != interrupts:
        talk.interrupt()
    try:
        stopped = talk.wait(timeout)
        told = talk.err.text() if stopped else ""  # before it complains about being ended
    finally:
        _running.talks.discard(talk)
        end_tree(process, mark)
        talk.close()
    return Finished(
        code=process.returncode if process.returncode is not None else -9,
        stdout=talk.out.text(),
        stderr_tail=last_lines(told if stopped else talk.err.text()),
        seconds=time.monotonic() - started,
        stopped=stopped,
        dropped=talk.out.dropped,
    )


def interrupt_all() -> None:
    """Have every `run` in every thread end its program now and return; for Ctrl-C while searches run side by side."""
    _running.interrupts += 1
    for talk in tuple(_running.talks):
        talk.interrupt()


def last_lines(text: str) -> str:
    """The last lines of what a program printed, without control characters, short enough for a message."""
    lines = [line.rstrip() for line in clean(text).split("\n")]
    return "\n".join([line for line in lines if line.strip()][-TAIL_LINES:])[-TAIL_CHARS:]


class _Kept:
    """The first and the last part of a stream, `limit` bytes together; what was between is counted."""

    def __init__(self, limit: int) -> None:
        self._half = max(limit // 2, 1)
        self._head = bytearray()
        self._tail = bytearray()
        self.total = 0

    def add(self, data: bytes) -> None:
        self.total += len(data)
        room = self._half - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        if len(self._tail) > 2 * self._half:  # cut now and then, not at every chunk
            del self._tail[: -self._half]

    @property
    def dropped(self) -> int:
        return max(0, self.total - 2 * self._half)

    def text(self) -> str:
        if not self.dropped:
            return (self._head + self._tail).decode("utf-8", errors="replace")
        head, tail = (part.decode("utf-8", errors="replace") for part in (self._head, self._tail[-self._half :]))
        return f"{head}\n[… {self.dropped} bytes left out …]\n{tail}"


class _Talk:
    """The three streams of a running program, each moved by a thread of its own, so that none can block another."""

    def __init__(self, process: subprocess.Popen[bytes], stdin: str | None, output_limit: int, hard_limit: int) -> None:
        self.out = _Kept(output_limit)
        self.err = _Kept(ERROR_LIMIT)
        self._hard_limit = hard_limit
        self._process = process
        self._stop = threading.Event()  # the program ended, printed too much, or is to be ended
        self._interrupted = False
        assert process.stdout is not None
        assert process.stderr is not None
        self._readers = [
            _thread(lambda: self._read(process.stdout, self.out)),
            _thread(lambda: self._read(process.stderr, self.err)),
        ]
        self._writer = _thread(lambda: self._write(process.stdin, stdin or ""))
        self._waiter = _thread(self._await_end)

    def wait(self, timeout: float) -> str:
        """Wait for the end; the answer is `Finished.stopped`."""
        ended = self._stop.wait(min(timeout, threading.TIMEOUT_MAX))
        if self._interrupted:
            return "interrupt"
        if self._too_much():
            return "output"
        if not ended:
            return "timeout"
        until = time.monotonic() + LAST_WORDS
        for reader in self._readers:
            reader.join(max(0.0, until - time.monotonic()))
        return "output" if self._too_much() else ""

    def interrupt(self) -> None:
        self._interrupted = True
        self._stop.set()

    def close(self) -> None:
        """Close the streams, once the whole tree has ended."""
        pipes = (self._process.stdout, self._process.stderr, self._process.stdin)
        for thread, pipe in zip((*self._readers, self._writer), pipes, strict=True):
            thread.join(LAST_WORDS)
            if pipe is not None and not thread.is_alive():  # alive: a process that got away still holds the other end
                with suppress(OSError):
                    pipe.close()
        self._waiter.join(LAST_WORDS)

    def _too_much(self) -> bool:
        return max(self.out.total, self.err.total) > self._hard_limit

    def _read(self, pipe: IO[bytes] | None, kept: _Kept) -> None:
        while pipe is not None and (data := pipe.read(CHUNK)):
            kept.add(data)
            if self._too_much():
                self._stop.set()

    def _write(self, pipe: IO[bytes] | None, text: str) -> None:
        if pipe is None:
            return
        rest = memoryview(text.encode("utf-8", errors="replace"))
        with suppress(OSError):  # it does not read its input, or has ended: no fault of its own
            while rest:
                rest = rest[pipe.write(rest[:CHUNK]) :]
        with suppress(OSError):
            pipe.close()

    def _await_end(self) -> None:
        self._process.wait()
        self._stop.set()


def _thread(target: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=target, daemon=True)
    thread.start()
    return thread
