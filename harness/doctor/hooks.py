"""Checks of the hooks that `harness init` installed: a canary is sent through each, as Claude Code would start it."""

from __future__ import annotations

import json
import os
import re
import secrets
import shlex
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import harness
from harness.doctor.finding import SECONDS, Around, Finding, failed, passed, skipped, started, warned
from harness.environment import child_environment
from harness.errors import HarnessError
from harness.store.reading import read_bytes
from harness.trust import trust_file

SWITCH = "HARNESS_HOOKS"
PLUGIN_HOOKS = Path("claude", "marketplace", "research", "hooks", "hooks.json")  # in the data folder
SCRIPT = Path("claude", "hook.py")  # there too
PROJECT_SETTINGS = (".claude/settings.json", ".claude/settings.local.json")
SETTINGS_LIMIT = 1_000_000  # bytes
SLOW = 1.0  # seconds: a person waits for each of them
WIRE = "harness init"


def switches(around: Around) -> Iterator[Finding]:
    """What turns all hooks off: our own variable, and a setting of Claude Code."""
    if around.environ.get(SWITCH) == "0":
        yield warned("hooks", f"off: {SWITCH}=0", f"unset {SWITCH} to have /research work")
    for file in _settings_files(around):
        if _read(file).get("disableAllHooks") is True:
            yield warned("hooks", f"off: disableAllHooks in {file}", "remove it to have /research work")


def canary(around: Around) -> Iterator[Finding]:
    """Every command that Claude Code would start for us must answer, quickly, and in this version."""
    data = trust_file(around.environ).parent
    plugin = data / PLUGIN_HOOKS
    own = list(dict.fromkeys(_commands(_read(plugin))))
    told = {file: list(dict.fromkeys(_ours(file, data))) for file in _settings_files(around)}
    wired = {file: commands for file, commands in told.items() if commands}
    if not own and not wired:
        yield skipped("hooks", f"not wired: {WIRE}")
        return
    if around.environ.get(SWITCH) == "0":
        return
    for command in own:
        yield _sent(plugin, command, around)
    for file, commands in wired.items():
        for command in commands:
            if command in own or _known(data).fullmatch(command):
                yield _sent(file, command, around)
            else:
                what = "starts something else than this installation would; it was not run"
                yield warned("hook", f"{file}: {what}: {command}", WIRE)


def _sent(file: Path, command: str, around: Around) -> Finding:
    token = secrets.token_hex(8)
    event = json.dumps({"hook_event_name": "Canary", "canary": token})
    try:
        ended = started(["sh", "-c", command], child_environment(around.environ, {}), stdin=event)
    except OSError as error:
        return failed("hook", f"{file}: cannot be started ({error.strerror})", WIRE)
    if ended.stopped:
        return failed("hook", f"{file}: no answer in {SECONDS:g} s", WIRE)
    answer = _mapping(ended.stdout)
    if ended.code or answer.get("canary") != token:
        said = ended.stderr_tail or ended.stdout or "nothing"
        return failed("hook", f"{file}: exit code {ended.code}, it said: {said}", WIRE)
    if answer.get("harness") != harness.__version__:
        told = f"{file}: of harness {answer.get('harness')}, this is {harness.__version__}"
        return warned("hook", told, WIRE)
    if ended.seconds > SLOW:
        todo = f"over {SLOW:g} s each time: look what slows the start of {sys.executable}"
        return warned("hook", f"{file}: {ended.seconds:.1f} s", todo)
    return passed("hook", f"{file}: answers in {ended.seconds * 1000:.0f} ms")


def _known(data: Path) -> re.Pattern[str]:
    """The commands that this installation writes. A project's settings may come from a stranger: no other is run."""
    script, python = re.escape(shlex.quote(str(data / SCRIPT))), re.escape(shlex.quote(sys.executable))
    package = re.escape(shlex.quote(str(Path(harness.__file__).parent.parent)))
    return re.compile(rf"\[ -f {script} \] && \[ -x {python} \] && exec {python} -I -S {script} {package}; true")


def _ours(file: Path, data: Path) -> Iterator[str]:
    """Commands of a settings file that name our script."""
    yield from (command for command in _commands(_read(file)) if str(data / SCRIPT) in command)


def _commands(settings: Mapping[str, Any]) -> Iterator[str]:
    events = settings.get("hooks")
    for groups in events.values() if isinstance(events, dict) else ():
        for group in groups if isinstance(groups, list) else ():
            hooks = group.get("hooks") if isinstance(group, dict) else None
            for hook in hooks if isinstance(hooks, list) else ():
                if isinstance(hook, dict) and isinstance(hook.get("command"), str):
                    yield hook["command"]


def _settings_files(around: Around) -> tuple[Path, ...]:
    """Claude Code's: the user's, and the project's where it is started (those of parents do not count)."""
    home = around.environ.get("CLAUDE_CONFIG_DIR")
    user = Path(home) if home else Path.home() / ".claude"
    # Their own may be a link, to where they keep such files; a project's may not.
    return (Path(os.path.realpath(user / "settings.json")), *(around.here / name for name in PROJECT_SETTINGS))


def _read(file: Path) -> Mapping[str, Any]:
    """A JSON file's mapping; empty where it is none, no plain file, or not there."""
    try:
        return _mapping((read_bytes(file, limit=SETTINGS_LIMIT) or b"").decode("utf-8", errors="replace"))
    except (HarnessError, OSError):
        return {}


def _mapping(text: str) -> Mapping[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
