"""Cutting tables and records: rows whole and once, header rows above every part, elements and lines of JSON."""

from __future__ import annotations

import csv
import io
import json

import pytest

from harness.cutting import cut


def characters(text: str) -> int:
    return len(text)


def shown(text: str, budget: int) -> list[tuple[str, str]]:
    return [(part.lead, text[part.start : part.end]) for part in cut([text], budget, characters)]


ROWS = [f"| row {k} | {k} | `a\\|b` \\| c |\n" for k in range(100)]
ONE = "| name | value | code |\n|---|--:|:-:|\n"
TWO = "| Region | 2024 | 2024 |\n|  | Q1 | Q2 |\n|---|---|---|\n"


@pytest.mark.parametrize("header", [ONE, TWO])
def test_a_table_over_the_budget_is_cut_between_rows_under_its_header_rows(header: str) -> None:
    """A splitter that only cuts at blank lines lets a table of 2,500 units through a limit of 100."""
    text = "Intro.\n\n" + header + "".join(ROWS) + "\nBehind.\n"
    found = shown(text, 200)
    assert all(len(lead) + len(own) <= 200 for lead, own in found)
    for row in ROWS:
        assert sum(row in own for _, own in found) == 1
    assert all(lead == header for lead, own in found if own.startswith("| row") and own not in text[:300])


def test_a_header_is_never_the_end_of_a_part() -> None:
    for before in range(20, 200, 7):
        found = shown("x" * before + "\n\n" + TWO + "".join(ROWS), 200)
        assert not any(own.endswith(TWO) for _, own in found)


def test_a_header_over_half_the_budget_gives_way_to_the_rows() -> None:
    header = "| " + "wide " * 30 + "| b |\n|---|---|\n"
    rows = [f"| row {k} | {'y' * 150} |\n" for k in range(10)]
    found = shown(header + "".join(rows), 200)
    for row in rows:
        assert sum(row in own for _, own in found) == 1


def test_a_table_without_pipes_at_its_edges() -> None:
    header = "name | value\n---- | -----\n"
    rows = [f"row {k} | {k}\n" for k in range(60)]
    found = shown(header + "".join(rows) + "\nBehind.\n", 120)
    assert all(sum(("\n" + own).count("\n" + row) for _, own in found) == 1 for row in rows)
    assert [lead for lead, _ in found[1:-1]] == [header] * (len(found) - 2)


def test_there_is_no_overlap_between_rows_or_behind_a_table() -> None:
    found = shown(ONE + "".join(ROWS) + "\n" + "Words of a sentence. " * 40, 200)
    assert not any("…" in lead for lead, own in found if own.startswith("|"))
    behind = next(lead for lead, own in found if own.lstrip().startswith("Words"))
    assert "row" not in behind


def test_quoted_line_ends_and_separators_tear_no_row_of_a_csv() -> None:
    rows = [["id", "text", "hours"], *([str(k), f'He said "{k}",\n\nthen\nleft', str(k * 2)] for k in range(60))]
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows(rows)
    found = shown(file.getvalue(), 200)
    assert [lead for lead, _ in found[1:]] == ["id,text,hours\n"] * (len(found) - 1)
    read = [row for _, own in found for row in csv.reader(io.StringIO(own))]
    assert read == rows


@pytest.mark.parametrize("separator", ["\t", ";"])
def test_rows_with_other_separators(separator: str) -> None:
    header = separator.join(["имя", "часы"]) + "\n"
    rows = [separator.join([f"Иван {k}", f"{k},5"]) + "\n" for k in range(100)]
    found = shown("## 1. Worklogs\n- date: 2025-01-01\n\n" + header + "".join(rows), 200)
    assert all(sum(("\n" + own).count("\n" + row) for _, own in found) == 1 for row in rows)
    assert all(lead.endswith(header) for lead, _ in found[1:])


def test_prose_with_commas_is_no_csv() -> None:
    text = "First, the market, grew.\nSecond, the prices, fell.\nThird, the rest, stayed.\n" * 10
    assert all(lead.startswith("… ") for lead, _ in shown(text, 200)[1:])


@pytest.mark.parametrize("head", ["<thead><tr><th>a</th><th>b</th></tr></thead>", "<tr><th>a</th><th>b</th></tr>"])
def test_the_rows_of_an_html_table(head: str) -> None:
    inner = "<table><tr><td>in</td></tr></table>"
    rows = [f"<tr><td>r{k}</td><td>{inner if k % 3 else k}</td></tr>\n" for k in range(40)]
    text = f"<p>Before.</p>\n<table class='x'>\n{head}\n{''.join(rows)}</table>\n<p>Behind.</p>\n"
    found = shown(text, 300)
    for row in rows:
        assert sum(row in own for _, own in found) == 1
    heads = [lead for lead, own in found if own.startswith("<tr><td>r")]
    assert heads and all(lead.startswith("<table class='x'>") and "<th>b</th></tr>" in lead for lead in heads)


RECORDS = [{"id": k, "name": f"Имя, {k}", "tags": {"a": "b]"}, "note": 'say "}{"'} for k in range(60)]


@pytest.mark.parametrize("indent", [None, 2])
def test_a_json_array_is_cut_between_its_elements(indent: int | None) -> None:
    text = json.dumps(RECORDS, ensure_ascii=False, indent=indent)
    found = shown(text, 400)
    assert len(found) > 5
    read = [record for _, own in found for record in json.loads("[" + own.strip().strip("[],") + "]")]
    assert read == RECORDS
    assert all(lead.startswith("[") and own.lstrip().startswith("{") for lead, own in found[1:])


def test_the_one_long_array_inside_is_cut_under_its_path() -> None:
    text = json.dumps({"status": "ok", "data": {"items": RECORDS}, "total": 60}, ensure_ascii=False)
    found = shown(text, 400)
    assert all(lead == '{"data": {"items": [ …\n' for lead, _ in found[1:])
    for record in RECORDS:
        assert sum(json.dumps(record, ensure_ascii=False) in own for _, own in found) == 1


def test_json_lines_are_whole() -> None:
    lines = [json.dumps(record, ensure_ascii=False) + "\n" for record in RECORDS]
    found = shown("".join(lines), 400)
    assert [line for _, own in found for line in own.splitlines(keepends=True)] == lines
    assert {lead for lead, _ in found} == {""}


def test_a_broken_line_costs_no_other_line_of_json_its_wholeness() -> None:
    lines = [json.dumps(record) + "\n" for record in RECORDS]
    lines[7] = '{"id": 7, "name": "torn\n'
    found = shown("".join(lines), 400)
    for line in lines[:7] + lines[8:]:
        assert sum(line in own for _, own in found) == 1
