"""Two values for one thing and period, and whether Contradictions has them."""

from __future__ import annotations

import pytest

from harness.contradictions import clashes
from harness.model import Grid

GRID = Grid(("Lavka", "Самокат"), ("revenue", "выручка"))
ONE, TWO = "Lavka: revenue 2024 — 67 bn ₽ [1.3]", "Lavka: revenue 2024 — 71.4 bn ₽ [3.1]"
ENTRY = "Lavka: revenue 2024 — 67 bn ₽ [1.3] ↔ 71.4 bn ₽ [3.1]"


@pytest.mark.parametrize("grid", [GRID, Grid()])
def test_two_values_clash_and_the_entry_is_ready_to_add(grid: Grid) -> None:
    (clash,) = clashes([ONE, TWO], [], grid)
    assert clash == (ONE, TWO, ENTRY)
    assert clashes([ONE, TWO], [clash.entry], grid) == ()


@pytest.mark.parametrize(
    "entry",
    [
        "Lavka: revenue 2024 — 67 bn ₽ [1.3] vs 71.4 bn ₽ [3.1]",
        "The revenue of Lavka in 2024 has two figures [1.3] [3.1]",
    ],
)
def test_an_entry_in_other_words_counts(entry: str) -> None:
    assert clashes([ONE, TWO], [entry], GRID) == ()


@pytest.mark.parametrize(
    "other",
    [
        "Lavka: revenue 2023 — 71.4 bn ₽ [3.1]",  # another period
        "Lavka: revenue 2024 — 67.0 bn ₽ [3.1]",  # the same value
        "Lavka: revenue 2024 — 67,0 млрд ₽ [3.1]",
        "Lavka: revenue H1 2024 — 30 bn ₽ [3.1]",
        "Lavka: staff 2024 — 4,000 people [3.1]",
        "Самокат: выручка 2024 — 154 млрд ₽ [3.1]",
        "Lavka: revenue — 71.4 bn ₽ [3.1]",  # of which year?
        "In 2024 Lavka had a revenue of 71.4 bn ₽. [3.1]",  # prose is not compared
    ],
)
@pytest.mark.parametrize("grid", [GRID, Grid()])
def test_what_is_no_contradiction(other: str, grid: Grid) -> None:
    assert clashes([ONE, other], [], grid) == ()


def test_an_entry_about_another_year_does_not_count() -> None:
    assert clashes([ONE, TWO], ["Lavka: revenue 2020 — 1 bn ₽ [1.1] ↔ 2 bn ₽ [1.2]"], GRID)


@pytest.mark.parametrize(
    "entry",
    [
        "Lavka: revenue 2023 — 6 bn ₽ [1.3] ↔ 7 bn ₽ [3.1]",  # another year
        "Lavka: staff 2024 — 67 [1.3] ↔ 71 [3.1]",  # another field
        "Lavka: revenue 2024 — 5 bn ₽ [1.3] ↔ 6 bn ₽ [3.1]",  # other values
        "Lavka: revenue 2019 — 5 bn ₽ [1.3]",
    ],
)
@pytest.mark.parametrize("grid", [GRID, Grid()])
def test_an_entry_about_something_else_does_not_count(entry: str, grid: Grid) -> None:
    assert clashes([ONE, TWO], [entry], grid)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("more than 5,000", "5,432"),
        ("67 bn ₽", "$0.7 bn"),
        ("60–70 bn ₽", "67 bn ₽"),
        ("67 bn ₽", "up 20 %"),
        ("second largest", "20 %"),
    ],
)
def test_values_of_other_kinds_do_not_contradict(first: str, second: str) -> None:
    assert clashes([f"Lavka: revenue 2024 — {first} [1.1]", f"Lavka: revenue 2024 — {second} [1.2]"], [], GRID) == ()


def test_a_period_in_brackets_behind_the_value_is_the_lines() -> None:
    lines = ["Lavka: revenue — 67 bn ₽ (2024) [1.1]", "Lavka: revenue — 71 bn ₽ (2024) [1.2]"]
    assert clashes(lines, [], GRID) and clashes(lines, [], Grid())
    assert not clashes([lines[0], lines[1].replace("2024", "2023")], [], GRID)
