"""The settings that count: every source in its order, each value with the place it came from."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from harness import specs
from harness.assets import asset_path
from harness.errors import BrokenFile, NotTrusted
from harness.given import Given, SettingsFile, near_match, read_settings_file
from harness.locate import CASE_VARIABLE, PROJECT_FILE, find_project
from harness.model import FrontMatter
from harness.options import AgentSpec, Settings
from harness.settings import ROLES, SETTINGS, inside
from harness.sheet import Sheet, typed
from harness.trust import DATA_DIR, is_trusted, trusted

CONFIG_DIR = "HARNESS_CONFIG_DIR"
PREFIX = "HARNESS_"
# Variables with our prefix that are no settings.
OTHER_VARIABLES = frozenset({CASE_VARIABLE, CONFIG_DIR, DATA_DIR, "HARNESS_CACHE_DIR"})


class Resolved(NamedTuple):
    """`origins`: `default`, `path:line`, `environment HARNESS_X` or `flag --x` for each key and each `agents.NAME`."""

    settings: Settings
    origins: Mapping[str, str]
    warnings: tuple[str, ...]


class Review(NamedTuple):
    """What a user is asked to trust: the file, its bytes as read, and what in it needs trust (empty: nothing)."""

    file: Path
    content: bytes
    risks: tuple[str, ...]


def resolve(
    *,
    case: Path | None,
    project: Path | None,
    question: FrontMatter | None,
    environ: Mapping[str, str],
    flags: Mapping[str, object],
    ignore_untrusted: bool = False,
) -> Resolved:
    """Every setting: default < user config < harness.yaml < question.md < environment < flags.

    `project` is a harness.yaml or its folder; None: the nearest one around the case, or around the current folder.
    Flags that are None or an empty sequence count as not given. `ignore_untrusted` leaves out what needs trust, with a
    warning: for commands that only look. Raises BrokenFile (with path:line), WrongCall (environment and flags) and
    NotTrusted.
    """
    sheet = Sheet(_Presets())
    user_file = user_config_file(environ)
    if user_file.is_file():
        sheet.apply(read_settings_file(user_file).entries)
    project_file = _project_file(case, project)
    if project_file:
        sheet.apply(_trusted_entries(project_file, environ, sheet.warnings, ignore_untrusted=ignore_untrusted))
    if question:
        base = (case or Path.cwd()).absolute()
        sheet.apply_question(question, str(base / "question.md") if case else "question.md", base)
    sheet.apply(_from_environment(environ, sheet.warnings))
    sheet.apply(_from_flags(flags))
    return Resolved(sheet.settings(), sheet.origins(), tuple(sheet.warnings))


def review(project_file: Path) -> Review:
    """What `harness trust` shows and trusts. Raises BrokenFile."""
    entries, content = _project_settings(project_file)
    return Review(
        project_file, content, tuple(risk for risks in _risks(entries, project_file).values() for risk in risks)
    )


class _Presets(Mapping[str, AgentSpec]):
    """The agent programs known without any settings: `templates/agents/NAME.yaml`, each read when it is asked for."""

    def __getitem__(self, name: str) -> AgentSpec:
        if name not in _preset_names():
            raise KeyError(name)
        return _preset(name)

    def __contains__(self, name: object) -> bool:
        return name in _preset_names()

    def __iter__(self) -> Iterator[str]:
        return iter(_preset_names())

    def __len__(self) -> int:
        return len(_preset_names())


@cache
def _preset_names() -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in asset_path("agents").glob("*.yaml")))


@cache
def _preset(name: str) -> AgentSpec:
    return specs.preset(name, read_settings_file(asset_path(f"agents/{name}.yaml")))


def user_config_file(environ: Mapping[str, str]) -> Path:
    """Where the user's own settings are: `HARNESS_CONFIG_DIR`, else the platform's place. It need not exist."""
    return Path(environ.get(CONFIG_DIR) or _user_config()) / "config.yaml"


def _user_config() -> str:
    from platformdirs import user_config_dir  # late: not needed where the variable is set

    return user_config_dir("harness", appauthor=False)


def _project_file(case: Path | None, project: Path | None) -> Path | None:
    if project is None:
        return find_project(case or Path.cwd())
    file = project / PROJECT_FILE if project.is_dir() else project
    return file.absolute() if file.is_file() else None


def _project_settings(file: Path) -> SettingsFile:
    """A harness.yaml as it stands. Raises BrokenFile, also for a link that shows a file of elsewhere."""
    if file.is_symlink() and not inside(file, file.parent):
        target = os.path.realpath(file)
        raise BrokenFile(
            "the settings are a link out of the project", f"{file} → {target}", "Replace it by a real file."
        )
    return read_settings_file(file)


def _trusted_entries(
    file: Path, environ: Mapping[str, str], warnings: list[str], *, ignore_untrusted: bool
) -> Mapping[str, Given]:
    """What counts of a harness.yaml: all of it if it is trusted or needs no trust."""
    entries, content = _project_settings(file)
    risks = _risks(entries, file)
    if not risks or is_trusted(file, environ=environ, content=content):
        return entries
    problem = trusted(environ).problem
    if problem:
        warnings.append(problem)
    named = ", ".join(risk for found in risks.values() for risk in found)
    if not ignore_untrusted:
        hint = "Read the file; if you agree with it: harness trust" + (f"\n  ({problem})" if problem else "")
        raise NotTrusted(f"this project sets what needs your trust ({named})", str(file), hint)
    # Roles and rungs that name an agent which is left out go with it.
    agents = set(typed(entries)["agents"]) if "agents" in risks else set()
    left_out = {*risks, *(key for key in ("search", *ROLES) if key in entries and agents & set(_said(entries[key])))}
    also = "".join(f", {key}" for key in sorted(left_out - set(risks)))
    warnings.append(f"{file}: not trusted, so left out: {named}{also} (harness trust)")
    return {key: given for key, given in entries.items() if key not in left_out}


def _said(given: Given) -> Iterator[str]:
    """Every text in a value."""
    if isinstance(given.value, str):
        yield given.value
    else:
        for child in given.value.values() if isinstance(given.value, Mapping) else given.value:
            yield from _said(child)


def _risks(entries: Mapping[str, Given], file: Path) -> dict[str, tuple[str, ...]]:
    """What needs trust, by key. Unknown keys and bad values are errors here as elsewhere."""
    found = {key: SETTINGS[key].risks(value, file.parent) for key, value in typed(entries).items()}
    return {key: risks for key, risks in found.items() if risks}


def _from_environment(environ: Mapping[str, str], warnings: list[str]) -> dict[str, Given]:
    entries = {}
    for variable, value in environ.items():
        key = variable.removeprefix(PREFIX).lower()
        if not variable.startswith(PREFIX) or variable in OTHER_VARIABLES:
            continue
        if key in SETTINGS:
            entries[key] = Given(key, value.strip(), f"environment {variable}", Path.cwd(), in_file=False)
        elif near_match(key, SETTINGS):
            # Only near ones: other tools and tests use the prefix too.
            warnings.append(f"environment {variable}: no setting{near_match(key, SETTINGS)}")
    return entries


def _from_flags(flags: Mapping[str, object]) -> dict[str, Given]:
    entries = {}
    for key, value in flags.items():
        if value is None or value == () or value == []:
            continue
        where = f"flag --{key.replace('_', '-')}"
        parts = value if isinstance(value, (list, tuple)) else (value,)
        given = tuple(Given(key, str(part), where, Path.cwd(), in_file=False) for part in parts)
        entries[key] = given[0] if len(given) == 1 else Given(key, given, where, Path.cwd(), in_file=False)
    return entries
