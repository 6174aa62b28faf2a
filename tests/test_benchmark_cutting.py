"""What the comparison of cutters says of parts whose faults are known."""

from __future__ import annotations

from benchmarks.cutting_run import judge, ours, overlap
from benchmarks.cutting_text import HEADER, sources


def words(text: str) -> int:
    return len(text.split())


ROWS = [f"| {k} | Ann | 2025-01-01 | 1.5 | note |\n" for k in range(4)]
TEXT = HEADER + "".join(ROWS)


def test_a_torn_row_and_one_shown_twice_are_found() -> None:
    torn = [HEADER + ROWS[0] + ROWS[1][:10], ROWS[1][10:] + ROWS[2], ROWS[2] + ROWS[3]]
    found = judge(TEXT, torn, 100, words)
    assert (found["rows"], found["torn"], found["over"]) == (4, 2, 0)


def test_parts_over_the_limit_are_a_share() -> None:
    found = judge(TEXT, [TEXT, "a"], 10, words)
    assert found["over"] == 0.5 and found["largest"] == words(TEXT) / 10


def test_an_overlap_is_what_is_really_shown_twice() -> None:
    assert overlap("one two three", "two three four") == "two three"
    assert overlap("one two", "three four") == ""
    assert overlap("one two", "## 1. Title\n\n… one two\nthree") == "one two"


def test_our_parts_of_such_a_text_have_no_fault() -> None:
    guides = [[f"Paragraph {k} of a guide. " * 10 for k in range(50)]]
    made = sources(guides, seed=1)
    text = "".join(next(made) for _ in range(6))
    found = judge(text, ours(text, 300, words), 300, words)
    assert found["rows"] > 5 and found["torn"] == 0 and found["over"] == 0 and found["overlap"] > 10
