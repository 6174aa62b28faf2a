"""What a case has spent, from its trace: increments, torn and foreign lines, the cache, and the chat that grows."""

from __future__ import annotations

import errno
import json
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.account import account_of, growing_chat, told_account
from harness.loop import run, step
from harness.model import Reply
from harness.spending import CACHE, Spent, spent
from harness.store import Store
from harness.tokens import estimate
from tests.fakes import (
    FailingDisk,
    FakeSearch,
    QuickDisk,
    ScriptedAgent,
    answer_with,
    find_page,
    make_session,
    plan_for,
    search_for,
)
from tests.program import harness
from tests.trees import read_tree, write_tree

NOTHING = Spent({}, False, {}, {})


def line(**record: object) -> str:
    return json.dumps(record, ensure_ascii=False) + "\n"


def planned(number: int, tokens_in: int, tokens_out: int, agent: str = "claude", **more: object) -> str:
    return line(role="planner", round=number, agent=agent, tokens=[tokens_in, tokens_out], **more)


def searched(number: int, size: int | None, *outcomes: tuple[str, str], asked: list[str] | None = None) -> str:
    records = [{"query": "q", "provider": provider, "outcome": outcome} for provider, outcome in outcomes]
    tried = {} if asked is None else {"asked": asked}
    sized = {} if size is None else {"size": size}
    return line(role="search", round=number, outcomes=records, **tried, **sized)


def folded(number: int, tokens_in: int = 0, tokens_out: int = 0, **more: object) -> str:
    tokens = [tokens_in, tokens_out]
    return line(role="synthesizer", round=number, agent="claude", tokens=tokens, file="summary.md", **more)


TRACE = (
    planned(1, 1_000, 40)
    + searched(1, 1_500, ("folder", "found"), asked=["folder"])
    + folded(1, 3_000, 400)
    + planned(2, 1_200, 60)
    + searched(2, 500, ("folder", "empty"), asked=["folder"])
    + folded(2, 2_000, 300)
)
TOTALS = Spent(
    {("planner", "claude"): (2_200, 100), ("synthesizer", "claude"): (5_000, 700)},
    True,
    {"folder": 2},
    {1: 1_500, 2: 500},
)


def store_of(folder: Path, trace: str | bytes | None = None) -> Store:
    if trace is not None:
        write_tree(folder, {"trace.jsonl": trace})
    return Store(folder, QuickDisk())


def totals_of(tmp_path: Path, trace: str | bytes) -> Spent:
    return spent(store_of(tmp_path, trace))


def told(totals: Spent) -> list[str]:
    account = account_of(totals)
    return told_account(account) if account else []


# Totals ------------------------------------------------------------------------------------------


def test_a_run_leaves_what_it_spent_in_the_trace(tmp_path: Path) -> None:
    write_tree(tmp_path, {"question.md": "What are alpha and beta?\n"})
    blocked = FakeSearch(lambda query: "HTTP 429", name="web")
    session = make_session(tmp_path, planner=plan_for("alpha", "beta"), search=[blocked, FakeSearch(find_page)])
    steps = list(run(session))
    tree, totals = read_tree(tmp_path), spent(session.store)
    assert totals.raws == {1: estimate(tree["raw_1.md"]), 2: estimate(tree["raw_2.md"])}
    assert totals.requests == {"web": 2, "fake": 2}
    assert set(totals.tokens) == {(role, "function") for role in ("planner", "synthesizer", "checker")}
    assert sum(map(sum, totals.tokens.values())) == sum(step.tokens for step in steps) and totals.estimated


def test_the_raw_of_a_search_by_hand_is_measured_as_it_is_adopted(tmp_path: Path) -> None:
    write_tree(tmp_path, {"question.md": "What is alpha?\n", "next_query.txt": "alpha\n", "raw_1.md": "fact alpha\n"})
    session = make_session(tmp_path)
    list(run(session))
    totals = spent(session.store)
    assert totals.raws == {1: estimate(read_tree(tmp_path)["raw_1.md"])} and totals.requests == {}


