"""`harness tokens`: how much of an agent's window files take."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any, NamedTuple

import click

from harness.cli.place import place_of, settings_of, show
from harness.errors import WrongCall
from harness.options import Settings
from harness.sizes import (
    STDIN,
    Sizes,
    as_data,
    case_sizes,
    columns_of,
    count_parts,
    render_parts,
    render_sizes,
    sizes_of,
)
from harness.specs import ENCODINGS


@click.command("tokens")
@click.argument("files", nargs=-1, metavar="[FILE|DIR|-]...")
@click.option("--encoding", "encodings", multiple=True, type=click.Choice(ENCODINGS), help="Count by it.")
@click.option("--agent", "agents", multiple=True, metavar="NAME", help="Count as for this agent.")
@click.option("--window", type=click.IntRange(min=1), metavar="N", help="Tokens that fit into one call.")
@click.option("--parts", is_flag=True, help="Each part that a file would be read in.")
@click.option("--json", "as_json", is_flag=True, help="For programs.")
@click.pass_context
def tokens_command(context: click.Context, /, parts: bool, as_json: bool, **options: Any) -> None:
    """How many tokens files have, and their share of a window. Without FILE: those of the case."""
    found = counted(context, **options)
    show(as_data(found.sizes), render_sizes(found.sizes), as_json=as_json)
    if parts and not as_json:
        show_parts(found)


class Found(NamedTuple):
    """`folder`: what the names of the files are below."""

    sizes: Sizes
    settings: Settings
    folder: Path


def counted(
    context: click.Context,
    files: tuple[str, ...],
    encodings: tuple[str, ...],
    agents: tuple[str, ...],
    window: int | None,
) -> Found:
    """Agents named by --agent may be shorthands, such as openai:gpt-5, as where a role is given."""
    flags = {"planner": ",".join(agents)} if agents else {}
    if files:
        settings = settings_of(context, flags, looking=True).settings
        columns = columns_of(settings, os.environ, encodings=encodings, agents=agents, window=window)
        return Found(sizes_of(files, columns, sys.stdin.buffer, count_parts(settings)), settings, Path())
    place = place_of(context, flags, looking=True)
    settings = place.resolved.settings
    columns = columns_of(settings, os.environ, encodings=encodings, agents=agents, window=window)
    raws = place.snapshot.case.raws if place.snapshot else ()
    return Found(case_sizes(place.store.folder, raws, columns, count_parts(settings)), settings, place.store.folder)


def show_parts(found: Found) -> None:
    """Of each file that a window does not hold at once. Raises WrongCall where no window is named."""
    windows = [column for column in found.sizes.columns if column.window]
    if not windows:
        raise WrongCall("no window to cut for", "--parts", "name one: --window 131072, or --agent NAME")
    for size in found.sizes.files:
        if size.name != STDIN:
            for column in windows:
                click.echo(f"\n{render_parts(found.folder / size.name, column, found.settings)}")
