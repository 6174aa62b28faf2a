"""Cutting by kind of text: sources, sections, paragraphs, code, tool calls, with what stands above a part."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import pytest

from harness.cutting import SMALLEST, Cut, cut
from harness.formats.raw import parse_raw
from harness.formats.raw import render_raw as render
from harness.model import Raw, RawHead, Source


def words(text: str) -> int:
    return len(text.split())


class Shown(NamedTuple):
    lead: str
    own: str
    source: int


def shown(text: str, budget: int, *, overlap: int = 20, lines: int = 0, opening: str = "") -> list[Shown]:
    found = cut([text], budget, words, overlap=overlap, lines=lines, opening=opening)
    return [Shown(part.lead, text[part.start : part.end], part.source) for part in found]


def numbered(prefix: str, count: int, width: int = 1) -> str:
    return " ".join(f"{prefix}{number}" + " word" * (width - 1) for number in range(count))


def source(number: int, body: str) -> str:
    return f"## {number}. Title {number}\n- url: https://e.org/{number}\n- date: 2025-01-0{number}\n\n{body}\n\n"


def test_whole_sources_are_packed_together() -> None:
    text = "".join(source(number, numbered("w", 30)) for number in (1, 2, 3, 4))
    assert [(part.lead, part.own.count("## "), part.source) for part in shown(text, 90)] == [("", 2, 1), ("", 2, 3)]


def test_only_the_source_that_is_too_long_is_cut_and_all_its_parts_say_which_it_is() -> None:
    text = source(1, numbered("a", 20)) + source(2, "\n\n".join([numbered("b", 30)] * 6)) + source(3, numbered("c", 20))
    found = shown(text, 100)
    assert [part.source for part in found] == [1, 2, 2, 2]
    assert found[2].lead.startswith("## 2. Title 2\n- url: https://e.org/2\n- date: 2025-01-02\n\n… ")
    assert found[3].own.endswith(source(3, numbered("c", 20)))


def test_sources_are_those_that_a_raw_has() -> None:
    forged = "text\n## 2. Not a source\nwithout an address\n\n## 7. Out of turn\n- url: https://e.org\n"
    raw = render(
        Raw(
            RawHead("search"),
            (
                Source("One", forged + numbered("a", 90), url="https://e.org/1"),
                Source("Two", numbered("b", 90), url="https://e.org/2"),
            ),
        )
    )
    assert len(parse_raw(raw, "raw_1.md").sources) == 2
    assert {part.source for part in shown(raw, SMALLEST)} == {0, 1, 2}  # the front matter is no source


def test_a_text_without_openings_shows_the_one_it_is_given() -> None:
    block = "## 1. Pasted page\n- url: https://e.org\n\n"
    found = shown(numbered("w", 200), 80, opening=block)
    assert len(found) > 2 and all(part.lead.startswith(block) and part.source == 0 for part in found)


def test_a_monstrous_title_is_shortened() -> None:
    text = f"## 1. {'long ' * 500}\n- url: https://e.org\n\n" + "\n\n".join([numbered("w", 40)] * 5)
    last = shown(text, 100)[-1]
    assert last.lead.startswith("## 1. long long") and words(last.lead) <= 50


def test_a_section_begins_a_part_and_its_path_stands_above_the_others() -> None:
    sections = [f"### Section {k}\n\n" + "\n\n".join(numbered(f"s{k}w", 20) for _ in range(4)) + "\n\n" for k in (1, 2)]
    found = shown(source(1, "".join(sections)), 110)
    assert found[1].own.startswith("### Section 2\n")
    assert "### Section" not in found[1].lead
    deeper = source(1, "### Top\n\n#### Deep\n\n" + "\n\n".join([numbered("w", 30)] * 6))
    assert "\n### Top\n#### Deep\n\n… " in shown(deeper, 100)[1].lead


def test_a_heading_is_not_parted_from_its_text() -> None:
    text = numbered("a", 70) + ".\n\n### Next\n\n" + numbered("b", 70)
    assert [part.own.startswith("### Next") for part in shown(text, 80)][:2] == [False, True]


def test_a_heading_too_early_is_no_place_to_cut() -> None:
    text = "### One\n\nshort\n\n### Two\n\n" + "\n\n".join([numbered("w", 20)] * 10)
    first = shown(text, 100)[0]
    assert words(first.own) >= 50


@pytest.mark.parametrize("overlap", [5, 20])
def test_the_overlap_is_really_there_between_ordinary_paragraphs(overlap: int) -> None:
    """LangChain's splitters drop it where a paragraph is longer than the overlap, which is nearly always."""
    text = "\n\n".join(numbered(f"p{k}w", 40) + "." for k in range(8))
    found = shown(text, 100, overlap=overlap)
    assert len(found) > 3
    for before, part in pairwise(found):
        assert part.lead.startswith("… ") and part.lead.endswith("\n")
        repeated = part.lead[2:].split()
        assert overlap * 0.7 <= len(repeated) <= overlap
        assert before.own.split()[-len(repeated) :] == repeated


