"""The loop: what ends a run and with which word, what a restart remembers, and what changes under a pass."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from harness.errors import (
    AgentFailed,
    AgentUnreachable,
    BrokenFile,
    HarnessError,
    RepliesDefective,
    SearchUnavailable,
    StateMoved,
    WaitingForPerson,
)
from harness.formats.answer import parse_answer
from harness.loop import run, step
from harness.model import Packet, Reply, Source
from harness.passes import adopt_raw
from harness.plan import due_queries
from harness.session import Session, Step
from harness.steering import request_stop, steer
from tests.fakes import (
    START,
    FakeSearch,
    FixedClock,
    QuickDisk,
    ScriptedAgent,
    answer_with,
    copy_facts,
    find_page,
    make_session,
    plan_for,
    search_for,
)
from tests.trees import read_tree, write_tree


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "case", {"question.md": "What is known about alpha?\n"})


def run_all(session: Session, *, again: bool = False) -> list[Step]:
    return list(run(session, again=again))


def actions(steps: list[Step]) -> list[str]:
    return [step.action for step in steps]


def state(folder: Path) -> dict[str, str]:
    files = read_tree(folder)
    return {name: files[name] for name in files if not name.startswith(".harness/") and name != "trace.jsonl"}


def test_to_the_answer(folder: Path) -> None:
    steps = run_all(make_session(folder, planner=plan_for("alpha")))
    assert actions(steps) == ["ask", "search", "fold", "answer", "check", "done"]
    assert steps[-1].final == "answered"
    answer = parse_answer(read_tree(folder)["answer.md"])
    assert (answer.status, answer.stopped, answer.round) == ("complete", "answered", 1)
    assert "fact alpha [1.1]" in answer.text and "- [1.1] 2025-02-11 · About alpha" in answer.text
    assert not (folder / ".harness" / "claim.json").exists()


def test_running_once_more_changes_nothing(folder: Path) -> None:
    run_all(make_session(folder))
    before = read_tree(folder)
    assert actions(run_all(make_session(folder))) == ["done"]
    assert state(folder) == {name: before[name] for name in state(folder)}


def test_step_by_step_is_the_same(folder: Path, tmp_path: Path) -> None:
    done = ""
    while done != "done":
        done = step(make_session(folder, planner=plan_for("alpha", "beta"))).action
    other = write_tree(tmp_path / "other", {"question.md": "What is known about alpha?\n"})
    run_all(make_session(other, planner=plan_for("alpha", "beta")))
    assert state(folder) == state(other)


def test_without_the_record_and_the_helpers_it_goes_on_the_same(folder: Path) -> None:
    for _ in range(4):
        step(make_session(folder, planner=plan_for("alpha", "beta")))
    (folder / "trace.jsonl").unlink()
    for path in sorted((folder / ".harness").rglob("*"), reverse=True):
        path.unlink()
    assert actions(run_all(make_session(folder, planner=plan_for("alpha", "beta"))))[0] == "search"
    assert "fact beta [2.1]" in read_tree(folder)["summary.md"]


# Limits ------------------------------------------------------------------------------------------------


def test_the_round_limit_ends_in_an_answer_that_is_no_draft(folder: Path) -> None:
    steps = run_all(make_session(folder, planner=plan_for("alpha", "beta", "gamma"), rounds=2))
    assert actions(steps) == ["ask", "search", "fold"] * 2 + ["answer", "done"]
    assert parse_answer(read_tree(folder)["answer.md"]).stopped == "rounds"


def test_the_time_limit_ends_in_an_answer_that_names_what_was_not_read(folder: Path) -> None:
    clock = FixedClock()

    def slow(query: str) -> tuple[Source, ...]:
        clock.seconds += 3601
        return find_page(query)

    planner = ScriptedAgent(search_for("alpha"), answer_with("Nothing is known."))
    search = FakeSearch(slow)
    steps = run_all(make_session(folder, planner=planner, search=search, clock=clock, minutes=60))
    assert actions(steps) == ["ask", "search", "answer", "done"]
    assert "the time of this run is used up" in planner.packets[1].prompt
    assert "raw_1.md" in planner.packets[1].prompt and planner.packets[1].must_answer
    answer = parse_answer(read_tree(folder)["answer.md"])
    assert (answer.status, answer.stopped) == ("partial", "minutes")


def test_the_token_limit_keeps_the_last_call_for_an_answer(folder: Path) -> None:
    planner = ScriptedAgent(Reply(search_for("alpha"), tokens_in=600, tokens_out=500), answer_with("Nothing is known."))
    steps = run_all(make_session(folder, planner=planner, tokens=1_000))
    assert actions(steps) == ["ask", "answer", "done"]
    assert parse_answer(read_tree(folder)["answer.md"]).stopped == "tokens"


def test_tokens_are_estimated_where_an_agent_does_not_count(folder: Path) -> None:
    steps = run_all(make_session(folder, planner=ScriptedAgent(search_for("alpha"), answer_with("No.")), tokens=50))
    assert actions(steps) == ["ask", "answer", "done"]
    assert steps[0].tokens > 50


def test_tokens_of_an_agent_that_was_refused_count_too(folder: Path) -> None:
    first = ScriptedAgent(*[Reply(word, tokens_in=500, tokens_out=100) for word in ("hm", "hum", "hm")], name="first")
    second = ScriptedAgent(Reply(search_for("alpha"), tokens_in=10, tokens_out=1), name="second")
    assert step(make_session(folder, planner=[first, second])).tokens == 3 * 600 + 11


def test_a_stall_ends_in_an_answer(folder: Path) -> None:
    planner = ScriptedAgent(*map(search_for, "abc"), answer_with("Nothing is known."))
    run_all(make_session(folder, planner=planner, search=FakeSearch(lambda query: "empty")))
    answer = parse_answer(read_tree(folder)["answer.md"])
    assert (answer.status, answer.stopped) == ("partial", "stalled")


def test_pause_every_so_many_rounds(folder: Path) -> None:
    planner = plan_for("alpha", "beta", "gamma")
    first = run_all(make_session(folder, planner=planner, pause_every=2))
    assert actions(first) == ["ask", "search", "fold", "ask", "search", "fold", "pause"]
    assert first[-1].final == "paused"
    assert run_all(make_session(folder, planner=planner, pause_every=2))[-1].final == "answered"


# Stop ----------------------------------------------------------------------------------------------------


def test_a_stop_is_looked_at_between_passes(folder: Path) -> None:
    def stopping(packet: Packet) -> str:
        request_stop(make_session(folder).store)
        return search_for("alpha")

    session = make_session(folder, planner=stopping, clock=_now())
    steps = run_all(session)
    assert actions(steps) == ["ask", "stop"]
    assert steps[-1].final == "stopped"
    assert run_all(make_session(folder))[-1].final == "answered"


def test_a_stop_without_a_run_stops_nothing_later(folder: Path) -> None:
    assert "nothing to stop" in request_stop(make_session(folder).store)
    write_tree(
        folder,
        {
            ".harness/claim.json": '{"role": "run", "round": 1, "pid": 4194305, "started": "1",'
            ' "since": "2026-11-29T12:00:00+00:00", "expires": "2999-11-29T16:00:00+00:00"}'
        },
    )
    assert "nothing to stop" in request_stop(make_session(folder).store)
    assert run_all(make_session(folder))[-1].final == "answered"


def _now() -> FixedClock:
    """A clock at the real time: `request_stop` looks at the claim's expiry."""
    clock = FixedClock()
    clock.seconds = (datetime.now(UTC) - START).total_seconds()
    return clock


