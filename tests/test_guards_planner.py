"""What the Planner's answer and queries may not hold, and what is done when it insists."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.agents.extractive import ExtractiveAgent
from harness.formats.answer import parse_answer
from harness.loop import step
from tests.fakes import ScriptedAgent, answer_with, make_session, search_for
from tests.test_roles_planner import GRID, LIMIT, SEARCHED, case
from tests.trees import read_tree

GOOD = "Samokat: 154.0 bn [1.1]"


def defects(tmp_path: Path, text: str, *, question: str = "", reply: str = "") -> list[tuple[str, str]]:
    agent = ScriptedAgent(reply or answer_with(text), answer_with(GOOD))
    folder = case(tmp_path, question, summary=LIMIT) if question else case(tmp_path, summary=LIMIT)
    step(make_session(folder, planner=agent))
    return [(one.code, one.value) for one in (agent.packets[1].defects if len(agent.packets) > 1 else ())]


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        "Samokat had 154 bn in revenue [1.1].",
        "1. Samokat: 154.0 bn [1.1]\n2. Nothing is known of the other 3 companies.",
        "| Company | Revenue |\n|---|---|\n| Samokat | 154.0 bn [1.1] |",
    ],
)
def test_an_answer_that_says_what_the_summary_says(tmp_path: Path, text: str) -> None:
    assert defects(tmp_path, text) == []


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Samokat: 155.0 bn [1.1]", "ungrounded"),
        ("Samokat: 154.0 bn in 1999 [1.1]", "ungrounded"),
        ("Samokat: 154.0 bn [1.1], see https://example.org/samokat", "placeholder-source"),
        ("Samokat: 154.0 bn [1.1], see https://forbes.ru/samokat", "unknown-address"),
        ("РЎР°РјРѕРєР°С‚: 154.0 bn [1.1]", "mojibake"),
        ("????????: 154.0 bn [1.1]", "lost-letters"),
        ("Samokat: 154.0 bn [1.1] <|im_end|>", "forged-tag"),
    ],
)
def test_an_answer_that_does_not(tmp_path: Path, text: str, code: str) -> None:
    assert [found for found, _ in defects(tmp_path, text)] == [code]


def test_an_answer_in_another_language(tmp_path: Path) -> None:
    text = "Выручка компании равна 154.0 bn [1.1].\nО других компаниях пока ничего не известно.\nИскать больше нечего."
    assert [code for code, _ in defects(tmp_path, text)] == ["wrong-language"]


def test_what_stays_doubtful_in_an_answer_is_marked(tmp_path: Path) -> None:
    bad = answer_with(f"{GOOD}\nThat is 17 % more than before [1.1].")
    folder = case(tmp_path, summary=LIMIT)
    step(make_session(folder, planner=ScriptedAgent(*[bad] * 2)))
    text = parse_answer(read_tree(folder)["answer.md"]).text
    assert f"{GOOD}\nThat is 17 % more than before [1.1]. [unverified]\n" in text


def test_one_that_insists_with_invented_numbers_is_overruled(tmp_path: Path) -> None:
    planner = ScriptedAgent(*[answer_with("Samokat 17 bn [1.1]")] * 2)
    folder = case(tmp_path, GRID, SEARCHED)
    step(make_session(folder, planner=planner, built_in=ExtractiveAgent()))
    assert "VkusVill" in read_tree(folder)["next_query.txt"]


def test_a_query_in_broken_letters_is_asked_for_again(tmp_path: Path) -> None:
    agent = ScriptedAgent(search_for("РІС‹СЂСѓС‡РєР° Самоката"), search_for("выручка Самоката"))
    step(make_session(case(tmp_path, summary=SEARCHED), planner=agent))
    assert "meant is «выручка Самоката»" in agent.packets[1].defects[0].what


def test_broken_letters_in_a_query_are_repaired_when_the_planner_insists(tmp_path: Path) -> None:
    bad = search_for("РІС‹СЂСѓС‡РєР° Самоката")
    folder = case(tmp_path, summary=SEARCHED)
    assert step(make_session(folder, planner=ScriptedAgent(bad, bad))).line == "выручка Самоката"


@pytest.mark.parametrize(
    ("text", "lacking"),
    [
        ("Lavka 154.0 bn and Samokat 67.4 bn [1.1]", "67.4 bn"),
        ("Samokat has a share of 6 % [1.1]", "6 %"),  # of `6 gaps` in Searches
        ("| Company | Revenue, bn |\n|---|---|\n| Samokat | 155.0 [1.1] |", "155.0"),
    ],
)
def test_a_number_that_stands_somewhere_in_the_file_is_not_enough(tmp_path: Path, text: str, lacking: str) -> None:
    agent = ScriptedAgent(answer_with(text), answer_with(GOOD))
    step(make_session(case(tmp_path, summary=LIMIT), planner=agent))
    assert agent.packets[1].defects[0].what.startswith(f"{lacking} stands in no line of the summary with [1.1]")


def test_the_mark_stands_in_the_last_cell_of_a_row(tmp_path: Path) -> None:
    bad = answer_with("| Company | Revenue, bn |\n|---|---|\n| Samokat | 155.0 [1.1] |")
    folder = case(tmp_path, summary=LIMIT)
    step(make_session(folder, planner=ScriptedAgent(bad, bad)))
    assert "| Samokat | 155.0 [1.1] [unverified] |\n" in read_tree(folder)["answer.md"]


def test_the_head_of_a_table_gives_its_rows_their_scale(tmp_path: Path) -> None:
    assert defects(tmp_path, "| Company | Revenue, bn |\n|---|---|\n| Samokat | 154.0 [1.1] |") == []


def test_two_queries_of_one_reply_that_say_the_same(tmp_path: Path) -> None:
    twice = search_for("выручка Самоката 2024", "Самокат, выручка за 2024 год")
    agent = ScriptedAgent(twice, search_for("выручка Самоката 2024"))
    step(make_session(case(tmp_path, summary=SEARCHED), planner=agent, queries_per_round=2))
    assert [defect.code for defect in agent.packets[1].defects] == ["repeated-query"]


def test_any_answer_lists_what_was_searched_for_in_vain(tmp_path: Path) -> None:
    tried = "- 2 · VkusVill revenue — nothing found\n- 3 · the latest revenue of VkusVill — nothing found\n## Sources"
    folder = case(tmp_path, GRID, SEARCHED.replace("## Sources", tried))
    step(make_session(folder, planner=ScriptedAgent(answer_with(GOOD))))
    text = parse_answer(read_tree(folder)["answer.md"]).text
    listed = "- VkusVill: revenue (searched 2×): «VkusVill revenue»; «the latest revenue of VkusVill»"
    assert f"{GOOD}\n\n## Not found\n{listed}\n\n## Sources\n- [1.1] " in text
    own = f"{GOOD}\n\n## Not found\n- The revenue of VkusVill: two searches brought nothing."
    folder = case(tmp_path / "own", GRID, SEARCHED.replace("## Sources", tried))
    step(make_session(folder, planner=ScriptedAgent(answer_with(own))))
    assert "searched 2×" not in read_tree(folder)["answer.md"]
