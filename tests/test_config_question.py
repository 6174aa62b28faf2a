"""What question.md may set: a stranger's question can spend less and choose, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.assets import asset_path
from harness.config import Resolved, resolve
from harness.formats.front import split_front
from harness.model import FrontMatter
from harness.options import Rung
from harness.settings import SETTINGS, FromQuestion

USER = """
agents:
  mine: {command: [my-agent]}
planner: [claude, "openai:gpt-5-mini"]
search:
- tavily: {cap: 50}
- folder: /docs
rounds: 8
minutes: 30
"""


@pytest.fixture
def case(tmp_path: Path) -> Path:
    (tmp_path / "config.yaml").write_text(USER, encoding="utf-8")
    return tmp_path / "case"


def ask(case: Path, front: str) -> Resolved:
    parsed, _ = split_front(f"---\n{front}---\nWhich one?\n")
    assert parsed is not None
    return ask_with(case, parsed)


def ask_with(case: Path, front: FrontMatter) -> Resolved:
    environ = {"HARNESS_CONFIG_DIR": str(case.parent), "HARNESS_DATA_DIR": str(case.parent)}
    return resolve(case=case, project=None, question=front, environ=environ, flags={})


def test_what_a_question_may_set_counts(case: Path) -> None:
    front = """entities: [A: b, C]
ready_when: a figure: with a date
mode: itersynth
rounds: 3
minutes: 0.5
tokens: 1000
queries_per_round: 2
language: ru
sections: Цены; Риски, сроки
since: 2024
until: 2024-06-30
planner: mine
synthesizer: [claude, extractive]
checker: person
search: [folder, person]
"""
    found = ask(case, front)
    assert found.warnings == ()
    values = found.settings
    assert (values.rounds, values.minutes, values.tokens, values.queries_per_round) == (3, 0.5, 1000, 2)
    assert (values.language, values.sections) == ("ru", ("Цены", "Риски, сроки"))
    assert (values.since, values.until) == ("2024", "2024-06-30")
    assert (values.planner, values.synthesizer, values.checker) == (("mine",), ("claude", "extractive"), ("person",))
    assert values.search == (Rung("folder", {"path": "/docs"}), Rung("person"))
    assert found.origins["rounds"] == f"{case}/question.md:5"
    assert found.origins["repairs"] == "default"


@pytest.mark.parametrize(
    ("line", "key"), [("rounds: 9", "rounds"), ("minutes: 31", "minutes"), ("tokens: 2000001", "tokens")]
)
def test_limits_can_only_be_lowered(case: Path, line: str, key: str) -> None:
    found = ask(case, f"mode: itersynth\n{line}\n")
    assert getattr(found.settings, key) == getattr(ask(case, "mode: itersynth\n").settings, key)
    (warning,) = found.warnings
    assert warning.startswith(f"{case}/question.md:3: question.md may only lower `{key}`")
    assert f"HARNESS_{key.upper()}={line.split()[1]}." in warning


def test_the_same_limit_is_no_warning(case: Path) -> None:
    assert ask(case, "rounds: 8\n").warnings == ()


@pytest.mark.parametrize(
    "line", ["rounds: -3", "rounds: many", "queries_per_round: 9", "minutes: soon", "language: fr", "rounds: [1"]
)
def test_a_bad_value_is_a_warning_and_ignored(case: Path, line: str) -> None:
    found = ask(case, f"{line}\nsince: 2024\n")
    assert found.settings.rounds == 8
    assert found.settings.since == "2024"
    (warning,) = found.warnings
    assert warning.startswith(f"{case}/question.md:2: ")
    assert "takes" in warning


def test_an_unknown_key_is_a_warning_with_a_near_match(case: Path) -> None:
    found = ask(case, "title: A page\nround: 3\nentitys: [A]\n")
    assert found.warnings == (
        f"{case}/question.md:2: unknown key `title`; it has no effect",
        f"{case}/question.md:3: unknown key `round`; did you mean `rounds`?; it has no effect",
        f"{case}/question.md:4: unknown key `entitys`; did you mean `entities`?; it has no effect",
    )


@pytest.mark.parametrize("key", [key for key in SETTINGS if SETTINGS[key].question is FromQuestion.NO])
def test_every_other_key_counts_only_from_elsewhere(case: Path, key: str) -> None:
    found = ask(case, f"{key}: true\n")
    assert found.settings == ask(case, "rounds: 8\n").settings
    assert found.warnings == (
        f"{case}/question.md:2: `{key}` counts only from harness.yaml or your own config; ignored",
    )


@pytest.mark.parametrize(
    "line",
    [
        "planner: nobody",
        "planner: openai:gpt-5",
        "planner: [claude, /bin/sh]",
        "search: [folder: /etc]",
        "search: [tavily: {cap: 500}]",
        "search: [mine: {command: [sh]}]",
        "search: [exa]",
        "search: folder:/etc",
    ],
)
def test_roles_and_rungs_only_by_names_that_exist(case: Path, line: str) -> None:
    found = ask(case, f"{line}\n")
    assert found.settings == ask(case, "rounds: 8\n").settings
    assert len(found.warnings) == 1
    assert found.warnings[0].startswith(f"{case}/question.md:2: ")


def test_a_model_that_the_user_has_set_up_may_be_named(case: Path) -> None:
    assert ask(case, "checker: openai:gpt-5-mini\n").settings.checker == ("openai:gpt-5-mini",)


def test_what_may_be_named_does_not_depend_on_the_order_of_the_keys(case: Path) -> None:
    found = ask(case, "planner: mine\nchecker: openai:gpt-5-mini\n")
    assert (found.settings.planner, found.settings.checker) == (("mine",), ("openai:gpt-5-mini",))


def test_a_warning_carries_no_terminal_escapes(case: Path) -> None:
    found = ask(case, 'rounds: "\\e[2Jmany"\nsections: ["\\e]0;title\\a"]\n')
    assert len(found.warnings) == 1
    assert "\x1b" not in found.warnings[0] + "".join(found.settings.sections)


def test_a_user_who_starts_nothing_of_the_kind_is_not_made_to(case: Path) -> None:
    (case.parent / "config.yaml").write_text("search: [tavily]\n", encoding="utf-8")
    found = ask(case, "search: [tavily, folder]\n")
    assert found.settings.search == (Rung("tavily"),)
    assert "tavily, person" in found.warnings[0]


def test_lines_written_by_hand_are_read_as_meant(case: Path) -> None:
    found = ask(case, "# mine\nrounds:5\nrounds: 2\nlanguage: ru # Russian\n")
    assert (found.settings.rounds, found.settings.language) == (5, "ru")
    assert found.origins["rounds"] == f"{case}/question.md:3"


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(key=st.sampled_from(sorted(SETTINGS)), value=st.text(max_size=40) | st.sampled_from(["[*a]", "{a: b}", "9"]))
def test_no_front_matter_is_an_error(case: Path, key: str, value: str) -> None:
    values = ask_with(case, FrontMatter(((key, f"{key}: {value}\n"),))).settings
    assert values.rounds <= 8 and values.minutes <= 30 and not values.commit
    assert set(values.agents) == {
        *(path.stem for path in asset_path("agents").glob("*.yaml")),
        *("mine", "openai:gpt-5-mini"),
    }
