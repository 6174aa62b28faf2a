"""What only looks like a value for a cell (another's, doubted, foreseen, former, compared, of a part) is left out."""

from __future__ import annotations

import pytest

from harness.agents.extractive import ExtractiveAgent
from harness.model import Packet, Role


def confirmed(document: str, entity: str, field: str, title: str = "Note") -> list[str]:
    """The fact lines that the built-in Synthesizer writes after reading one document of March 2025."""
    files = {
        "question.md": f"---\nentities: [{entity}]\nfields: [{field}]\n---\nx\n",
        "summary.md": "",
        "raw_1.md": f"---\nkind: search\n---\n## 1. {title}\n- url: note.md\n- date: 2025-03-01\n\n{document}\n",
    }
    packet = Packet(Role.SYNTHESIZER, "case", 1, "", files, ("summary.md",), language="en", today="2026-11-29")
    lines = ExtractiveAgent().take(packet).text.split("\n")
    return [line.removeprefix("- ").removesuffix(" [1.1]") for line in lines if line.endswith("[1.1]")]


ANOTHERS = [
    ("# Niger\nPopulation: 27 million\nIts neighbour is Chad.", "Chad", "population", "Niger"),
    ("# Нигер\nНаселение: 27 млн\nЕго сосед — Чад.", "Чад", "население", "Нигер"),
    ("# Niger\n\nThe population was 27 million, and Chad is its neighbour.", "Chad", "population", "Niger"),
    ("# Bolt\nRevenue: 9 bn USD\nCompetitors: Acme\nFounded: 1999\nAcme is small.", "Acme", "revenue", "Bolt"),
    ("# Niger\nCapital: Niamey\nChad lies to the east.", "Chad", "capital", "Niger"),
    ("Area: 1,350 km2\nChad is far away.", "Chad", "area", "Note"),
    ("The area of Chad Basin was 2,400 km2.", "Chad", "area", "Note"),
    ("# Lake Chad\nArea: 1,350 km2", "Chad", "area", "Lake Chad"),
    ("# Chad\n\n## Niger\n\nThe population was 27 million in 2023.", "Chad", "population", "Chad"),
    ("# Chad\n\n## Niger\n\nLife expectancy: 60 years", "Chad", "life expectancy", "Chad"),
    ("# Acme\n\n## Competitor: Bolt\n\nRevenue was 9 bn USD.", "Acme", "revenue", "Acme"),
    ("# Acme\n\n## Bolt\n\n- Net profit: 3 bn USD", "Acme", "net profit", "Acme"),
    ("# Acme\n\nBolt\nRevenue: 9 bn USD\nNet profit: 1 bn USD", "Acme", "net profit", "Acme"),
    ("# Самокат\n\n## Яндекс Лавка\n\nВыручка составила 200 млрд ₽.", "Самокат", "выручка", "Самокат"),
    ("# Acme (Poland)\nRevenue: 3 bn USD", "Acme", "revenue", "Acme (Poland)"),
    ("# Georgia (U.S. state)\nPopulation: 10 million", "Georgia", "population", "Georgia (U.S. state)"),
    ("# Guinea: Equatorial\nPopulation: 1 million", "Guinea", "population", "Guinea: Equatorial"),
]
UNSURE = [
    ("It is false that inflation in Chad was 5 %.", "Chad", "inflation"),
    ("Suppose the population of Chad is 99 million.", "Chad", "population"),
    ("The area of Chad is 5 km2?", "Chad", "area"),
    ("Неверно, что безработица в Чаде составила 7 %.", "Чад", "безработица"),
    ("Допустим, население Чада составило 99 млн.", "Чад", "население"),
    ("Правда ли, что площадь Чада равна 5 км²?", "Чад", "площадь"),
]
NOT_NOW = [
    ("# Chad\n\n## Forecast\n\nPopulation: 30 million", "Chad", "population"),
    ("В 2035 году население Чада составит 30 млн.", "Чад", "население"),
    ("In 2050 the population of Chad is 40 million.", "Chad", "population"),
    ("# Chad\nPopulation: not 17 million", "Chad", "population"),
    ("# Chad\nArea: see table 3", "Chad", "area"),
    ("# Chad\nCapital: formerly Fort-Lamy", "Chad", "capital"),
    ("# Chad\nHead of government: vacant since 2020", "Chad", "head of government"),
    ("The capital of Chad was Fort-Lamy until 1973.", "Chad", "capital"),
    ("# Acme\nCEO: John Smith (until 2023)", "Acme", "ceo"),
    ("# Acme\nCEO: John Smith (former)", "Acme", "ceo"),
    ("# Acme\n\n## Targets\n\nRevenue is 30 bn USD.", "Acme", "revenue"),
    ("# Chad\nPopulation: 34 million (2050)", "Chad", "population"),
    ("Столица Чада — Форт-Лами до 1973 года.", "Чад", "столица"),
]
NO_AMOUNT_OF_IT = [
    ("# Chad\nPopulation: 70th in the world", "Chad", "population"),
    ("The population of Chad is 3 times larger than that of Gabon.", "Chad", "population"),
    ("The population of Chad was 17 million lower than that of Niger.", "Chad", "population"),
    ("# Chad\nPopulation (male): 8 million", "Chad", "population"),
    ("Population of Chad is 20 % of that of Niger.", "Chad", "population"),
    ("# Чад\nНаселение (женщины): 9 млн", "Чад", "население"),
    ("# Chad\nArea (water): 24,800 km2", "Chad", "area"),
]


