"""What a check says, and what it may look at."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from harness.config import Resolved, resolve
from harness.errors import HarnessError
from harness.formats.text import one_line, shortened
from harness.locate import find_case, project_root
from harness.process import Finished, run

SECONDS = 5.0  # for a program that says its version
SHOWN = 300  # characters: a program, a file or a stranger's project may say anything


class Level(StrEnum):
    """How it stands: `skip` where there was nothing to look at."""

    PASS = "pass"
    WARN = "warn"
    FAIL = "fail"
    SKIP = "skip"


class Finding(NamedTuple):
    """One line of `harness doctor`: what was looked at, what was found, and what to do ("" where nothing is)."""

    level: Level
    what: str
    found: str
    todo: str = ""


class Around(NamedTuple):
    """Where the command was started and with what; `system`: where Linux tells its limits."""

    here: Path
    case: Path | None  # as given by -C
    environ: Mapping[str, str]
    system: Path = Path("/proc/sys")

    @property
    def project(self) -> Path:
        """The root of the project around here; without one, the current folder."""
        return project_root(self.here) or self.here

    def case_folder(self) -> Path:
        """Raises HarnessError where the case is unclear or leads out of the project."""
        return find_case(self.here, given=self.case, environ=self.environ)

    def near_case(self) -> Path:
        """The case's folder, or the current one where that is unclear: `case` tells of it."""
        try:
            return self.case_folder()
        except HarnessError:
            return self.here

    def settings(self) -> Resolved:
        """Those that count without trust and without the question. Raises HarnessError."""
        case = self.near_case()
        return resolve(case=case, project=None, question=None, environ=self.environ, flags={}, ignore_untrusted=True)


Check = Callable[[Around], Iterator[Finding]]


def passed(what: str, found: str) -> Finding:
    return Finding(Level.PASS, what, shown(found))


def warned(what: str, found: str, todo: str) -> Finding:
    return Finding(Level.WARN, what, shown(found), todo)


def failed(what: str, found: str, todo: str) -> Finding:
    return Finding(Level.FAIL, what, shown(found), todo)


def skipped(what: str, found: str) -> Finding:
    return Finding(Level.SKIP, what, shown(found))


def shown(text: str) -> str:
    """One line that a terminal can be given."""
    return shortened(one_line(text), SHOWN)


def started(
    command: Sequence[str], environ: Mapping[str, str], *, stdin: str | None = None, timeout: float = SECONDS
) -> Finished:
    """Run a program in an empty folder, so that it finds no settings of a project. Raises OSError."""
    with tempfile.TemporaryDirectory(prefix="harness-") as folder:
        return run(command, stdin=stdin, cwd=Path(folder), env=environ, timeout=timeout)
