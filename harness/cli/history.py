"""Commands that look back: what each round brought, what is different, where a fact came from."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

import click

from harness.blaming import blame
from harness.blaming import render as render_blame
from harness.cli.place import case_of, say, show, write_out
from harness.comparing import compare, github, render, stat
from harness.driver import marked
from harness.history import history_of
from harness.journal import journal, render_journal
from harness.options import Settings
from harness.textconv import facts_of
from harness.unpacking import unpack
from harness.verifying import render as render_verified
from harness.verifying import verify


@click.command("log")
@click.option("--json", "as_json", is_flag=True, help="For programs.")
@click.pass_context
def log_command(context: click.Context, as_json: bool) -> None:
    """What each round brought, a line each."""
    history = history_of(case_of(context))
    entries = journal(history)
    for note in history.notes:
        say(note)
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 0
    show(entries, render_journal(entries, width), as_json=as_json)


@click.command("diff")
@click.argument("versions", nargs=-1, metavar="[A [B]]")
@click.option("--stat", "as_stat", is_flag=True, help="Counts in one line.")
@click.option("--format", "form", type=click.Choice(["text", "github"]), default="text", help="github: for a comment.")
@click.option("--json", "as_json", is_flag=True, help="For programs.")
@click.pass_context
def diff_command(context: click.Context, versions: tuple[str, ...], as_stat: bool, form: str, as_json: bool) -> None:
    """What two versions of the summary say differently.

    A and B: a round, a commit, a case's folder or a file. One: from there to now; none: what the last round brought.
    """
    if len(versions) > 2:
        raise click.UsageError("Two versions at the most.", context)
    told = compare(case_of(context), versions)
    colours = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    text = stat(told) if as_stat else github(told) if form == "github" else render(told, colours=colours)
    show(told, text, as_json=as_json)


@click.command("blame")
@click.argument("text", nargs=-1, required=True)
@click.option("--json", "as_json", is_flag=True, help="For programs.")
@click.pass_context
def blame_command(context: click.Context, text: tuple[str, ...], as_json: bool) -> None:
    """Where a number or a fact came from: round, query, source and line, who wrote it, what became of it."""
    told = blame(case_of(context), " ".join(text))
    for note in told.notes:
        say(note)
    show(told, render_blame(told), as_json=as_json)


@click.command("verify")
@click.argument("case", required=False, type=click.Path(path_type=Path))
@click.option("--head", default="", help="The head that was printed earlier and kept elsewhere.")
@click.option("--json", "as_json", is_flag=True, help="For programs.")
@click.pass_context
def verify_command(context: click.Context, case: Path | None, head: str, as_json: bool) -> int:
    """Whether a case (a folder or a ZIP of one) is as its passes left it; which file, round and facts are not."""
    with tempfile.TemporaryDirectory(prefix="harness-verify-") as unpacked:
        folder = case or case_of(context)
        if folder.is_file():
            unpack(folder, Path(unpacked))
            folder = Path(unpacked)
        told = verify(folder, Settings(), head)
    show(told, render_verified(told), as_json=as_json)
    return 1 if told.findings else 0


@click.command("git-textconv", hidden=True)
@click.argument("file", type=click.Path(path_type=Path))
def git_textconv_command(file: Path) -> None:
    """The facts of a summary.md, for git diff."""
    click.echo(facts_of(file))


@click.command("git-merge", hidden=True)
@click.argument("base", type=click.Path(path_type=Path))
@click.argument("ours", type=click.Path(path_type=Path))
@click.argument("theirs", type=click.Path(path_type=Path))
@click.argument("name")
def git_merge_command(base: Path, ours: Path, theirs: Path, name: str) -> int:
    """Mark both sides of a summary.md, for git merge. OURS is written."""
    conflict = marked(base, ours, theirs, name)
    write_out(ours, conflict.text, "the merge")
    click.echo(conflict.told, err=True)
    return 1
