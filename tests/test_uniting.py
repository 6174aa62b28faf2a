"""Two summaries made one: laws (nothing lost, no order, itself twice) and the cases that each section has."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from harness.facts import citations, without_marks
from harness.formats.summary import lines_of, parse_summary, render_summary
from harness.model import Grid, SectionKind, Summary
from harness.uniting import Side, United, unite

GRID = Grid(("Oka", "Kama"), ("length",))
NOTHING = Summary()


def side(text: str, raws: dict[int, str] | None = None) -> Side:
    return Side(parse_summary(text), raws or {})


def made(ours: Side, theirs: Side, base: Summary = NOTHING, grid: Grid = GRID) -> United:
    return unite(ours, theirs, base, grid, "en")


def lines(united: United, kind: SectionKind) -> tuple[str, ...]:
    return lines_of(united.summary, kind)


OURS = side(
    "---\nround: 2\nspent: 2\n---\n## Confirmed\n- Oka: length 2020 — 1,500 km [1.1] [2.1]\n"
    "## Not found\n- Kama: length\n"
    "## Searches\n- 1 · Oka length — found, 1 source, +1 fact, 1 gap\n"
    "- 2 · Kama length — nothing found, +0 facts, 1 gap\n"
    "## Sources\n- [1.1] A — a.md\n- [2.1] B — b.md\n",
    {1: "a", 2: "b"},
)
THEIRS = side(
    "---\nround: 2\nspent: 2\n---\n## Confirmed\n- Oka: length 2020 — 1,500 km [1.1]\n"
    "- Kama: length 2020 — 1,805 km [2.2]\n"
    "## Contradictions\n- Oka: depth 2020 — 3 m [1.1] ↔ 4 m [2.1]\n"
    "## Searches\n- 1 · Oka length — found, 1 source, +1 fact, 1 gap\n"
    "- 2 · Kama km — found, 2 sources, +1 fact, 0 gaps\n"
    "## Sources\n- [1.1] A — a.md\n- [2.1] C — c.md\n- [2.2] D — d.md\n## Struck out\n- Oka: width 2020 — 9 m [2.1]\n",
    {1: "a", 2: "c"},
)


def test_the_second_ones_raws_are_renumbered_wherever_they_are_named() -> None:
    united = made(OURS, THEIRS)
    assert united.numbers == {1: 1, 2: 3}
    assert united.added == ("Kama: length 2020 — 1,805 km [3.2]",)
    assert lines(united, SectionKind.CONTRADICTIONS) == ("Oka: depth 2020 — 3 m [1.1] ↔ 4 m [3.1]",)
    assert lines(united, SectionKind.SEARCHES)[2:] == ("3 · Kama km — found, 2 sources, +1 fact, 0 gaps",)
    assert lines(united, SectionKind.SOURCES) == (
        "[1.1] A — a.md",
        "[2.1] B — b.md",
        "[3.1] C — c.md",
        "[3.2] D — d.md",
    )
    assert lines(united, SectionKind.STRUCK) == ("Oka: width 2020 — 9 m [3.1]",)
    assert not lines(united, SectionKind.NOT_FOUND)
    assert (united.summary.round, united.summary.spent, united.summary.reopened) == (3, 3, 3)


def test_a_fact_said_twice_is_one_line_with_both_citations() -> None:
    ours = side("## Confirmed\n- Oka: length 2020 — 1.5 million km [1.1]\n", {1: "a"})
    theirs = side("## Confirmed\n- Oka: length 2020 — 1,500,000 km [1.1]\n", {1: "b"})
    assert lines(made(ours, theirs), SectionKind.CONFIRMED) == ("Oka: length 2020 — 1.5 million km [1.1] [2.1]",)


def test_two_values_for_one_thing_and_period_are_a_contradiction() -> None:
    ours = side("## Confirmed\n- Oka: length 2020 — 1,500 km [1.1]\n", {1: "a"})
    theirs = side("## Confirmed\n- Oka: length 2020 — 1,600 km [1.1]\n", {1: "b"})
    united = made(ours, theirs)
    assert united.opened == ("Oka: length 2020 — 1,500 km [1.1] ↔ 1,600 km [2.1]",)
    assert len(lines(united, SectionKind.CONFIRMED)) == 2


def test_what_one_struck_out_goes_unless_the_other_has_a_new_source() -> None:
    struck = side("---\nround: 1\n---\n## Struck out\n- Oka: length 2020 — 1,500 km [1.1]\n", {1: "a"})
    same = side("---\nround: 1\n---\n## Confirmed\n- Oka: length 2020 — 1,500 km [1.1]\n", {1: "a"})
    other = side("---\nround: 1\n---\n## Confirmed\n- Oka: length 2020 — 1,500 km [1.1]\n", {1: "b"})
    for ours, theirs in ((struck, same), (same, struck)):
        assert not lines(made(ours, theirs), SectionKind.CONFIRMED)
    for ours, theirs in ((struck, other), (other, struck)):
        assert lines(made(ours, theirs), SectionKind.CONFIRMED)


def test_what_the_base_had_and_one_gave_up_does_not_come_back() -> None:
    base = parse_summary("---\nround: 1\n---\n## Confirmed\n- Oka: length 2020 — 1,500 km [1.1]\n")
    kept, dropped = Side(base, {1: "a"}), side("---\nround: 1\n---\n## Confirmed\n", {1: "a"})
    assert lines(made(dropped, kept), SectionKind.CONFIRMED)  # nothing is known of a base
    assert not lines(made(dropped, kept, base), SectionKind.CONFIRMED)
    assert not lines(made(kept, dropped, base), SectionKind.CONFIRMED)


def test_raws_that_are_not_there_are_one_where_their_searches_are() -> None:
    pruned = replace(OURS, raws={})
    assert made(pruned, replace(THEIRS, raws={})).numbers == {1: 1, 2: 3}
    assert made(pruned, pruned).numbers == {1: 1, 2: 2}


def test_raws_that_are_not_there_do_not_come_twice() -> None:
    pruned = replace(THEIRS, raws={})
    once = made(replace(OURS, raws={}), pruned)
    assert made(Side(once.summary, {}), pruned).summary == once.summary


def test_a_raw_that_is_not_there_and_nowhere_named_gets_no_number() -> None:
    assert made(OURS, side("---\nround: 4\n---\n## Confirmed\n")).numbers == {}


def test_two_equal_raws_of_one_case_stay_two() -> None:
    twice = replace(OURS, raws={1: "a", 2: "a"})
    assert made(twice, twice).numbers == {1: 1, 2: 2}


def test_two_equal_new_raws_become_one() -> None:
    theirs = side("---\nround: 2\n---\n## Confirmed\n- Oka: length 2020 — 1 km [1.1] [2.1]\n", {1: "x", 2: "x"})
    united = made(OURS, theirs)
    assert united.numbers == {1: 3, 2: 3}
    assert united.added == ("Oka: length 2020 — 1 km [3.1]",)
    assert united.summary.round == 3


def test_sections_of_people_and_prose_are_united() -> None:
    ours = side("Our words\n## Confirmed\n## Prices\n- bread [1.1]\n", {1: "a"})
    theirs = side("Their words\n## Confirmed\n## Prices\n- bread [1.1]\n- milk [1.1]\n## Notes\nby hand\n", {1: "b"})
    text = render_summary(made(ours, theirs, grid=Grid()).summary)
    assert "Our words\nTheir words\n" in text
    assert "- bread [1.1]\n- milk [2.1]\n" in text
    assert "## Notes\nby hand\n" in text


# Laws ---------------------------------------------------------------------------------------------

FACT = st.tuples(st.sampled_from(("Oka", "Kama")), st.integers(2000, 2003), st.integers(1, 5), st.integers(1, 3))


@st.composite
def sides(draw: st.DrawFn) -> Side:
    """Each raw's content is its own, or one that the other may have too; every fact cites one of them."""
    raws = {n: draw(st.sampled_from(("a", "b", "c", "d"))) + str(n) * draw(st.booleans()) for n in (1, 2, 3)}
    found = draw(st.lists(FACT, max_size=6))
    facts = dict.fromkeys(f"- {name}: length {year} — {value}00 km [{raw}.1]" for name, year, value, raw in found)
    searches = "".join(f"- {n} · query {n} {raws[n]} — found, 1 source\n" for n in raws)
    sources = "".join(f"- [{n}.1] {raws[n]} — {raws[n]}.md\n" for n in raws)
    text = "\n".join(("---\nround: 3\nspent: 3\n---\n## Confirmed", *facts))
    return side(f"{text}\n## Searches\n{searches}## Sources\n{sources}", raws)


