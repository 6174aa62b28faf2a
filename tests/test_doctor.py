"""`harness doctor`: a machine and a project in, lines out. Programs and hooks are small scripts."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness import __version__
from harness.doctor.examine import examine
from harness.doctor.finding import Around, Check, Finding, passed
from harness.doctor.machine import vocabularies
from harness.doctor.programs import TRIED
from harness.vocabulary import Vocabulary
from tests.program import Ran, harness, user_config
from tests.trees import write_tree

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the programs are scripts of POSIX")

SYSTEM = "/usr/bin:/bin"
MARK = "touch ../started\n"


@pytest.fixture
def tools() -> Path:
    """A folder that is first on PATH."""
    folder = Path.cwd().parent / "bin"
    folder.mkdir()
    return folder


def program(folder: Path, name: str, script: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    (folder / name).chmod(0o755)


def doctor(**environ: str) -> Ran:
    path = f"{Path.cwd().parent / 'bin'}:{SYSTEM}"
    return harness("doctor", "--json", **{"PATH": path, **environ})


def told(what: str, **environ: str) -> list[tuple[str, str, str]]:
    """Level, what was found and what to do, of each line about one thing."""
    found = json.loads(doctor(**environ).out)
    return [(one["level"], one["found"], one["todo"]) for one in found if one["what"] == what]


def test_a_machine_as_it_should_be_passes(tools: Path) -> None:
    ran = harness("doctor", PATH=f"{tools}:{SYSTEM}")
    assert (ran.code, ran.err) == (0, "")
    assert f"PASS  Python: {sys.version.split()[0]}" in ran.out
    assert f"PASS  package: harness {__version__}, prompts in en, ru\n" in ran.out
    assert "PASS  tokens: exact for cl100k_base, o200k_base, from toktok-rs " in ran.out
    assert "SKIP  agent claude: claude is not on PATH\n" in ran.out
    assert "SKIP  hooks: not wired: harness init\n" in ran.out
    assert "SKIP  harness.yaml: none around here\n" in ran.out
    assert "FAIL" not in ran.out and " skip" in ran.out.splitlines()[-1]


def test_a_vocabulary_that_cannot_be_had() -> None:
    found = vocabularies({"cl100k_base": Vocabulary("cl100k_base", "a file", lambda texts: []), "o200k_base": None})
    assert (found.level, found.found.partition(":")[0]) == ("warn", "an upper-bound estimate for o200k_base")
    assert "pip install toktok-rs" in found.todo


def test_git_that_is_not_there(tools: Path) -> None:
    [(level, found, todo)] = told("git", PATH=str(tools))
    assert (level, found) == ("warn", "not on PATH") and "install git" in todo


def test_a_harness_of_another_installation_is_named(tools: Path) -> None:
    assert told("harness on PATH")[0][:2] == ("warn", "not there")
    program(tools, "harness", "")
    assert told("harness on PATH")[0][:2] == ("warn", f"{tools / 'harness'}, another installation than this one")
    (tools / "harness").unlink()
    (tools / "harness").symlink_to(Path(sys.executable).with_name("harness"))
    assert told("harness on PATH")[0][:2] == ("pass", str(tools / "harness"))


# Agents --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("script", "level", "found"),
    [
        (f"echo {TRIED['claude']} '(Claude Code)'", "pass", f"{TRIED['claude']}, the version that was tried; "),
        ("echo 2.1.1000", "warn", f"2.1.1000, untried: newer than {TRIED['claude']}; "),
        ("echo v2.1.9", "warn", f"2.1.9, untried: older than {TRIED['claude']}; "),
        ("echo 2.1.197 >&2", "pass", "2.1.197, the version that was tried; "),
        ("echo no number", "warn", "--version ended with 0"),
        ("echo 2.1.197; exit 3", "warn", "--version ended with 3"),
        ('test "$*" = --version && test ! -e harness.yaml && echo 2.1.197', "pass", "2.1.197"),
        ("printf '2.1.1000\\033[2J\\n'", "warn", "2.1.1000, untried"),
    ],
)
def test_the_version_of_a_program(tools: Path, script: str, level: str, found: str) -> None:
    write_tree(Path(), {"harness.yaml": "rounds: 3\n"})
    program(tools, "claude", script)
    [line] = told("agent claude")
    assert line[0] == level and found in line[1] and str(tools / "claude") in line[1] and line[1].isprintable()
    assert bool(line[2]) == (level == "warn")


def test_a_program_that_nobody_tried_and_one_of_your_own(tools: Path) -> None:
    program(tools, "llm", "echo llm, version 0.26")
    program(tools, "mine", MARK)
    user_config("agents:\n  m: {command: [llm, -m, x]}\n  n: {command: [mine]}\n")
    assert told("agent m")[0][0] == "warn" and "0.26, untried" in told("agent m")[0][1]
    assert told("agent n")[0] == ("pass", f"{tools / 'mine'}, an agent of your own: its version is not asked", "")
    assert not Path("../started").exists()


def test_keys_are_named_and_never_shown(tools: Path) -> None:
    program(tools, "claude", f"echo {TRIED['claude']}")
    user_config("agents:\n  far: {api: openai, model: m, base_url: 'http://127.0.0.1:9/v1', key_env: FAR_KEY}\n")
    assert told("key of claude")[0][:2] == (
        "warn",
        "none of ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN, CLAUDE_CODE_OAUTH_TOKEN is set",
    )
    assert told("key of far")[0][:2] == ("warn", "FAR_KEY is not set")
    assert told("key of codex") == []  # not on this machine
    secret = {"ANTHROPIC_API_KEY": "sk-ant-hunter2", "FAR_KEY": "hunter2-far"}
    assert told("key of claude", **secret) == [("pass", "ANTHROPIC_API_KEY", "")]
    assert told("key of far", **secret) == [("pass", "FAR_KEY", "")]
    assert "hunter2" not in "".join(map(str, doctor(**secret)))


# Hooks ---------------------------------------------------------------------------------------------------------

ANSWER = (
    "import json, sys\nevent = json.loads(sys.stdin.read())\nassert event['hook_event_name'] == 'Canary'\n"
    "print(json.dumps({{'canary': event['canary'], 'harness': {version!r}}}))\n"
)
GOOD = ANSWER.format(version=__version__)


def data() -> Path:
    return Path(os.environ["HARNESS_DATA_DIR"])


def command(*arguments: str) -> str:
    script = shlex.quote(str(data() / "claude/hook.py"))
    call = " ".join([shlex.quote(sys.executable), "-I", "-S", script, *arguments])
    return f"[ -f {script} ] && [ -x {shlex.quote(sys.executable)} ] && exec {call}; true"


def hooks(*commands: str) -> str:
    groups = [{"matcher": "Agent", "hooks": [{"type": "command", "command": one}]} for one in commands]
    return json.dumps({"hooks": {"PreToolUse": groups, "Stop": groups}})


def plugin(script: str, *commands: str) -> None:
    listed = hooks(*(commands or (command(),)))
    write_tree(data(), {"claude/hook.py": script, "claude/marketplace/research/hooks/hooks.json": listed})


def test_a_canary_goes_through_each_command_once() -> None:
    plugin(GOOD, command(), command("plugin"))
    lines = told("hook")
    assert [line[0] for line in lines] == ["pass", "pass"] and "answers in " in lines[0][1]


@pytest.mark.parametrize(
    ("script", "level", "found"),
    [
        ("", "fail", "exit code 0, it said: nothing"),
        ("raise SystemExit('broken')", "fail", "exit code 1, it said: broken"),
        ("print('[1]')", "fail", "it said: [1]"),
        ('print(\'{"canary": "another"}\')', "fail", "another"),
        (ANSWER.format(version="0.0.1"), "warn", f"of harness 0.0.1, this is {__version__}"),
        (GOOD + "import time; time.sleep(1.1)", "warn", "1."),
        ("import time; time.sleep(60)", "fail", "no answer in 5 s"),
    ],
)
def test_a_hook_that_does_not_answer(script: str, level: str, found: str) -> None:
    plugin(script)
    [line] = told("hook")
    assert line[0] == level and found in line[1] and line[2]
    assert doctor().code == (level == "fail") or "60" in script


def test_hooks_of_the_project_are_tried_like_those_of_the_plugin() -> None:
    write_tree(data(), {"claude/hook.py": GOOD})
    package = shlex.quote(str(Path(__file__).parent.parent))
    write_tree(Path(), {".claude/settings.json": hooks("true", command(package), command())})
    assert [line[0] for line in told("hook")] == ["pass", "warn"]  # the second is not as we write it: not run


@pytest.mark.parametrize(
    "foreign",
    [
        "{mark}",
        "{mark} {script}",
        "[ -f {script} ] && exec sh -c '{mark}' -I -S {script}; true",
        "{ours} {folder}",
        "{ours}; {mark}",
        "$({mark}) {ours}",
    ],
)
def test_other_hooks_of_a_project_are_not_run(foreign: str) -> None:
    write_tree(data(), {"claude/hook.py": GOOD + "import sys\nif sys.argv[1:]: open('../../started', 'w')\n"})
    mark = f"touch {Path.cwd().parent / 'started'}"
    ours = command().removesuffix("; true")
    said = foreign.format(mark=mark, script=data() / "claude/hook.py", ours=ours, folder="/tmp")
    write_tree(Path(), {".claude/settings.json": hooks(said)})
    assert [line[0] for line in told("hook")] == ([] if foreign == "{mark}" else ["warn"])
    assert not Path("../started").exists()


def test_hooks_that_are_turned_off() -> None:
    plugin(GOOD)
    assert told("hooks", HARNESS_HOOKS="0")[0][:2] == ("warn", "off: HARNESS_HOOKS=0")
    assert told("hook", HARNESS_HOOKS="0") == []
    user = Path(os.environ["HOME"], ".claude/settings.json")
    write_tree(Path(), {".claude/settings.local.json": '{"disableAllHooks": true}'})
    write_tree(user.parent, {"settings.json": '{"disableAllHooks": true}'})
    mine = Path(".claude/settings.local.json").absolute()
    assert [line[1] for line in told("hooks")] == [f"off: disableAllHooks in {file}" for file in (user, mine)]


# The project ---------------------------------------------------------------------------------------------------


def test_settings_that_need_trust(tools: Path) -> None:
    file = Path("harness.yaml").absolute()
    program(tools, "mine", MARK)
    for text, level, found in (
        ("rounds: 3\n", "pass", f"{file}: sets nothing that needs trust"),
        ("agents:\n  mine: {command: [mine]}\n", "warn", f"{file}: not trusted, so not obeyed (agents.mine)"),
        ("ruonds: 3\n", "fail", f"unknown setting `ruonds`; did you mean `rounds`?: {file}:1"),
    ):
        write_tree(Path(), {"harness.yaml": text})
        [line] = told("harness.yaml")
        assert line[:2] == (level, found)
    assert doctor().code == 1
    write_tree(Path(), {"harness.yaml": "agents:\n  mine: {command: [mine]}\n"})
    assert told("agent mine") == []
    assert harness("trust", "--yes").code == 0
    assert told("harness.yaml")[0][:2] == ("pass", f"{file}: trusted (agents.mine)")
    assert told("agent mine")[0][0] == "pass" and not Path("../started").exists()


@pytest.mark.parametrize(
    ("files", "rule"),
    [
        ({".gitignore": "*.tmp\nresearch/\n"}, ".gitignore (research/)"),
        ({".git/info/exclude": "/res*\n"}, ".git/info/exclude (/res*)"),
        ({".gitignore": "research\n!research/\n"}, ""),
        ({".gitignore": "research/*.md\n"}, ""),
    ],
)
def test_a_case_that_git_ignores(files: dict[str, str], rule: str) -> None:
    write_tree(Path(), {".git/HEAD": "", "research/question.md": "What?\n", **files})
    [(level, found, todo)] = told("case")
    assert level == ("warn" if rule else "pass") and ("Gemini" in todo) == bool(rule)
    assert found.endswith(f"is ignored by {Path.cwd() / rule}" if rule else "not ignored")


def test_a_case_below_a_folder_that_git_ignores(monkeypatch: pytest.MonkeyPatch) -> None:
    write_tree(Path(), {".git/HEAD": "", ".gitignore": "notes\n", "notes/research/question.md": "What?\n"})
    monkeypatch.chdir("notes")
    assert ".gitignore (notes)" in told("case")[0][1]


def test_a_chain_of_guides_that_codex_cuts(monkeypatch: pytest.MonkeyPatch) -> None:
    guides = {"AGENTS.md": "a" * 20_000, "deep/AGENTS.md": "b" * 12_768, "other/AGENTS.md": "c" * 50_000}
    write_tree(Path(), {".git/HEAD": "", **guides, "deep/er/a": ""})
    root = Path.cwd()
    monkeypatch.chdir("deep/er")
    assert told("AGENTS.md") == [("pass", "32768 bytes of 32768", "")]
    write_tree(root, {"deep/er/AGENTS.md": "d"})
    [(level, found, todo)] = told("AGENTS.md")
    assert (level, found) == ("warn", "32769 bytes in 3 files") and str(root / "AGENTS.md") in todo


@pytest.mark.parametrize(
    ("mark", "level", "found"),
    [
        (f"<!-- harness init {__version__} 0123456789abcdef (note) -->", "pass", "CLAUDE.md"),
        ("<!-- harness init 0.0.1 0123456789abcdef (note) -->", "warn", "outdated in CLAUDE.md (0.0.1)"),
        ("text", "skip", "not wired: harness init"),
    ],
)
def test_our_block_in_a_guide(mark: str, level: str, found: str) -> None:
    write_tree(Path(), {"AGENTS.md": "ours\n", "CLAUDE.md": f"# Mine\n\n{mark}\nrules\n"})
    assert told("block of harness init")[0][:2] == (level, found)


# The machine ---------------------------------------------------------------------------------------------------


def test_a_console_that_is_not_utf8() -> None:
    old = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0", "PYTHONIOENCODING": "latin-1"}
    call = [sys.executable, "-m", "harness", "doctor"]
    ran = subprocess.run(call, env={**os.environ, **old}, capture_output=True, check=False, encoding="latin-1")
    assert "WARN  encoding: output iso8859-1, files " in ran.stdout and "PYTHONUTF8=1" in ran.stdout
    assert "(PYTHONUTF8=0, PYTHONIOENCODING=latin-1)" in ran.stdout


def limits(folder: Path, *names: str) -> list[tuple[str, str]]:
    found = examine(Around(Path.cwd(), None, os.environ, system=folder))
    return [(str(one.level), one.found) for one in found if one.what in names]


def test_limits_on_watches(tmp_path: Path) -> None:
    names = ("inotify max_user_watches", "inotify max_user_instances", "inotify limits")
    assert limits(tmp_path, *names) == [("skip", "not on this system")]
    tree = {"fs/inotify/max_user_watches": "8191\n", "fs/inotify/max_user_instances": "128\n"}
    assert limits(write_tree(tmp_path, tree), *names) == [("warn", "8191, below 8192"), ("pass", "128")]
    write_tree(tmp_path, {"fs/inotify/max_user_watches": "many\n"})
    [(level, found)] = limits(tmp_path, *names)
    assert level == "warn" and found.startswith("could not be looked at: ValueError")


def test_a_data_folder_that_cannot_be_used() -> None:
    data().write_text("a file in its place", encoding="utf-8")
    ran = harness("doctor")
    assert ran.code == 1
    assert f"FAIL  data folder: {data()} (Not a directory: {data()})" in ran.out and "HARNESS_DATA_DIR" in ran.out


def test_a_broken_list_of_what_is_trusted() -> None:
    write_tree(data(), {"trust.json": "{"})
    [(level, found, todo)] = told("trust.json")
    assert level == "fail" and str(data() / "trust.json") in found and "harness trust" in todo


def test_a_check_that_breaks_is_a_line_like_the_others() -> None:
    def broken(around: Around) -> Iterator[Finding]:
        yield passed("first", "seen")
        raise KeyError("gone\x1b[2J")

    def fine(around: Around) -> Iterator[Finding]:
        yield passed("third", "seen")

    checks: dict[str, Check] = {"broken": broken, "fine": fine}
    found = examine(Around(Path.cwd(), None, {}), checks)
    assert [(str(one.level), one.what) for one in found] == [("pass", "first"), ("warn", "broken"), ("pass", "third")]
    assert found[1].found.startswith("could not be looked at: KeyError: 'gone")
