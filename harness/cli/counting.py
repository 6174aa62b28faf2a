"""`harness tokens`: how much of an agent's window files take."""

from __future__ import annotations

import os
import sys

import click

from harness.cli.place import place_of, settings_of, show
from harness.sizes import Sizes, as_data, case_sizes, columns_of, count_parts, render_sizes, sizes_of
from harness.specs import ENCODINGS


@click.command("tokens")
@click.argument("files", nargs=-1, metavar="[FILE|DIR|-]...")
@click.option("--encoding", "encodings", multiple=True, type=click.Choice(ENCODINGS), help="Count by it.")
@click.option("--agent", "agents", multiple=True, metavar="NAME", help="Count as for this agent.")
@click.option("--window", type=click.IntRange(min=1), metavar="N", help="Tokens that fit into one call.")
@click.option("--json", "as_json", is_flag=True, help="For programs.")
@click.pass_context
def tokens_command(
    context: click.Context,
    files: tuple[str, ...],
    encodings: tuple[str, ...],
    agents: tuple[str, ...],
    window: int | None,
    as_json: bool,
) -> None:
    """How many tokens files have, and their share of a window. Without FILE: those of the case."""
    sizes = counted(context, files, encodings, agents, window)
    show(as_data(sizes), render_sizes(sizes), as_json=as_json)


def counted(
    context: click.Context,
    files: tuple[str, ...],
    encodings: tuple[str, ...],
    agents: tuple[str, ...],
    window: int | None,
) -> Sizes:
    """Agents named by --agent may be shorthands, such as openai:gpt-5, as where a role is given."""
    flags = {"planner": ",".join(agents)} if agents else {}
    if files:
        settings = settings_of(context, flags, looking=True).settings
        columns = columns_of(settings, os.environ, encodings=encodings, agents=agents, window=window)
        return sizes_of(files, columns, sys.stdin.buffer, count_parts(settings))
    place = place_of(context, flags, looking=True)
    settings = place.resolved.settings
    columns = columns_of(settings, os.environ, encodings=encodings, agents=agents, window=window)
    raws = place.snapshot.case.raws if place.snapshot else ()
    return case_sizes(place.store.folder, raws, columns, count_parts(settings))
