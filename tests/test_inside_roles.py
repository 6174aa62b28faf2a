"""Roles as sub-agents: packets go in with the call, replies are taken at the stop, the caller sees one line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from harness.steering import request_stop, steer
from harness.store import Store
from harness.store.claim import make_claim, process_start, render_claim
from tests.claude_events import COMPLETE, Claude, answered, context_of, query, summary
from tests.fakes import START
from tests.trees import read_tree, write_tree

QUESTION = "What was the revenue of Samokat in 2024?\n"
DOCUMENTS = {
    "harness.yaml": "search:\n- folder: docs\n",
    "docs/ranking.md": "# Ranking\n\nThe revenue of Samokat in 2024 was 154.0 bn roubles.\n",
    "docs/note.md": "# Note\n\nThe founder of Samokat is Vyacheslav Bocharov.\n",
}
FACT = "Samokat: revenue 2024 — 154.0 bn roubles [1.1]"
FOUNDER = "Samokat: founder — Vyacheslav Bocharov [2.1]"


def project(tmp_path: Path, **files: str) -> Path:
    (tmp_path / ".git").mkdir()
    return write_tree(tmp_path, {**DOCUMENTS, "research/question.md": QUESTION, **files})


def case(folder: Path) -> dict[str, str]:
    tree = read_tree(folder / "research")
    return {name: text for name, text in tree.items() if not name.startswith(".harness") and name != "trace.jsonl"}


def in_another_process(case: Path) -> None:
    """As if the claim were that of a Claude Code somewhere else on this machine."""
    claim = json.loads((case / ".harness/claim.json").read_text(encoding="utf-8"))
    (case / ".harness/claim.json").write_text(json.dumps({**claim, "pid": 1, "started": process_start(1)}))


def test_a_research_from_the_question_to_the_answer(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    claude = Claude(write_tree(tmp_path, DOCUMENTS))
    begun = claude.types(f"/research {QUESTION.strip()}")
    assert context_of(begun).endswith('round 1: call the sub-agent research-planner with the prompt "go".')
    assert "at most 10 search rounds" in begun["systemMessage"]

    assert QUESTION.strip() in claude.calls("planner")
    assert claude.replies("planner", query("Samokat revenue 2024")) == ""
    assert claude.sees("planner") == 'Research, round 1: call the sub-agent research-synthesizer with the prompt "go".'
    assert "154.0 bn roubles" in claude.calls("synthesizer")
    assert claude.replies("synthesizer", summary(FACT)) == ""
    assert "round 2: call the sub-agent research-planner" in claude.sees("synthesizer")
    last = answered("154.0 bn roubles [1.1].")
    assert "call the sub-agent research-checker" in claude.turn("planner", last)
    over = claude.turn("checker", COMPLETE)

    assert over.startswith("Research: it is over, the answer is complete (1 search rounds)")
    files = case(tmp_path)
    assert f"- {FACT}\n" in files["summary.md"]
    assert files["answer.md"].startswith("---\nstatus: complete\n")
    roles = [json.loads(line) for line in (tmp_path / "research/trace.jsonl").read_text().splitlines()]
    assert [one["agent"] for one in roles if one["role"] != "search"] == ["claude-code"] * 4


def test_a_planner_gets_no_raw_and_the_caller_neither_packet_nor_reply(tmp_path: Path) -> None:
    claude = Claude(project(tmp_path))
    lines = [context_of(claude.types("/research")), claude.turn("planner", query("Samokat revenue 2024"))]
    lines.append(claude.turn("synthesizer", summary(FACT)))
    packet = claude.calls("planner")
    assert "154.0 bn" in packet  # from the summary
    assert "Ranking" not in packet.split("## Sources")[0]
    assert not any("154.0" in line or "Samokat revenue" in line for line in lines)
    assert all(len(line) < 200 for line in lines[1:])


def test_only_the_role_that_is_due_gets_its_packet(tmp_path: Path) -> None:
    claude = Claude(project(tmp_path))
    claude.types("/research")
    told = claude.calls("synthesizer")
    assert told == (
        'Research: synthesizer is not due. Research, round 1: call the sub-agent research-planner with the prompt "go".'
    )
    assert claude.replies("synthesizer", summary(FACT)) == ""  # called all the same: nothing of it counts
    assert "summary.md" not in case(tmp_path)


def test_of_two_calls_in_one_message_the_second_waits(tmp_path: Path) -> None:
    claude = Claude(project(tmp_path))
    claude.types("/research")
    claude.calls("planner")
    first = claude.agent
    assert claude.calls("planner").startswith("Research: this turn is under way in another call")
    claude.agent, second = first, claude.agent
    assert claude.replies("planner", query("Samokat revenue 2024")) == ""
    claude.agent = second
    assert claude.replies("planner", query("something else")) == ""
    assert "Samokat revenue 2024" in case(tmp_path)["next_query.txt"]


def test_two_installations_of_the_hooks_act_once(tmp_path: Path) -> None:
    claude = Claude(project(tmp_path), carriers=("plugin", "project"))
    claude.types("/research")
    claude.calls("planner")
    assert claude.replies("planner", "I would look for the revenue.").startswith("It cannot be used:")
    assert claude.replies("planner", query("Samokat revenue 2024")) == ""
    assert "research:research-synthesizer" in claude.sees("planner")
    kept = sorted(path.name for path in (tmp_path / "research/.harness/rejected").iterdir())
    assert kept == ["planner_1_1.md"]


@pytest.mark.parametrize("carriers", [("project",), ("plugin", "project")])
def test_a_reply_with_defects_goes_back_with_their_names_and_the_next_one_counts(
    tmp_path: Path, carriers: tuple[str, ...]
) -> None:
    claude = Claude(project(tmp_path), carriers=carriers)
    claude.types("/research")
    claude.turn("planner", query("Samokat revenue 2024"))
    claude.turn("synthesizer", summary(FACT))
    claude.turn("planner", query("Samokat founder"))
    claude.calls("synthesizer")
    told = claude.replies("synthesizer", summary(FOUNDER))
    assert told.startswith("It cannot be used:")
    assert FACT in told
    assert claude.replies("synthesizer", summary(FACT, FOUNDER)) == ""
    assert f"- {FACT}\n- {FOUNDER}\n" in case(tmp_path)["summary.md"]


def test_a_fact_that_no_repair_brings_back_is_put_back_by_code(tmp_path: Path) -> None:
    claude = Claude(project(tmp_path))
    claude.types("/research")
    claude.turn("planner", query("Samokat revenue 2024"))
    claude.turn("synthesizer", summary(FACT))
    claude.turn("planner", query("Samokat founder"))
    claude.calls("synthesizer")
    told = [claude.replies("synthesizer", summary(FOUNDER) + " " * attempt) for attempt in range(3)]
    assert [bool(one) for one in told] == [True, True, False]
    assert "round 3: call the sub-agent research-planner" in claude.sees("synthesizer")
    assert FACT in case(tmp_path)["summary.md"]


def test_a_role_that_never_repairs_ends_the_research_with_the_reason(tmp_path: Path) -> None:
    claude = Claude(project(tmp_path))
    claude.types("/research")
    lines = []
    for _ in range(2):
        claude.calls("planner")
        told = [claude.replies("planner", f"I would search, perhaps {attempt}") for attempt in range(3)]
        assert [bool(one) for one in told] == [True, True, False]
        lines.append(claude.sees("planner"))
    assert "the last reply could not be used. Call the sub-agent research-planner" in lines[0]
    assert lines[1].startswith("Research: it stops here: claude-code could not do the planner's turn of round 1")
    assert claude.stops() == ""
    assert claude.calls("planner").startswith("Research: it stops here")  # also when it is called once more
    assert "next_query.txt" not in case(tmp_path)


def test_no_reply_is_told_and_the_second_time_it_ends(tmp_path: Path) -> None:
    claude = Claude(project(tmp_path))
    claude.types("/research")
    claude.calls("planner")
    again = claude.sees("planner", "API Error: 529 overloaded")
    assert again == (
        "Research, round 1: no reply came (API Error: 529 overloaded). "
        'Call the sub-agent research-planner with the prompt "go" once more.'
    )
    claude.calls("planner")
    assert claude.sees("planner", "API Error: 529 overloaded").startswith("Research: it stops here: no reply came")
    assert claude.stops() == ""
    assert "call the sub-agent research-planner" in context_of(claude.types("/research"))


def test_words_typed_on_the_way_reach_both_roles(tmp_path: Path) -> None:
    claude = Claude(project(tmp_path))
    claude.types("/research")
    claude.turn("planner", query("Samokat revenue 2024"))
    packet = claude.calls("synthesizer", "steer: leave out prices,\nand be quick")
    assert "leave out prices, and be quick" in packet
    assert "leave out prices, and be quick" in case(tmp_path)["question.md"]


def test_a_reply_to_an_older_state_is_not_committed(tmp_path: Path) -> None:
    claude = Claude(project(tmp_path))
    claude.types("/research")
    claude.turn("planner", query("Samokat revenue 2024"))
    claude.turn("synthesizer", summary(FACT))
    claude.calls("planner")
    path = tmp_path / "research/summary.md"
    path.write_text(path.read_text(encoding="utf-8").replace("154.0", "155.0"), encoding="utf-8")
    assert claude.replies("planner", query("Samokat founder")) == ""
    assert "the files changed meanwhile. Call the sub-agent research-planner" in claude.sees("planner")
    assert "Samokat founder" not in case(tmp_path)["next_query.txt"]


def test_an_answer_has_to_know_the_direction_that_came_meanwhile_and_a_query_has_not(tmp_path: Path) -> None:
    claude = Claude(project(tmp_path))
    claude.types("/research")
    claude.turn("planner", query("Samokat revenue 2024"))
    claude.turn("synthesizer", summary(FACT))
    claude.calls("planner")
    steer(Store(tmp_path / "research"), "in dollars")
    assert claude.replies("planner", answered("154.0 bn roubles [1.1].")) == ""
    assert "the files changed meanwhile" in claude.sees("planner")
    assert "in dollars" in claude.calls("planner")
    steer(Store(tmp_path / "research"), "and the founder")
    assert claude.replies("planner", query("Samokat founder")) == ""
    assert "call the sub-agent research-synthesizer" in claude.sees("planner")


def test_a_role_takes_no_messages(tmp_path: Path) -> None:
    claude = Claude(project(tmp_path))
    claude.types("/research")
    claude.turn("planner", query("Samokat revenue 2024"))

    def sent(to: str) -> Mapping[str, object]:
        return claude.tell("PreToolUse", tool_name="SendMessage", tool_input={"to": to, "message": "show me raw_1.md"})

    assert "a role has no memory" in str(sent(claude.agent))
    assert "a role has no memory" in str(sent("research-planner"))
    assert sent("somebody-else") == {}


def test_somebody_else_at_work_is_told_and_a_dead_one_is_taken_over(tmp_path: Path) -> None:
    folder = project(tmp_path)
    first, second = Claude(folder), Claude(folder)
    first.types("/research")
    first.calls("planner")
    in_another_process(folder / "research")
    assert "Claude Code (0000" in str(second.types("/research")["reason"])
    assert second.calls("planner").startswith("Research: only a person starts a research")
    assert second.stops() == ""
    assert first.replies("planner", query("Samokat revenue 2024")) == ""  # nothing of the first one's turn is lost
    assert "call the sub-agent research-synthesizer" in first.sees("planner")
    first.calls("synthesizer")
    dead = make_claim("run", 1, now=START.replace(year=2099), seconds=60)._replace(started="0", pid=1)
    Store(folder / "research").put_helper("claim.json", render_claim(dead))
    assert "call the sub-agent research-synthesizer" in context_of(second.types("/research"))
    assert QUESTION.strip() in second.calls("synthesizer")
    assert first.replies("synthesizer", summary(FACT)) == ""  # of the one that was given up nothing counts
    assert first.sees("synthesizer").startswith("Research: nothing of this call counts")
    assert "summary.md" not in case(tmp_path)


def test_a_stop_from_elsewhere_ends_it_after_the_turn(tmp_path: Path) -> None:
    claude = Claude(project(tmp_path))
    claude.types("/research")
    claude.calls("planner")
    assert request_stop(Store(tmp_path / "research")).startswith("asked Claude Code")
    claude.replies("planner", query("Samokat revenue 2024"))
    assert claude.sees("planner").startswith("Research: stopped on request")
    assert claude.stops() == ""
    assert "raw_1.md" not in case(tmp_path)
    assert "call the sub-agent research-synthesizer" in context_of(claude.types("/research"))


def test_what_a_person_has_to_mend_is_named(tmp_path: Path) -> None:
    raw = "---\nkind: note\n---\n## 1. A page\n- url: x\n\ntext\n"
    claude = Claude(project(tmp_path, **{"research/raw_2.md": raw}))
    told = context_of(claude.types("/research"))
    assert told.startswith("Research: it stops here: a raw is missing between two others: raw_1.md:1. Rename")
    assert claude.calls("planner") == told


def test_a_question_to_the_person_is_passed_on(tmp_path: Path) -> None:
    claude = Claude(project(tmp_path))
    claude.types("/research")
    told = claude.turn("planner", 'Think: unclear.\nAction: ask("Calendar or fiscal year?")')
    assert told.startswith('Research: the Planner asks the person: "Calendar or fiscal year?".')
    assert claude.stops() == ""
    assert "calendar year" in claude.calls("planner", "steer: calendar year")


def test_a_pause_for_a_look(tmp_path: Path) -> None:
    settings = DOCUMENTS["harness.yaml"] + "pause_every: 1\n"
    claude = Claude(project(tmp_path, **{"harness.yaml": settings}))
    claude.types("/research")
    claude.turn("planner", query("Samokat revenue 2024"))
    told = claude.turn("synthesizer", summary(FACT))
    assert told.startswith("Research: a person looks at")
    assert "round 2: call the sub-agent research-planner" in context_of(claude.types("/research go on"))


def test_the_last_call_is_for_an_answer_from_what_is_known(tmp_path: Path) -> None:
    settings = DOCUMENTS["harness.yaml"] + "rounds: 1\n"
    claude = Claude(project(tmp_path, **{"harness.yaml": settings}))
    claude.types("/research")
    claude.turn("planner", query("Samokat revenue 2024"))
    claude.turn("synthesizer", summary(FACT))
    assert "The research ends here" in claude.calls("planner")
    assert claude.replies("planner", query("one more")) != ""
    assert claude.replies("planner", query("another")) != ""
    assert claude.replies("planner", query("yet another")) == ""
    assert claude.sees("planner").startswith("Research: it is over, the answer is complete")
    assert "stopped: rounds" in case(tmp_path)["answer.md"]
    assert "154.0 bn roubles" in case(tmp_path)["answer.md"]
