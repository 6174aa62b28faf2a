"""The commands that look (`status`, `find`, `agents`, `config`, `trust`) and every help page."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from harness import __version__
from harness.cli.group import COMMANDS
from tests.program import DOCUMENTS, GRID, Ran, agent_program, begin, harness, user_config
from tests.trees import read_tree, write_tree

GOLDENS = Path(__file__).parent / "data" / "help"
SECRET = "hunter2-hunter2-hunter2"


@pytest.fixture
def case() -> Path:
    write_tree(Path(), {**DOCUMENTS, "research/question.md": GRID})
    return Path("research")


def help_of(*arguments: str) -> Ran:
    """From a process of its own: click keeps help options from one call to the next, also those of another test."""
    process = begin(*arguments, env={"COLUMNS": "80"})
    out, err = process.communicate()
    assert process.returncode == 0 and err == ""
    return Ran(process.returncode, out, err)


# Help --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_is_the_golden_one(command: str, renew: bool) -> None:
    ran = help_of(*([command] if command else []), "--help")
    golden = GOLDENS / f"{command or 'harness'}.txt"
    if renew:
        golden.parent.mkdir(parents=True, exist_ok=True)
        golden.write_text(ran.out, encoding="utf-8", newline="\n")
    assert ran.out == golden.read_text(encoding="utf-8")
    assert max(map(len, ran.out.splitlines())) <= 80


def test_the_goldens_are_those_of_the_commands() -> None:
    assert {path.stem for path in GOLDENS.iterdir()} == {"harness", *COMMANDS}


def test_a_short_flag_and_the_version() -> None:
    assert help_of("-h") == help_of("--help")
    assert harness("--version").out == f"harness, version {__version__}\n"


def test_a_mistyped_command_is_guessed() -> None:
    assert "No such command 'stauts'; did you mean `status`?" in harness("stauts").err


def test_commands_in_messages_name_the_case_that_was_meant(tmp_path: Path) -> None:
    write_tree(tmp_path / "my case", {"question.md": "What?\n"})
    call = f"harness -C '{tmp_path / 'my case'}'"
    assert f"{call} step, or {call} next" in harness("-C", str(tmp_path / "my case"), "status").out
    assert f"{call} status" in harness("-C", str(tmp_path / "my case"), "search").err


def test_an_unknown_command_is_a_wrong_call_that_names_the_help() -> None:
    ran = harness("bogus")
    assert ran.code == 2 and ran.out == ""
    assert "No such command 'bogus'" in ran.err and "Try 'harness --help'" in ran.err


# status ------------------------------------------------------------------------------------------------------


def test_status_says_where_the_case_stands(case: Path) -> None:
    assert harness("status") == (
        0,
        "research: Compare the two.\n"
        "  round 0, 0 of 10 search rounds used; 0 of 2 cells filled; 0 facts, 0 contradictions\n"
        "  open: Samokat: revenue; VkusVill: revenue\n"
        "  due: the Planner writes a query or the answer: harness step, or harness next\n",
        "",
    )
    harness("run", "--in", "docs")
    ran = harness("status")
    assert "2 of 2 cells filled; 2 facts, 0 contradictions" in ran.out and "open:" not in ran.out
    assert "answer.md: complete (answered)" in ran.out and "harness reopen" in ran.out


def test_status_counts_one_as_one(case: Path) -> None:
    summary = "## Confirmed\n- a [person]\n## Contradictions\n- b [person] ↔ c [person]\n## Not found\n- d\n"
    write_tree(case, {"question.md": "What?\n", "summary.md": summary})
    assert "1 fact, 1 contradiction, 1 gap\n" in harness("status").out


def test_status_as_json_holds_the_whole(case: Path) -> None:
    told = json.loads(harness("status", "--json").out)
    assert told["open_cells"] == ["Samokat: revenue", "VkusVill: revenue"] and told["due"] == "Ask"
    assert told["rounds"] == 10 and told["answer"] == "" and told["problems"] == []


def test_status_names_each_thing_that_is_wrong(case: Path) -> None:
    write_tree(case, {"question.md": "---\nrounds: many\nsurprise: 1\n---\nWhat?\n", "raw_01.md": "x"})
    told = harness("status").out
    assert "question.md:2: `rounds` is `many`" in told
    assert "question.md:3" in told and "surprise" in told
    assert "raw_01.md:1: looks like a raw but is not named like one. rename it to raw_1.md" in told


def test_status_writes_nothing_and_starts_nothing(case: Path) -> None:
    agent_program("mine", f"open({str(Path.cwd() / 'started')!r}, 'w')")
    before = read_tree(case)
    for command in (("status",), ("config",), ("agents",), ("find", "Samokat", "--in", "docs")):
        assert harness(*command).code == 0
    assert read_tree(case) == before and not Path("started").exists()


def test_the_claim_of_a_process_that_is_gone_is_not_at_work(case: Path) -> None:
    claim = {"role": "run", "round": 0, "pid": 2**22 + 1, "started": "1", "since": "2026-11-29T12:00:00+00:00"}
    text = json.dumps({**claim, "expires": "2999-01-01T00:00:00+00:00"})
    write_tree(case, {".harness/claim.json": text})
    assert "at work" not in harness("status").out


# find --------------------------------------------------------------------------------------------------------


def test_find_prints_what_the_documents_hold_and_writes_nothing() -> None:
    write_tree(Path(), DOCUMENTS)
    ran = harness("find", "Samokat", "revenue", "--in", "docs")
    assert ran.code == 0 and ran.err == ""
    assert ran.out.startswith("found (folder)\n") and "154.0 bn roubles" in ran.out
    assert "Samokat in 2024 (2025-02-11)\n   samokat.md\n" in ran.out
    assert not Path("research").exists()
    told = json.loads(harness("find", "Samokat", "--in", "docs", "--json").out)
    assert told["sources"][0]["url"] == "samokat.md" and told["record"]["outcome"] == "found"


def test_nothing_found_is_a_result_and_a_blocked_search_is_exit_6() -> None:
    write_tree(Path(), DOCUMENTS)
    ran = harness("find", "qwertyuiop", "--in", "docs")
    assert ran.code == 0 and ran.out.startswith("empty (folder)")
    user_config(f"search:\n- mine: {{command: [{sys.executable}, -c, 'import sys; sys.exit(\"HTTP 429\")']}}\n")
    ran = harness("find", "Samokat")
    assert ran.code == 6 and "mine blocked" in ran.out and "HTTP 429" in ran.out
    assert json.loads(harness("find", "Samokat", "--json").out)["record"]["outcome"] == "blocked"


def test_an_empty_query_is_a_wrong_call() -> None:
    ran = harness("find", "  ")
    assert ran.code == 2 and "an empty query" in ran.err


# agents and config -------------------------------------------------------------------------------------------


def test_agents_lists_who_is_ready_and_what_the_others_lack(case: Path) -> None:
    agent_program("mine", "pass")
    ran = harness("agents")
    assert ran.code == 0
    lines = {line.split()[0]: " ".join(line.split()[1:]) for line in ran.out.splitlines()}
    assert lines["extractive"] == "built in ready" and lines["person"] == "built in ready"
    assert lines["mine"] == "program found; --test tries it"
    user_config("agents:\n  gone: {command: [no-such-program-x]}\n  model: {api: openai, model: m, key_env: MY_KEY}\n")
    out = harness("agents").out
    assert "no such program (Install it, or set agents.gone.command" in out
    assert "openai m" in out and "MY_KEY" in out
    assert {"name", "kind", "missing"} == set(json.loads(harness("agents", "--json").out)[0])


def test_config_names_the_origin_of_each_value(case: Path) -> None:
    user_config("minutes: 5\n")
    write_tree(Path(), {"harness.yaml": "rounds: 7\n"})
    write_tree(case, {"question.md": "---\nqueries_per_round: 2\n---\nWhat?\n"})
    out = harness("config", HARNESS_REPAIRS="1").out
    rows = {line.split()[0]: line.split(maxsplit=2) for line in out.splitlines()}
    assert rows["minutes"][1:] == ["5", f"{Path.home()}/config/config.yaml:1"]
    assert rows["rounds"][1] == "7" and rows["rounds"][2].endswith("harness.yaml:1")
    assert rows["queries_per_round"][1] == "2" and rows["queries_per_round"][2].endswith("question.md:2")
    assert rows["repairs"][1:] == ["1", "environment HARNESS_REPAIRS"]
    assert rows["mode"][1:] == ["itersynth", "default"]
    listed = json.loads(harness("config", "--json").out)
    assert {"key": "mode", "value": "itersynth", "origin": "default"} in listed


@pytest.mark.parametrize("command", ["config", "agents", "status"])
@pytest.mark.parametrize("flags", [(), ("--json",)])
def test_no_secret_is_printed(case: Path, command: str, flags: tuple[str, ...]) -> None:
    user_config(
        "agents:\n  mine:\n"
        f"    command: [my-agent, --password={SECRET}, --token=sk-proj-abcdefghijklmnop]\n"
        f"    env: {{MY_API_KEY: {SECRET}}}\n"
        f"search:\n- mine: {{command: [my-search, '{SECRET}']}}\n"
    )
    for told in (harness(command, *flags), harness("find", "x"), harness("step")):
        assert SECRET not in told.out + told.err and "sk-proj" not in told.out + told.err
    if command == "config":
        assert "--password=***" in harness("config").out


# trust -------------------------------------------------------------------------------------------------------


@pytest.fixture
def project(case: Path) -> Path:
    """A harness.yaml with an agent of its own beside the case."""
    write_tree(Path(), {"agent.py": "print('Action: search(\"Samokat revenue\")')"})
    text = f"planner: mine\nagents:\n  mine: {{command: [{sys.executable}, ./agent.py]}}\nsearch:\n- folder: docs\n"
    return write_tree(Path(), {"harness.yaml": text}) / "harness.yaml"


def test_a_strange_project_starts_nothing_before_it_is_trusted(project: Path) -> None:
    for command in (("run",), ("step",), ("next",), ("run", "--in", "docs")):
        ran = harness(*command)
        assert ran.code == 1 and ran.out == ""
        assert "agents.mine" in ran.err and "harness.yaml" in ran.err and "harness trust" in ran.err
    ran = harness("status")
    assert ran.code == 0 and "not trusted, so left out: agents.mine, planner (harness trust)" in ran.out


def test_trust_needs_a_person_or_a_word(project: Path) -> None:
    ran = harness("trust")
    assert ran.code == 1 and "trust needs a person to look" in ran.err and "harness trust --yes" in ran.err
    assert harness("step").code == 1


def test_trust_lasts_until_the_file_changes_or_it_is_taken_back(project: Path) -> None:
    ran = harness("trust", "--yes")
    assert ran.code == 0 and ran.out.startswith(f"trusted: {project.absolute()}")
    assert harness("step").out == "ask: Samokat revenue\n"
    with project.open("a", encoding="utf-8") as file:
        file.write("rounds: 3\n")
    assert harness("step").code == 1
    assert harness("trust", "--yes").code == 0 and harness("step").code == 0
    assert harness("trust", "--remove").out.startswith("no longer trusted: ")
    assert harness("step").code == 1
    assert harness("trust", "--remove").out.endswith("was not trusted\n")


def test_trust_where_nothing_needs_it(case: Path) -> None:
    ran = harness("trust")
    assert ran.code == 1 and "there is no harness.yaml" in ran.err
    write_tree(Path(), {"harness.yaml": "rounds: 3\n"})
    assert harness("trust") == (0, f"{Path.cwd()}/harness.yaml sets nothing that needs trust\n", "")
    write_tree(Path(), {"harness.yaml": "rounds: 3\nbogus: 1\n"})
    ran = harness("trust", "--yes")
    assert ran.code == 1 and "harness.yaml:2" in ran.err


@pytest.mark.parametrize("command", [("status",), ("config",), ("agents",), ("find", "Samokat", "--in", "docs")])
def test_reading_commands_speak_json(case: Path, command: tuple[str, ...]) -> None:
    ran = harness(*command, "--json")
    assert ran.code == 0 and ran.err == ""
    assert isinstance(json.loads(ran.out), (dict, list))


@pytest.mark.parametrize("command", ["agents", "config", "trust"])
def test_what_is_about_no_case_asks_for_none(case: Path, command: str) -> None:
    other = case.parent / "research/other"
    other.mkdir(parents=True)
    (other / "question.md").write_text("Another?\n", encoding="utf-8")
    (case.parent / "research/question.md").write_text("One?\n", encoding="utf-8")
    ran = harness(command)
    assert "several cases" not in ran.err
