"""Replies of several parts become one: nothing is lost, nothing stands twice, and their order does not matter."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.facts import citations, without_marks
from harness.formats.summary import lines_of
from harness.heirs import survives
from harness.merging import merge
from harness.model import Grid, Removal, Rewrite, Section, SectionKind, Summary, Total
from harness.quantities import same_value

CONFIRMED, CONTRADICTIONS, NOT_FOUND = SectionKind.CONFIRMED, SectionKind.CONTRADICTIONS, SectionKind.NOT_FOUND
GRID = Grid(("Samokat", "VkusVill", "Самокат"), ("revenue", "founder", "выручка"))
OLD = (
    "Samokat: revenue 2023 — 98.0 bn roubles [1.1]",
    "Samokat: founder — Vyacheslav Bocharov [1.2]",
    "VkusVill opened its first shop in 2009. [1.3]",
    "VkusVill: revenue 2022 — 5 bn roubles [person] [pinned]",
)


def section(kind: SectionKind, lines: Sequence[str], title: str = "") -> Section:
    return Section(kind, title or kind.value, tuple(f"- {line}" for line in lines))


def reply(
    confirmed: Sequence[str] | None = None,
    contradictions: Sequence[str] | None = None,
    not_found: Sequence[str] | None = None,
    removed: Sequence[Removal] = (),
) -> Rewrite:
    kinds = ((CONFIRMED, confirmed), (CONTRADICTIONS, contradictions), (NOT_FOUND, not_found))
    return Rewrite("", tuple(section(kind, lines) for kind, lines in kinds if lines is not None), tuple(removed))


def summary(confirmed: Sequence[str] = OLD, entries: Sequence[str] = (), not_found: Sequence[str] = ()) -> Summary:
    return Summary(sections=reply(confirmed, entries, not_found).sections)


def lines(rewrite: Rewrite, kind: SectionKind = CONFIRMED) -> tuple[str, ...]:
    return lines_of(Summary(sections=rewrite.sections), kind)


def said(rewrite: Rewrite) -> dict[SectionKind, frozenset[tuple[str, frozenset[str]]]]:
    """What a rewrite says, whatever the order of its lines and citations."""
    kinds = (CONFIRMED, CONTRADICTIONS, NOT_FOUND)
    return {
        kind: frozenset((without_marks(line), frozenset(citations(line))) for line in lines(rewrite, kind))
        for kind in kinds
    }


# Cases -------------------------------------------------------------------------------------------------


def test_what_each_part_added_stands_once() -> None:
    one = reply([*OLD, "Samokat: revenue 2024 — 154.0 bn roubles [2.1]"])
    two = reply([*OLD, "Samokat: revenue 2024 — 154 000 000 000 roubles [2.7]", "Lavka sells food. [2.8]"])
    merged = lines(merge(summary(), [one, two], GRID))
    assert merged[:4] == OLD
    assert len(merged) == 6
    assert citations(merged[4]) == ("2.7", "2.1")
    assert merged[5] == "Lavka sells food. [2.8]"


def test_a_fact_that_one_reply_cites_further_is_the_longer_one_in_its_place() -> None:
    longer = "Samokat: revenue 2023 — 98.0 bn roubles [1.1] [2.4]"
    assert lines(merge(summary(), [reply(OLD), reply([longer, *OLD[1:]])], GRID)) == (longer, *OLD[1:])


def test_a_removal_that_holds_takes_the_line_out_for_all() -> None:
    newer = "Samokat: revenue 2023 — 98.4 bn roubles [2.1]"
    removal = Removal(OLD[0], "superseded by [2.1]")
    merged = merge(summary(), [reply(OLD), reply([*OLD[1:], newer], removed=[removal])], GRID)
    assert OLD[0] not in lines(merged)
    assert newer in lines(merged)
    assert merged.removed == (removal,)


def test_of_two_lines_that_are_each_called_the_others_duplicate_both_stay() -> None:
    two = ("Samokat sold food for 98 bn in 2023. [1.1]", "Samokat sold in 2023 food for 98 bn. [1.4]")
    first = reply(two[1:], removed=[Removal(two[0], "duplicate of the next")])
    second = reply(two[:1], removed=[Removal(two[1], "duplicate of the one before")])
    merged = merge(summary(two), [first, second], Grid())
    assert set(lines(merged)) == set(two)
    assert merged.removed == ()


def test_a_line_that_vanished_without_a_reason_is_back() -> None:
    assert set(lines(merge(summary(), [reply(OLD[:2])], GRID))) == set(OLD)


def test_two_values_of_two_parts_are_one_contradiction_with_all_sides() -> None:
    values = ("67 bn roubles [2.1]", "71.4 bn roubles [2.5]", "80 bn roubles [2.9]")
    replies = [reply([*OLD, f"VkusVill: revenue 2024 — {value}"]) for value in values]
    merged = merge(summary(), replies, GRID)
    assert lines(merged, CONTRADICTIONS) == (f"VkusVill: revenue 2024 — {' ↔ '.join(values)}",)


def test_the_sides_that_two_parts_add_to_one_entry_stand_in_one() -> None:
    known = "Samokat: revenue 2024 — 67 bn [1.1] ↔ 71 bn [1.2]"
    replies = [reply(OLD, [f"{known} ↔ 80 bn [2.1]"]), reply(OLD, [f"{known} ↔ 90 bn [2.2]"]), reply(OLD, [known])]
    merged = merge(summary(OLD, [known]), replies, GRID)
    assert lines(merged, CONTRADICTIONS) == (f"{known} ↔ 80 bn [2.1] ↔ 90 bn [2.2]",)


def test_what_one_part_found_is_not_listed_as_not_found() -> None:
    gaps = ("Samokat: revenue", "VkusVill: founder", "opening hours")
    found = reply([*OLD, "Opening hours are 9 to 22. [2.1]"], not_found=gaps[:2])
    other = reply(OLD, not_found=[*gaps, "number of couriers"])
    merged = merge(summary(OLD, (), gaps), [found, other], GRID)
    assert lines(merged, NOT_FOUND) == ("VkusVill: founder", "number of couriers")
    fresh = merge(summary(()), [reply(["Opening hours are 9 to 22. [2.1]"]), reply([], not_found=gaps[2:])], GRID)
    assert lines(fresh, NOT_FOUND) == ()


def test_nothing_new_keeps_everything() -> None:
    quiet = Rewrite(nothing_new="only adverts")
    assert merge(summary(), [quiet, quiet._replace(nothing_new="a table")], GRID).nothing_new == "only adverts; a table"
    merged = merge(summary(), [quiet, reply([*OLD, "Lavka sells food. [2.8]"])], GRID)
    assert merged.nothing_new is None
    assert lines(merged) == (*OLD, "Lavka sells food. [2.8]")
    with pytest.raises(ValueError, match="no replies"):
        merge(summary(), [], GRID)


def test_totals_are_added_also_of_replies_with_nothing_new() -> None:
    one = Rewrite(nothing_new="a table", totals=(Total("Anna", "hours", Decimal("37.5")),))
    two = reply(OLD)._replace(totals=(Total("anna", "Hours", Decimal("0.25")), Total("Bob", "hours", Decimal(8))))
    assert merge(summary(), [one, two], GRID).totals == (
        Total("Anna", "hours", Decimal("37.75")),
        Total("Bob", "hours", Decimal(8)),
    )


def test_a_section_of_a_persons_own_is_united_line_by_line() -> None:
    own = Section(SectionKind.OTHER, "Prices", ("Some prose.", "", "- bread 50 [1.1]"))
    before = Summary(sections=(*summary().sections, own))
    more = [own._replace(lines=(*own.lines, f"- {what} [2.1]")) for what in ("milk 80", "salt 20")]
    merged = merge(before, [Rewrite(sections=(one,)) for one in (own, *more)], GRID)
    assert merged.sections == (own._replace(lines=(*own.lines, "- milk 80 [2.1]", "- salt 20 [2.1]")),)
    assert merge(before, [Rewrite(sections=(more[0],))], GRID).sections == (more[0],)


# Laws --------------------------------------------------------------------------------------------------

ENTITIES, FIELDS = ("Samokat", "VkusVill"), ("revenue", "staff")
VALUES = ("5", "7", "12,5 %", "1,200", "1 200", "3.5 bn roubles", "3 500 000 000 roubles", "90 people")


@st.composite
def facts(draw: st.DrawFn, number: int) -> str:
    cited = " ".join(f"[{number}.{k}]" for k in sorted(draw(st.sets(st.integers(1, 9), min_size=1, max_size=2))))
    value = draw(st.sampled_from(VALUES))
    if draw(st.booleans()):
        year = draw(st.sampled_from(("2023", "2024", "Q1 2024")))
        return f"{draw(st.sampled_from(ENTITIES))}: {draw(st.sampled_from(FIELDS))} {year} — {value} {cited}"
    verb, what = draw(st.sampled_from(("sold", "lost", "bought"))), draw(st.sampled_from(("food", "shops", "vans")))
    return f"{draw(st.sampled_from(ENTITIES))} {verb} {what} for {value}. {cited}"


@st.composite
def replies(draw: st.DrawFn, old: Sequence[str], gaps: Sequence[str]) -> Rewrite:
    """A reply that the guards let pass: every old line kept, or cited further, with new ones between and behind."""
    if draw(st.integers(0, 5)) == 0:
        return Rewrite(nothing_new="adverts")
    kept = [f"{line} [2.{draw(st.integers(1, 9))}]" if draw(st.integers(0, 4)) == 0 else line for line in old]
    new = draw(st.lists(facts(2), max_size=4, unique=True))
    more = draw(st.lists(st.sampled_from(("rent", "pay")), unique=True))
    open_now = [gap for gap in gaps if draw(st.booleans())]
    return reply(list(dict.fromkeys([*kept, *new])), None, [*open_now, *more])


@st.composite
def cases(draw: st.DrawFn) -> tuple[Summary, list[Rewrite]]:
    old = draw(st.lists(facts(1), max_size=4, unique_by=without_marks))
    gaps = draw(st.lists(st.sampled_from(("Samokat: staff", "profit", "couriers")), unique=True))
    return summary(old, (), gaps), draw(st.lists(replies(old, gaps), min_size=1, max_size=4))


GRIDS = st.sampled_from((Grid(), Grid(ENTITIES, FIELDS)))


@given(cases(), GRIDS, st.randoms(use_true_random=False))
def test_the_order_of_the_replies_does_not_matter(
    case: tuple[Summary, list[Rewrite]], grid: Grid, random: Random
) -> None:
    before, told = case
    other = random.sample(told, len(told))
    assert said(merge(before, told, grid)) == said(merge(before, other, grid))


@given(cases(), GRIDS)
def test_a_reply_twice_is_the_same_as_once(case: tuple[Summary, list[Rewrite]], grid: Grid) -> None:
    before, told = case
    assert merge(before, [*told, told[-1]], grid).sections == merge(before, told, grid).sections


@given(cases(), GRIDS)
def test_no_line_is_lost(case: tuple[Summary, list[Rewrite]], grid: Grid) -> None:
    before, told = case
    silent = all(one.nothing_new is not None for one in told)
    merged = lines_of(before, CONFIRMED) if silent else lines(merge(before, told, grid))
    for line in (*lines_of(before, CONFIRMED), *(line for one in told for line in lines(one))):
        found = [one for one in merged if without_marks(one) == without_marks(line) or survives(line, [one])]
        assert any(set(citations(line)) <= set(citations(one)) for one in found), line
    assert len({without_marks(line) for line in merged}) == len(merged)


@settings(max_examples=50)
@given(cases(), GRIDS)
def test_merging_in_steps_says_the_same(case: tuple[Summary, list[Rewrite]], grid: Grid) -> None:
    before, told = case
    told = [one for one in told if one.nothing_new is None] or told
    in_steps = merge(before, [merge(before, told[:2], grid), *told[2:]], grid)
    assert said(in_steps)[CONFIRMED] == said(merge(before, told, grid))[CONFIRMED]
    assert said(in_steps)[NOT_FOUND] == said(merge(before, told, grid))[NOT_FOUND]


@given(cases(), GRIDS)
def test_different_values_for_one_cell_and_period_are_in_contradictions(
    case: tuple[Summary, list[Rewrite]], grid: Grid
) -> None:
    before, told = case
    merged = merge(before, told, grid)
    entries = lines(merged, CONTRADICTIONS)
    by_head: dict[str, list[str]] = {}
    for line in set(lines(merged)) - set(lines_of(before, CONFIRMED)):
        if ": " in line:
            head, _, value = without_marks(line).partition(" — ")
            by_head.setdefault(head, []).append(value)
    for head, values in by_head.items():
        plain = [value for value in values if value in ("5", "7", "1,200")]
        if len(plain) > 1 and not same_value(plain[0], plain[1]):
            assert any(head in entry and all(value in entry for value in plain[:2]) for entry in entries)
