"""Inside Claude Code a raw that does not fit is read in parts, each by a sub-agent call of its own."""

from __future__ import annotations

import re
from pathlib import Path

from harness.formats.raw import parse_raw
from harness.formats.summary import parse_summary
from tests.claude_events import Claude, summary
from tests.program import harness
from tests.test_driven_parts import RAW
from tests.test_inside_roles import case, project
from tests.trees import write_tree

STATED = re.compile(r"^(The revenue of Samokat\d+ was .* in 2024)\.$", re.MULTILINE)


def place_in(packet: str) -> tuple[int, int]:
    told = re.search(r"part (\d+) of (\d+)", packet)
    assert told, packet[:500]
    return int(told[1]), int(told[2])


def opened(tmp_path: Path) -> Claude:
    """A session in a project whose window is small, with a raw that takes several parts."""
    folder = project(tmp_path)
    settings = (folder / "harness.yaml").read_text(encoding="utf-8")
    write_tree(folder, {"harness.yaml": f"{settings}\nwindow: 32000\n", "research/raw_1.md": RAW})
    return Claude(folder)


def reply_to(packet: str, known: list[str]) -> str:
    known += [f"{line} [1.1]" for line in STATED.findall(packet) if f"{line} [1.1]" not in known]
    return summary(*known)


def test_parts_come_in_order_and_a_session_that_broke_off_goes_on_at_the_right_one(tmp_path: Path) -> None:
    claude, known, places = opened(tmp_path), list[str](), list[tuple[int, int]]()
    claude.types("/research")
    for turn in range(20):
        if parse_summary(case(tmp_path).get("summary.md", "")).round:
            break
        packet = claude.calls("synthesizer")
        if turn == 1:  # Esc while the second part is out: another session gets the same part
            claude = Claude(claude.folder)
            claude.types("/research")
            again = claude.calls("synthesizer")
            assert place_in(again) == place_in(packet)
            packet = again
        places.append(place_in(packet))
        assert claude.replies("synthesizer", reply_to(packet, known)) == ""
        assert "research-" in claude.sees("synthesizer")
    assert len(places) > 1 and places == [(number, len(places)) for number in range(1, len(places) + 1)]
    read = parse_summary(case(tmp_path)["summary.md"])
    assert (read.round, read.reading, read.unread) == (1, None, ())
    assert all(
        f"Samokat{at} was {at + 100}.0 bn roubles in 2024 [1.1]" in case(tmp_path)["summary.md"] for at in range(24)
    )


def test_by_hand_a_part_is_told_and_its_reply_leads_to_the_next(tmp_path: Path) -> None:
    write_tree(tmp_path, {"research/question.md": "What was the revenue of Samokat?\n", "research/raw_1.md": RAW})
    folder, known, ends = str(tmp_path / "research"), list[str](), list[int]()
    assert harness("-C", folder, "next", "--window", "16000").code == 0
    while not ends or ends[-1] < len(RAW):
        shown = harness("-C", folder, "next", "--window", "16000").out
        number, of = place_in(shown)
        assert number == len(ends) + 1
        ran = harness("-C", folder, "take", "-", stdin=reply_to(shown, known))
        assert ran.code == 0, ran
        reading = parse_summary((tmp_path / "research/summary.md").read_text(encoding="utf-8")).reading
        ends.append(reading.done if reading else len(RAW))
        status = harness("-C", folder, "status").out
        assert reading is None or f"({reading.done:,} of {len(RAW):,} characters are read)" in status
        assert harness("-C", folder, "check").code in (0, 1)
    assert len(ends) == of > 1 and ends == sorted(set(ends)) and parse_raw(RAW, "raw_1.md").sources