@pytest.mark.parametrize(("document", "entity", "field", "title"), ANOTHERS)
def test_what_belongs_to_another_is_left_out(document: str, entity: str, field: str, title: str) -> None:
    assert confirmed(document, entity, field, title) == []


@pytest.mark.parametrize(("document", "entity", "field"), [*UNSURE, *NOT_NOW, *NO_AMOUNT_OF_IT])
def test_what_is_no_value_now_is_left_out(document: str, entity: str, field: str) -> None:
    assert confirmed(document, entity, field) == []


TABLE = "# Chad\n| Year | Population |\n|---|---|\n| 2023 | 17 million |\n| 2050 (projection) | 34 million |"
STATED = [
    (TABLE, "Chad", "population", "Chad: population 2023 — 17 million"),
    ('{"name": "Chad", "population": {"2023": "17 million", "2050": "34 million"}}', "Chad", "population",
     "Chad: population 2023 — 17 million"),
    ("# Самокат\n\n## Руководство\n\nГенеральный директор: Иван Петров", "Самокат", "генеральный директор",
     "Самокат: генеральный директор 2025 — Иван Петров"),
    ("# Чад\n| Население | Год |\n|---|---|\n| 17 млн | 2023 |\n| 14 млн | 2020 |", "Чад", "население",
     "Чад: население 2023 — 17 млн"),
    ("# Notes\n\nAcme\nRevenue: 5 bn USD\n\nBolt\nRevenue: 9 bn USD", "Acme", "revenue",
     "Acme: revenue 2025 — 5 bn USD"),
    ("Acme had revenue of 4 bn in 2023 and 5 bn in 2024.", "Acme", "revenue", "Acme: revenue 2024 — 5 bn"),
    ("Inflation in Chad reached 5 % in 1995 and 9 % in 2023.", "Chad", "inflation", "Chad: inflation 2023 — 9 %"),
    ("Выручка 5Post за 2024 год составила 8,6 млрд рублей", "5Post", "выручка",
     "5Post: выручка 2024 — 8,6 млрд рублей"),
    ("# Acme\n\nThe company reported that revenue was 5 bn USD in 2024.", "Acme", "revenue",
     "Acme: revenue 2024 — 5 bn USD"),
    ("The revenue of Acme was 5 bn USD in 2024, 10 % more than in 2023.", "Acme", "revenue",
     "Acme: revenue 2024 — 5 bn USD"),
    ("# Acme\n\n## Financial results\n\nRevenue was 5 bn USD in 2024.", "Acme", "revenue",
     "Acme: revenue 2024 — 5 bn USD"),
    ("# InPost (INPST)\nRevenue: 10.9 bn PLN (2024)", "InPost", "revenue", "InPost: revenue 2024 — 10.9 bn PLN"),
    ("# Самокат (Samokat)\nВыручка: 154 млрд ₽ (2024)", "Самокат", "выручка", "Самокат: выручка 2024 — 154 млрд ₽"),
    ("# Chad\nGDP (PPP): 20 bn USD (2023)", "Chad", "gdp", "Chad: gdp 2023 — 20 bn USD (PPP)"),
    ("The highest point of Chad is Emi Koussi at 3,445 m above sea level.", "Chad", "highest point",
     "Chad: highest point 2025 — Emi Koussi at 3,445 m"),
]  # fmt: skip


@pytest.mark.parametrize(("document", "entity", "field", "line"), STATED)
def test_what_stands_beside_such_words_is_still_read(document: str, entity: str, field: str, line: str) -> None:
    assert confirmed(document, entity, field) == [line]
