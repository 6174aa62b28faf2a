"""Totals of parts: read from replies in three languages, added exactly, written as lines that nobody may change."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.amounts import whole_amount
from harness.facts import filled_cells
from harness.formats.summary import lines_of, parse_summary
from harness.guards.lines import View
from harness.guards.mending import mend
from harness.guards.synthesizer import check_rewrite
from harness.model import (
    Case,
    Grid,
    NextQuery,
    Packet,
    Question,
    Reply,
    Rewrite,
    Role,
    Section,
    SectionKind,
    Source,
    Summary,
    Total,
)
from harness.reply import parse_synthesizer
from harness.totals import add, key, lines, with_lines, written

CONFIRMED = SectionKind.CONFIRMED
REPLY = "Think: a table\nSummary:\n## Confirmed\n- Anna: role — cook [1.1]\nRemoved:\n- none\n"


def rewrite(text: str) -> Rewrite:
    value, defects = parse_synthesizer(Reply(text))
    assert defects == ()
    assert value is not None
    return value


# Reading -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("listed", "totals"),
    [
        ("Totals:\n- Anna Petrova: hours — 37.5", [("Anna Petrova", "hours", "37.5", "")]),
        ("## Totals\n- **Anna**: hours — 1,234.5 hours [1.1]", [("Anna", "hours", "1234.5", "hours")]),
        ("Totals:\n- Anna: entries — 2024", [("Anna", "entries", "2024", "")]),
        ("Totals:\n- Bob: pay — $3.5 mn", [("Bob", "pay", "3.5E6", "$")]),
        ("Итого по части:\n- Анна: часы — 1,234", [("Анна", "часы", "1.234", "")]),
        ("Итого по части:\n- Боб: часы — 12 345,5 ч", [("Боб", "часы", "12345.5", "ч")]),
        ("**Итого:**\n1. Анна: выручка — -3 млн ₽", [("Анна", "выручка", "-3E6", "₽")]),
        ("本部分合计：\n- 王芳：工时 —— 37.5 小时", [("王芳", "工时", "37.5", "小时")]),
        ("Totals:\n- none", []),
        ("Totals:\n- Anna: hours — 1\n\nThat is all I found.", [("Anna", "hours", "1", "")]),
    ],
)  # fmt: skip
def test_a_list_of_totals(listed: str, totals: list[tuple[str, str, str, str]]) -> None:
    expected = tuple(Total(name, field, Decimal(value), unit) for name, field, value, unit in totals)
    assert rewrite(REPLY + listed).totals == expected
    assert lines_of(Summary(sections=rewrite(REPLY + listed).sections), CONFIRMED) == ("Anna: role — cook [1.1]",)


def test_totals_may_stand_above_removed_and_below_nothing_new() -> None:
    above = REPLY.replace("Removed:\n- none\n", "Totals:\n- Anna: hours — 5\nRemoved:\n- a fact — duplicate of b\n")
    assert rewrite(above).totals == (Total("Anna", "hours", Decimal(5)),)
    assert rewrite(above).removed[0].fact == "a fact"
    quiet = rewrite("Nothing new: rows of a table\nTotals:\n- Anna: hours — 5\n")
    assert (quiet.nothing_new, len(quiet.totals)) == ("rows of a table", 1)


def test_a_section_of_a_persons_own_with_this_title_stays_one() -> None:
    found = rewrite("## Confirmed\n- Anna: role — cook [1.1]\n## Totals\n- all is well\nRemoved:\n- none\n")
    assert [section.title for section in found.sections] == ["Confirmed", "Totals"]
    assert found.totals == ()


@pytest.mark.parametrize(
    "line", ["Anna: hours — about 5", "Anna: hours — 5 of 7", "Anna: hours", "Anna: hours — 10–12", "five"]
)
def test_a_malformed_total_is_a_defect_with_its_line(line: str) -> None:
    value, defects = parse_synthesizer(Reply(f"{REPLY}Totals:\n- {line}\n"))
    assert value is None
    assert [(defect.code, defect.value) for defect in defects] == [("malformed-total", line)]


# Adding ------------------------------------------------------------------------------------------------

NUMBERS = st.decimals(min_value=-(10**12), max_value=10**12, allow_nan=False, allow_infinity=False, places=4)
TOTALS = st.builds(
    Total, st.sampled_from(("Anna", "anna ", "Bob")), st.sampled_from(("hours", "Hours", "pay")), NUMBERS
)
PARTS = st.lists(st.lists(TOTALS, max_size=4), max_size=5)


def sums(totals: Sequence[Total]) -> dict[object, Decimal]:
    return {key(total): total.value for total in totals}


@given(PARTS)
def test_totals_add_up_exactly_in_any_order_and_grouping(parts: list[list[Total]]) -> None:
    whole = sums(add(parts))
    exact: dict[object, int] = {}
    for total in (total for part in parts for total in part):
        exact[key(total)] = exact.get(key(total), 0) + int(total.value.scaleb(4))
    assert {same: int(value.scaleb(4)) for same, value in whole.items()} == exact
    assert sums(add(parts[::-1])) == whole
    assert sums(add([add(parts[:2]), add(parts[2:])])) == whole


def test_more_digits_than_a_float_or_a_usual_decimal_has() -> None:
    long, short = Decimal("12345678901234567890123456789012.5"), Decimal("0.0000000001")
    assert add([[Total("a", "b", long)], [Total("a", "b", short)]])[0].value == Decimal(
        "12345678901234567890123456789012.5000000001"
    )


@pytest.mark.parametrize("language", ["en", "ru", "zh"])
@given(value=NUMBERS)
def test_a_sum_reads_back_as_it_was(language: str, value: Decimal) -> None:
    read = whole_amount(written(value, language))
    assert read is not None
    assert read.value == value


def test_people_with_like_names_are_two() -> None:
    assert len(add([[Total("Иван Петров", "часы", Decimal(1)), Total("Ивана Петрова", "часы", Decimal(2))]])) == 2


def test_lines_name_the_unit_that_only_some_parts_wrote() -> None:
    totals = add([[Total("Anna", "pay", Decimal("1000.5"), "$")], [Total("Anna", "pay", Decimal(234))]])
    assert lines(totals, ["1.1", "1.2"]) == ("Anna: pay — 1,234.5 $ [1.1] [1.2] [summed]",)
    hours = [Total("Anna", "hours", Decimal("37.50"), "hours")]
    assert lines(hours, ["1.1"]) == ("Anna: hours — 37.5 [1.1] [summed]",)
    assert lines([Total("Анна", "часы", Decimal("1234.5"))], ["1.1"], "ru") == (
        "Анна: часы — 1\u00a0234,5 [1.1] [summed]",
    )


def test_lines_are_put_into_confirmed_in_place_of_their_earlier_ones() -> None:
    old = Summary(sections=(Section(CONFIRMED, "Confirmed", ("- Anna: role — cook [1.1]",)),))
    first = with_lines(Rewrite(nothing_new="x"), old, ["Anna: hours — 5 [1.1] [summed]"])
    told = lines_of(Summary(sections=first.sections), CONFIRMED)
    assert told == ("Anna: role — cook [1.1]", "Anna: hours — 5 [1.1] [summed]")
    again = with_lines(first, old, ["Anna: hours — 6 [1.1] [summed]"])
    assert lines_of(Summary(sections=again.sections), CONFIRMED)[1:] == ("Anna: hours — 6 [1.1] [summed]",)
    assert filled_cells(told, Grid(("Anna",), ("hours",))) == {("Anna", "hours")}


# Guards ------------------------------------------------------------------------------------------------

PART = "## 1. Worklog\n- url: https://example.org\n\n| Name | Hours |\n|---|---|\n| Anna  Petrova | 5 |\n"
SUMMED = "Anna Petrova: hours — 1,234.5 [1.1] [summed]"


def view(confirmed: Sequence[str] = (SUMMED,)) -> View:
    text = "## Confirmed\n" + "".join(f"- {line}\n" for line in confirmed) + "## Sources\n- [1.1] Worklog\n"
    files = {"raw_1.md": PART}
    packet = Packet(Role.SYNTHESIZER, "", 1, "", files, ("summary.md",), totals=True)
    case = Case(Question("Hours of Anna Petrova?"), parse_summary(text), NextQuery(), None)
    return View(case, packet, frozenset({"1.1"}), lambda id: Source("Worklog", PART))


def checked(confirmed: Sequence[str], *totals: Total, before: Sequence[str] = (SUMMED,)) -> list[tuple[str, str]]:
    sections = (Section(CONFIRMED, "Confirmed", tuple(f"- {line}" for line in confirmed)),)
    return [(one.code, one.value) for one in check_rewrite(Rewrite("", sections, totals=totals), view(before))]


def test_a_sum_stays_and_is_not_looked_up() -> None:
    assert checked([SUMMED]) == []
    assert checked([SUMMED], Total("anna petrova", "hours", Decimal(5)), Total("Петрова", "", Decimal(1))) == [
        ("unknown-total", "Петрова")
    ]


def test_a_sum_that_a_role_brings_in_drops_or_changes() -> None:
    assert checked([SUMMED], before=()) == [("forged-mark", SUMMED)]
    assert checked(["Anna Petrova: role — cook [1.1]"]) == [("lost-sum", SUMMED)]
    changed = SUMMED.replace("1,234.5", "1,235")
    assert checked([changed]) == [("forged-mark", changed), ("lost-sum", SUMMED)]


def test_a_lost_sum_is_put_back_by_code() -> None:
    sections = (Section(CONFIRMED, "Confirmed", ("- Anna Petrova: role — cook [1.1]",)),)
    where, without = view(), Rewrite("", sections)
    mended = mend(without, check_rewrite(without, where), where.case.summary, lambda one: check_rewrite(one, where))
    assert mended is not None
    assert SUMMED in lines_of(Summary(sections=mended.sections), CONFIRMED)


def test_one_total_twice_is_a_defect() -> None:
    twice = [Total("Anna Petrova", "hours", Decimal(5)), Total("anna petrova", "Hours", Decimal(6))]
    assert checked([SUMMED], *twice) == [("repeated-total", "Anna Petrova: hours")]
