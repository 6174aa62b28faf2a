"""Wire agents to the harness in one project, and take all of it out again; one line per file."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from harness import git
from harness.errors import HarnessError
from harness.scaffold import attributes, plugin
from harness.scaffold.disk import apply, new_folders, remove_empty
from harness.scaffold.manifest import (
    Left,
    Manifest,
    data_folder,
    forget,
    others,
    read_manifest,
    write_manifest,
)
from harness.scaffold.pieces import Agent, Kind, Piece, known_agents, named_agents, pieces_of
from harness.scaffold.planning import Change, plan_removal, plan_wiring

_GIT = Piece(attributes.PATH, Kind.LINE, attributes.LINE)


class Wanted(NamedTuple):
    """Names of agents, further MCP search tools, and whether Claude Code's part is to be files of the project.

    `git`: plain git is told to show facts, and to mark both sides of a summary in a merge.
    """

    agents: tuple[str, ...]
    search_tools: tuple[str, ...] = ()
    in_project: bool = False
    git: bool = False


class Line(NamedTuple):
    """What happened to one file, or to the plugin: created, updated, unchanged, moved aside, refused …"""

    word: str
    what: str
    note: str = ""


class NotWired(HarnessError):
    """Something stands in the way; nothing was changed."""


def found_agents(environ: Mapping[str, str]) -> tuple[Agent, ...]:
    """The agents whose program is on PATH."""
    path = environ.get("PATH")
    return tuple(one for one in known_agents().values() if one.program and shutil.which(one.program, path=path))


def wire(project: Path, wanted: Wanted, *, environ: Mapping[str, str], dry_run: bool = False) -> tuple[Line, ...]:
    """Lay down what these agents need, beside what an earlier init laid down.

    Raises WrongCall for an unknown agent, NotWired where a file cannot be changed without harm (then nothing is).
    """
    data = data_folder(environ)
    if wanted.git and not git.is_repository(project):
        raise NotWired(
            "nothing was changed: this is no repository of git", str(project), "git init, or leave --git out"
        )
    before = read_manifest(data, project) or Manifest(project)
    manifest = _grown(before, project, wanted)
    agents = named_agents(manifest.agents)
    claude = plugin.PROGRAM in manifest.agents
    files = plugin.plugin_files(data, manifest.search_tools) if claude else {}
    by_plugin = claude and not manifest.in_project and _has_claude(environ)
    pieces = (*pieces_of(agents), *((_GIT,) if manifest.git else ()))
    changes = _checked(plan_wiring(project, _all(pieces, files, by_plugin), before))
    lines: tuple[Line, ...] = ()
    if dry_run:
        lines = _would(project, data, before, plugin.pending(data, files) if by_plugin else "")
        return (*lines, *_lines(changes), *_notes(agents))
    if claude:
        plugin.lay_hook(data)
    if by_plugin:
        lines, by_plugin = _installed(data, files, environ)
        if not by_plugin:
            changes = _checked(plan_wiring(project, _all(pieces, files, by_plugin), before))
    try:
        _lay(project, data, changes, manifest._replace(plugin=by_plugin))
        if manifest.git:
            attributes.set_commands(project)
    except HarnessError:
        if not before.plugin:
            _uninstalled(data, project, environ)
        raise
    if before.plugin and not by_plugin:
        lines = (*lines, *_uninstalled(data, project, environ))
    if claude:
        lines = (*lines, _how_to_begin(project, environ, by_plugin=by_plugin))
    return (*lines, *_lines(changes), *_notes(agents))


def unwire(project: Path, *, environ: Mapping[str, str], dry_run: bool = False) -> tuple[Line, ...]:
    """Take out what is ours: the project is then as it was before, to the byte. Raises NotWired as `wire` does."""
    data = data_folder(environ)
    manifest = read_manifest(data, project) or Manifest(project)
    every = (*pieces_of(known_agents().values()), _GIT, *plugin.project_pieces(plugin.plugin_files(data, ())))
    changes = _checked(plan_removal(project, every, manifest))
    if dry_run:
        return (*_lines(changes), *_would(project, data, manifest, ""))
    _apply(project, changes)
    attributes.unset_commands(project)
    gone = [one.path for one in changes if one.edit and one.edit.after is None and not one.edit.moves]
    # Without a memory: a folder that is empty once our file has left it was made for it; git keeps no empty ones.
    remove_empty(project, manifest.folders if manifest.files else _parents(gone))
    if left := _still_remembered(changes, manifest):
        write_manifest(data, Manifest(project, files=left))
    else:
        forget(data, project)
    needing = [str(one.project) for one in others(data, project) if one.plugin]
    kept = (Line("kept", _plugin_named(), f"for {', '.join(needing)}"),) if manifest.plugin and needing else ()
    return (*_lines(changes), *_uninstalled(data, project, environ), *kept)


def _grown(before: Manifest, project: Path, wanted: Wanted) -> Manifest:
    """What was wired earlier and what is wanted now; an agent that an older version knew is left out."""
    known = known_agents()
    earlier = (name for name in before.agents if name in known)
    return before._replace(
        project=project,
        agents=tuple(dict.fromkeys((*earlier, *wanted.agents))),
        search_tools=tuple(dict.fromkeys((*before.search_tools, *wanted.search_tools))),
        in_project=before.in_project or wanted.in_project,
        git=before.git or wanted.git,
    )


def _how_to_begin(project: Path, environ: Mapping[str, str], *, by_plugin: bool) -> Line:
    if by_plugin and (other := plugin.shadowing(project, environ)):
        return Line("note", "Claude Code", f"/research is {other}; ours is /research:research and your question")
    where = "in any folder" if by_plugin else "started in this folder"
    return Line("note", "Claude Code", f"{where}: type /research and your question")


def wired_before(project: Path, environ: Mapping[str, str]) -> tuple[str, ...]:
    """The agents that an earlier init wired in this project: an update renews what it laid down."""
    before = read_manifest(data_folder(environ), project)
    return before.agents if before else ()


def _all(base: tuple[Piece, ...], files: Mapping[str, str], by_plugin: bool) -> tuple[Piece, ...]:
    return base if by_plugin or not files else base + plugin.project_pieces(files)


def _has_claude(environ: Mapping[str, str]) -> bool:
    return shutil.which(plugin.PROGRAM, path=environ.get("PATH")) is not None


def _checked(changes: tuple[Change, ...]) -> tuple[Change, ...]:
    hard = [one for one in changes if one.hard]
    if hard:
        told = "; ".join(f"{one.path}: {one.note}" for one in hard)
        raise NotWired("nothing was changed", told, "put that right, or name the other agents only: --agent NAME")
    return changes


def _lay(project: Path, data: Path, changes: tuple[Change, ...], manifest: Manifest) -> None:
    """The memory first: if we are stopped in the middle, --remove knows what stood there."""
    before = read_manifest(data, project)
    files = _still_remembered(changes, manifest)
    files |= {one.path: one.left for one in changes if one.left}
    made = new_folders(project, [one.path for one in changes if one.edit and one.edit.after is not None])
    memory = manifest._replace(files=files, folders=tuple(dict.fromkeys((*manifest.folders, *made))))
    write_manifest(data, memory)
    try:
        _apply(project, changes)
    except HarnessError:
        remove_empty(project, made)
        if before:
            write_manifest(data, before)
        else:
            forget(data, project)
        raise
    remove_empty(project, manifest.folders)
    write_manifest(data, memory._replace(folders=tuple(one for one in memory.folders if (project / one).is_dir())))


def _still_remembered(changes: Iterable[Change], manifest: Manifest) -> dict[str, Left]:
    """Of files that were refused, what was known of them."""
    refused = {one.path for one in changes if one.word == "refused"}
    return {path: left for path, left in manifest.files.items() if path in refused}


def _apply(project: Path, changes: Iterable[Change]) -> None:
    try:
        apply(project, [one.edit for one in changes if one.edit])
    except OSError as error:
        raise NotWired(
            "nothing was changed", f"{error.filename}: {error.strerror}", "put that right and run it again"
        ) from error


def _installed(data: Path, files: Mapping[str, str], environ: Mapping[str, str]) -> tuple[tuple[Line, ...], bool]:
    try:
        return (Line(plugin.install(data, files, environ), _plugin_named()),), True
    except plugin.PluginRefused as error:
        return (
            Line("left out", _plugin_named(), f"{error.what} ({error.value}); its files go into the project"),
        ), False


def _would(project: Path, data: Path, before: Manifest, word: str) -> tuple[Line, ...]:
    """What would become of the plugin; `word` "": this project needs it no more."""
    if word:
        return (Line(word, _plugin_named()),)
    last = before.plugin and not any(one.plugin for one in others(data, project))
    return (Line("uninstalled", _plugin_named()),) if last else ()


def _uninstalled(data: Path, project: Path, environ: Mapping[str, str]) -> tuple[Line, ...]:
    """The plugin and the hook script are the user's: they go with the last project that needs them."""
    rest = [one for one in others(data, project) if plugin.PROGRAM in one.agents]
    mine = read_manifest(data, project)
    lines: tuple[Line, ...] = ()
    if not any(one.plugin for one in rest):
        try:
            lines = (Line("uninstalled", _plugin_named()),) if plugin.uninstall(data, environ) else ()
        except plugin.PluginRefused as error:
            return (Line("refused", _plugin_named(), f"{error.what} ({error.value})"),)
    if not rest and not (mine and plugin.PROGRAM in mine.agents):
        plugin.remove_hook(data)
    return lines


def _lines(changes: Iterable[Change]) -> tuple[Line, ...]:
    return tuple(Line(one.word, one.path, one.note) for one in changes)


def _notes(agents: Iterable[Agent]) -> tuple[Line, ...]:
    return tuple(Line("note", one.title, one.note) for one in agents if one.note)


def _parents(paths: Iterable[str]) -> list[str]:
    return [parent.as_posix() for path in paths for parent in Path(path).parents if parent != Path()]


def _plugin_named() -> str:
    return f"plugin {plugin.PLUGIN}"
