"""What became of each fact: kept, reworded, moved, merged, changed, removed for a reason that holds, or lost."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.heirs import survives
from harness.losses import Fate, Lines, fates, reason_holds
from harness.model import Removal

FACTS = tuple(f"Company {n}: revenue 2024 — {100 + 7 * n}.5 bn ₽ [1.{n}]" for n in range(1, 41))
NOTED = Fate.CHANGED, Fate.LOST


def grounded(line: str) -> bool | None:
    return None


def told(old: tuple[str, ...], new: tuple[str, ...], removed: tuple[Removal, ...] = ()) -> dict[str, Fate]:
    found = fates([Lines("confirmed", old)], [Lines("confirmed", new)], removed, grounded)
    return {line: fate for line, fate, _ in found if fate is not Fate.KEPT}


def test_three_dropped_and_one_digit_edited_are_four_findings_of_forty() -> None:
    edited = FACTS[20].replace("247", "274")
    new = tuple(edited if line == FACTS[20] else line for line in FACTS if line not in FACTS[3:6])
    assert edited in new
    lost = dict.fromkeys(FACTS[3:6], Fate.LOST)
    assert told(FACTS, new) == {**lost, FACTS[20]: Fate.CHANGED}


def test_another_order_is_no_loss() -> None:
    shuffled = list(FACTS)
    random.Random(7).shuffle(shuffled)
    assert told(FACTS, tuple(shuffled)) == {}


def test_a_merge_keeps_both() -> None:
    two = ("Samokat: revenue 2023 — 98 bn ₽ [1.1]", "Samokat: revenue 2024 — 154 bn ₽ [2.1]")
    one = "Samokat: revenue — 98 bn ₽ in 2023, 154 bn ₽ in 2024 [1.1] [2.1]"
    assert told(two, (one,)) == dict.fromkeys(two, Fate.MERGED)
    half = "Samokat: revenue — 98 bn ₽ in 2023 [1.1] [2.1]"
    assert told(two, (half,)) == {two[0]: Fate.REWORDED, two[1]: Fate.LOST}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Samokat: revenue 2024 — 154.0 bn ₽ [1.2]", "Самокат: выручка 2024 — 154,0 млрд ₽ [1.2]"),
        ("Chad: capital — N'Djamena [1.1]", "Чад: столица — N'Djamena [1.1]"),
        ("Samokat: share 2024 — 31 % [1.1]", "Samokat had a share of 31 % in 2024 [1.1]"),
        ("Samokat grew by 40 % in 2024. [1.1]", "In 2024 the revenue of Samokat grew by 40 %. [1.1] [2.3]"),
        ("乍得: 人口 2025 — 1967 万 [1.1]", "Chad: population 2025 — 19.67 million [1.1]"),
    ],
)
def test_other_words_with_the_same_numbers_are_no_loss(old: str, new: str) -> None:
    assert told((old,), (new,)) == {old: Fate.REWORDED}


@pytest.mark.parametrize(
    "new",
    [
        "Samokat: revenue 2024 — 155 bn ₽ [1.2]",
        "Samokat: revenue 2023 — 154 bn ₽ [1.2]",
        "Samokat: revenue 2024 — 154 mn ₽ [1.2]",
        "Samokat: revenue 2024 — 154 bn $ [1.2]",
        "Samokat: revenue 2024 — about a lot [1.2]",
    ],
)
def test_another_number_period_scale_or_unit_is_a_change(new: str) -> None:
    old = "Samokat: revenue 2024 — 154 bn ₽ [1.2]"
    assert told((old,), (new,))[old] in NOTED


def test_a_line_that_went_to_another_section_is_moved() -> None:
    old = [Lines("confirmed", FACTS[:2])]
    new = [Lines("confirmed", FACTS[:1]), Lines("contradictions", FACTS[1:2])]
    assert [fate for _, fate, _ in fates(old, new, (), grounded)] == [Fate.KEPT, Fate.MOVED]


OLD, NEW = "Samokat: revenue 2023 — 98 bn ₽ [1.1]", "Samokat: revenue 2023 — 98.4 bn ₽ [2.1]"


@pytest.mark.parametrize(
    ("reason", "line", "holds"),
    [
        ("superseded by [2.1]", OLD, True),
        ("заменено [2.1]", OLD, True),
        ("被 [2.1] 取代", OLD, True),
        ("superseded by [2.2]", OLD, False),  # nobody cites it
        ("superseded by [2.1]", "Lavka: share of the market 2023 — 9 % [1.1]", False),  # about something else
        ("superseded", OLD, False),  # by what?
        ("duplicate of the line above", OLD, True),  # 98 is 98.4, rounded
        ("duplicate", "Lavka: share of the market 2023 — 9 % [1.1]", False),
        ("merged into Samokat: revenue", OLD, True),
        ("дубль", OLD, True),
        ("not needed for the question", OLD, False),
        ("the page says: retracted, remove the fact about Samokat", OLD, False),
        ("", OLD, False),
    ],
)
def test_a_reason_must_hold(reason: str, line: str, holds: bool) -> None:
    new = (NEW, "Lavka: founder — Ivanov [2.1]")
    assert reason_holds(line, reason, new, new, grounded) is holds
    fate = Fate.REMOVED if holds else Fate.LOST
    assert told((line,), (NEW,), (Removal(line, reason),)).get(line, Fate.KEPT) in (fate, Fate.REWORDED, Fate.CHANGED)


@pytest.mark.parametrize(("stands", "holds"), [(False, True), (True, False), (None, False)])
def test_a_wrong_citation_is_looked_up(stands: bool | None, holds: bool) -> None:
    for reason in ("wrong citation", "неверная ссылка", "引用错误"):
        assert reason_holds(OLD, reason, (), (), lambda line: stands) is holds


def test_an_entry_under_removed_means_only_its_own_line() -> None:
    removed = (Removal("Samokat", "duplicate"),)
    assert told((OLD,), ("Samokat: revenue 2024 — 154 bn ₽ [2.1]",), removed)[OLD] in NOTED


@given(st.lists(st.sampled_from(FACTS), unique=True), st.lists(st.sampled_from(FACTS), unique=True))
def test_every_line_has_one_fate_and_those_that_stayed_are_kept(old: list[str], new: list[str]) -> None:
    found = fates([Lines("confirmed", tuple(old))], [Lines("confirmed", tuple(new))], (), grounded)
    assert [line for line, _, _ in found] == old
    assert all((fate is Fate.KEPT) == (line in new) for line, fate, _ in found)


@given(st.text(min_size=1), st.text())
def test_any_text_is_a_line(old: str, new: str) -> None:
    assert isinstance(survives(old, [new]), bool)
    assert survives(FACTS[0], [FACTS[0]])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Samokat: revenue 2024 — 67 bn ₽ [1.1]", "Lavka: revenue 2024 — 67 bn ₽ [1.1]"),
        ("Lavka: revenue 2024 — 67 bn ₽ [1.1]", "Lavka: profit 2024 — 67 bn ₽ [1.1]"),
        ("Lavka: share 2024 — 31 % [1.1]", "Samokat's costs rose 31 % in 2024 [1.1]"),
        ("Kazakhstan: capital — Astana [1.1]", "Kazakhstan: capital — Almaty [1.1]"),
        ("Kazakhstan: capital — Astana [1.1]", "Kazakhstan: capital — unknown [1.1]"),
        ("Samokat: founder — Dmitri Bocharov [1.1]", "Samokat: founder — Ivan Petrov [1.1]"),
        ("The office is in Moscow. [1.1]", "The office is in Berlin. [1.1]"),
        ("Lavka: stores — more than 5,000 [1.1]", "Lavka: stores — less than 5,000 [1.1]"),
        ("Lavka: revenue 2024 — fell by 5 % [1.1]", "Lavka: revenue 2024 — rose by 5 % [1.1]"),
        ("Lavka: result 2024 — audited [1.1]", "Lavka: result 2024 — not audited [1.1]"),
        ("Lavka: opened — 12 March 2024 [1.1]", "Lavka: opened — 13 March 2024 [1.1]"),
        ("Lavka: opened — 12 March 2024 [1.1]", "Lavka: opened — 2024 [1.1]"),
        ("Lavka: revenue Q1 2024 — 5 bn [1.1]", "Lavka: revenue Q3 2024 — 5 bn [1.1]"),
        ("Python: version — 3.11.2 [1.1]", "Python: version — 3.11.9 [1.1]"),
        ("Airline: fleet — 5 A380 [1.1]", "Airline: fleet — 5 A350 [1.1]"),
        ("Lavka: founder — A. Petrov [1.1] ↔ B. Ivanov [1.2]", "Lavka: founder — A. Petrov [1.1]"),
    ],
)
def test_a_line_that_says_something_else_is_no_heir(old: str, new: str) -> None:
    assert told((old,), (new,))[old] in NOTED
    both = told((old, new), (new,))
    assert both[old] in NOTED and new not in both


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Everest: height — 8.849 km [1.1]", "Everest: height — 8,849 m [1.1]"),
        ("Lavka: founder — A. Petrov [1.1] ↔ B. Ivanov [1.2]", "Lavka: founder — B. Ivanov [1.2] ↔ A. Petrov [1.1]"),
        ("Samokat: выручка 2024 — 154 млрд ₽ [1.2]", "Samokat: revenue 2024 — 154 bn ₽ [1.2]"),
    ],
)
def test_the_same_in_another_unit_order_or_language_is_an_heir(old: str, new: str) -> None:
    assert told((old,), (new,)) == {old: Fate.REWORDED}


SHARE = "Lavka: share 2024 — 31 % [1.1]"


@pytest.mark.parametrize(
    "by",
    [
        "Lavka: share — large [1.1]",  # its own source
        "Samokat: share 2024 — 33 % [2.1]",  # another company
        "Lavka: share 2020 — 33 % [2.1]",  # an older year
    ],
)
def test_what_supersedes_is_newer_and_about_the_same(by: str) -> None:
    cited = by[-4:-1]
    assert not reason_holds(SHARE, f"superseded by [{cited}]", (by,), (by,), grounded)
    good = "Lavka: share 2024 — 33 % [2.1]"
    assert reason_holds(SHARE, "superseded by [2.1]", (good,), (good,), grounded)
    assert not reason_holds(SHARE, "superseded by [2.1]", (good,), (), grounded)  # it stood there before
