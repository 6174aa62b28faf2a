"""The documents are true: what they name exists, their examples are read without problems, their shell lines run."""

from __future__ import annotations

import importlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from harness import errors, hook, model, snowball
from harness.agents.chat import APIS
from harness.assets import asset_path
from harness.check import CODES
from harness.cli.group import COMMANDS, cli
from harness.config import OTHER_VARIABLES, user_config_file
from harness.crew import BUILT_IN_AGENTS, PROVIDERS
from harness.desk import PROMPT_FILE
from harness.formats.queries import parse_next_query
from harness.formats.question import parse_question
from harness.formats.raw import parse_raw
from harness.formats.summary import parse_summary
from harness.given import parse_settings
from harness.guards.lines import UNGROUNDED
from harness.guards.mending import MENDERS
from harness.guards.synthesizer import CONTRADICTION, LOST, REPEATED
from harness.guards.totals import LOST_SUM
from harness.inside.command import COMMAND
from harness.locate import PROJECT_FILE
from harness.model import Answer, Grid, NextQuery, Question, Raw, RawHead, Summary
from harness.options import AgentSpec
from harness.reporting.telling import Cell, Cited, Moment, Passage, Report, Searched, Tokens
from harness.scaffold.pieces import known_agents
from harness.settings import LANGUAGES, MODES, SAFE_OPTIONS, SETTINGS, STRATEGIES
from harness.sheet import typed
from harness.specs import AGENT_KEYS, ENCODINGS, MAIN_OPTION
from harness.specs import FORMS as PRINTED
from harness.store import Store
from harness.trust import trust_file

