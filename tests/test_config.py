"""Settings: the order of the sources, what each may set, and errors that name the place."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.assets import asset_path
from harness.config import Resolved, resolve
from harness.errors import BrokenFile, HarnessError, WrongCall
from harness.formats.front import split_front
from harness.options import AgentSpec, Rung, Settings
from harness.settings import SETTINGS

PRESETS = {path.stem for path in asset_path("agents").glob("*.yaml")}


class Sources(NamedTuple):
    """A user, a project and a case below `root`, with a file for each source that says something."""

    root: Path

    @property
    def project_file(self) -> Path:
        return self.root / "project/harness.yaml"

    @property
    def user_file(self) -> Path:
        return self.root / "config/config.yaml"

    @property
    def question_file(self) -> Path:
        return self.root / "project/research/question.md"

    def resolve(
        self,
        *,
        user: str | bytes = "",
        project: str | bytes = "",
        question: str = "",
        environ: Mapping[str, str] | None = None,
        **flags: object,
    ) -> Resolved:
        for file, text in ((self.user_file, user), (self.project_file, project)):
            file.parent.mkdir(exist_ok=True)
            file.write_bytes(text.encode() if isinstance(text, str) else text)
        front, _ = split_front(f"---\n{question}---\nWhich one?\n")
        places = {"HARNESS_CONFIG_DIR": str(self.root / "config"), "HARNESS_DATA_DIR": str(self.root / "data")}
        return resolve(
            case=self.question_file.parent,
            project=None,
            question=front if question else None,
            environ={**places, **(environ or {})},
            flags=flags,
        )

    def refused(self, *, user: str = "", project: str = "") -> HarnessError:
        with pytest.raises(HarnessError) as caught:
            self.resolve(user=user, project=project)
        return caught.value


@pytest.fixture
def sources(tmp_path: Path) -> Sources:
    return Sources(tmp_path)


def test_with_nothing_set_everything_is_the_default(sources: Sources) -> None:
    found = sources.resolve()
    assert found.settings._replace(agents={}) == Settings()
    assert set(found.settings.agents) == PRESETS
    assert set(found.origins.values()) == {"default"}
    assert found.warnings == ()


def test_every_field_has_a_row_in_the_table() -> None:
    assert set(SETTINGS) == set(Settings._fields)


def test_each_source_overrules_the_ones_before_it(sources: Sources) -> None:
    steps: list[tuple[dict[str, object], str, int]] = [
        ({"user": "\nrounds: 9\n"}, f"{sources.user_file}:2", 9),
        ({"project": "# ours\n\nrounds: 8\n"}, f"{sources.project_file}:3", 8),
        ({"question": "entities: [A]\nrounds: 7\n"}, f"{sources.question_file}:3", 7),
        ({"environ": {"HARNESS_ROUNDS": "6"}}, "environment HARNESS_ROUNDS", 6),
        ({"rounds": 5}, "flag --rounds", 5),
    ]
    given_so_far: dict[str, object] = {}
    for source, origin, value in steps:
        given_so_far |= source
        found = sources.resolve(**given_so_far)  # type: ignore[arg-type]
        assert (found.settings.rounds, found.origins["rounds"]) == (value, origin)
        assert found.warnings == ()


def test_a_key_without_a_value_and_a_flag_not_given_change_nothing(sources: Sources) -> None:
    found = sources.resolve(
        user="rounds: 4\n", project="rounds:\nsince: ~\n", environ={"HARNESS_ROUNDS": ""}, rounds=None, planner=()
    )
    assert (found.settings.rounds, found.settings.planner) == (4, ("extractive",))


def test_values_are_text_until_their_key_types_them(sources: Sources) -> None:
    found = sources.resolve(project="sections: [10:00, no, 1_000, 2024-05-01]\nself_check: no\nminutes: 2.5\n").settings
    assert found.sections == ("10:00", "no", "1_000", "2024-05-01")
    assert (found.self_check, found.minutes) == (False, 2.5)


@pytest.mark.parametrize("written", ["claude, codex", "[claude, codex]", "\n- claude\n- codex", '"claude,codex"'])
def test_a_list_may_be_written_in_every_usual_way(sources: Sources, written: str) -> None:
    assert sources.resolve(project=f"planner: {written}\n").settings.planner == ("claude", "codex")


def test_lists_in_the_environment_and_in_flags(sources: Sources) -> None:
    environ = {"HARNESS_PLANNER": "claude,codex", "HARNESS_SEARCH": "tavily,folder:/docs,agent:claude"}
    found = sources.resolve(environ=environ, checker=("gemini", "person"), sections=["Цены"]).settings
    assert (found.planner, found.checker, found.sections) == (("claude", "codex"), ("gemini", "person"), ("Цены",))
    assert found.search == (
        Rung("tavily"),
        Rung("folder", {"path": "/docs"}),
        Rung("agent", {"name": "claude"}),
    )


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1251"])
def test_a_file_is_read_as_its_editor_saved_it(sources: Sources, encoding: str) -> None:
    text = "# настройки проекта\r\nsections: [Цены, Риски]\r\nrounds: 3\r\n"
    found = sources.resolve(project=text.encode(encoding))
    assert found.settings.sections == ("Цены", "Риски")
    assert found.origins["rounds"] == f"{sources.project_file}:3"


@pytest.mark.parametrize(
    ("line", "allowed"),
    [
        ("rounds: -3", "a whole number from 1 to 100000"),
        ("rounds: 0", "a whole number from 1 to 100000"),
        ("rounds: 3.5", "a whole number from 1 to 100000"),
        ("rounds: [1, 2]", "a whole number"),
        (f"rounds: {'9' * 5000}", "a whole number"),
        ("rounds: ٣", "a whole number"),
        ("queries_per_round: 9", "a whole number from 1 to 5"),
        ("minutes: soon", "a number of minutes above 0"),
        ("minutes: 0", "a number of minutes above 0"),
        ("minutes: nan", "a number of minutes above 0"),
        ("minutes: 10:00", "a number of minutes above 0"),
        ("self_check: maybe", "true or false"),
        ("mode: itersinth", "itersynth"),
        ("language: fr", "en, ru, zh"),
        ("since: yesterday", "a date like 2024-05-31"),
        ("since: 2024-02-30", "a date like 2024-05-31"),
        ("planner: []", "the name of an agent"),
        ("planner: {a: b}", "the name of an agent"),
        ("search: []", "at least one search provider"),
        ("contact: [a, b]", "one line of text"),
        ("agents: claude", "a mapping of names"),
    ],
)
def test_a_bad_value_names_the_place_and_what_is_allowed(sources: Sources, line: str, allowed: str) -> None:
    text = f"# one\n{line}\n"
    for error, file in (
        (sources.refused(project=text), sources.project_file),
        (sources.refused(user=text), sources.user_file),
    ):
        assert isinstance(error, BrokenFile)
        assert error.value == f"{file}:2"
        assert allowed in error.hint
        assert len(error.what) < 120


def test_a_bad_value_of_the_call_is_a_wrong_call(sources: Sources) -> None:
    with pytest.raises(WrongCall) as caught:
        sources.resolve(environ={"HARNESS_MINUTES": "soon"})
    assert caught.value.value == "environment HARNESS_MINUTES"
    with pytest.raises(WrongCall) as caught:
        sources.resolve(queries_per_round=9)
    assert caught.value.value == "flag --queries-per-round"


def test_an_unknown_key_is_an_error_with_a_near_match(sources: Sources) -> None:
    error = sources.refused(project="rounds: 3\nquery_per_round: 2\n")
    assert error.what == "unknown setting `query_per_round`; did you mean `queries_per_round`?"
    assert error.value == f"{sources.project_file}:2"
    error = sources.refused(user="agents:\n  mine:\n    command: [a]\n    time_out: 5\n")
    assert error.what == "unknown key `time_out` in the agent `mine`; did you mean `timeout`?"
    assert error.value == f"{sources.user_file}:4"


def test_a_variable_close_to_a_setting_is_a_warning_and_others_are_none(sources: Sources) -> None:
    found = sources.resolve(environ={"HARNESS_ROUND": "3", "HARNESS_DIR": "x", "HARNESS_XYZ": "1", "ROUNDS": "2"})
    assert found.warnings == ("environment HARNESS_ROUND: no setting; did you mean `rounds`?",)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("rounds: 3\nminutes: 5\nrounds: 4\n", 3),
        ("agents:\n  a: {command: [x]}\n  a: {command: [y]}\n", 3),
        ("rounds: 3\ncontact: a: b\n", 2),
        ("rounds: 3\n\tminutes: 4\n", 2),
        ("- rounds\n", 1),
        ("just text\n", 1),
        ("[a]: 3\n", 1),
        ("rounds: 3\ncontact: &x a\nsections: [*x]\n", 2),
        ('contact: "\\e[2J"\n', 1),
        ("rounds: 3\n---\nrounds: 4\n", 2),
    ],
)
def test_odd_yaml_is_an_error_with_its_line(sources: Sources, text: str, line: int) -> None:
    error = sources.refused(user=text)
    assert error.value == f"{sources.user_file}:{line}"
    assert error.hint


def test_hostile_yaml_is_refused_at_once(sources: Sources) -> None:
    bomb = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 40))
    for text in (bomb, "sections: " + "[" * 900 + "]" * 900, "contact: " + "x" * 300_000, "? " * 5000):
        assert str(sources.user_file) in sources.refused(user=text).value


def test_rungs_in_every_form(sources: Sources) -> None:
    ladder = """
