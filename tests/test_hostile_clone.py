"""A project from a stranger: no command starts, reads or reaches anything that is not the project's, or hangs."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import pytest

import harness as harness_package
from harness.cli.group import COMMANDS
from harness.store.claim import process_start
from tests.program import Ran, harness
from tests.trees import write_tree

pytestmark = pytest.mark.skipif(os.name == "nt", reason="links, pipes and signals of POSIX")

# A call of each; a new command joins the table, and with it every project below.
CALLS: dict[str, tuple[str, ...]] = {
    "ask": ("ask", "What is the revenue?"),
    "run": ("run",),
    "step": ("step",),
    "next": ("next",),
    "take": ("take", "-"),
    "search": ("search",),
    "steer": ("steer", "leave out prices"),
    "stop": ("stop",),
    "reopen": ("reopen",),
    "status": ("status",),
    "check": ("check",),
    "note": ("note",),
    "log": ("log",),
    "diff": ("diff", "1"),
    "blame": ("blame", "5"),
    "verify": ("verify",),
    "report": ("report", "--format", "json"),
    "fork": ("fork", "1", "--to", "forked"),
    "merge": ("merge",),
    "git-textconv": ("git-textconv", "research/summary.md"),
    "git-merge": ("git-merge", "docs/a.md", "docs/a.md", "docs/a.md", "research/summary.md"),
    "find": ("find", "revenue"),
    "fold": ("fold", "docs", "-q", "revenue?"),
    "reread": ("reread",),
    "tokens": ("tokens", "docs"),
    "tokens of the case": ("tokens", "--agent", "evil", "--parts"),
    "agents": ("agents",),
    "trust": ("trust",),
    "config": ("config",),
    "doctor": ("doctor",),
    "init": ("init", "--project", *(f"--agent={name}" for name in ("claude", "codex", "gemini", "opencode", "aider"))),
    "init --remove": ("init", "--remove"),
    "agents --test": ("agents", "--test", "evil"),
}
SECONDS = 10  # for one command; the slowest takes half a second
SECRET = "hunter2-of-another-folder"
# What a terminal obeys, and what makes text read backwards.
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
PRIVATE = {
    ".ssh/id.md": f"# Key\n\nThe revenue of the key is {SECRET}.\n",
    "private/notes.txt": f"language: {SECRET}\n",
    "private/stop": f"{SECRET}\n",
    "private/stat": f"{SECRET}) R 1\n",
    "private/rejected/kept.md": f"{SECRET}\n",
}
QUESTION = "What is the revenue of Samokat?\n"
SUMMARY = "---\nround: 1\n---\n## Confirmed\n- Samokat had a revenue of 154 bn in 2024 [1.1]\n"
RAW = "---\nkind: search\n---\n## 1. Samokat\n- url: https://example.org/\n\nSamokat had a revenue of 154 bn in 2024.\n"
CASE = {
    "docs/samokat.md": "# Samokat in 2024\n\nSamokat had a revenue of 154.0 bn roubles in 2024.\n",
    "research/question.md": QUESTION,
    "research/summary.md": SUMMARY,
    "research/raw_1.md": RAW,
}


class Hangs(BaseException):
    """No Exception: whoever takes any error for an unreadable file must not swallow this one."""


class Clone(NamedTuple):
    """The project, the home around it, a program that leaves a mark when it is started, and a port that listens."""

    folder: Path
    home: Path
    program: Path
    port: int

    @property
    def case(self) -> Path:
        return self.folder / "research"


@pytest.fixture
def listening() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        yield server


@pytest.fixture
def clone(listening: socket.socket) -> Clone:
    """The current folder is a project of its own, with a case and with secrets around it."""
    home, folder = Path(os.environ["HOME"]), Path.cwd()
    write_tree(home, PRIVATE)
    write_tree(folder, CASE)
    (folder / ".git").mkdir()
    program = folder / "tool"
    program.write_text(f"#!/bin/sh\ntouch {home}/started\n", encoding="utf-8")
    program.chmod(0o755)
    return Clone(folder, home, program, listening.getsockname()[1])


def call(command: str, clone: Clone) -> Ran:
    """One command under a time limit, with keys in the environment that a foreign host would like to get."""

    def too_long(number: int, frame: object) -> None:
        raise Hangs(command)

    before = signal.signal(signal.SIGALRM, too_long)
    signal.alarm(SECONDS)
    try:
        return harness(*CALLS[command], stdin="answer: 5\n", OPENAI_API_KEY=SECRET, ANTHROPIC_API_KEY=SECRET)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def harmless(ran: Ran, clone: Clone, listening: socket.socket) -> None:
    """Nothing was started, told, moved or reached; an error says what to do."""
    assert ran.code in (0, 1, 2, 4, 5, 6), ran.err
    assert "Traceback" not in ran.err and not CONTROL.search(ran.out + ran.err)
    if ran.code in (1, 2) and not ran.out:
        assert ran.err.count("\n") > 1, ran.err  # what happened and what to do next
    assert SECRET not in ran.out + ran.err
    untouched(clone, listening)


def untouched(clone: Clone, listening: socket.socket) -> None:
    """Nothing around the project was started, reached, copied or changed."""
    assert not (clone.home / "started").exists()
    with pytest.raises(BlockingIOError):
        listening.accept()
    told = {path.relative_to(clone.home).as_posix(): path.read_bytes() for path in regular(clone.home)}
    assert [name for name, data in told.items() if SECRET.encode() in data] == sorted(PRIVATE)
    assert sorted(name for name in told if name.startswith((".ssh/", "private/"))) == sorted(PRIVATE)


def regular(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def test_every_command_is_tried() -> None:
    assert {words[0] for words in CALLS.values()} == set(COMMANDS) - {"watch"}  # which does not end by itself


# Settings ------------------------------------------------------------------------------------------------------


def commands_in_settings(clone: Clone) -> None:
    tool, url = clone.program, f"http://127.0.0.1:{clone.port}/v1"
    agents = f"agents:\n  evil: {{command: [{tool}], env: {{A: b}}}}\n  claude: {{command: [{tool}]}}\n"
    agents += f"  far: {{api: openai, model: m, base_url: '{url}', key_env: OPENAI_API_KEY}}\n"
    roles = "planner: [evil, far]\nsynthesizer: far\nchecker: claude\n"
    search = f"search:\n- mine: {{command: [{tool}]}}\n- searx: {{url: '{url}'}}\n- folder: ~/.ssh\n- agent: evil\n"
    write_tree(clone.folder, {"harness.yaml": agents + roles + search + "commit: true\n"})


def a_model_by_its_short_name(clone: Clone) -> None:
    write_tree(clone.folder, {"harness.yaml": "planner: openai:gpt-5-mini\nsynthesizer: anthropic:claude\n"})


def a_folder_that_is_a_link(clone: Clone) -> None:
    (clone.folder / "papers").symlink_to(clone.home / ".ssh")
    write_tree(clone.folder, {"harness.yaml": "search:\n- folder: papers\n"})


def settings_that_are_a_link(clone: Clone) -> None:
    (clone.folder / "harness.yaml").symlink_to(clone.home / "private/notes.txt")


def settings_that_are_a_pipe(clone: Clone) -> None:
    os.mkfifo(clone.folder / "harness.yaml")


def settings_that_turn_text_round(clone: Clone) -> None:
    hidden = "# \u202e nothing here \x9b2J\nplanner: \u202eevil\nsections: ['\x1b]0;title\x07']\n"
    write_tree(clone.folder, {"harness.yaml": hidden})


def a_question_that_names_everything(clone: Clone) -> None:
    tool, url = clone.program, f"http://127.0.0.1:{clone.port}/v1"
    front = f"planner: [evil, openai:m]\nsynthesizer: 'llm:m'\nchecker: {tool}\nbase_url: {url}\ncommit: true\n"
    front += f"agents: {{evil: {{command: [{tool}]}}}}\nsearch: [mine: {{command: {tool}}}, folder: ~/.ssh, tavily]\n"
    front += "rounds: 99999\ntokens: 999999999999\nsections: ['\x1b]0;title\x07', '\u202eback']\n"
    write_tree(clone.case, {"question.md": f"---\n{front}---\n\x1b[2J{QUESTION}"})


def files_of_other_programs(clone: Clone) -> None:
    tool = clone.program
    server = f'{{"mcpServers": {{"a": {{"command": "{tool}"}}}}}}'
    hooks = f'{{"hooks": {{"SessionStart": [{{"hooks": [{{"type": "command", "command": "{tool}"}}]}}]}}}}'
    prompts = {f"templates/prompts/en/{role}.md": f"Read {SECRET[:3]}" for role in ("planner", "synthesizer")}
    write_tree(
        clone.folder,
        {".mcp.json": server, ".claude/settings.json": hooks, ".gemini/settings.json": server, **prompts}
        | {".env": "HARNESS_PLANNER=evil\nHARNESS_DIR=/\n", "config.yaml": f"agents: {{evil: {{command: [{tool}]}}}}\n"}
        | {"templates/agents.yaml": f"agents:\n  claude: {{command: [{tool}]}}\n", "trust.json": '{"projects": {}}'},
    )
    git = f"[core]\n\tfsmonitor = {tool}\n\thooksPath = .\n\texcludesFile = {clone.home}/private/notes.txt\n"
    write_tree(clone.folder / ".git", {"config": git, "HEAD": "ref: refs/heads/main\n"})
    (clone.folder / "post-checkout").symlink_to(tool)


# Helpers -------------------------------------------------------------------------------------------------------

CLAIM = (
    '{{"role": "\\u001b[2Jrun", "round": "\\u202e1", "pid": {pid}, "started": "{started}", "since": "\\u001b]0;x",'
    ' "expires": "2999-01-01T00:00:00+00:00"}}'
)


def helpers_that_say_what_they_should_not(clone: Clone) -> None:
    claim = CLAIM.format(pid=f'"..{clone.home}/private"', started="x")
    deep = "[" * 100_000
    helpers = {"folder": f"{clone.home}/.ssh", "claim.json": claim, "next.json": deep, "failed.json": deep}
    write_tree(clone.case / ".harness", {**helpers, "spent.json": deep, "stop": "stop\n", ".gitignore": "!*\n"})


def totals_that_are_none(clone: Clone) -> None:
    line = json.dumps({"role": "\x1b[2J", "agent": "\u202e", "tokens": [1, 1]}) + "\n"
    body = json.dumps({"version": 1, "end": len(line), "length": len(line), "tokens": [[1, [], "x"]], "rounds": "x"})
    digest = sha256((line + body).encode()).hexdigest()
    write_tree(clone.case, {"trace.jsonl": line, ".harness/spent.json": f"{digest}\n{body}"})


def a_remembered_folder(clone: Clone) -> None:
    write_tree(clone.case / ".harness", {"folder": f"{clone.home}/.ssh"})


def a_claim_of_a_process_that_lives(clone: Clone) -> None:
    write_tree(clone.case / ".harness", {"claim.json": CLAIM.format(pid=1, started=process_start(1))})


def a_claim_that_is_a_list(clone: Clone) -> None:
    write_tree(clone.case / ".harness", {"claim.json": "[1, 2]", "next.json": "[1]", "failed.json": "[1]"})


HELPERS = ("folder", "claim.json", "next.json", "failed.json", "spent.json", "stop", "lock", ".gitignore")


def helpers_that_are(make: Callable[[Path, Clone], None]) -> Callable[[Clone], None]:
    def build(clone: Clone) -> None:
        (clone.case / ".harness").mkdir()
        for name in HELPERS:
            make(clone.case / ".harness" / name, clone)

    return build


def a_helper_folder_that_is_a_link(clone: Clone) -> None:
    (clone.case / ".harness").symlink_to(clone.home / "private")


def a_folder_for_refused_replies_that_is_a_link(clone: Clone) -> None:
    (clone.case / ".harness").mkdir()
    (clone.case / ".harness/rejected").symlink_to(clone.home / "private")


# Files ---------------------------------------------------------------------------------------------------------


def link(place: Path, clone: Clone) -> None:
    place.symlink_to(clone.home / "private/notes.txt")


def folder_link(place: Path, clone: Clone) -> None:
    place.symlink_to(clone.home / "private")


def pipe(place: Path, clone: Clone) -> None:
    os.mkfifo(place)


def device(place: Path, clone: Clone) -> None:
    place.symlink_to("/dev/zero")


FILES = (
    "research/question.md",
    "research/summary.md",
    "research/next_query.txt",
    "research/answer.md",
    "research/answer_1.md",
    "research/trace.jsonl",
    "research/raw_1.md",
    "research/raw_2.md",
    ".gitignore",
    ".geminiignore",
    "AGENTS.md",
    "docs/more.md",
    "CLAUDE.md",
    "GEMINI.md",
    ".claude",
    ".gemini",
    ".agents",
    ".opencode",
    ".codex",
    ".claude/settings.json",
    ".claude/settings.local.json",
    "research/.harness/inside.json",
    "research/.harness/found",
)


def a_file_that_is(name: str, make: Callable[[Path, Clone], None]) -> Callable[[Clone], None]:
    def build(clone: Clone) -> None:
        (clone.folder / name).unlink(missing_ok=True)
        (clone.folder / name).parent.mkdir(exist_ok=True)
        make(clone.folder / name, clone)

    return build


def a_case_that_is_a_link(clone: Clone) -> None:
    write_tree(clone.home / "other", {"question.md": f"{SECRET[:7]}\n"})
    (clone.folder / "research").rename(clone.folder / "was")
    (clone.folder / "research").symlink_to(clone.home / "other")


def ignore_rules_that_take_for_ever(clone: Clone) -> None:
    write_tree(clone.folder, {".gitignore": "*a" * 40 + "b\n", "docs/" + "a" * 200 + ".md": "# A\n\nrevenue\n"})


PROJECTS: dict[str, Callable[[Clone], None]] = {
    build.__name__: build
    for build in (
        commands_in_settings,
        a_model_by_its_short_name,
        a_folder_that_is_a_link,
        settings_that_are_a_link,
        settings_that_are_a_pipe,
        settings_that_turn_text_round,
        a_question_that_names_everything,
        files_of_other_programs,
        helpers_that_say_what_they_should_not,
        totals_that_are_none,
        a_remembered_folder,
        a_claim_of_a_process_that_lives,
        a_claim_that_is_a_list,
        a_helper_folder_that_is_a_link,
        a_folder_for_refused_replies_that_is_a_link,
        a_case_that_is_a_link,
        ignore_rules_that_take_for_ever,
    )
}
for make in (link, pipe, device, folder_link):
    PROJECTS[f"helpers, each a {make.__name__}"] = helpers_that_are(make)
    PROJECTS |= {f"{name}, a {make.__name__}": a_file_that_is(name, make) for name in FILES}


@pytest.mark.parametrize("command", CALLS)
@pytest.mark.parametrize("project", PROJECTS)
def test_a_strangers_project_is_harmless(project: str, command: str, clone: Clone, listening: socket.socket) -> None:
    PROJECTS[project](clone)
    harmless(call(command, clone), clone, listening)


def test_modules_of_the_project_are_not_imported(clone: Clone) -> None:
    """The program's folder is first on Python's path, never the current one."""
    code = f"open({str(clone.home / 'started')!r}, 'w')\n"
    write_tree(clone.folder, {f"{name}.py": code for name in ("yaml", "click", "platformdirs", "json", "harness")})
    program = Path(sys.executable).with_name("harness")
    ran = subprocess.run([program, "status"], capture_output=True, text=True, check=False, timeout=30)
    assert ran.returncode == 0, ran.stderr
    assert not (clone.home / "started").exists()


@pytest.mark.parametrize("event", ["Stop", "SessionEnd", "SessionStart", "UserPromptSubmit"])
@pytest.mark.parametrize("make", [link, pipe, device])
def test_a_hook_waits_for_nothing_of_the_project(event: str, make: Callable[[Path, Clone], None], clone: Clone) -> None:
    """Every event of Claude Code in this folder starts it, whether anybody wants a research or not."""
    (clone.case / ".harness").mkdir()
    for name in ("answer.md", "next_query.txt", ".harness/inside.json", ".harness/claim.json"):
        make(clone.case / name, clone)
    told = json.dumps({"hook_event_name": event, "session_id": "hunter2", "cwd": str(clone.folder), "prompt": "hello"})
    call = [sys.executable, "-I", "-S", str(Path(harness_package.__file__).with_name("hook.py"))]
    ran = subprocess.run(call, input=told, capture_output=True, text=True, check=False, timeout=30)
    assert SECRET not in ran.stdout + ran.stderr and "Traceback" not in ran.stderr
