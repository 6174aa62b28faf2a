"""Notes as people keep them: bullets, short tables, counts, currencies, hedges, and two values on one page."""

from __future__ import annotations

import pytest

from harness.agents.extractive import answering, passages, synthesizer
from harness.agents.extractive.grid import derive
from harness.agents.extractive.readings import findings
from harness.formats.summary import parse_summary
from harness.model import Grid, Source

ENTITIES = (
    "Acme", "Beta", "InPost", "Orlen Paczka", "5Post", "7-Eleven", "Pixel", "Pixel 9", "Windows 11", "Allegro",
    "Allegro One", "Самокат", "Магнит", "Target", "Guinea", "Equatorial Guinea", "Congo", "Нигер",
)  # fmt: skip


def read(text: str, entity: str, field: str, *, title: str = "Notes") -> list[str]:
    """The values of one cell, each with its period in brackets if it has one."""
    page = Source(title, text, "notes.md")
    found = findings(page, passages.read(text), Grid(ENTITIES, (field,)), [(entity, field)])
    return [f"{one.value} ({one.period})" if one.period else one.value for one in found]


@pytest.mark.parametrize(
    ("text", "entity", "field", "value"),
    [
        ("Выручка 5Post за 2024 год составила 8,6 млрд рублей.", "5Post", "выручка", "8,6 млрд рублей (2024)"),
        ("The revenue of 7-Eleven in 2023 was $5 bn.", "7-Eleven", "revenue", "$5 bn (2023)"),
        ("The price of Windows 11 is 145 EUR.", "Windows 11", "price", "145 EUR"),
        ("InPost revenue in 2023 was EUR 8.9 bn.", "InPost", "revenue", "EUR 8.9 bn (2023)"),
        ("InPost revenue in 2023 was CHF 8.9 bn.", "InPost", "revenue", "CHF 8.9 bn (2023)"),
        ("InPost revenue in 2023 was €8.9 bn.", "InPost", "revenue", "€8.9 bn (2023)"),
        ("InPost: revenue in 2024 — 10.9 bn PLN.", "InPost", "revenue", "10.9 bn PLN (2024)"),
        ("Выручка Магнита в 2023 г. — 12 млрд тенге.", "Магнит", "выручка", "12 млрд тенге (2023)"),
        ("Pixel has a weight of 167 g and a price of 5 EUR.", "Pixel", "weight", "167 g"),
        ("The battery of Pixel is 4,700 mAh.", "Pixel", "battery", "4,700 mAh"),
        ("Acme's revenue was 5–6 bn EUR in 2024.", "Acme", "revenue", "5–6 bn EUR (2024)"),
        ("Acme's revenue in 2024 was less than 5 bn.", "Acme", "revenue", "less than 5 bn (2024)"),
        ("Выручка Acme в 2024 году составила менее 5 млрд ₽.", "Acme", "выручка", "менее 5 млрд ₽ (2024)"),
        ("InPost's market share at 44%.", "InPost", "market share", "44%"),
        ("Analysts put InPost's market share at 44%.", "InPost", "market share", "44%"),
        ("Life expectancy in Guinea is 60 years.", "Guinea", "life expectancy", "60 years"),
        ("The revenue of Target was 106 bn dollars.", "Target", "revenue", "106 bn dollars"),
    ],
)
def test_a_value_is_the_whole_amount_and_no_part_of_a_name(text: str, entity: str, field: str, value: str) -> None:
    assert read(text, entity, field) == [value]


@pytest.mark.parametrize("mark", ["", "- ", "* ", "1. ", "• "])
@pytest.mark.parametrize(
    ("line", "entity", "field", "value"),
    [
        ("Acme: revenue in 2024 was 4.1 bn dollars.", "Acme", "revenue", "4.1 bn dollars (2024)"),
        ("**Acme**: revenue in 2024 was 4.1 bn dollars.", "Acme", "revenue", "4.1 bn dollars (2024)"),
        ("The revenue of Acme in 2024 was 4.1 bn dollars.", "Acme", "revenue", "4.1 bn dollars (2024)"),
        ("Самокат: выручка за 2024 год — 8,6 млрд ₽", "Самокат", "выручка", "8,6 млрд ₽ (2024)"),
    ],
)
def test_a_list_item_says_what_its_line_says(mark: str, line: str, entity: str, field: str, value: str) -> None:
    assert read(f"# Notes\n\n{mark}{line}\n{mark}Something else.\n", entity, field) == [value]


