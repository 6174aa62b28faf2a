"""Opens a session: the crew that the settings name, on the case that is meant."""

from __future__ import annotations

import os
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import click

from harness.caching import cache_folder
from harness.cli.place import on_terminal, place_of, say, searching
from harness.crew import Surroundings, make_crew
from harness.session import Event, Session
from harness.settings import ROLES
from harness.spending import spent
from harness.status import told
from harness.store import Store

REMEMBERED = "folders"  # in the cache: what --in named last, by case


def session_of(
    context: click.Context, flags: Mapping[str, object], *, unattended: bool = False, edit: bool = False
) -> Session:
    """A session whose events are told as plain lines; warnings of settings and files are told first."""
    place = place_of(context, flags)
    remembered = _remembered(place.store)
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


def surroundings_of() -> Surroundings:
    """For an agent on its own: nobody watches, and no case is its."""
    return Surroundings(Store(Path.cwd()), os.environ, say)


def with_agent(flags: Mapping[str, object]) -> dict[str, Any]:
    """`--agent NAME` is all three roles; a role's own flag overrules it."""
    agent = flags.get("agent")
    roles = {role: flags.get(role) or agent for role in ROLES}
    return {**{key: value for key, value in flags.items() if key != "agent"}, **roles}


def remember_folder(store: Store, folder: str | None) -> None:
    """So that a run that is resumed searches the same documents.

    Kept outside the case: a case may come from a stranger, and must not choose what of this machine is read.
    """
    if folder is None:
        return
    file = _memory(store)
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        file.write_text(str(Path(folder).absolute()), encoding="utf-8", newline="\n")
    except OSError as error:
        say(f"note: --in DIR is not remembered for the next time: {file} ({error.strerror})")


def _remembered(store: Store) -> str:
    try:
        return _memory(store).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _memory(store: Store) -> Path:
    case = os.path.realpath(store.folder)
    return cache_folder(os.environ) / REMEMBERED / sha256(os.fsencode(case)).hexdigest()[:32]


def tell(event: Event) -> None:
    """Only what a person should know while a single pass runs."""
    if event.kind in ("notice", "failed", "defect"):
        say(f"  {event.text}")
