"""`harness ask` and `harness run` as a user sees them: what they write, what they print, how they end."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.formats.question import parse_question
from tests.program import DOCUMENTS, GRID, agent_program, harness, user_config
from tests.trees import read_tree, write_tree


@pytest.fixture
def work() -> Path:
    """The current folder, with two documents."""
    return write_tree(Path.cwd(), DOCUMENTS)


def question_in(folder: Path) -> str:
    return parse_question((folder / "question.md").read_text(encoding="utf-8")).text


# ask -----------------------------------------------------------------------------------------------------


def test_ask_makes_a_case_and_says_how_to_go_on(work: Path) -> None:
    ran = harness("ask", "Which", "revenue?", "--entities", "Samokat, VkusVill", "--fields", "revenue")
    assert ran == (0, f"{work}/research/question.md\n", "harness run goes on from here\n")
    assert read_tree(work / "research")["question.md"] == (
        "---\nentities: [Samokat, VkusVill]\nfields: [revenue]\n---\nWhich revenue?\n"
    )


@pytest.mark.parametrize(
    "question",
    [
        'He said "no": why?',
        "Сравни: «Самокат» и Лавка — выручка?",
        "one\ntwo: three\n- four",
        "---\nrounds: 3\n---\nreally?",
        "--fields are what?",
        "中国的人口是多少？",
        "$HOME `id` %PATH% {x} \\n",
    ],
)
def test_ask_keeps_every_question_as_it_is(question: str) -> None:
    assert harness("ask", "--", question).code == 0
    assert question_in(Path("research")) == question
    assert harness("-C", "piped", "ask", "-", stdin=question).code == 0
    assert question_in(Path("piped")) == question


@pytest.mark.parametrize("data", ["What?\r\n".encode("utf-8-sig"), "What?\n".encode("utf-16"), b"What?"])
def test_ask_from_stdin_understands_every_encoding(data: bytes) -> None:
    assert harness("ask", "-", stdin=data).code == 0
    assert question_in(Path("research")) == "What?"


def test_ask_from_stdin_survives_bytes_that_are_no_text() -> None:
    assert harness("ask", "-", stdin=b"caf\xe9 or \xff?").code == 0


@pytest.mark.parametrize("arguments", [(), ("",), ("  \n ",), ("-",), ("\u202e",)])
def test_an_empty_question_is_a_wrong_call(arguments: tuple[str, ...]) -> None:
    ran = harness("ask", *arguments)
    assert ran.code == 2 and ran.out == ""
    assert "an empty question" in ran.err and 'harness ask "' in ran.err
    assert not Path("research").exists()


def test_ask_never_overwrites() -> None:
    harness("ask", "First?")
    ran = harness("ask", "Second?")
    assert ran.code == 1 and "a case is here already" in ran.err
    assert f'harness -C {Path.cwd()}/research/NAME ask "' in ran.err
    assert question_in(Path("research")) == "First?"


def test_the_place_it_offers_can_be_pasted_where_the_path_has_spaces(tmp_path: Path) -> None:
    case = tmp_path / "my case"
    harness("-C", str(case), "ask", "First?")
    assert f"harness -C '{tmp_path}/research/NAME'" not in harness("-C", str(case), "ask", "Second?").err
    inner = tmp_path / "a b" / "case"
    harness("-C", str(inner), "ask", "First?")
    assert f"harness -C '{tmp_path}/a b/research/NAME' ask" in harness("-C", str(inner), "ask", "Second?").err


@pytest.mark.parametrize("before", ["", "\n \n", "---\nrounds: 4\nfields: [x]\n---\n\n"])
def test_ask_fills_a_question_that_is_empty_and_keeps_its_settings(before: str) -> None:
    write_tree(Path("research"), {"question.md": before})
    assert harness("step").code == 1
    assert harness("ask", "Now?", "--entities", "A").code == 0
    text = read_tree(Path("research"))["question.md"]
    assert question_in(Path("research")) == "Now?" and "entities: [A]" in text
    assert ("rounds: 4" in text and "fields: [x]" in text) == ("rounds" in before)


# Which case ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["my case", "v1.2.beta", "исследование «Лавка»", "--x", "a/b/c"])
def test_a_case_may_have_any_name(name: str) -> None:
    assert harness("-C", name, "ask", "What?").code == 0
    assert harness("-C", name, "status").out.startswith(f"{Path(name).name}: What?\n")
    assert harness("status", HARNESS_DIR=name).code == 0


def test_what_goes_on_names_the_case_that_was_named() -> None:
    assert "harness -C 'my case' run goes on" in harness("-C", "my case", "ask", "What?").err
    assert "harness -C 'my case' take FILE" in harness("-C", "my case", "next").err


def test_the_flag_beats_the_variable_and_the_variable_the_current_folder() -> None:
    for name in ("research", "one", "two"):
        harness("-C", name, "ask", f"About {name}?")
    assert "About research?" in harness("status").out
    assert "About one?" in harness("status", HARNESS_DIR="one").out
    assert "About two?" in harness("-C", "two", "status", HARNESS_DIR="one").out


def test_two_cases_that_could_be_meant_are_both_named() -> None:
    for name in ("research/one", "research/two"):
        harness("-C", name, "ask", "What?")
    for command in (("status",), ("step",), ("run",), ("next",), ("steer", "x"), ("stop",), ("reopen",)):
        ran = harness(*command)
        assert ran.code == 1 and "research/one, research/two" in ran.err and "-C research/two" in ran.err


def test_a_file_in_the_place_of_the_case_is_a_wrong_call() -> None:
    write_tree(Path(), {"notes.txt": "x"})
    ran = harness("-C", "notes.txt", "status")
    assert ran.code == 2 and "must be a folder" in ran.err and "notes.txt" in ran.err


@pytest.mark.parametrize("command", ["status", "run", "step", "next", "take", "search", "reopen"])
def test_without_a_case_the_command_that_makes_one_is_named(command: str) -> None:
    ran = harness(command)
    assert ran.code == 1 and ran.out == "" and 'ask "' in ran.err


# run -------------------------------------------------------------------------------------------------------


def test_run_answers_from_documents_with_citations(work: Path) -> None:
    ran = harness("run", "Compare Samokat and VkusVill: revenue", "--in", "docs")
    assert ran.code == 0, ran.err
    assert "Samokat: revenue 2024 — 154.0 bn roubles [1." in ran.out
    assert "VkusVill: revenue 2024 — 303.5 bn roubles [" in ran.out
    assert "## Sources\n- [1." in ran.out and "samokat.md" in ran.out
    assert ran.err.startswith("built-in roles, no model; searching 2 local files in ")
    assert "no web" in ran.err.splitlines()[0]
    assert ran.err.rstrip().endswith(f"complete · files in {work}/research")
    assert not {"answer.md", "summary.md", "raw_1.md", "trace.jsonl"} - set(read_tree(work / "research"))


def test_a_second_run_prints_the_answer_that_stands(work: Path) -> None:
    first = harness("run", "Compare Samokat and VkusVill: revenue", "--in", "docs")
    before = read_tree(work)
    again = harness("run")
    assert again.code == 0 and again.out == first.out
    assert read_tree(work) == before


def test_run_with_the_same_question_goes_on_and_with_another_refuses(work: Path) -> None:
    assert harness("run", "Compare Samokat and VkusVill: revenue", "--rounds", "0").code == 2
    ran = harness("run", "Compare  Samokat and VkusVill: revenue", "--in", "docs")
    assert ran.code == 0 and "154.0" in ran.out
    ran = harness("run", "Another?", "--in", "docs")
    assert ran.code == 1 and "a case is here already" in ran.err


def test_run_searches_the_current_folder_when_none_is_named(work: Path) -> None:
    ran = harness("run", "Compare Samokat and VkusVill: revenue")
    assert ran.code == 0 and f"searching 2 local files in {work}, no web" in ran.err


@pytest.mark.parametrize(("limit", "value"), [("rounds", "1"), ("tokens", "1"), ("minutes", "0.0001")])
def test_a_limit_that_ends_it_early_is_a_partial_answer(work: Path, limit: str, value: str) -> None:
    write_tree(work, {"research/question.md": GRID})
    ran = harness("run", f"--{limit}", value, "--in", "docs")
    assert ran.code == 4 and f"partial ({limit})" in ran.err and ran.out.strip()


@pytest.mark.parametrize("command", [("run", "What?"), ("search",), ("find", "x")])
@pytest.mark.parametrize("folder", ["nowhere", "docs/samokat.md", ""])
def test_a_folder_that_is_not_there_is_a_wrong_call(work: Path, command: tuple[str, ...], folder: str) -> None:
    ran = harness(*command, "--in", folder)
    assert ran.code == 2 and ("no such folder" in ran.err or "that is a file" in ran.err) and "--in " in ran.err
    assert folder in ran.err
    assert not Path("research").exists(), "no case is made for a wrong call"


def test_a_folder_without_documents_is_a_wrong_call_unless_nothing_is_searched() -> None:
    ran = harness("run", "What?")
    assert ran.code == 2 and f"no document to search: {Path.cwd()}" in ran.err and "--in DIR" in ran.err
    write_tree(Path("research"), {"answer.md": "So it is.\n"})
    ran = harness("run")
    assert (ran.code, ran.out) == (0, "So it is.\n") and ran.err.startswith("built-in roles, no model\n")


def test_more_files_than_anybody_means_need_a_word(work: Path) -> None:
    for number in range(5_001):
        (work / f"{number}.md").touch()
    ran = harness("run", "Compare Samokat and VkusVill: revenue")
    assert ran.code == 2 and ran.out == ""
    assert f"5003 files in {work}" in ran.err and "harness run --in DIR" in ran.err
    assert harness("run", "Compare Samokat and VkusVill: revenue", "--in", "docs").code == 0


def test_pause_every_stops_for_a_look_with_exit_5(work: Path) -> None:
    write_tree(work, {"research/question.md": GRID})
    ran = harness("run", "--pause-every", "1", "--in", "docs")
    assert ran.code == 5 and ran.out == ""
    assert "look at summary.md; harness run goes on from here" in ran.err
    assert harness("run").code == 0, "the folder of the run before is searched again"


def test_a_program_that_takes_a_role_is_named_in_the_first_line(work: Path) -> None:
    agent_program("mine", "print('Action: search(\"Samokat revenue\")')")
    ran = harness("run", "What?", "--rounds", "1", "--in", "docs")
    assert ran.err.startswith("roles: mine, extractive; searching 2 local files")
    assert "could take the roles" not in ran.err


def test_the_built_in_roles_name_the_programs_that_could_take_them(work: Path) -> None:
    agent_program("mine", "", role="# nobody")
    assert "could take the roles (--planner, --synthesizer): mine" in harness("run", "What?", "--in", "docs").err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--rounds", "x"), "'x' is not a valid integer"),
        (("--rounds", "0"), "`rounds` takes a whole number from 1"),
        (("--queries-per-round", "9"), "from 1 to 5"),
        (("--planner", "nobody"), "unknown agent `nobody`"),
        (("--minutes", "-1"), "`minutes`"),
        (("--bogus",), "No such option"),
    ],
)
def test_a_wrong_flag_is_a_wrong_call_that_names_the_value(arguments: tuple[str, ...], told: str) -> None:
    harness("ask", "What?")
    ran = harness("run", *arguments)
    assert ran.code == 2 and ran.out == "" and told in ran.err


def test_a_wrong_line_of_the_users_config_is_named(work: Path) -> None:
    user_config("rounds: 3\nplaner: x\n")
    ran = harness("run", "What?")
    assert ran.code == 1 and "config.yaml:2" in ran.err and "did you mean `planner`?" in ran.err
