"""Folders as dicts: path → text, for scenarios that are two dicts side by side."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def write_tree(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write each file (text as UTF-8 with the line ends it has) and return the root."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


def read_tree(root: Path) -> dict[str, str]:
    """Every regular file below the root, by its path with `/`."""
    files = sorted(path for path in root.rglob("*") if path.is_file() and not path.is_symlink())
    return {path.relative_to(root).as_posix(): path.read_bytes().decode(errors="surrogateescape") for path in files}
