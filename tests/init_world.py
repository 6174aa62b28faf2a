"""A project to wire: its tree with modes, links and empty folders, and a stand-in for the program `claude`."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

from harness.scaffold.wiring import Line, Wanted, unwire, wire

# It keeps what it was told in one file, as the real one does in its own; FAILS makes it refuse.
CLAUDE = """#!{python}
import json, os, pathlib, sys
state = pathlib.Path(os.environ["HOME"], "plugins.json")
told = json.loads(state.read_text()) if state.exists() else {{"markets": {{}}, "plugins": {{}}, "calls": []}}
words = sys.argv[2:]
told["calls"].append(" ".join(words[:2]))
if pathlib.Path(os.environ["HOME"], "FAILS").exists():
    sys.exit("the server is out of order")
match words:
    case ["list", "--json"]:
        print(json.dumps([{{"id": name, "version": at, "scope": "user"}} for name, at in told["plugins"].items()]))
    case ["marketplace", "list", "--json"]:
        print(json.dumps([{{"name": name, "path": at}} for name, at in told["markets"].items()]))
    case ["marketplace", "add", folder]:
        market = json.loads(pathlib.Path(folder, ".claude-plugin/marketplace.json").read_text())
        told["markets"][market["name"]] = folder
    case ["marketplace", "update", name]:
        told["markets"][name]
    case ["install", plugin, "--scope", "user"] | ["update", plugin]:
        name, market = plugin.split("@")
        manifest = pathlib.Path(told["markets"][market], name, ".claude-plugin/plugin.json")
        told["plugins"][plugin] = json.loads(manifest.read_text())["version"]
    case ["uninstall", plugin, "--scope", "user"]:
        del told["plugins"][plugin]
    case ["marketplace", "remove", name]:
        del told["markets"][name]
    case _:
        sys.exit(f"unknown: {{words}}")
state.write_text(json.dumps(told))
"""
EVERY = ("claude", "codex", "opencode", "gemini", "aider", "copilot", "goose", "qwen")


class World:
    """A project folder with a data folder and a HOME of its own beside it."""

    def __init__(self, root: Path, *, claude: bool = False) -> None:
        self.project = root / "project"
        self.home = root / "home"
        programs = root / "bin"
        for folder in (self.project, self.home, programs):
            folder.mkdir(parents=True, exist_ok=True)
        self.data = root / "da ta"
        self.environ = {"HARNESS_DATA_DIR": str(self.data), "HOME": str(self.home), "PATH": str(programs)}
        if claude:
            program = programs / "claude"
            program.write_text(CLAUDE.format(python=sys.executable), encoding="utf-8")
            program.chmod(0o755)

    def init(self, *agents: str, in_project: bool = False, dry_run: bool = False) -> tuple[Line, ...]:
        return wire(self.project, Wanted(agents, (), in_project), environ=self.environ, dry_run=dry_run)

    def remove(self, *, dry_run: bool = False) -> tuple[Line, ...]:
        return unwire(self.project, environ=self.environ, dry_run=dry_run)

    def tree(self) -> dict[str, tuple[str, object]]:
        return whole_tree(self.project)


def whole_tree(root: Path) -> dict[str, tuple[str, object]]:
    """Everything below the root: kind and permission bits, and what is in a file or where a link leads."""
    found: dict[str, tuple[str, object]] = {}
    for path in sorted(root.rglob("*")):
        mode = path.lstat().st_mode
        inside: object = None
        if stat.S_ISLNK(mode):
            inside = str(path.readlink())
        elif stat.S_ISREG(mode):
            inside = path.read_bytes()
        found[path.relative_to(root).as_posix()] = (stat.filemode(mode), inside)
    return found


def words(lines: tuple[Line, ...]) -> dict[str, str]:
    return {line.what: line.word for line in lines if line.word != "note"}
