"""What was wired in a project and what stood there before, kept outside the project."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from harness.errors import BrokenFile
from harness.scaffold.disk import write
from harness.scaffold.pieces import Kind
from harness.trust import DATA_DIR, trust_file


class Left(NamedTuple):
    """One file as init left it: `before` is what stood there (None: nothing), `aside` where somebody's file went."""

    kind: Kind
    before: bytes | None
    left: str  # sha256, hex, of what init wrote
    aside: str = ""


class Manifest(NamedTuple):
    """All that init did in one project. `folders`: those it made; `in_project`: no plugin was wanted for it.

    `git`: plain git is told what a summary is.
    """

    project: Path
    agents: tuple[str, ...] = ()
    search_tools: tuple[str, ...] = ()
    plugin: bool = False
    in_project: bool = False
    git: bool = False
    files: Mapping[str, Left] = {}
    folders: tuple[str, ...] = ()


def data_folder(environ: Mapping[str, str]) -> Path:
    """The folder that trust.json is in."""
    return trust_file(environ).parent.absolute()


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def read_manifest(data: Path, project: Path) -> Manifest | None:
    """None if the project was never wired from here. Raises BrokenFile where it cannot be understood."""
    path = _path(data, project)
    try:
        return _parsed(json.loads(path.read_text(encoding="utf-8")))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        hint = "move it away, then run the command again: our parts are found by their marks."
        raise BrokenFile("cannot read what init did here", str(path), hint) from error


def write_manifest(data: Path, manifest: Manifest) -> None:
    files = {name: {**left._asdict(), "before": _text(left.before)} for name, left in sorted(manifest.files.items())}
    value = {**manifest._asdict(), "project": str(manifest.project), "files": files}
    path = _path(data, manifest.project)
    try:
        write(path, json.dumps(value, indent=1).encode(), 0o600)
    except OSError as error:
        hint = f"{error.strerror}; make the folder writable, or set {DATA_DIR} to another."
        raise BrokenFile("cannot keep what init does", str(path), hint) from error


def forget(data: Path, project: Path) -> None:
    _path(data, project).unlink(missing_ok=True)


def others(data: Path, project: Path) -> Iterator[Manifest]:
    """The other projects wired from here that are still there; a record that cannot be read counts as none."""
    for path in sorted((data / "init").glob("*.json")):
        if path != _path(data, project):
            try:
                manifest = _parsed(json.loads(path.read_text(encoding="utf-8")))
            except (OSError, ValueError, KeyError, TypeError, AttributeError):
                continue
            if manifest.project.is_dir():
                yield manifest


def _path(data: Path, project: Path) -> Path:
    return data / "init" / f"{sha256(os.path.realpath(project).encode())[:16]}.json"


def _parsed(value: Any) -> Manifest:
    files = {
        name: Left(Kind(one["kind"]), _bytes(one["before"]), one["left"], one["aside"])
        for name, one in value["files"].items()
    }
    lists = {name: tuple(value[name]) for name in ("agents", "search_tools", "folders")}
    return Manifest(**{**value, **lists, "project": Path(value["project"]), "files": files})


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text)


def _text(content: bytes | None) -> str | None:
    return None if content is None else base64.b64encode(content).decode()
