"""`harness agents --test`, `--agent`, and what a pass by a program costs, with small scripts as programs."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.program import agent_program, harness, user_config
from tests.trees import read_tree, write_tree

SEARCH = "print('Action: search(\"Kilimanjaro\")')"


@pytest.fixture
def case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_tree(tmp_path, {"research/question.md": "What was the revenue of Samokat in 2024?\n"})
    monkeypatch.chdir(tmp_path)
    return tmp_path / "research"


def told(text: str, cost: float, tokens: tuple[int, int]) -> str:
    """A program that prints Claude's form."""
    usage = {"input_tokens": tokens[0], "output_tokens": tokens[1]}
    return (
        f"print({json.dumps(json.dumps({'type': 'result', 'result': text, 'usage': usage, 'total_cost_usd': cost}))})"
    )


def test_a_small_pass_reads_and_writes_no_case(case: Path) -> None:
    agent_program("mine", f"import os, sys; assert 'What was the revenue' not in sys.stdin.read(); {SEARCH}")
    before = read_tree(case)
    ran = harness("agents", "--test", "mine")
    assert ran.code == 0 and ran.out.startswith("mine: works, ") and "does not say how many tokens" in ran.out
    assert 'search("Kilimanjaro")' in ran.out and read_tree(case) == before
    tried = json.loads(harness("agents", "--test", "mine", "--json").out)
    assert tried["name"] == "mine" and tried["tokens_in"] is None


@pytest.mark.parametrize(
    ("code", "missing"),
    [
        ("print('I am ready to help!')", "name a stronger model"),
        ("raise SystemExit('Please run /login')", "no login or key"),
        ("raise SystemExit('HTTP 429 Too Many Requests')", "rate limit"),
        ("pass", "no reply"),
    ],
)
def test_what_is_missing_is_said_with_exit_code_1(case: Path, code: str, missing: str) -> None:
    agent_program("mine", code)
    ran = harness("agents", "--test", "mine")
    assert ran.code == 1 and missing in ran.err and ran.out == "", ran


def test_a_program_that_is_not_there_and_a_name_that_nobody_knows(case: Path) -> None:
    user_config("agents: {mine: {command: [no-such-program]}}\n")
    ran = harness("agents", "--test", "mine")
    assert ran.code == 1 and "no such program" in ran.err
    assert harness("agents", "--test", "cloude").code == 2


def test_an_agent_of_an_untrusted_project_is_not_started(case: Path) -> None:
    touched = case.parent / "touched"
    code = f"open({str(touched)!r}, 'w')"
    (case.parent / "harness.yaml").write_text(
        f"agents:\n  mine: {json.dumps({'command': [sys.executable, '-c', code]})}\n"
    )
    ran = harness("agents", "--test", "mine")
    assert ran.code == 1 and "harness trust" in ran.err and not touched.exists()


def test_one_agent_for_all_roles_and_another_for_one(case: Path) -> None:
    agent_program("mine", SEARCH)
    assert harness("step", "--agent", "mine").out == "ask: Kilimanjaro\n"
    (case / "next_query.txt").unlink()
    ran = harness("step", "--agent", "no-such", "--agent", "mine")
    assert ran.code == 2 and "no-such" in ran.err
    assert harness("step", "--agent", "mine", "--planner", "extractive").out != "ask: Kilimanjaro\n"


def test_costs_stand_in_the_trace_and_in_the_status(case: Path) -> None:
    agent_program("mine", told('Action: search("Samokat revenue")', 0.125, (900, 50)), more=", form: claude")
    assert harness("step").code == 0
    record = json.loads((case / "trace.jsonl").read_text().splitlines()[-1])
    assert (record["tokens"], record["estimated"], record["cost"]) == ([900, 50], False, 0.125)
    assert "900 tokens in, 50 out (planner mine 900); $0.12" in harness("status").out
    assert json.loads(harness("status", "--json").out)["spent"]["cost"] == 0.125


def test_what_a_failed_pass_took_counts_against_the_budget(case: Path) -> None:
    agent_program("mine", told("", 0.1, (900, 50)), more=", form: claude")
    assert harness("step").code == 0
    record = json.loads((case / "trace.jsonl").read_text().splitlines()[-1])
    assert record["others"] == {"mine": [900, 50]} and "no reply" in record["failed"]
