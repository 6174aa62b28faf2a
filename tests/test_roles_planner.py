"""The Planner's turn: repair turns, the next agent, answers that come too soon, and the one that must come."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from harness.agents.extractive import ExtractiveAgent
from harness.errors import AgentFailed, AgentUnreachable, RepliesDefective
from harness.formats.answer import parse_answer
from harness.formats.queries import parse_next_query
from harness.loop import run, step
from harness.model import Answer, NextQuery, Reply
from harness.plan import Fold, Limits, Search, due
from harness.store.trace import read_trace
from tests.fakes import FunctionAgent, ScriptedAgent, answer_with, make_session, search_for
from tests.trees import read_tree, write_tree

QUESTION = "Compare quick grocery delivery.\n"
GRID = f"---\nentities: [Samokat, VkusVill]\nfields: [revenue]\n---\n{QUESTION}"
SEARCHED = """---
round: 1
spent: 1
---
## Confirmed
- Samokat: revenue 2024 — 154.0 bn [1.1]
## Searches
- 1 · Samokat revenue — found, 1 source, +1 fact, 1 gap
## Sources
- [1.1] 2025-02-11 · Infoline — https://infoline.spb.ru/q
"""


def case(tmp_path: Path, question: str = QUESTION, summary: str = "", **files: str) -> Path:
    named = {name.replace("_md", ".md"): text for name, text in files.items()}
    return write_tree(
        tmp_path / "case", {"question.md": question, **({"summary.md": summary} if summary else {}), **named}
    )


def query_of(folder: Path) -> NextQuery:
    return parse_next_query(read_tree(folder)["next_query.txt"])


def answer_of(folder: Path) -> Answer:
    return parse_answer(read_tree(folder)["answer.md"])


# Repair ------------------------------------------------------------------------------------------------


def test_a_repair_turn_shows_the_bad_reply_and_names_its_defects(tmp_path: Path) -> None:
    folder = case(tmp_path)
    planner = ScriptedAgent(search_for("see https://example.org/x"), search_for("Samokat revenue"))
    assert step(make_session(folder, planner=planner)).line == "Samokat revenue"
    first, second = planner.packets
    assert second.prompt.startswith(first.prompt.rstrip()[:200])
    assert "a query may not contain an address: see https://example.org/x" in second.prompt
    assert 'Action: search("see https://example.org/x")' in second.prompt
    assert [defect.code for defect in second.defects] == ["query-url"]
    assert second.files == first.files and second.token == first.token


def test_every_repair_turn_starts_from_the_first_packet(tmp_path: Path) -> None:
    planner = ScriptedAgent("first nonsense", "second nonsense", search_for("Samokat revenue"))
    step(make_session(case(tmp_path), planner=planner))
    assert "first nonsense" not in planner.packets[2].prompt and "second nonsense" in planner.packets[2].prompt


def test_the_trace_says_who_did_it_and_what_was_refused(tmp_path: Path) -> None:
    folder = case(tmp_path)
    step(make_session(folder, planner=ScriptedAgent("hm", search_for("Samokat revenue"), name="claude")))
    record = next(read_trace(folder / "trace.jsonl"))
    assert (record["role"], record["agent"], record["round"]) == ("planner", "claude", 1)
    assert record["defects"] == ["no-action"] and record["file"] == "next_query.txt"


def test_replies_that_stay_defective_are_kept_and_the_state_is_not_touched(tmp_path: Path) -> None:
    folder = case(tmp_path)
    session = make_session(folder, planner=ScriptedAgent(*["hm", "hum", "hm"] * 2))
    assert step(session).action == "failed"
    with pytest.raises(RepliesDefective) as told:
        step(session)
    kept = {name: text for name, text in read_tree(folder).items() if name.startswith(".harness/rejected/")}
    assert sorted(kept) == [f".harness/rejected/planner_1_{number}.md" for number in (1, 2)]  # each reply once
    assert all("# no-action" in text and "h" in text for text in kept.values())
    assert ".harness/rejected/" in told.value.hint
    assert "next_query.txt" not in read_tree(folder)


def test_the_same_reply_again_ends_the_repair_turns(tmp_path: Path) -> None:
    stubborn, second = ScriptedAgent("hm", "hm"), ScriptedAgent(search_for("alpha"), name="second")
    assert step(make_session(case(tmp_path), planner=[stubborn, second])).action == "ask"
    assert stubborn.script == second.script == []


@pytest.mark.parametrize("repairs", [0, 1, 2])
def test_as_many_repair_turns_as_set_then_the_next_agent(tmp_path: Path, repairs: int) -> None:
    first = ScriptedAgent(*["hm"] * (repairs + 1), name="first")
    second = ScriptedAgent(search_for("Samokat revenue"), name="second")
    folder = case(tmp_path)
    assert step(make_session(folder, planner=[first, second], repairs=repairs)).line == "Samokat revenue"
    assert second.packets[0].defects == () and "hm" not in second.packets[0].prompt
    assert next(read_trace(folder / "trace.jsonl"))["agent"] == "second"


@pytest.mark.parametrize("error", [AgentUnreachable("no such program"), AgentFailed("timed out")])
def test_the_next_agent_takes_over_at_once_where_one_fails(tmp_path: Path, error: Exception) -> None:
    second = ScriptedAgent(search_for("Samokat revenue"), name="second")
    step(make_session(case(tmp_path), planner=[ScriptedAgent(error), second]))
    assert len(second.packets) == 1


def test_an_agent_whose_window_is_too_small_is_passed_over(tmp_path: Path) -> None:
    small, large = ScriptedAgent(name="small"), ScriptedAgent(search_for("Samokat revenue"), name="large")
    small.window = 100
    step(make_session(case(tmp_path), planner=[small, large]))
    assert small.packets == [] and len(large.packets) == 1


def test_no_agent_with_a_window_that_fits_is_told_with_the_sizes(tmp_path: Path) -> None:
    small = ScriptedAgent(name="small")
    small.window = 100
    with pytest.raises(AgentUnreachable, match=r"does not fit small.*window of 100"):
        step(make_session(case(tmp_path), planner=small))


# Guards ------------------------------------------------------------------------------------------------

REFUSED = {
    "long-query": search_for("word " * 41),
    "query-url": search_for("site www.example.org revenue"),
    "query-token": search_for(f"Samokat {'a1' * 31}"),
    "repeated-query": search_for("revenue of Samokat"),
    "echoed-prompt": search_for("Infoline ranking quick commerce Russia 2024 revenue"),
    "no-action": "The answer is known.",
    "two-actions": 'Action: search("VkusVill revenue")\nAction: answer("Known [1.1]")',
    "empty-reply": '<think>Action: search("VkusVill revenue")</think>',
    "unknown-citation": answer_with("Samokat 154.0 bn [1.1], VkusVill 12 bn [7.1]"),
    "uncited-answer": answer_with("Samokat has 154.0 bn."),
}


@pytest.mark.parametrize("code", REFUSED)
def test_what_is_refused(tmp_path: Path, code: str) -> None:
    planner = ScriptedAgent(REFUSED[code], search_for("VkusVill revenue"))
    step(make_session(case(tmp_path, summary=SEARCHED), planner=planner))
    assert code in [defect.code for defect in planner.packets[1].defects]


@pytest.mark.parametrize("said", ["Выручка Самоката 2024", "Самокат: выручка за 2024 год"])
def test_a_search_that_succeeded_is_not_repeated_in_other_cases_and_order(tmp_path: Path, said: str) -> None:
    summary = SEARCHED.replace("Samokat revenue —", "выручка Самокат 2024 —")
    planner = ScriptedAgent(search_for(said), search_for("доля рынка Самоката"))
    step(make_session(case(tmp_path, summary=summary), planner=planner))
    assert [defect.code for defect in planner.packets[1].defects] == ["repeated-query"]
    assert "round 1 searched this" in planner.packets[1].prompt


@pytest.mark.parametrize("outcome", ["blocked", "nothing found", "pasted", "skipped"])
def test_a_search_that_did_not_succeed_may_be_repeated(tmp_path: Path, outcome: str) -> None:
    summary = SEARCHED.replace("found, 1 source", outcome)
    step(make_session(case(tmp_path, summary=summary), planner=ScriptedAgent(search_for("Samokat revenue"))))


def test_the_word_answer_in_the_reasoning_ends_nothing(tmp_path: Path) -> None:
    reply = 'Think: the answer("…") must wait, Action: answer comes later.\nAction: search("VkusVill revenue")'
    assert step(make_session(case(tmp_path, summary=SEARCHED), planner=ScriptedAgent(reply))).line == "VkusVill revenue"


def test_the_commit_holds_round_reasoning_and_query(tmp_path: Path) -> None:
    folder = case(tmp_path, summary=SEARCHED)
    step(make_session(folder, planner=ScriptedAgent(search_for("VkusVill revenue"))))
    assert read_tree(folder)["next_query.txt"] == "# round: 2\n# not known yet.\nVkusVill revenue\n"


@settings(max_examples=80, deadline=None)
@given(st.text(st.characters(blacklist_categories=["Cs"]), min_size=1, max_size=40))
@example("# 1")
@example("Think: of it")
@example('answer("x")')
@example("1. revenue")
@example("a\\")
@example("0:\x08")
@example("Here is the query:")
def test_a_query_that_passes_is_due_as_it_stands(tmp_path_factory: pytest.TempPathFactory, query: str) -> None:
    """Else the Planner would be asked for ever."""
    folder = case(tmp_path_factory.mktemp("any"))
    session = make_session(folder, planner=lambda packet: search_for(query))
    if step(session).action == "failed":
        return  # a placeholder, a URL, one long token
    action = due(session.store.snapshot().case, Limits())
    assert isinstance(action, Search) and len(action.queries) == 1
    step(session)
    assert isinstance(due(session.store.snapshot().case, Limits()), Fold)


def test_a_file_that_the_planner_wrote_goes_first(tmp_path: Path) -> None:
    reply = Reply("done", files={"next_query.txt": "VkusVill revenue\n"})
    folder = case(tmp_path)
    step(make_session(folder, planner=ScriptedAgent(reply)))
    assert query_of(folder).queries == ("VkusVill revenue",)


# Too soon ----------------------------------------------------------------------------------------------


def test_an_answer_before_any_source_is_refused(tmp_path: Path) -> None:
    planner = ScriptedAgent(answer_with("From memory: 154 bn."), search_for("Samokat revenue"))
    step(make_session(case(tmp_path), planner=planner))
    assert [defect.code for defect in planner.packets[1].defects] == ["no-source"]


def test_an_answer_with_an_open_cell_is_refused_by_name(tmp_path: Path) -> None:
    planner = ScriptedAgent(answer_with("Samokat 154.0 bn [1.1]"), search_for("VkusVill revenue"))
    step(make_session(case(tmp_path, GRID, SEARCHED), planner=planner))
    assert [(defect.code, defect.value) for defect in planner.packets[1].defects] == [
        ("early-answer", "VkusVill: revenue")
    ]


TWICE = SEARCHED.replace(
    "## Sources", "- 2 · VkusVill revenue — nothing found\n- 3 · revenue of VkusVill latest — nothing found\n## Sources"
)


@pytest.mark.parametrize(
    ("changed", "accepted"),
    [
        ("", True),
        ("3 · revenue of VkusVill latest", False),  # the same words again
        ("nothing found\n## Sources", False),  # the second was blocked
    ],
)
def test_two_searches_in_other_words_are_a_proof_of_absence(tmp_path: Path, changed: str, accepted: bool) -> None:
    summary = TWICE
    if changed.startswith("3"):
        summary = TWICE.replace(changed, "3 · revenue of VkusVill")
    elif changed:
        summary = TWICE.replace(changed, "blocked\n## Sources")
    planner = ScriptedAgent(
        answer_with("Samokat 154.0 bn [1.1]; VkusVill: not found."), search_for("VkusVill turnover")
    )
    step(make_session(case(tmp_path, GRID, summary), planner=planner))
    assert len(planner.packets) == (1 if accepted else 2)


def test_a_planner_that_insists_is_overruled_by_the_query_for_the_first_hole(tmp_path: Path) -> None:
    folder = case(tmp_path, GRID, SEARCHED)
    planner = ScriptedAgent(*[answer_with("Samokat 154.0 bn [1.1]")] * 3)
    assert step(make_session(folder, planner=planner, built_in=ExtractiveAgent())).action == "ask"
    assert query_of(folder).queries == ("VkusVill revenue",)
    record = next(read_trace(folder / "trace.jsonl"))
    assert record["agent"] == "extractive" and "overruled" in str(record["notes"])


def test_one_that_insists_though_nothing_was_read_gets_the_questions_key_terms(tmp_path: Path) -> None:
    folder = case(tmp_path)
    step(make_session(folder, planner=ScriptedAgent(*[answer_with("154 bn")] * 3), built_in=ExtractiveAgent()))
    assert "grocery" in query_of(folder).queries[0]


def test_one_that_insists_and_has_other_defects_is_not_overruled(tmp_path: Path) -> None:
    planner = ScriptedAgent(*[answer_with("Samokat 154.0 bn [9.9]")] * 3)
    assert step(make_session(case(tmp_path, GRID, SEARCHED), planner=planner)).action == "failed"


# Must answer -------------------------------------------------------------------------------------------

LIMIT = SEARCHED.replace("spent: 1", "spent: 10")


def test_a_must_answer_is_told_why(tmp_path: Path) -> None:
    folder = case(tmp_path, GRID, LIMIT)
    planner = ScriptedAgent(answer_with("Samokat 154.0 bn [1.1]; VkusVill is missing."))
    step(make_session(folder, planner=planner))
    assert "the limit of search rounds is reached" in planner.packets[0].prompt
    assert (answer_of(folder).status, answer_of(folder).stopped) == ("partial", "rounds")


@pytest.mark.parametrize(
    "script",
    [
        [search_for("VkusVill revenue")] * 3,
        ["hm"] * 3,
        [AgentFailed("timed out")],
        [AgentUnreachable("no key")],
    ],
    ids=["searches on", "nonsense", "fails", "out of reach"],
)
def test_a_must_answer_is_composed_by_code_where_the_agent_fails(tmp_path: Path, script: list[str | Exception]) -> None:
    folder = case(tmp_path, GRID, LIMIT)
    session = make_session(folder, planner=ScriptedAgent(*script), built_in=ExtractiveAgent())
    assert [done.action for done in run(session)] == ["answer", "done"]
    answer = answer_of(folder)
    assert (answer.status, answer.stopped) == ("partial", "rounds")
    assert "154.0" in answer.text and "[1.1]" in answer.text and "VkusVill" in answer.text
    assert "- [1.1] 2025-02-11 · Infoline — https://infoline.spb.ru/q" in answer.text


def test_a_must_answer_without_any_finding_is_an_answer_too(tmp_path: Path) -> None:
    folder = case(tmp_path, summary="---\nround: 3\nspent: 10\n---\n")
    session = make_session(folder, planner=ScriptedAgent(AgentUnreachable("no key")), built_in=ExtractiveAgent())
    list(run(session))
    assert answer_of(folder).status == "partial" and answer_of(folder).text.strip()


def test_the_sources_section_is_the_harness_own(tmp_path: Path) -> None:
    """A URL that was not retrieved cannot get in by the answer's own list."""
    folder = case(tmp_path, summary=LIMIT)
    said = "Samokat had 154.0 bn [1.1].\n\n## Sources\n- [1.1] Forbes https://forbes.invalid/1\n"
    step(make_session(folder, planner=ScriptedAgent(answer_with(said))))
    text = answer_of(folder).text
    assert "forbes" not in text
    assert text.endswith("## Sources\n- [1.1] 2025-02-11 · Infoline — https://infoline.spb.ru/q")


def test_the_built_in_rules_are_not_asked_where_the_agent_will_do(tmp_path: Path) -> None:
    built_in = FunctionAgent(lambda packet: "never")
    step(make_session(case(tmp_path), planner=ScriptedAgent(search_for("Samokat revenue")), built_in=built_in))
    assert built_in.asked == 0
