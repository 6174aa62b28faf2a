"""Our hooks in a project's settings.json: other people's settings stay as they are, and odd files are refused."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.scaffold.hooks import put_hooks, take_hooks
from harness.scaffold.plugin import plugin_files
from harness.scaffold.refused import Refused

HOOKS = plugin_files(Path("/data"), ())["hooks/hooks.json"]
THEIRS: dict[str, Any] = {
    "permissions": {"allow": ["Bash(ls)"], "deny": []},
    "hooks": {
        "Stop": [{"hooks": [{"type": "command", "command": "say done"}]}],
        "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "./guard.py"}]}],
        "Notification": [],
    },
    "ключ": 1.50,
}
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
GROUPS = st.lists(
    st.fixed_dictionaries({"hooks": st.lists(st.fixed_dictionaries({"command": st.text(max_size=5)}), max_size=2)}),
    min_size=1,
    max_size=2,
)
SETTINGS = st.builds(
    lambda other, hooks: {**other, **({"hooks": hooks} if hooks else {})},
    st.dictionaries(st.text(min_size=1, max_size=5).filter(lambda key: key != "hooks"), VALUES, min_size=1, max_size=3),
    st.dictionaries(st.sampled_from(["Stop", "PreToolUse", "Other"]), GROUPS, max_size=3),
)


@given(
    data=SETTINGS, indent=st.sampled_from([2, 4, "\t", None]), ascii_only=st.booleans(), end=st.sampled_from(["", "\n"])
)
def test_what_is_merged_comes_out_without_a_trace(data: Any, indent: Any, ascii_only: bool, end: str) -> None:
    before = (json.dumps(data, indent=indent, ensure_ascii=ascii_only) + end).encode()
    put = put_hooks(before, HOOKS)
    assert take_hooks(put) == before
    assert put_hooks(put, HOOKS) == put


def test_other_hooks_stay_before_ours() -> None:
    put = json.loads(put_hooks(json.dumps(THEIRS, indent=2).encode(), HOOKS))
    for event, groups in THEIRS["hooks"].items():
        assert put["hooks"][event][: len(groups)] == groups
    assert len(put["hooks"]["Stop"]) == 2 and len(put["hooks"]["PreToolUse"]) == 3
    assert put["permissions"] == THEIRS["permissions"]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_layout_is_kept(newline: str, mark: str) -> None:
    text = mark + json.dumps(THEIRS, indent=4, ensure_ascii=False).replace("\n", newline) + newline
    put = put_hooks(text.encode(), HOOKS).decode()
    assert put.startswith(mark + "{" + newline + "    ") and put.count("\r") == (
        put.count("\n") if "\r" in newline else 0
    )
    assert take_hooks(put.encode()) == text.encode()


def test_without_a_file_there_is_one_and_then_none() -> None:
    assert take_hooks(put_hooks(None, HOOKS)) is None


def test_hooks_of_another_machine_are_known_and_replaced() -> None:
    elsewhere = plugin_files(Path("/home/жук/да та/it's $HOME"), ())["hooks/hooks.json"]
    put = put_hooks(None, elsewhere)
    assert put_hooks(put, HOOKS) == put_hooks(None, HOOKS)
    assert take_hooks(put) is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{\n  // mine\n  "a": 1\n}\n', "line 2"),
        ('{"a": 1,}', "not plain JSON"),
        ("", "not plain JSON"),
        ('{"a":    1}', "layout is unusual"),
        ('{"a": 1.50}', "layout is unusual"),
        ("[]", "no object"),
        ('{"hooks": []}', "no object"),
        ('{"hooks": {"Stop": {}}}', "no list"),
        ('{"a": 1, "a": 2}', "twice"),
        ("\udcff", "UTF-8"),
        ("[" * 100_000, "JSON"),
    ],
)
def test_what_could_not_be_written_back_is_refused(text: str, why: str) -> None:
    with pytest.raises(Refused, match=why):
        put_hooks(text.encode("utf-8", "surrogateescape"), HOOKS)


@pytest.mark.parametrize(
    "folder", ["plain", "with space", 'it\'s "quoted"', "$HOME `x` $(x)", "Данные", "a\\b", "-x; true"]
)
def test_a_hook_runs_from_any_folder_and_never_blocks_when_it_is_gone(folder: str, tmp_path: Path) -> None:
    data = tmp_path / folder
    (data / "claude").mkdir(parents=True)
    script = data / "claude" / "hook.py"
    script.write_text("import sys; print('ran', sys.stdin.read()); sys.exit(2)\n", encoding="utf-8")
    hooks = json.loads(plugin_files(data, ("mcp__brave__search",))["hooks/hooks.json"])["hooks"]
    commands = {hook["command"] for groups in hooks.values() for group in groups for hook in group["hooks"]}
    (command,) = commands
    ran = subprocess.run(["sh", "-c", command], input="event", capture_output=True, text=True)
    assert (ran.returncode, ran.stdout) == (2, "ran event\n"), ran.stderr
    script.unlink()
    gone = subprocess.run(["sh", "-c", command], input="event", capture_output=True, text=True)
    assert (gone.returncode, gone.stdout, gone.stderr) == (0, "", "")


def test_a_named_search_tool_is_matched_and_given_to_the_searcher() -> None:
    files = plugin_files(Path("/data"), ("mcp__brave__search", "mcp__x__y"))
    hooks = json.loads(files["hooks/hooks.json"])["hooks"]
    assert {group.get("matcher") for group in hooks["PreToolUse"]} == {
        "Agent|Task|SendMessage",
        "WebSearch|WebFetch|mcp__brave__search|mcp__x__y",
    }
    assert "tools: WebSearch, WebFetch, mcp__brave__search, mcp__x__y\n" in files["agents/research-searcher.md"]
    both = (files, plugin_files(Path("/data"), ()))
    versions = [json.loads(one[".claude-plugin/plugin.json"])["version"] for one in both]
    assert versions[0] != versions[1], "Claude Code takes a plugin of the same version for the same plugin"
