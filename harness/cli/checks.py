"""`harness check`: the guards' rules over the files as they are."""

from __future__ import annotations

from pathlib import Path

import click

from harness.check import Finding
from harness.checking import check_case, github, is_wrong, told
from harness.cli.place import call_of, case_of, pasteable, place_of, show
from harness.errors import BrokenFile
from harness.options import Settings
from harness.store import Store


@click.command("check")
@click.option("--json", "as_json", is_flag=True, help="For programs.")
@click.option("--format", "form", type=click.Choice(["text", "github"]), default="text", help="How it is printed.")
@click.pass_context
def check_command(context: click.Context, as_json: bool, form: str) -> int:
    """What is wrong in the files: facts, citations, numbers, contradictions, the answer. Exit code 1 if anything is."""
    found, folder = checked(context)
    shown = github(found, str(folder)) if form == "github" else told(found)
    show(found, pasteable(shown, call_of(context)), as_json=as_json)
    return int(is_wrong(found))


def checked(context: click.Context) -> tuple[tuple[Finding, ...], Path]:
    """The findings, and the folder they are about. A file that cannot be read is one of them."""
    try:
        place = place_of(context, {}, looking=True)
    except BrokenFile:
        store = Store(case_of(context))
        return check_case(store, Settings()), store.folder
    return check_case(place.store, place.resolved.settings, place.snapshot), place.store.folder
