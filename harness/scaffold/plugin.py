"""Claude Code's part: our plugin in a marketplace of its own in the user's data folder, or its files in the project."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from collections.abc import Mapping
from contextlib import nullcontext, suppress
from pathlib import Path
from string import Template
from typing import Any

from harness import __version__
from harness.assets import asset_path, template
from harness.errors import HarnessError, WrongCall
from harness.patterns import lazy
from harness.process import run
from harness.render import fill
from harness.scaffold.disk import write
from harness.scaffold.manifest import sha256
from harness.scaffold.pieces import Kind, Piece

PROGRAM = "claude"
NAME, MARKET = "research", "research-harness"
PLUGIN = f"{NAME}@{MARKET}"
_SAME_NAME = ("skills/research/SKILL.md", "commands/research.md")
_FOLDERS = ("agents", "skills")  # what a project can hold too; the hooks go into its settings
_SECONDS = 60.0  # a call takes one second; none of them needs the network
_SEARCH_TOOL = lazy(r"mcp__[A-Za-z0-9_-]+__[A-Za-z0-9_-]+")
_HOOK_SCRIPT = Path(__file__).parent.parent / "hook.py"


class PluginRefused(HarnessError):
    """Claude Code did not take the plugin; the project's own files do instead."""


def plugin_files(data: Path, search_tools: tuple[str, ...]) -> Mapping[str, str]:
    """Path inside the plugin → text. Raises WrongCall for a search tool that is no MCP tool."""
    for tool in search_tools:
        if not _SEARCH_TOOL.fullmatch(tool):
            raise WrongCall("a search tool is named mcp__SERVER__TOOL", tool, "see /mcp in Claude Code for the names")
    root = asset_path("claude")
    names = sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())
    texts = {name: template(f"claude/{name}") for name in names}
    version = f"{__version__}+{sha256(json.dumps([texts, search_tools, _hook().decode()]).encode())[:8]}"
    script, package = str(data / "claude" / "hook.py"), str(_HOOK_SCRIPT.parent.parent)
    values = {"python": sys.executable, "hook": script, "package": package, "version": version}
    return {name: _filled(name, text, values, search_tools) for name, text in texts.items()}


def project_pieces(files: Mapping[str, str]) -> tuple[Piece, ...]:
    """The plugin's agents, skill and hooks as files of a project."""
    wholes = [Piece(f".claude/{name}", Kind.WHOLE, text) for name, text in files.items() if name.startswith(_FOLDERS)]
    return (*wholes, Piece(".claude/settings.json", Kind.HOOKS, files["hooks/hooks.json"]))


def lay_hook(data: Path) -> None:
    """The script that all hooks run, in the data folder: the package may move or be taken away."""
    _keep(data / "claude" / "hook.py", _hook())


def pending(data: Path, files: Mapping[str, str]) -> str:
    """The word that `install` would give, without asking Claude Code."""
    folder = data / "claude" / "marketplace"
    wanted = {folder / path: text.encode() for path, text in _marketplace(files).items()}
    if not folder.is_dir():
        return "installed"
    there = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return "unchanged" if there == wanted else "updated"


def shadowing(project: Path, environ: Mapping[str, str]) -> str:
    """The skill or command of somebody else's that `/research` means while ours is a plugin's; "" if none."""
    user = Path(environ.get("CLAUDE_CONFIG_DIR") or Path(environ.get("HOME", "~")).expanduser() / ".claude")
    places = [folder / name for folder in (project / ".claude", user) for name in _SAME_NAME]
    return next((str(place) for place in places if place.is_file()), "")


def install(data: Path, files: Mapping[str, str], environ: Mapping[str, str]) -> str:
    """Lay the marketplace down and have Claude Code install the plugin for the user; what was done, in one word.

    The scope is the user's: what is installed for a project counts only where Claude Code starts in its very root.
    Claude Code reads a marketplace that is a folder in place, so new files count at its next start.
    Raises PluginRefused.
    """
    folder = data / "claude" / "marketplace"
    changed = _lay_marketplace(folder, files)
    version = json.loads(files[".claude-plugin/plugin.json"])["version"]
    there, known = _installed(data, environ), _known(data, environ) == str(folder)
    if there == version and known and not changed:
        return "unchanged"
    if known and there:
        _claude(data, environ, "marketplace", "update", MARKET)
    else:
        _claude(data, environ, "marketplace", "add", str(folder))  # also where it is known from another folder
    if there is None:
        _claude(data, environ, "install", PLUGIN, "--scope", "user")
        return "installed"
    _claude(data, environ, "update", PLUGIN)
    return "updated"


