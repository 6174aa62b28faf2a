"""A turn by hand: the prompt goes out, the reply comes back, and a reply to another state is kept aside."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

from harness.errors import BrokenFile, HarnessError, RepliesDefective, StateMoved, WaitingForPerson
from harness.formats.answer import parse_answer
from harness.formats.queries import parse_next_query
from harness.handover import hand_out, search_due, take_in
from harness.loop import run, step
from harness.marks import mark_of
from harness.model import Role
from harness.steering import steer
from harness.store.trace import read_trace
from tests.fakes import ScriptedAgent, answer_with, copy_facts, make_session, plan_for, rewrite, search_for
from tests.trees import read_tree, write_tree

NOTE = "---\nkind: note\n---\n## 1. A page\n- date: 2025-01-01\n\nfact alpha\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "case", {"question.md": "What is alpha?\n"})


def kept(folder: Path) -> list[str]:
    return [text for name, text in read_tree(folder).items() if name.startswith(".harness/rejected/")]


def test_a_whole_case_by_hand(folder: Path) -> None:
    session = make_session(folder)
    assert hand_out(session).role is Role.PLANNER
    assert take_in(session, search_for("alpha")).action == "ask"
    with pytest.raises(HarnessError, match=r"a search is due.*alpha") as told:
        hand_out(session)
    assert told.value.hint == "harness search"
    assert search_due(session).action == "search"
    packet = hand_out(session)
    assert packet.role is Role.SYNTHESIZER
    assert take_in(session, str(copy_facts(packet))).action == "fold"
    assert hand_out(session).role is Role.PLANNER
    take_in(session, answer_with("Known: fact alpha [1.1]"))
    assert hand_out(session).role is Role.CHECKER
    take_in(session, '{"complete": true, "missing": []}')
    assert parse_answer(read_tree(folder)["answer.md"]).status == "complete"
    with pytest.raises(HarnessError, match="nothing is due") as done:
        hand_out(session)
    assert "reopen" in done.value.hint
    assert {record.get("agent") for record in read_trace(folder / "trace.jsonl") if "agent" in record} == {"by hand"}


def test_the_prompt_is_the_agents_prompt(folder: Path) -> None:
    by_hand = hand_out(make_session(folder)).prompt
    agent = ScriptedAgent(search_for("alpha"))
    step(make_session(folder, planner=agent))
    (packet,) = agent.packets
    assert by_hand.startswith(packet.prompt.rstrip("\n")) and by_hand.endswith(f"\n{mark_of(packet)}\n")


def test_asking_twice_is_no_harm(folder: Path) -> None:
    session = make_session(folder)
    assert hand_out(session) == hand_out(session)
    take_in(session, search_for("alpha"))


def test_a_reply_without_a_prompt_handed_out_is_taken_too(folder: Path) -> None:
    assert take_in(make_session(folder), search_for("alpha")).line == "alpha"


def test_a_reply_to_an_older_summary_is_kept_aside(folder: Path) -> None:
    session = make_session(folder)
    hand_out(session)
    write_tree(folder, {"summary.md": "## Confirmed\n- fact beta [person]\n"})
    with pytest.raises(StateMoved, match="kept aside") as told:
        take_in(session, search_for("alpha"))
    assert "harness next" in told.value.hint
    assert kept(folder) == [search_for("alpha")]
    assert "next_query.txt" not in read_tree(folder)
    hand_out(session)
    assert take_in(session, search_for("alpha")).action == "ask"


def test_a_reply_for_another_role_of_the_same_round_is_kept_aside(folder: Path) -> None:
    session = make_session(folder)
    assert hand_out(session).role is Role.PLANNER
    write_tree(folder, {"raw_1.md": NOTE})
    with pytest.raises(StateMoved, match="kept aside"):
        take_in(session, search_for("alpha"))
    assert kept(folder) == [search_for("alpha")]


def test_an_answer_from_before_a_direction_is_kept_aside_and_a_query_is_not(folder: Path) -> None:
    session = make_session(folder)
    for round_ in range(2):
        hand_out(session)
        steer(session.store, f"direction {round_}")
        if round_ == 0:
            take_in(session, search_for("alpha"))
            list(islice(run(session), 2))
    said = answer_with("Known: fact alpha [1.1]")
    with pytest.raises(StateMoved, match=r"question\.md changed"):
        take_in(session, said)
    assert kept(folder) == [said]
    assert "direction 1" in hand_out(session).prompt
    assert take_in(session, said).action == "answer"


def test_a_reply_with_defects_is_refused_by_name_and_kept(folder: Path) -> None:
    session = make_session(folder)
    hand_out(session)
    with pytest.raises(RepliesDefective, match="no source has been read yet") as told:
        take_in(session, answer_with("From memory."))
    assert told.value.codes == ("no-source",)
    assert "From memory." in kept(folder)[0]
    assert take_in(session, search_for("alpha")).action == "ask"


@pytest.mark.parametrize("reply", ["", "  \n", "<think>hm</think>", "hello"])
def test_an_empty_reply_is_told(folder: Path, reply: str) -> None:
    with pytest.raises(RepliesDefective):
        take_in(make_session(folder), reply)


def test_tidying_is_done_on_the_way_to_a_role(folder: Path) -> None:
    write_tree(folder, {"raw_1.md": "fact alpha\n", "raw_2.md": "---\nkind: note\n---\n"})
    session = make_session(folder)
    packet = hand_out(session)
    assert packet.role is Role.SYNTHESIZER and packet.round == 1
    take_in(session, rewrite(["fact alpha [1.1]"]))
    assert hand_out(session).role is Role.PLANNER  # raw_2 has no source: folded by code
    assert "round: 2" in read_tree(folder)["summary.md"]


def test_a_reply_is_not_taken_for_what_needs_tidying_first(folder: Path) -> None:
    write_tree(folder, {"raw_1.md": "fact alpha\n"})
    with pytest.raises(HarnessError, match="no role is due yet") as told:
        take_in(make_session(folder), search_for("alpha"))
    assert told.value.hint == "harness next"
    assert read_tree(folder)["raw_1.md"] == "fact alpha\n"


def test_what_a_person_has_to_mend_is_told(folder: Path) -> None:
    write_tree(folder, {"raw_2.md": NOTE})
    with pytest.raises(BrokenFile):
        hand_out(make_session(folder))
    (folder / "raw_2.md").unlink()
    write_tree(folder, {"next_query.txt": '# directions: 0\nask("Which alpha?")\n'})
    with pytest.raises(WaitingForPerson, match=r"Which alpha\?"):
        hand_out(make_session(folder, unattended=False))


def test_no_search_is_due(folder: Path) -> None:
    with pytest.raises(HarnessError, match="no search is due"):
        search_due(make_session(folder))


def test_a_search_by_hand_takes_the_due_queries_only(folder: Path) -> None:
    write_tree(folder, {"next_query.txt": "# round: 1\nalpha\n"})
    session = make_session(folder)
    search_due(session)
    with pytest.raises(HarnessError, match="no search is due"):
        search_due(session)
    assert parse_next_query(read_tree(folder)["next_query.txt"]).queries == ("alpha",)


@pytest.mark.parametrize("text", ["[", "[1]", '{"token": 5}', '{"role": "planner"}', ""])
def test_a_broken_note_of_what_was_handed_out_loses_no_reply(folder: Path, text: str) -> None:
    write_tree(folder, {".harness/next.json": text})
    session = make_session(folder, planner=plan_for("alpha"))
    try:
        take_in(session, search_for("alpha"))
    except StateMoved:
        assert kept(folder) == [search_for("alpha")]
        hand_out(session)
        take_in(session, search_for("alpha"))
    assert parse_next_query(read_tree(folder)["next_query.txt"]).queries == ("alpha",)


def test_a_refused_reply_that_is_taken_again_is_put_right(folder: Path) -> None:
    write_tree(folder, {"raw_1.md": NOTE})
    session, bad = make_session(folder), rewrite(("alpha is 17 [1.1]",))
    hand_out(session)
    with pytest.raises(RepliesDefective, match=r"17 does not stand in \[1\.1\]") as told:
        take_in(session, bad)
    assert "take it once more as it is" in told.value.hint
    assert take_in(session, bad).action == "fold"
    assert "- alpha is 17 [1.1] [unverified]\n" in read_tree(folder)["summary.md"]


def test_what_code_cannot_put_right_is_refused_again(folder: Path) -> None:
    write_tree(folder, {"raw_1.md": NOTE})
    session, bad = make_session(folder), rewrite(("fact alpha [9.9]",))
    hand_out(session)
    for _ in range(2):
        with pytest.raises(RepliesDefective) as told:
            take_in(session, bad)
        assert "once more" not in told.value.hint


def test_replies_refused_by_hand_and_of_an_agent_are_kept_side_by_side(folder: Path) -> None:
    session = make_session(folder, planner=ScriptedAgent("hum", "hm", search_for("alpha")))
    hand_out(session)
    with pytest.raises(RepliesDefective):
        take_in(session, "hm")
    assert step(session).action == "ask"
    assert [text.rpartition("\n\n")[2] for text in kept(folder)] == ["hm\n", "hum\n"]
