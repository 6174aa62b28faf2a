"""The table of checks, all of them made one after the other, and what they found as lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from harness.doctor import hooks, machine, programs, project
from harness.doctor.finding import Around, Check, Finding, Level, warned
from harness.errors import HarnessError

CHECKS: Mapping[str, Check] = {
    "Python": machine.python,
    "harness on PATH": machine.on_path,
    "git": machine.git,
    "tokens": machine.tokens,
    "encoding": machine.console,
    "inotify limits": machine.watches,
    "folders": machine.folders,
    "agents": programs.agents,
    "keys": programs.keys,
    "hooks": hooks.switches,
    "canary": hooks.canary,
    "harness.yaml": project.settings,
    "case": project.case,
    "AGENTS.md": project.guides,
}


def examine(around: Around, checks: Mapping[str, Check] = CHECKS) -> tuple[Finding, ...]:
    """What every check found. One that breaks is a finding itself: the others are still worth their lines."""
    return tuple(finding for name, check in checks.items() for finding in _made(name, check, around))


def _made(name: str, check: Check, around: Around) -> Iterator[Finding]:
    try:
        yield from check(around)
    except HarnessError as error:
        yield warned(name, f"{error.what}: {error.value}" if error.value else error.what, error.hint)
    except Exception as error:  # of a machine that nobody has seen yet
        yield warned(name, f"could not be looked at: {type(error).__name__}: {error}", "please report this line")


def is_broken(findings: Iterable[Finding]) -> bool:
    return any(finding.level is Level.FAIL for finding in findings)


def render_findings(findings: tuple[Finding, ...]) -> str:
    """A line each, with what to do below it; then how many of each kind."""
    lines = []
    for finding in findings:
        lines.append(f"{finding.level.upper()}  {finding.what}: {finding.found}")
        lines += [f"      {line.strip()}" for line in finding.todo.splitlines()]
    counts = Counter(finding.level for finding in findings)
    return "\n".join([*lines, ", ".join(f"{counts[level]} {level}" for level in Level if counts[level])])