def uninstall(data: Path, environ: Mapping[str, str]) -> bool:
    """Take the plugin and its marketplace out again; False if it was not there. Raises PluginRefused."""
    folder = data / "claude" / "marketplace"
    if not folder.is_dir():
        return False
    there = _installed(data, environ) is not None
    if there:
        _claude(data, environ, "uninstall", PLUGIN, "--scope", "user")
    with nullcontext() if there else suppress(PluginRefused):  # its installation may have failed half way
        _claude(data, environ, "marketplace", "remove", MARKET)
    _clear(folder, keep=())
    return there


def remove_hook(data: Path) -> None:
    shutil.rmtree(data / "claude" / "sessions", ignore_errors=True)
    with suppress(OSError):  # it was never there, or something else is beside it
        (data / "claude" / "error.txt").unlink(missing_ok=True)
        (data / "claude" / "hook.py").unlink(missing_ok=True)
        (data / "claude").rmdir()


def _installed(data: Path, environ: Mapping[str, str]) -> str | None:
    """The version that Claude Code has for the user, None if it has none."""
    found = [one for one in _listed(data, environ, "list") if one.get("id") == PLUGIN and one.get("scope") == "user"]
    return str(found[0].get("version")) if found else None


def _known(data: Path, environ: Mapping[str, str]) -> str:
    """The folder that Claude Code takes our marketplace from, "" if it knows none."""
    found = [one for one in _listed(data, environ, "marketplace", "list") if one.get("name") == MARKET]
    return str(found[0].get("path")) if found else ""


def _listed(data: Path, environ: Mapping[str, str], *what: str) -> list[dict[str, Any]]:
    told = _claude(data, environ, *what, "--json")
    try:
        return [one for one in json.loads(told) if isinstance(one, dict)]
    except (ValueError, TypeError) as error:
        raise PluginRefused(f"claude plugin {' '.join(what)} --json was not understood", told[:200]) from error


def _claude(data: Path, environ: Mapping[str, str], *arguments: str) -> str:
    quiet = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1"}
    told = f"claude plugin {' '.join(arguments[:2])}"
    try:
        ended = run([PROGRAM, "plugin", *arguments], stdin=None, cwd=data, env={**environ, **quiet}, timeout=_SECONDS)
    except OSError as error:
        raise PluginRefused(f"{told} could not be started", str(error.strerror)) from error
    if ended.stopped or ended.code:
        why = ended.stopped or ended.stderr_tail or ended.stdout
        raise PluginRefused(f"{told} failed", " ".join(why.split())[-300:])
    return ended.stdout


def _lay_marketplace(folder: Path, files: Mapping[str, str]) -> bool:
    """Whether anything changed."""
    wanted = _marketplace(files)
    changed = [_keep(folder / path, text.encode()) for path, text in wanted.items()]
    return _clear(folder, keep=wanted) or any(changed)


def _marketplace(files: Mapping[str, str]) -> Mapping[str, str]:
    """The plugin's files in their folder, and the list that has only this plugin."""
    about = json.loads(files[".claude-plugin/plugin.json"])["description"]
    listed = {"name": NAME, "source": f"./{NAME}", "description": about}
    market = {"name": MARKET, "owner": {"name": MARKET}, "metadata": {"description": about}, "plugins": [listed]}
    inside = {f"{NAME}/{path}": text for path, text in files.items()}
    return {**inside, ".claude-plugin/marketplace.json": json.dumps(market, indent=2) + "\n"}


def _clear(folder: Path, keep: Mapping[str, str] | tuple[()]) -> bool:
    """Remove all files but those; folders that are empty then go too."""
    removed = False
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_dir() and not path.is_symlink():
            if not any(path.iterdir()):
                path.rmdir()
        elif path.relative_to(folder).as_posix() not in keep:
            path.unlink()
            removed = True
    if not keep and folder.is_dir():
        folder.rmdir()
    return removed


def _keep(path: Path, content: bytes) -> bool:
    if path.is_file() and path.read_bytes() == content:
        return False
    try:
        write(path, content)
    except OSError as error:
        raise PluginRefused("it cannot be written", f"{path}: {error.strerror}") from error
    return True


def _hook() -> bytes:
    return _HOOK_SCRIPT.read_bytes()


def _filled(name: str, text: str, values: Mapping[str, str], search_tools: tuple[str, ...]) -> str:
    """In JSON paths are quoted for the shell, then for JSON: hooks.json holds them without quotes of its own."""
    as_json = name.endswith(".json")
    tools = "".join(f"{'|' if as_json else ', '}{tool}" for tool in search_tools)
    every = {name: json.dumps(shlex.quote(value))[1:-1] if as_json else value for name, value in values.items()}
    wanted = Template(text).get_identifiers()
    known = {**every, "search_tools": tools}
    return fill(text, {name: known[name] for name in wanted if name in known}, f"claude/{name}")
