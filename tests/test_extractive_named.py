"""Many entities are looked for in one pass: what the rules find for one of them, that pass has found too."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.agents.extractive.named import Names
from harness.agents.extractive.passages import read
from harness.agents.extractive.places import Places
from harness.agents.extractive.readings import findings
from harness.agents.extractive.subjects import is_name, mentions
from harness.model import Grid, Source

ENTITIES = (
    *("Samokat", "Самокат", "Яндекс Лавка", "Лавка", "Magnit Express", "Guinea", "Equatorial Guinea", "5Post"),
    *("Norvik 1", "Norvik 12", "Заря-12", "Pixel 9", "Windows 2000", "2024", "Q1 2024", "Côte d’Ivoire", "乍得"),
    *("1.5 Ltd", "The Who", "The", "A: B", "!!", "Нигер", "Нигерия", "Georgia", "Lafka 3,5"),
)
FORMS = (
    *("Самоката", "«Яндекс Лавки»", "Лавкой", "НОРВИК", "norvik", "Нигерии", "South", "revenue", "выручка", "2024"),
    *("2024x", "Q12024", "in 2023", "annual report", "(U.S. state)", "乍得的", "год", "’s", "-", "–", ":", " | ", "."),
)
TEXTS = st.lists(st.sampled_from((*ENTITIES, *FORMS)) | st.text(max_size=4), max_size=8)
GLUE = st.sampled_from((" ", " ", "", "-", ": ", " – ", "/"))


@given(TEXTS, GLUE)
@example(["Windows 2000", "2024x"], "")
@example(["x" * 196 + " Samokat"], "")
def test_no_name_is_overlooked(pieces: list[str], glue: str) -> None:
    text, names = glue.join(pieces), Names(ENTITIES)
    worded = [entity for entity in ENTITIES if entity != "!!"]
    mentioned = [entity for entity in worded if mentions(text, entity)]
    cut = [entity for entity in worded if mentions(text[:200], entity)]
    called = [entity for entity in ENTITIES if is_name(text, entity)]
    assert set(mentioned) <= set(names.mentioned(text))
    assert names.mentioned(text) == names.mentioned_in_source(text)
    assert {*mentioned, *cut, *called} <= set(names.labelled(text))


def test_names_stand_in_the_order_of_the_question_and_only_where_their_words_are() -> None:
    names = Names(("Norvik 12", "Лавка", "Norvik 1", "Acme"))
    assert names.mentioned("Выручка Лавки и Norvik 12") == ("Norvik 12", "Лавка")
    assert names.mentioned("12 Norvik") == ()
    assert names.labelled("12: Norvik") == ("Norvik 12",)


PAGES = (
    ("Notes", "", "Acme's revenue in 2023 was 5 bn. It rained. Its revenue was 7 bn."),
    ("Acme", "", "The revenue in 2023 was 5 bn. Beta grew. Its revenue was 7 bn."),
    ("Notes", "https://example.org/acme", "Revenue was 5 bn in 2023.\n\nRevenue was 5 bn in 2023."),
    ("Notes", "", "# Acme\n\nRevenue was 5 bn.\n\n# Beta\n\nRevenue was 6 bn.\n\n# Gamma 2\n\nRevenue was 7 bn.\n"),
    ("Notes", "", "# Beta\n\nThe revenue was 6 bn.\n\n# Plans\n\nThe revenue was 6 bn.\n\nAcme: revenue was 5 bn."),
    ("Notes", "", "# All\n\n- Acme: revenue was 4 bn\n- Beta\n  - revenue: 6 bn\n"),
    ("Table", "", "| Company | Revenue |\n|---|---|\n| Acme | 5 bn |\n| Beta | 6 bn |\n| Gamma 2 | 7 bn |\n"),
)


@pytest.mark.parametrize(("title", "url", "text"), PAGES)
def test_a_source_says_the_same_of_an_entity_among_hundreds(title: str, url: str, text: str) -> None:
    """Names that the text has none of change nothing."""
    few = ("Acme", "Beta", "Gamma 2")
    many = (*few, *(f"Norvik {n}" for n in range(200)))
    source, reading = Source(title, text, url), read(text)
    found = [
        findings(source, reading, Grid(entities, ("revenue",)), [(entity, "revenue") for entity in entities])
        for entities in (few, many)
    ]
    assert found[0] == found[1]
    assert found[0]


def test_of_a_source_only_what_may_be_of_an_entity_is_looked_at() -> None:
    text = "It rained.\n\nAcme paid 5.\n\n# Beta\n\nIt snowed.\n"
    places = Places(Source("Notes", text), read(text), ("Acme", "Beta", "Gamma"))
    assert [places.tells_of(entity) for entity in ("Acme", "Beta", "Gamma")] == [True, True, False]
