"""`harness init` as it is called: which agents are meant, what is said, and the exit codes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.init_world import CLAUDE
from tests.program import Ran, harness
from tests.test_cli_processes import Terminal
from tests.trees import read_tree, write_tree


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A folder that is the whole PATH: `claude` and a `codex` that is never run."""
    for name, text in (("claude", CLAUDE.format(python=sys.executable)), ("codex", "#!/bin/false\n")):
        (tmp_path / name).write_text(text, encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    return tmp_path


def init(programs: Path, *arguments: str) -> Ran:
    return harness("init", *arguments, PATH=str(programs))


def test_without_a_terminal_the_flags_are_named(programs: Path) -> None:
    ran = init(programs)
    assert ran.code == 2 and "--agent NAME" in ran.err and "--all" in ran.err and "claude, codex" in ran.err
    assert read_tree(Path()) == {}


@pytest.mark.parametrize("flag", ["--all", "--yes"])
def test_all_are_those_found_on_this_machine(programs: Path, flag: str) -> None:
    ran = init(programs, flag)
    assert ran.code == 0, ran.err
    assert sorted(read_tree(Path())) == [".agents/skills/research/SKILL.md", "AGENTS.md", "CLAUDE.md"]
    lines = [line.split(maxsplit=1) for line in ran.out.splitlines()]
    assert ["installed", "plugin research@research-harness"] in lines and ["created", "CLAUDE.md"] in lines


def test_on_a_terminal_a_person_picks_and_enter_is_all(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(programs))
    for typed, made in (("codex\r", {"AGENTS.md"}), ("\r", {"AGENTS.md", "CLAUDE.md"})):
        terminal = Terminal("init")
        terminal.wait_for("Which to wire")
        assert "Claude Code (reads CLAUDE.md)" in terminal.seen and "Gemini" not in terminal.seen
        terminal.type(typed)
        assert terminal.ended() == 0, terminal.seen
        assert {path.name for path in Path().iterdir() if path.is_file()} == made
    for typed, left in (("n\r", True), ("y\r", False)):
        terminal = Terminal("init", "--remove")
        terminal.wait_for("Take out")
        terminal.type(typed)
        assert terminal.ended() == (130 if left else 0), terminal.seen
        assert Path("CLAUDE.md").exists() == left


def test_none_found_is_an_error_that_names_the_flag(tmp_path: Path) -> None:
    ran = init(tmp_path, "--all")
    assert ran.code == 1 and "--agent NAME" in ran.err


def test_there_and_back(programs: Path) -> None:
    write_tree(Path(), {"CLAUDE.md": "mine", "src/main.py": ""})
    before = read_tree(Path())
    assert init(programs, "--all", "--dry-run").code == 0
    assert read_tree(Path()) == before
    assert init(programs, "--all").code == 0
    ran = init(programs, "--remove")
    assert ran.code == 0 and "restored     CLAUDE.md" in ran.out
    assert read_tree(Path()) == before
    again = init(programs, "--remove")
    assert again.code == 0 and again.out == "nothing of ours is here\n"


def test_removing_takes_no_names(programs: Path) -> None:
    ran = init(programs, "--remove", "--agent", "codex")
    assert ran.code == 2 and "harness init --remove" in ran.err


def test_the_project_is_the_git_root(programs: Path) -> None:
    write_tree(Path(), {".git/HEAD": "", "sub/x": ""})
    os.chdir("sub")
    try:
        assert init(programs, "--agent", "codex").code == 0
    finally:
        os.chdir("..")
    assert Path("AGENTS.md").is_file() and not Path("sub/AGENTS.md").exists()


def test_a_refused_file_is_an_exit_code(programs: Path) -> None:
    write_tree(Path(), {"AGENTS.md": "# Rules\n".encode("utf-16")})
    ran = init(programs, "--agent", "codex")
    assert ran.code == 1 and "refused      AGENTS.md: it is UTF-16" in ran.out


def test_an_obstacle_is_told_with_what_to_do(programs: Path) -> None:
    Path("AGENTS.md").mkdir()
    ran = init(programs, "--agent", "codex")
    assert ran.code == 1 and "AGENTS.md: a folder stands in its place" in ran.err and "--agent NAME" in ran.err
    assert ran.out == ""


def test_status_does_not_import_it() -> None:
    code = "import sys, harness.cli.group, harness.cli.look; print([m for m in sys.modules if 'scaffold' in m])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"
