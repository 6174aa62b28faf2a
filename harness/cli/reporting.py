"""The command that tells a case to others: one page, Markdown or JSON."""

from __future__ import annotations

import webbrowser
from pathlib import Path

import click

from harness.cli.place import place_of, plain, say
from harness.reporting.gathering import gather
from harness.reporting.writing import FORMATS, render, write_report


@click.command("report")
@click.option("-o", "out", type=click.Path(path_type=Path), metavar="FILE", help="Where to; for html report.html here.")
@click.option("--format", "form", type=click.Choice(FORMATS), default="html", help="html: one file, nothing else.")
@click.option("--open", "opened", is_flag=True, help="Show it in the browser.")
@click.option("--force", is_flag=True, help="Replace a file that is no report.")
@click.pass_context
def report_command(context: click.Context, out: Path | None, form: str, opened: bool, force: bool) -> None:
    """The answer, its sources and how it came to be, to pass on."""
    place = place_of(context, {}, looking=True)
    text = render(gather(place.store, place.resolved.settings.language), form, plain)
    if out is None and form != "html":
        click.echo(text, nl=False)
        return
    path = out or Path("report.html")
    write_report(path, text, force=force)
    say(f"written: {path}")
    if opened:
        webbrowser.open(path.absolute().as_uri())
