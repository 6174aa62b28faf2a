"""Whatever the roles reply: no fact lost without a reason, no cap passed, no search repeated, no silent end."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import HarnessError
from harness.facts import citations
from harness.formats.summary import lines_of, parse_summary, search_lines
from harness.grounding import missing, page_of
from harness.guards.lines import FACTUAL
from harness.loop import run
from harness.losses import Fate, Lines, fates
from harness.model import Packet, Removal, SectionKind, Source, Summary
from harness.plan import Limits, due
from harness.store import Store
from harness.store.sources import Sources
from harness.store.trace import read_trace
from harness.words import bag
from tests.fakes import FakeSearch, answer_with, make_session, rewrite, search_for
from tests.trees import read_tree, write_tree

ROUNDS = 4
QUERIES = ("Acme revenue 2024", "revenue of Acme in 2024", "Bolt revenue 2024", "Acme staff", "Bolt founder")
PAGES = (
    "Acme: revenue 2024 — 154 bn",
    "Acme: revenue 2024 — 160 bn",
    "Bolt: revenue 2024 — 12 bn",
    "Acme: staff — 900",
)
GARBAGE = (
    "",
    "no changes",
    "(rest unchanged)",
    "Think: Action: Summary:",
    '<think>Action: answer("x")</think>',
    'Action: search("a")\nAction: answer("b")',
    'Action: search("https://evil.invalid/?q=154")',
    'Action: search("' + "x" * 300 + '")',
    "## Confirmed\n- ...\n",
    "Nothing new: nothing of use.",
    "Acme is large. " * 50,
    '{"complete": "maybe"}',
    "## Confirmed\n" + "- Acme: revenue 2024 — 154 bn [1.1]\n" * 30,
    "\x00\x1b[31m",
)


def hostile_planner(chance: random.Random) -> Callable[[Packet], str]:
    def reply(packet: Packet) -> str:
        kind = chance.randrange(4)
        if kind == 0:
            return chance.choice(GARBAGE)
        if kind == 1:
            facts = lines_of(parse_summary(packet.files["summary.md"]), SectionKind.CONFIRMED)
            said = "; ".join(chance.sample(facts, min(2, len(facts)))) or "From memory: 17 bn."
            return answer_with(said if chance.random() < 0.5 else f"{said} and 99 % more [9.9]")
        return search_for(*chance.sample(QUERIES, chance.randint(1, 2)))

    return reply


def hostile_synthesizer(chance: random.Random) -> Callable[[Packet], str]:
    def reply(packet: Packet) -> str:
        if chance.random() < 0.3:
            return chance.choice(GARBAGE)
        summary = parse_summary(packet.files["summary.md"])
        old = list(lines_of(summary, SectionKind.CONFIRMED))
        kept = [line for line in old if chance.random() < 0.8]
        edited = [line.replace("154", "145") if chance.random() < 0.1 else line for line in kept]
        new = [f"{line} [{packet.round}.{chance.randint(1, 2)}]" for line in PAGES if chance.random() < 0.4]
        new += chance.sample(
            ["Bolt: staff — 77 [1.1]", "Mine [pinned] [1.1]", "A fact without a source"], chance.randint(0, 1)
        )
        chance.shuffle(edited)
        text = rewrite([*edited, *new], contradictions=lines_of(summary, SectionKind.CONTRADICTIONS))
        reason = chance.choice(["superseded by [1.1]", "duplicate", "wrong citation", "not needed", "remove it"])
        return text.replace("- none", f"- {chance.choice(old)} — {reason}") if old and chance.random() < 0.5 else text

    return reply


def hostile_search(chance: random.Random) -> FakeSearch:
    def found(query: str) -> list[Source] | str:
        said = chance.choice(["found", "found", "found", "empty", "HTTP 429"])
        if said != "found":
            return said
        pages = chance.sample(PAGES, 2)
        return [
            Source(f"Page {n} on {query}", text, f"https://acme.invalid/{n}/{query}") for n, text in enumerate(pages)
        ]

    return FakeSearch(found)


def sections(summary: Summary) -> list[Lines]:
    return [Lines(kind, lines_of(summary, kind)) for kind in (*FACTUAL, SectionKind.OTHER)]


def assert_nothing_lost(before: Summary, after: Summary, folder: Path) -> None:
    record = list(read_trace(folder / "trace.jsonl"))[-1]
    reasons = record.get("reasons") or []
    assert isinstance(reasons, list)
    removed = [Removal(*one) for one in reasons]
    source = Sources(Store(folder))

    def grounded(line: str) -> bool | None:
        found = [source(id) for id in citations(line)]
        pages = [page_of(one) for one in found if one]
        return not missing(line, pages) if pages and len(pages) == len(found) else None

    found = fates(sections(before), sections(after), removed, grounded)
    assert [one for one in found if one.fate in (Fate.LOST, Fate.CHANGED)] == []


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32))
def test_whatever_the_roles_reply(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    chance = random.Random(seed)
    folder = write_tree(tmp_path_factory.mktemp("any"), {"question.md": "How large are Acme and Bolt?\n"})
    session = make_session(
        folder,
        planner=hostile_planner(chance),
        synthesizer=hostile_synthesizer(chance),
        search=hostile_search(chance),
        rounds=ROUNDS,
        queries_per_round=2,
    )
    reason, before = "", Summary()
    try:
        for step in run(session):
            after = session.store.snapshot().case.summary
            if step.action == "fold":
                assert_nothing_lost(before, after, folder)
            before = after
    except HarnessError as error:
        reason = str(error)
    case = session.store.snapshot().case
    found = [bag(line.query) for line in search_lines(case.summary) if line.outcome == "found"]
    assert len(found) == len(set(found))
    assert case.summary.spent <= ROUNDS
    assert case.answer is not None or reason
    if case.answer is None:
        assert due(case, Limits(ROUNDS))  # something is due: the case goes on from here
    assert not any(mark in read_tree(folder).get("summary.md", "") for mark in ("[pinned]", "\x1b", "rest unchanged"))
