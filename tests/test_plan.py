"""Whose turn it is: each row of the table by its smallest case, with one beside it that just misses the row."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from harness.formats.front import put
from harness.formats.summary import parse_summary
from harness.model import Answer, Case, FrontMatter, NextQuery, QueryRecord, Question, RawHead, Summary
from harness.plan import (
    Action,
    Adopt,
    Ask,
    AskPerson,
    Check,
    Done,
    DropDraft,
    EmptyQueries,
    Fold,
    Hole,
    Limits,
    NoQuestion,
    Search,
    TakeAnswer,
    due,
    due_queries,
    last_number,
    next_number,
    rounds_used,
    stalled,
    state_token,
)

QUESTION = Question("Which is the largest?")
STEERED_ONCE = put(FrontMatter(), "directions", "1")
DRAFT, FINAL = Answer("A", status="draft"), Answer("A", status="complete")
NOTE, BARE = RawHead("note"), RawHead(None)


def found(*queries: str) -> RawHead:
    return RawHead("search", tuple(QueryRecord(query, "fake", "found") for query in queries))


def case(
    *,
    question: Question | None = QUESTION,
    summary: Summary | str = "",
    queries: tuple[str, ...] = (),
    at: int | None = None,
    answer: Answer | None = None,
    raws: dict[int, RawHead] | None = None,
) -> Case:
    heads = raws or {}
    parsed = parse_summary(summary) if isinstance(summary, str) else summary
    return Case(question, parsed, NextQuery(round=at, queries=queries), answer, tuple(sorted(heads)), heads)


def searches(*lines: str, round_: int, extra: str = "") -> str:
    listed = "".join(f"- {line}\n" for line in lines)
    return f"---\nround: {round_}\nspent: {round_}\n{extra}---\n## Searches\n{listed}"


def saying(one: Case, **said: object) -> Case:
    """The case with another next_query.txt."""
    return replace(one, next_query=replace(one.next_query, **said))  # type: ignore[arg-type]


ROUND_1 = Summary(round=1, spent=1)
ROWS: dict[str, tuple[Case, Limits, Action]] = {
    "no question": (case(question=None), Limits(), NoQuestion()),
    "an empty question": (case(question=Question(" \n")), Limits(), NoQuestion()),
    "a question": (case(), Limits(), Ask(1)),
    "an answer that stands in next_query.txt too": (
        saying(case(answer=FINAL), answer="A"),
        Limits(),
        EmptyQueries(),
    ),
    "a draft that stands in next_query.txt too": (saying(case(answer=DRAFT), answer="A"), Limits(), EmptyQueries()),
    "an answer and queries": (case(answer=FINAL, queries=("more",), at=1), Limits(), Done(('query "more"',))),
    "an answer": (case(answer=FINAL), Limits(), Done()),
    "an answer by a person": (case(answer=Answer("A", "partial", "person")), Limits(), Done()),
    "an answer and a later raw": (case(answer=FINAL, raws={1: NOTE}), Limits(), Done(("raw_1.md",))),
    "an answer, limits used up": (case(answer=FINAL), Limits(used_up="tokens"), Done()),
    "a draft, checked": (case(answer=DRAFT, summary=Summary(checked=1)), Limits(), DropDraft()),
    "a draft, checked at round 0": (case(answer=DRAFT, summary=Summary(checked=0)), Limits(), DropDraft()),
    "a draft and a raw above": (case(answer=DRAFT, summary=ROUND_1, raws={2: NOTE}), Limits(), DropDraft()),
    "a draft and a direction that came after it": (
        case(
            answer=replace(DRAFT, front=STEERED_ONCE),
            question=replace(QUESTION, directions=("prices", "sizes")),
        ),
        Limits(),
        DropDraft(),
    ),
    "a draft that knew the direction": (
        case(answer=replace(DRAFT, front=STEERED_ONCE), question=replace(QUESTION, directions=("prices",))),
        Limits(),
        Check(),
    ),
    "a draft and a query": (case(answer=DRAFT, queries=("more",), at=1), Limits(), DropDraft()),
    "a draft and a folded raw": (case(answer=DRAFT, summary=ROUND_1, raws={1: found("q")}), Limits(), Check()),
    "a draft and a spent query": (
        case(answer=DRAFT, summary=ROUND_1, raws={1: found("q")}, queries=("q",), at=1),
        Limits(),
        Check(),
    ),
    "a draft, limits used up": (case(answer=DRAFT), Limits(used_up="minutes"), Check()),
    "tokens used up": (case(raws={1: BARE}), Limits(used_up="tokens"), Ask(2, "tokens")),
    "minutes used up": (case(queries=("q",), at=1), Limits(used_up="minutes"), Ask(1, "minutes")),
    "tokens used up, answer( in next_query.txt": (
        saying(case(), answer="A"),
        Limits(used_up="tokens"),
        Ask(1, "tokens"),
    ),
    "a bare raw": (case(raws={1: BARE}), Limits(), Adopt(1, ())),
    "a bare raw and a query": (case(raws={1: BARE}, queries=("q",), at=1), Limits(), Adopt(1, ("q",))),
    "a bare raw behind one of ours": (case(raws={1: NOTE, 2: BARE}), Limits(), Adopt(2, ())),
    "two bare raws": (case(raws={1: BARE, 2: BARE}), Limits(), Adopt(1, ())),
    "a bare raw below": (case(summary=ROUND_1, raws={1: BARE}), Limits(), Ask(2)),
    "a bare raw behind a hole": (case(raws={2: BARE}), Limits(), Adopt(2, ())),
    "a raw above": (case(raws={1: found("q")}), Limits(), Fold(1)),
    "two raws above": (case(summary=ROUND_1, raws={1: NOTE, 2: NOTE, 3: NOTE}), Limits(), Fold(2)),
    "a raw above and a query": (case(raws={1: NOTE}, queries=("q",), at=1), Limits(), Fold(1)),
    "a raw above and an answer( call": (saying(case(raws={1: NOTE}), answer="A"), Limits(), Fold(1)),
    "a raw above, rounds reached": (case(raws={1: NOTE}), Limits(rounds=0), Fold(1)),
    "a raw at round": (case(summary=ROUND_1, raws={1: NOTE}), Limits(), Ask(2)),
    "a hole": (case(raws={2: NOTE}), Limits(), Hole(1)),
    "a hole between two": (case(summary=ROUND_1, raws={1: NOTE, 4: NOTE}), Limits(), Hole(2)),
    "a hole behind a raw": (case(raws={1: NOTE, 3: NOTE}), Limits(), Fold(1)),
    "raws missing below": (case(summary=Summary(round=3, spent=3)), Limits(), Ask(4)),
    "answer( in next_query.txt": (saying(case(), answer="A"), Limits(), TakeAnswer("A")),
    "answer( in next_query.txt, rounds reached": (saying(case(), answer="A"), Limits(rounds=0), TakeAnswer("A")),
    "ask(": (saying(case(), ask="Which year?", directions=0), Limits(), AskPerson("Which year?")),
    "ask( by hand, no count": (saying(case(), ask="Which year?"), Limits(), AskPerson("Which year?")),
    "ask( with earlier directions": (
        saying(case(question=replace(QUESTION, directions=("a", "b"))), ask="Which year?", directions=2),
        Limits(),
        AskPerson("Which year?"),
    ),
    "ask( and a later direction": (
        saying(case(question=replace(QUESTION, directions=("a", "b"))), ask="Which year?", directions=1),
        Limits(),
        Ask(1),
    ),
    "ask( and nobody there": (
        saying(case(), ask="Which year?", directions=0),
        Limits(unattended=True),
        Ask(1, must_decide=True),
    ),
    "a query": (case(queries=("q",), at=1), Limits(), Search(1, ("q",))),
    "a query, rounds reached": (case(queries=("q",), at=1), Limits(rounds=0), Search(1, ("q",))),
    "two queries, one recorded": (
        case(summary=ROUND_1, raws={1: found("q")}, queries=("q", "r"), at=1),
        Limits(),
        Search(2, ("r",)),
    ),
    "a recorded query": (case(summary=ROUND_1, raws={1: found("q")}, queries=("q",), at=1), Limits(), Ask(2)),
    "rounds reached": (case(summary=Summary(round=3, spent=3)), Limits(rounds=3), Ask(4, "rounds")),
    "rounds not reached": (case(summary=Summary(round=3, spent=2)), Limits(rounds=3), Ask(4)),
    "more rounds than allowed": (case(summary=Summary(round=9, spent=9)), Limits(rounds=3), Ask(10, "rounds")),
}


@pytest.mark.parametrize("name", ROWS)
def test_the_first_row_that_applies(name: str) -> None:
    given_case, limits, action = ROWS[name]
    assert due(given_case, limits) == action


# Which queries are due ---------------------------------------------------------------------------

DUE: dict[str, tuple[Case, tuple[str, ...]]] = {
    "in the order of the file": (case(queries=("b", "a"), at=1), ("b", "a")),
    "recorded by a raw of its round": (case(raws={2: found("q")}, queries=("q",), at=2), ()),
    "recorded by a later raw": (case(raws={2: NOTE, 3: found("q")}, queries=("q",), at=2), ()),
    "recorded before its round": (case(summary=ROUND_1, raws={1: found("q")}, queries=("q",), at=2), ("q",)),
    "recorded by Searches, raw pruned": (
        case(summary=searches("1 · q — found", round_=1), queries=("q",), at=1),
        (),
    ),
    "recorded by Searches before its round": (
        case(summary=searches("1 · q — blocked", round_=1), queries=("q",), at=2),
        ("q",),
    ),
    "recorded above `round`, which a person set back": (
        case(summary=searches("5 · q — blocked", round_=1), queries=("q",), at=2),
        ("q",),
    ),
    "recorded as skipped": (
        case(raws={1: RawHead("search", (QueryRecord("q", "", "skipped"),))}, queries=("q",), at=1),
        (),
    ),
    "no header, no raw": (case(queries=("q",)), ("q",)),
    "no header, the newest search records it": (case(raws={1: found("q")}, queries=("q",)), ()),
    "no header, only an older search records it": (
        case(raws={1: found("q"), 2: found("r")}, queries=("q",)),
        ("q",),
    ),
    "no header, a note behind the search": (case(raws={1: found("q"), 2: NOTE}, queries=("q",)), ()),
    "no header, raws pruned": (
        case(summary=searches("1 · a — found", "2 · q — found", round_=2), queries=("q",)),
        (),
    ),
    "no header, raws pruned, an older search": (
        case(summary=searches("1 · q — blocked", "2 · a — found", round_=2), queries=("q",)),
        ("q",),
    ),
    "no header, one more line added by a person": (case(raws={1: found("q")}, queries=("q", "p")), ("p",)),
}


@pytest.mark.parametrize("name", DUE)
def test_a_query_is_due_until_a_raw_from_its_round_on_records_it(name: str) -> None:
    given_case, queries = DUE[name]
    assert due_queries(given_case) == queries


# Rounds and stall --------------------------------------------------------------------------------

DRY = tuple(f"{n} · q{n} — empty, +0 facts, 6 gaps" for n in range(1, 6))


def test_three_rounds_without_a_fact_and_with_the_same_gaps_are_a_stall() -> None:
    assert due(case(summary=searches(*DRY[:3], round_=3)), Limits()) == Ask(4, "stalled")


@pytest.mark.parametrize(
    "lines",
    [
        DRY[:2],
        ("1 · a — found, +1 fact, 6 gaps", *DRY[1:3]),
        ("1 · a — empty, +0 facts, 7 gaps", *DRY[1:3]),
        (*DRY[:2], "3 · c — found, +0 facts, 5 gaps"),
        (*DRY[:3], "4 · d — found, +2 facts, 6 gaps"),
        (*DRY[:2], "3 · c — found"),
    ],
    ids=["two rounds", "a fact", "a gap closed", "a gap closed at last", "a fact at last", "no counts"],
)
def test_what_is_no_stall(lines: tuple[str, ...]) -> None:
    assert due(case(summary=searches(*lines, round_=5)), Limits()) == Ask(6)


def test_a_stall_is_ended_by_a_new_direction_until_the_next_fold() -> None:
    steered = replace(QUESTION, directions=("2026-11-29: look at 2023 too",))
    dry = parse_summary(searches(*DRY[:3], round_=3))
    assert not stalled(case(question=steered, summary=dry))
    seen = replace(dry, front=put(FrontMatter(), "directions", "1"))
    assert stalled(case(question=steered, summary=seen))


def test_several_queries_a_round_count_once_for_rounds_and_stall() -> None:
    lines = [f"{n} · {q}{n} — empty" + (", +0 facts, 6 gaps" if q == "b" else "") for n in (1, 2, 3) for q in "ab"]
    assert stalled(case(summary=searches(*lines, round_=3)))
    assert not stalled(case(summary=searches(*lines[:4], round_=2)))


def test_rounds_and_stall_count_anew_after_a_reopen() -> None:
    lines = searches(*DRY, round_=5, extra="reopened: 3\n")
    assert rounds_used(case(summary=lines)) == 2
    assert due(case(summary=lines), Limits(rounds=3)) == Ask(6)
    assert due(case(summary=lines), Limits(rounds=2)) == Ask(6, "rounds")


# Laws --------------------------------------------------------------------------------------------

WORDS = st.sampled_from(["a", "b", "c"])
HEADS = st.one_of(
    st.just(BARE),
    st.just(NOTE),
    st.lists(st.builds(QueryRecord, WORDS, st.just("fake"), st.sampled_from(["found", "blocked", "pasted"]))).map(
        lambda records: RawHead("search", tuple(records))
    ),
)
LINES = st.lists(
    st.builds("{} · {} — found, +{} facts, {} gaps".format, st.integers(1, 6), WORDS, st.just(0), st.integers(0, 1)),
    max_size=6,
)
CASES = st.builds(
    lambda question, round_, spent, checked, reopened, lines, query, answer, raws: Case(
        question,
        replace(
            parse_summary(searches(*lines, round_=round_)),
            spent=spent,
            checked=checked,
            reopened=reopened,
        ),
        query,
        answer,
        tuple(sorted(raws)),
        raws,
    ),
    st.none() | st.builds(Question, st.sampled_from(["", "Q"]), st.lists(WORDS, max_size=2).map(tuple)),
    st.integers(0, 5),
    st.integers(0, 5),
    st.none() | st.integers(0, 5),
    st.integers(0, 5),
    LINES,
    st.builds(
        NextQuery,
        round=st.none() | st.integers(0, 6),
        queries=st.lists(WORDS, unique=True, max_size=3).map(tuple),
        answer=st.none() | st.just("A"),
        ask=st.none() | st.just("Which?"),
        directions=st.none() | st.integers(0, 2),
    ),
    st.sampled_from([None, DRAFT, FINAL]),
    st.dictionaries(st.integers(1, 7), HEADS, max_size=4),
)
LIMITS = st.builds(Limits, st.integers(0, 5), st.sampled_from(["", "tokens", "minutes"]), st.booleans())


@given(CASES, LIMITS)
def test_due_is_total_and_depends_on_nothing_else(one: Case, limits: Limits) -> None:
    action = due(one, limits)
    assert isinstance(action, Action)
    assert due(replace(one), limits) == action


@given(CASES, LIMITS)
def test_what_is_due_can_be_done(one: Case, limits: Limits) -> None:
    match due(one, limits):
        case Fold(number):
            assert number == one.summary.round + 1 and one.heads[number].kind is not None
        case Hole(missing):
            assert missing not in one.raws and last_number(one) > missing
        case Adopt(number):
            assert one.heads[number].kind is None
        case Search(number, queries):
            assert queries and number not in one.raws and number == next_number(one)
        case Ask(number, _, must_decide):
            assert number not in one.raws and number > one.summary.round
            assert not must_decide or limits.unattended
        case AskPerson():
            assert not limits.unattended
        case Check() | DropDraft():
            assert one.answer == DRAFT
        case Done():
            assert one.answer == FINAL


@given(CASES, LIMITS)
def test_a_search_spends_its_queries(one: Case, limits: Limits) -> None:
    """Else the loop would search the same for ever."""
    # A round ahead of the raws (a person removed some) makes one search more: it cannot be told from a retry.
    assume((one.next_query.round or 0) <= next_number(one))
    action = due(one, limits)
    if isinstance(action, Search):
        heads = {**one.heads, action.number: found(*action.queries)}
        after = replace(one, heads=heads, raws=tuple(sorted(heads)))
        assert due_queries(after) == ()
        assert due(after, limits) == Fold(action.number)


def test_a_reply_belongs_to_one_summary_and_one_round() -> None:
    tokens = {state_token("a", 1), state_token("a", 2), state_token("b", 1), state_token("a1", 1), state_token("", 11)}
    assert len(tokens) == 5
    assert state_token("a", 1) == state_token("a", 1)
