"""Checks of the project around here: its settings, what agents are told in it, and whether they can read the case."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path

from harness import __version__
from harness.config import review
from harness.doctor.finding import Around, Finding, failed, passed, shown, skipped, warned
from harness.errors import HarnessError
from harness.locate import find_project
from harness.patterns import lazy
from harness.search.scan import ignoring_rule
from harness.store.reading import read_bytes
from harness.trust import is_trusted

GUIDES = ("AGENTS.md", "CLAUDE.md", "GEMINI.md")
CHAIN_LIMIT = 32_768  # bytes of AGENTS.md from the root down to here: what is over it Codex drops without a word
GUIDE_LIMIT = 1_000_000  # bytes read of one
_MARK = lazy(r"^<!-- harness init (\S+)")


def settings(around: Around) -> Iterator[Finding]:
    """The harness.yaml around here, which is never obeyed where it needs trust and has none."""
    file = find_project(around.near_case())
    if file is None:
        yield skipped("harness.yaml", "none around here")
        return
    try:
        seen = review(file)
    except HarnessError as error:
        yield failed("harness.yaml", f"{error.what}: {error.value}", shown(error.hint))
        return
    named = ", ".join(seen.risks)
    if not seen.risks:
        yield passed("harness.yaml", f"{file}: sets nothing that needs trust")
    elif is_trusted(file, environ=around.environ, content=seen.content):
        yield passed("harness.yaml", f"{file}: trusted ({named})")
    else:
        yield warned("harness.yaml", f"{file}: not trusted, so not obeyed ({named})", "read it; then harness trust")


def case(around: Around) -> Iterator[Finding]:
    """Gemini CLI reads no file that git ignores."""
    folder = around.case_folder()
    if not folder.is_dir():
        yield skipped("case", f"none at {folder}")
        return
    rule = ignoring_rule(folder)
    if rule:
        todo = "remove the pattern where Gemini CLI is to work on the case: it reads no ignored file"
        yield warned("case", f"{folder} is ignored by {rule}", todo)
    else:
        yield passed("case", f"{folder}, not ignored")


def guides(around: Around) -> Iterator[Finding]:
    """The chain that Codex reads, and our block in it."""
    levels = [level for level in (around.here, *around.here.parents) if level.is_relative_to(around.project)]
    sizes = {level / "AGENTS.md": size for level in levels if (size := _size(level / "AGENTS.md"))}
    total = sum(sizes.values())
    if total > CHAIN_LIMIT:
        largest = max(sizes, key=lambda path: sizes[path])
        todo = f"shorten {largest}: Codex drops what is over {CHAIN_LIMIT}, the deepest file first"
        yield warned("AGENTS.md", f"{total} bytes in {len(sizes)} files", todo)
    elif sizes:
        yield passed("AGENTS.md", f"{total} bytes of {CHAIN_LIMIT}")
    else:
        yield skipped("AGENTS.md", f"none in {around.project}")
    yield from _blocks(around.project)


def _size(path: Path) -> int:
    try:
        found = path.lstat()
    except OSError:
        return 0
    return found.st_size if stat.S_ISREG(found.st_mode) else 0


def _blocks(project: Path) -> Iterator[Finding]:
    marks = {}
    for name in GUIDES:
        text = _text(project / name)
        if found := next((match for line in text.split("\n") if (match := _MARK.match(line))), None):
            marks[name] = found[1]
    outdated = [f"{name} ({version})" for name, version in marks.items() if version != __version__]
    if outdated:
        yield warned("block of harness init", f"outdated in {', '.join(outdated)}", "harness init")
    elif marks:
        yield passed("block of harness init", ", ".join(marks))
    else:
        yield skipped("block of harness init", "not wired: harness init")


def _text(path: Path) -> str:
    """A plain file's; nothing of a link's or a pipe's."""
    try:
        return (read_bytes(path, limit=GUIDE_LIMIT) or b"").decode("utf-8", errors="replace")
    except (HarnessError, OSError):
        return ""
