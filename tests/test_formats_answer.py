"""answer.md as the harness writes it and as a person does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.formats.answer import STATUSES, STOPS, parse_answer, render_answer
from harness.formats.front import front_value, put
from harness.model import Answer, FrontMatter

DRAFT = """\
---
status: draft
stopped: answered
round: 3
mood: hopeful # mine
---

Samokat: 154.0 bn ₽ in 2024 [1.2].

## Sources
- [1.2] 2025-02-11 · Infoline — https://example.org/1
"""


def test_the_harness_s_own_form() -> None:
    answer = parse_answer(DRAFT)
    assert (answer.status, answer.stopped, answer.round, answer.problems) == ("draft", "answered", 3, ())
    assert answer.text.startswith("Samokat: 154.0") and answer.text.endswith("https://example.org/1")
    assert front_value(answer.front, "mood") == "hopeful"
    assert render_answer(answer) == DRAFT


@pytest.mark.parametrize("text", ["Самокат больше.\n", "\n\nСамокат больше.", "# Answer\n---\nSamokat.\n", "---\n", ""])
def test_a_bare_text_is_a_person_s_answer(text: str) -> None:
    assert parse_answer(text) == Answer(text.strip("\n"), "complete", "person", 0)


def test_front_matter_of_a_person_stays() -> None:
    answer = parse_answer("---\nauthor: Anna\n---\nSamokat.\n")
    assert (answer.text, answer.status, answer.stopped, answer.round) == ("Samokat.", "complete", "person", 0)
    assert front_value(parse_answer(render_answer(answer)).front, "author") == "Anna"


@pytest.mark.parametrize(
    ("front", "said"),
    [("status: done", "status: done"), ("stopped: bored", "stopped: bored"), ("round: three", "`round`")],
)
def test_an_odd_value_is_reported_and_is_never_a_draft(front: str, said: str) -> None:
    answer = parse_answer(f"---\n{front}\n---\nSamokat.\n", "case/answer.md")
    assert (answer.text, answer.status, answer.round) == ("Samokat.", "complete", 0)
    assert [(problem.file, said in problem.what) for problem in answer.problems] == [("case/answer.md", True)]


def test_a_front_matter_without_end_is_reported() -> None:
    answer = parse_answer("---\nstatus: draft\nSamokat.\n")
    assert [problem.line for problem in answer.problems] == [1]
    assert (answer.status, answer.stopped) == ("complete", "person")


LINE = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=30)
TEXT = st.lists(LINE | st.sampled_from(["---", "status: draft", "## Sources", ""]), max_size=6).map("\n".join)


@given(
    TEXT.map(lambda text: text.strip("\n")),
    st.sampled_from(STATUSES),
    st.sampled_from(STOPS),
    st.integers(0, 999_999_999),
    st.just(FrontMatter()) | LINE.map(lambda line: put(FrontMatter(), "mood", line)),
)
def test_law_an_answer_comes_back(text: str, status: str, stopped: str, round_: int, front: FrontMatter) -> None:
    answer = Answer(text, status, stopped, round_, front)
    read = parse_answer(render_answer(answer))
    assert (read, read.problems) == (answer, ())
