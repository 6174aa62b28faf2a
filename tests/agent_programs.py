"""The real agent programs: where they are, an environment of their own, and one run that leaves nothing behind."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from itertools import permutations
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import pytest

from harness.process import run

Test = TypeVar("Test", bound=Callable[..., Any])

FOLDERS = (Path(__file__).parent.parent / "build" / "agents", Path(os.environ.get("AGENT_PROGRAMS") or os.devnull))
# With an address of its own it asks which way to log in, unless its settings say so.
GEMINI_SETTINGS = '{"security": {"auth": {"selectedType": "gemini-api-key"}}, "telemetry": {"enabled": false}}'
QUIET = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS")
MODELS = {"claude": "claude-sonnet-4-5", "codex": "gpt-5.1-codex", "gemini": "gemini-2.5-flash"}


class Ran(NamedTuple):
    """`code`: negative is the signal that ended it; `late`: it was ended at the time-out."""

    code: int
    out: str
    err: str
    seconds: float
    late: bool = False


def program(name: str) -> Path | None:
    """Where `.ci/agents` (or the folder that AGENT_PROGRAMS names) has it; None: not installed."""
    for folder in FOLDERS:
        found = folder / name / "node_modules" / ".bin" / name
        if found.exists():
            return found
    return None


def needs(name: str) -> Callable[[Test], Test]:
    """A mark: a `real` test that is skipped where the program is missing."""

    def marked(test: Test) -> Test:
        for mark in _marks(name):
            test = mark(test)
        return test

    return marked


def each(*names: str) -> list[Any]:
    """Parameters for one test over several programs, each skipped where it is missing."""
    return [pytest.param(name, marks=_marks(name)) for name in names]


def each_order(*names: str) -> list[Any]:
    """The same for tests over two programs, one after the other."""
    pairs = permutations(names, 2)
    return [pytest.param(*pair, marks=[mark for name in pair for mark in _marks(name)]) for pair in pairs]


def _marks(name: str) -> list[pytest.MarkDecorator]:
    return [pytest.mark.skipif(program(name) is None, reason=f"{name} is not installed (.ci/agents)"), pytest.mark.real]


def clean_env(home: Path, url: str, **extra: str) -> dict[str, str]:
    """Nothing is inherited, everything the programs keep is below `home`, every vendor's address is `url`."""
    for folder in (".codex", ".gemini"):  # Codex refuses to start without its own
        (home / folder).mkdir(parents=True, exist_ok=True)
    (home / ".gemini" / "settings.json").write_text(GEMINI_SETTINGS, encoding="utf-8")
    node = shutil.which("node") or "/usr/bin/node"
    return {
        "PATH": os.pathsep.join(dict.fromkeys([str(Path(node).parent), "/usr/local/bin", "/usr/bin", "/bin"])),
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "SHELL": "/bin/sh",
        "NO_PROXY": "127.0.0.1,localhost",
        "no_proxy": "127.0.0.1,localhost",
        **{f"XDG_{kind}_HOME": str(home / "xdg" / kind.lower()) for kind in ("CONFIG", "DATA", "CACHE", "STATE")},
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "sk-ant-of-a-test",
        "CLAUDE_CONFIG_DIR": str(home / ".claude"),
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "OPENAI_API_KEY": "sk-of-a-test",
        "CODEX_HOME": str(home / ".codex"),
        **{
            f"OPENCODE_DISABLE_{what}": "1"
            for what in ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS")
        },
        "GEMINI_API_KEY": "of-a-test",
        "GOOGLE_GEMINI_BASE_URL": url,
        "GEMINI_TELEMETRY_ENABLED": "false",
        **extra,
    }


def run_program(
    argv: Sequence[str | Path],
    cwd: Path,
    env: Mapping[str, str],
    stdin: str | None = None,
    *,
    timeout: float = 90.0,
) -> Ran:
    """One run; whatever it started is ended with it, and after `timeout` seconds it is ended itself."""
    ended = run([str(part) for part in argv], stdin=stdin, cwd=cwd, env=env, timeout=timeout)
    return Ran(ended.code, ended.stdout, ended.stderr_tail, ended.seconds, late=ended.stopped == "timeout")