def told(united: United, ours: Side, theirs: Side) -> set[tuple[str, str]]:
    """Every fact with what each of its citations leads to."""
    contents = {**{united.numbers[n]: raw for n, raw in theirs.raws.items()}, **ours.raws}
    return {
        (without_marks(line), contents[int(id.split(".")[0])])
        for line in lines(united, SectionKind.CONFIRMED)
        for id in citations(line)
    }


@given(sides(), sides())
def test_the_order_does_not_matter(a: Side, b: Side) -> None:
    one, other = made(a, b), made(b, a)
    assert told(one, a, b) == told(other, b, a)
    assert one.summary.round == len({*a.raws, *one.numbers.values()})
    disputed = [len(lines(united, SectionKind.CONTRADICTIONS)) for united in (one, other)]
    assert disputed[0] == disputed[1]


@given(sides(), sides())
def test_nothing_is_lost(a: Side, b: Side) -> None:
    united = made(a, b)
    there = told(united, a, b)
    for one in (a, b):
        for line in lines_of(one.summary, SectionKind.CONFIRMED):
            for id in citations(line):
                assert (without_marks(line), one.raws[int(id.split(".")[0])]) in there


@given(sides())
def test_a_case_with_itself_is_itself(a: Side) -> None:
    assert made(a, a).summary == a.summary


@given(sides(), sides())
def test_a_second_time_brings_nothing(a: Side, b: Side) -> None:
    once = made(a, b)
    raws = {**{new: b.raws[old] for old, new in once.numbers.items()}, **a.raws}
    assert made(Side(once.summary, raws), b).summary == once.summary
