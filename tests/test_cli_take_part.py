"""`step`, `next`, `take`, `search`, `steer`, `stop` and `reopen` as a user sees them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.program import DOCUMENTS, GRID, agent_program, harness
from tests.trees import read_tree, write_tree

CASE = Path("research")
SEARCH = 'Think: not known.\nAction: search("Samokat revenue 2024")\n'
REWRITE = """Think: as found.
Summary:
## Confirmed
- Samokat: revenue 2024 — 154.0 bn roubles [1.1]
## Contradictions
## Not found
Removed:
- none
"""
ANSWER = 'Think: known.\nAction: answer("Samokat had 154.0 bn roubles in 2024 [1.1].")\n'
COMPLETE = '{"complete": true, "missing": []}'


@pytest.fixture
def case() -> Path:
    """The files of a fresh case in research/, with two documents beside it."""
    write_tree(Path(), {**DOCUMENTS, "research/question.md": "Which revenue has Samokat?\n"})
    return CASE


def state(case: Path) -> dict[str, str]:
    """The files that hold the case's state; helpers and the record left out."""
    return {name: text for name, text in read_tree(case).items() if not name.startswith((".harness/", "trace"))}


def answered(case: Path) -> None:
    assert harness("run", "--in", "docs").code == 0


# next and take ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "saved",
    [str.encode, lambda t: t.replace("\n", "\r\n").encode("utf-8-sig"), lambda t: t.encode("utf-16")],
    ids=["plain", "CRLF and BOM", "UTF-16"],
)
def test_a_case_is_answered_by_hand_in_every_role(case: Path, saved: Callable[[str], bytes]) -> None:
    """The replies as an editor or a Windows shell saves them: from a file, from stdin, from `-`."""
    asked = harness("next")
    assert asked.code == 0 and "Which revenue has Samokat?" in asked.out
    assert asked.err.startswith("planner, round 1. Give the reply to: harness take FILE")
    write_tree(Path(), {"reply.txt": saved(SEARCH)})
    due = "due: a search for raw_1.md: Samokat revenue 2024 (harness search)\n"
    assert harness("take", "reply.txt") == (0, "ask: Samokat revenue 2024\n", due)

    assert harness("search", "--in", "docs").out.startswith('"Samokat revenue 2024": ')
    folding = harness("next")
    assert folding.err.startswith("synthesizer, round 1.") and "154.0 bn roubles" in folding.out
    assert harness("take", stdin=saved(REWRITE)).out == "fold: raw_1.md folded: +1 fact, 0 gaps left\n"

    assert harness("next").err.startswith("planner, round 2.")
    assert harness("take", "-", stdin=saved(ANSWER)).out == "answer: answer.md: draft\n"
    assert harness("next").err.startswith("checker, round 1.")
    assert harness("take", stdin=saved(COMPLETE)).out == "check: self-check: the answer is complete\n"
    assert "Samokat had 154.0 bn roubles in 2024 [1.1]." in harness("run").out


def test_the_prompt_can_be_written_to_a_file(case: Path) -> None:
    printed = harness("next")
    ran = harness("next", "--out", "prompt.md")
    assert ran.code == 0 and ran.out == ""
    assert Path("prompt.md").read_text(encoding="utf-8") == printed.out.removesuffix("\n")


@pytest.mark.parametrize(("place", "code"), [("nowhere/prompt.md", 1), ("docs", 2)])
def test_a_place_that_cannot_be_written_is_named(case: Path, place: str, code: int) -> None:
    ran = harness("next", "--out", place)
    assert ran.code == code and place in ran.err and "--out" in ran.err


def test_a_defective_reply_is_refused_once_and_kept(case: Path) -> None:
    harness("next")
    before = state(case)
    ran = harness("take", stdin="I would rather talk about the weather.")
    assert ran.code == 1 and ran.out == ""
    assert ran.err.count("the reply has no Action") == 1
    assert (
        "harness next has the prompt that names this" in ran.err and f"{case.absolute()}/.harness/rejected" in ran.err
    )
    assert state(case) == before
    assert any("weather" in path.read_text(encoding="utf-8") for path in (case / ".harness/rejected").iterdir())
    assert harness("take", stdin=SEARCH).code == 0


