"""Commands that begin: make a case, drive the loop."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from harness.cli.driving import documents_in, drive, nothing_in
from harness.cli.place import call_of, case_of, on_terminal, say, searching
from harness.cli.sessions import with_agent
from harness.formats.text import decode
from harness.starting import Asked, begin, make_case, offer_settings


@click.command("ask")
@click.argument("question", nargs=-1)
@click.option("--entities", default="", help="The rows to fill, separated by commas.")
@click.option("--fields", default="", help="The columns to fill, separated by commas.")
@click.option("--ready-when", default="", help="When the question counts as answered.")
@click.pass_context
def ask_command(context: click.Context, /, question: tuple[str, ...], **options: str) -> None:
    """Make a case from QUESTION ("-" reads it from stdin). Never overwrites one."""
    asked = Asked(_words(question), **options)
    case = case_of(context)
    make_case(case, offer_settings(asked, click.prompt) if on_terminal() else asked)
    say(f"{call_of(context)} run goes on from here")
    click.echo(str(case / "question.md"))


@click.command("run")
@click.argument("question", nargs=-1)
@click.option("--in", "folder", metavar="DIR", help="Search the documents of this folder.")
@click.option("--agent", multiple=True, help="Who takes all three roles; several: the next takes over when one fails.")
@click.option("--planner", multiple=True, help="Who plans; several: the next takes over when one fails.")
@click.option("--synthesizer", multiple=True, help="Who rewrites the summary.")
@click.option("--checker", multiple=True, help="Who checks the draft answer.")
@click.option("--rounds", type=int, help="Search rounds at the most.")
@click.option("--minutes", type=float, help="Minutes of this run at the most.")
@click.option("--tokens", type=int, help="Tokens of this run at the most.")
@click.option("--queries-per-round", type=int, help="1 to 5.")
@click.option("--pause-every", type=int, help="Stop for a look after so many rounds.")
@click.option("--window", type=int, help="Tokens of a packet at most, where an agent could read more.")
@click.option("--strategy", help="How a raw that does not fit is read: refine, map_reduce or tree.")
@click.option("--unattended", is_flag=True, help="No person is there: the Planner decides instead of asking.")
@click.option("--edit", is_flag=True, help="Open $EDITOR when it is a person's turn.")
@click.option("--again", is_flag=True, help="Try once more what failed twice.")
@click.option("--yes", is_flag=True, help="Search the folder however many files it has.")
@click.pass_context
def run_command(context: click.Context, /, question: tuple[str, ...], **options: Any) -> int:
    """Drive the loop to an answer; with QUESTION, make the case first."""
    searching(options["folder"])  # a wrong folder is refused before a case is made
    if options["folder"] and not documents_in(Path(options["folder"])):
        raise nothing_in(Path(options["folder"]))
    if question:
        begin(case_of(context), Asked(_words(question)))
    return drive(context, **with_agent(options))


def _words(question: tuple[str, ...]) -> str:
    if question == ("-",):
        return decode(sys.stdin.buffer.read()).text
    return " ".join(question)