ROOT = Path(__file__).parent.parent
READMES = ("README.md", "README.ru.md")
PAGES = (*READMES, "CLAUDE.md", *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").glob("*.md")))
TEXTS = {page: (ROOT / page).read_text(encoding="utf-8") for page in PAGES}

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
HARNESS_LINE = re.compile(r"^(?:[A-Z_]+=\S+ |\.venv/bin/)?harness .*$", re.MULTILINE)
CASE_FILE = re.compile(
    r"(question|summary|answer|answer_\d+|raw_\d+|raw_N)\.md|next_query\.txt|trace\.jsonl|\.harness/((rejected|dropped|fold)/)?|folds/"
)
WIRED = known_agents()
LAID_DOWN = {".claude/settings.json", *(file for agent in WIRED.values() for file in (agent.reads, *agent.files))}
OWN_FILES = {PROJECT_FILE, PROMPT_FILE, trust_file({}).name, user_config_file({}).name, *LAID_DOWN}
OUTSIDE = ("~", "%", ".venv", "./", "../", "demo/research/", "by-hand/")  # the user's, or made by make
CASES = ("research/NAME", "research/")  # in a project of the user's
REGISTRIES = re.compile(r"pypi\.org|pythonhosted|npmjs|crates\.io|rubygems|anaconda\.org|proxy\.golang", re.IGNORECASE)

MODULES = {path.stem for path in (ROOT / "harness").iterdir() if path.suffix == ".py" or path.is_dir()}
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
FORMS = (Question, Grid, Summary, NextQuery, RawHead, Answer, Report, Moment, Cell, Cited, Passage, Searched, Tokens)
FILE_KEYS = {key for form in FORMS for key in form.__annotations__}
KEYS = {*SETTINGS, *PROVIDERS, *AGENT_KEYS, *SAFE_OPTIONS, *MAIN_OPTION.values(), *FILE_KEYS, "question"}
NAMES = {
    *{*COMMANDS, *MODULES, *EXTRAS, *BUILT_IN_AGENTS, *PROVIDERS, *APIS, *CODES},
    *{*WIRED, *LANGUAGES, *MODES, *STRATEGIES, "stdin", "stdout", "argument", "file", "true", "false"},
    *{*PRINTED, *ENCODINGS, "none", "bwrap"},
    *{*snowball.Options.__annotations__, *snowball.Folded.__dataclass_fields__},
    *(path.stem for path in asset_path("agents").glob("*.yaml")),
}
# Words in backticks that are no names of those kinds: the example's folder, a marker, a kind of fence, an outcome …
WORDS = {"harness", "documents", "real", "sh", "blocked", "due", "also", "digest", "cost"}

TYPED: tuple[list[str], ...] = ([], ["…"], ["status"], ["stop"], ["reopen"], ["steer:"])


def fences(page: str) -> list[tuple[str, str]]:
    """Language ("" if none) and text of each fenced block."""
    return FENCE.findall(TEXTS[page])


def spans(page: str) -> list[str]:
    """What stands in backticks outside the fenced blocks."""
    return re.findall(r"`([^`\n]+)`", FENCE.sub("", TEXTS[page]))


def calls(page: str) -> list[str]:
    """Every line and span that calls harness, without comments, pipes and variables before it."""
    lines = [line for _, block in fences(page) for line in HARNESS_LINE.findall(block)]
    return [re.split(r" # | [|>] ", line)[0] for line in (*lines, *spans(page)) if "harness " in line]


def options_of(command: str) -> set[str]:
    group = click.Context(cli, **cli.context_settings)
    found = cli.get_command(group, command) if command else cli
    assert found is not None, command
    return {option for parameter in found.get_params(group) for option in parameter.opts}


EVERY_OPTION = set.union(options_of(""), *map(options_of, COMMANDS))


def wrong_call(call: str) -> str:
    """Which part of a call of harness does not exist; "" if all of it does."""
    words = shlex.split(call.partition("harness ")[2])
    command = next((word for word in words if word in COMMANDS or word == "COMMAND"), None)
    if command is None:
        return call
    known = EVERY_OPTION if command == "COMMAND" else options_of("") | options_of(command)
    return next((word for word in words if word.startswith("-") and word not in known), "")


def exists(path: str) -> bool:
    """A path of the repository, a file of a case, or a file of the user's settings."""
    for case in CASES:
        path = path.removeprefix(case)
    if not path or path in OWN_FILES or CASE_FILE.fullmatch(path) or path.startswith(OUTSIDE):
        return True
    plain = path.replace("LANGUAGE", "en")
    return (ROOT / plain).exists() or (ROOT / "harness" / plain).exists()


def is_member(name: str) -> bool:
    """`crew.PROVIDERS`, `cli/group.COMMANDS`: a module of ours and something in it."""
    module, _, member = name.replace("/", ".").rpartition(".")
    return module.partition(".")[0] in MODULES and hasattr(importlib.import_module(f"harness.{module}"), member)


def is_variable(name: str) -> bool:
    setting = name.removeprefix("HARNESS_").lower()
    known = {api.key_env for api in APIS.values()} | OTHER_VARIABLES | {hook.SWITCH}
    return name in known or (name.startswith("HARNESS_") and setting in SETTINGS)


def unknown(span: str) -> bool:
    """Whether a span is a name of a kind that code knows, and nothing of that name is there."""
    if span.startswith(("/research", "$research")):  # what people type inside agents
        return not COMMAND.fullmatch(span.replace("$", "/")) or span.split()[1:2] not in TYPED
    if span.startswith("-"):
        return any(word.startswith("-") and word not in EVERY_OPTION for word in span.split())
    if span.startswith("make "):
        return span[5:] not in re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    if re.fullmatch(r"[A-Z]+_[A-Z_]+(=.*)?", span):
        return not is_variable(span.partition("=")[0])
    if re.fullmatch(r"[a-z_]+", span):
        return span not in NAMES | KEYS | WORDS
    if match := re.fullmatch(r"([a-z_]+):( .*)?", span):
        return match[1] not in KEYS | {"key", "steer"}  # `key: value` is a form of lines in documents
    if re.fullmatch(r"[A-Z][a-z]+[A-Za-z]*", span):
        return not (hasattr(errors, span) or hasattr(model, span))
    if re.fullmatch(r"\w+(/\w+)?\.[A-Za-z_]+", span) and span.split("/")[0].split(".")[0] in MODULES:
        return not is_member(span) and not exists(span)
    return bool(re.fullmatch(r"[\w.~%-]*/[\w./-]*|[\w-]+\.(md|py|txt|yaml|jsonl?|toml)", span)) and not exists(span)


@pytest.mark.parametrize("page", PAGES)
def test_what_a_document_names_exists(page: str) -> None:
    assert [span for span in spans(page) if unknown(span)] == []


@pytest.mark.parametrize("page", PAGES)
def test_every_call_in_a_document_has_a_command_and_options_that_exist(page: str) -> None:
    assert [(call, wrong) for call in calls(page) if (wrong := wrong_call(call))] == []


@pytest.mark.parametrize("page", PAGES)
def test_every_link_inside_the_repository_leads_somewhere(page: str) -> None:
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", TEXTS[page]) if "://" not in link]
    assert [link for link in links if not ((ROOT / page).parent / link).exists()] == []


@pytest.mark.parametrize("page", [*PAGES, "CHANGELOG.md"])
def test_no_document_names_a_registry(page: str) -> None:
    assert not REGISTRIES.search((ROOT / page).read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", PAGES)
def test_every_extra_that_is_installed_exists(page: str) -> None:
    assert set(re.findall(r"pip install '\.\[(\w+)\]'", TEXTS[page])) <= set(EXTRAS)


@pytest.mark.parametrize("made_up", ["`harness fly`", "`harness run --fast`", "`--fast`", "`make tea`", "`colour`"])
def test_a_name_that_does_not_exist_is_found(made_up: str) -> None:
    span = made_up.strip("`")
    assert wrong_call(span) if span.startswith("harness ") else unknown(span)


@pytest.mark.parametrize(
    "made_up", ["colour: red", "docs/none.md", "HARNESS_COLOUR", "crew.NONE", "notes.md", "x/", "NoError"]
)
def test_so_is_a_key_a_path_or_a_variable(made_up: str) -> None:
    assert unknown(made_up)


# The READMEs --------------------------------------------------------------------------------------


def commands_named(page: str) -> set[str]:
    rows = re.findall(r"^\| (`[^|]*) \|", TEXTS[page], re.MULTILINE)
    return {word for row in rows for word in re.findall(r"`(\w+)`", row)}


@pytest.mark.parametrize("page", READMES)
def test_a_readme_lists_every_command(page: str) -> None:
    assert commands_named(page) == {name for name in COMMANDS if not name.startswith("git-")}  # those git calls


def test_the_readmes_are_in_step() -> None:
    english, russian = READMES
    for count in (r"^## ", r"^- ", r"^\| ", r"^```"):
        found = [len(re.findall(count, TEXTS[page], re.MULTILINE)) for page in READMES]
        assert found[0] == found[1], count
    for of in (spans, calls):
        words = [sorted(set(map(without_examples, of(page)))) for page in (english, russian)]
        assert words[0] == words[1]


def without_examples(call: str) -> str:
    """Quoted words and what stands in brackets differ between the languages."""
    return re.sub(r'"[^"]*"|\[.*?\]', "…", call)


@pytest.mark.skipif(shutil.which("sh") is None, reason="there is no sh on this machine")
@pytest.mark.parametrize("page", READMES)
def test_the_shell_lines_of_a_readme_run(page: str, tmp_path: Path) -> None:
    """In order, in one shell, in a folder with documents: 0, 4 (partial) and 5 (a person is due) are good ends."""
    for name in ("kazakhstan-country-note.md", "central-asia-comparison.md", "ru/tablica-2025.md"):
        target = tmp_path / "documents" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "templates/demo/documents" / name, target)
    lines = [line for language, block in fences(page) if language == "sh" for line in block.splitlines() if line]
    assert len(lines) >= 6
    checked = [f"{line}\ncase $? in 0|4|5) ;; *) exit {100 + at} ;; esac" for at, line in enumerate(lines)]
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["sh", "-c", "\n".join(checked)],
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
    )
    failed = lines[done.returncode - 100] if done.returncode >= 100 else ""
    assert done.returncode == 0, f"{failed}\n{done.stdout}\n{done.stderr}"
    assert (tmp_path / "research/answer.md").is_file()


