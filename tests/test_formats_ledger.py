"""The lines of Searches and Sources: exactly as designed, in three languages, and read back from each."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.formats.labels import LANGUAGES, counted, searched_mark, without_searched_mark
from harness.formats.ledger import (
    read_search_line,
    read_source_line,
    render_search_line,
    render_source_line,
    search_record,
)
from harness.formats.summary import lines_of, parse_summary, render_summary, replace_section, search_lines, source_lines
from harness.formats.text import clean
from harness.model import Attempt, SearchLine, SectionKind, SourceLine, Summary

FOUND = search_record(1, "Samokat revenue 2024", "found", sources=5, new_facts=3, gaps=6)
EMPTY = search_record(2, "VkusVill market share 2024", "empty", new_facts=0, gaps=21)
PARTLY = search_record(
    3, "Lavka revenue", "found", sources=2, blocked=[Attempt("brave", "HTTP 429")], new_facts=1, gaps=6
)


@pytest.mark.parametrize(
    ("line", "language", "text"),
    [
        (FOUND, "en", "1 · Samokat revenue 2024 — found, 5 sources, +3 facts, 6 gaps"),
        (FOUND, "ru", "1 · Samokat revenue 2024 — найдено, 5 источников, +3 факта, 6 пробелов"),
        (FOUND, "zh", "1 · Samokat revenue 2024 — 已找到, 5 个来源, +3 条事实, 6 个缺口"),
        (EMPTY, "en", "2 · VkusVill market share 2024 — nothing found, +0 facts, 21 gaps"),
        (EMPTY, "ru", "2 · VkusVill market share 2024 — ничего не найдено, +0 фактов, 21 пробел"),
        (PARTLY, "en", "3 · Lavka revenue — found, 2 sources (brave blocked: HTTP 429), +1 fact, 6 gaps"),
        (PARTLY, "ru", "3 · Lavka revenue — найдено, 2 источника (brave недоступен: HTTP 429), +1 факт, 6 пробелов"),
        (search_record(4, "a", "skipped"), "en", "4 · a — skipped"),
        (SearchLine(5, "a", "timeout", "", 0, 1), "en", "5 · a — timeout, +0 facts, 1 gap"),
    ],
)
def test_a_search_is_written_as_designed(line: SearchLine, language: str, text: str) -> None:
    assert render_search_line(line, language) == text
    assert read_search_line(f"- {text}") == read_search_line(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- 1 · a — b · c — found", SearchLine(1, "a — b · c", "found")),
        ("- 1 · a — found, 3 — nothing found", SearchLine(1, "a — found, 3", "empty")),
        (
            "- 4 · Chad latest — найдено, 2 источника, +3 факта, 7 пробелов",
            SearchLine(4, "Chad latest", "found", "2 sources, +3 facts, 7 gaps", 3, 7),
        ),
        (
            "- 6 · x — 已找到，5 个来源，+3 条事实，6 个缺口",
            SearchLine(6, "x", "found", "5 sources, +3 facts, 6 gaps", 3, 6),
        ),
        ("* 12. some query - Found", SearchLine(12, "some query", "found")),
        ("3) self-made - line", SearchLine(3, "self-made - line", "")),
        (
            "- 7 · q — found (a blocked: x, y; b blocked: z), 2 gaps",
            SearchLine(7, "q", "found", "(a blocked: x, y; b blocked: z), 2 gaps", None, 2),
        ),
        ("- 8 · q — captcha, 2 gaps", SearchLine(8, "q", "captcha", "2 gaps", None, 2)),
        ("- no round — found", None),
        ("", None),
    ],
)
def test_a_search_is_read_as_people_write_it(text: str, expected: SearchLine | None) -> None:
    assert read_search_line(text) == expected


@pytest.mark.parametrize(
    ("number", "form"),
    [
        *((n, "источник") for n in (1, 21, 101, 1001)),
        *((n, "источника") for n in (2, 3, 4, 22, 104)),
        *((n, "источников") for n in (0, 5, 10, 11, 12, 14, 19, 111, 112)),
    ],
)
def test_russian_counts(number: int, form: str) -> None:
    assert counted(number, "sources", "ru") == f"{number} {form}"


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (SourceLine("1.2", "2025-02-11", "Infoline ranking", "https://e.org/1"), "[1.2] 2025-02-11 · Infoline ranking — https://e.org/1"),
        (SourceLine("1.2", "", "A — B", "https://e.org/1"), "[1.2] A — B — https://e.org/1"),
        (SourceLine("1.2", "2025", "A — B", ""), "[1.2] 2025 · A — B"),
        (SourceLine("1.2", "", "Q1 — Q2/Q3", ""), "[1.2] Q1 — Q2/Q3 —"),
        (SourceLine("1.2", "2025-02", "", "https://e.org/1"), "[1.2] 2025-02 · https://e.org/1"),
        (SourceLine("1.2", "", "Отчёт", "отчёты/Самокат — 2024.pdf"), "[1.2] Отчёт — <отчёты/Самокат — 2024.pdf>"),
        (SourceLine("1.2", "", "Pasted", "clipboard"), "[1.2] Pasted — <clipboard>"),
        (SourceLine("1.2", "", "", ""), "[1.2]"),
        (SourceLine("1.2", "", "2024 · a year", ""), "[1.2] · 2024 · a year"),
    ],
)  # fmt: skip
def test_a_source_is_written_as_designed(line: SourceLine, text: str) -> None:
    assert render_source_line(line) == text
    assert read_source_line(f"- {text}") == line


def test_a_source_written_by_hand() -> None:
    assert read_source_line("- [1.3] 2025-01-01 · Самокат — отчёт") == SourceLine(
        "1.3", "2025-01-01", "Самокат — отчёт", ""
    )
    assert read_source_line("- Infoline ranking") is None


def test_searched_mark_comes_and_goes() -> None:
    assert searched_mark(2, "en") == "(searched 2×)"
    for language in LANGUAGES:
        assert without_searched_mark(f"Chad: population {searched_mark(12, language)}") == "Chad: population"
    assert without_searched_mark("Chad: population (2025)") == "Chad: population (2025)"


odd = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
shapes = st.sampled_from(
    [
        " — ",
        " · ",
        " — found, ",
        "—",
        "(",
        ")",
        "; b blocked: ",
        "недоступен: ",
        "5 sources",
        "+1 fact",
        ", 6 gaps",
        "，",
        "\n",
    ]
)
texts = st.lists(odd | shapes, max_size=5).map("".join)
counts = st.none() | st.integers(0, 999_999_999)
records = st.builds(
    search_record,
    st.integers(0, 999_999),
    texts,
    st.sampled_from(["found", "empty", "blocked", "pasted", "skipped"]),
    sources=counts,
    blocked=st.lists(st.builds(Attempt, st.sampled_from(["brave", "my-search"]), texts), max_size=2),
    new_facts=counts,
    gaps=counts,
)


def folded(text: str) -> str:
    return " ".join(clean(text).split())


@given(st.lists(records, max_size=3), st.sampled_from(LANGUAGES))
@example([search_record(1, "q", "found", blocked=[Attempt("brave", "0source, 1 facts and 007 gaps")])], "ru")
def test_a_written_search_is_read_back_in_every_language(lines: list[SearchLine], language: str) -> None:
    written = [render_search_line(line, language) for line in lines]
    summary = replace_section(Summary(), SectionKind.SEARCHES, written, language)
    again = parse_summary(render_summary(summary))
    assert search_lines(again) == tuple(lines)
    assert lines_of(again, SectionKind.SEARCHES) == tuple(written)


@given(texts, st.lists(st.builds(Attempt, st.just("brave"), texts), max_size=2), counts, counts, counts)
def test_a_record_says_what_was_recorded(
    query: str, blocked: list[Attempt], sources: int | None, facts: int | None, gaps: int | None
) -> None:
    line = search_record(3, query, "found", sources=sources, blocked=blocked, new_facts=facts, gaps=gaps)
    assert (line.round, line.query, line.outcome) == (3, folded(query), "found")
    assert (line.new_facts, line.gaps) == (facts, gaps)


titles = texts.map(folded)
addresses = st.sampled_from(
    [
        "",
        "https://e.org/a?b=c",
        "docs/Отчёт за 2024.pdf",
        "a — b.pdf",
        "clipboard",
        "C:\\docs\\x.pdf",
        "file name.md",
        "a/b c — d",
    ]
)
dates = st.sampled_from(["", "2025", "2025-02", "2025-02-11"])


@given(st.builds(SourceLine, st.sampled_from(["1.1", "12.345"]), dates, titles, addresses))
def test_a_written_source_is_read_back(line: SourceLine) -> None:
    summary = replace_section(Summary(), SectionKind.SOURCES, [render_source_line(line)], "en")
    assert source_lines(parse_summary(render_summary(summary))) == (line,)
