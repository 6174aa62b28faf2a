"""`harness run`: says what it is going to do, shows the passes, prints the answer, and ends with the right code."""

from __future__ import annotations

from dataclasses import replace

import click

from harness.cli.place import on_terminal, say, searching
from harness.cli.sessions import session_of
from harness.crew import BUILT_IN, folder_of, readiness
from harness.errors import WaitingForPerson, WrongCall
from harness.loop import run
from harness.options import Settings
from harness.plan import AskPerson, Done, Limits, NoQuestion, due
from harness.progress import open_progress
from harness.search.scan import scan
from harness.session import Session

COMPLETE, PARTIAL, WAITING = 0, 4, 5
# More files than this are rarely meant: somebody stands in their home folder.
MANY_FILES = 5_000


def drive(
    context: click.Context,
    *,
    folder: str | None,
    unattended: bool,
    edit: bool,
    again: bool,
    yes: bool,
    **flags: object,
) -> int:
    """The exit code. Raises HarnessError with the reason where the loop ends without an answer."""
    session = session_of(context, flags | searching(folder), unattended=unattended, edit=edit)
    say(opening(session, asked=yes or folder is not None) if _may_search(session) else _roles_told(session))
    # An editor needs the terminal for itself: no display is redrawn below it.
    with open_progress(session, on_terminal() and not edit) as progress:
        session = replace(session, tell=progress.event)
        try:
            for step in run(session, again=again):
                progress.step(step)
        except WaitingForPerson as waiting:
            raise _for_whoever_is_there(waiting, session) from None
    return ended(session, step.final)


def opening(session: Session, *, asked: bool) -> str:
    """The first line: who takes the roles, what is searched. Asks before it searches very many files."""
    settings = session.settings
    searched = ", ".join(_rung_told(settings, at, asked=asked) for at in range(len(settings.search)))
    web = ", no web" if all(rung.provider in ("folder", "person") for rung in settings.search) else ""
    lines = [f"{_roles_told(session)}; searching {searched}{web}"]
    found = [one.name for one in readiness(settings) if one.kind == "program" and not one.missing]
    lines += [f"agents found here: {', '.join(found)}"] if found else []
    return "\n".join(lines)


def _roles_told(session: Session) -> str:
    settings = session.settings
    names = dict.fromkeys((*settings.planner, *settings.synthesizer, *settings.checker))
    return "built-in roles, no model" if list(names) == [BUILT_IN] else f"roles: {', '.join(names)}"


def _may_search(session: Session) -> bool:
    """Not where an answer stands, or where a person is due first: then the documents are nobody's business."""
    limits = Limits(session.settings.rounds, unattended=session.unattended)
    return not isinstance(due(session.store.snapshot().case, limits), Done | NoQuestion | AskPerson)


def _rung_told(settings: Settings, at: int, *, asked: bool) -> str:
    rung = settings.search[at]
    if rung.provider != "folder" or "command" in rung.options:
        return rung.provider
    folder = folder_of(rung)
    if not folder.is_dir():
        raise WrongCall("no such folder to search", str(folder), "harness run --in DIR")
    count = len(scan(folder).files)
    if count > MANY_FILES and not asked and not _agreed(count, str(folder)):
        raise WrongCall("that is a lot to search", f"{count} files in {folder}", "harness run --in DIR, or --yes")
    if not count and len(settings.search) == 1:
        raise WrongCall("no document to search", str(folder), "harness run --in DIR")
    return f"{count} local files in {folder}"


def _agreed(count: int, folder: str) -> bool:
    return on_terminal() and click.confirm(f"Search {count} files in {folder}?", err=True)


def _for_whoever_is_there(waiting: WaitingForPerson, session: Session) -> Exception:
    """A question asked back where nobody sits is a wrong call: the flag that avoids it is named."""
    if on_terminal() or "asks you" not in waiting.what:
        return waiting
    return WrongCall(waiting.what, waiting.value, f"{waiting.hint}, or harness run --unattended")


def ended(session: Session, final: str) -> int:
    if final == "paused":
        return WAITING
    if final == "stopped":
        return COMPLETE
    answer = session.store.snapshot().case.answer
    assert answer is not None
    click.echo(answer.text.rstrip())
    say(f"\n{answer.status} ({answer.stopped}) · files in {session.store.folder}")
    return COMPLETE if answer.status == "complete" else PARTIAL