def test_both_a_query_and_an_answer_is_no_reply(case: Path) -> None:
    harness("next")
    ran = harness("take", stdin=SEARCH + ANSWER)
    assert ran.code == 1 and "cannot be used" in ran.err and "next_query.txt" not in state(case)


@pytest.mark.parametrize("reply", ["", "\n\n", "\x00\x1b[2J"])
def test_an_empty_reply_is_told(case: Path, reply: str) -> None:
    harness("next")
    ran = harness("take", stdin=reply)
    assert ran.code == 1 and "this reply cannot be used: " in ran.err


def test_a_reply_to_an_older_prompt_is_kept_aside(case: Path) -> None:
    harness("next")
    write_tree(case, {"summary.md": "## Confirmed\n- Samokat was founded in 2017 [person]\n"})
    ran = harness("take", stdin=SEARCH)
    assert ran.code == 1 and "the files moved since `harness next`" in ran.err
    kept = case / ".harness/rejected/planner_1_old.md"
    assert str(kept) in ran.err and "Samokat revenue 2024" in kept.read_text(encoding="utf-8")
    assert "next_query.txt" not in state(case)


def test_what_is_due_is_told_where_no_role_is(case: Path) -> None:
    write_tree(case, {"next_query.txt": "Samokat revenue\n"})
    for command in ("next", "take"):
        ran = harness(command)
        assert ran.code == 1 and "a search is due, not a role: Samokat revenue\n  harness search\n" in ran.err
    harness("search", "--in", "docs")
    ran = harness("search")
    assert ran.code == 1 and "no search is due; this is: the Synthesizer folds raw_1.md" in ran.err


def test_after_the_answer_next_names_reopen(case: Path) -> None:
    answered(case)
    for command in ("next", "take", "search"):
        ran = harness(command)
        assert ran.code == 1 and "reopen" in ran.err, command


def test_a_reply_file_that_is_not_there_is_a_wrong_call(case: Path) -> None:
    ran = harness("take", "nowhere.txt")
    assert ran.code == 2 and "nowhere.txt" in ran.err


# step and search -------------------------------------------------------------------------------------------


def test_step_does_one_pass_and_says_so_in_one_line(case: Path) -> None:
    ran = harness("step")
    assert ran.code == 0 and ran.err == "" and ran.out.startswith("ask: ") and ran.out.count("\n") == 1
    told = json.loads(harness("step", "--json").out)
    assert told["action"] == "search" and told["final"] == ""
    for _ in range(12):
        told = json.loads(harness("step", "--json").out)
    assert told == {
        "action": "done",
        "line": "answer.md stands (complete)",
        "tokens": 0,
        "final": "answered",
        "notes": [],
        "read": None,
    }


def test_step_after_step_ends_as_a_run_does(case: Path) -> None:
    write_tree(Path("other"), {"question.md": "Which revenue has Samokat?\n"})
    answered(case)
    while "done" not in harness("-C", "other", "step", HARNESS_SEARCH="folder: docs").out:
        pass
    assert read_tree(Path("other"))["answer.md"] == read_tree(case)["answer.md"]


def test_search_fetches_what_is_due_and_nothing_else(case: Path) -> None:
    write_tree(case, {"next_query.txt": "Samokat revenue\n"})
    ran = harness("search", "--in", "docs")
    assert ran.code == 0 and ran.err == "" and "from folder" in ran.out
    assert set(state(case)) == {"question.md", "next_query.txt", "raw_1.md"}


# steer -----------------------------------------------------------------------------------------------------


def test_a_direction_is_added_and_reaches_the_next_prompt(case: Path) -> None:
    ran = harness("steer", "leave out", "prices")
    assert ran == (0, "added to Directions; both roles read it from the next pass on\n", "")
    assert "leave out prices" in read_tree(case)["question.md"]
    assert "leave out prices" in harness("next").out


