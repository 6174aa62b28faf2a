"""The built-in Synthesizer's reading: which value of a source belongs to which cell, and what is left out as unsure."""

from __future__ import annotations

import pytest

from harness.agents.extractive import passages
from harness.agents.extractive.readings import findings
from harness.model import Grid, Source

PAGE = """### Chad

#### Geography

- Area - total: 1.284 million sq km
- Area - land: 1,259,200 sq km
- Elevation extremes - highest point: Emi Koussi 3,415 m
- Elevation extremes - lowest point: Djourab 160 m

#### People and Society

##### Population

- total: 19,674,004 (2025 est.)
- male: 9,756,129

- Population growth rate: 2.98% (2025 est.)
- Urbanization - urban population: 24.4% of total population (2023)
- Life expectancy at birth: total population: 60 years (2024 est.); male: 58.1 years; female: 62 years
- Major urban areas - population: 1.592 million N'DJAMENA (capital) (2023)

#### Government

- Capital - name: N'Djamena
- Executive branch - chief of state: President Mahamat Idriss D&Eacute;BY (since 6 May 2024)
- Executive branch - cabinet: Council of Ministers

#### Economy

- Real GDP per capita 2024: $2,600 (2024 est.)
- Real GDP per capita 2023: $2,700 (2023 est.)
- GDP (official exchange rate): $20.626 billion (2024 est.)
- Real GDP growth rate 2024: 3.7% (2024 est.)
- Population below poverty line: 44.8% (2022 est.)
- Capital expenditure: $1 billion (2020)
- Airports: NA

#### Energy

- Coal - imports: 20 metric tons (2023 est.)
- Internet users - percent of population: 13% (2023 est.)
"""


def read(text: str, entity: str, field: str, *, title: str = "Chad — World Factbook", url: str = "") -> tuple[str, str]:
    """(value, period) of one cell in one source; ("", "") if nothing is sure."""
    grid = Grid(("Chad", "Niger", "Samokat", "Yandex Lavka", "Самокат", "Яндекс Лавка", "乍得"), (field,))
    page = Source(title, text, url, "2025-11-01")
    found = findings(page, passages.read(text), grid, [(entity, field)])
    return (found[0].value, found[0].period) if found else ("", "")


@pytest.mark.parametrize(
    ("field", "value", "period"),
    [
        ("population", "19,674,004", "2025 est."),
        ("population growth", "2.98%", "2025 est."),
        ("urban population", "24.4% of total population", "2023"),
        ("area", "1.284 million sq km", "2025"),
        ("total area", "1.284 million sq km", "2025"),
        ("highest point", "Emi Koussi 3,415 m", "2025"),
        ("life expectancy", "60 years", "2024 est."),
        ("life expectancy at birth", "60 years", "2024 est."),
        ("capital", "N'Djamena", "2025"),
        ("head of state", "President Mahamat Idriss DÉBY (since 6 May 2024)", "2025"),
        ("GDP per capita", "$2,600", "2024 est."),
        ("GDP per capita 2023", "$2,700", "2023 est."),
        ("GDP", "$20.626 billion (official exchange rate)", "2024 est."),
        ("GDP (official exchange rate)", "$20.626 billion", "2024 est."),
        ("GDP growth", "3.7%", "2024 est."),
        ("poverty rate", "44.8%", "2022 est."),
        ("internet users", "13% (percent of population)", "2023 est."),
        ("население", "19,674,004", "2025 est."),
        ("GDP (purchasing power parity)", "", ""),
        ("imports", "", ""),
        ("airports", "", ""),
        ("elevation", "", ""),
        ("cabinet", "", ""),
        ("literacy", "", ""),
    ],
)
def test_a_field_takes_its_own_value_and_nothing_like_it(field: str, value: str, period: str) -> None:
    assert read(PAGE, "Chad", field) == (value, period)


def test_another_entity_takes_nothing_from_the_page() -> None:
    assert read(PAGE, "Niger", "population") == ("", "")


