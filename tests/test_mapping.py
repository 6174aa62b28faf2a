"""Parts read side by side: all against the same summary, kept while they come in, one commit when all are there."""

from __future__ import annotations

import json
from pathlib import Path
from threading import Barrier

import pytest

from harness.errors import AgentUnreachable, RepliesDefective
from harness.formats.raw import parse_raw, render_raw
from harness.formats.summary import lines_of, parse_summary, search_lines, source_lines
from harness.loop import step as one_step
from harness.model import Packet, Raw, RawHead, SectionKind, Source
from harness.parts import Room
from harness.session import Session
from tests.fakes import FunctionAgent, copy_facts, make_session, rewrite
from tests.test_folding import (
    ALLOWANCE,
    FACTS,
    FILLER,
    QUESTION,
    SMALLER,
    Reader,
    bad_for,
    case,
    facts,
    fold_all,
    raw_text,
)
from tests.trees import read_tree, write_tree

ROOM = Room(window=10_500, output=500, parallel=3)
WHOLE = ["fact short", *FACTS, "fact last"]


def session(
    folder: Path, reader: object = None, room: Room = ROOM, strategy: str = "map_reduce", **more: object
) -> Session:
    agent = reader or Reader()
    name = getattr(agent, "name", "function")
    settings = {"summary_tokens": ALLOWANCE, **more}
    return make_session(folder, synthesizer=agent, rooms={name: room}, strategy=strategy, **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize("strategy", ["map_reduce", "tree"])
def test_every_part_is_read_once_and_one_commit_has_all(tmp_path: Path, strategy: str) -> None:
    folder, reader = case(tmp_path), Reader()
    actions = fold_all(session(folder, reader, strategy=strategy))
    read = sorted(reader.read)
    assert len(read) > 3 and len(actions) == -(-len(read) // 3) + 1
    assert (read[0][0], read[-1][1]) == (0, len(raw_text()))
    assert [end for _, end in read[:-1]] == [start for start, _ in read[1:]]
    summary = parse_summary(read_tree(folder)["summary.md"])
    assert (summary.round, summary.spent, summary.reading) == (1, 1, None)
    assert facts(folder) == WHOLE
    assert [line.id for line in source_lines(summary)] == ["1.1", "1.2", "1.3"]
    assert search_lines(summary)[0].note == "3 sources, +42 facts, 0 gaps"
    assert not any(name.startswith(".harness/fold/") for name in read_tree(folder))


def test_as_many_are_asked_at_the_same_time_as_the_agent_allows(tmp_path: Path) -> None:
    meeting = Barrier(3, timeout=20)

    def read(packet: Packet) -> str:
        meeting.wait()  # breaks where fewer than three are under way
        return copy_facts(packet)

    assert one_step(session(case(tmp_path), FunctionAgent(read))).action == "part"


@pytest.mark.parametrize("then", [ROOM, SMALLER._replace(parallel=2), Room()])
def test_stopped_and_gone_on_with_another_budget_nothing_is_read_twice(tmp_path: Path, then: Room) -> None:
    folder, first, second = case(tmp_path), Reader(), Reader("other")
    one_step(session(folder, first))
    fold_all(session(folder, second, then))
    read = sorted((*first.read, *second.read))
    assert (read[0][0], read[-1][1]) == (0, len(raw_text()))
    assert [end for _, end in read[:-1]] == [start for start, _ in read[1:]]
    assert facts(folder) == WHOLE


def test_without_the_helpers_the_parts_are_read_again_and_nothing_is_lost(tmp_path: Path) -> None:
    folder = case(tmp_path)
    one_step(session(folder))
    for path in (folder / ".harness/fold/1").iterdir():
        path.unlink()
    fold_all(session(folder))
    assert facts(folder) == WHOLE


def test_replies_to_another_summary_or_question_do_not_count(tmp_path: Path) -> None:
    folder, reader = case(tmp_path), Reader()
    one_step(session(folder, reader))
    write_tree(folder, {"question.md": QUESTION + " And which are new?"})
    fold_all(session(folder, reader))
    assert [start for start, _ in reader.read].count(0) == 2 and facts(folder) == WHOLE


@pytest.mark.parametrize(
    "change",
    [
        {"reply": "Summary:\n## Confirmed\n- made up [9.9]\nRemoved:\n- none"},
        {"reply": "nonsense"},
        {"start": 7},
        {"end": 10**9},
        {"reply": 3},
        {"lead": None},
        {"state": "other"},
    ],
)
def test_a_kept_reply_that_is_none_of_ours_is_read_again(tmp_path: Path, change: dict[str, object]) -> None:
    folder, reader = case(tmp_path), Reader()
    one_step(session(folder, reader))
    kept = sorted((folder / ".harness/fold/1").iterdir())[0]
    kept.write_text(json.dumps({**json.loads(kept.read_text(encoding="utf-8")), **change}), encoding="utf-8")
    fold_all(session(folder, reader))
    assert facts(folder) == WHOLE


def test_defective_parts_stay_unread_and_the_others_count(tmp_path: Path) -> None:
    folder = case(tmp_path)
    fold_all(session(folder, FunctionAgent(bad_for("fact f3x", "fact f20x"))))
    summary = parse_summary(read_tree(folder)["summary.md"])
    missing = "".join(raw_text()[part.start : part.end] for part in summary.unread)
    assert "fact f3x\n" in missing and "fact f20x\n" in missing and summary.round == 1
    assert facts(folder) == [fact for fact in WHOLE if f"{fact}\n" not in missing]


def test_an_agent_whose_replies_are_all_defective_stops_the_run(tmp_path: Path) -> None:
    folder = case(tmp_path)
    agent = FunctionAgent(lambda packet: "Summary:\n## Confirmed\n- made up [9.9]")
    with pytest.raises(RepliesDefective):
        fold_all(session(folder, agent))
    assert agent.asked < 30 and "summary.md" not in read_tree(folder)


def test_an_agent_out_of_reach_stops_the_run_and_what_came_in_is_kept(tmp_path: Path) -> None:
    folder = case(tmp_path)

    def read(packet: Packet) -> str:
        if packet.part and packet.part[0] > 0:
            raise AgentUnreachable("no connection", "", "")
        return copy_facts(packet)

    with pytest.raises(AgentUnreachable):
        fold_all(session(folder, FunctionAgent(read)))
    again = Reader()
    fold_all(session(folder, again))
    assert 0 not in {start for start, _ in again.read} and facts(folder) == WHOLE


def test_two_parts_with_two_values_for_one_thing_are_a_contradiction(tmp_path: Path) -> None:
    pages = (f"{firm} had a revenue of {value} bn roubles in 2024.\n\n{FILLER * 60}" for firm, value in FIRMS)
    raw = render_raw(Raw(RawHead("note"), (Source("Firms", "".join(pages), "firms.md", "2025-01-01"),)))
    question = "---\nentities: [Samokat]\nfields: [revenue]\n---\nThe revenue of Samokat?\n"
    folder = write_tree(tmp_path / "case", {"question.md": question, "raw_1.md": raw})

    def read(packet: Packet) -> str:
        found = [value for firm, value in FIRMS if f"of {value} bn" in packet.files["raw_1.md"] and firm == "Samokat"]
        return rewrite([f"Samokat: revenue 2024 — {value} bn roubles [1.1]" for value in found])

    fold_all(session(folder, FunctionAgent(read)))
    summary = parse_summary(read_tree(folder)["summary.md"])
    (entry,) = lines_of(summary, SectionKind.CONTRADICTIONS)
    assert "154" in entry and "171" in entry


FIRMS = [("Samokat", 154), ("Lavka", 67), ("Kuper", 12), ("Samokat", 171)]


# Tree -------------------------------------------------------------------------------------------------


def worklog(rows: int) -> str:
    table = "".join(
        f"| {('Anna', 'Boris', 'Vera')[row % 3]} | 2024-01-{row % 28 + 1:02} | {row % 7}.25 |\n" for row in range(rows)
    )
    return f"| person | date | hours |\n|---|---|---|\n{table}"


def count_hours(packet: Packet) -> str:
    """What a model would do: adds up the rows of its part and no others."""
    assert "Totals" in packet.prompt
    sums: dict[str, float] = {}
    for line in parse_raw(packet.files["raw_1.md"], "raw_1.md").sources[0].text.split("\n"):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 3 and cells[0] in ("Anna", "Boris", "Vera"):
            sums[cells[0]] = sums.get(cells[0], 0) + float(cells[2])
    return "Nothing new: only rows.\nTotals:\n" + "\n".join(
        f"- {name}: hours — {value:g}" for name, value in sums.items()
    )


def test_sums_over_all_parts_are_added_by_code(tmp_path: Path) -> None:
    rows = 3_000
    raw = render_raw(Raw(RawHead("note"), (Source("Worklog", worklog(rows), "log.md", "2025-01-01"),)))
    folder = write_tree(tmp_path / "case", {"question.md": "The sum of hours per person?", "raw_1.md": raw})
    fold_all(session(folder, FunctionAgent(count_hours), strategy="tree"))
    wanted = {
        name: sum(row % 7 + 0.25 for row in range(rows) if row % 3 == at)
        for at, name in enumerate(("Anna", "Boris", "Vera"))
    }
    lines = lines_of(parse_summary(read_tree(folder)["summary.md"]), SectionKind.CONFIRMED)
    assert sorted(lines) == [
        f"{name}: hours — {value:,.2f}".rstrip("0").rstrip(".") + " [1.1] [summed]" for name, value in wanted.items()
    ]


def test_more_notes_than_the_summary_may_have_are_joined_level_by_level(tmp_path: Path) -> None:
    folder, joined = case(tmp_path), list[Packet]()

    def read(packet: Packet) -> str:
        if "notes that were taken" in packet.prompt:
            joined.append(packet)
            stated = [
                line.removeprefix("- ") for line in packet.files["raw_1.md"].split("\n") if line.startswith("- fact")
            ]
            return rewrite([line for line in stated if "f1" in line])
        return copy_facts(packet)

    fold_all(
        session(folder, FunctionAgent(read), strategy="tree", summary_tokens=300, room=Room(window=6_000, output=500))
    )
    assert joined and all(packet.part for packet in joined)
    assert sorted(facts(folder)) == sorted(WHOLE)  # a line that a join drops for no reason is put back
    assert not any(name.startswith(".harness/fold/") for name in read_tree(folder))
