"""What people do around the loop: type, leave, come back, ask for something else; and hooks that are not ours."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from harness import hook
from harness.inside.dispatch import answer
from tests.claude_events import COMPLETE, Claude, answered, context_of, query, summary
from tests.test_inside_roles import FACT, QUESTION, case, in_another_process, project
from tests.trees import read_tree, write_tree

HOOK = Path(hook.__file__)
CALL = 'call the sub-agent research-planner with the prompt "go".'


def ran(event: Mapping[str, object], **environ: str) -> subprocess.CompletedProcess[str]:
    """The real entry as Claude Code starts it."""
    command = [sys.executable, "-I", "-S", str(HOOK), str(HOOK.parent.parent)]
    return subprocess.run(
        command, input=json.dumps(event), env={**os.environ, **environ}, capture_output=True, text=True, check=False
    )


# Typed ---------------------------------------------------------------------------------------------


def test_status_and_stop_are_told_without_the_model(tmp_path: Path) -> None:
    claude = Claude(project(tmp_path))
    claude.types("/research")
    claude.turn("planner", query("Samokat revenue 2024"))
    told = str(claude.types("/research status")["reason"])
    assert QUESTION.strip() in told
    assert "the Synthesizer folds raw_1.md" in told
    assert str(claude.types("/research stop")["reason"]).startswith("Stopped.")
    assert "at work" not in str(claude.types("/research status")["reason"])


def test_steering_goes_on_with_the_words_among_the_directions(tmp_path: Path) -> None:
    claude = Claude(project(tmp_path))
    assert context_of(claude.types("/research steer: in dollars")).endswith(CALL)
    assert "in dollars" in case(tmp_path)["question.md"]


@pytest.mark.parametrize("carriers", [("project",), ("plugin", "project")])
def test_what_is_typed_is_done_once(tmp_path: Path, carriers: tuple[str, ...]) -> None:
    claude = Claude(project(tmp_path), carriers=carriers)
    claude.types("/research steer: in dollars")
    claude.types("/research steer: in dollars")  # said twice is meant twice
    assert case(tmp_path)["question.md"].count("in dollars") == 2
    assert QUESTION.strip() in str(claude.types("/research status")["reason"])


def test_steering_from_a_second_session_leaves_the_first_at_work(tmp_path: Path) -> None:
    folder = project(tmp_path)
    first, second = Claude(folder), Claude(folder)
    first.types("/research")
    first.calls("planner")
    in_another_process(folder / "research")
    assert "added to Directions" in str(second.types("/research steer: in dollars")["reason"])
    assert str(second.types("/research stop")["reason"]).startswith("asked Claude Code")
    assert first.replies("planner", query("Samokat revenue 2024")) == ""
    assert first.sees("planner").startswith("Research: stopped on request")


def test_a_folder_that_is_itself_the_case_gets_the_next_one_inside(tmp_path: Path) -> None:
    folder = write_tree(tmp_path / "mine", {"question.md": "Another one?\n"})
    Claude(folder).types("/research How long is the Oka?")
    assert (folder / "research/question.md").is_file()
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_a_case_that_the_environment_names_is_the_only_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_tree(tmp_path / "mine", {"question.md": "Another one?\n"})
    monkeypatch.setenv("HARNESS_DIR", str(folder))
    told = str(Claude(tmp_path).types("/research How long is the Oka?")["reason"])
    assert told.startswith("a case is here already")
    assert len(list(tmp_path.rglob("question.md"))) == 1


@pytest.mark.parametrize("carriers", [("project",), ("plugin", "project")])
def test_an_answer_that_stands_is_named_and_reopened(tmp_path: Path, carriers: tuple[str, ...]) -> None:
    claude = Claude(project(tmp_path, **{"research/answer.md": "It is 154 bn roubles.\n"}), carriers=carriers)
    told = str(claude.types("/research")["reason"])
    assert told.startswith("The answer stands: ")
    assert "/research reopen" in told
    assert context_of(claude.types("/research reopen")).endswith('-planner with the prompt "go".')
    assert "answer_1.md" in case(tmp_path)


def test_another_question_is_another_case_and_the_session_stays_with_it(tmp_path: Path) -> None:
    claude = Claude(project(tmp_path))
    claude.types("/research How long is the river Oka?")
    assert (tmp_path / "research/how-long-is-the-river-oka/question.md").is_file()
    assert "How long is the river Oka?" in claude.calls("planner")
    claude.replies("planner", query("length of the Oka"))
    claude.sees("planner")
    assert "how-long" in str(claude.types("/research status")["reason"])
    assert "next_query.txt" not in case(tmp_path)


def test_the_same_question_goes_on_with_its_case(tmp_path: Path) -> None:
    claude = Claude(project(tmp_path))
    claude.types(f"/research  {QUESTION.replace(' ', '  ')}")
    assert [path.name for path in (tmp_path / "research").iterdir() if path.is_dir()] == [".harness"]


@pytest.mark.parametrize("words", ["", "status", "stop", "steer: x", "reopen", "go on"])
def test_where_nothing_was_asked_yet_that_is_said(tmp_path: Path, words: str) -> None:
    assert "no research here yet" in str(Claude(tmp_path).types(f"/research {words}")["reason"])
    assert read_tree(tmp_path) == {}


def test_a_sub_folder_is_as_good_as_the_root(tmp_path: Path) -> None:
    folder = project(tmp_path)
    (folder / "sub/deep").mkdir(parents=True)
    claude = Claude(folder / "sub/deep")
    claude.types("/research")
    assert "synthesizer" in claude.turn("planner", query("Samokat revenue 2024"))
    assert not (folder / "sub/deep/research").exists()


def test_a_question_alone_is_no_command(tmp_path: Path) -> None:
    claude = Claude(project(tmp_path))
    assert claude.types("/researcher find me a hotel") == {}
    assert claude.types("do some /research please") == {}


# Interrupted ------------------------------------------------------------------------------------------


def test_esc_and_an_unrelated_question_leave_the_person_alone(tmp_path: Path) -> None:
    claude = Claude(project(tmp_path))
    claude.types("/research")
    claude.calls("planner")  # Esc here: nothing more comes of it
    assert claude.types("what time is it?") == {}
    assert claude.stops() == ""
    assert not (tmp_path / "research/.harness/claim.json").exists()
    assert context_of(claude.types("/research")).endswith(CALL)
    assert QUESTION.strip() in claude.calls("planner")


def test_the_stop_hook_nudges_once_and_only_right_after_a_role(tmp_path: Path) -> None:
    claude = Claude(project(tmp_path))
    claude.types("/research")
    assert claude.stops() == ""  # no role was called in answer to this message
    claude.types("/research")
    claude.turn("planner", query("Samokat revenue 2024"))
    told = claude.stops()
    assert "did not end the research. Research, round 1: call the sub-agent research-synthesizer" in told
    assert claude.stops(again=True) == ""
    assert claude.stops() == ""


def test_an_end_is_an_end(tmp_path: Path) -> None:
    claude = Claude(project(tmp_path))
    claude.types("/research")
    claude.turn("planner", query("Samokat revenue 2024"))
    claude.turn("synthesizer", summary(FACT))
    claude.turn("planner", answered("154.0 bn roubles [1.1]."))
    claude.turn("checker", COMPLETE)
    assert claude.stops() == ""
    assert claude.tell("SessionStart", source="startup") == {}


def test_a_new_session_is_reminded_in_one_line_and_goes_on(tmp_path: Path) -> None:
    folder = project(tmp_path)
    first = Claude(folder, carriers=("plugin", "project"))
    first.types("/research")
    first.calls("planner")
    first.tell("SessionEnd", reason="exit")
    (Path(os.environ["HARNESS_DATA_DIR"]) / "claude/marketplace").mkdir()
    second = Claude(folder, carriers=("plugin", "project"))
    told = second.tell("SessionStart", source="startup")
    assert told["systemMessage"] == context_of(told)
    assert context_of(told).startswith("Research in ")
    assert "\n" not in context_of(told)
    assert "is unfinished (round 0, no answer yet). /research goes on with it." in context_of(told)
    assert "round 1" in context_of(second.types("/research"))


def test_after_a_compaction_the_next_call_is_named_again(tmp_path: Path) -> None:
    claude = Claude(project(tmp_path))
    claude.types("/research")
    line = claude.turn("planner", query("Samokat revenue 2024"))
    assert context_of(claude.tell("SessionStart", source="compact")) == line
    assert "is unfinished" in context_of(Claude(tmp_path).tell("SessionStart", source="compact"))


def test_deleting_the_helpers_loses_nothing(tmp_path: Path) -> None:
    claude = Claude(project(tmp_path))
    claude.types("/research")
    claude.turn("planner", query("Samokat revenue 2024"))
    for path in (tmp_path / "research/.harness").iterdir():
        path.unlink()
    assert "154.0 bn roubles" in claude.calls("synthesizer")


@pytest.mark.parametrize(
    "junk", ["", "{", "[]", '{"turn": 3}', '{"session": 1, "x": 2}', '{"turn": {"use": "x"}}', "\0"]
)
def test_a_broken_seat_is_an_empty_one(tmp_path: Path, junk: str) -> None:
    claude = Claude(project(tmp_path, **{"research/.harness/inside.json": junk}))
    assert context_of(claude.types("/research")).endswith(CALL)
    assert "synthesizer" in claude.turn("planner", query("Samokat revenue 2024"))


# The entry ----------------------------------------------------------------------------------------------


def test_the_entry_answers_and_can_be_switched_off(tmp_path: Path) -> None:
    folder = project(tmp_path)
    event = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "/research", "cwd": str(folder)}
    off = ran(event, HARNESS_HOOKS="0")
    assert (off.returncode, off.stdout, off.stderr) == (0, "", "")
    on = ran(event)
    assert on.stderr == ""
    assert context_of(json.loads(on.stdout)).endswith(CALL)


@pytest.mark.parametrize(
    "event",
    [
        {"hook_event_name": "PreToolUse", "tool_name": "Agent", "tool_input": {"subagent_type": "general-purpose"}},
        {"hook_event_name": "PreToolUse", "tool_name": "Agent", "tool_input": {"subagent_type": "my-research-planner"}},
        {"hook_event_name": "PreToolUse", "tool_name": "Agent", "tool_input": {"subagent_type": "x:research-planner"}},
        {"hook_event_name": "SubagentStop", "agent_type": "research:research-planner"},
        {"hook_event_name": "UserPromptSubmit", "prompt": "/acme:research tea", "session_id": "me"},
        {"hook_event_name": "PreToolUse", "tool_name": "SendMessage", "tool_input": {"to": "x"}, "session_id": "me"},
        {"hook_event_name": "PreToolUse", "tool_name": "WebSearch", "tool_input": {"query": "x"}},
        {"hook_event_name": "PostToolUse", "tool_name": "Agent", "tool_input": "odd"},
        {"hook_event_name": "SubagentStop", "agent_type": "explore"},
        {"hook_event_name": "UserPromptSubmit", "prompt": "what time is it?", "session_id": "me"},
        {"hook_event_name": "Stop", "session_id": "me"},
        {"hook_event_name": "SomethingNew"},
        {},
    ],
    ids=str,
)
def test_what_is_none_of_ours_ends_at_once(tmp_path: Path, event: dict[str, object]) -> None:
    project(tmp_path)
    assert not hook.is_ours({**event, "cwd": str(tmp_path)}, hook.PROJECT)
    done = ran({**event, "cwd": str(tmp_path)})
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_an_old_or_finished_case_reminds_nobody(tmp_path: Path) -> None:
    event: dict[str, object] = {"hook_event_name": "SessionStart", "cwd": str(project(tmp_path))}
    assert not hook.is_ours(event, hook.PROJECT)  # any project may have a question.md
    (tmp_path / "research/trace.jsonl").write_text("", encoding="utf-8")
    assert hook.is_ours(event, hook.PROJECT)
    week = time.time() - hook.RECENT - 60
    for name in ("question.md", "trace.jsonl"):
        os.utime(tmp_path / "research" / name, (week, week))
    assert not hook.is_ours(event, hook.PROJECT)
    (tmp_path / "research/summary.md").write_text("", encoding="utf-8")
    assert hook.is_ours(event, hook.PROJECT)
    (tmp_path / "research/answer.md").write_text("42\n", encoding="utf-8")
    assert not hook.is_ours(event, hook.PROJECT)


@pytest.mark.parametrize("sent", ["", "no json", "[]", "3"])
def test_what_is_no_event_is_left_alone(sent: str) -> None:
    command = [sys.executable, "-I", "-S", str(HOOK)]
    done = subprocess.run(command, input=sent, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_package_that_is_gone_is_told_and_blocks_nothing(tmp_path: Path) -> None:
    copy = tmp_path / "hook.py"
    copy.write_bytes(HOOK.read_bytes())
    python = Path(sys.base_prefix) / "bin" / "python3"
    event = {"hook_event_name": "UserPromptSubmit", "prompt": "/research x", "cwd": str(tmp_path)}
    command = [str(python), "-I", "-S", str(copy), str(tmp_path)]
    done = subprocess.run(command, input=json.dumps(event), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert "harness init mends it" in done.stderr


def test_a_canary_comes_back() -> None:
    told = ran({"hook_event_name": "Canary", "canary": "tweet"})
    assert json.loads(told.stdout)["canary"] == "tweet"


@pytest.mark.parametrize("taken", [False, True], ids=["research is free", "another question stands there"])
def test_two_installations_that_ask_at_the_same_moment_make_one_case(tmp_path: Path, taken: bool) -> None:
    (tmp_path / ".git").mkdir()
    if taken:
        write_tree(tmp_path, {"research/question.md": "Another one?\n"})
    for number in range(5):
        event = {
            "hook_event_name": "UserPromptSubmit",
            "session_id": "s",
            "prompt_id": f"p{number}",
            "cwd": str(tmp_path),
            "prompt": f"/research How long is river {number}?",
        }
        with ThreadPoolExecutor(2) as pool:
            said = list(pool.map(lambda carrier, one=event: answer(one, carrier), ("plugin", "project")))
        assert len([told for told in said if told]) == 1
    questions = [path.read_text(encoding="utf-8") for path in tmp_path.rglob("question.md")]
    assert sorted(questions) == sorted({*questions})
    assert len(questions) == 5 + taken
