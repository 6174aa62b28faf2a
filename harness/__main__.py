"""The one door of the program: runs a command, turns errors into a message and an exit code."""

from __future__ import annotations

import io
import os
import shlex
import signal
import sys
from collections.abc import Sequence
from itertools import pairwise

import click

from harness.cli.group import cli
from harness.cli.place import called, pasteable
from harness.errors import HarnessError

PROGRAM = "harness"  # also when started as `python -m harness`
UNEXPECTED = 3
INTERRUPTED = 130
ROLE_FLAGS = ("--agent", "--planner", "--synthesizer", "--checker")


def main() -> None:
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """One command; the exit code: design.md, section 7."""
    _replace_what_cannot_be_shown()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a polite end, so that agents are ended with us
    try:
        code = cli.main(list(arguments), PROGRAM, standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except HarnessError as error:
        print(f"harness: {pasteable(str(error), _call(arguments))}", file=sys.stderr)
        return error.exit_code
    except (click.exceptions.Abort, KeyboardInterrupt):  # click makes the first of the second
        again = "the same command" if "fold" in arguments else f"harness run{_roles(arguments)}"
        goes_on = pasteable(f"{again} goes on", _call(arguments))
        told = "nothing was changed" if "init" in arguments else f"what was committed stands, and {goes_on}"
        print(f"\nharness: interrupted; {told}", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has left; the interpreter must not complain while it flushes at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if isinstance(error, OSError) and error.filename:  # a name too long, a disk that fails: no fault of ours
            print(f"harness: {error.strerror}: {error.filename}", file=sys.stderr)
            print("  check the path; the case stands at its last commit", file=sys.stderr)
            return HarnessError.exit_code
        print(f"harness: unexpected error; the traceback is in {_keep_traceback()}", file=sys.stderr)
        print("  the case stands at its last commit; please report this with the file", file=sys.stderr)
        return UNEXPECTED


def _call(arguments: Sequence[str]) -> str:
    """How the case was named: the door has no click context left."""
    named = [case for flag, case in pairwise(arguments) if flag == "-C"]
    return called(named[0] if named else None)


def _roles(arguments: Sequence[str]) -> str:
    """Who took the roles: without them the built-in rules would go on."""
    named = (f" {flag} {shlex.quote(name)}" for flag, name in pairwise(arguments) if flag in ROLE_FLAGS)
    return "".join(named)


def _replace_what_cannot_be_shown() -> None:
    """Answers are in every language: a console set to cp1251 or ASCII must not end the run."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _keep_traceback() -> str:
    import tempfile  # late: 4 ms of every start, for what should not happen
    import traceback

    descriptor, path = tempfile.mkstemp(prefix="harness-", suffix=".txt")
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        traceback.print_exc(file=file)
    return path


if __name__ == "__main__":
    main()