def test_a_direction_after_the_answer_names_reopen(case: Path) -> None:
    answered(case)
    ran = harness("steer", "only 2024")
    assert ran.code == 0 and "harness reopen" in ran.out
    assert "only 2024" in read_tree(case)["question.md"]


@pytest.mark.parametrize(("words", "told"), [((), "Missing argument"), (("",), "an empty direction")])
def test_an_empty_direction_is_a_wrong_call(case: Path, words: tuple[str, ...], told: str) -> None:
    ran = harness("steer", *words)
    assert ran.code == 2 and told in ran.err


def test_a_direction_needs_a_question() -> None:
    ran = harness("steer", "x")
    assert ran.code == 1 and "there is no question yet" in ran.err and 'harness ask "' in ran.err


# A question asked back ---------------------------------------------------------------------------------------


def test_a_question_asked_back_where_nobody_sits_names_the_flag(case: Path) -> None:
    write_tree(case, {"next_query.txt": 'ask("Which year?")\n'})
    ran = harness("run", "--in", "docs")
    assert ran.code == 2 and ran.out == ""
    assert "the Planner asks you: Which year?" in ran.err and "--unattended" in ran.err and "steer" in ran.err
    assert "you: Which year? (harness steer" in harness("status").out
    assert harness("step").code == 5


def test_a_direction_answers_it_and_so_does_the_flag(case: Path) -> None:
    write_tree(case, {"next_query.txt": 'ask("Which year?")\n'})
    write_tree(Path("other"), read_tree(case))
    assert harness("steer", "2024").code == 0
    assert harness("run", "--in", "docs").code == 0
    assert harness("-C", "other", "run", "--in", "docs", "--unattended").code == 0


# stop and reopen -------------------------------------------------------------------------------------------


def test_stop_without_a_run_says_so_and_stops_nothing_later(case: Path) -> None:
    assert harness("stop") == (0, "no run is under way here; nothing to stop\n", "")
    assert harness("run", "--in", "docs").code == 0


def test_reopen_needs_an_answer(case: Path) -> None:
    ran = harness("reopen")
    assert ran.code == 1 and "there is no answer to reopen" in ran.err and "harness status" in ran.err


def test_reopen_moves_the_answer_and_the_next_run_goes_on(case: Path) -> None:
    answered(case)
    first = read_tree(case)["answer.md"]
    for number in (1, 2):
        ran = harness("reopen")
        assert ran.code == 0 and ran.err == "" and f"the old answer is answer_{number}.md" in ran.out
        assert "answer.md" not in state(case)
        answered(case)
    assert read_tree(case)["answer_1.md"] == first


def test_rounds_count_anew_after_reopen() -> None:
    write_tree(Path(), {**DOCUMENTS, "research/question.md": GRID})
    assert harness("run", "--rounds", "1", "--in", "docs").code == 4
    assert harness("run", "--in", "docs").code == 4, "the partial answer stands"
    harness("reopen")
    ran = harness("run", "--rounds", "1", "--in", "docs")
    assert ran.code == 0 and "154.0" in ran.out and "303.5" in ran.out


# Programs that fail ------------------------------------------------------------------------------------------


def test_an_agent_that_fails_twice_ends_the_run_and_again_tries_once_more(case: Path) -> None:
    agent_program("mine", "import sys; sys.exit('no permission')", role="synthesizer")
    ran = harness("run", "--in", "docs")
    assert ran.code == 1 and "no permission" in ran.err and "Run it by hand" in ran.err
    ran = harness("run", "--in", "docs")
    assert ran.code == 1 and "failed 2 times" in ran.err and "harness run --again" in ran.err
    agent_program("mine", "print('Nothing new: it holds nothing')", role="synthesizer")
    assert harness("run", "--in", "docs", "--again").code in (0, 4)


def test_the_next_agent_takes_over(case: Path) -> None:
    agent_program("mine", "import sys; sys.exit(3)")
    ran = harness("run", "--in", "docs", "--planner", "mine", "--planner", "extractive")
    assert ran.code == 0 and "mine: exit code 3" in ran.err