# Failures ------------------------------------------------------------------------------------------------


def test_an_agent_out_of_reach_stops_the_run_and_touches_nothing(folder: Path) -> None:
    before = state(folder)
    agent = ScriptedAgent(AgentUnreachable("no key", "KEY", "set KEY"))
    with pytest.raises(AgentUnreachable, match="no key"):
        run_all(make_session(folder, planner=agent))
    assert state(folder) == before
    assert run_all(make_session(folder))[-1].final == "answered"


def failing(times: int) -> ScriptedAgent:
    return ScriptedAgent(*[AgentFailed("timed out")] * times, name="agent")


def test_two_failed_passes_end_the_run(folder: Path) -> None:
    steps: list[Step] = []
    with pytest.raises(AgentFailed, match="timed out"):
        steps.extend(run(make_session(folder, planner=failing(2))))
    with pytest.raises(RepliesDefective, match="failed 2 times") as told:
        run_all(make_session(folder, planner=failing(0)))
    assert "--again" in told.value.hint


def test_two_failed_passes_in_two_runs_end_it_too(folder: Path) -> None:
    assert step(make_session(folder, planner=failing(1))).action == "failed"
    with pytest.raises(AgentFailed):
        step(make_session(folder, planner=failing(1)))
    with pytest.raises(RepliesDefective, match="failed 2 times"):
        step(make_session(folder, planner=failing(0)))