search:
- tavily
- folder: docs
- folder: {path: ../more, cap: 7}
- tavily: {cap: 50}
- agent: claude
- person
- mine: {command: [./find me.py, "--a b"], timeout: 20}
"""
    found = sources.resolve(user=ladder).settings.search
    base = sources.user_file.parent
    assert found == (
        Rung("tavily"),
        Rung("folder", {"path": str(base / "docs")}),
        Rung("folder", {"path": str(sources.root / "more"), "cap": "7"}),
        Rung("tavily", {"cap": "50"}),
        Rung("agent", {"name": "claude"}),
        Rung("person"),
        Rung("mine", {"command": f"'{base}/find me.py' '--a b'", "timeout": "20"}),
    )


@pytest.mark.parametrize(
    "ladder",
    [
        "- tavily: 50",
        "- {folder: a, person: b}",
        "- [a]",
        "- tavily: {cap: 0}",
        "- agent",
        "- 'a b'",
        "- agent: nobody",
    ],
)
def test_a_rung_that_makes_no_sense_names_its_line(sources: Sources, ladder: str) -> None:
    assert sources.refused(project=f"search:\n- person\n{ladder}\n").value.startswith(f"{sources.project_file}:")


def test_relative_paths_belong_to_the_file_that_holds_them(sources: Sources) -> None:
    user = "agents:\n  mine: {command: [python3, ./agent.py, --in=../x, a/b, -v]}\n  tool: {command: bin/tool -q}\n"
    found = sources.resolve(user=user, project="search: [folder: docs]\n").settings
    base = sources.user_file.parent
    assert found.agents["mine"].command == ("python3", f"{base}/agent.py", f"--in={sources.root}/x", "a/b", "-v")
    assert found.agents["tool"].command == (f"{base}/bin/tool", "-q")
    assert found.search == (Rung("folder", {"path": str(sources.project_file.parent / "docs")}),)


def test_an_agent_takes_all_its_keys(sources: Sources) -> None:
    user = """
