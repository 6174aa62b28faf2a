"""Commands that only look: they start no program and write nothing but helpers."""

from __future__ import annotations

import click

from harness.cli.place import call_of, pasteable, place_of, show
from harness.status import look, render


@click.command("status")
@click.option("--json", "as_json", is_flag=True, help="For programs.")
@click.pass_context
def status_command(context: click.Context, as_json: bool) -> None:
    """Where the case stands and whose turn it is."""
    place = place_of(context, {}, looking=True)
    status = look(place.store, place.resolved.settings, place.resolved.warnings, place.snapshot)
    show(status, pasteable(render(status), call_of(context)), as_json=as_json)