def test_a_source_begins_without_an_overlap() -> None:
    text = source(1, "\n\n".join([numbered("a", 40)] * 4)) + source(2, numbered("b", 60))
    assert [part.lead for part in shown(text, 80) if part.own.startswith("## 2.")] == [""]


def test_a_code_fence_stays_whole() -> None:
    code = "```python\n" + "".join(f"x = {k}\n\n" for k in range(15)) + "# Remark\n```\n"
    text = numbered("a", 50) + "\n\n" + code + "\n" + numbered("b", 50)
    assert sum(code in part.own for part in shown(text, 80)) == 1


def test_a_fence_that_is_too_long_is_cut_between_lines_and_opened_again() -> None:
    lines = [f"    call({k}, 'a. B')\n" for k in range(100)]
    found = shown("Before.\n\n~~~~ js\n" + "".join(lines) + "~~~~\n\nBehind.\n", 80)
    assert all(part.lead == "~~~~ js\n" for part in found[1:])
    assert [part.own.startswith("    call(") for part in found[1:]] == [True] * (len(found) - 1)


CALL = '<tool_call>\n{"name": "search", "arguments": {"query": "a b c"}}\n</tool_call>\n'


@pytest.mark.parametrize("result", ["tool_result", "tool_response", "function_response"])
def test_a_tool_call_stays_with_its_result(result: str) -> None:
    pair = f"{CALL}\n<{result}>\n{numbered('found', 20)}\n\n{numbered('more', 20)}\n</{result}>\n"
    text = numbered("a", 45) + "\n\n" + pair + "\n" + numbered("b", 60)
    assert sum(pair in part.own for part in shown(text, 80)) == 1


def test_two_calls_at_once_stay_with_both_results() -> None:
    pair = CALL * 2 + "<tool_result>one</tool_result>\n<tool_result>two\n\nthree</tool_result>\n"
    text = numbered("a", 55) + "\n\n" + pair + "\n" + numbered("b", 60)
    assert sum(pair in part.own for part in shown(text, 80)) == 1


def test_an_action_stays_with_its_observation() -> None:
    pair = f"Action: search[a]\nObservation: {numbered('found', 20)}\n\n{numbered('more', 10)}\n"
    text = "Thought: " + numbered("a", 55) + "\n\n" + pair + "Thought: " + numbered("b", 60)
    assert sum(pair in part.own for part in shown(text, 80)) == 1


def test_no_more_lines_than_a_file_reader_reads() -> None:
    found = shown("".join(f"{k}\n" for k in range(100)), 1000, lines=30)
    assert all((part.lead + part.own).count("\n") <= 30 for part in found) and len(found) == 4


def test_a_budget_below_the_smallest_is_refused() -> None:
    with pytest.raises(ValueError, match="64 tokens"):
        cut(["text"], SMALLEST - 1, words)


def test_an_empty_text_has_no_parts() -> None:
    assert list(cut([], 100, words)) == []
    assert list(cut(["", ""], 100, words)) == []


def test_a_cut_asked_for_is_made() -> None:
    assert list(cut(["some words"], 100, words, at=(5,), overlap=0)) == [Cut(0, 5, "", 0), Cut(5, 10, "", 0)]


def test_a_text_without_end_is_not_read_ahead_of_its_parts() -> None:
    """A gigabyte is never held: of an endless text the first parts come at once."""
    taken = 0

    def endless() -> Iterator[str]:
        nonlocal taken
        while True:
            taken += 1
            yield "Words of an endless text. " * 40 + "\n\n"

    parts = cut(endless(), 100, words)
    for _ in range(50):
        next(parts)
    assert taken < 1500
