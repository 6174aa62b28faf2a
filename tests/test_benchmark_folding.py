"""The folding benchmark in small: every fact and sum is found by the real path, and what was spoilt is told apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.folding import unread_facts
from benchmarks.folding_run import run
from benchmarks.needles import (
    needles,
    question,
    score_facts,
    score_sums,
    worklog_question,
    write_facts,
    write_worklog,
)

WINDOW = 26_000  # tokens: parts of some 11,000


@pytest.mark.parametrize("strategy", ["refine", "map_reduce"])
def test_two_spoilt_parts_stay_unread_and_are_read_again(tmp_path: Path, strategy: str) -> None:
    facts = needles(2, 24)
    write_facts(tmp_path, facts, seed=2, tokens=50_000, sources=12)
    asked = tmp_path / "question.md"
    asked.write_text(question(facts), encoding="utf-8", newline="\n")
    case, spoilt = tmp_path / "case", frozenset({2, 4})
    found = run(case, tmp_path / "documents", asked, strategy=strategy, window=WINDOW, spoilt=spoilt)
    inside = unread_facts((case / "raw_1.md").read_text(encoding="utf-8"), facts, found["unread"])
    assert len(found["unread"]) == 2
    assert found["parts"] > 4
    assert inside == set(score_facts(found["before"], facts).missing) != set()
    assert score_facts(found["summary"], facts).missing == ()


def test_a_tree_adds_the_hours_of_all_parts(tmp_path: Path) -> None:
    sums = write_worklog(tmp_path / "documents" / "worklog.csv", seed=2, tokens=30_000)
    asked = tmp_path / "question.md"
    asked.write_text(worklog_question(), encoding="utf-8", newline="\n")
    told = {}
    for strategy in ("tree", "refine"):
        case = tmp_path / strategy
        found = run(case, tmp_path / "documents", asked, strategy=strategy, window=WINDOW, spoilt=frozenset())
        assert found["parts"] > 1
        told[strategy] = score_sums(found["summary"], sums).found
    assert told == {"tree": len(sums), "refine": 0}
