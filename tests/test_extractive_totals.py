"""The built-in Synthesizer adds up tables: exactly, part by part, in three languages."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.agents.extractive import ExtractiveAgent
from harness.model import Packet, Rewrite, Role, Total
from harness.reply import parse_synthesizer
from harness.totals import add

PEOPLE = ("Anna Petrova", "Иван Петров", "Ивана Петрова", "王芳")
GRID = "---\nentities: [" + ", ".join(PEOPLE) + "]\nfields: [{field}]\n---\n"
HEADERS = {
    "en": ("Person", "Date", "Project", "Hours"),
    "ru": ("Сотрудник", "Дата", "Проект", "Часы"),
    "zh": ("员工", "日期", "项目", "工时"),
}
QUESTIONS = {
    "en": "How many hours did each person work in total?",
    "ru": "Сколько всего часов отработал каждый сотрудник?",
    "zh": "每个员工的工时一共是多少？",
}
FIELDS = {"en": "hours", "ru": "часы", "zh": "工时"}


def reply(question: str, text: str, *, totals: bool = True) -> Rewrite:
    head = "---\nkind: search\nqueries:\n- {query: x, provider: folder, outcome: found}\n---\n"
    raw = f"{head}## 1. Log\n- url: https://example.org\n\n{text}\n"
    files = {"question.md": question, "summary.md": "", "raw_1.md": raw}
    said = ExtractiveAgent().take(Packet(Role.SYNTHESIZER, "", 1, "", files, ("summary.md",), totals=totals))
    value, defects = parse_synthesizer(said)
    assert defects == ()
    assert value is not None
    return value


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    told = (f"| {' | '.join(row)} |" for row in rows)
    return "\n".join((f"| {' | '.join(header)} |", "|" + "---|" * len(header), *told))


def separated(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(",".join(f'"{cell}"' if "," in cell else cell for cell in row) for row in (header, *rows))


def sums(parts: Sequence[Rewrite]) -> dict[str, Decimal]:
    return {total.name: total.value for total in add(part.totals for part in parts)}


WORKED = st.tuples(st.sampled_from(PEOPLE), st.integers(1, 28), st.integers(0, 1_200_000))
ROWS = st.lists(WORKED, min_size=3, max_size=30)


@settings(max_examples=40, deadline=None)
@given(ROWS, st.sampled_from(sorted(HEADERS)), st.booleans(), st.integers(2, 10), st.booleans())
def test_the_sums_of_parts_are_those_of_the_whole_table(
    rows: list[tuple[str, int, int]], language: str, as_csv: bool, size: int, with_grid: bool
) -> None:
    written = [f"{cents // 100}{',' if language == 'ru' else '.'}{cents % 100:02}" for _, _, cents in rows]
    table = [(who, f"2024-05-{day:02}", "Atlas", hours) for (who, day, _), hours in zip(rows, written, strict=True)]
    parts = [table[at : at + size] for at in range(0, len(table), size)]
    render = separated if as_csv else markdown
    question = (GRID.format(field=FIELDS[language]) if with_grid else "") + QUESTIONS[language]
    told = [reply(question, f"Part of a log.\n\n{render(HEADERS[language], part)}") for part in parts]
    exact: dict[str, Decimal] = {}
    for who, _, cents in rows:
        exact[who] = exact.get(who, Decimal(0)) + Decimal(cents).scaleb(-2)
    assert sums(told) == exact


def test_a_header_in_the_midst_and_rows_that_are_sums_are_not_counted() -> None:
    head = "| Person | Hours |\n|---|---|\n"
    text = f"{head}| Anna | 1,234.5 |\n| Person | Hours |\n|---|---|\n| Anna | 2 |\n| **Total** | 1,236.5 |\n"
    assert reply(QUESTIONS["en"], text).totals == (Total("Anna", "Hours", Decimal("1236.5")),)


def test_rows_that_cannot_be_read_are_told() -> None:
    text = "Person,Hours\nAnna,5\nAnna,five\nAnna,7,5\n,3\n"
    found = reply(QUESTIONS["en"], text)
    assert found.totals == (Total("Anna", "Hours", Decimal(5)),)
    assert "3 rows of tables could not be read" in (found.nothing_new or found.think)


COUNTED = (("How many entries are there per project?", "entries"), ("Сколько записей по проектам?", "записи"))


@pytest.mark.parametrize(("question", "field"), COUNTED)
def test_rows_are_counted(question: str, field: str) -> None:
    header = ("Проект" if field == "записи" else "Project", "Hours")
    text = markdown(header, [("Atlas", "5"), ("Boreas", "6"), ("Atlas", "")])
    assert reply(question, text).totals == (Total("Atlas", field, Decimal(2)), Total("Boreas", field, Decimal(1)))


OTHERS = ("What is the role of each person?", "How many hours per planet?", "How many cats per person?")


@pytest.mark.parametrize("question", OTHERS)
def test_a_table_that_the_question_does_not_ask_to_add_up(question: str) -> None:
    text = markdown(HEADERS["en"], [("Anna", "2024-05-01", "Atlas", "5")])
    assert reply(question, text).totals == ()


def test_without_a_packet_that_asks_for_totals_there_are_none() -> None:
    assert reply(QUESTIONS["en"], markdown(("Person", "Hours"), [("Anna", "5")]), totals=False).totals == ()


QUOTED = ("two\nlines", "a blank\n\nline", 'said ""so""\nand went', "one, two\nthree, four", "\n", "plain", '5" pipe')


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(WORKED, st.sampled_from(QUOTED)), min_size=1, max_size=12), st.sampled_from((",", ";", "\t")))
def test_a_quoted_cell_may_hold_line_ends(rows: list[tuple[tuple[str, int, int], str]], mark: str) -> None:
    told = [
        mark.join((f'"{note}"' if "\n" in note else note, who, f"{cents // 100}.{cents % 100:02}"))
        for (who, _, cents), note in rows
    ]
    found = reply(QUESTIONS["en"], "\n".join((mark.join(("Note", "Person", "Hours")), *told)))
    exact: dict[str, Decimal] = {}
    for (who, _, cents), _ in rows:
        exact[who] = exact.get(who, Decimal(0)) + Decimal(cents).scaleb(-2)
    assert sums([found]) == exact
    assert "could not be read" not in (found.nothing_new or found.think)


def test_a_quote_that_is_never_closed_spoils_one_row_only() -> None:
    text = 'Person,Note,Hours\nAnna,x,1\nAnna,"oops,5\nAnna,"well, fine",7\n\nProse says "so".\n'
    found = reply(QUESTIONS["en"], text)
    assert found.totals == (Total("Anna", "Hours", Decimal(8)),)
    assert "1 rows of tables could not be read" in (found.nothing_new or found.think)


def test_json_lines_are_a_table() -> None:
    rows = [("Anna", "37.50"), ("Boris", "8"), ("Anna", "0.25")]
    text = "\n".join(f'{{"person": "{name}", "hours": {hours}, "tags": ["a"]}}' for name, hours in rows)
    told = reply("The sum of hours per person?", text)
    assert {(one.name, one.value) for one in told.totals} == {("Anna", Decimal("37.75")), ("Boris", Decimal("8"))}
