"""Where things are: the case that a command means, and the project around it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path

from harness.errors import HarnessError, WrongCall

CASE_DIR = "research"
PROJECT_FILE = "harness.yaml"
CASE_VARIABLE = "HARNESS_DIR"
# A case whose question.md was deleted by mistake is still found, and then says what is missing.
_CASE_FILES = ("question.md", "trace.jsonl")


class CaseUnclear(HarnessError):
    """More than one case could be meant; guessing would work on the wrong one."""


class CaseOutside(HarnessError):
    """The case is a link that leads out of the project."""


def find_case(start: Path, *, given: Path | None, environ: Mapping[str, str]) -> Path:
    """The absolute path of the case meant by a command started in `start` (design.md, section 1).

    `given` (-C), else `HARNESS_DIR`, else the case at `start`: the folder itself, `research/` or `research/NAME`;
    else the nearest parent's, up to the project's root. If there is none, `start/research`, where one would be made.
    Raises CaseUnclear, CaseOutside, and WrongCall where a file stands in the place of the folder.
    """
    here = _lexical(start)
    root = project_root(here) or here
    named = given or (Path(environ[CASE_VARIABLE]) if environ.get(CASE_VARIABLE) else None)
    if named is not None:
        case = _lexical(here / named)
        return _checked(case, root if case.is_relative_to(root) else project_root(case.parent) or case.parent)
    match _nearest(here, root):
        case []:
            return _checked(here / CASE_DIR, root)
        case [found]:
            return _checked(found, root)
        case found:
            names = ", ".join(os.path.relpath(case, here) for case in found)
            calls = " or ".join(f"harness -C {shlex.quote(os.path.relpath(case, here))} status" for case in found)
            raise CaseUnclear("several cases could be meant", names, f"say which one: {calls}")


def cases_around(start: Path) -> list[Path]:
    """Every case that a command started in `start` may mean: those of the nearest folder that has any.

    Without those that are links out of the project.
    """
    here = _lexical(start)
    root = project_root(here) or here
    return [case for case in _nearest(here, root) if _real(case).is_relative_to(_real(root))]


def _nearest(here: Path, root: Path) -> list[Path]:
    return next((found for level in _upwards(here, root) if (found := _cases_at(level))), [])


def find_project(case: Path) -> Path | None:
    """The harness.yaml of the nearest folder from the case itself upwards, to the git root or the file system's."""
    for folder in _to_git_root(_lexical(case)):
        if (folder / PROJECT_FILE).is_file():
            return folder / PROJECT_FILE
    return None


def project_root(folder: Path) -> Path | None:
    """The git root around a folder; without git, the nearest folder with a harness.yaml; None if neither."""
    marked = None
    for level in (folder, *folder.parents):
        if (level / ".git").exists():
            return level
        if marked is None and (level / PROJECT_FILE).is_file():
            marked = level
    return marked


def is_case(folder: Path) -> bool:
    """Whether a folder holds the files of a case."""
    return any(os.path.isfile(folder / name) for name in _CASE_FILES)  # noqa: PTH113 - no error where it may not look


def _cases_at(level: Path) -> list[Path]:
    research = level / CASE_DIR
    return [folder for folder in (level, research, *_folders(research)) if is_case(folder)]


def _folders(folder: Path) -> list[Path]:
    """Its folders by name; scandir, since a case may hold thousands of raws and must not cost a call for each."""
    try:
        with os.scandir(folder) as entries:
            return sorted(Path(entry.path) for entry in entries if not entry.name.startswith(".") and entry.is_dir())
    except OSError:
        return []


def _to_git_root(folder: Path) -> Iterator[Path]:
    for level in (folder, *folder.parents):
        yield level
        if (level / ".git").exists():
            return


def _upwards(here: Path, root: Path) -> list[Path]:
    """`here` and its parents up to `root`. Without a project that is `here` alone: a parent's case is another's."""
    return [level for level in (here, *here.parents) if level.is_relative_to(root)]


def _lexical(path: Path) -> Path:
    """Absolute, without `..`, links kept: where a case is, not where it leads."""
    return Path(os.path.normpath(path.absolute()))


def _real(path: Path) -> Path:
    """Links followed; unlike `resolve()` it survives a link that leads to itself."""
    return Path(os.path.realpath(path))


def _checked(case: Path, root: Path) -> Path:
    real = _real(case)
    if not real.is_relative_to(_real(root)):
        hint = f"Name the place itself if you mean it: -C {shlex.quote(str(real))}"
        raise CaseOutside("the case is a link out of the project", f"{case} → {real}", hint)
    if case.exists() and not case.is_dir():
        raise WrongCall("the case must be a folder", str(case), "Name a folder: -C research/NAME")
    return case
