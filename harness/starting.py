"""A new case from a question and what a person says about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from harness.errors import HarnessError, WrongCall
from harness.formats.question import render_question
from harness.formats.text import clean
from harness.model import Grid, Question
from harness.store import Store


@dataclass(frozen=True)
class Asked:
    """What was asked on the command line; the lists are separated by commas."""

    question: str
    entities: str = ""
    fields: str = ""
    ready_when: str = ""


OFFERS = (
    ("entities", "Rows to fill, separated by commas (Enter skips)"),
    ("fields", "Columns to fill, separated by commas (Enter skips)"),
    ("ready_when", "Ready when (Enter skips)"),
)


def offer_settings(asked: Asked, prompt: Callable[..., str]) -> Asked:
    """Ask on the terminal for what was not given."""
    for name, text in OFFERS:
        if not getattr(asked, name):
            given = {name: prompt(text, default="", show_default=False, err=True).strip()}
            asked = replace(asked, **given)
    return asked


def make_case(folder: Path, asked: Asked) -> None:
    """Write question.md. Raises WrongCall for an empty question, HarnessError where a case is already."""
    text = clean(asked.question).strip()
    if not text:
        raise WrongCall("an empty question", "", 'harness ask "Which … ?"')
    if (folder / "question.md").exists():
        hint = f'harness run goes on with it; for a new one: harness -C {folder.parent / "research" / "NAME"} ask "…"'
        raise HarnessError("a case is here already", str(folder), hint)
    grid = Grid(_parts(asked.entities), _parts(asked.fields))
    question = Question(text, grid=grid, ready_when=asked.ready_when)
    Store(folder).make_case(render_question(question))


def _parts(listed: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in listed.split(",") if part.strip())
