"""`harness doctor`: what is missing or odd on this machine and in this project."""

from __future__ import annotations

import os
from pathlib import Path

import click

from harness.cli.place import call_of, pasteable, show
from harness.doctor.examine import examine, is_broken, render_findings
from harness.doctor.finding import Around


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="For programs.")
@click.pass_context
def doctor_command(context: click.Context, as_json: bool) -> int:
    """Look at Python, git, agents, keys, hooks and the project. Starts no role. Exit code 1 if anything fails."""
    found = examine(Around(Path.cwd(), context.find_root().obj, os.environ))
    show(found, pasteable(render_findings(found), call_of(context)), as_json=as_json)
    return int(is_broken(found))