CHANGES: dict[str, Callable[[Path], object]] = {
    "the question": lambda folder: steer(make_session(folder).store, "look at 2023"),
    "a state file": lambda folder: write_tree(folder, {"next_query.txt": "# thoughts only\n"}),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_file_gives_the_role_another_chance(folder: Path, change: str) -> None:
    with pytest.raises(AgentFailed):
        run_all(make_session(folder, planner=failing(2)))
    CHANGES[change](folder)
    agent = ScriptedAgent(search_for("alpha"), name="agent")
    assert step(make_session(folder, planner=agent)).action == "ask"


def test_a_mended_raw_gives_the_synthesizer_another_chance(folder: Path) -> None:
    raw = "---\nkind: note\n---\n## 1. A page\n- date: 2025-01-01\n\nfact alpha\n"
    write_tree(folder, {"raw_1.md": raw + "x" * 100})
    with pytest.raises(AgentFailed):
        run_all(make_session(folder, synthesizer=failing(2)))
    write_tree(folder, {"raw_1.md": raw})
    assert step(make_session(folder, synthesizer=ScriptedAgent(copy_facts, name="agent"))).action == "fold"


def test_another_agent_gets_its_chance(folder: Path) -> None:
    with pytest.raises(AgentFailed):
        run_all(make_session(folder, planner=failing(2)))
    assert step(make_session(folder, planner=ScriptedAgent(search_for("alpha"), name="other"))).action == "ask"


def test_again_gives_the_same_agent_another_chance(folder: Path) -> None:
    with pytest.raises(AgentFailed):
        run_all(make_session(folder, planner=failing(2)))
    planner = ScriptedAgent(search_for("alpha"), answer_with("Known: fact alpha [1.1]"), name="agent")
    assert run_all(make_session(folder, planner=planner), again=True)[-1].final == "answered"


def test_a_must_answer_comes_after_two_failed_passes_too(folder: Path) -> None:
    """At the end of the budget the case gets its answer, whatever failed before."""
    with pytest.raises(AgentFailed):
        run_all(make_session(folder, planner=failing(2)))
    steps = run_all(make_session(folder, planner=failing(1), tokens=0))
    assert actions(steps) == ["answer", "done"]


@pytest.mark.parametrize("text", ["[", "[1]", '{"a": "b"}', '{"a": {"b": 1}}', "\x00"])
def test_a_broken_memory_of_failures_is_no_trouble(folder: Path, text: str) -> None:
    write_tree(folder, {".harness/failed.json": text})
    assert run_all(make_session(folder))[-1].final == "answered"


def test_a_round_set_back_does_not_make_the_planner_ask_for_ever(folder: Path) -> None:
    summary = "---\nround: 1\nspent: 1\n---\n## Searches\n- 5 · alpha — blocked\n"
    write_tree(folder, {"summary.md": summary})
    steps = [step(make_session(folder, planner=plan_for("alpha"))) for _ in range(3)]
    assert actions(steps) == ["ask", "search", "fold"]


@pytest.mark.parametrize("blank", ["", "\n", "\ufeff", "  \r\n"])
def test_a_blank_answer_file_does_not_end_the_loop(folder: Path, blank: str) -> None:
    write_tree(folder, {"answer.md": blank})
    assert run_all(make_session(folder))[-1].final == "answered"
    assert "fact alpha [1.1]" in read_tree(folder)["answer.md"]


# Search ----------------------------------------------------------------------------------------------------


def test_two_rounds_in_which_everything_was_blocked_end_the_run_resumably(folder: Path) -> None:
    search = FakeSearch(lambda query: "HTTP 429")
    planner = ScriptedAgent(search_for("alpha"), search_for("alpha"))
    with pytest.raises(SearchUnavailable) as told:
        run_all(make_session(folder, planner=planner, search=search))
    assert told.value.exit_code == 6
    assert search.queries == ["alpha", "alpha"]
    assert "2 · alpha — blocked (fake blocked: HTTP 429)" in read_tree(folder)["summary.md"]
    assert run_all(make_session(folder, planner=plan_for("alpha")))[-1].final == "answered"


def test_a_round_that_found_something_between_two_blocked_ones_counts_anew(folder: Path) -> None:
    search = FakeSearch(lambda query: "HTTP 429" if query.startswith("bad") else find_page(query))
    planner = ScriptedAgent(*map(search_for, ("bad one", "good", "bad two")), answer_with("Known: fact good [2.1]"))
    assert run_all(make_session(folder, planner=planner, search=search))[-1].final == "answered"


def test_the_next_provider_is_asked_where_one_is_blocked_or_empty(folder: Path) -> None:
    ladder = [
        FakeSearch(lambda q: "HTTP 429", "one"),
        FakeSearch(lambda q: "empty", "two"),
        FakeSearch(find_page, "three"),
    ]
    run_all(make_session(folder, search=ladder))
    raw = read_tree(folder)["raw_1.md"]
    assert "provider: three" in raw and "HTTP 429" in raw
    assert "found, 1 source (one blocked: HTTP 429)" in read_tree(folder)["summary.md"]


def test_more_queries_than_allowed_are_recorded_as_skipped(folder: Path) -> None:
    write_tree(folder, {"next_query.txt": "alpha\nbeta\ngamma\n"})
    search = FakeSearch(find_page)
    step(make_session(folder, search=search, queries_per_round=2))
    assert sorted(search.queries) == ["alpha", "beta"]
    step(make_session(folder, search=search, queries_per_round=2))
    assert "1 · gamma — skipped" in read_tree(folder)["summary.md"]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.characters(blacklist_categories=["Cs"]), min_size=1, max_size=40))
