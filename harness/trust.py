"""Which projects the user trusts: hashes of their harness.yaml, kept outside every project."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from harness.errors import BrokenFile

DATA_DIR = "HARNESS_DATA_DIR"


class Trusted(NamedTuple):
    """sha256 (hex) by absolute path of a harness.yaml; `problem` says why trust.json could not be read, or ""."""

    projects: Mapping[Path, str]
    problem: str = ""


def trust_file(environ: Mapping[str, str]) -> Path:
    """Where trust is kept: `HARNESS_DATA_DIR`, else the user's data folder."""
    folder = environ.get(DATA_DIR) or _user_data()
    return Path(folder) / "trust.json"


def _user_data() -> str:
    from platformdirs import user_data_dir  # late, as in config

    return user_data_dir("harness", appauthor=False)


def trusted(environ: Mapping[str, str]) -> Trusted:
    """All that is trusted. A broken trust.json trusts nothing and is reported, never guessed at."""
    path = trust_file(environ)
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        projects = {Path(name): str(digest) for name, digest in data["projects"].items()}
    except FileNotFoundError:
        return Trusted({})
    except OSError as error:
        return Trusted({}, f"{path}: cannot be read ({error.strerror}); no project is trusted")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return Trusted({}, f"{path}: not understood; no project is trusted until you run harness trust again")
    return Trusted(projects)


def is_trusted(project_file: Path, *, environ: Mapping[str, str], content: bytes | None = None) -> bool:
    """Whether this very content of a harness.yaml is trusted at this path (`content` None: as on disk).

    Who has read the file passes the bytes, so that what is used is what was checked.
    """
    found = content if content is not None else _read(project_file)
    return trusted(environ).projects.get(_key(project_file)) == _digest(found)


def trust(project_file: Path, *, environ: Mapping[str, str], content: bytes | None = None) -> None:
    """Trusts the file as it is now, or as the user was shown it (`content`). Raises BrokenFile if it cannot be kept."""
    found = content if content is not None else _read(project_file)
    before = trusted(environ)
    if before.problem:
        # Not ours to destroy: whatever it is, it stays beside the new one.
        path = trust_file(environ)
        with contextlib.suppress(OSError):
            path.replace(path.with_suffix(".broken"))
    _write(environ, {**before.projects, _key(project_file): _digest(found)})


def untrust(project_file: Path, *, environ: Mapping[str, str]) -> bool:
    """Takes the trust back; False if there was none. The file itself need not exist any more."""
    path = _key(project_file)
    projects = trusted(environ).projects
    if path not in projects:
        return False
    _write(environ, {name: digest for name, digest in projects.items() if name != path})
    return True


def _key(project_file: Path) -> Path:
    return Path(os.path.realpath(project_file))


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise BrokenFile("cannot read the settings", str(path), f"{error.strerror}.") from error


def _write(environ: Mapping[str, str], projects: Mapping[Path, str]) -> None:
    """Whole or not at all; mkstemp gives the file to the user alone (0600)."""
    path = trust_file(environ)
    text = json.dumps({"projects": {str(name): projects[name] for name in sorted(projects)}}, indent=1)
    import tempfile  # late: it costs every start 4 ms, and trust is given once

    temporary = ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".trust-", suffix=".tmp")
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.write(text + "\n")
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except OSError as error:
        if temporary:
            Path(temporary).unlink(missing_ok=True)
        hint = f"{error.strerror}; make the folder writable, or set {DATA_DIR} to another."
        raise BrokenFile("cannot keep what you trust", str(path), hint) from error
