"""Trust is for one file as it was shown, and is kept outside the project."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from harness.config import Resolved, resolve, review
from harness.errors import BrokenFile, NotTrusted
from harness.trust import is_trusted, trust, trust_file, trusted, untrust


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"HARNESS_CONFIG_DIR": str(tmp_path / "config"), "HARNESS_DATA_DIR": str(tmp_path / "data")}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def write(project: Path, text: str) -> Path:
    file = project / "harness.yaml"
    file.write_text(text, encoding="utf-8", newline="\n")
    return file


def resolved(project: Path, environ: dict[str, str], *, ignore: bool = False) -> Resolved:
    return resolve(
        case=project / "research", project=None, question=None, environ=environ, flags={}, ignore_untrusted=ignore
    )


MINE = "agents:\n  mine: {command: [my-agent]}\nplanner: mine\nrounds: 4\n"


@pytest.mark.parametrize(
    ("text", "risk"),
    [
        (MINE, "agents.mine"),
        ("agents:\n  local: {api: openai, model: m, base_url: 'http://127.0.0.1:1/v1'}\n", "agents.local"),
        ("agents:\n  claude: {command: [claude], env: {A: b}}\n", "agents.claude"),
        ("planner: openai:gpt-5-mini\n", "the model openai:gpt-5-mini"),
        ("checker: [claude, llm:qwen]\n", "the model llm:qwen"),
        ("search:\n- mine: {command: [my-search]}\n", "search.mine.command"),
        ("search:\n- command: my-search\n", "search.command.command"),
        ("search:\n- searx: {url: 'http://h/'}\n", "search.searx.url"),
        ("search:\n- folder: ..\n", "search.folder.path"),
        ("search:\n- folder: ~/private\n", "search.folder.path"),
        ("search:\n- folder: docs/../../x\n", "search.folder.path"),
        ("search:\n- folder: /etc\n", "search.folder.path"),
        ("search:\n- folder: link\n", "search.folder.path"),
        ("commit: yes\n", "commit"),
        ("commit_raws: true\n", "commit_raws"),
    ],
)
def test_what_can_act_outside_the_project_needs_trust(
    project: Path, environ: dict[str, str], text: str, risk: str
) -> None:
    (project / "link").symlink_to("/etc")
    file = write(project, text)
    with pytest.raises(NotTrusted) as caught:
        resolved(project, environ)
    assert risk in caught.value.what
    assert caught.value.value == str(file)
    assert "harness trust" in caught.value.hint
    assert caught.value.exit_code == 1
    shown = review(file)
    assert shown.risks == (risk,)
    trust(file, environ=environ, content=shown.content)
    assert resolved(project, environ).warnings == ()


@pytest.mark.parametrize(
    "text",
    [
        "rounds: 4\nplanner: [claude, extractive]\ncommit: false\n",
        "search:\n- folder: docs\n- tavily: {cap: 50}\n- agent: claude\n- person\n",
        "search: folder\nagents:\n",
    ],
)
def test_the_rest_just_counts(project: Path, environ: dict[str, str], text: str) -> None:
    write(project, text)
    assert resolved(project, environ).warnings == ()


def test_the_users_own_config_needs_no_trust(project: Path, environ: dict[str, str]) -> None:
    folder = Path(environ["HARNESS_CONFIG_DIR"])
    folder.mkdir()
    (folder / "config.yaml").write_text(MINE + "commit: true\n", encoding="utf-8")
    settings = resolved(project, environ).settings
    assert settings.planner == ("mine",)
    assert settings.commit


def test_a_changed_file_needs_it_again(project: Path, environ: dict[str, str]) -> None:
    file = write(project, MINE)
    trust(file, environ=environ)
    assert resolved(project, environ).settings.planner == ("mine",)
    write(project, MINE.replace("my-agent", "my-agent2"))
    with pytest.raises(NotTrusted):
        resolved(project, environ)
    write(project, MINE)
    assert resolved(project, environ).settings.planner == ("mine",)


def test_what_was_shown_is_trusted_not_what_came_after(project: Path, environ: dict[str, str]) -> None:
    shown = review(write(project, MINE))
    file = write(project, MINE.replace("my-agent", "evil"))
    trust(file, environ=environ, content=shown.content)
    assert not is_trusted(file, environ=environ)
    assert is_trusted(file, environ=environ, content=shown.content)


def test_the_same_file_elsewhere_is_not_trusted(project: Path, environ: dict[str, str], tmp_path: Path) -> None:
    trust(write(project, MINE), environ=environ)
    (tmp_path / "other").mkdir()
    assert not is_trusted(write(tmp_path / "other", MINE), environ=environ)


def test_trust_is_found_through_another_way_to_the_file(project: Path, environ: dict[str, str], tmp_path: Path) -> None:
    trust(write(project, MINE), environ=environ)
    (tmp_path / "way").symlink_to(project)
    assert is_trusted(tmp_path / "way/harness.yaml", environ=environ)


def test_untrust_takes_it_back_also_for_a_file_that_is_gone(project: Path, environ: dict[str, str]) -> None:
    file = write(project, MINE)
    trust(file, environ=environ)
    trust(file, environ=environ)
    assert list(trusted(environ).projects) == [file]
    file.unlink()
    assert untrust(file, environ=environ)
    assert not untrust(file, environ=environ)
    assert trusted(environ).projects == {}


def test_commands_that_only_look_leave_out_what_is_not_trusted(project: Path, environ: dict[str, str]) -> None:
    file = write(project, MINE)
    settings, origins, warnings = resolved(project, environ, ignore=True)
    assert (settings.planner, settings.rounds) == (("extractive",), 4)
    assert "mine" not in settings.agents
    assert origins["planner"] == "default"
    assert warnings == (f"{file}: not trusted, so left out: agents.mine, planner (harness trust)",)


def test_the_file_is_the_users_alone_and_nothing_else_is_left(project: Path, environ: dict[str, str]) -> None:
    trust(write(project, MINE), environ=environ)
    path = trust_file(environ)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [entry.name for entry in path.parent.iterdir()] == ["trust.json"]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"projects": []}', '{"projects": null}', "[" * 100_000, "\ufeff{}"])
def test_a_broken_file_trusts_nothing_says_so_and_is_kept(project: Path, environ: dict[str, str], text: str) -> None:
    file = write(project, MINE)
    path = trust_file(environ)
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")
    assert trusted(environ).projects == {}
    assert str(path) in trusted(environ).problem
    with pytest.raises(NotTrusted) as caught:
        resolved(project, environ)
    assert str(path) in caught.value.hint
    trust(file, environ=environ)
    assert is_trusted(file, environ=environ)
    assert path.with_suffix(".broken").read_text(encoding="utf-8") == text


def test_a_data_folder_that_cannot_be_written_is_a_clear_error(project: Path, environ: dict[str, str]) -> None:
    Path(environ["HARNESS_DATA_DIR"]).write_text("a file in its place", encoding="utf-8")
    with pytest.raises(BrokenFile) as caught:
        trust(write(project, MINE), environ=environ)
    assert "HARNESS_DATA_DIR" in caught.value.hint


def test_a_file_that_is_not_there_is_a_clear_error(project: Path, environ: dict[str, str]) -> None:
    with pytest.raises(BrokenFile):
        trust(project / "harness.yaml", environ=environ)
    assert not os.path.lexists(trust_file(environ))