@pytest.mark.parametrize(
    ("table", "entity", "field", "value"),
    [
        ("name,lockers\nAllegro One,6300\nInPost,25000\n", "Allegro One", "lockers", "6300"),
        ("name,price\nWindows 11,145 EUR\nWindows 10,99 EUR\n", "Windows 11", "price", "145 EUR"),
        ("| phone | weight |\n|---|---|\n| Pixel 9 | 198 g |\n| Pixel 8 | 187 g |\n", "Pixel 9", "weight", "198 g"),
        ("| | Pixel 9 | Pixel 9 Pro |\n|---|---|---|\n| weight | 198 g | 221 g |\n", "Pixel 9", "weight", "198 g"),
        ("| № | phone | weight |\n|---|---|---|\n| 1 | Pixel 9 | 198 g |\n", "Pixel 9", "weight", "198 g"),
        ("name,lockers,since\nInPost,25000,2009\n", "InPost", "lockers", "25000"),
        ("name,founded,lockers\nInPost,1999,25000\n", "InPost", "founded", "1999"),
        ("| Company | Revenue, EUR bn |\n|---|---|\n| Acme | 1.5 |", "Acme", "revenue", "1.5 (EUR bn)"),
    ],
)
def test_the_first_column_is_a_name_whatever_it_ends_in(table: str, entity: str, field: str, value: str) -> None:
    assert read(table, entity, field) == [value]


@pytest.mark.parametrize(
    ("table", "entity", "field"),
    [
        ("name,lockers\nAllegro One,6300\n", "Allegro", "lockers"),
        ("| phone | weight |\n|---|---|\n| Pixel 9 Pro | 221 g |\n| Pixel 9a | 185 g |\n", "Pixel 9", "weight"),
        ("| phone | weight |\n|---|---|\n| Pixel 9a | 185 g |\n| Pixel 8 | 187 g |\n", "Pixel", "weight"),
        ("| | Pixel 9 Pro | Pixel 10 |\n|---|---|---|\n| weight | 221 g | 204 g |\n", "Pixel 9", "weight"),
        ("| Country | Population |\n|---|---|\n| Equatorial Guinea | 1.8 m |\n", "Guinea", "population"),
        ("| Country | Population |\n|---|---|\n| DR Congo | 110 m |\n", "Congo", "population"),
        ("| Страна | Население |\n|---|---|\n| Нигерия | 220 млн |", "Нигер", "население"),
        ("| Company | Revenue 2026 (forecast) |\n|---|---|\n| Acme | 5 bn |\n", "Acme", "revenue"),
        ("| Company | Revenue |\n|---|---|\n| Acme | 5 bn (target) |\n", "Acme", "revenue"),
        ("| Company | Revenue |\n|---|---|\n| Acme | not 5 bn |\n", "Acme", "revenue"),
        ("| Company | Revenue |\n|---|---|\n| Acme | EUR |\n", "Acme", "revenue"),
        ("## Forecast\n\n- Acme market share: 5 %\n", "Acme", "market share"),
        ("# Acme\n\nAcme is big.\n\n## Rivals\n\nGamma is small. Its revenue was 5 bn.", "Acme", "revenue"),
        ("name,country,lockers\nAcme,Poland,25000\nAcme,Italy,9000\n", "Acme", "lockers"),
        ("## Acme\n\nText.\n\n## Gamma\n\nRevenue in 2024 was 2 bn dollars.\n\n- Lockers: 5\n", "Acme", "revenue"),
        ("## Acme\n\nText.\n\n## Gamma\n\nRevenue in 2024 was 2 bn dollars.\n\n- Lockers: 5\n", "Acme", "lockers"),
    ],
)
def test_another_thing_in_a_table_or_section_gives_no_value(table: str, entity: str, field: str) -> None:
    assert read(table, entity, field) == []