@pytest.mark.parametrize("title", ["Equatorial Chad", "Chad-Bissau", "South Chad: profile", "Lakes of Africa"])
def test_a_page_about_a_longer_name_is_not_about_the_entity(title: str) -> None:
    assert read("- Population: 5 million (2020)", "Chad", "population", title=title) == ("", "")


@pytest.mark.parametrize(
    ("title", "text", "url"),
    [
        ("Chad, country note", "- Population: 5 million (2020)", ""),
        ("World Factbook 2025: Chad", "Population: 5 million (2020)", ""),
        ("Facts", "# Chad\n\n**Population**: 5 million (2020)", ""),
        ("Facts", "- Population: 5 million (2020)", "data/africa/chad-2020.md"),
        ("Facts", "- Chad population: 5 million (2020)", ""),
        ("Facts", "## Population\n\n- Niger: 7 million (2020)\n- Chad: 5 million (2020)", ""),
        ("Facts", "| Country | Population | Area |\n|---|---|---|\n| Chad | 5 million (2020) | 3 |", ""),
        ("Facts", "| Indicator | Niger | Chad |\n|---|---|---|\n| Population (2020) | 7 million | 5 million |", ""),
        ("Facts", "| Country | Population | Population, period |\n|---|---|---|\n| Chad | 5 million | 2020 |", ""),
        ("Chad", "| Indicator | Value | Period |\n|---|---|---|\n| Population | 5 million | 2020 |", ""),
        ("Chad", "| Indicator | 2019 | 2020 |\n|---|---|---|\n| Population | 4 million | 5 million |", ""),
        ("Facts", 'Country,Population (2020),Area\nNiger,7 million,4\nChad,"5 million",3', ""),
        ("Facts", '{"rows": [{"country": "Chad", "population": "5 million", "population year": "2020"}]}', ""),
        ("Chad", '{"population": {"total": "5 million (2020)"}}', ""),
        ("Chad", "## Population\n\n5 million (2020)", ""),
    ],
)
def test_one_fact_in_many_forms(title: str, text: str, url: str) -> None:
    assert read(text, "Chad", "population", title=title, url=url) == ("5 million", "2020")


def test_a_table_says_its_unit_once() -> None:
    table = "| Компания | Выручка 2024, млрд ₽ |\n|---|---|\n| Самокат | 154,0 |\n| Яндекс Лавка | 67 |"
    assert read(table, "Самокат", "выручка", title="Рынок") == ("154,0 (млрд ₽)", "2024")


@pytest.mark.parametrize(
    ("sentence", "entity", "field", "value", "period"),
    [
        ("Выручка Самоката в 2024 году составила 154,0 млрд ₽.", "Самокат", "выручка", "154,0 млрд ₽", "2024"),
        ("В 2024 году выручка «Самоката» выросла на 5 % до 154 млрд ₽.", "Самокат", "выручка", "154 млрд ₽", "2024"),
        ("Оборот Самоката за 1П2024 — около 70 млрд руб.", "Самокат", "выручка", "около 70 млрд руб.", "1П2024"),
        ("Доля рынка Самоката в 2023 году — 12 %.", "Самокат", "доля рынка", "12 %", "2023"),
        ("Samokat's revenue rose from 100 bn in 2023 to 154 bn in 2024.", "Samokat", "revenue", "154 bn", "2024"),
        ("Samokat reported revenue of 154 bn for 2024.", "Samokat", "revenue", "154 bn", "2024"),
        ("The capital of Chad is N'Djamena, with 1.5 million people.", "Chad", "capital", "N'Djamena", "2025"),
        ("N'Djamena is the capital of Chad.", "Chad", "capital", "N'Djamena", "2025"),
        ("Chad has 19.7 million inhabitants (2025 est.).", "Chad", "population", "19.7 million inhabitants", "2025"),
        ("The highest point of Chad is Emi Koussi, 3,445 m.", "Chad", "highest point", "Emi Koussi, 3,445 m", "2025"),
        ("2025年乍得的人口为19674004人。", "乍得", "人口", "19674004人", "2025"),
        ("乍得首都是恩贾梅纳。", "乍得", "首都", "恩贾梅纳", "2025"),
    ],
)  # fmt: skip
def test_a_figure_stated_in_prose(sentence: str, entity: str, field: str, value: str, period: str) -> None:
    assert read(sentence, entity, field, title="News") == (value, period)


