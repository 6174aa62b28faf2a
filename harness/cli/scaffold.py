"""`harness init`: which agents to wire, asked on a terminal, and one line per file."""

from __future__ import annotations

import os
from pathlib import Path

import click

from harness.cli.place import on_terminal, say
from harness.errors import HarnessError, WrongCall
from harness.locate import project_root
from harness.scaffold.pieces import named_agents
from harness.scaffold.wiring import Line, Wanted, found_agents, unwire, wire, wired_before


@click.command("init")
@click.option("--agent", "agents", multiple=True, metavar="NAME", help="Wire this agent; may be given several times.")
@click.option("--all", "every", is_flag=True, help="Wire every agent found on this machine.")
@click.option("--search-tool", "tools", multiple=True, metavar="TOOL", help="An MCP search tool for Claude Code.")
@click.option("--project", "in_project", is_flag=True, help="Claude Code: files in the project instead of the plugin.")
@click.option("--git", "with_git", is_flag=True, help="Let git diff and git log -p show facts, in this clone.")
@click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
@click.option("--remove", is_flag=True, help="Take out of the project what init laid down.")
@click.option("--yes", is_flag=True, help="Do not ask: every agent found.")
@click.pass_context
def init_command(
    context: click.Context,
    /,
    agents: tuple[str, ...],
    every: bool,
    tools: tuple[str, ...],
    in_project: bool,
    with_git: bool,
    dry_run: bool,
    remove: bool,
    yes: bool,
) -> int:
    """Wire coding agents to the harness: instructions, skills, and Claude Code's plugin."""
    project = _project(context)
    say(f"{'nothing is changed in' if dry_run else 'in'} {project}")
    if remove:
        lines = _removed(project, named=bool(agents or every or tools), dry_run=dry_run, yes=yes)
    else:
        only_git = with_git and not (agents or every or yes)
        named = (*agents, *(_found(project, every=every or yes) if every or not (agents or only_git) else ()))
        wanted = Wanted(tuple(dict.fromkeys(named)), tools, in_project, with_git)
        lines = wire(project, wanted, environ=os.environ, dry_run=dry_run)
    click.echo("\n".join(map(_told, lines)) or "nothing of ours is here")
    return HarnessError.exit_code if any(line.word == "refused" for line in lines) else 0


def _project(context: click.Context) -> Path:
    """The git root around the folder, or where there is none, the folder itself."""
    given = context.find_root().obj
    here = Path(os.path.normpath((given or Path.cwd()).absolute()))
    if not here.is_dir():
        raise WrongCall("no such folder", str(here), "name one that is there: harness -C DIR init")
    return project_root(here) or here


def _found(project: Path, *, every: bool) -> tuple[str, ...]:
    """The agents to wire where none was named: all that are found, those a person picks, or those wired before."""
    found = {one.name: one for one in found_agents(os.environ)}
    if not every and not on_terminal():
        if wired := wired_before(project, os.environ):
            return wired
        raise WrongCall("which agents?", ", ".join(found), "name them: --agent NAME, or --all for every one found")
    if not found:
        raise HarnessError("no coding agent was found on this machine", "", "name one: harness init --agent NAME")
    if every:
        return tuple(found)
    say("\n".join(f"{one.name:<10} {one.title} (reads {one.reads})" for one in found.values()))
    return _picked(tuple(found))


def _picked(found: tuple[str, ...]) -> tuple[str, ...]:
    """Asked again until every word is a name of the table."""
    while True:
        asked = "Which to wire, separated by spaces (Enter: all, none: none)"
        told = click.prompt(asked, default="", show_default=False, err=True).replace(",", " ").casefold().split()
        if told == ["none"]:
            raise click.Abort
        try:
            return tuple(one.name for one in named_agents(told)) or found
        except WrongCall as error:
            say(str(error))


def _removed(project: Path, *, named: bool, dry_run: bool, yes: bool) -> tuple[Line, ...]:
    if named:
        raise WrongCall("--remove takes everything out", "", "harness init --remove")
    if on_terminal() and not yes and not dry_run:
        click.confirm(f"Take out what init laid down in {project}?", abort=True, err=True)
    return unwire(project, environ=os.environ, dry_run=dry_run)


def _told(line: Line) -> str:
    return f"{line.word:<12} {line.what}" + (f": {line.note}" if line.note else "")
