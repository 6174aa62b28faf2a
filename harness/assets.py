"""The files that ship with the package: role prompts, agent presets, the demo's documents."""

from __future__ import annotations

from pathlib import Path

from harness.errors import HarnessError

_PACKAGE = Path(__file__).parent
# In the wheel the templates are inside the package; in a clone they stand beside it.
_PLACES = (_PACKAGE / "templates", _PACKAGE.parent / "templates")


class UnknownAsset(HarnessError):
    """A name that `templates/` does not hold."""


def asset_path(name: str) -> Path:
    """The file or folder `templates/<name>` (`/` between folders). Raises UnknownAsset, listing what is there."""
    parts = name.split("/")
    if not any(part in ("", ".", "..") or "\\" in part or ":" in part for part in parts):
        path = _root().joinpath(*parts)
        if path.exists():
            return path
    raise UnknownAsset("no such template", name, f"There are: {', '.join(_names(_nearest_folder(parts)))}.")


def template(name: str) -> str:
    """The text of `templates/<name>`, line ends as "\\n". Raises UnknownAsset, also for a folder."""
    path = asset_path(name)
    if path.is_dir():
        raise UnknownAsset("a folder, not a template", name, f"It holds: {', '.join(_names(path))}.")
    return path.read_text(encoding="utf-8")


def _root() -> Path:
    for place in _PLACES:
        if place.is_dir():
            return place
    raise UnknownAsset("the templates are missing", str(_PLACES[0]), "Install the package again.")


def _nearest_folder(parts: list[str]) -> Path:
    """The deepest folder on the way to a name that is not there: its contents are the useful list."""
    folder = _root()
    for part in parts:
        if part in ("", ".", "..") or not (folder / part).is_dir():
            break
        folder /= part
    return folder


def _names(folder: Path) -> list[str]:
    return sorted(path.relative_to(_root()).as_posix() + "/" * path.is_dir() for path in folder.iterdir())