@example("a — found")
@example('search("x")')
@example("1 · a")
@example("C:\\n «a» \"b\" 'c'")
@example("a: b, c}]")
@example("# no heading")
@example("yes")
@example("[1.2]")
def test_whatever_is_asked_is_searched_once(tmp_path_factory: pytest.TempPathFactory, query: str) -> None:
    """Else the loop would search the same for ever. It holds for the raw, and for Searches once the raw is pruned."""
    folder = write_tree(tmp_path_factory.mktemp("case"), {"question.md": "What?\n"})
    write_tree(folder, {"next_query.txt": f"# round: 1\n{query}\n"})
    session = make_session(folder, search=FakeSearch(lambda query: find_page("alpha")), queries_per_round=5)
    if not due_queries(session.store.snapshot().case):
        return  # reasoning, a call, nothing
    assert step(session).action == "search"
    assert due_queries(session.store.snapshot().case) == ()
    assert step(session).action == "fold"
    (folder / "raw_1.md").unlink()
    assert due_queries(session.store.snapshot().case) == ()


# People ----------------------------------------------------------------------------------------------------


def test_a_question_back_waits_for_a_direction(folder: Path) -> None:
    asking = ScriptedAgent('Action: ask("Which year?")')
    session = make_session(folder, planner=asking, unattended=False)
    with pytest.raises(WaitingForPerson, match=r"Which year\?") as told:
        run_all(session)
    assert "steer" in told.value.hint and told.value.exit_code == 5
    with pytest.raises(WaitingForPerson):
        run_all(make_session(folder, planner=ScriptedAgent(), unattended=False))
    steer(session.store, "2024")
    planner = ScriptedAgent(lambda packet: search_for("alpha" if "2024" in packet.prompt else "nothing"))
    assert step(make_session(folder, planner=planner, unattended=False)).line == "alpha"


def test_a_question_back_where_nobody_is_there_is_decided_by_the_planner(folder: Path) -> None:
    planner = ScriptedAgent(
        'Action: ask("Which year?")',
        'Action: ask("Really, which?")',
        search_for("alpha"),
        answer_with("fact alpha [1.1]"),
    )
    assert run_all(make_session(folder, planner=planner))[-1].final == "answered"
    assert planner.packets[1].must_decide
    assert [defect.code for defect in planner.packets[2].defects] == ["must-decide"]


