"""The laws of cutting: nothing missing, nothing twice, nothing over the budget, and any part can be the first."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

from hypothesis import example, given, settings
from hypothesis import strategies as st

from harness.cutting import SMALLEST, Cut, cut
from harness.ports import CountTokens

untimed = settings(deadline=None)  # a law that cuts one text twenty times is no measure of anything
TEXT = "рынок доставки вырос на 5 % г. т. е. 12.5 Mr. Smith, e.g. one sold units 北京 市场增长。 ¡é 👩‍🔬 x"
WORDS = TEXT.split(" ")
ODD = ["### Section\n", "# Раздел\n", "```\n", "<table>", "| a |", "\n", "  \n\n\n", "e\u0301" * 80, "a" * 300]
RECORDS = ['{"a": 1}', '{"b": "x, y\\""}', "[1, 2]", "null", '{"c": {"d": [3]}}']


def characters(text: str) -> int:
    return len(text)


def estimate(text: str) -> int:
    return math.ceil(len(text) / 3) + 1


def words(text: str) -> int:
    """A count that does not add up: a word torn in two may be one more, a blank is none."""
    return len(re.findall(r"\S{1,4}", text))


COUNTERS: list[CountTokens] = [characters, estimate, words]

sentences = st.lists(st.sampled_from(WORDS), min_size=1, max_size=30).map(lambda found: " ".join(found) + ". ")
paragraphs = st.lists(sentences, min_size=1, max_size=6).map("".join)
cells = st.sampled_from(["", "7", "Lavka | 2", "`a|b`", "выручка", "x" * 30, "two\nlines", 'say "no"'])
lines_of_code = st.lists(st.sampled_from(["x = 1", "", "# no heading", "| no | table |", "    return"]), max_size=30)


def pipes(rows: list[list[str]]) -> str:
    shown = ["| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in row) + " |\n" for row in rows]
    return "".join([shown[0], "|---|---|---|\n", *shown[1:]])


def quoted(rows: list[list[str]]) -> str:
    return "a,b,c\n" + "".join(
        ",".join('"' + cell.replace('"', '""') + '"' for cell in row) + "\n" for row in [["1", "2", "3"], *rows]
    )


def html(rows: list[list[str]]) -> str:
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>\n" for row in rows)
    return f"<table><thead><tr><th>a</th></tr></thead>\n{body}</table>\n"


ROW: dict[Callable[[list[list[str]]], str], re.Pattern[str]] = {
    pipes: re.compile(r"\| r\d.*\n"),
    quoted: re.compile(r'"r\d(?:[^"]|"")*"(?:,"(?:[^"]|"")*")*\n'),
    html: re.compile(r"<tr><td>r\d(?:.|\n)*?</tr>\n"),
}
tables = st.lists(st.lists(cells, min_size=3, max_size=3), min_size=1, max_size=12)
records = st.lists(st.sampled_from(RECORDS), max_size=20)
blocks = st.one_of(
    paragraphs,
    paragraphs,
    tables.map(pipes),
    tables.map(quoted),
    tables.map(html),
    records.map(lambda found: "[" + ",\n".join(found) + "]\n"),
    records.map(lambda found: '{"status": "ok", "items": [' + ", ".join(found) + "]}\n"),
    lines_of_code.map(lambda found: "```python\n" + "".join(f"{line}\n" for line in found) + "```\n"),
    sentences.map(lambda text: f"<tool_call>{text}</tool_call>\n<tool_result>{text}</tool_result>\n"),
    sentences.map(lambda text: f"Action: search\nObservation: {text}\nThought: {text}\n"),
    st.sampled_from(ODD),
)
bodies = st.lists(blocks, max_size=6).map("\n".join)
titles = st.sampled_from(["Title", "Рынок 2024", "很长" * 100, ""])


def source(number: int, title: str, body: str) -> str:
    return f"## {number}. {title}\n- url: https://e.org/{number}\n- date: 2025-01-01\n\n{body}\n\n"


raws = st.tuples(bodies, st.lists(st.tuples(titles, bodies), max_size=4)).map(
    lambda found: found[0] + "\n" + "".join(source(k, *each) for k, each in enumerate(found[1], 1))
)
texts = st.one_of(bodies, raws, st.text(max_size=400))
budgets = st.sampled_from([SMALLEST, 100, 150, 400])
counters = st.sampled_from(COUNTERS)


def parts(text: str, budget: int, count: CountTokens, at: tuple[int, ...] = (), lines: int = 0) -> list[Cut]:
    return list(cut([text], budget, count, at=at, lines=lines))


@untimed
@given(texts, budgets, counters)
@example("", SMALLEST, characters)
@example("\n" * 500, SMALLEST, characters)
def test_the_parts_are_the_text_and_none_is_over_the_budget(text: str, budget: int, count: CountTokens) -> None:
    found = parts(text, budget, count)
    assert "".join(text[part.start : part.end] for part in found) == text
    assert all(part.start < part.end for part in found)
    for part in found:
        assert count(part.lead + text[part.start : part.end]) <= budget


@untimed
@given(texts, budgets, counters, st.data())
def test_the_blocks_in_which_a_text_comes_change_nothing(
    text: str, budget: int, count: CountTokens, data: st.DataObject
) -> None:
    ends = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    pieces = [text[a:b] for a, b in zip([0, *ends], [*ends, len(text)], strict=True)]
    assert list(cut(iter(pieces), budget, count)) == parts(text, budget, count)


@untimed
@given(texts, budgets, counters)
def test_a_cut_that_is_asked_for_where_one_is_changes_nothing(text: str, budget: int, count: CountTokens) -> None:
    found = parts(text, budget, count)
    for part in found[:: max(len(found) // 4, 1)]:
        assert parts(text, budget, count, at=(part.end,)) == found
    assert parts(text, budget, count, at=tuple(part.end for part in found)) == found


@untimed
@given(texts, budgets, counters, st.data())
def test_what_comes_behind_a_position_depends_on_the_text_and_the_position(
    text: str, budget: int, count: CountTokens, data: st.DataObject
) -> None:
    """The fold was stopped at `at`, perhaps by another agent's budget: both cut the rest alike."""
    at = data.draw(st.integers(0, len(text)))
    behind = [part for part in parts(text, budget, count, at=(at,)) if part.start >= at]
    after = parts(text, 3 * budget, count, at=(at,))
    assert behind == [] if at == len(text) else behind[0].start == at
    assert any(part.start == at for part in after) or at == len(text)
    others = tuple(data.draw(st.lists(st.integers(0, max(at - 1, 0)), max_size=3)))
    assert [part for part in parts(text, budget, count, at=(at, *others)) if part.start >= at] == behind


