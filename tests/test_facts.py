"""Fact lines, amounts, periods and cells."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.facts import (
    cells_searched,
    citations,
    filled_cells,
    open_cells,
    parse_fact,
    sides,
    without_marks,
)
from harness.model import Grid, SearchLine
from harness.periods import in_digits, newest, only_period, periods
from harness.quantities import quantities, same_value

GRID = Grid(("Samokat", "Yandex Lavka", "ВкусВилл"), ("revenue", "revenue growth", "выручка"))


def test_a_fact_line_in_its_parts() -> None:
    fact = parse_fact("- Samokat: revenue 2024 — 154.0 bn ₽ [1.2] [3.1]", GRID)
    assert (fact.entity, fact.field, fact.period, fact.value) == ("Samokat", "revenue", "2024", "154.0 bn ₽")
    assert fact.citations == ("1.2", "3.1")
    assert not fact.pinned and not fact.person
    assert fact.text == "Samokat: revenue 2024 — 154.0 bn ₽ [1.2] [3.1]"


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("Samokat: revenue growth H1 2024 — −2 % [1.1]", ("Samokat", "revenue growth", "H1 2024", "−2 %")),
        ("samokat : Revenue (2024) - 5 [1.1]", ("Samokat", "revenue", "2024", "5")),
        ("ВкусВилла: выручки за 2024 год — 300 [1.1]", ("ВкусВилл", "выручка", "2024 год", "300")),
        ("Samokat: revenue — 154 bn - 160 bn [1.1]", ("Samokat", "revenue", "", "154 bn - 160 bn")),
        ("Samokat: revenue 2024 — .5 bn [1.1] , gross [1.2].", ("Samokat", "revenue", "2024", ".5 bn , gross.")),
        ("Samokat: revenue per user 2024 — 5 [1.1]", ("", "", "", "Samokat: revenue per user 2024 — 5")),
        ("Lavka: revenue 2024 — 5 [1.1]", ("", "", "", "Lavka: revenue 2024 — 5")),
        ("A sentence with a source [1.1].", ("", "", "", "A sentence with a source.")),
        ("", ("", "", "", "")),
    ],
)
def test_only_lines_of_the_grid_have_a_cell(line: str, parts: tuple[str, str, str, str]) -> None:
    fact = parse_fact(line, GRID)
    assert (fact.entity, fact.field, fact.period, fact.value) == parts


def test_marks() -> None:
    fact = parse_fact("Samokat: revenue 2024 — 5 [note] [person] [unverified] [pinned]", GRID)
    assert fact.person and fact.pinned and fact.unverified
    assert fact.value == "5 [note]"
    assert not parse_fact("Samokat: revenue [pinned] 2024 — 5", GRID).pinned


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("x [1.1] [1.2]", ("1.1", "1.2")),
        ("x [1.1][2.1], y [1.1]", ("1.1", "2.1")),
        ("x [1.1, 1.2; 3.10]", ("1.1", "1.2", "3.10")),
        ("x [see 1.1] [1] [1.1.1] [a.b] [1.]", ()),
        ("[" * 2000 + "1.1" + "]" * 2000, ("1.1",)),
    ],
)
def test_citations(text: str, ids: tuple[str, ...]) -> None:
    assert citations(text) == ids


def test_bracketed_text_that_is_no_citation_stays() -> None:
    assert without_marks("5 bn [sic] [1.2], up [2.1].") == "5 bn [sic], up."


@pytest.mark.parametrize(
    "line",
    ["A: f 2024 — x [1.3] ↔ y [3.1]", "A: f — x [1.3] vs. y [3.1]", "A: f — x [1.3]; y [3.1]", "x [1.3] <-> y [3.1]"],
)
def test_both_sides_of_a_contradiction(line: str) -> None:
    assert [(side.value, side.citations) for side in sides(line)] == [("x", ("1.3",)), ("y", ("3.1",))]


def test_a_semicolon_inside_a_value_does_not_part_sides() -> None:
    assert [side.value for side in sides("A: f — 5; net of tax [1.3] ↔ 6 [3.1]")] == ["5; net of tax", "6"]


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("154,0 млрд ₽", "154e9", "₽"),
        ("154.0 bn RUB", "154e9", "₽"),
        ("1 234 567 чел.", "1234567", "people"),
        ("1\u202f234\u00a0567", "1234567", ""),
        ("1,234,567.5", "1234567.5", ""),
        ("1.234.567,5", "1234567.5", ""),
        ("12,34,567", "1234567", ""),
        ("1,234 млн", "1.234e6", ""),
        ("0,234", "0.234", ""),
        ("12 %", "12", "%"),
        ("−2,1 %", "-2.1", "%"),
        ("(-5.5%)", "-5.5", "%"),
        ("US$ 5 billion", "5e9", "$"),
        ("$5m", "5e6", "$"),
        ("8,848 m", "8848", "m"),
        ("17,098,242 sq km", "17098242", "km2"),
        ("≈ 5亿元", "5e8", "¥"),
        ("营收1.2万亿元", "1.2e12", "¥"),
        ("5 местных", "5", ""),
        ("２０ %", "20", "%"),
    ],
)
def test_one_amount_in_every_writing(text: str, value: str, unit: str) -> None:
    found = quantities(text)
    assert [(quantity.value, quantity.unit) for quantity in found] == [(Decimal(value), unit)]


def test_both_ends_of_a_range_share_scale_and_unit() -> None:
    assert [(q.value, q.unit) for q in quantities("10–12 млрд ₽")] == [(Decimal("10e9"), "₽"), (Decimal("12e9"), "₽")]


def test_periods_and_citations_are_no_amounts() -> None:
    assert [(q.value, q.unit) for q in quantities("154 bn in 2024 [1.2]")] == [
        (Decimal("154e9"), ""),
        (Decimal(2024), "year"),
    ]


def test_a_number_of_five_thousand_digits() -> None:
    monster = "9" * 5000
    assert quantities(monster)[0].value == Decimal(monster)
    assert same_value(monster, monster)
    assert not same_value(monster, "8" * 5000)
    assert not same_value(monster, "1.5")


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ("154.0 bn ₽", "154,0 млрд руб.", True),
        ("17.1 million sq km", "17,098,242 sq km", True),
        ("67 bn", "71.4 bn", False),
        ("2 bn", "2.4 bn", False),
        ("5 $", "5 €", False),
        ("≈ 154 bn", "154 bn (unaudited)", True),
        ("154,0 (млрд ₽)", "154.0 bn ₽", True),
        ("N'Djamena", "N’Djamena (name: see note)", True),
        ("Idriss DEBY", "Mahamat Idriss DEBY Itno", True),
        ("Idriss DEBY", "Succes MASRA", False),
        ("Emi Koussi 3,415 m", "Emi Koussi 3,445 m", False),
        ("пик Хан-Тенгри, 7010 м", "Pik Khan-Tengri at 7,010 m", True),
        ("", "5", False),
    ],
)
def test_same_value(a: str, b: str, same: bool) -> None:
    assert same_value(a, b) is same
    assert same_value(b, a) is same


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("2024", (2024, 1), (2024, 12)),
        ("за 2024 год", (2024, 1), (2024, 12)),
        ("H1 2024", (2024, 1), (2024, 6)),
        ("1П2024", (2024, 1), (2024, 6)),
        ("1H24", (2024, 1), (2024, 6)),
        ("Q3 2024", (2024, 7), (2024, 9)),
        ("III квартал 2024 года", (2024, 7), (2024, 9)),
        ("9 месяцев 2024 года", (2024, 1), (2024, 9)),
        ("July 2015 est.", (2015, 7), (2015, 7)),
        ("31 декабря 2024", (2024, 12), (2024, 12)),
        ("December 31, 2024", (2024, 12), (2024, 12)),
        ("31.12.2024", (2024, 12), (2024, 12)),
        ("2024-05-01", (2024, 5), (2024, 5)),
        ("2024/25", (2024, 1), (2025, 12)),
        ("2010–2015", (2010, 1), (2015, 12)),
        ("FY2024", (2024, 1), (2024, 12)),
        ("2024年第三季度", (2024, 7), (2024, 9)),
        ("оценка 2024 года", (2024, 1), (2024, 12)),
    ],
)
def test_a_period_in_every_writing(text: str, start: tuple[int, int], end: tuple[int, int]) -> None:
    period = only_period(text)
    assert period is not None
    assert (period.start, period.end) == (start, end)


@pytest.mark.parametrize("text", ["1990 km", "2024 %", "2 h 30 min", "12 m 24 km", "since 1990", "$2024", "", "20240"])
def test_what_is_no_period(text: str) -> None:
    assert only_period(text) is None


def test_the_newest_period_ends_last() -> None:
    found = newest(periods("2023, Q3 2024 and H1 2024"))
    assert found is not None and found.text == "Q3 2024"


def test_filled_and_open_cells() -> None:
    grid = Grid(("A", "B"), ("f", "g"))
    lines = ["A: f 2024 — 5 [1.1]", "A: g — 6", "B: f — 7 [person]", "B: g — 8 [1.1] [unverified]"]
    assert filled_cells(lines, grid) == {("A", "f"), ("B", "f")}
    assert open_cells(lines, grid) == (("A", "g"), ("B", "g"))


def test_searches_count_for_a_cell_in_different_words_and_unblocked() -> None:
    searches = [
        SearchLine(1, "Samokat revenue 2024", "found"),
        SearchLine(2, "revenue Samokat 2024", "empty"),
        SearchLine(3, "Samokat revenue, sales", "empty"),
        SearchLine(4, "Samokat revenue report", "blocked"),
        SearchLine(5, "выручку ВкусВилла", "found"),
        SearchLine(6, "Samokat staff", "found"),
    ]
    counted = cells_searched(searches, GRID)
    assert counted[("Samokat", "revenue")] == 2
    assert counted[("ВкусВилл", "выручка")] == 1
    assert counted[("Samokat", "revenue growth")] == 0


@given(st.text(max_size=120))
def test_any_line_is_read(line: str) -> None:
    fact = parse_fact(line, GRID)
    assert fact.entity in ("", *GRID.entities)
    assert citations(fact.value) == ()
    assert same_value(line, line)
    sides(line)


@given(st.decimals(min_value=0, max_value=10**12, places=2))
def test_an_amount_is_read_back_as_it_was_written(value: Decimal) -> None:
    assert quantities(f"{value:,.2f} €")[0].value == value
    assert quantities(f"{value:,.2f} €".replace(",", "\u00a0").replace(".", ","))[0].value == value


@given(st.integers(1900, 2099), st.integers(1, 12))
def test_a_month_is_read_from_an_iso_date(year: int, month: int) -> None:
    period = only_period(f"{year}-{month:02d}")
    assert period is not None and period.start == period.end == (year, month)


@pytest.mark.parametrize(
    ("written", "shown"),
    [("оценка 2024 года", "2024"), ("июль 2015 г.", "2015-07"), ("2020–2024", "2020–2024"), ("давно", "давно")],
)
def test_a_period_in_digits(written: str, shown: str) -> None:
    assert in_digits(written) == shown


@pytest.mark.parametrize("text", ["EUR 8.9 bn", "8.9 bn EUR", "€8.9 bn", "8,9 млрд евро", "EUR8.9bn"])
def test_a_currency_stands_before_or_behind_its_amount(text: str) -> None:
    assert same_value(text, "8.9 billion euros")
    assert not same_value(text, "PLN 8.9 bn")
    assert not same_value(text, "8.9 bn zloty")


def test_an_increase_and_what_it_leads_to_are_no_range() -> None:
    assert [found.unit for found in quantities("выросла на 20 % до 11 500")] == ["%", ""]


@pytest.mark.parametrize("text", ["8th tee, golf course 5 m", "18th tee 5 m", "3-й километр, высота 5 м"])
def test_a_place_in_a_list_is_no_amount(text: str) -> None:
    assert same_value(text, "5 m")
    assert not same_value(text, "2.4 m")
