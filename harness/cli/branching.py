"""Commands for research that goes two ways: a new case from an earlier round, and two cases made one."""

from __future__ import annotations

import os
from pathlib import Path

import click

from harness.cli.place import called, case_of, say, show
from harness.cli.sessions import surroundings_of, tell
from harness.config import resolve
from harness.crew import make_crew
from harness.forking import fork
from harness.forking import render as render_forked
from harness.joining import render
from harness.options import Settings
from harness.session import Session
from harness.settling import merge
from harness.store import Store


@click.command("fork")
@click.argument("number", type=int, metavar="ROUND")
@click.option(
    "-C", "--to", "target", type=click.Path(path_type=Path), required=True, metavar="DIR", help="The new case's folder."
)
@click.pass_context
def fork_command(context: click.Context, number: int, target: Path) -> None:
    """Make a new case in DIR that goes on from ROUND of this one."""
    click.echo(render_forked(fork(case_of(context), number, target)))
    say(f"{called(target)} run goes on from there")


def _session(folder: Path) -> Session:
    """Nobody takes a role in a merge, and files that are in conflict are not read for their settings."""
    resolved = resolve(case=folder, project=None, question=None, environ=os.environ, flags={}, ignore_untrusted=True)
    return Session(Store(folder), make_crew(Settings(), surroundings_of()), resolved.settings, tell=tell)


@click.command("merge")
@click.argument("sides", nargs=-1, metavar="[DIR|REV]…")
@click.option("--dry-run", "dry", is_flag=True, help="Show what would come in; write nothing.")
@click.option("--force", is_flag=True, help="Keep our question where the other asks another one.")
@click.option("--json", "as_json", is_flag=True, help="For programs.")
@click.pass_context
def merge_command(context: click.Context, sides: tuple[str, ...], dry: bool, force: bool, as_json: bool) -> None:
    """Take in what another case, or another branch of this one, has found.

    Without a name: the branch that git is merging in, whose conflict is settled.
    """
    done = merge(_session(case_of(context)), sides, force=force, dry=dry)
    show(done, "\n".join(render(one, dry=dry) for one in done), as_json=as_json)
    for note in (note for one in done for note in one.notes):
        say(f"note: {note}")
