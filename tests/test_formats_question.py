"""Any text is a question; what people add to it is found, and directions are only ever appended."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import WrongCall
from harness.formats.front import front_value
from harness.formats.question import add_direction, fingerprint, parse_question, render_question
from harness.model import FrontMatter, Grid, Question

FULL = """\
---
entities: [Самокат, Яндекс Лавка]
fields: выручка, доля рынка
ready_when: по каждой компании: цифра с источником
rounds: 10   # не больше
---
Сравни крупнейшие сервисы быстрой доставки продуктов в России.

## Указания
- 2026-11-29: не сравнивать цены
- 2026-11-30: только годовые данные,
  без кварталов

## Заметки
Спросить отдел закупок.
"""


def test_every_part_is_found() -> None:
    question = parse_question(FULL)
    assert question.text == (
        "Сравни крупнейшие сервисы быстрой доставки продуктов в России.\n\n## Заметки\nСпросить отдел закупок."
    )
    assert question.grid == Grid(("Самокат", "Яндекс Лавка"), ("выручка", "доля рынка"))
    assert question.ready_when == "по каждой компании: цифра с источником"
    assert question.directions == (
        "2026-11-29: не сравнивать цены",
        "2026-11-30: только годовые данные, без кварталов",
    )
    assert question.front == FrontMatter((("rounds", "rounds: 10   # не больше\n"),))
    assert question.problems == ()


@pytest.mark.parametrize("text", ["How tall is Emi Koussi?", "\n\nHow tall is Emi Koussi?\n\n"])
def test_bare_text_is_a_question(text: str) -> None:
    assert parse_question(text) == Question("How tall is Emi Koussi?")


@pytest.mark.parametrize("text", ["", "\n \n", "---\nentities: [a]\n---\n", "## Directions\n- 2026-11-29: be brief\n"])
def test_a_question_without_text_says_so_by_its_empty_text(text: str) -> None:
    assert parse_question(text).text == ""


@pytest.mark.parametrize(
    "heading",
    [
        "## Directions",
        "# directions:",
        "### Указания",
        "## 指示",
        "**Directions**",
        "## **Directions:**",
        "##Directions",
    ],
)
def test_directions_stand_under_any_heading_that_means_them(heading: str) -> None:
    question = parse_question(f"Who?\n\n{heading}\n\n- one - 1\n* two\nthree\n\nfour - 4\n")
    assert question == Question("Who?", directions=("one - 1", "two three", "four - 4"))


def test_the_word_alone_is_no_section() -> None:
    text = "Directions:\n- which way does the Volga flow"
    assert parse_question(text) == Question(text)


def test_deeper_headings_stay_inside_and_several_sections_add_up() -> None:
    question = parse_question("Who?\n## Directions\n- a\n### later\n- b\n# Notes\nx\n## Directions\n- c\n")
    assert question.directions == ("a", "### later", "b", "c")
    assert question.text == "Who?\n# Notes\nx"


def test_a_broken_key_hides_nothing_else() -> None:
    question = parse_question('---\nentities: [a, "b\nfields: [x]\nfields: [y]\n---\nWho?\n', "q/question.md")
    assert question.text == "Who?"
    assert question.grid.fields == ("x",)
    assert [(problem.file, problem.line) for problem in question.problems] == [
        ("q/question.md", 2),
        ("q/question.md", 4),
    ]
    assert [problem.line for problem in parse_question("---\nrounds: 3\nWho?\n").problems] == [1]


def test_an_added_direction_is_one_more_line() -> None:
    text = "Who?\n\n## Directions\n- 2026-11-28: be brief\n"
    assert add_direction(text, "leave out\nprices ", "2026-11-29") == text + "- 2026-11-29: leave out prices\n"


@pytest.mark.parametrize(
    ("text", "added"),
    [
        ("Who?", "\n\n## Directions\n- 2026-11-29: x\n"),
        ("Who?\n", "\n## Directions\n- 2026-11-29: x\n"),
        ("Кто?\n", "\n## Указания\n- 2026-11-29: x\n"),
        ("谁？\n", "\n## 指示\n- 2026-11-29: x\n"),
        (FULL, "\n## Указания\n- 2026-11-29: x\n"),  # Directions stand in the middle: an append goes below
        ("Who?\n## Directions", "\n- 2026-11-29: x\n"),
    ],
)
def test_the_section_is_made_where_it_is_missing(text: str, added: str) -> None:
    assert add_direction(text, "x", "2026-11-29") == text + added


def test_a_direction_needs_words() -> None:
    with pytest.raises(WrongCall, match="harness steer"):
        add_direction("Who?", " \n\x00", "2026-11-29")


@given(
    st.one_of(st.text(), st.just(FULL), st.just("Who?\n## Directions\n- a\n")), st.text().filter(lambda t: t.split())
)
def test_adding_leaves_the_text_and_reads_back_once(text: str, direction: str) -> None:
    before = parse_question(text)
    try:
        after = add_direction(text, direction, "2026-11-29")
    except WrongCall:
        return  # nothing but control characters
    assert after.startswith(text)
    assert parse_question(after).directions[:-1] == before.directions
    assert parse_question(after).directions[-1].startswith("2026-11-29: ")
    assert parse_question(after).text == before.text
    assert fingerprint(after) == fingerprint(text)


def test_the_fingerprint_is_of_the_text_alone() -> None:
    mark = fingerprint("Compare Chad and Yemen.\nSay where sources differ.")
    assert len(mark) == 8 and int(mark, 16) >= 0
    same = "---\nrounds: 3\n---\n\nCompare  Chad and\nYemen. Say where\tsources differ.\n\n## Directions\n- be brief\n"
    assert fingerprint(same) == mark
    assert fingerprint(parse_question(same).text) == mark
    assert fingerprint("Compare Chad and Yemen. Say where sources agree.") != mark
    assert fingerprint("Й") == fingerprint("И\u0306")  # as macOS saves it


words = st.text(st.characters(categories=["L", "N"], include_characters=" ,:«»'-[]\"#"), min_size=1)
entries = words.map(str.strip).filter(bool)
names = st.lists(entries, max_size=3, unique=True).map(tuple)
bodies = st.lists(words.filter(lambda line: "#" not in line), max_size=4).map(lambda lines: "\n".join(lines).strip())
folded = words.map(lambda text: " ".join(text.split())).filter(lambda text: text[:1].isalnum())


@given(
    st.builds(
        Question,
        text=bodies,
        directions=st.lists(folded, max_size=3).map(tuple),
        front=st.sampled_from([FrontMatter(), FrontMatter((("rounds", "rounds: 3  # few\n"), ("", "# a remark\n")))]),
        grid=st.builds(Grid, names, names),
        ready_when=words.map(lambda text: " ".join(text.split())),
    )
)
def test_what_was_written_is_read_back(question: Question) -> None:
    assert parse_question(render_question(question)) == question


@given(st.text() | st.sampled_from([FULL, "---\n# c\nentities:\n---\n---\nx: 1\n---\n", "---\n---\n---\na: 1\n---\n"]))
def test_any_text_survives_a_rewrite(text: str) -> None:
    question = parse_question(text)
    again = parse_question(render_question(question))
    assert (again.text, again.directions, again.grid, again.ready_when) == (
        question.text,
        question.directions,
        question.grid,
        question.ready_when,
    )
    assert front_value(again.front, "rounds") == front_value(question.front, "rounds")
