"""Driving the real programs by the shipped presets: where they are found, and a model that plays the three roles."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.config import resolve
from tests.agent_programs import MODELS, clean_env, program
from tests.agent_server import Asked, Said
from tests.program import user_config
from tests.trees import write_tree

PLANNER, SYNTHESIZER, CHECKER = "You are the Planner", "You are the Synthesizer", "You check once"
QUESTION = "What was the revenue of Samokat in 2024?"
FACT = "- The revenue of Samokat was 154.0 bn roubles in 2024 [1.1]"
PAGE = "# Samokat in 2024\nDate: 2025-02-11\n\nSamokat had a revenue of 154.0 bn roubles in 2024.\n"
OPENCODE = (
    '{"model": "rig/m", "provider": {"rig": {"npm": "@ai-sdk/openai-compatible",'
    ' "options": {"baseURL": "ADDRESS/v1", "apiKey": "k"}, "models": {"m": {}}}}}'
)
# The preset ignores config.toml, so the server of the tests is named on the command line.
CODEX = (
    'model_providers.rig={name="rig",base_url="ADDRESS/v1",wire_api="responses",env_key="OPENAI_API_KEY",'
    "request_max_retries=1,stream_max_retries=1}"
)


def wire(names: tuple[str, ...], url: str, patch: pytest.MonkeyPatch) -> Path:
    """Put real programs on PATH, each with the settings of a user whose model is at `url`. Returns their HOME."""
    home = Path(os.environ["HOME"])
    for name, value in clean_env(home, url).items():
        if name not in ("HOME", "PATH"):
            patch.setenv(name, value)
    patch.setenv("OPENAI_BASE_URL", f"{url}/v1")  # Qwen Code
    patch.setenv("OPENAI_MODEL", "m")
    patch.setenv("GEMINI_MODEL", MODELS["gemini"])
    patch.setenv("ANTHROPIC_MODEL", MODELS["claude"])
    patch.setenv("CLAUDE_CODE_MAX_RETRIES", "1")
    write_tree(home, {"xdg/config/opencode/opencode.json": OPENCODE.replace("ADDRESS", url)})
    for name in names:
        _on_path(name, url, home / "bin")
    patch.setenv("PATH", f"{home / 'bin'}{os.pathsep}{clean_env(home, url)['PATH']}")
    return home


def options_for(name: str, url: str) -> list[str]:
    """What a program takes on its command line, behind the subcommand, to have its model at `url`."""
    if name != "codex":
        return []
    return ["-m", MODELS["codex"], "-c", 'model_provider="rig"', "-c", CODEX.replace("ADDRESS", url)]


def _on_path(name: str, url: str, folder: Path) -> None:
    """A script that starts the program; Codex takes options only behind its subcommand."""
    found = program(name)
    assert found is not None
    start, more = shlex.quote(str(found)), options_for(name, url)
    start = f'first=$1; shift; exec {start} "$first" {shlex.join(more)}' if more else f"exec {start}"
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f'#!/bin/sh\n{start} "$@"\n')
    (folder / name).chmod(0o755)


def packet_of(asked: Asked) -> str:
    """What the harness sent: the text that one of the roles is told."""
    texts = [text for role, text in asked.messages if role == "user"]
    return next((text for text in texts if any(sign in text for sign in (PLANNER, SYNTHESIZER, CHECKER))), "")


def role_of(asked: Asked) -> str:
    packet = packet_of(asked)
    return next((sign for sign in (PLANNER, SYNTHESIZER, CHECKER) if sign in packet), "")


def researcher(asked: Asked) -> Said:
    """Plays all three roles to the end of a research with one search."""
    match role_of(asked):
        case "You are the Planner" if FACT in packet_of(asked):
            return Said('Think: it stands there.\nAction: answer("Samokat had 154.0 bn roubles in 2024 [1.1].")')
        case "You are the Planner":
            return Said('Think: nothing is known yet.\nAction: search("Samokat revenue 2024")')
        case "You are the Synthesizer":
            return Said(f"Think: it says so.\nSummary:\n## Confirmed\n{FACT}\n\nRemoved:\n")
        case "You check once":
            return Said('{"complete": true, "missing": []}')
        case _:
            return Said("ok")


def failing(role: str, said: Said) -> Callable[[Asked], Said]:
    """The researcher, but for one role that always gets `said`."""
    return lambda asked: said if role_of(asked) == role else researcher(asked)


def make_research(folder: Path, page: str = PAGE) -> None:
    """A case with a question beside a folder of documents, and the current folder there."""
    write_tree(folder, {"docs/samokat.md": page, "research/question.md": QUESTION + "\n"})
    os.chdir(folder)


def survivors(mark: str) -> list[str]:
    """Command lines of processes that still carry `mark` in their environment, but for this one."""
    if sys.platform != "linux":
        return []
    found = []
    for place in Path("/proc").iterdir():
        if not place.name.isdigit() or int(place.name) == os.getpid():
            continue
        with contextlib.suppress(OSError):
            if mark.encode() in (place / "environ").read_bytes():
                found.append((place / "cmdline").read_text().replace("\0", " "))
    return found


def preset_entry(name: str) -> dict[str, Any]:
    """A preset as an entry for the user's own config."""
    spec = resolve(case=None, project=None, question=None, environ={}, flags={}).settings.agents[name]
    return {"command": [*spec.command], "form": spec.form, "timeout": 60, "env": dict(spec.env)}


def shorter(name: str, seconds: int, *more: str) -> None:
    """The preset under the name `short`, with a time-out and further options of the test's own."""
    entry = preset_entry(name)
    command = [*entry.pop("command"), *more]
    user_config(f"agents:\n  short: {json.dumps({**entry, 'command': command, 'timeout': seconds})}\n")
