"""The corpora of the needle and the counting benchmark: the same for a seed, of the asked size, scored rightly."""

from __future__ import annotations

import csv
from decimal import Decimal
from pathlib import Path

import pytest

from benchmarks.needles import (
    HEADERS,
    main,
    needles,
    question,
    score_facts,
    score_sums,
    worklog_question,
    write_facts,
    write_worklog,
)
from harness.formats.question import parse_question
from harness.totals import written
from tests.trees import read_tree


def test_facts_are_spread_over_all_sources_each_once(tmp_path: Path) -> None:
    facts = needles(3, 20)
    assert len({fact.millions for fact in facts}) == len({fact.company for fact in facts}) == 20
    size = write_facts(tmp_path, facts, seed=3, tokens=40_000, sources=5)
    texts = {name: text for name, text in read_tree(tmp_path).items() if name != "question.md"}
    assert len(texts) == 5
    assert sum(len(text.encode()) for text in texts.values()) == size
    assert 40_000 * 1.07 < sum(map(len, texts.values())) < 40_000 * 4.95
    for fact in facts:
        assert sum(text.count(fact.sentence()) for text in texts.values()) == 1
    for text in texts.values():
        assert sum(fact.sentence() in text for fact in facts) == 4
    grid = parse_question(question(facts)).grid
    assert grid.entities == tuple(fact.company for fact in facts)


def test_one_seed_gives_one_corpus(tmp_path: Path) -> None:
    facts = needles(1, 6)
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        write_facts(tmp_path / name, facts, seed=seed, tokens=5_000, sources=2)
    assert needles(1, 6) == facts
    assert needles(2, 6) != facts
    assert read_tree(tmp_path / "a") == read_tree(tmp_path / "b")
    assert read_tree(tmp_path / "a") != read_tree(tmp_path / "c")


def test_a_fact_counts_with_company_year_figure_and_citation_in_one_line() -> None:
    facts = needles(1, 12)
    lines = [f"- {fact.company}: revenue {fact.year} — {fact.millions} mn [1.1]" for fact in facts]
    assert score_facts("## Confirmed\n" + "\n".join(lines), facts) == (12, ())
    other = [
        lines[0].replace(str(facts[0].year), "1999"),
        lines[1].replace(facts[1].millions, f"{facts[1].millions}7"),
        lines[2].replace(facts[2].company, f"{facts[2].company}7"),
        lines[3].replace(" [1.1]", ""),
    ]
    summary = "\n".join(("## Confirmed", *other, *lines[4:11], "## Not found", lines[11]))
    missing = tuple(fact.company for fact in (*facts[:4], facts[11]))
    assert score_facts(summary, facts) == (7, missing)


@pytest.mark.parametrize("language", sorted(HEADERS))
def test_the_sums_are_those_of_the_rows(tmp_path: Path, language: str) -> None:
    sums = write_worklog(tmp_path / "log.csv", seed=5, tokens=20_000, language=language)
    with (tmp_path / "log.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = list(csv.reader(file))
    assert tuple(header) == HEADERS[language]
    exact = dict.fromkeys(sums, Decimal(0))
    for who, _, _, hours in rows:
        exact[who] += Decimal(hours.replace(",", "."))
    assert exact == sums
    lines = [f"- {who}: hours — {written(value, language)} [1.1] [summed]" for who, value in sums.items()]
    assert score_sums("## Confirmed\n" + "\n".join(lines), sums) == (len(sums), ())
    first = next(iter(sums))
    wrong = ["- " + first + ": hours — 0.5 [1.1]", *lines[1:]]
    assert score_sums("## Confirmed\n" + "\n".join(wrong), sums) == (len(sums) - 1, (first,))
    assert score_sums("## Confirmed\n" + "\n".join((*lines, wrong[0])), sums).missing == (first,)
    assert parse_question(worklog_question(language)).grid.entities == tuple(sums)


@pytest.mark.parametrize("corpus", ["facts", "worklog"])
def test_a_corpus_is_written_with_its_question_and_truth(tmp_path: Path, corpus: str) -> None:
    assert main([corpus, str(tmp_path), "--tokens", "3000"]) == 0
    assert {"question.md", "truth.json"} < set(read_tree(tmp_path))
