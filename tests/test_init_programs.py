"""What init lays down, found and used by the real agent programs."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from harness.scaffold.wiring import Wanted, unwire, wire
from tests.agent_programs import MODELS, Ran, clean_env, each, needs, program, run_program
from tests.agent_server import AgentServer, Asked, Call, Said
from tests.init_world import whole_tree, words
from tests.test_agent_server import CODEX, OPENCODE
from tests.trees import write_tree

PLUGIN = "plugin research@research-harness"
THEIRS = {
    "CLAUDE.md": "# Rules of the house\r\nBe kind.",
    "AGENTS.md": "\ufeff# Rules\n",
    ".claude/settings.json": json.dumps(
        {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "echo theirs >> stops"}]}]}}, indent=4
    ),
    ".claude/settings.local.json": '{ "env": {} }',
    ".claude/agents/mine.md": "---\nname: mine\ndescription: mine\ntools: []\n---\nMINE\n",
    ".claude/skills/mine/SKILL.md": "---\nname: mine\ndescription: mine\n---\nMINE\n",
    "sub/deep/x": "",
}
# In the place of our hook: says which event came.
TELLS = "import json, pathlib, sys\nevent = json.load(sys.stdin)\n" + (
    "with pathlib.Path(__file__).with_name('events').open('a') as file:\n"
    "    file.write(event['hook_event_name'] + ' ' + event.get('agent_type', '') + '\\n')\n"
)


class Wired:
    """A project of somebody's, an environment for the programs, and `harness init` in it."""

    def __init__(self, root: Path, server: AgentServer, name: str) -> None:
        self.project = write_tree(root / "project", THEIRS)
        found = program(name)
        assert found
        self.program = found
        self.data = root / "da ta it's"
        config = json.dumps(OPENCODE).replace("{url}", server.url)
        self.environ = clean_env(root / "home", server.url, OPENCODE_CONFIG_CONTENT=config)
        self.environ["HARNESS_DATA_DIR"] = str(self.data)
        self.environ["PATH"] = os.pathsep.join([str(found.parent), self.environ["PATH"]])

    def init(self, name: str, *, in_project: bool = False) -> Mapping[str, str]:
        return words(wire(self.project, Wanted((name,), (), in_project), environ=self.environ))

    def remove(self) -> Mapping[str, str]:
        return words(unwire(self.project, environ=self.environ))

    def run(self, *arguments: str, folder: str = "", prompt: str | None = None) -> Ran:
        return run_program([self.program, *arguments], self.project / folder, self.environ, prompt)


def told(ran: Ran) -> dict[str, Any]:
    """The first line of Claude Code's stream: agents, skills, plugins."""
    lines = [json.loads(line) for line in ran.out.splitlines() if line.startswith("{")]
    return next(line for line in lines if line.get("subtype") == "init")


def asks(server: AgentServer, text: str) -> bool:
    return any(text in said for asked in server.asked for _, said in asked.messages)


def calls_planner(asked: Asked) -> Said:
    """The main agent calls our Planner once; whoever has no tools is the Planner."""
    call = Call("Agent", {"description": "x", "prompt": "go", "subagent_type": "research:research-planner"})
    first = asked.tools and all(role == "user" or role == "system" for role, _ in asked.messages)
    return Said("", (call,)) if first else Said("done")


CLAUDE = ("--print", "--output-format=stream-json", "--verbose", "--model", MODELS["claude"])


@needs("claude")
def test_the_plugin_is_valid_installed_used_and_uninstalled(tmp_path: Path) -> None:
    with AgentServer(calls_planner) as server:
        wired = Wired(tmp_path, server, "claude")
        before = whole_tree(wired.project)
        assert wired.init("claude") == {PLUGIN: "installed", "CLAUDE.md": "updated"}
        market = wired.data / "claude" / "marketplace"
        for folder in (market, market / "research"):
            checked = wired.run("plugin", "validate", "--strict", str(folder))
            assert checked.code == 0, checked
        (wired.data / "claude" / "hook.py").write_text(TELLS, encoding="utf-8")
        ran = wired.run(*CLAUDE, "/research What is X", folder="sub/deep")
        assert ran.code == 0, ran
        assert {f"research:research-{role}" for role in ("planner", "synthesizer", "checker", "searcher")} <= {
            *told(ran)["agents"]
        }
        assert "research:research" in told(ran)["skills"]
        assert asks(server, "ARGUMENTS: What is X"), "the skill is expanded without a prefix"
        events = (wired.data / "claude" / "events").read_text(encoding="utf-8").splitlines()
        assert {event.split()[0] for event in events} == {
            "SessionStart", "UserPromptSubmit", "PreToolUse", "SubagentStop", "PostToolUse", "Stop", "SessionEnd"
        }  # fmt: skip
        assert "SubagentStop research:research-planner" in events
        assert wired.init("claude")[PLUGIN] == "unchanged"
        assert wired.remove() == {"CLAUDE.md": "restored", PLUGIN: "uninstalled"}
        assert whole_tree(wired.project) == before
        gone = told(wired.run(*CLAUDE, "hello"))
    assert not [name for name in (*gone["agents"], *gone["skills"]) if name.startswith("research")]


