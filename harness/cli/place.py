"""What every command starts from: which case is meant, and the settings that count for it."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any, NamedTuple

import click

from harness.config import Resolved, resolve
from harness.errors import HarnessError, WrongCall
from harness.locate import CaseUnclear, find_case, find_project
from harness.model import FrontMatter, Problem
from harness.patterns import lazy
from harness.store import Snapshot, Store

_COMMAND = lazy(r"\bharness (?=(?:run|step|next|take|search|steer|stop|reopen|status|reread|check)\b)")


class Place(NamedTuple):
    """`snapshot`: the case as it was read for its settings; None where there is no folder yet."""

    store: Store
    resolved: Resolved
    snapshot: Snapshot | None = None

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What was not understood in the case's files."""
        return self.snapshot.problems if self.snapshot else ()


def case_of(context: click.Context) -> Path:
    """The folder meant by -C, HARNESS_DIR or the current folder."""
    return find_case(Path.cwd(), given=context.find_root().obj, environ=os.environ)


def call_of(context: click.Context) -> str:
    """How this case was called, to be pasted before a command: `harness`, `harness -C DIR`."""
    return called(context.find_root().obj)


def called(case: object) -> str:
    """The words before a command that name what `-C` was given, if anything."""
    return f"harness -C {shlex.quote(str(case))}" if case is not None else "harness"


def pasteable(text: str, call: str) -> str:
    """A text whose commands name this case: `harness step` becomes `harness -C DIR step`."""
    return _COMMAND.sub(f"{call} ", text) if call != "harness" else text


def place_of(context: click.Context, flags: Mapping[str, object], *, looking: bool = False) -> Place:
    """`looking`: a command that starts no program leaves out what needs trust, with a warning."""
    store = Store(case_of(context))
    snapshot = store.snapshot() if store.folder.is_dir() else None
    front = snapshot.case.question.front if snapshot and snapshot.case.question else FrontMatter()
    resolved = resolve(
        case=store.folder, project=None, question=front, environ=os.environ, flags=flags, ignore_untrusted=looking
    )
    return Place(store, resolved, snapshot)


def settings_of(context: click.Context, flags: Mapping[str, object], *, looking: bool) -> Resolved:
    """The settings for a command that is about no case: where several could be meant, those of the project."""
    try:
        return place_of(context, flags, looking=looking).resolved
    except CaseUnclear:
        return resolve(
            case=None, project=None, question=None, environ=os.environ, flags=flags, ignore_untrusted=looking
        )


def project_file_of(context: click.Context) -> Path:
    """The harness.yaml around the case, or around here. Raises HarnessError if there is none."""
    try:
        start = case_of(context)
    except CaseUnclear:
        start = Path.cwd()
    file = find_project(start)
    if file is None:
        raise HarnessError("there is no harness.yaml around here", str(start), "nothing needs trust")
    return file


def searching(folder: str | None) -> dict[str, object]:
    """The flag `--in DIR` as a setting: this folder is the whole ladder. Raises WrongCall where there is none."""
    if folder is None:
        return {}
    if Path(folder).is_file():
        raise WrongCall("that is a file", folder, f"name its folder: --in {shlex.quote(str(Path(folder).parent))}")
    if not folder or not Path(folder).is_dir():
        raise WrongCall("no such folder to search", str(Path(folder).absolute()), "name one that is there: --in DIR")
    return {"search": f"folder: {folder}"}


def on_terminal() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def say(text: str) -> None:
    """Talk goes to stderr; results go to stdout. Commands in it can be pasted."""
    context = click.get_current_context(silent=True)
    click.echo(pasteable(text, call_of(context)) if context else text, err=True)


def show(value: object, text: str, *, as_json: bool) -> None:
    """A result: its text for people, its value as JSON for programs."""
    click.echo(json.dumps(plain(value), ensure_ascii=False, indent=1) if as_json else text)


def plain(value: object) -> Any:
    """A value as JSON knows it."""
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return plain(value._asdict())
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(one) for one in value]
    return str(value) if isinstance(value, Path) else value


def write_out(path: Path | None, text: str, what: str) -> None:
    """A result that may be long: to a file where one is named, else to stdout. Raises HarnessError."""
    if path is None:
        click.echo(text)
        return
    try:
        path.write_text(text if text.endswith("\n") else f"{text}\n", encoding="utf-8", newline="\n")
    except OSError as error:
        hint = "name a file in a folder that you may write: --out FILE"
        raise HarnessError(f"cannot write {what}", f"{path} ({error.strerror})", hint) from None
