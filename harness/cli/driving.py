"""`harness run`: says what it is going to do, shows the passes, prints the answer, and ends with the right code."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from harness.cli.place import on_terminal, say, searching
from harness.cli.sessions import remember_folder, session_of
from harness.crew import BUILT_IN, folder_of, readiness
from harness.errors import WaitingForPerson, WrongCall
from harness.loop import run
from harness.options import Settings
from harness.plan import AskPerson, Done, Limits, NoQuestion, due
from harness.progress import open_progress
from harness.search.documents.read import READERS
from harness.search.scan import scan
from harness.session import Session

COMPLETE, PARTIAL, WAITING = 0, 4, 5
WHY = {
    "rounds": ": the limit of search rounds was reached",
    "tokens": ": the tokens of this run were used up",
    "minutes": ": the time of this run was used up",
    "stalled": ": the last searches brought nothing new",
    "person": ": written by a person",
}
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
    remember_folder(session.store, folder)
    say(opening(session, asked=yes or folder is not None) if _may_search(session) else _roles_told(session))
    # A person at work here, and their editor, need the terminal for themselves: nothing is redrawn below them.
    with open_progress(session, on_terminal() and not edit and "person" not in _names(session.settings)) as progress:
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
    if found and list(_names(settings)) == [BUILT_IN]:
        lines.append(f"programs found here that could take the roles (--planner, --synthesizer): {', '.join(found)}")
    return "\n".join(lines)


def _names(settings: Settings) -> dict[str, None]:
    return dict.fromkeys((*settings.planner, *settings.synthesizer, *settings.checker))


def _roles_told(session: Session) -> str:
    names = _names(session.settings)
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
    count = documents_in(folder)
    if count > MANY_FILES and not asked and not _agreed(count, str(folder)):
        raise WrongCall("that is a lot to search", f"{count} files in {folder}", "harness run --in DIR, or --yes")
    if not count and len(settings.search) == 1:
        raise nothing_in(folder)
    return f"{count} local file{'' if count == 1 else 's'} in {folder}"


def documents_in(folder: Path) -> int:
    """How many files below it can be read as documents. Raises WrongCall where it cannot be looked into."""
    try:
        return len(scan(folder).files)
    except OSError as error:
        reason = error.strerror or str(error)
        raise WrongCall("the folder to search cannot be read", f"{folder} ({reason})", "harness run --in DIR") from None


def nothing_in(folder: Path) -> WrongCall:
    kinds = " ".join(READERS)
    return WrongCall("no document to search", str(folder), f"name a folder with any of {kinds}: harness run --in DIR")


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
    say(f"\n{answer.status}{WHY.get(answer.stopped, '')} · files in {session.store.folder}")
    return COMPLETE if answer.status == "complete" else PARTIAL
