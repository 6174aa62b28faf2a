"""Tools: a search alone, who could take a role, what is trusted, which settings count."""

from __future__ import annotations

import click

from harness.cli.place import on_terminal, project_file_of, say, searching, settings_of, show
from harness.cli.sessions import session_of, surroundings_of
from harness.crew import readiness
from harness.errors import HarnessError, SearchUnavailable
from harness.finding import find, render_found
from harness.trusting import give_trust, render_settings, settings_told, take_back
from harness.trying import told_trial, try_agent

READY = {"program": "found; --test tries it"}  # whether it is logged in, only a pass can tell


@click.command("find")
@click.argument("query", nargs=-1, required=True)
@click.option("--in", "folder", metavar="DIR", help="Search the documents of this folder.")
@click.option("--json", "as_json", is_flag=True, help="For programs.")
@click.pass_context
def find_command(context: click.Context, query: tuple[str, ...], folder: str | None, as_json: bool) -> int:
    """A search alone: prints what the ladder finds and writes nothing."""
    session = session_of(context, searching(folder))
    searched = find(session, " ".join(query))
    for note in searched.notes:
        say(f"note: {note}")
    show(searched, render_found(searched), as_json=as_json)
    return SearchUnavailable.exit_code if searched.record.outcome == "blocked" else 0


@click.command("agents")
@click.option("--test", "name", metavar="NAME", help="Have it do a small pass; says what is missing if it cannot.")
@click.option("--json", "as_json", is_flag=True, help="For programs.")
@click.pass_context
def agents_command(context: click.Context, name: str | None, as_json: bool) -> None:
    """Who can take a role here, and what is missing for the others. Starts nothing unless --test names one."""
    if name is not None:
        settings = settings_of(context, {"planner": name}, looking=False).settings
        tried = try_agent(name, settings, surroundings_of())
        show(tried, told_trial(tried), as_json=as_json)
        return
    listed = readiness(settings_of(context, {}, looking=True).settings)
    lines = (f"{one.name:<14} {one.kind:<22} {one.missing or READY.get(one.kind, 'ready')}" for one in listed)
    show(listed, "\n".join(lines), as_json=as_json)


@click.command("trust")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--remove", is_flag=True, help="Take the trust back.")
@click.pass_context
def trust_command(context: click.Context, yes: bool, remove: bool) -> None:
    """Let this project's harness.yaml start programs and name hosts. A change asks again."""
    file = project_file_of(context)
    told = take_back(file) if remove else give_trust(file, agreed=lambda text: yes or _confirmed(text))
    click.echo(told)


@click.command("config")
@click.option("--json", "as_json", is_flag=True, help="For programs.")
@click.pass_context
def config_command(context: click.Context, as_json: bool) -> None:
    """Every setting that counts here, and where it came from."""
    resolved = settings_of(context, {}, looking=True)
    told = settings_told(resolved)
    show(told, render_settings(told, resolved.warnings), as_json=as_json)


def _confirmed(text: str) -> bool:
    if not on_terminal():
        first = text.partition(":\n")[0]
        raise HarnessError("trust needs a person to look", first, "read the file, then: harness trust --yes")
    return click.confirm(f"{text}\nTrust it?", err=True)