def test_refused_replies_are_paid_for(tmp_path: Path) -> None:
    write_tree(tmp_path, {"question.md": "What is alpha?\n"})
    replies = ["no form", search_for("alpha"), answer_with("alpha [1.1]")]
    planner = ScriptedAgent(*(Reply(text, tokens_in=1_000, tokens_out=10) for text in replies), name="mine")
    list(run(make_session(tmp_path, planner=planner, self_check=False)))
    assert spent(Store(tmp_path)).tokens["planner", "mine"] == (3_000, 30)


def test_totals_of_a_trace(tmp_path: Path) -> None:
    assert totals_of(tmp_path, TRACE) == TOTALS
    assert spent(store_of(tmp_path / "none")) == totals_of(tmp_path, "") == NOTHING


def test_counts_are_an_estimate_unless_every_record_says_otherwise(tmp_path: Path) -> None:
    said = planned(1, 10, 1, estimated=False)
    assert not totals_of(tmp_path, said).estimated
    assert totals_of(tmp_path, said + planned(2, 10, 1)).estimated
    assert totals_of(tmp_path, said + planned(2, 10, 1, estimated=True)).estimated


@pytest.mark.parametrize(
    "trace, requests",
    [
        (searched(1, 9, ("web", "found"), ("web", "empty"), ("folder", "found")), {"web": 2, "folder": 1}),
        (searched(1, 9, ("person", "pasted"), ("", "skipped")), {}),
        (searched(1, 9, ("folder", "found"), asked=["web", "more", "folder"]), {"web": 1, "more": 1, "folder": 1}),
        (searched(1, 9, ("folder", "blocked"), asked=["web", "folder"]), {"web": 1, "folder": 1}),
        (searched(1, 9, ("folder", "blocked")), {"folder": 1}),  # a trace of before this was recorded
        (searched(1, 9, ("", "blocked"), asked=[]), {}),
    ],
)
def test_each_provider_that_was_asked_is_counted_once(tmp_path: Path, trace: str, requests: Mapping[str, int]) -> None:
    assert totals_of(tmp_path, trace).requests == requests


def test_a_raw_without_a_size_is_known_to_be_unknown(tmp_path: Path) -> None:
    note_by_a_person, closed_by_code = folded(2), line(role="harness", round=4, file="summary.md")
    trace = searched(3, None) + note_by_a_person + searched(1, 7) + folded(1) + closed_by_code
    assert list(totals_of(tmp_path, trace).raws.items()) == [(1, 7), (2, None), (3, None), (4, None)]
    assert totals_of(tmp_path, trace + folded(2, size=5)).raws[2] == 5
    assert totals_of(tmp_path, searched(1, 7) + searched(1, 9)).raws == {1: 9}  # a raw that was removed and made anew


FOREIGN = (
    '{"half": ',
    "[1]",
    "[" * 100_000,
    line(role="planner", agent="a", tokens=[-1, 2]),
    line(role="planner", agent="a", tokens=["1", 2]),
    line(role="planner", agent="a", tokens=[1]),
    line(role="planner", agent=["a"], tokens=[1, 2]),
    line(role="planner", agent="a", tokens=[10**4_000, 2]),
    line(role="search", round="1", size=5, outcomes="none", asked={"web": 1}),
    line(role="search", outcomes=[{"provider": ["web"], "outcome": "found"}, "found", {"outcome": ["found"]}]),
    line(role=["search"], round=-1, size=True, file=["summary.md"]),
)


@pytest.mark.parametrize("text", FOREIGN, ids=lambda text: text[:60])
def test_a_foreign_line_is_skipped(tmp_path: Path, text: str) -> None:
    assert totals_of(tmp_path, text) == NOTHING
    assert totals_of(tmp_path, TRACE + text.rstrip("\n") + "\n" + planned(3, 1, 1)) == totals_of(
        tmp_path, TRACE + planned(3, 1, 1)
    )


def test_a_torn_line_counts_once_it_is_whole(tmp_path: Path) -> None:
    last = planned(3, 100, 5, agent="Čapek")
    for cut in range(1, len(last.encode())):
        torn = (TRACE + last).encode()[:-cut]
        store = store_of(tmp_path, torn)
        assert spent(store, worth_keeping=1) == TOTALS
        with (tmp_path / "trace.jsonl").open("ab") as file:
            file.write(last.encode()[-cut:])
        assert spent(store, worth_keeping=1).tokens["planner", "Čapek"] == (100, 5)


