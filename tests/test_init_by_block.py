"""An agent that has only the block and files: what it writes by those rules, the harness reads and goes on from."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from harness.assets import template
from harness.formats.queries import parse_next_query
from harness.formats.raw import parse_raw
from harness.formats.summary import parse_summary, search_lines, source_lines
from tests.program import DOCUMENTS, harness
from tests.trees import write_tree

BLOCK = template("init/block.md")
CASE = Path("research")

QUERY_1 = "# round: 1\n# Nothing is known yet.\nSamokat revenue 2024\n"
RAW_1 = """---
kind: search
queries:
- {query: "Samokat revenue 2024", provider: web, outcome: found}
---
## 1. Samokat in 2024
- url: https://example.org/samokat
- date: 2025-02-11

Samokat had a revenue of 154.0 bn roubles in 2024. The staff of Samokat was 2,400 people in 2024.
## 2. Quick commerce in figures
- url: https://example.org/quick
- date: 2025-03-01

According to the ranking, Samokat had a revenue of 150.0 bn roubles in 2024.
"""
SUMMARY_1 = """---
round: 1
---
## Confirmed
- Samokat: staff 2024 — 2,400 people [1.1]
## Contradictions
- Samokat: revenue 2024 — 154.0 bn roubles [1.1] ↔ 150.0 bn roubles [1.2]
## Not found
- VkusVill: revenue 2024
## Searches
- 1 · Samokat revenue 2024 — found, 2 sources
## Sources
- [1.1] 2025-02-11 · Samokat in 2024 — https://example.org/samokat
- [1.2] 2025-03-01 · Quick commerce in figures — https://example.org/quick
"""
QUERY_2 = "# round: 2\n# VkusVill is open.\nVkusVill annual figures 2024 turnover\n"
RAW_2 = """---
kind: search
queries:
- {query: "VkusVill annual figures 2024 turnover", provider: web, outcome: empty}
---
"""
SUMMARY_2 = SUMMARY_1.replace("round: 1", "round: 2").replace(
    "## Sources", "- 2 · VkusVill annual figures 2024 turnover — nothing found\n## Sources"
)
ANSWER = "Samokat had 154.0 bn roubles [1.1] or 150.0 bn [1.2] in 2024. For VkusVill nothing was found.\n"
# What one turn after another writes, and whose turn the harness then sees.
TURNS = (
    ("question.md", "Which revenue had Samokat and VkusVill in 2024?\n", "the Planner"),
    ("next_query.txt", QUERY_1, "a search for raw_1.md: Samokat revenue 2024"),
    ("raw_1.md", RAW_1, "the Synthesizer folds raw_1.md"),
    ("summary.md", SUMMARY_1, "the Planner"),
    ("next_query.txt", QUERY_2, "a search for raw_2.md: VkusVill annual figures 2024 turnover"),
    ("raw_2.md", RAW_2, "the Synthesizer folds raw_2.md"),
    ("summary.md", SUMMARY_2, "the Planner"),
    ("answer.md", ANSWER, "nothing: answer.md stands"),
)


def written(turns: int) -> None:
    shutil.rmtree(CASE, ignore_errors=True)
    for name, text, _ in TURNS[:turns]:
        write_tree(CASE, {name: text})


@pytest.mark.parametrize("turns", range(1, len(TURNS) + 1))
def test_the_harness_sees_whose_turn_it_is_and_nothing_wrong(turns: int) -> None:
    written(turns)
    status = harness("status", "--json")
    told = json.loads(status.out)
    assert (status.code, status.err, told["problems"]) == (0, "", [])
    assert harness("status").out.rpartition("  due: ")[2].startswith(TURNS[turns - 1][2])
    checked = harness("check", "--json")
    assert json.loads(checked.out) == [] and checked.code == 0, checked.out


@pytest.mark.parametrize("turns", range(1, len(TURNS)))
def test_the_loop_goes_on_from_every_turn(turns: int) -> None:
    written(turns)
    write_tree(Path(), DOCUMENTS)
    before = {path.name: path.read_bytes() for path in CASE.glob("raw_*.md")}
    ran = harness("run", "--in", "docs")
    assert ran.code in (0, 4), ran.err
    assert (CASE / "answer.md").is_file()
    assert {name: (CASE / name).read_bytes() for name in before} == before, "a raw is not touched"
    if turns >= 4:
        facts = (CASE / "summary.md").read_text(encoding="utf-8")
        assert "2,400 people [1.1]" in facts and "154.0 bn roubles [1.1] ↔ 150.0 bn roubles [1.2]" in facts


def test_the_searches_and_sources_of_the_rules_are_read_as_such() -> None:
    summary = parse_summary(SUMMARY_2, "summary.md")
    assert [(one.round, one.query, one.outcome) for one in search_lines(summary)] == [
        (1, "Samokat revenue 2024", "found"),
        (2, "VkusVill annual figures 2024 turnover", "empty"),
    ]
    assert [one.id for one in source_lines(summary)] == ["1.1", "1.2"] and summary.round == 2


def test_the_example_in_the_block_is_a_raw() -> None:
    example = "".join(f"{line[4:]}\n" for line in BLOCK.split("\n") if line.startswith("    ") or not line)
    raw = parse_raw(example[example.index("---") :].rstrip() + "\n", "raw_1.md")
    assert raw.problems == () and [(one.query, one.outcome) for one in raw.head.queries] == [("the query", "found")]
    assert [(one.title, one.url, one.date) for one in raw.sources] == [
        ("Title of the page", "https://example.org/page", "2025-03-01")
    ]


def test_the_forms_in_the_block_are_those_that_are_followed_here() -> None:
    """Each line form that the block shows in backticks is one that the texts above have."""
    texts = "".join(text for _, text, _ in TURNS)
    for form, as_written in (
        ("# round: N", r"^# round: 2$"),
        ("- N · the query — found, 2 sources", r"^- 1 · .* — found, 2 sources$"),
        ("— nothing found", r" — nothing found$"),
        ("- [N.k] 2025-03-01 · title — address", r"^- \[1\.2\] 2025-03-01 · .* — https"),
        ("outcome: empty", r"outcome: empty"),
    ):
        assert f"`{form}`" in BLOCK and re.search(as_written, texts, re.MULTILINE), form
    assert parse_next_query(QUERY_1, "next_query.txt").problems == ()
