"""Commands for taking part in the loop: one pass, a turn by hand, a word to the run that is under way."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any, BinaryIO

import click

from harness import clipboard
from harness.cli.place import call_of, case_of, pasteable, say, searching, show, write_out
from harness.cli.sessions import remember_folder, session_of, with_agent
from harness.formats.text import decode
from harness.handover import hand_out, role_is_due, search_due, searches_due, take_in, told_of, what_next
from harness.loop import step
from harness.noting import Said, note
from harness.rereading import reread
from harness.session import Session, Step
from harness.steering import reopen, request_stop, steer
from harness.store import Store
from harness.terminal import read_pasted

PASTE = "Paste {}, then press Ctrl-D (Ctrl-Z and Enter on Windows)."


@click.command("step")
@click.option("--agent", multiple=True, help="Who takes all three roles; several: the next takes over when one fails.")
@click.option("--planner", multiple=True, help="Who plans.")
@click.option("--synthesizer", multiple=True, help="Who rewrites the summary.")
@click.option("--checker", multiple=True, help="Who checks the draft answer.")
@click.option("--window", type=int, help="Tokens of a packet at most, where an agent could read more.")
@click.option("--in", "folder", metavar="DIR", help="Search the documents of this folder.")
@click.option("--json", "as_json", is_flag=True, help="For programs.")
@click.pass_context
def step_command(context: click.Context, /, as_json: bool, folder: str | None, **roles: Any) -> None:
    """Do one pass and say in one line what it did."""
    session = session_of(context, with_agent(roles) | searching(folder))
    remember_folder(session.store, folder)
    done = step(session)
    tell_notes(done)
    show(done, f"{done.action}: {done.line}", as_json=as_json)


def tell_notes(done: Step) -> None:
    for one in done.notes:
        say(f"note: {one}")


@click.command("next")
@click.option("--window", type=int, help="Tokens that your chat window takes: a large raw comes in parts.")
@click.option("--copy", "to_clipboard", is_flag=True, help="Put the prompt on the clipboard.")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="Write the prompt to a file.")
@click.pass_context
def next_command(context: click.Context, out: Path | None, window: int | None, to_clipboard: bool) -> None:
    """Print the whole prompt of the role now due, for any chat window."""
    packet = hand_out(session_of(context, {"window": window}))
    if to_clipboard:
        say(clipboard.copy(packet.prompt))
    if out or not to_clipboard:
        write_out(out, packet.prompt, "the prompt")
    say(told_of(packet, call_of(context), copied=to_clipboard))


@click.command("take")
@click.argument("file", type=click.File("rb"), default="-")
@click.option("--paste", is_flag=True, help="Take the reply from the clipboard.")
@click.option("--copy", "to_clipboard", is_flag=True, help="Search if that is due then, and copy the next prompt.")
@click.option("--in", "folder", metavar="DIR", help="With --copy: search the documents of this folder.")
@click.pass_context
def take_command(context: click.Context, file: BinaryIO, paste: bool, to_clipboard: bool, folder: str | None) -> None:
    """Check a reply to `harness next` (FILE, stdin or the clipboard) and commit it."""
    session = session_of(context, searching(folder))
    remember_folder(session.store, folder)
    done = take_in(session, clipboard.paste() if paste else decode(_read(file)).text)
    tell_notes(done)
    click.echo(f"{done.action}: {done.line}")
    say(_copied_on(session, call_of(context)) if to_clipboard else what_next(session))


def _copied_on(session: Session, call: str) -> str:
    """Runs the search that is due, copies the next prompt, and says what is due then."""
    for searched in searches_due(session):
        tell_notes(searched)
        click.echo(searched.line)
    if not role_is_due(session):
        return what_next(session)
    packet = hand_out(session)
    say(clipboard.copy(packet.prompt))
    return told_of(packet, call, copied=True)


def _read(file: BinaryIO) -> bytes:
    if file.fileno() == sys.stdin.fileno() and sys.stdin.isatty():
        return read_pasted(file, lambda: say(PASTE.format("the reply")))
    return file.read()


@click.command("search")
@click.option("--in", "folder", metavar="DIR", help="Search the documents of this folder.")
@click.pass_context
def search_command(context: click.Context, folder: str | None) -> None:
    """Run the search that is due."""
    session = session_of(context, searching(folder))
    remember_folder(session.store, folder)
    done = search_due(session)
    tell_notes(done)
    click.echo(done.line)


@click.command("reread")
@click.argument("number", type=int, required=False, metavar="[N]")
@click.option("--agent", multiple=True, help="Who reads; several: the next takes over when one fails.")
@click.option("--window", type=int, help="Tokens of a packet at most, where an agent could read more.")
@click.pass_context
def reread_command(context: click.Context, /, number: int | None, **options: Any) -> None:
    """Read the parts of raw_N.md (or of any raw) that stayed unread."""
    for done in reread(session_of(context, with_agent(options)), number):
        click.echo(done.line)


@click.command("note")
@click.argument("files", nargs=-1, metavar="[FILE|URL|-]...")
@click.option("--title", default="", help="What it is called.")
@click.option("--date", default="", help="When it was written: 2026-11-29, 2026-11 or 2026.")
@click.option("--url", default="", help="Where it is from.")
@click.pass_context
def note_command(context: click.Context, /, files: tuple[str, ...], **said: str) -> None:
    """Add what you found yourself: FILEs (text, HTML, PDF, DOCX) or stdin; a URL beside a FILE is where it is from."""
    click.echo(pasteable(note(session_of(context, {}), files, _piped(files), Said(**said)), call_of(context)))


def _piped(files: tuple[str, ...]) -> BinaryIO:
    """Stdin; on a terminal what is pasted there, where that is what was asked for."""
    if not sys.stdin.isatty() or (files and "-" not in files):
        return sys.stdin.buffer
    return io.BytesIO(read_pasted(sys.stdin.buffer, lambda: say(PASTE.format("what you found"))))


@click.command("steer")
@click.argument("words", nargs=-1, required=True)
@click.pass_context
def steer_command(context: click.Context, words: tuple[str, ...]) -> None:
    """Add a direction to the question. A run under way reads it at its next pass."""
    click.echo(steer(Store(case_of(context)), " ".join(words)))


@click.command("stop")
@click.pass_context
def stop_command(context: click.Context) -> None:
    """Ask the run that is under way to stop after its pass."""
    click.echo(request_stop(Store(case_of(context))))


@click.command("reopen")
@click.pass_context
def reopen_command(context: click.Context) -> None:
    """Go on after an answer. It moves to answer_1.md, and rounds count anew."""
    click.echo(reopen(session_of(context, {})))