# The cache ---------------------------------------------------------------------------------------

NAMES = st.sampled_from(["claude", "extractive", "агент", ""])
COUNTS = st.integers(-1, 10**6)
OUTCOMES = st.tuples(NAMES, st.sampled_from(["found", "empty", "blocked", "pasted", "skipped", "odd"]))
ODD: tuple[object, ...] = (
    None,
    True,
    -1,
    3,
    10**30,
    1.5,
    "harness",
    "\ud800",
    [],
    [3, 4],
    [["web"], "web"],
    {"x": "y"},
)
VALUES = st.sampled_from(ODD)
KEYS = st.sampled_from(["role", "agent", "tokens", "round", "size", "outcomes", "asked", "file"])
FIELDS = st.dictionaries(KEYS, VALUES, max_size=4)
LINES = st.one_of(
    st.builds(planned, COUNTS, COUNTS, COUNTS, NAMES, estimated=st.booleans()).map(str.encode),
    st.builds(searched, COUNTS, st.none() | COUNTS, OUTCOMES, asked=st.none() | st.lists(NAMES)).map(str.encode),
    st.builds(folded, COUNTS, COUNTS, COUNTS).map(str.encode),
    FIELDS.map(lambda record: json.dumps({"role": "search", **record}).encode() + b"\n"),
    st.binary(max_size=8),
)


@given(st.lists(LINES, max_size=12).map(b"".join), st.lists(st.floats(0, 1), max_size=4))
def test_law_totals_by_increments_are_the_totals_from_the_start(trace: bytes, splits: list[float]) -> None:
    with tempfile.TemporaryDirectory() as name:
        store = Store(Path(name), QuickDisk())
        for part in sorted([*splits, 1.0]):
            store_of(store.folder, trace[: int(part * len(trace))])
            totals = spent(store, worth_keeping=1)
            assert all(map(str.isprintable, told(totals)))
        store.drop_helper(CACHE)
        whole = spent(store)
    assert totals == whole
    assert list(map(str, totals)) == list(map(str, whole))  # in the same order, too


def test_only_what_is_new_is_read(tmp_path: Path) -> None:
    """Seen by writing over what was read before; only the last line of it is compared."""
    first = planned(9, 0, 0, agent="агент")
    store = store_of(tmp_path, first + TRACE)
    assert spent(store, worth_keeping=1).tokens["planner", "агент"] == (0, 0)
    blank = "x" * (len(first.encode()) - 1) + "\n"
    store_of(tmp_path, blank + TRACE.replace('"folder"', '"fooled"') + planned(3, 1, 1))
    totals = spent(store)
    assert totals.tokens["planner", "агент"] == (0, 0) and totals.tokens["planner", "claude"] == (2_201, 101)
    assert totals.requests == {"folder": 2}


