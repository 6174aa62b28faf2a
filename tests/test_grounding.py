"""Numbers, dates and quotations in a source, in whatever notation it writes them."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from harness.facts import parse_fact
from harness.grounding import claims, missing, page, page_of
from harness.model import Grid, Source

TEXT = """Выручка Самоката в 2024 году составила 153,96 млрд ₽, на 20 % больше. In July 2015 the land had
19\u00a0674\u202f004 people and 1,284,000 sq km; it was −12.5 °C. «Мы никогда не сдадимся», — сказал он.
| Company | Revenue, bn ₽ |
| Lavka | 52.1 |
FY23 was weak; in 2023/24 profits were 0.7%."""
PAGE = page_of(Source("Quick commerce 2024", TEXT, "https://infoline.ru/2022/q", "2025-02-11"))


@pytest.mark.parametrize(
    "said",
    [
        "Samokat: revenue 2024 — 154 bn ₽ [1.2]",
        "153.96 bn roubles",
        "153 960 000 000 ₽",
        "0.15396 trn ₽",
        "20%",
        "about 20 percent",
        "19,674,004 people",
        "19.7 million",
        "1.284 million sq km",
        "-12.5",
        "July 2015 est.",
        "2015-07",
        "52.1 bn ₽",
        "FY 2023",
        "2024 revenue in [2.9]",
        "2025",  # the date of the source
        "He said «мы никогда не сдадимся»",
        "he said “Мы никогда  не сдадимся”",
        "called “Lavka”",
        "words only",
        "0.7 %",
    ],
)
def test_what_stands_in_the_source(said: str) -> None:
    assert missing(said, [PAGE]) == ()


@pytest.mark.parametrize(
    ("said", "lacking"),
    [
        ("155 bn ₽", "155 bn ₽"),
        ("154 mn ₽", "154 mn ₽"),
        ("153.97 bn ₽", "153.97 bn ₽"),
        ("21 %", "21 %"),
        ("19,674,005", "19,674,005"),
        ("June 2015", "June 2015"),
        ("2019", "2019"),
        ("52.1 bn $ and 53.1", "53.1"),
        ("“мы никогда и не сдавались”", "“мы никогда и не сдавались”"),
        ("9" * 5_000, "9" * 5_000),
    ],
)
def test_what_does_not(said: str, lacking: str) -> None:
    assert missing(said, [PAGE])[0].startswith(lacking[:20])


def test_a_coarser_source_does_not_bear_out_a_finer_number() -> None:
    coarse = page("Revenue was 154 bn ₽ and 12 %.")
    assert missing("153.96 bn ₽", [coarse]) == ("153.96 bn ₽",)
    assert missing("154.0 bn ₽ and 12.0 %", [coarse]) == ()


def test_one_of_several_sources_is_enough_and_none_bears_out_nothing() -> None:
    other = page("Lavka earned 9 bn in 2021.")
    assert missing("154 bn ₽ in 2024 and 9 bn in 2021", [PAGE, other]) == ()
    assert missing("154 bn ₽ in 2024", []) == ("2024", "154 bn ₽")


@given(st.integers(10, 10**12), st.sampled_from([" ", "\u00a0", "\u202f", ",", "", "'"]))
def test_a_number_is_found_with_any_separator(number: int, separator: str) -> None:
    assume(not 1_500 <= number < 2_200)  # a year
    written = f"{number:,}".replace(",", separator)
    assert missing(f"{number}", [page(f"It was {written} then")]) == ()


@given(st.decimals(1, 9_999, places=2), st.sampled_from([(3, "thousand"), (6, "млн"), (9, "bn"), (8, "亿")]))
def test_a_number_is_found_in_any_scale(value: Decimal, scale: tuple[int, str]) -> None:
    exponent, word = scale
    whole = format(value.scaleb(exponent).normalize(), "f")
    assert missing(f"{value} {word}", [page(f"a total of {whole} units")]) == ()


@given(st.text(max_size=80), st.text(max_size=200))
def test_any_text_is_looked_for_in_any_text(said: str, text: str) -> None:
    assert isinstance(missing(said, [page(text)]), tuple)
    assert missing(said, [page(said)]) == () or said


def test_a_period_and_the_value_behind_it_are_two_claims() -> None:
    grid = Grid(("Georgia",), ("highest point",))
    line = "Georgia: highest point 2026 — Mt'a Shkhara 5,193 m [4.2]"
    source = Source("Georgia", "- highest point: Mt'a Shkhara 5,193 m", date="2026-01-17")
    assert missing(claims(parse_fact(line, grid), line), [page_of(source)]) == ()
    below = "Georgia: highest point 2025 est. — -3.33 m [4.2]"
    assert missing(claims(parse_fact(below, grid), below), [page("- lowest point: -3.33 m (2025 est.)")]) == ()


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("154.0 bn ₽", "| Company | Revenue, bn ₽ |\n| Samokat | 153.96 |"),
        ("1.23 млрд ₽", "| Выручка, тыс. руб. |\n| 1 234 567 |"),
        ("$391,035 million", "(In millions)\nTotal net sales $ 391,035"),
        ("$391.0 bn", "(In millions)\nTotal net sales $ 391,035"),
        ("154 bn ₽", "It was **153.96** bn ₽."),
        ("154 bn ₽", "It was 153.96[3] bn ₽."),
        ("154 млрд", "153,96&nbsp;млрд"),
        ("**154** bn", "153.96 bn"),
        ("8.849 km", "8,849 m"),
        ("-5.2 %", "It fell by 5.2 %."),
        ("−5,2 %", "снижение на 5,2 %"),
        ("0 deaths", "There were 0 deaths."),
        ("5 million people", "5 million people live there."),
        ("5 stores", "| Stores |\n| 5 |"),
        ("Q1 2024", "Three months ended March 31, 2024"),
        ("2024-06", "published on 11 June 2024"),
        ("he said ‘we will never give it up’", "“We will never give it up”"),
    ],
)
def test_what_is_written_in_another_way_is_there(said: str, text: str) -> None:
    assert missing(said, [page(text)]) == ()


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("15 %", "| Growth | 1.5 |"),
        ("5 bn", "Stores: 5"),
        ("50", "Stores: 5"),
        ("700 million", "Page 7"),
        ("154", "15.4"),
        ("0.154", "154"),
        ("-5.2 %", "| growth | 5.2 |"),
        ("5.2 %", "It was -5.2 %."),
        ("12 % growth", "Page 12"),
        ("154 bn RUB", "| mn RUB |\n| 154 |"),
        ("$391,035 billion", "(In millions)\nTotal net sales $ 391,035"),
        ("0 deaths", "10 km of road"),
        ("0 %", "0.5 %"),
        ("25 March 2024", "on 12 March 2024"),
        ("июнь 2024", "за 2024 год"),
        ("Q3 2024", "Copyright 2024"),
        ("2024", "20240 RUB, phone 555-202411"),
        ("2024", "price 10/24, range 10-24 km"),
    ],
)
def test_what_only_looks_like_it_is_not(said: str, text: str) -> None:
    assert missing(said, [page(text)]) != ()


def test_a_page_may_begin_with_the_year() -> None:
    assert missing("2024", [page("2024 was a good year.")]) == ()


def test_a_scale_may_stand_in_the_lines_own_field() -> None:
    assert missing("153.96", [page("It was 153.96 bn ₽.")], "revenue, bn ₽") == ()
    assert missing("153.96", [page("It was 153.96 bn ₽.")], "revenue, mn ₽") != ()


TABLE = """day,firm,stores,revenue
2024-01-02,Samokat,154,5.5
2024-01-03,"Lavka, Inc.",98,"1,234"
"""


@pytest.mark.parametrize("said", ["154", "5.5", "98", "1,234", "2024-01-03", "Samokat: 154 and 5.5 on 2024-01-02"])
def test_a_comma_between_two_cells_is_no_part_of_a_number(said: str) -> None:
    assert missing(said, [page(TABLE)]) == ()


def test_any_other_comma_is() -> None:
    assert missing("234", [page(TABLE)]) != () and missing("1545", [page(TABLE)]) != ()
    assert missing("7 stores", [page("It was 5,7 in all, and 8,7 in part.\nMore.")]) != ()


def test_an_address_bears_out_no_amount() -> None:
    source = Source("A page", "Nothing here.", "https://x.org/2024/12/154", "2025-02-11")
    assert missing("154 bn ₽", [page_of(source)]) == ("154 bn ₽",)
