"""What goes wrong while a raw is read in parts: edits, strategies changed in the middle, replies that drop lines."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pytest

from harness.errors import AgentFailed, BrokenFile, RepliesDefective, StateMoved
from harness.formats.raw import render_raw
from harness.formats.summary import lines_of, parse_summary
from harness.handover import hand_out, take_in
from harness.loop import step as one_step
from harness.model import Packet, Raw, RawHead, SectionKind, Source
from harness.parts import Budget, parts_of
from harness.rereading import reread
from harness.store.rawtext import WholeText
from tests.fakes import FunctionAgent, copy_facts, rewrite
from tests.test_folding import FACTS, FILLER, QUESTION, Reader, case, facts, fold_all, raw_text
from tests.test_folding import session as by_refine
from tests.test_mapping import ROOM, WHOLE, count_hours, session, worklog
from tests.trees import read_tree, write_tree


def hours(folder: Path) -> list[str]:
    return list(lines_of(parse_summary(read_tree(folder)["summary.md"]), SectionKind.CONFIRMED))


def log_case(tmp_path: Path, rows: int, **more: str) -> Path:
    raw = render_raw(Raw(RawHead("note"), (Source("Worklog", worklog(rows), "log.md", "2025-01-01"),)))
    return write_tree(tmp_path / "case", {"question.md": "The sum of hours per person?", "raw_1.md": raw, **more})


def sums(rows: int) -> list[str]:
    totals = [sum((Decimal(row % 7) + Decimal("0.25") for row in range(at, rows, 3)), Decimal(0)) for at in range(3)]
    named = zip(("Anna", "Boris", "Vera"), totals, strict=True)
    return [f"{name}: hours — {total.normalize():,f} [1.1] [summed]" for name, total in named]


# Sums ---------------------------------------------------------------------------------------------------


def test_an_edited_raw_is_counted_anew(tmp_path: Path) -> None:
    folder = log_case(tmp_path, 3_000)
    one_step(session(folder, FunctionAgent(count_hours), strategy="tree"))
    log_case(tmp_path, 3_600)
    fold_all(session(folder, FunctionAgent(count_hours), strategy="tree"))
    assert sorted(hours(folder)) == sums(3_600)


def test_a_raw_that_refine_has_begun_is_ended_by_it(tmp_path: Path) -> None:
    """A sum over the rest alone would pass for the sum over all of it."""
    folder = case(tmp_path)
    one_step(by_refine(folder))
    fold_all(session(folder, strategy="tree"))
    assert facts(folder) == WHOLE and "[summed]" not in read_tree(folder)["summary.md"]


def test_another_strategy_in_the_middle_leaves_nothing_behind(tmp_path: Path) -> None:
    folder = log_case(tmp_path, 3_000)
    one_step(session(folder, FunctionAgent(lambda packet: "Nothing new: only rows."), strategy="map_reduce"))
    fold_all(session(folder, FunctionAgent(count_hours), strategy="tree"))
    assert sorted(hours(folder)) == sums(3_000)
    assert not any(name.startswith(".harness/fold/") for name in read_tree(folder))


def test_a_sum_without_an_unread_part_says_so_and_reread_completes_it(tmp_path: Path) -> None:
    folder, rows = log_case(tmp_path, 3_000), 3_000

    def misreads(packet: Packet) -> str:
        return "nonsense" if packet.part and packet.part[0] == 0 else count_hours(packet)

    fold_all(session(folder, FunctionAgent(misreads), strategy="tree"))
    lacking = hours(folder)
    assert len(lacking) == 3 and all("(without what is unread)" in line for line in lacking)
    list(reread(session(folder, FunctionAgent(count_hours), strategy="tree")))
    assert sorted(hours(folder)) == sums(rows)


# Replies -------------------------------------------------------------------------------------------------


def test_all_facts_that_a_reply_drops_are_put_back_not_only_those_it_was_told_of(tmp_path: Path) -> None:
    lines = "".join(f"- {fact} [1.1]\n" for fact in FACTS)
    raw = render_raw(Raw(RawHead("note"), (Source("Short", "fact new\n", "https://example.org/9"),)))
    summary = f"---\nround: 1\n---\n## Confirmed\n{lines}"
    folder = write_tree(tmp_path / "case", {"question.md": QUESTION, "summary.md": summary, "raw_2.md": raw})

    def forgets(packet: Packet) -> str:
        return rewrite([f"{fact} [1.1]" for fact in FACTS[:12]] + ["fact new [2.1]"])

    one_step(by_refine(folder, FunctionAgent(forgets)))
    assert sorted(facts(folder)) == sorted([*FACTS, "fact new"])


def test_a_repeated_line_is_kept_once_however_many_repeat(tmp_path: Path) -> None:
    def loops(packet: Packet) -> str:
        kept = lines_of(parse_summary(packet.files["summary.md"]), SectionKind.CONFIRMED)
        return rewrite([*kept, *(f"{fact} [1.2]" for fact in FACTS if f"{fact}\n" in packet.files["raw_1.md"])] * 3)

    folder = case(tmp_path)
    fold_all(by_refine(folder, FunctionAgent(loops)))
    assert sorted(facts(folder)) == sorted(FACTS)


def test_parts_that_fail_far_apart_do_not_end_it(tmp_path: Path) -> None:
    calls = 0

    def fails_twice(packet: Packet) -> str:
        nonlocal calls
        calls += 1
        if calls in (2, 4):
            raise AgentFailed("it ended with 3", "", "")
        return copy_facts(packet)

    folder = case(tmp_path)
    fold_all(session(folder, FunctionAgent(fails_twice), ROOM._replace(parallel=1)))
    assert facts(folder) == WHOLE


def test_a_last_part_that_nobody_can_read_is_an_error_and_no_crash(tmp_path: Path) -> None:
    folder = case(tmp_path)
    opened = session(folder, Reader(function=lambda packet: "nonsense"), ROOM._replace(parallel=50))
    with pytest.raises(RepliesDefective, match=r"no part could be read|the synthesizer failed"):
        fold_all(opened)


def test_a_record_under_another_name_is_no_reply_and_no_endless_loop(tmp_path: Path) -> None:
    folder = case(tmp_path)
    one_step(session(folder))
    kept = sorted((folder / ".harness/fold/1").iterdir())[0]
    record = {**json.loads(kept.read_text(encoding="utf-8")), "reply": "garbage", "end": len(raw_text())}
    (kept.parent / "x0.json").write_text(json.dumps(record), encoding="utf-8")
    assert len(fold_all(session(folder))) < 20 and facts(folder) == WHOLE


# By hand ---------------------------------------------------------------------------------------------------


def test_a_reply_counts_for_the_part_that_was_handed_out_and_once(tmp_path: Path) -> None:
    folder = case(tmp_path)
    packet = hand_out(by_refine(folder))
    reply = copy_facts(packet)
    assert take_in(by_refine(folder), reply).action == "part"
    with pytest.raises(StateMoved, match="no prompt was handed out"):
        take_in(by_refine(folder), reply)
    assert packet.part and parse_summary(read_tree(folder)["summary.md"]).reading == (
        1,
        packet.part[1],
        len(raw_text()),
    )


def test_a_raw_that_is_gone_in_the_middle_is_missed(tmp_path: Path) -> None:
    folder = case(tmp_path)
    one_step(by_refine(folder))
    (folder / "raw_1.md").unlink()
    with pytest.raises(BrokenFile, match="being read is missing") as missed:
        one_step(by_refine(folder))
    assert "reading:" in missed.value.hint


# Cutting ----------------------------------------------------------------------------------------------------


def test_after_another_budget_the_raw_is_cut_once_and_not_in_every_pass() -> None:
    counted = 0

    def count(text: str) -> int:
        nonlocal counted
        counted += len(text)
        return len(text) // 4 + 1

    text, budget = WholeText(raw_text() + FILLER * 3_000), Budget(2_500, 0, count)
    start = parts_of(text, budget, (0, None))[0].end - 777
    parts_of(text, budget, (start, None))
    counted = 0
    for part in parts_of(text, budget, (start, None)):
        assert parts_of(text, budget, (part.start, None))[0] == part
    assert counted == 0
