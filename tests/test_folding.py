"""A raw that does not fit is folded part by part: killed anywhere, by any agent, nothing is read twice or skipped."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from harness.errors import AgentUnreachable, HarnessError, RepliesDefective
from harness.formats.raw import parse_raw, render_raw
from harness.formats.summary import lines_of, parse_summary, search_lines, source_lines
from harness.handover import hand_out, take_in
from harness.loop import run
from harness.loop import step as one_step
from harness.model import Packet, QueryRecord, Raw, RawHead, SectionKind, Source
from harness.parts import LEAST, Room
from harness.rereading import reread
from harness.session import Event, Session
from harness.status import look
from harness.tokens import estimate
from tests.fakes import Crash, FailingDisk, FunctionAgent, ScriptedAgent, copy_facts, make_session, plan_for
from tests.trees import read_tree, write_tree
from tests.worlds import bury

FILLER = "Nothing of interest is said in this sentence, which is only here to fill the page.\n\n"
FACTS = [f"fact f{number}x" for number in range(40)]
QUESTION = "What are the facts?"
ROOM = Room(window=10_500, output=500)
SMALLER = Room(window=10_000, output=500)
ALLOWANCE = 4_000


def page(facts: list[str]) -> str:
    return "".join(f"{fact}\n\n{FILLER * 18}" for fact in facts)


def raw_text(kind: str = "search") -> str:
    head = RawHead(kind, (QueryRecord("the facts", "fake", "found"),) if kind == "search" else (), "wanted")
    sources = (
        Source("Short", "fact short\n", "https://example.org/1", "2025-01-01"),
        Source("Long", page(FACTS), "https://example.org/2", "2025-02-02"),
        Source("Last", "fact last\n", "https://example.org/3", "2025-03-03"),
    )
    return render_raw(Raw(head, sources))


def case(tmp_path: Path, **files: str) -> Path:
    tree = {"question.md": QUESTION, "raw_1.md": raw_text(), **files}
    return write_tree(tmp_path / "case", tree)


class Reader:
    """Copies the facts, and remembers which characters of the raw it was shown."""

    def __init__(self, name: str = "function", function: Callable[[Packet], str] = copy_facts) -> None:
        self.name, self.window, self.function = name, None, function
        self.read: list[tuple[int, int]] = []
        self.sizes: list[int] = []

    def take(self, packet: Packet) -> object:
        assert packet.part
        self.read.append(packet.part)
        self.sizes.append(estimate(packet.prompt))
        return FunctionAgent(self.function).take(packet)


def session(folder: Path, reader: object = None, room: Room = ROOM, **more: object) -> Session:
    agent = reader or Reader()
    name = getattr(agent, "name", "function")
    return make_session(folder, synthesizer=agent, rooms={name: room}, summary_tokens=ALLOWANCE, **more)  # type: ignore[arg-type]


def fold_all(opened: Session) -> list[str]:
    actions: list[str] = []
    while not actions or actions[-1] in ("part", "failed"):
        actions.append(one_step(opened).action)
    return actions


def facts(folder: Path) -> list[str]:
    lines = lines_of(parse_summary(read_tree(folder)["summary.md"]), SectionKind.CONFIRMED)
    return [line.partition(" [")[0] for line in lines]


def test_every_part_is_read_once_and_the_round_is_done_with_the_last(tmp_path: Path) -> None:
    folder, reader = case(tmp_path), Reader()
    actions = fold_all(session(folder, reader))
    assert len(actions) > 4 and set(actions[:-1]) == {"part"} and actions[-1] == "fold"
    assert reader.read[0][0] == 0 and reader.read[-1][1] == len(raw_text())
    assert [end for _, end in reader.read[:-1]] == [start for start, _ in reader.read[1:]]
    assert max(reader.sizes) <= 10_500 * 4 // 5
    summary = parse_summary(read_tree(folder)["summary.md"])
    assert (summary.round, summary.spent, summary.reading, summary.unread) == (1, 1, None, ())
    assert facts(folder) == ["fact short", *FACTS, "fact last"]
    assert [line.id for line in source_lines(summary)] == ["1.1", "1.2", "1.3"]
    (line,) = search_lines(summary)
    assert (line.note, line.new_facts) == ("3 sources, +42 facts, 0 gaps", 42)


def test_between_two_parts_the_summary_says_how_far_it_is(tmp_path: Path) -> None:
    folder, reader = case(tmp_path), Reader()
    opened = session(folder, reader)
    step = one_step(opened)
    summary = parse_summary(read_tree(folder)["summary.md"])
    assert summary.round == 0 and summary.spent == 0 and search_lines(summary) == ()
    assert summary.reading == (1, reader.read[0][1], len(raw_text()))
    assert step.read == (reader.read[0][1], len(raw_text())) and "part 1 of " in step.line
    assert f"{reader.read[0][1]:,} of {len(raw_text()):,} characters" in look(opened.store, opened.settings).next


def test_a_part_reads_like_a_raw_of_its_own(tmp_path: Path) -> None:
    shown: list[Packet] = []

    def read(packet: Packet) -> str:
        shown.append(packet)
        return copy_facts(packet)

    fold_all(session(case(tmp_path), FunctionAgent(read)))
    for number, packet in enumerate(shown, 1):
        raw = parse_raw(packet.files["raw_1.md"], "raw_1.md")
        assert not raw.problems and raw.head.queries == (QueryRecord("the facts", "fake", "found"),)
        assert f"part {number} of {len(shown)}" in packet.prompt and "the facts" in packet.files["decision.txt"]
        for k, source in enumerate(raw.sources, raw.first):
            assert (source.url, source.date) == (f"https://example.org/{k}", f"2025-0{k}-0{k}")
    assert shown[1].files["raw_1.md"].count("\n## 2. Long\n") == 1


@pytest.mark.parametrize("then", [ROOM, SMALLER, Room(), Room(window=10_500, part_tokens=2_000, part_lines=300)])
def test_another_agent_and_budget_go_on_where_the_last_part_ended(tmp_path: Path, then: Room) -> None:
    folder, first, second = case(tmp_path), Reader(), Reader("other")
    one_step(session(folder, first))
    one_step(session(folder, first))
    fold_all(session(folder, second, then))
    read = [*first.read, *second.read]
    assert read[0][0] == 0 and read[-1][1] == len(raw_text())
    assert [end for _, end in read[:-1]] == [start for start, _ in read[1:]]
    assert facts(folder) == ["fact short", *FACTS, "fact last"]


def test_killed_before_any_system_call_it_ends_as_if_nothing_had_happened(tmp_path: Path) -> None:
    calm = case(tmp_path / "calm")
    disk = FailingDisk(at=10**9)
    fold_all(session(calm, disk=disk))
    wanted = read_tree(calm)["summary.md"]
    for at in range(1, disk.calls + 1, 3):
        folder = case(tmp_path / str(at))
        try:
            fold_all(session(folder, disk=FailingDisk(at)))
        except Crash:
            bury(folder)
            fold_all(session(folder))
        assert read_tree(folder)["summary.md"] == wanted, at


def test_a_raw_that_was_changed_meanwhile_is_read_from_its_start(tmp_path: Path) -> None:
    folder, events, reader = case(tmp_path), list[Event](), Reader()
    one_step(session(folder, reader))
    write_tree(folder, {"raw_1.md": raw_text() + "fact added\n"})
    fold_all(session(folder, reader, events=events))
    assert reader.read[1][0] == 0 and facts(folder)[-1] == "fact added"
    assert any("changed while it was read" in event.text for event in events)


# What cannot be read -----------------------------------------------------------------------------


def bad_for(*names: str) -> Callable[[Packet], str]:
    """Invents a citation wherever one of these facts is shown."""

    def read(packet: Packet) -> str:
        bad = any(f"{name}\n" in packet.files["raw_1.md"] for name in names)
        return "Summary:\n## Confirmed\n- made up [9.9]\nRemoved:\n- none" if bad else copy_facts(packet)

    return read


def test_a_part_whose_replies_stay_defective_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    folder, events = case(tmp_path), list[Event]()
    opened = session(folder, FunctionAgent(bad_for("fact f20x")), events=events)
    fold_all(opened)
    summary = parse_summary(read_tree(folder)["summary.md"])
    (unread,) = summary.unread
    assert summary.round == 1 and "fact f20x" in raw_text()[unread.start : unread.end]
    missing = [fact for fact in FACTS if f"{fact}\n" in raw_text()[unread.start : unread.end]]
    assert facts(folder) == ["fact short", *(fact for fact in FACTS if fact not in missing), "fact last"]
    assert any("stays unread" in event.text for event in events)
    problems = look(opened.store, opened.settings).problems
    assert any(f"characters {unread.start:,} to {unread.end:,} of raw_1.md are unread" in one for one in problems)
    list(run(session(folder, planner=plan_for())))
    assert f"Not read: characters {unread.start} to {unread.end} of raw_1.md" in read_tree(folder)["answer.md"]


def test_reread_reads_only_what_was_unread(tmp_path: Path) -> None:
    folder = case(tmp_path)
    fold_all(session(folder, FunctionAgent(bad_for("fact f20x", "fact f3x"))))
    before = parse_summary(read_tree(folder)["summary.md"])
    assert len(before.unread) == 2
    with pytest.raises(RepliesDefective, match="stays unread"):
        list(reread(session(folder, FunctionAgent(bad_for("fact f20x")))))
    reader = Reader("other")
    (left,) = parse_summary(read_tree(folder)["summary.md"]).unread
    steps = list(reread(session(folder, reader, SMALLER)))
    assert len(steps) == len(reader.read) > 0
    assert (reader.read[0][0], reader.read[-1][1]) == (left.start, left.end)
    after = parse_summary(read_tree(folder)["summary.md"])
    assert (after.round, after.spent, after.unread) == (1, 1, ())
    assert sorted(facts(folder)) == sorted(["fact short", *FACTS, "fact last"])
    with pytest.raises(HarnessError, match="nothing is unread"):
        list(reread(session(folder)))


def test_an_agent_that_fails_on_the_first_two_parts_is_not_asked_for_the_others(tmp_path: Path) -> None:
    folder = case(tmp_path)
    agent = FunctionAgent(lambda packet: "Summary:\n## Confirmed\n- made up [9.9]")
    with pytest.raises(RepliesDefective):
        fold_all(session(folder, agent))
    assert agent.asked < 12


def test_an_agent_that_cannot_be_reached_stops_the_run_and_the_state_stands(tmp_path: Path) -> None:
    folder = case(tmp_path)
    one_step(session(folder))
    before = read_tree(folder)["summary.md"]
    gone = ScriptedAgent(*[AgentUnreachable("no connection", "", "")] * 9)
    with pytest.raises(AgentUnreachable):
        fold_all(session(folder, gone))
    assert read_tree(folder)["summary.md"] == before


def test_a_raw_that_fits_anyhow_is_not_counted(tmp_path: Path) -> None:
    """A vocabulary takes a quarter of a second to read, and every hook would have to."""

    def count(text: str) -> int:
        raise AssertionError("counted")

    small = render_raw(Raw(RawHead("note"), (Source("Short", "fact short\n", "https://example.org/1"),)))
    folder = case(tmp_path, **{"raw_1.md": small})
    assert one_step(session(folder, FunctionAgent(copy_facts), Room(window=100_000, count=count))).action == "fold"


def test_a_window_without_room_says_what_to_change(tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match="no room for the results") as refused:
        one_step(session(case(tmp_path), room=Room(window=7_000)))
    assert "summary_tokens" in refused.value.hint and str(LEAST) in refused.value.value


# By hand -----------------------------------------------------------------------------------------


def test_by_hand_a_part_goes_out_and_its_reply_is_taken_whatever_the_window_is_then(tmp_path: Path) -> None:
    folder = case(tmp_path)
    small, large = session(folder), session(folder, room=Room())
    packet = hand_out(small)
    assert packet.part and packet.part[0] == 0
    assert take_in(large, copy_facts(packet)).action == "part"
    assert parse_summary(read_tree(folder)["summary.md"]).reading == (1, packet.part[1], len(raw_text()))
    last = hand_out(large)
    assert last.part == (packet.part[1], len(raw_text()))
    assert take_in(small, copy_facts(last)).action == "fold"
    assert facts(folder) == ["fact short", *FACTS, "fact last"]


def test_a_pasted_page_is_read_in_parts_too(tmp_path: Path) -> None:
    folder = write_tree(tmp_path / "case", {"question.md": QUESTION, "raw_1.md": "# The page\n\n" + page(FACTS)})
    opened = session(folder, FunctionAgent(copy_facts))
    assert one_step(opened).action == "adopt"
    assert fold_all(opened)[0] == "part"
    assert facts(folder) == FACTS
    assert [line.title for line in source_lines(parse_summary(read_tree(folder)["summary.md"]))] == [
        "The page (pasted)"
    ]
