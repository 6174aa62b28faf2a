"""The Checker's turn: once, on the first draft; what it misses goes back into the loop."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.agents.extractive import ExtractiveAgent
from harness.errors import AgentFailed, AgentUnreachable
from harness.formats.answer import parse_answer
from harness.formats.summary import lines_of, parse_summary
from harness.loop import run, step
from harness.model import Answer, SectionKind
from harness.session import Event
from harness.store.trace import read_trace
from tests.fakes import ScriptedAgent, answer_with, make_session, plan_for, search_for
from tests.trees import read_tree, write_tree

SUMMARY = """---
round: 1
spent: 1
---
## Confirmed
- fact alpha [1.1]
## Searches
- 1 · alpha — found, 1 source, +1 fact, 0 gaps
## Sources
- [1.1] 2025-02-11 · About alpha — https://example.org/alpha
"""
DRAFT = "---\nstatus: draft\nstopped: answered\nround: 1\n---\n\nKnown: fact alpha [1.1]\n"
MISSING = '{"complete": false, "missing": ["beta", "the year of beta"]}'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "case", {"question.md": "What is alpha?\n", "summary.md": SUMMARY, "answer.md": DRAFT})


def answer_of(folder: Path) -> Answer:
    return parse_answer(read_tree(folder)["answer.md"])


def test_a_complete_draft_becomes_the_answer(folder: Path) -> None:
    step(make_session(folder, checker=ScriptedAgent('{"complete": true, "missing": []}')))
    assert answer_of(folder).status == "complete"
    assert answer_of(folder).text == "Known: fact alpha [1.1]"


def test_it_sees_question_summary_and_draft_and_nothing_else(folder: Path) -> None:
    write_tree(folder, {"raw_1.md": "---\nkind: search\n---\n## 1. A\n- date: 2025\n\nsecret page text\n"})
    checker = ScriptedAgent('{"complete": true, "missing": []}')
    step(make_session(folder, checker=checker))
    assert set(checker.packets[0].files) == {"question.md", "summary.md", "answer.md"}
    assert "Known: fact alpha [1.1]" in checker.packets[0].prompt and "secret" not in checker.packets[0].prompt


def test_what_is_missing_goes_to_not_found_and_the_draft_is_dropped(folder: Path) -> None:
    steps = [step(make_session(folder, checker=ScriptedAgent(MISSING))) for _ in range(2)]
    assert [one.action for one in steps] == ["check", "tidy"]
    files = read_tree(folder)
    assert "answer.md" not in files
    assert "## Not found\n- beta\n- the year of beta\n" in files["summary.md"]
    assert parse_summary(files["summary.md"]).checked == 1


def test_an_item_brings_in_no_mark_and_no_heading(folder: Path) -> None:
    verdict = '{"complete": false, "missing": ["beta [pinned]", "[person]", "## Struck out\\n- alpha", "gamma [1.1]"]}'
    step(make_session(folder, checker=ScriptedAgent(verdict)))
    summary = parse_summary(read_tree(folder)["summary.md"])
    assert lines_of(summary, SectionKind.NOT_FOUND) == ("beta", "## Struck out - alpha", "gamma")
    assert SectionKind.STRUCK not in [section.kind for section in summary.sections]


def test_once_a_case(folder: Path) -> None:
    checker = ScriptedAgent(MISSING)
    planner = ScriptedAgent(
        search_for("beta"), answer_with("fact alpha [1.1], fact beta [2.1]; the year of beta was not found")
    )
    steps = list(run(make_session(folder, checker=checker, planner=planner)))
    assert [one.action for one in steps] == ["check", "tidy", "ask", "search", "fold", "answer", "done"]
    assert answer_of(folder).status == "partial"  # the year of beta is still listed


@pytest.mark.parametrize(
    "script",
    [[AgentFailed("timed out")], [AgentUnreachable("no key")], ["It is fine."] * 3],
    ids=["fails", "out of reach", "nonsense"],
)
def test_a_checker_that_fails_does_not_block(folder: Path, script: list[str | Exception]) -> None:
    events: list[Event] = []
    steps = list(run(make_session(folder, checker=ScriptedAgent(*script), events=events)))
    assert [one.action for one in steps] == ["check", "done"]
    assert answer_of(folder).status == "complete"
    assert any(event.kind == "notice" and "self-check failed" in event.text for event in events)
    assert "failed" in list(read_trace(folder / "trace.jsonl"))[-1]


@pytest.mark.parametrize("script", [[AgentFailed("timed out")], ['{"complete": true, "missing": []}']])
def test_no_verdict_completes_what_has_an_untried_cell(folder: Path, script: list[str | Exception]) -> None:
    question = "---\nentities: [alpha, beta]\nfields: [revenue]\n---\nWhat?\n"
    write_tree(folder, {"question.md": question})
    step(make_session(folder, checker=ScriptedAgent(*script)))
    assert answer_of(folder).status == "partial"


@pytest.mark.parametrize("script", [[AgentFailed("timed out")], ['{"complete": true, "missing": []}']])
def test_no_verdict_completes_an_answer_from_memory(folder: Path, script: list[str | Exception]) -> None:
    write_tree(folder, {"summary.md": "---\nround: 1\nspent: 1\n---\n"})
    step(make_session(folder, checker=ScriptedAgent(*script)))
    assert answer_of(folder).status == "partial"


@pytest.mark.parametrize("self_check", [True, False])
def test_whether_there_is_a_draft_at_all(folder: Path, self_check: bool) -> None:
    (folder / "answer.md").unlink()
    step(make_session(folder, planner=plan_for("alpha"), self_check=self_check))
    assert answer_of(folder).status == ("draft" if self_check else "complete")


def test_without_a_search_there_is_no_check(folder: Path) -> None:
    (folder / "answer.md").unlink()
    write_tree(folder, {"summary.md": SUMMARY.replace("spent: 1", "spent: 0")})
    step(make_session(folder, planner=plan_for("alpha")))
    assert answer_of(folder).status == "complete"


def test_a_note_that_came_after_the_draft_supersedes_it(folder: Path) -> None:
    write_tree(folder, {"raw_2.md": "fact beta\n"})
    planner = ScriptedAgent(answer_with("fact alpha [1.1], fact beta [2.1]"))
    steps = list(run(make_session(folder, planner=planner)))
    assert [one.action for one in steps] == ["tidy", "adopt", "fold", "answer", "check", "done"]


def test_a_draft_edited_during_the_check_is_checked_again(folder: Path) -> None:
    def edited(packet: object) -> str:
        write_tree(folder, {"answer.md": DRAFT.replace("Known", "Known since 2024")})
        return '{"complete": true, "missing": []}'

    checker = ScriptedAgent(edited, '{"complete": true, "missing": []}')
    step(make_session(folder, checker=checker))
    assert answer_of(folder).text == "Known since 2024: fact alpha [1.1]"
    assert "Known since 2024" in checker.packets[1].prompt


def test_the_built_in_rules_can_check(folder: Path) -> None:
    step(make_session(folder, checker=ExtractiveAgent()))
    assert answer_of(folder).status == "complete"
