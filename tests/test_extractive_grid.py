"""Cells that a question names in its wording."""

from __future__ import annotations

import pytest

from harness.agents.extractive.grid import derive, grid_of
from harness.model import Grid, Question


@pytest.mark.parametrize(
    ("text", "entities", "fields"),
    [
        ("What is the population of Chad?", ("Chad",), ("population",)),
        ("Compare the population and area of Chad, Niger and Mali.", ("Chad", "Niger", "Mali"), ("population", "area")),
        ("Compare Samokat, Yandex Lavka and VkusVill: revenue, market share and headquarters",
         ("Samokat", "Yandex Lavka", "VkusVill"), ("revenue", "market share", "headquarters")),
        ("For each of these countries: Chad, Saint Kitts and Nevis and Mali. What is the GDP, airports and death rate?",
         ("Chad", "Saint Kitts and Nevis", "Mali"), ("GDP", "airports", "death rate")),
        ("What are the coastline, head of government and airports of Kenya and Niue in 2024?",
         ("Kenya", "Niue"), ("coastline", "head of government", "airports")),
        ("Compare Guam and Sao Tome and Principe by total area and capital.",
         ("Guam", "Sao Tome and Principe"), ("total area", "capital")),
        ("Какова выручка Самоката?", ("Самоката",), ("выручка",)),
        ("Сравни выручку и долю рынка Самоката, Яндекс Лавки и ВкусВилла в 2024 году.",
         ("Самоката", "Яндекс Лавки", "ВкусВилла"), ("выручка", "доля рынка")),
        ("По каждой из компаний Самокат, Яндекс Лавка и ВкусВилл: выручка, доля рынка",
         ("Самокат", "Яндекс Лавка", "ВкусВилл"), ("выручка", "доля рынка")),
        ("Сравни две страны: Казахстан и Чад. Каковы у каждой население и высшая точка (выше уровня моря по карте)?",
         ("Казахстан", "Чад"), ("население", "высшая точка")),
        ("比较乍得和尼日尔的人口、首都", ("乍得", "尼日尔"), ("人口", "首都")),
    ],
)  # fmt: skip
def test_names_and_fields(text: str, entities: tuple[str, ...], fields: tuple[str, ...]) -> None:
    assert derive(text) == Grid(entities, fields)


@pytest.mark.parametrize(
    "text",
    [
        "How does photosynthesis work?",
        "Why did the Roman Empire fall?",
        "What do experts say about the future of AI in Europe?",
        "Compare the largest rapid grocery delivery services in Russia",
        "Почему упал рубль?",
        "",
    ],
)
def test_a_question_without_cells_has_no_grid(text: str) -> None:
    assert not derive(text)


def test_the_grid_of_the_front_matter_comes_first() -> None:
    given = Grid(("A",), ("f",))
    assert grid_of(Question("What is the population of Chad?", grid=given)) == given
    assert grid_of(Question("What is the population of Chad?", grid=Grid(("Mali",), ()))) == Grid(
        ("Mali",), ("population",)
    )
