"""What two values or periods are to each other: labelled pairs with precision and recall, and the laws of `compare`."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from harness.periods import Comparison, compare_periods, same_period
from harness.quantities import compare, same_value
from harness.words import language_of

SAME, DIFFERENT, NOT_COMPARABLE = Comparison
LEAST = 0.97
LAW = settings(deadline=None)  # the first look compiles the patterns, and 5,000 digits take their time


class Pair(NamedTuple):
    """Two texts with the label they were given before the code was run on them."""

    a: str
    b: str
    label: Comparison
    kind: str

    @property
    def found(self) -> Comparison:
        return (compare if self.kind == "value" else compare_periods)(self.a, self.b)

    @property
    def languages(self) -> set[str]:
        """Of both texts; digits without words count as `en`."""
        return {language_of(text) for text in (self.a, self.b)}


def read(line: str) -> Pair:
    pair = json.loads(line)
    return Pair(pair["a"], pair["b"], Comparison(pair["label"]), pair["kind"])


LINES = (Path(__file__).parent / "data" / "value_pairs.jsonl").read_text(encoding="utf-8").splitlines()
PAIRS = [read(line) for line in LINES]


def test_the_pairs_are_many_and_of_every_kind() -> None:
    labels, kinds = Counter(pair.label for pair in PAIRS), Counter(pair.kind for pair in PAIRS)
    languages = Counter(language for pair in PAIRS for language in pair.languages)
    crossing = sum(len(pair.languages) > 1 for pair in PAIRS)
    assert len({(pair.a, pair.b, pair.kind) for pair in PAIRS}) == len(PAIRS) >= 220
    assert min(labels[label] for label in Comparison) >= 50
    assert kinds["period"] >= 50 and kinds["value"] >= 150
    assert min(languages[language] for language in ("en", "ru", "zh")) >= 50 and crossing >= 50
    print(f"\n{len(PAIRS)} pairs: {dict(kinds)}, with {dict(languages)}, {crossing} in two languages")


def test_precision_and_recall() -> None:
    """Run with `-rP` or `-s` to see the table."""
    found = [(pair, pair.found) for pair in PAIRS]
    print(f"\n{'label':16}{'pairs':>6}{'precision':>11}{'recall':>8}")
    scores: dict[str, float] = {}
    for label in Comparison:
        right = sum(pair.label is got is label for pair, got in found)
        wanted, given_so = sum(pair.label is label for pair, _ in found), sum(got is label for _, got in found)
        precision, recall = right / given_so, right / wanted
        print(f"{label.value:16}{wanted:>6}{precision:>11.3f}{recall:>8.3f}")
        scores |= {f"precision of {label.value}": precision, f"recall of {label.value}": recall}
    for pair, got in found:
        if got is not pair.label:
            print(f"{pair.label.value} read as {got.value}: {pair.a[:60]!r} | {pair.b[:60]!r}")
    assert not {name: score for name, score in scores.items() if score < LEAST}


@pytest.mark.parametrize("turned", [False, True], ids=["as written", "turned round"])
def test_same_value_and_same_period_say_no_more_than_the_comparison(turned: bool) -> None:
    for pair in PAIRS:
        a, b = (pair.b, pair.a) if turned else (pair.a, pair.b)
        same = (same_value if pair.kind == "value" else same_period)(a, b)
        assert same is (pair.found is SAME), (a[:60], b[:60])


# Texts that look like values, so that the laws meet more than words.
PIECES = [
    "5", "12", "1,250", "0,5", "2024", "17.1", "-", "−", "–", "…", " ", "\u00a0", "%", "m", "km", "$", "€ ", "₽", "万",
    "亿元", "млн ", "bn ", "тыс. ", "about ", "более ", "less than ", "не более ", "from ", "до ", " and ", "至", "H1 ",
    "Q3 ", "июль ", "年", "(est.)", "[1.2]", "/", ":", " per ", "capita", "Astana", "½", "²", "٣", "İ", "ﬁ",
]  # fmt: skip
VALUES = st.one_of(st.text(max_size=60), st.lists(st.sampled_from(PIECES), max_size=8).map("".join))


@LAW
@given(VALUES, VALUES)
@example("0,000.0", "1.234,5 ₽")  # two marks in one number once raised decimal.InvalidOperation
def test_the_order_of_two_values_does_not_matter(a: str, b: str) -> None:
    assert compare(a, b) is compare(b, a)
    assert compare_periods(a, b) is compare_periods(b, a)


@LAW
@given(VALUES)
def test_a_value_is_the_same_as_itself_whatever_its_spaces(text: str) -> None:
    assert compare(text, text) is SAME
    assert compare_periods(text, text) is SAME
    assert compare(f" {text}\n", text) is SAME


@LAW
@given(st.sampled_from("19٣９²①"), st.integers(1, 5000), VALUES, VALUES)
def test_numbers_of_any_length_are_read_without_an_exception(digit: str, times: int, around: str, other: str) -> None:
    monster = f"{around}{digit * times}{around}"
    assert compare(monster, monster) is SAME
    for against in (other, digit * (times + 1), f"0.{digit * times} km", f"{digit * times}.5 m", f"about {monster} bn"):
        assert compare(monster, against) is compare(against, monster)
        assert compare_periods(monster, against) is compare_periods(against, monster)


SIGNS = [",", " ", "\u00a0", "\u202f", "\u2009", "\u2007", "’", ".", ""]


@LAW
@given(st.integers(1_000_000, 10**15), st.sampled_from(SIGNS), st.sampled_from(SIGNS))
def test_a_number_is_the_same_with_every_sign_between_its_groups(number: int, one: str, other: str) -> None:
    a, b = (f"{number:,}".replace(",", sign) for sign in (one, other))
    assert compare(a, b) is SAME
    assert compare(a, f"{number + 1}") is DIFFERENT
    assert compare(f"{a} $", f"{b} €") is NOT_COMPARABLE


SCALES = {
    3: ("thousand", "тыс.", "千", "k"),
    4: ("万",),
    6: ("million", "mln", "млн", "百万", "M"),
    8: ("亿",),
    9: ("billion", "bn", "млрд"),
    12: ("trillion", "трлн", "万亿"),
}
SCALED = st.sampled_from([(power, word) for power, known in SCALES.items() for word in known])


@LAW
@given(st.integers(1, 999), SCALED, st.sampled_from(["", " ", "\u00a0", "\u202f"]), st.sampled_from(["", " ₽", " %"]))
def test_a_scale_word_is_so_many_zeros(number: int, scale: tuple[int, str], gap: str, unit: str) -> None:
    power, word = scale
    scaled = f"{number}{gap}{word}{unit}"
    assert compare(scaled, f"{number * 10**power:,}{unit}") is SAME
    assert compare(scaled, f"{number * 10**power * 3}{unit}") is DIFFERENT


@LAW
@given(st.integers(10, 9999), st.integers(1, 9), SCALED, SCALED)
def test_one_amount_in_two_scale_words(number: int, more: int, one: tuple[int, str], other: tuple[int, str]) -> None:
    last = 10 ** max(one[0], other[0])
    written = [f"{number * last // 10**power}{word}" for power, word in (one, other)]
    assert compare(*written) is SAME
    assert compare(written[0], f"{(number + more) * last // 10 ** other[0]}{other[1]}") is DIFFERENT


@LAW
@given(st.integers(1900, 2099), st.integers(1, 4))
def test_a_quarter_in_every_writing(year: int, nth: int) -> None:
    writings = (f"Q{nth} {year}", f"{nth}Q{year}", f"{year} Q{nth}", f"{nth} кв. {year}", f"{year}年第{nth}季度")
    assert {compare_periods(a, b) for a in writings for b in writings} == {SAME}
    assert compare_periods(writings[0], f"{nth} квартал {year - 1}") is DIFFERENT
    assert compare_periods(writings[0], str(year)) is NOT_COMPARABLE