@untimed
@given(texts, budgets, st.integers(6, 12))
def test_no_part_has_more_lines_than_allowed(text: str, budget: int, lines: int) -> None:
    for part in parts(text, budget, characters, lines=lines):
        shown = part.lead + text[part.start : part.end]
        assert shown.count("\n") + (not shown.endswith("\n")) <= lines


@untimed
@given(st.lists(st.tuples(titles, bodies), min_size=1, max_size=5), budgets, counters)
def test_only_a_source_that_alone_is_over_the_budget_is_cut(
    found: list[tuple[str, str]], budget: int, count: CountTokens
) -> None:
    sources = [source(k, *each) for k, each in enumerate(found, 1)]
    text = "".join(sources)
    at = 0
    ends = {part.end for part in parts(text, budget, count)}
    for whole in sources:
        if count(whole) <= budget:
            assert not [end for end in ends if at < end < at + len(whole)]
        at += len(whole)


@untimed
@given(
    st.lists(st.lists(cells, min_size=3, max_size=3), min_size=3, max_size=40),
    budgets,
    st.sampled_from([pipes, quoted, html]),
)
def test_a_row_is_whole_and_in_one_part(
    rows: list[list[str]], budget: int, form: Callable[[list[list[str]]], str]
) -> None:
    shown = form([[f"r{number}", *row[1:]] for number, row in enumerate(rows)])
    text = f"### Table\n{shown}\nBehind.\n"
    owned = [text[part.start : part.end] for part in parts(text, budget, characters)]
    for row in ROW[form].findall(shown):
        if len(row) <= budget:
            assert sum(row in own for own in owned) == 1