# The other documents ------------------------------------------------------------------------------


def test_the_guide_for_changes_is_short() -> None:
    assert len(TEXTS["CLAUDE.md"].splitlines()) <= 120


def test_the_changelog_begins_with_what_is_not_released() -> None:
    headings = re.findall(r"^#.*$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert headings[:2] == ["# Changelog", "## Unreleased"]


@pytest.mark.parametrize("example", [block for language, block in fences("docs/roles.md") if language == "yaml"])
def test_settings_in_the_guide_to_roles_count_as_they_stand(example: str) -> None:
    assert typed(parse_settings(example, "docs/roles.md", Path("/p")))


FORM = re.compile(r"^## (\S+\.\w+)\n(.*?)(?=^## \S+\.\w+\n|\Z)", re.MULTILINE | re.DOTALL)


def file_examples() -> list[tuple[str, str]]:
    """File name (the heading above) and text of each example in docs/files.md."""
    sections = FORM.findall(TEXTS["docs/files.md"])
    return [(name, block) for name, section in sections for _, block in FENCE.findall(section)]


READERS: dict[str, Callable[[str, str], Question | Summary | NextQuery | Raw]] = {
    "question.md": parse_question,
    "summary.md": parse_summary,
    "next_query.txt": parse_next_query,
    "raw_N.md": parse_raw,
}


@pytest.mark.parametrize(("name", "example"), file_examples())
def test_the_files_shown_are_read_without_problems(name: str, example: str) -> None:
    assert READERS[name](example, name).problems == ()


def test_every_form_of_file_is_shown() -> None:
    assert {name for name, _ in file_examples()} == set(READERS)


def test_settings_without_effect_are_named_as_such() -> None:
    """A key that nothing reads must not look as if it did something."""
    told = re.search(r"not used by this version: (.*?)\.\n", TEXTS["docs/settings.md"], re.DOTALL)
    assert told is not None
    code = "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "harness").rglob("*.py")))
    used = set(re.findall(r"\bsettings\.([a-z_]+)", code))
    assert set(re.findall(r"`(\w+)`", told[1])) == set(SETTINGS) - used


def test_an_agents_keys_are_those_of_its_value() -> None:
    assert set(AGENT_KEYS) == set(AgentSpec.__annotations__) - {"name"}


AGENT_ROW = re.compile(r"^\| (.+) \| `(\w+)` \| `(.+?)` \| (.+) \| (.+?): (.+) \|$", re.MULTILINE)


def test_the_table_of_agents_is_the_one_that_init_goes_by() -> None:
    table = {one.name: (one.title, one.reads, one.files, one.verified, one.source) for one in WIRED.values()}
    rows = AGENT_ROW.findall(TEXTS["docs/agents.md"])
    assert {row[1]: (row[0], row[2], tuple(re.findall("`(.+?)`", row[3])), *row[4:]) for row in rows} == table
    assert len(table) >= 20 and {one[3] for one in table.values()} == {"run here", "documentation", "hearsay"}


# The example --------------------------------------------------------------------------------------

EXAMPLE = ROOT / "research"
needs_example = pytest.mark.skipif(not EXAMPLE.is_dir(), reason="the example case is not there yet")


@needs_example
def test_the_example_is_read_without_problems() -> None:
    snapshot = Store(EXAMPLE).snapshot()
    assert snapshot.problems == ()
    assert snapshot.case.raws == tuple(range(1, snapshot.case.summary.round + 1))
    assert all(Store(EXAMPLE).read_raw(number)[1].problems == () for number in snapshot.case.raws)


@needs_example
def test_the_example_is_finished() -> None:
    command = [sys.executable, "-m", "harness", "-C", str(EXAMPLE), "status", "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", check=True)
    status = json.loads(done.stdout)
    assert (status["due"], status["answer"], status["problems"]) == ("Done", "complete", [])


@needs_example
def test_the_example_tells_nothing_of_the_machine_it_was_made_on() -> None:
    made = [path for path in EXAMPLE.iterdir() if path.is_file()]
    assert {path.name for path in made} >= {"question.md", "summary.md", "raw_1.md", "next_query.txt", "answer.md"}
    assert [path.name for path in made if re.search(r"(^|[\s\"'])/(tmp|home|root|work|Users)/", path.read_text())] == []


# Guards -------------------------------------------------------------------------------------------


def codes_in(table: str) -> dict[str, str]:
    """Code → last cell, of the rows whose first cell holds codes."""
    rows = (line.strip("|").split(" | ") for line in table.splitlines() if line.startswith("| `"))
    return {code: row[-1].strip() for row in rows for code in re.findall(r"`([a-z-]+)`", row[0])}


def test_every_defect_and_every_finding_is_told() -> None:
    """A code that a person reads in a repair turn, in the trace or in `harness check` has its row."""
    replies, checked = TEXTS["docs/guards.md"].split("## `harness check`")
    paths = [*sorted((ROOT / "harness" / "guards").glob("*.py")), ROOT / "harness" / "reply.py"]
    code = "".join(path.read_text(encoding="utf-8") for path in paths)
    made = set(re.findall(r'[dD]efect\(\s*"([a-z-]+)"', code)) | {LOST, LOST_SUM, UNGROUNDED, CONTRADICTION, REPEATED}
    told = codes_in(replies)
    assert set(told) == made
    assert {name for name, then in told.items() if then not in ("–", "the answer stands unchecked")} == {
        *MENDERS,
        "early-answer",
        "no-source",
    }
    assert set(codes_in(checked)) == set(CODES)
    for row in re.findall(r"^\| (`.*?`) \| (\w+) \|", checked, re.MULTILINE):
        assert {CODES[name].severity for name in re.findall(r"`([a-z-]+)`", row[0])} == {row[1]}
