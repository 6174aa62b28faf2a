"""A program as a search provider: JSON or text in, three different outcomes out. Real programs, no stand-ins."""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.model import Source
from harness.ports import SearchResult
from harness.search.command import CommandSearch

PYTHON = (sys.executable, "-I", "-S", "-X", "utf8", "-c")


def search(code: str, *arguments: str, query: str = "выручка 2024", timeout: float = 20) -> SearchResult:
    return CommandSearch("mine", (*PYTHON, code, *arguments), timeout).search(query)


def printing(text: str, query: str = "выручка 2024") -> SearchResult:
    return search("import sys; sys.stdout.write(sys.argv[1])", text, query=query)


def test_the_query_on_stdin_or_as_an_argument() -> None:
    code = "import sys; print(repr(sys.argv[1:]), repr(sys.stdin.read()))"
    assert search(code).sources == (Source("выручка 2024", r"[] 'выручка 2024\n'"),)
    assert search(code, "-q", "{query}").sources[0].text == "['-q', 'выручка 2024'] ''"
    assert search(code, "https://x/?q={query}").sources[0].text == "['https://x/?q=выручка 2024'] ''"


@pytest.mark.parametrize("query", ["--output=/etc/passwd x", "-x x", "@/etc/passwd x", " \x1b[31m--x\nx", "@--x x"])
def test_a_query_is_never_an_option_or_a_file(query: str) -> None:
    result = search("import sys; print(sys.argv[1])", "{query}", query=query)
    assert result.sources[0].text[0] not in "-@" and result.sources[0].text.endswith(" x")


def test_json_in_every_usual_shape() -> None:
    row = {"title": "T", "url": "https://x/a", "date": "2024-03-01", "text": "Body."}
    expected = SearchResult("found", (Source("T", "Body.", "https://x/a", "2024-03-01"),))
    for shape in ([row], {"results": [row]}, {"query": "q", "items": [row]}, row):
        assert printing(json.dumps(shape, indent=1)) == expected
    assert printing("\ufeff" + json.dumps(row) + "\r\n\r\n" + json.dumps(row)).sources == expected.sources * 2


def test_the_names_other_programs_use() -> None:
    ddgr = {"abstract": "A", "title": "T", "url": "https://x/1"}
    searx = {"title": "T", "content": "C", "url": "https://x/2", "publishedDate": "2024-03-01T10:00:00"}
    other = {"name": "N", "link": "https://x/3", "snippet": "S", "published": "3 hours ago"}
    assert printing(json.dumps([ddgr, searx, other])).sources == (
        Source("T", "A", "https://x/1"),
        Source("T", "C", "https://x/2", "2024-03-01"),
        Source("N", "S", "https://x/3", extra=(("date_text", "3 hours ago"),)),
    )


@pytest.mark.parametrize(
    ("written", "date"),
    [("2024", "2024"), (2024, "2024"), ("2024-05", "2024-05"), ("2024-05-31 10:00", "2024-05-31"), ("2024-02-31", "")],
)
def test_dates_are_iso_or_left_as_they_stand(written: object, date: str) -> None:
    source = printing(json.dumps([{"text": "x", "date": written}])).sources[0]
    assert source.date == date
    assert source.extra == (() if date else (("date_text", str(written)),))


def test_whatever_comes_in_is_clean() -> None:
    rows = [
        {
            "title": "A\x1b[31m\ntitle\x00 " + "x" * 300,
            "url": "javascript:alert(1)",
            "text": "# Heading\n\x1b]0;owned\x07line\u2028next\r\nlast\x00",
        },
        {"url": "https://x/a b\n- date: 2030-01-01", "text": "x"},
        {"title": "", "url": "docs/report.md", "text": "y"},
    ]
    for text in (json.dumps(rows), json.dumps(rows, ensure_ascii=False)):
        first, second, third = printing(text.replace("\x00", "")).sources
        assert first.title.startswith("A title xxx") and len(first.title) == 200
        assert first.url == "" and not first.text.startswith("# ")
        assert first.text.endswith("line\nnext\nlast")
        assert second.url == "https://x/a%20b%20-%20date:%202030-01-01" and second.title == second.url
        assert (third.title, third.url) == ("docs/report.md", "docs/report.md")


def test_rows_without_text_are_counted() -> None:
    result = printing('[{"title": "T", "url": "https://x"}, {"text": "kept"}, 7, null]')
    assert [source.text for source in result.sources] == ["kept"]
    assert result.notes == ("3 results without text left out",)


@pytest.mark.parametrize("printed", ["", " \n\t", "\x1b[0m\n", "[]", '{"results": []}', '[{"title": "T"}]'])
def test_nothing_found_is_empty(printed: str) -> None:
    assert printing(printed).outcome == "empty"


@pytest.mark.parametrize("printed", ["[1] A note, not JSON.", "{curly} text", "# Title\n\n42 things", "42", '"quoted"'])
def test_plain_text_is_one_source(printed: str) -> None:
    result = printing(printed)
    assert result.outcome == "found" and len(result.sources) == 1
    assert result.sources[0].title == "выручка 2024"


@pytest.mark.parametrize(
    ("printed", "told"),
    [
        ('[{"title": "cut of', "broken JSON"),
        ('{"results": [', "broken JSON"),
        ('{"error": "rate limit reached"}', "reports: rate limit reached"),
    ],
)
def test_an_error_is_never_a_document(printed: str, told: str) -> None:
    result = printing(printed)
    assert result.outcome == "blocked" and told in result.error and not result.sources


def test_an_exit_code_is_blocked_with_the_last_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEARCH_API_KEY", "k-1234567890")
    code = (
        "import os, sys; print('<html>captcha</html>'); print('first', file=sys.stderr)\n"
        "print('\\x1b[1mHTTP 429', os.environ['SEARCH_API_KEY'], file=sys.stderr); sys.exit(2)"
    )
    assert search(code) == SearchResult("blocked", error="exit code 2: HTTP 429 ***")


def test_a_time_out_is_blocked() -> None:
    result = search("import time; print('half', flush=True); time.sleep(60)", timeout=0.3)
    assert result == SearchResult("blocked", error="no answer in 0.3 s")


def test_a_program_that_cannot_start_is_blocked(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("x")
    for command in (["no-such-search"], [str(tmp_path / "data")], []):
        result = CommandSearch("mine", command).search("q")
        assert result.outcome == "blocked" and result.error


def test_far_too_much_is_blocked() -> None:
    assert "far more" in search("print('x' * 5_000_000)").error


def test_the_program_is_not_told_where_the_case_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS_DIR", str(Path.cwd()))
    code = "import os; print(os.listdir('.'), 'HARNESS_DIR' in os.environ, os.environ['MY_HOST'])"
    agent = CommandSearch("mine", (*PYTHON, code), env={"MY_HOST": "h"})
    assert agent.name == "mine" and agent.search("q").sources[0].text == "[] False h"


def test_side_by_side() -> None:
    provider = CommandSearch("mine", (*PYTHON, "import sys, time; time.sleep(0.2); print(sys.stdin.read())"))
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(provider.search, ["a", "b", "c", "d"]))
    assert [result.sources[0].text for result in results] == ["a", "b", "c", "d"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["title", "url", "date", "text", "results", "error"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=25, deadline=None)  # each starts a program
@given(JSON)
def test_any_json_gives_one_of_the_three_outcomes(value: Any) -> None:
    result = printing(json.dumps(value))
    assert bool(result.sources) == (result.outcome == "found")
    assert bool(result.error) == (result.outcome == "blocked")
    assert all(source.text.strip() and source.title for source in result.sources)
