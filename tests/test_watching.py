"""What `harness watch` says of two looks at a case: once for each change, by whom, and what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.loop import step
from harness.options import Settings
from harness.store import Store
from harness.watch import Contents
from harness.watching import LINES_SHOWN, PERSON, News, View, held, lines, moved, news, view_of, writers
from tests.fakes import make_session, plan_for
from tests.trees import write_tree

QUESTION = "---\nentities: [Oka, Kama]\nfields: [length]\n---\nWhich is longer?\n"
RAW = "---\nkind: note\n---\n## 1. Rivers\n- date: 2025-01-01\n\nThe length of the Oka is 1,500 km.\n"
FACT = "Oka: length — 1,500 km [1.1]"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "case", {"question.md": QUESTION})


def view(folder: Path) -> View:
    return view_of(Store(folder), Settings(), Contents(folder).now())


def said(before: View, after: View, folder: Path, *, own: bool = False) -> News:
    return news(before, after, writers(Store(folder), moved(before, after)), own=own)


def test_the_first_look_says_whose_turn_it_is(folder: Path) -> None:
    assert lines(news(None, view(folder), {})) == [
        "due: the Planner writes a query or the answer: harness step, or harness next"
    ]


def test_nothing_is_said_where_nothing_changed(folder: Path) -> None:
    assert not lines(said(view(folder), view(folder), folder))


def test_what_a_person_saved_is_told_with_its_facts_and_cells(folder: Path) -> None:
    write_tree(folder, {"raw_1.md": RAW})
    before = view(folder)
    write_tree(folder, {"summary.md": f"## Confirmed\n- {FACT}\n"})
    found = said(before, view(folder), folder)
    assert [tuple(one) for one in found.came] == [("summary.md", PERSON, "new")]
    assert found.facts.added == (FACT,) and found.filled == ("Oka: length",)
    told = lines(found)
    assert told[:3] == ["summary.md new, by a person", f"  + {FACT}", "  ✓ Oka: length"]
    assert told[-1].startswith("due: the Planner")
    back = said(view(folder), before, folder)
    assert back.opened == ("Oka: length",) and [one.how for one in back.came] == ["removed"]
    assert f"  - {FACT}" in lines(back)


def test_what_a_pass_wrote_is_its_roles_and_not_told_again_after_our_own(folder: Path) -> None:
    before = view(folder)
    step(make_session(folder, planner=plan_for("alpha")))
    after = view(folder)
    (came,) = said(before, after, folder).came
    assert came.file == "next_query.txt" and came.by.startswith("the planner (")
    assert not said(before, after, folder, own=True).came
    write_tree(folder, {"summary.md": "## Confirmed\n"})
    assert [one.file for one in said(before, view(folder), folder, own=True).came] == ["summary.md"]


def test_what_is_wrong_is_told_once_and_when_it_is_mended(folder: Path) -> None:
    write_tree(folder, {"raw_1.md": RAW, "summary.md": f"## Confirmed\n- {FACT}\n"})
    right = view(folder)
    write_tree(folder, {"summary.md": "## Confirmed\n- Oka: length — 9,999 km [1.1]\n"})
    wrong = view(folder)
    found = said(right, wrong, folder)
    assert any("ungrounded" in one for one in found.wrong), found
    write_tree(folder, {"summary.md": "## Confirmed\n- Oka: length — 9,999 km [1.1]\n\n"})
    assert not said(wrong, view(folder), folder).wrong
    assert said(wrong, right, folder).mended == found.wrong


def test_a_file_that_cannot_be_read_is_what_is_wrong_and_the_facts_before_it_are_remembered(folder: Path) -> None:
    write_tree(folder, {"raw_1.md": RAW, "summary.md": f"## Confirmed\n- {FACT}\n"})
    good = view(folder)
    write_tree(folder, {"summary.md": "<<<<<<< mine\n- a\n>>>>>>> theirs\n"})
    broken = view(folder)
    told = lines(said(good, broken, folder))
    assert told[0] == "summary.md changed, by a person" and "  wrong: an unresolved merge" in told[1], told
    between = held(good, broken)
    assert between.files == broken.files and between.case == good.case
    write_tree(folder, {"summary.md": f"## Confirmed\n- {FACT}\n- Kama: length: 1,805 km [person]\n"})
    assert said(between, view(folder), folder).facts.added == ("Kama: length: 1,805 km [person]",)


def test_of_many_lines_the_rest_is_counted() -> None:
    told = lines(News("Ask", "you", filled=tuple(f"cell {at}" for at in range(LINES_SHOWN + 3))))
    assert len(told) == LINES_SHOWN + 2 and told[-2] == "  ✓ and 3 more" and told[-1] == "due: you"