@pytest.mark.parametrize(
    ("text", "entity", "field", "value"),
    [
        ("Orlen Paczka had 7,100 parcel lockers at the end of 2024.", "Orlen Paczka", "lockers", "7,100 (2024)"),
        ("Acme operates 6,300 lockers.", "Acme", "number of lockers", "6,300"),
        ("Acme has more than 6,300 lockers.", "Acme", "lockers", "more than 6,300"),
        ("Acme's network has 6,300 lockers today.", "Acme", "lockers", "6,300"),
        ("The number of Acme lockers is 6,300.", "Acme", "number of lockers", "6,300"),
        ("У 5Post 11 500 постаматов", "5Post", "постаматов", "11 500"),
        ("Сеть 5Post насчитывает 11 500 постаматов.", "5Post", "количество постаматов", "11 500"),
        ("У «Магнита» около 29 000 касс на конец 2024 года.", "Магнит", "кассы", "около 29 000 (2024)"),
        ("На конец 2024 года у 5Post было 11 500 постаматов.", "5Post", "постаматы", "11 500 (2024)"),
        ("- 5Post — 11 500 постаматов\n- Ozon — 5 000 постаматов\n", "5Post", "постаматы", "11 500"),
        ("- InPost: 25,000 lockers\n- Acme: 300 lockers\n", "InPost", "lockers", "25,000"),
        ("## Acme\n\nAcme is big. It has 300 lockers.\n\n## Gamma\n\nIt has 5 lockers.", "Acme", "lockers", "300"),
        ("Acme employs 300 people.", "Acme", "employees", "300 people"),
    ],
)
def test_a_count_stands_before_what_is_counted(text: str, entity: str, field: str, value: str) -> None:
    assert read(text, entity, field) == [value]


@pytest.mark.parametrize(
    "sentence",
    [
        "Acme opened 300 lockers in 2024.",
        "Acme has 300 new lockers.",
        "Acme has 300 lockers in Poland.",
        "In Poland Acme has 300 lockers.",
        "Acme and Beta have 300 lockers.",
        "Acme Poland has 300 lockers.",
        "Acme's rival has 300 lockers.",
        "Acme has a rival with 300 lockers.",
        "Acme had 300 lockers stolen in 2024.",
        "Acme has 300 lockers per million people.",
        "Acme had 5,000 lockers in 2023 and 6,300 lockers in 2024.",
        "Unlike Acme, Beta had 500 lockers.",
        "By 2026 Acme will have 6,300 lockers.",
        "К 2026 году у Acme будет 6 300 lockers.",
    ],
)
def test_a_count_of_a_part_or_of_others_is_none(sentence: str) -> None:
    assert read(sentence, "Acme", "lockers") == []


@pytest.mark.parametrize(
    "sentence",
    [
        "Acme's revenue in 2024 was not 5 bn.",
        "Acme's revenue in 2026 is expected to reach 5 bn.",
        "Acme hopes for revenue of 5 bn.",
        "Acme's revenue of 5 bn was denied by its owner.",
        "Acme's revenue target was 5 bn.",
        "- Revenue of Acme in 2026: forecast 5 bn",
        "- Acme: revenue target 2026 — 5 bn",
        "- Acme: Gamma's revenue in 2024 was 5 bn.",
        "Rival's revenue was 5 bn in 2024.",
        "Unlike Acme, Beta had revenue of 5 bn in 2024.",
        "The revenue of Acme's rival Beta was 5 bn.",
        "The revenue at 5 stores of Acme was flat.",
        "Acme's revenue was between 5 and 6 bn.",
        "InPost revenue in 2023 was Strong.",
    ],
)
def test_a_hedge_a_plan_or_another_one_s_figure_is_no_value(sentence: str) -> None:
    assert read(sentence, "Acme", "revenue") == []


@pytest.mark.parametrize(
    "text",
    [
        "Acme's revenue in 2024 was 4.1 bn dollars. More.\n\nThe revenue of Acme in 2024 was 5.3 bn dollars.",
        "- Acme revenue 2024: 4.1 bn dollars\n- Acme revenue 2024: 5.3 bn dollars\n",
    ],
)
def test_two_values_in_one_source_are_a_contradiction(text: str) -> None:
    source = Source("Notes", text, "notes.md")
    got = synthesizer.fold(parse_summary(""), [("1.1", source)], Grid(("Acme",), ("revenue",)), "")
    assert got.confirmed == ("Acme: revenue 2024 — 4.1 bn dollars [1.1]",)
    assert got.contradictions == ("Acme: revenue 2024 — 4.1 bn dollars [1.1] ↔ 5.3 bn dollars [1.1]",)
    assert got.not_found == ()