@pytest.mark.parametrize(
    ("sentence", "entity", "field"),
    [
        ("Рост выручки Самоката составил 50 % в 2024 году.", "Самокат", "выручка"),
        ("Чистая выручка Самоката составила 3 млрд ₽.", "Самокат", "выручка"),
        ("Выручка рекламного сегмента Самоката составила 3 млрд ₽.", "Самокат", "выручка"),
        ("Самокат планирует выручку 200 млрд ₽ в 2025 году.", "Самокат", "выручка"),
        ("Выручка Яндекс Лавки составила 67 млрд ₽.", "Самокат", "выручка"),
        ("Samokat's revenue grew by 12 % in 2024.", "Samokat", "revenue"),
        ("Samokat's revenue is expected to reach 200 bn in 2026.", "Samokat", "revenue"),
        ("Its parent Sber reported revenue of 3 tn.", "Samokat", "revenue"),
        ("The urban population of Chad is 24.4 %.", "Chad", "population"),
        ("The population density of Chad is 15 per sq km.", "Chad", "population"),
        ("The capital expenditure of Chad was 5 bn.", "Chad", "capital"),
        ("South Chad's population is 11 million.", "Chad", "population"),
        ("In Nigeria the population is 200 million.", "Chad", "population"),
    ],
)
def test_what_only_sounds_like_the_field_is_left_out(sentence: str, entity: str, field: str) -> None:
    assert read(sentence, entity, field, title="Samokat" if entity == "Samokat" else "News") == ("", "")


def test_two_values_that_fit_equally_well_are_left_out() -> None:
    text = "- Upper chamber - number of seats: 69\n- Lower chamber - number of seats: 188"
    assert read(text, "Chad", "number of seats") == ("", "")


def test_of_two_kinds_of_a_field_the_first_is_taken_and_named() -> None:
    text = (
        "- Health spending: Health spending (as % of GDP): 5.2% (2021); Health spending (as % of budget): 7.3% (2022)"
    )
    assert read(text, "Chad", "health spending") == ("5.2% (as % of GDP)", "2021")


def test_parts_of_the_field_are_not_the_field() -> None:
    text = "- Alcohol use: other alcohols: 0.04 liters; beer: 3.84 liters\n- Other exports: $5 million"
    assert read(text, "Chad", "alcohol use") == ("", "")
    assert read(text, "Chad", "exports") == ("", "")


def test_the_time_of_a_file_dates_no_figure() -> None:
    grid = Grid(("Chad",), ("capital",))
    page = Source("Chad", "- Capital: N'Djamena", date="2026-01-01", extra=(("date_from", "file time"),))
    assert findings(page, passages.read(page.text), grid, [("Chad", "capital")])[0].period == ""


@pytest.mark.parametrize(
    "text", ["", "\x00\x1b[31m", "{" * 5000, "|" * 5000, "- " * 5000, "a: b: c: " * 500, "9" * 5000]
)
def test_junk_gives_nothing_and_raises_nothing(text: str) -> None:
    assert read(text, "Chad", "population") == ("", "")


@pytest.mark.parametrize(
    "text",
    [
        "- Internet users - total: 1,200\n- Internet users - percent of population: 23.5% (2009)",
        "- Internet users: total: 1,200; percent of population: 23.5% (2009)",
    ],
)
def test_a_period_written_once_behind_the_last_part_dates_the_parts_before_it(text: str) -> None:
    assert read(text, "Chad", "internet users") == ("1,200", "2009")
    assert read("- Capital: N'Djamena\n- Population: 5 (2009)", "Chad", "capital") == ("N'Djamena", "2025")


def test_a_remark_beside_a_share_is_no_other_value() -> None:
    text = "- Internet users - percent of population: 87% (2023 est.)\n- Internet users - note: includes a strip"
    assert read(text, "Chad", "internet users") == ("87% (percent of population)", "2023 est.")