@needs("claude")
def test_a_new_version_of_the_plugin_takes_the_place_of_the_old(tmp_path: Path) -> None:
    with AgentServer(lambda asked: Said("done")) as server:
        wired = Wired(tmp_path, server, "claude")
        wired.init("claude")
        wanted = Wanted(("claude",), ("mcp__brave__search",))
        assert words(wire(wired.project, wanted, environ=wired.environ))[PLUGIN] == "updated"
        listed = json.loads(wired.run("plugin", "list", "--json").out)
        manifest = json.loads((wired.data / "claude/marketplace/research/.claude-plugin/plugin.json").read_text())
    assert [(one["id"], one["version"], one["enabled"]) for one in listed] == [
        ("research@research-harness", manifest["version"], True)
    ]


@needs("claude")
def test_files_in_a_project_with_settings_hooks_and_instructions_of_its_own(tmp_path: Path) -> None:
    with AgentServer(lambda asked: Said("done")) as server:
        wired = Wired(tmp_path, server, "claude")
        before = whole_tree(wired.project)
        assert PLUGIN not in wired.init("claude", in_project=True)
        (wired.data / "claude" / "hook.py").write_text(TELLS, encoding="utf-8")
        ran = wired.run(*CLAUDE, "/research What is X")
        assert ran.code == 0, ran
        assert {"mine", "research-planner", "research-searcher"} <= {*told(ran)["agents"]}
        assert {"mine", "research"} <= {*told(ran)["skills"]}
        assert asks(server, "ARGUMENTS: What is X")
        assert asks(server, "Be kind.") and asks(server, "## Research over plain files")
        events = (wired.data / "claude" / "events").read_text(encoding="utf-8")
        assert "UserPromptSubmit" in events and "Stop" in events
        assert (wired.project / "stops").read_text(encoding="utf-8") == "theirs\n", "their own hook ran once"
        (wired.project / "stops").unlink()
        wired.remove()
    assert whole_tree(wired.project) == before


LINES = {
    "codex": ["exec", "--skip-git-repo-check", "-m", MODELS["codex"], "-c", 'model_provider="rig"', "-c", CODEX],
    "opencode": ["run", "--command", "research", "What is X"],
    "gemini": ["--skip-trust", "-m", MODELS["gemini"], "-p", "/research What is X"],
}
SEEN = {
    "codex": "The command `harness` leads it",
    "opencode": "The person wants a research about: ",
    "gemini": "The person wants a research about: What is X",
}


@pytest.mark.parametrize("name", each(*LINES))
def test_the_command_of_each_program_is_found_and_expanded(name: str, tmp_path: Path) -> None:
    with AgentServer(lambda asked: Said("done")) as server:
        wired = Wired(tmp_path, server, name)
        (wired.project / ".git").mkdir()
        before = whole_tree(wired.project)
        wired.init(name)
        line = [part.format(url=server.url) if "base_url" in part else part for part in LINES[name]]
        ran = wired.run(*line, prompt="$research What is X" if name == "codex" else None)
        assert ran.code == 0, ran
        assert asks(server, SEEN[name]) and asks(server, "What is X"), [asked.messages for asked in server.asked]
        assert any("## Research over plain files" in str(asked.body) for asked in server.asked), "and the block"
        wired.remove()
    # OpenCode writes one file of its own wherever there is a folder .opencode.
    made = {".opencode", ".opencode/.gitignore"} if name == "opencode" else set()
    assert {path: one for path, one in whole_tree(wired.project).items() if path not in made} == before


SHELL = {
    "codex": lambda command, number: Call("exec_command", {"cmd": command}),
    "opencode": lambda command, number: Call("bash", {"command": command, "description": "a pass"}),
    # It takes five equal calls in a row for a loop, so its command asks for a description that differs.
    "gemini": lambda command, number: Call("run_shell_command", {"command": command, "description": f"pass {number}"}),
}
FREE = {"codex": ["--sandbox=danger-full-access"], "opencode": [], "gemini": ["--approval-mode=yolo"]}


@pytest.mark.parametrize("name", each(*SHELL))
def test_a_research_by_harness_step_from_the_program_s_shell(name: str, tmp_path: Path) -> None:
    """The agent does what the command tells it: a pass and a line at a time, until the answer stands."""
    step = f"{shlex.quote(sys.executable)} -m harness step"
    asking = f'{step.removesuffix("step")}ask "What was the revenue of Samokat in 2024?"'

    def obedient(asked: Asked) -> Said:
        if not any("harness step" in text for _, text in asked.messages) or "answer.md stands" in str(asked.body):
            return Said("It is done.")
        return Said(calls=(SHELL[name](step if asked.replies else asking, asked.replies),))

    with AgentServer(obedient) as server:
        wired = Wired(tmp_path, server, name)
        write_tree(wired.project, {"docs/a.md": "# A\n\nThe revenue of Samokat in 2024 was 154.0 bn roubles.\n"})
        (wired.project / ".git").mkdir()
        wired.environ["HARNESS_SEARCH"] = f"folder: {wired.project / 'docs'}"
        wired.environ["PYTHONPATH"] = str(Path(__file__).parent.parent)
        wired.init(name)
        line = [part.format(url=server.url) if "base_url" in part else part for part in LINES[name]]
        ran = wired.run(line[0], *FREE[name], *line[1:], prompt="$research What is X" if name == "codex" else None)
    assert ran.code == 0, ran
    answer = (wired.project / "research/answer.md").read_text(encoding="utf-8")
    assert answer.startswith("---\nstatus: complete") and "154.0 bn roubles" in answer