@pytest.mark.parametrize(
    "change",
    [
        lambda trace: "",
        lambda trace: trace[: len(trace) // 2],
        lambda trace: trace.replace('"round": 2', '"round": 7'),
        lambda trace: planned(1, 5, 5) + trace,
        lambda trace: trace[:-1],
    ],
    ids=["gone", "cut", "edited", "a line put before it", "its end is torn"],
)
def test_totals_of_another_trace_are_thrown_away(tmp_path: Path, change: Callable[[str], str]) -> None:
    store = store_of(tmp_path, TRACE)
    spent(store, worth_keeping=1)
    assert (store.helpers / CACHE).exists()
    store_of(tmp_path, change(TRACE))
    assert spent(store) == totals_of(tmp_path / "fresh", change(TRACE))


def test_a_broken_or_foreign_cache_is_ignored_and_replaced(tmp_path: Path) -> None:
    store = store_of(tmp_path, TRACE)
    spent(store, worth_keeping=1)
    good = store.get_helper(CACHE)
    sha256, body = good.split("\n")
    value = json.loads(body)
    changed = [{**value, key: odd} for key in value for odd in (*ODD, 10**9)]
    changed += [{name: value[name] for name in value if name != key} for key in value]
    other = [body, sha256, f"{sha256}\n", f"{sha256}\n{body}\n", *(f"{sha256}\n{json.dumps(one)}" for one in changed)]
    for text in ["", "no JSON", "\ufffd\x00", "[" * 100_000, f"x\n{'[' * 100_000}", *other]:
        store.put_helper(CACHE, text)
        assert spent(store, worth_keeping=1) == TOTALS, text
        assert store.get_helper(CACHE) == good, text


@pytest.mark.skipif(os.name == "nt", reason="links and pipes of POSIX")
def test_a_cache_that_is_a_link_or_a_pipe_is_not_followed(tmp_path: Path) -> None:
    store = store_of(tmp_path / "case", TRACE)
    spent(store, worth_keeping=1)
    target = tmp_path / "elsewhere.json"
    (store.helpers / CACHE).rename(target)
    before = target.read_bytes()
    (store.helpers / CACHE).symlink_to(target)
    assert spent(store, worth_keeping=1) == TOTALS and target.read_bytes() == before
    (store.helpers / CACHE).unlink()
    os.mkfifo(store.helpers / CACHE)
    assert spent(store) == TOTALS


@pytest.mark.parametrize("at", range(1, 12))
@pytest.mark.parametrize("refuse", [errno.EROFS, errno.ENOSPC])
def test_a_disk_that_refuses_the_cache_does_not_spoil_the_totals(tmp_path: Path, at: int, refuse: int) -> None:
    store_of(tmp_path, TRACE)
    assert spent(Store(tmp_path, FailingDisk(at, refuse)), worth_keeping=1) == TOTALS
    assert spent(store_of(tmp_path)) == TOTALS


# The counterfactual ------------------------------------------------------------------------------


def test_the_growing_chat_by_hand() -> None:
    chat = growing_chat({1: 60_000, 2: 10_000, 4: 60_000})
    assert (chat.holds, chat.has_read, chat.whole) == (130_000, 60_000 + 70_000 + 130_000, True)
    assert chat.overflows == {64_000: 2, 128_000: 4, 200_000: None}


def test_a_window_that_is_just_full_has_not_overflowed() -> None:
    assert growing_chat({1: 64_000}).overflows[64_000] is None
    assert growing_chat({1: 64_001}).overflows[64_000] == 1


def test_a_raw_of_unknown_size_makes_the_figures_the_least_possible() -> None:
    assert growing_chat({1: 5, 2: None, 3: 5})[:2] == (10, 5 + 5 + 10)
    assert not growing_chat({1: 5, 2: None}).whole and growing_chat({}) == growing_chat({})._replace(whole=True)


# Telling -----------------------------------------------------------------------------------------


def test_two_plain_lines() -> None:
    assert told(TOTALS) == [
        "spent: 7,200 tokens in, 800 out (planner claude 2,200; synthesizer claude 5,000), an estimate; 2 searches",
        "one growing chat would hold about 2,000 tokens of raws now and have read 3,500; "
        "a 64k window would still hold it",
    ]
    assert told(NOTHING) == []


def test_overflows_are_named_with_their_rounds() -> None:
    raws = dict.fromkeys(range(1, 14), 10000)
    assert told(NOTHING._replace(raws=raws)) == [
        "one growing chat would hold about 130,000 tokens of raws now and have read 910,000; "
        "a 64k window would have overflowed in round 7, a 128k one in round 13"
    ]
    assert told(NOTHING._replace(raws={**raws, 9: None}))[0].startswith("one growing chat would hold at least 120,000")
    assert told(NOTHING._replace(raws={**raws, 9: None}))[0].endswith("overflowed in round 7 at the latest")
    assert told(NOTHING._replace(raws={1: None})) == []


def test_searches_are_told_by_provider_where_there_are_several() -> None:
    assert told(NOTHING._replace(requests={"folder": 1})) == ["spent: 1 search"]
    assert told(NOTHING._replace(requests={"web": 1_200, "folder": 1})) == [
        "spent: 1,201 searches (web 1,200, folder 1)"
    ]


def test_reported_counts_are_no_estimate_and_odd_names_stay_on_their_line() -> None:
    tokens = {("planner", f"\x1b[31mred\nagent {number}" + "x" * 99): (1, 1) for number in range(9)}
    (only,) = told(NOTHING._replace(tokens=tokens))
    assert only.endswith("… 1 and 3 more)") and only.isprintable() and len(only) < 400


# status ------------------------------------------------------------------------------------------


def case_with(trace: str) -> Path:
    return write_tree(Path("research"), {"question.md": "What?\n", "trace.jsonl": trace})


def test_status_tells_what_was_spent() -> None:
    case = case_with(TRACE)
    before = read_tree(case)
    ran = harness("status")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == (
        "research: What?\n"
        "  round 0, 0 of 10 search rounds used; 0 facts, 0 contradictions, 0 gaps\n"
        + "".join(f"  {one}\n" for one in told(TOTALS))
        + "  due: the Planner writes a query or the answer: harness step, or harness next\n"
    )
    assert read_tree(case) == before


def test_status_as_json_has_it_as_fields() -> None:
    case_with(TRACE)
    assert json.loads(harness("status", "--json").out)["spent"] == {
        "tokens_in": 7_200,
        "tokens_out": 800,
        "by": [
            {"role": "planner", "agent": "claude", "tokens_in": 2_200, "tokens_out": 100},
            {"role": "synthesizer", "agent": "claude", "tokens_in": 5_000, "tokens_out": 700},
        ],
        "estimated": True,
        "searches": {"folder": 2},
        "cost": None,
        "growing_chat": {
            "holds": 2_000,
            "has_read": 3_500,
            "overflows": {"64000": None, "128000": None, "200000": None},
            "whole": True,
        },
    }


def test_without_a_trace_nothing_is_told() -> None:
    case = write_tree(Path("research"), {"question.md": "What?\n"})
    for _ in range(2):
        assert json.loads(harness("status", "--json").out)["spent"] is None
        assert "spent" not in harness("status").out and "chat" not in harness("status").out
        write_tree(case, {"trace.jsonl": '{"role": "person"}\n{"half'})


def test_status_changes_nothing_but_helpers_and_these_only_for_a_long_trace() -> None:
    case = case_with(TRACE * 200)
    before = read_tree(case)
    first = harness("status").out
    after = read_tree(case)
    assert set(after) - set(before) == {".harness/.gitignore", f".harness/{CACHE}"}
    assert {name: after[name] for name in before} == before
    assert harness("status").out == first and read_tree(case) == after
    assert "400 searches" in first


@pytest.mark.skipif(os.name == "nt", reason="links of POSIX")
def test_a_trace_that_cannot_be_read_is_named_and_the_rest_is_told() -> None:
    case = case_with(TRACE)
    (case / "trace.jsonl").rename("elsewhere.jsonl")
    (case / "trace.jsonl").symlink_to(Path("elsewhere.jsonl").absolute())
    ran = harness("status")
    assert ran.code == 0 and "spent" not in ran.out and "due: the Planner" in ran.out
    assert f"note: a case file is a link: {case.absolute()}/trace.jsonl. replace the link by a real file" in ran.out


def test_what_a_failed_pass_and_a_failed_agent_cost_is_counted_as_theirs(tmp_path: Path) -> None:
    write_tree(tmp_path, {"question.md": "What is alpha?\n"})
    bad = ScriptedAgent(*[Reply("no action", tokens_in=100, tokens_out=1)] * 2, name="bad")
    good = ScriptedAgent(Reply(search_for("alpha"), tokens_in=10, tokens_out=2), name="good")
    step(make_session(tmp_path, planner=[bad, good]))
    assert spent(Store(tmp_path)).tokens == {("planner", "good"): (10, 2), ("planner", "bad"): (200, 2)}
    session = make_session(tmp_path / "failed", planner=ScriptedAgent(*[Reply("no", tokens_in=7, tokens_out=1)] * 2))
    write_tree(tmp_path / "failed", {"question.md": "What is beta?\n"})
    assert step(session).action == "failed"
    assert spent(session.store).tokens == {("planner", "scripted"): (14, 2)}
