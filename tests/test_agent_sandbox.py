"""`sandbox: bwrap` with the real bubblewrap: what a program sees inside, what it can write, what is left of it."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.agents.command import CommandAgent
from harness.errors import AgentUnreachable
from harness.model import Packet, Role
from harness.options import AgentSpec
from tests.agent_programs import each, program
from tests.agent_server import AgentServer
from tests.driven import make_research, options_for, preset_entry, researcher, survivors, wire
from tests.program import harness, user_config
from tests.trees import write_tree

bubblewrap = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
PACKET = Packet(Role.PLANNER, "t", 1, "prompt", {"question.md": "Q\n"}, ("next_query.txt",))
# Prints, for each path on stdin, its content or why there is none, and tries to write beside it.
LOOK = """
import json, os, sys
told = {}
for path in json.load(sys.stdin):
    try:
        told[path] = sorted(os.listdir(path)) if os.path.isdir(path) else open(path).read()
    except OSError as error:
        told[path] = error.strerror
    try:
        open(os.path.join(os.path.dirname(path), "written"), "w").write("x")
        told[path + "+"] = "written"
    except OSError as error:
        told[path + "+"] = error.strerror
print(json.dumps(told))
"""


def look(*paths: Path, hidden: tuple[Path, ...] = (), name: str = "my-agent", **settings: Any) -> dict[str, Any]:
    """What a program called `name` finds inside the sandbox."""
    script = Path(os.environ["HOME"]) / "bin" / name
    script.parent.mkdir(exist_ok=True)
    script.write_text(f"#!{os.path.realpath(sys.executable)}\n{LOOK}")
    script.chmod(0o755)
    spec = AgentSpec("mine", (str(script),), sandbox="bwrap", timeout=30.0, **settings)
    told: dict[str, Any] = json.loads(
        CommandAgent(spec, hidden).take(PACKET._replace(prompt=json.dumps([str(path) for path in paths]))).text
    )
    return told


@pytest.mark.real
@bubblewrap
def test_documents_and_the_case_are_not_there_and_nothing_can_be_written(tmp_path: Path) -> None:
    home = Path(os.environ["HOME"])
    write_tree(home, {"letters/diary.txt": "secret", ".ssh/id": "secret", ".other-agent/key": "secret"})
    write_tree(tmp_path / "case", {"raw_1.md": "secret"})
    paths = (home / "letters/diary.txt", home / ".ssh/id", home / ".other-agent/key", tmp_path / "case/raw_1.md")
    told = look(*paths, Path("/etc/hostname"), hidden=(tmp_path / "case",))
    assert "secret" not in json.dumps(told)
    assert all(told[str(path)] == "No such file or directory" for path in paths)
    assert told["/etc/hostname"] == Path("/etc/hostname").read_text() and told["/etc/hostname+"] != "written"
    assert not (home / "written").exists() and not (tmp_path / "case/written").exists()


@pytest.mark.real
@bubblewrap
def test_its_own_settings_are_a_copy_without_its_talks(tmp_path: Path) -> None:
    home = Path(os.environ["HOME"])
    write_tree(home, {".my-agent/login.json": "token", ".my-agent/talks/1.txt": "secret", ".config/my-agent/c": "set"})
    told = look(home / ".my-agent/login.json", home / ".config/my-agent/c", home / ".my-agent/talks")
    assert told[str(home / ".my-agent/login.json")] == "token" and told[str(home / ".config/my-agent/c")] == "set"
    assert told[str(home / ".my-agent/talks")] == "No such file or directory"
    assert told[str(home / ".my-agent/login.json") + "+"] == "written"
    assert not (home / ".my-agent/written").exists(), "what it wrote there is gone"


@pytest.mark.real
@bubblewrap
def test_it_works_at_its_desk_and_leaves_no_process() -> None:
    mark = secrets.token_hex(8)
    code = (
        "import subprocess, sys\n"
        "subprocess.Popen(['sleep', '60'], start_new_session=True, stdout=subprocess.DEVNULL, env={})\n"
        "open('next_query.txt', 'w').write('Action: search(\"x\")')\n"
    )
    program = os.path.realpath(sys.executable)
    spec = AgentSpec("mine", (program, "-c", code), files=True, sandbox="bwrap", env={"A_TEST": mark}, timeout=30.0)
    assert CommandAgent(spec).take(PACKET).files == {"next_query.txt": 'Action: search("x")'}
    assert survivors(mark) == []


def test_without_bubblewrap_the_agent_cannot_be_asked(tmp_path: Path) -> None:
    (tmp_path / "agent").write_text("#!/bin/sh\necho hello\n")
    (tmp_path / "agent").chmod(0o755)
    agent = CommandAgent(AgentSpec("mine", (str(tmp_path / "agent"),), sandbox="bwrap", env={"PATH": str(tmp_path)}))
    with pytest.raises(AgentUnreachable) as caught:
        agent.take(PACKET)
    for error in (agent.obstacle(), caught.value):
        assert error and "sandbox is missing" in error.what and "agents.mine.sandbox" in error.hint


@bubblewrap
@pytest.mark.parametrize("name", each("claude", "codex", "opencode", "gemini"))
def test_a_real_program_takes_the_roles_inside(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_research(tmp_path)
    with AgentServer(researcher) as server:
        wire((name,), server.url, monkeypatch)
        entry = preset_entry(name)
        words = [str(program(name)), entry["command"][1], *options_for(name, server.url), *entry["command"][2:]]
        user_config(f"agents:\n  boxed: {json.dumps({**entry, 'command': words, 'sandbox': 'bwrap'})}\n")
        ran = harness("step", "--agent", "boxed")
    assert ran.code == 0 and ran.out == "ask: Samokat revenue 2024\n", ran.err
