"""`harness check`: the guards' rules over the files as they are."""

from __future__ import annotations

import click

from harness.checking import check_case, github, is_wrong, told
from harness.cli.place import call_of, pasteable, place_of, show


@click.command("check")
@click.option("--json", "as_json", is_flag=True, help="For programs.")
@click.option("--format", "form", type=click.Choice(["text", "github"]), default="text", help="How it is printed.")
@click.pass_context
def check_command(context: click.Context, as_json: bool, form: str) -> int:
    """What is wrong in the files: facts, citations, numbers, contradictions, the answer. Exit code 1 if anything is."""
    place = place_of(context, {}, looking=True)
    found = check_case(place.store, place.resolved.settings, place.snapshot)
    shown = github(found, str(place.store.folder)) if form == "github" else told(found)
    show(found, pasteable(shown, call_of(context)), as_json=as_json)
    return int(is_wrong(found))
