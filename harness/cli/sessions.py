"""Opens a session: the crew that the settings name, on the case that is meant."""

from __future__ import annotations

import os
from collections.abc import Mapping

import click

from harness.cli.place import on_terminal, place_of, say
from harness.crew import Surroundings, make_crew
from harness.session import Event, Session
from harness.status import told


def session_of(
    context: click.Context, flags: Mapping[str, object], *, unattended: bool = False, edit: bool = False
) -> Session:
    """A session whose events are told as plain lines; warnings of settings and files are told first."""
    place = place_of(context, flags)
    for note in (*place.resolved.warnings, *map(told, place.problems)):
        say(f"note: {note}")
    settings = place.resolved.settings
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or ""
    around = Surroundings(
        place.store, os.environ, say, attended=on_terminal() and not unattended, editor=editor if edit else ""
    )
    return Session(place.store, make_crew(settings, around), settings, tell=tell, unattended=unattended)


def tell(event: Event) -> None:
    """Only what a person should know while a single pass runs."""
    if event.kind in ("notice", "failed", "defect"):
        say(f"  {event.text}")