def test_a_direction_given_while_the_answer_is_written_makes_it_stale(folder: Path) -> None:
    def steered(packet: Packet) -> str:
        steer(make_session(folder).store, "look at beta too")
        return answer_with("Known: fact alpha [1.1]")

    planner = ScriptedAgent(
        search_for("alpha"), steered, search_for("beta"), answer_with("fact alpha [1.1], beta [2.1]")
    )
    run_all(make_session(folder, planner=planner))
    assert "look at beta too" in planner.packets[2].prompt
    assert "beta [2.1]" in read_tree(folder)["answer.md"]


def test_a_direction_given_while_a_query_is_written_counts_from_the_next_pass(folder: Path) -> None:
    def steered(packet: Packet) -> str:
        steer(make_session(folder).store, "look at beta too")
        return search_for("alpha")

    planner = ScriptedAgent(steered, answer_with("fact alpha [1.1]"))
    run_all(make_session(folder, planner=planner))
    assert planner.packets[1].prompt.count("look at beta too") == 1


def test_a_summary_edited_during_a_fold_is_folded_into(folder: Path) -> None:
    write_tree(folder, {"raw_1.md": "fact alpha\n"})

    def edited(packet: Packet) -> str:
        write_tree(folder, {"summary.md": "## Confirmed\n- fact mine [person]\n"})
        return str(copy_facts(packet))

    steps = [step(make_session(folder, synthesizer=ScriptedAgent(edited, copy_facts))) for _ in range(2)]
    assert actions(steps) == ["adopt", "fold"]
    assert "- fact mine [person]\n- fact alpha [1.1]\n" in read_tree(folder)["summary.md"]


@pytest.mark.parametrize(
    "page", [b"fact alpha\r\nand more \r\n", b"---\ntitle: a page\n---\nfact alpha", "факт\n\n".encode()]
)
def test_a_pasted_page_is_adopted_byte_for_byte(folder: Path, page: bytes) -> None:
    write_tree(folder, {"raw_1.md": page})
    assert step(make_session(folder)).action == "adopt"
    adopted = (folder / "raw_1.md").read_bytes()
    assert adopted.startswith(b"---\nkind: note\n") and adopted.endswith(b"\n---\n" + page)


class EditingDisk(QuickDisk):
    """A person saves the raw once more between our look and our lock."""

    def make_folder(self, path: Path) -> None:
        write_tree(path.parent, {"raw_1.md": "fact beta\n"})
        super().make_folder(path)


def test_a_page_saved_again_during_its_adoption_is_not_lost(folder: Path) -> None:
    write_tree(folder, {"raw_1.md": "fact alpha\n"})
    with pytest.raises(StateMoved):
        adopt_raw(make_session(folder, disk=EditingDisk()), 1, ())
    assert state(folder)["raw_1.md"] == "fact beta\n"


def test_a_raw_pasted_during_a_search_keeps_its_number(folder: Path) -> None:
    def pasted(query: str) -> tuple[Source, ...]:
        if not (folder / "raw_1.md").exists():
            write_tree(folder, {"raw_1.md": "fact pasted\n"})
        return find_page(query)

    session = make_session(folder, search=FakeSearch(pasted))
    assert run_all(session)[-1].final == "answered"
    assert read_tree(folder)["raw_1.md"].endswith("fact pasted\n")
    assert "fact alpha [2.1]" in read_tree(folder)["summary.md"]


def test_files_that_never_stand_still_end_the_run(folder: Path) -> None:
    def fighting(packet: Packet) -> str:
        with (folder / "next_query.txt").open("a", encoding="utf-8") as file:
            file.write("# another process\n")
        return search_for("alpha")

    with pytest.raises(HarnessError, match="keep changing"):
        step(make_session(folder, planner=fighting))


def test_a_missing_question_is_told_with_the_command(tmp_path: Path) -> None:
    folder = tmp_path / "case"
    folder.mkdir()
    with pytest.raises(HarnessError, match="no question yet") as told:
        step(make_session(folder))
    assert f'harness -C {folder} ask "' in told.value.hint


def test_a_hole_between_raws_is_told(folder: Path) -> None:
    write_tree(folder, {"raw_2.md": "---\nkind: note\n---\n"})
    with pytest.raises(BrokenFile, match=r"raw_1\.md"):
        step(make_session(folder))
