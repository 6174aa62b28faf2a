"""Opens a session: the crew that the settings name, on the case that is meant."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import click

from harness.cli.place import on_terminal, place_of, say, searching
from harness.crew import Surroundings, make_crew
from harness.session import Event, Session
from harness.spending import spent
from harness.status import told
from harness.store import Store

FOLDER = "folder"  # the helper that holds what --in named last


def session_of(
    context: click.Context, flags: Mapping[str, object], *, unattended: bool = False, edit: bool = False
) -> Session:
    """A session whose events are told as plain lines; warnings of settings and files are told first."""
    place = place_of(context, flags)
    remembered = place.store.get_helper(FOLDER)
    if place.resolved.origins["search"] == "default" and Path(remembered or "-").is_dir():
        place = place_of(context, {**flags, **searching(remembered)})
    for note in (*place.resolved.warnings, *map(told, place.problems)):
        say(f"note: {note}")
    settings = place.resolved.settings
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or ""
    around = Surroundings(
        place.store, os.environ, say, attended=on_terminal() and not unattended, editor=editor if edit else ""
    )
    capped = any("cap" in rung.options for rung in settings.search)
    crew = make_crew(settings, around, spent(place.store).requests if capped else {})
    return Session(place.store, crew, settings, tell=tell, unattended=unattended)


def remember_folder(store: Store, folder: str | None) -> None:
    """So that a run that is resumed searches the same documents; disposable like all helpers."""
    if folder is not None:
        store.put_helper(FOLDER, str(Path(folder).absolute()))


def tell(event: Event) -> None:
    """Only what a person should know while a single pass runs."""
    if event.kind in ("notice", "failed", "defect"):
        say(f"  {event.text}")
