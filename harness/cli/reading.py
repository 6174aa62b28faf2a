"""`harness fold`: any file against one question, part by part, through a case of its own."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from harness.agents.extractive.totals import asks
from harness.cli.place import called, case_of, on_terminal, pasteable, say, write_out
from harness.cli.sessions import session_of, with_agent
from harness.crew import BUILT_IN
from harness.errors import HarnessError, WrongCall
from harness.folding import ahead
from harness.formats.front import split_front
from harness.formats.summary import render_summary
from harness.gathering import FOLDS, copy_in, drop_empty, drop_spooled, gather, refuse_other
from harness.loop import read_all
from harness.model import SectionKind, Summary
from harness.options import TREE
from harness.plan import Fold, Limits, due
from harness.progress import open_progress
from harness.session import SYSTEM_CLOCK, Session
from harness.starting import Asked, begin
from harness.store import Store
from harness.turn import forget_failures

WINDOW = 131_072  # tokens: what most models can read; a larger part is read less carefully, too
COMPLETE, PARTIAL = 0, 4
RULES = ": the built-in rules find values that are stated, and add up tables; --agent NAME lets a model read"


@click.command("fold")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("-q", "--question", required=True, help="What to look for.")
@click.option("--entities", default="", help="The rows to fill, separated by commas.")
@click.option("--fields", default="", help="The columns to fill, separated by commas.")
@click.option("--agent", multiple=True, help="Who reads; several: the next takes over when one fails.")
@click.option("--strategy", help="refine (one part after the other), map_reduce or tree (side by side).")
@click.option("--window", type=int, default=WINDOW, show_default=True, help="Tokens of a packet at most.")
@click.option("--minutes", type=float, help="Minutes of this run at the most.")
@click.option("--tokens", type=int, help="Tokens of this run at the most.")
@click.option("-o", "--out", type=click.Path(path_type=Path, dir_okay=False), help="Write the result to a file.")
@click.option("--again", is_flag=True, help="Try once more what failed twice.")
@click.pass_context
def fold_command(
    context: click.Context, /, files: tuple[str, ...], question: str, out: Path | None, again: bool, **options: Any
) -> int:
    """Read FILEs of any size (folders too, "-" is stdin) for one question; goes on where it was stopped."""
    asked = Asked(question, options.pop("entities"), options.pop("fields"))
    make_fold(context, files, asked, TREE if options["strategy"] == TREE else "", out)
    session = session_of(context, with_agent(options), unattended=True)
    if again:
        forget_failures(session)
    final = read_to_the_end(session)
    show_result(session, out)
    return closing(session, final)


def make_fold(context: click.Context, files: tuple[str, ...], asked: Asked, counts: str, out: Path | None) -> None:
    """The case of these files and this question, made or found again; later commands of this call are about it.

    What a tree adds up is another result (`counts`), and so are other rows and columns. Raises WrongCall where there is
    nothing to look for, or where the result would replace one of the files.
    """
    if not asked.question.strip():
        raise WrongCall("an empty question", "", 'harness fold FILE -q "…"')
    gathered = gather(files, sys.stdin.buffer)
    wanted = (asked.question, asked.entities, asked.fields, counts)
    try:
        if out and any(one.path == out.resolve() for one in gathered.inputs):
            raise WrongCall("the result would replace a file that is read", str(out), "-o with another name")
        folder = context.find_root().obj or Path(FOLDS) / gathered.name_for(*wanted)
        context.find_root().obj = folder
        store = Store(case_of(context))  # refuses a folder that is a link out of the project
        refuse_other(store, gathered.mark(*wanted))
        begin(store.folder, asked)
        now = SYSTEM_CLOCK.now().strftime("%Y-%m-%dT%H:%M:%SZ")
        try:
            notes = copy_in(store, gathered, gathered.mark(*wanted), now)
        except HarnessError:
            drop_empty(store)
            raise
        for note in notes:
            say(f"note: {note}")
    finally:
        drop_spooled(gathered)


def read_to_the_end(session: Session) -> str:
    """Every part, shown while it is read. What ended it: "" or why it stopped early."""
    say(f"files in {session.store.folder}")
    say(outlook(session))
    final = ""
    try:
        with open_progress(session, on_terminal()) as progress:
            for step in read_all(replace(session, tell=progress.event)):
                progress.step(step)
                final = step.final
    except HarnessError as error:  # whoever reads this has not named the case
        hint = error.hint.replace("harness run --again", "the same command with --again")
        error.hint = pasteable(hint, called(session.store.folder))
        raise
    return final


def outlook(session: Session) -> str:
    """Who reads how much of it, and where this run will stop."""
    snapshot = session.store.snapshot()
    action = due(snapshot.case, Limits())
    readers = ", ".join(session.settings.synthesizer)
    if not isinstance(action, Fold) or snapshot.case.question is None:
        return "all of it was read before" + (", but for what is named below" if snapshot.case.summary.unread else "")
    left = ahead(session, snapshot, action.number)
    parts = "1 part" if left.parts == 1 else f"{left.parts} parts"
    told = f"{readers} reads {left.characters:,} characters in {parts}, at most {left.tokens:,} tokens"
    limit = session.settings.tokens
    if left.tokens > limit and readers != BUILT_IN:
        told += f" (this run stops at {limit:,}; --tokens sets another limit)"
    if left.parts > 1 and session.settings.strategy != TREE and asks(snapshot.case.question.text):
        told += "\nnote: the question asks for a sum or a count; --strategy tree adds it up over all parts"
    return told


def result_of(summary: Summary) -> str:
    """What was found, as Markdown: the summary without what only the harness needs."""
    kept = tuple(section for section in summary.sections if section.kind is not SectionKind.SEARCHES and section.lines)
    return split_front(render_summary(replace(summary, sections=kept)))[1].strip("\n")


def show_result(session: Session, out: Path | None) -> None:
    result = result_of(session.store.snapshot().case.summary)
    write_out(out, result, "the result")
    if not result:
        rules = list(session.settings.synthesizer) == [BUILT_IN]
        say("nothing was found" + (RULES if rules else ""))


def closing(session: Session, final: str) -> int:
    """The last line, and the exit code: PARTIAL where something stays unread."""
    unread = session.store.snapshot().case.summary.unread
    for part in unread:
        say(f"unread: characters {part.start:,} to {part.end:,}; harness reread tries them again")
    say("harness run goes on to an answer")
    return PARTIAL if unread or final else COMPLETE