agents:
  mine: {command: [my-agent], prompt: file, reply: out.md, files: yes, env: {A_B: "1"}, timeout: 9.5, window: 32_000}
  local: {api: OpenAI, model: qwen3, base_url: "http://127.0.0.1:8080/v1", key_env: MY_KEY, output: 500}
"""
    found = sources.resolve(user=user)
    assert found.settings.agents["mine"] == AgentSpec(
        "mine", ("my-agent",), prompt="file", reply="out.md", files=True, env={"A_B": "1"}, timeout=9.5, window=32_000
    )
    assert found.settings.agents["local"] == AgentSpec(
        "local", api="openai", model="qwen3", base_url="http://127.0.0.1:8080/v1", key_env="MY_KEY", output=500
    )
    assert found.origins["agents.local"] == f"{sources.user_file}:4"
    assert "agents.claude" not in found.origins and "claude" in found.settings.agents


@pytest.mark.parametrize(
    "entry",
    [
        "{timeout: 3}",
        "{command: [a], api: openai, model: m}",
        "{api: openai}",
        "{api: mistral, model: m}",
        "{command: []}",
        "{command: 'a \"b'}",
        "{command: [a, [b]]}",
        "{command: [a], reply: ../out.md}",
        "{command: [a], window: 8000, output: 8000}",
        "{command: [a], base_url: 'http://h'}",
        "{command: [a], env: {a b: c}}",
        "{api: llm, model: m, files: true}",
        "{command: [a], encoding: gpt2}",
        "{command: [a], safety: 0.9}",
        "{command: [a], safety: 3.5}",
        "{command: [a], safety: much}",
    ],
)
def test_an_agent_that_makes_no_sense_names_its_line(sources: Sources, entry: str) -> None:
    error = sources.refused(user=f"agents:\n  ok: {{command: [a]}}\n  bad: {entry}\n")
    assert error.value == f"{sources.user_file}:3"
    assert error.hint


@pytest.mark.parametrize("line", ["key", "api_key", "key_env", "base_url"])
def test_a_secret_in_a_file_is_refused_and_not_repeated(sources: Sources, line: str) -> None:
    error = sources.refused(user=f"agents:\n  a: {{api: openai, model: m, {line}: 'sk-SECRET://u:SECRET@h'}}\n")
    assert "SECRET" not in str(error)


def test_sources_add_agents_and_replace_whole_ones(sources: Sources) -> None:
    user = "agents:\n  claude: {command: [my-claude]}\n  mine: {command: [a]}\n"
    found = sources.resolve(user=user).settings.agents
    assert set(found) == {*PRESETS, "mine"}
    assert found["claude"] == AgentSpec("claude", ("my-claude",))


def test_built_in_names_cannot_be_taken(sources: Sources) -> None:
    assert "built-in" in sources.refused(user="agents:\n  person: {command: [a]}\n").what


def test_a_model_behind_an_api_needs_no_entry(sources: Sources) -> None:
    found = sources.resolve(user="planner: openai:gpt-5-mini\n", environ={"HARNESS_CHECKER": "llm:a/b:free"}).settings
    assert found.agents["openai:gpt-5-mini"] == AgentSpec(
        "openai:gpt-5-mini", api="openai", model="gpt-5-mini", encoding="o200k_base", safety=1.0
    )
    assert found.agents["llm:a/b:free"].model == "a/b:free"


@pytest.mark.parametrize(
    ("entry", "encoding", "safety"),
    [
        ("{command: [a]}", "cl100k_base", 1.2),
        ("{api: anthropic, model: m}", "cl100k_base", 1.2),
        ("{api: openai, model: gpt-5}", "o200k_base", 1.0),
        ("{api: openai, model: gpt-4-turbo}", "cl100k_base", 1.0),
        ("{api: openai, model: gpt-4}", "cl100k_base", 1.0),
        ("{api: openai, model: gpt-4.1}", "o200k_base", 1.0),
        ("{api: openai, model: gpt-5, base_url: 'http://h/v1'}", "cl100k_base", 1.2),
        ("{api: openai, model: gpt-5, safety: 1.5}", "o200k_base", 1.5),
        ("{api: llm, model: gpt-4o-mini}", "o200k_base", 1.0),
        ("{api: llm, model: claude-4}", "cl100k_base", 1.2),
        ("{api: llm, model: o3, encoding: estimate}", "estimate", 1.0),
        ("{command: [a], encoding: o200k_base, safety: 3}", "o200k_base", 3.0),
    ],
)
def test_prompts_are_counted_as_the_model_does_or_safely(
    sources: Sources, entry: str, encoding: str, safety: float
) -> None:
    spec = sources.resolve(user=f"agents:\n  mine: {entry}\n").settings.agents["mine"]
    assert (spec.encoding, spec.safety) == (encoding, safety)


def test_presets_and_shorthands_are_counted_so_too(sources: Sources) -> None:
    agents = sources.resolve(user="planner: [openai:gpt-4, anthropic:m, llm:o3-mini]\n").settings.agents
    told = {name: (agents[name].encoding, agents[name].safety) for name in agents}
    assert told.pop("codex") == told.pop("llm:o3-mini") == ("o200k_base", 1.0)
    assert told.pop("openai:gpt-4") == ("cl100k_base", 1.0)
    assert set(told.values()) == {("cl100k_base", 1.2)}


def test_an_unknown_agent_names_the_known_ones(sources: Sources) -> None:
    error = sources.refused(project="rounds: 2\nsynthesizer: [claude, gemni]\n")
    assert error.what == "`synthesizer` names an unknown agent `gemni`; did you mean `gemini`?"
    assert error.value == f"{sources.project_file}:2"
    assert "extractive, person, aider, claude" in error.hint
    with pytest.raises(WrongCall):
        sources.resolve(planner="cluade")


def test_presets_take_a_prompt_and_give_one_text() -> None:
    found = resolve(case=Path("/nowhere"), project=None, question=None, environ={}, flags={}).settings.agents
    for spec in found.values():
        assert (spec.prompt, spec.reply, spec.files) == ("file" if spec.name == "aider" else "stdin", "stdout", False)
        assert spec.timeout >= 600
        assert not spec.api
    words = [word for spec in found.values() for word in (*spec.command, *spec.search_command, *spec.env.values())]
    files = [word.rpartition("=")[2] for word in words if str(asset_path("agents")) in word]
    assert len(files) >= 5 and all(Path(file).is_file() for file in files)


def test_a_project_may_be_named(sources: Sources, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "harness.yaml").write_text("rounds: 2\n", encoding="utf-8")
    for project in (other, other / "harness.yaml"):
        found = resolve(case=None, project=project, question=None, environ={"HARNESS_CONFIG_DIR": "/no"}, flags={})
        assert (found.settings.rounds, found.origins["rounds"]) == (2, f"{other}/harness.yaml:1")


def test_a_file_that_cannot_be_read_says_why(sources: Sources) -> None:
    sources.resolve()
    sources.user_file.unlink()
    sources.user_file.mkdir()
    found = resolve(
        case=None,
        project=sources.root / "project",
        question=None,
        environ={"HARNESS_CONFIG_DIR": str(sources.user_file.parent)},
        flags={},
    )
    assert found.warnings == ()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(key=st.sampled_from(sorted(SETTINGS)), value=st.text(max_size=40) | st.sampled_from(["[", "{a: b}", "- x", "9"]))
def test_any_text_gives_settings_or_an_error_with_its_place(sources: Sources, key: str, value: str) -> None:
    try:
        sources.resolve(user=f"{key}: {value}\n")
    except BrokenFile as error:
        assert error.value.startswith(str(sources.user_file))
        assert error.hint


def test_importing_the_settings_is_quick() -> None:
    program = "import sys, harness.config; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    for heavy in ("importlib.metadata", "asyncio", "rich", "click", "tantivy", "watchdog", "Stemmer", "http", "socket"):
        assert heavy not in loaded