def test_the_same_document_again_adds_no_citation_to_its_contradiction() -> None:
    line = "Acme: revenue 2024 — 4.1 bn dollars [1.1]"
    summary = parse_summary(
        f"## Confirmed\n- {line}\n## Contradictions\n- {line} ↔ 5.3 bn dollars [1.1]\n"
        "## Sources\n- [1.1] Notes — notes.md\n"
    )
    text = "Revenue of Acme in 2024 was 4.1 bn dollars. The revenue of Acme in 2024 was 5.3 bn dollars."
    grid = Grid(("Acme",), ("revenue",))
    same = synthesizer.fold(summary, [("2.1", Source("Notes", text, "notes.md"))], grid, "")
    assert same.contradictions == (f"{line} ↔ 5.3 bn dollars [1.1]",)
    other = synthesizer.fold(summary, [("2.1", Source("Notes", text, "other.md"))], grid, "")
    assert other.contradictions == (f"{line} ↔ 5.3 bn dollars [1.1] [2.1]",)


def test_a_forecast_contradicts_nothing() -> None:
    text = "Acme's revenue in 2024 was 4.1 bn. The revenue of Acme in 2024 is forecast at 5.3 bn."
    assert read(text, "Acme", "revenue") == ["4.1 bn (2024)"]


def test_a_file_that_names_entity_and_field_of_an_open_cell_is_told() -> None:
    grid = Grid(("Acme", "Beta"), ("revenue",))
    sources = [("1.1", Source("Notes", "The revenue of Acme is a secret. Beta too.", "d/notes.md"))]
    assert synthesizer.unread(("Beta: revenue 2024 — 5 bn [1.2]",), sources, grid) == ("notes.md",)
    assert synthesizer.unread(("Acme: revenue — 5 [1.2]", "Beta: revenue — 5 [1.2]"), sources, grid) == ()


@pytest.mark.parametrize(
    ("question", "entities", "fields"),
    [
        ("How many lockers does InPost have?", ("InPost",), ("lockers",)),
        ("How many lockers did InPost have at the end of 2024?", ("InPost",), ("lockers",)),
        ("How many parcel lockers has Orlen Paczka?", ("Orlen Paczka",), ("parcel lockers",)),
        ("How many employees do Acme and Beta have?", ("Acme", "Beta"), ("employees",)),
        ("How many people does Acme employ?", ("Acme",), ("employees",)),
        ("How many people live in Chad?", ("Chad",), ("population",)),
        ("Сколько постаматов у 5Post?", ("5Post",), ("постаматы",)),
        ("Сколько людей живёт в Узбекистане?", ("Узбекистане",), ("население",)),
        ("How many countries have nuclear weapons?", (), ()),
        ("How many days does it take to get to Mars?", (), ()),
        ("Сколько стоит Windows 11?", (), ()),
    ],
)
def test_how_many_asks_for_a_cell(question: str, entities: tuple[str, ...], fields: tuple[str, ...]) -> None:
    assert derive(question) == Grid(entities, fields)


PAGE = """# Parcel lockers in Poland

InPost runs most of the parcel machines in Poland. DPD has fewer of them.

## Operators

| operator | lockers | since |
|---|---|---|
| InPost | 25000 | 2009 |
| Orlen Paczka | 7100 | 2021 |
"""


def test_without_cells_a_sentence_comes_once_and_rows_of_the_names_too() -> None:
    sources = [("1.1", Source("Lockers", PAGE)), ("1.2", Source("Gyms", "Lockers in gyms are made of steel."))]
    got = answering.best_sentences("Why is InPost the largest operator of lockers in Poland?", sources, (), ())
    assert got == [
        "InPost runs most of the parcel machines in Poland. [1.1]",
        "InPost — lockers: 25000; since: 2009 [1.1]",
    ]


@pytest.mark.parametrize("form", ["Магнит", "Магнита", "Магните", "Магниту"])
def test_all_cases_of_a_name_in_the_question_find_the_same(form: str) -> None:
    page = Source("Сети", "Выручка Магнита в 2024 году составила 3 трлн ₽.\n\n- Магнит: доля рынка — 12 %\n")
    grid = Grid((form,), ("выручка", "доля рынка"))
    cells = [(form, "выручка"), (form, "доля рынка")]
    assert [one.value for one in findings(page, passages.read(page.text), grid, cells)] == ["3 трлн ₽", "12 %"]
