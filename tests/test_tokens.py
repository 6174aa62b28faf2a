"""The estimate is above both vocabularies wherever it says so, and never far above what people write."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.counters import counter_for
from harness.tokens import estimate
from harness.vocabulary import PINS
from tests.token_texts import CHINESE, FILES, MADE, PROSE_RU, ROOT, TEXTS

EXACT = {name: counter_for(name, 1.0, Path("unused")) for name in PINS}
# Scripts for which a byte counts as a token: whatever stands in them, there are no more.
OTHER_SCRIPTS = st.characters(min_codepoint=0x80, exclude_categories=["Cs"]).filter(
    lambda c: not (0x400 <= ord(c) < 0x500 or 0x4000 <= ord(c) < 0xA000)
)
NUMBERS = st.text("0123456789,;|-. \t\n:/%()", max_size=300)


def most(text: str) -> int:
    """Tokens by the vocabulary that has more."""
    return max(counter(text) for counter in EXACT.values())


@pytest.mark.parametrize("name", MADE)
def test_no_text_has_more(name: str) -> None:
    assert estimate(MADE[name]) >= most(MADE[name])


def test_no_file_and_no_run_of_one_character_has_more() -> None:
    names = list(TEXTS)
    for counter in EXACT.values():
        counted = counter.many([TEXTS[name] for name in names])
        assert not [name for name, number in zip(names, counted, strict=True) if estimate(TEXTS[name]) < number]


@given(st.text(max_size=20))
def test_nothing_short_has_more(text: str) -> None:
    assert estimate(text) >= most(text)


@given(st.text(OTHER_SCRIPTS))
def test_no_other_script_has_more(text: str) -> None:
    assert estimate(text) >= most(text)


@given(NUMBERS)
def test_no_table_of_numbers_has_more(text: str) -> None:
    assert estimate(text) >= most(text)


@given(st.sampled_from(sorted(TEXTS)), st.data())
def test_no_part_of_a_text_has_more(name: str, data: st.DataObject) -> None:
    text = TEXTS[name]
    begin = data.draw(st.integers(0, len(text)))
    part = text[begin : begin + data.draw(st.integers(0, 5_000))]
    assert estimate(part) >= most(part)


@given(st.text(), st.text())
def test_two_pieces_count_no_less_than_the_whole(first: str, second: str) -> None:
    assert estimate(first) + estimate(second) + 1 >= estimate(first + second)


@given(st.text("0 x,", max_size=40), st.text("0 x,", max_size=40))
def test_pieces_that_meet_in_a_number_or_a_column(first: str, second: str) -> None:
    assert estimate(first) + estimate(second) + 1 >= estimate(first + second)


def test_half_a_surrogate_pair_is_counted() -> None:
    assert estimate("\ud800" * 100) == 300


def test_what_people_write_is_not_counted_far_above() -> None:
    english = (ROOT / "docs/agents.md").read_text(encoding="utf-8")
    code = "".join(text for name, text in FILES.items() if name.startswith("harness/"))
    for text, over in ((english, 1.8), (code, 1.8), (PROSE_RU, 1.4), (CHINESE, 1.4)):
        assert estimate(text) <= over * most(text) + 20
